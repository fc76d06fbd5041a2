"""Events of C3D files: any label and any array shape, with times relative to the first frame."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from marker_files import standing, write_c3d

from poise import human

FRAMES, RATE, FIRST = 200, 100.0, 342
#: Event times (s) since the start of the recording; the file begins at frame 342: an initial contact and a toe-off.
TIMES = np.array([3.50, 4.25])
MEANT = (human.GaitEvent(0.08, "left", "initial_contact"), human.GaitEvent(0.83, "right", "toe_off"))


def read_events(
    tmp_path: Path,
    times: np.ndarray,
    labels: tuple[str, ...] = ("Foot Strike", "Foot Off"),
    contexts: tuple[str, ...] = ("Left", "Right"),
    first: int = FIRST,
) -> human.Trial:
    group = {"USED": len(labels), "LABELS": list(labels), "CONTEXTS": list(contexts), "TIMES": times}
    path = write_c3d(tmp_path / "t.c3d", standing(FRAMES), rate=RATE, first_frame=first, parameters={"EVENT": group})
    return human.read_trial(path)


def assert_expected_events(found: tuple[human.GaitEvent, ...]) -> None:
    assert [(event.side, event.kind) for event in found] == [(event.side, event.kind) for event in MEANT]
    assert [event.time for event in found] == pytest.approx([event.time for event in MEANT], abs=1e-5)


@pytest.mark.parametrize(
    "times",
    [
        np.stack([np.zeros(2), TIMES]),
        np.stack([np.zeros(2), TIMES]).T.ravel(),
        np.concatenate([np.zeros(2), TIMES]),
        TIMES,
    ],
    ids=["minutes and seconds in rows", "one after the other", "minutes first", "seconds alone"],
)
def test_times_of_any_shape_count_from_the_first_frame(times: np.ndarray, tmp_path: Path) -> None:
    assert_expected_events(read_events(tmp_path, times).events)


def test_three_events_stored_in_three_rows_of_minutes_and_seconds_are_read_as_such(tmp_path: Path) -> None:
    times = np.array([[0.0, 3.5], [0.0, 4.25], [0.0, 5.0]])
    found = read_events(tmp_path, times, ("Foot Strike", "Foot Off", "Foot Strike"), ("Left", "Right", "Right")).events
    assert [event.time for event in found] == pytest.approx([0.08, 0.83, 1.58], abs=1e-5)


def test_minutes_count_sixty_seconds(tmp_path: Path) -> None:
    assert_expected_events(read_events(tmp_path, np.array([[1.0, 1.0], [3.5, 4.25]]), first=FIRST + 6000).events)


def test_times_relative_to_the_first_frame_are_accepted_with_a_note(tmp_path: Path) -> None:
    trial = read_events(tmp_path, np.stack([np.zeros(2), TIMES - FIRST / RATE]))
    assert_expected_events(trial.events)
    assert "Event times count from the first frame of the file." in trial.notes


@pytest.mark.parametrize(
    ("contact", "toe_off"),
    [("Heel Strike", "Toe Off"), ("foot-strike", "toe_off"), ("Initial Contact", "FOOT OFF"), ("HS", "TO")],
)
def test_initial_contacts_and_toe_offs_are_recognised_by_many_labels(
    contact: str, toe_off: str, tmp_path: Path
) -> None:
    assert_expected_events(read_events(tmp_path, TIMES, (contact, toe_off)).events)


@pytest.mark.parametrize(
    "labels", [("Left Foot Strike", "Right Foot Off"), ("LHS", "RTO"), ("l_heel_strike", "r_toe_off")]
)
def test_the_side_may_stand_in_the_label_instead_of_the_context(labels: tuple[str, str], tmp_path: Path) -> None:
    assert_expected_events(read_events(tmp_path, TIMES, labels, ("General", "General")).events)


def test_events_come_in_the_order_of_time(tmp_path: Path) -> None:
    assert_expected_events(read_events(tmp_path, TIMES[::-1], ("Foot Off", "Foot Strike"), ("Right", "Left")).events)


def test_events_without_a_foot_or_outside_the_frames_are_left_out_with_a_note(tmp_path: Path) -> None:
    labels = ("Foot Strike", "Foot Off", "Event", "Foot Strike")
    trial = read_events(tmp_path, np.array([*TIMES, 4.0, 99.0]), labels, ("Left", "Right", "General", "Left"))
    assert_expected_events(trial.events)
    assert any("General Event" in note for note in trial.notes)
    assert any(note.startswith("1 events before the first or after the last") for note in trial.notes)


def test_a_file_without_events_has_none(tmp_path: Path) -> None:
    assert human.read_trial(write_c3d(tmp_path / "t.c3d", standing())).events == ()
