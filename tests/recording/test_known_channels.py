"""A file whose known channels have other contents is refused; other channels may hold anything."""

from pathlib import Path

import numpy as np
import pytest

from poise.errors import RecordingError
from poise.recording import Channel, Recording, load_recording

CLOCK = Channel("time", "s", [0.0, 0.1])
ODD = {
    "codes for errors": Channel("error/reach/hand", "m", np.zeros((2, 3), np.int8)),
    "texts for errors": Channel("error/reach/hand", "m", [["a"], ["b"]]),
    "no columns of rows": Channel("active/reach", "", np.zeros(2, np.int8)),
    "texts for times": Channel("control/milliseconds", "ms", ["a", "b"]),
    "columns of times": Channel("solver/milliseconds", "ms", np.zeros((2, 3))),
    "numbers for a status": Channel("solver/status", "", [0.0, 1.0]),
    "texts for a slack": Channel("slack/reach", "", ["a", "b"]),
    "a margin of nothing": Channel("joint_limit/margin", "rad", [0.0, 1.0]),
}


@pytest.mark.parametrize("odd", ODD)
def test_a_known_name_with_something_else_in_it_is_refused(odd: str, tmp_path: Path) -> None:
    Recording([CLOCK, ODD[odd]]).save(tmp_path / "odd.poise")
    with pytest.raises(RecordingError, match=r"is not a valid recording: channel '.*expected"):
        load_recording(tmp_path / "odd.poise")


def test_custom_channels_may_hold_anything(tmp_path: Path) -> None:
    own = [Channel("mine", "", ["a", "b"]), Channel("q_of_mine", "", [1, 2]), Channel("errors", "m", [0.0, 1.0])]
    Recording([CLOCK, *own]).save(tmp_path / "own.poise")
    assert "2 samples" in load_recording(tmp_path / "own.poise").summary()
