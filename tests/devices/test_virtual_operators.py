"""Script and RandomDevice: commands over time."""

from __future__ import annotations

import json
import math
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.devices import RandomDevice, Script, ScriptEntry
from poise.devices.virtual_operators import MAX_MODE_SLOTS, MODE_BLOCK
from poise.errors import UsageError
from poise.plans import GUIDING_MODES, OperatorCommand

FORWARD = [1, 0, 0, 0, 0, 0]
GOOD = {"time": 0.5, "mode": "left foot", "input": FORWARD}


def save_script(folder: Path, text: object) -> Path:
    path = folder / "script.json"
    path.write_text(text if isinstance(text, str) else json.dumps(text))
    return path


def test_an_entry_is_held_until_the_next_and_before_the_first_the_stick_is_centered(tmp_path: Path) -> None:
    later = {"time": 2, "mode": "LEFT_HAND", "input": [0, 0, 0.5, 0, 0, -3], "lift": 0.2}
    script = Script.load(save_script(tmp_path, [GOOD, later]))
    first, second = (
        OperatorCommand("left foot", (1, 0, 0, 0, 0, 0)),
        OperatorCommand("left hand", (0, 0, 0.5, 0, 0, -1), 0.2),
    )
    times = (-1.0, 0.0, 0.49, 0.5, 1.99, 2.0, 1e9, math.inf)
    assert [script.read(time) for time in times] == [*[OperatorCommand("left foot")] * 3, *[first] * 2, *[second] * 3]
    assert script.read(math.nan) == OperatorCommand("left foot")
    assert script.seconds == 2.0
    assert Script([ScriptEntry(0.5, first), ScriptEntry(2.0, second)]).entries == script.entries


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ({"time": 0}, "is not a list"),
        ([], "at least one entry"),
        ([GOOD, 3], "entry 1"),
        ([{"time": 0, "mode": "trunk"}], 'entry 0 has no "input"'),
        ([GOOD | {"inptu": 1}], 'entry 0 has an unknown key "inptu"'),
        ([GOOD, GOOD | {"time": 0.2}], "entry 1: time 0.2 s is not after 0.5 s"),
        ([GOOD, GOOD], "entry 1"),
        ([GOOD | {"time": -1}], "entry 0: time is -1"),
        ([GOOD | {"time": math.nan}], "entry 0: time is nan"),
        ([GOOD | {"time": True}], "entry 0: time is True"),
        ([GOOD | {"time": 10**400}], "entry 0: time is 1000"),
        ([GOOD | {"input": FORWARD[:5]}], "entry 0: input"),
        ([GOOD | {"input": [math.nan, *FORWARD[1:]]}], "entry 0: input"),
        ([GOOD | {"input": ["1", *FORWARD[1:]]}], "entry 0: input"),
        ([GOOD | {"input": "forward"}], "entry 0: input"),
        ([GOOD | {"lift": "high"}], "entry 0: lift"),
        ([GOOD | {"mode": "left fot"}], "entry 0: there is no guiding mode 'left fot'; did you mean 'left foot'"),
        ([GOOD | {"mode": 3}], "entry 0: there is no guiding mode"),
    ],
)
def test_an_invalid_script_is_refused_in_one_line_that_names_the_entry(
    tmp_path: Path, content: object, words: str
) -> None:
    with pytest.raises(UsageError) as caught:
        Script.load(save_script(tmp_path, content))
    assert words in str(caught.value)
    assert "script.json" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_script_that_cannot_be_read_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "missing.json", tmp_path, tmp_path / "bytes.json"):
        with pytest.raises(UsageError, match="script") as caught:
            Script.load(path)
        assert "\n" not in str(caught.value)


@given(st.integers(0, 2**40), st.floats())
def test_a_random_stick_is_a_function_of_seed_and_time(seed: int, time: float) -> None:
    stick = RandomDevice(seed).read(time)
    other = RandomDevice(seed)
    for before in (3.0, 1.0, 200.0):
        other.read(before)
    assert other.read(time) == stick
    assert all(-1.0 <= value <= 1.0 for value in stick.axes)


def test_a_random_stick_is_held_for_a_slot_and_others_follow() -> None:
    device = RandomDevice(3, slot=0.25)
    sticks = [device.read(0.25 * k) for k in range(200)]
    assert all(device.read(0.25 * k + 0.2499) == stick for k, stick in enumerate(sticks))
    assert len(set(sticks)) == 200
    assert sticks != [RandomDevice(4, slot=0.25).read(0.25 * k) for k in range(200)]


def test_of_random_sticks_seven_in_ten_are_uniform_and_a_mode_lasts_one_to_seven_slots() -> None:
    sticks = [RandomDevice(0).read(0.5 * k) for k in range(8000)]
    hands = [stick for stick in sticks if not stick.mode.endswith("foot")]
    bang = np.mean([all(abs(value) == 1.0 for value in stick.axes) for stick in hands])
    assert bang == pytest.approx(0.3, abs=0.03)  # five standard deviations of a share of 4800
    uniform = np.array([stick.axes for stick in hands if abs(stick.axes[0]) < 1.0])
    assert uniform.mean(axis=0) == pytest.approx(np.zeros(6), abs=0.05)
    assert uniform.std(axis=0) == pytest.approx(np.full(6, 1 / math.sqrt(3)), abs=0.03)
    counts = Counter(stick.mode for stick in sticks)
    assert all(counts[mode] == pytest.approx(1600, rel=0.25) for mode in GUIDING_MODES)
    for begin in range(0, 8000, MODE_BLOCK):  # the same mode may be drawn again; three times in a row is rare
        runs = [len(list(run)) for _, run in groupby(stick.mode for stick in sticks[begin : begin + MODE_BLOCK])]
        assert max(runs) <= 4 * MAX_MODE_SLOTS


def test_a_guided_foot_is_lifted_in_a_third_of_the_slots_and_put_down_in_another() -> None:
    ups = [stick.axes[2] for stick in map(RandomDevice(1).read, range(20000)) if stick.mode.endswith("foot")]
    assert np.mean(np.array(ups) > 0.0) == pytest.approx(0.35, abs=0.03)
    assert np.mean(np.array(ups) < 0.0) == pytest.approx(0.325, abs=0.03)


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"seed": -1}, "seed"),
        ({"seed": 1.5}, "seed"),
        ({"slot": 0.0}, "slot"),
        ({"slot": math.nan}, "slot"),
        ({"uniform": 1.1}, "uniform"),
        ({"modes": ("head",)}, "modes"),
        ({"modes": ()}, "modes"),
    ],
)
def test_invalid_settings_of_a_random_device_are_refused(settings: dict[str, Any], word: str) -> None:
    with pytest.raises(UsageError, match=word):
        RandomDevice(**settings)
