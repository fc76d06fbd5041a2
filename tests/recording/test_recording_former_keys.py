"""Files of formats 1 and 2 are loaded with the keys of today; ``files/keys_format_2.poise`` has every former key."""

from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from recorded_steps import identical

from poise import runs
from poise.plans.segment.segment import Outcome
from poise.recording import Channel, Recording, load_recording
from poise.recording.file_format import FileContents
from poise.recording.former_keys import (
    FORMER_CHANNELS,
    FORMER_EVENT_KINDS,
    FORMER_MARKER_KEYS,
    FORMER_OUTCOMES,
    FORMER_PROVENANCE,
    FORMER_PROVENANCE_TEXTS,
    FORMER_SEGMENT_KEYS,
    rename_channels,
    rename_provenance,
)

#: Written by Poise when its format was 2; the first value of channel k is k, and values count up by one.
FILE = Path(__file__).parent / "files" / "keys_format_2.poise"
#: Key in the file, key of today and first value.
CHANNELS = [
    ("force/left_sole", "force/left_sole", 1.0),
    ("force_point/left_heel_1", "contact_point/left_heel_1", 2.0),
    ("plate/force/left_sole", "plate/force/left_sole", 3.0),
    ("plate/force_point/left_sole", "plate/contact_point/left_sole", 4.0),
    ("sensed/force/left_sole", "measured/force/left_sole", 5.0),
    ("sensed/force_point/left_sole", "measured/contact_point/left_sole", 6.0),
    ("sensed/cells/lfoot", "measured/cells/lfoot", 7.0),
    ("sensed/imu/acceleration", "measured/imu/acceleration", 8.0),
    ("sensed/positions", "measured/joint_positions", 9.0),
    ("sensed/rates", "measured/joint_velocities", 10.0),
]
#: Key in the file, key of today and value.
FACTS: list[tuple[str, str, Any]] = [
    ("robot", "robot", "human"),
    ("parts", "load_arguments", {"height": 1.7, "mass": 65.0}),
    ("ended", "outcome", "interrupted"),
    ("breakdown", "faults", ["swapped@1"]),
    ("mass error", "mass_error", 10.0),
    ("carry", "carried_mass", 5.0),
    ("order", "task_order", ["balance", "left hand"]),
    ("regulation", "zmp_regulation", "off"),
    ("world", "terrain", "stairs and door"),
    ("controller", "controller", {"order": "velocity"}),
    ("lead", "torque_feedforward", True),
    ("events", "events", [[0.08, "left", "initial_contact"], [0.83, "right", "toe_off"]]),
    ("markers", "markers", {"LASI": {"link": "pelvis", "location": [0.1, 0.2, 0.3]}}),
]

#: Two samples of ``poise run navigate --robot mighty`` of format 2, and five segments; three outcomes are set by hand.
NAVIGATE = Path(__file__).parent / "files" / "navigate_format_2.poise"


@pytest.fixture(scope="module")
def former_recording() -> Recording:
    return load_recording(FILE)


@pytest.fixture(scope="module")
def guided_recording() -> Recording:
    return load_recording(NAVIGATE)


def test_the_file_is_of_format_2_and_has_every_former_key() -> None:
    data = FILE.read_bytes()
    assert FileContents(data).version == 2
    assert all(old.encode() in data for old, *_ in (*CHANNELS, *FACTS))
    assert all(f'"{old}"'.encode() in data for old in (*FORMER_EVENT_KINDS, *FORMER_MARKER_KEYS))
    assert {*FORMER_PROVENANCE, *FORMER_PROVENANCE_TEXTS} <= {old for old, *_ in FACTS} | {"begin", "guide"}
    for old in FORMER_CHANNELS:
        assert any(f"{key}/".startswith(f"{old}/") for key, *_ in CHANNELS)


@pytest.mark.parametrize(("old", "new", "first"), CHANNELS)
def test_a_channel_is_found_by_its_current_key_and_has_its_values(
    former_recording: Recording, old: str, new: str, first: float
) -> None:
    values = former_recording[new]
    assert np.array_equal(values.ravel(), first + np.arange(values.size))
    assert old == new or old not in former_recording


@pytest.mark.parametrize(("old", "new", "value"), FACTS)
def test_a_fact_is_found_by_its_current_key(former_recording: Recording, old: str, new: str, value: Any) -> None:
    assert former_recording.provenance[new] == value
    assert old == new or old not in former_recording.provenance


