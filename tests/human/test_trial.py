"""Trials: access to markers, and parts of a trial."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from poise import human
from poise.errors import PoiseError

N = 11
TIME = np.arange(N) / 10.0
COUNT = np.arange(3.0 * N).reshape(N, 3)


def make_trial(**fields: Any) -> human.Trial:
    plate = human.ForcePlate("plate 1", np.zeros((4, 3)), COUNT, COUNT, COUNT)
    events = (human.GaitEvent(0.2, "left", "initial_contact"), human.GaitEvent(0.8, "right", "toe_off"))
    trial = human.Trial("made", 10.0, TIME, ("A", "B"), np.stack([COUNT, -COUNT], axis=1), events, (plate,))
    return trial.replace(angles={"LKneeAngles": COUNT}, **fields)


def test_a_marker_is_found_by_its_label_and_similar_labels_are_suggested() -> None:
    np.testing.assert_array_equal(make_trial().marker("B"), -COUNT)
    trial = make_trial(labels=("LASI", "RASI"))
    with pytest.raises(human.TrialError, match="no marker 'LASIS'; did you mean 'LASI'") as caught:
        trial.marker("LASIS")
    assert (caught.value.element, caught.value.near[0]) == ("LASIS", "LASI")
    assert isinstance(caught.value, PoiseError)
    assert isinstance(caught.value, ValueError)


def test_a_part_has_its_own_time_and_all_data_of_its_frames() -> None:
    part = make_trial().cut(0.2, 0.6)
    np.testing.assert_allclose(part.time, [0.0, 0.1, 0.2, 0.3, 0.4])
    np.testing.assert_array_equal(part.marker("A"), COUNT[2:7])
    np.testing.assert_array_equal(part.plates[0].force, COUNT[2:7])
    np.testing.assert_array_equal(part.angles["LKneeAngles"], COUNT[2:7])
    assert part.events == (human.GaitEvent(0.0, "left", "initial_contact"),)
    assert part.notes == ("Cut to 0.200 .. 0.600 s.",)


def test_a_part_without_a_frame_is_refused() -> None:
    with pytest.raises(human.TrialError, match="no frame between 2 and 3 s"):
        make_trial().cut(2.0, 3.0)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"positions": np.zeros((N, 3, 3))}, "positions are"),
        ({"rate": 0.0}, "a rate of 0.0 Hz"),
        ({"labels": ("A", "A")}, "'A' occurs twice"),
        ({"moments": {"LKneeMoment": np.zeros((2, 3))}}, "'LKneeMoment' is"),
        ({"plates": (human.ForcePlate("plate 1", np.zeros((4, 3)), COUNT[:3], COUNT, COUNT),)}, "plate 1 is"),
    ],
)
def test_parts_that_do_not_fit_together_are_refused(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(human.TrialError, match=words):
        make_trial(**fields)