def test_labels_are_renamed_with_their_keys(former_recording: Recording) -> None:
    assert former_recording.channels["contact_point/left_heel_1"].label == "contact_point/left heel 1"
    assert former_recording.channels["measured/cells/lfoot"].label == "measured/cells/LFoot"


def test_a_key_that_only_begins_like_a_former_one_stays(former_recording: Recording) -> None:
    assert former_recording["sensed_again"].tolist() == [1.0, 2.0]


def test_the_file_can_be_saved_again(former_recording: Recording, tmp_path: Path) -> None:
    former_recording.save(tmp_path / "a.poise")
    assert identical(load_recording(tmp_path / "a.poise"), former_recording)


def test_keys_of_a_new_file_are_not_renamed(tmp_path: Path) -> None:
    """A user may have a channel or a fact with such a name."""
    recording = Recording([Channel("time", "s", [0.0]), Channel("sensed/rates", "m", [1.0])], {"ended": "by hand"})
    recording.save(tmp_path / "a.poise")
    assert identical(load_recording(tmp_path / "a.poise"), recording)


def test_a_channel_stays_where_its_new_key_is_taken() -> None:
    headers = [Channel(key, "m", [0.0]).header for key in ("time", "sensed/gap", "measured/gap")]
    assert [header.key for header in rename_channels(headers)] == ["time", "sensed/gap", "measured/gap"]


@pytest.mark.parametrize(
    "facts", [{"events": "none", "markers": 3}, {"events": [[0.1, "left"], 7], "markers": {"A": 1}}]
)
def test_events_and_markers_of_another_form_stay(facts: dict[str, Any]) -> None:
    assert rename_provenance(facts) == facts


def test_a_table_is_not_taken_for_the_text_that_had_its_key() -> None:
    """A run in position mode stores its settings under "regulation", and the scenario its outline under "world"."""
    facts = {"regulation": {"stiffness": 0.5}, "world": {"edges": [0.0]}, "terrain": "flat"}
    assert rename_provenance(facts) == facts


# -- Guided motions ----------------------------------------------------------------------------------------------------


def test_the_segments_of_a_former_file_have_current_keys(guided_recording: Recording) -> None:
    assert FileContents(NAVIGATE.read_bytes()).version == 2
    now, _ = runs.Navigate(robot="mighty", mode="kinematic", plant="ideal", seconds=0.1).run()
    assert [list(each) for each in guided_recording.provenance["segments"]] == [list(now.provenance["segments"][0])] * 5
    first = guided_recording.provenance["segments"][0]
    assert not set(FORMER_SEGMENT_KEYS) & set(first)
    assert (first["duration"], first["swing_foot"], first["foot_in_air"]) == (0.6, "right", "right")
    assert list(first["planned_paths"])[:3] == ["time", "center", "zmp"]
    outcomes = [each["outcome"] for each in guided_recording.provenance["segments"]]
    assert outcomes == ["commanded", "commanded", *(FORMER_OUTCOMES[word] for word in ("kept", "held", "caught"))]
    assert set(get_args(Outcome)) == {"commanded", *FORMER_OUTCOMES.values()}


def test_the_other_facts_of_a_former_motion_have_current_keys(guided_recording: Recording) -> None:
    assert (guided_recording.provenance["operator"], guided_recording.provenance["squat_begin"]) == ("random", 4.0)
    assert not {"guide", "begin"} & set(guided_recording.provenance)


def test_levels_and_tasks_of_a_former_motion_are_found_by_their_current_names(guided_recording: Recording) -> None:
    names = ("dcm", "center_of_mass_height", "angular_momentum")
    assert [guided_recording[f"error/balance/{name}"].shape for name in names] == [(2, 2), (2, 1), (2, 2)]
    assert guided_recording["slack/contact"] is guided_recording["slack/feet"]
    assert np.isfinite(guided_recording["error/swing/swing_foot"]).all()
    assert np.isfinite(guided_recording["error/sole/swing_foot_orientation"]).all()


@pytest.mark.parametrize("segments", [3, [None], [[]], [{"outcome": 3}]])
def test_segments_of_another_form_stay_as_they_are(segments: Any) -> None:
    assert rename_provenance({"segments": segments}) == {"segments": segments}
