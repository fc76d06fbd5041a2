"""Recordings that end early contain all samples up to that time."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
from recorded_steps import PERIOD, POSTURE, REACH, ROBOT, Motion, identical, same_values

import poise.recording
from poise.errors import RecordingError
from poise.recording import Recorder, RecordingInterrupted, WriteError, load_recording, record_steps
from poise.recording.file_format import FileWriter
from waiting import enable_ctrl_c, wait_for_exit

SOURCE = str(Path(poise.recording.__file__).parent)


def steps_before_error(count: int, error: BaseException) -> Iterator[Any]:
    yield from Motion().steps(count)
    raise error


def test_ctrl_c_returns_the_recording_and_closes_the_file(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt) as caught:
        record_steps(steps_before_error(70, KeyboardInterrupt()), ROBOT, tmp_path / "a.poise")
    assert isinstance(caught.value, RecordingInterrupted)
    recording = caught.value.recording
    assert (recording.samples, recording.complete, recording.provenance["outcome"]) == (70, True, "interrupted")
    assert "ended early: interrupted" in recording.summary()
    assert identical(load_recording(tmp_path / "a.poise"), recording)


def test_ctrl_c_in_the_progress_report_is_the_same() -> None:
    def progress(time: float) -> None:
        if time > 10.5 * PERIOD:
            raise KeyboardInterrupt

    with pytest.raises(RecordingInterrupted) as caught:
        record_steps(Motion().steps(100), ROBOT, progress=progress)
    assert caught.value.recording.samples == 12


def test_progress_receives_the_time_of_every_step() -> None:
    times: list[float] = []
    recording = record_steps(Motion().steps(20), ROBOT, progress=times.append)
    assert times == recording.time.tolist()


def test_an_error_in_the_loop_is_raised_and_stored_in_the_file(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        record_steps(steps_before_error(30, ZeroDivisionError("no ground")), ROBOT, tmp_path / "a.poise")
    assert "a.poise" in caught.value.__notes__[0]
    recording = load_recording(tmp_path / "a.poise")
    assert (recording.samples, recording.provenance["outcome"]) == (30, "ZeroDivisionError: no ground")


def interrupted_at(line: int, call: Any) -> bool:
    """Call with a KeyboardInterrupt at the given line of code; return whether the line was reached.

    A line that runs repeatedly, once per channel, counts twice at most.
    """
    count, visits = 0, Counter[tuple[str, int]]()

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal count
        if not frame.f_code.co_filename.startswith(SOURCE):
            return None
        visits[place := (frame.f_code.co_filename, frame.f_lineno)] += event == "line"
        if event == "line" and visits[place] <= 2:
            count += 1
            if count == line:
                raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)
    return False


@pytest.mark.parametrize("change", [False, True], ids=["the block is full", "the hierarchy changes"])
def test_ctrl_c_at_any_line_of_the_recorder_leaves_no_partial_step(tmp_path: Path, change: bool) -> None:
    steps, last = list(Motion().steps(49)), Motion().step(49)
    if change:  # for the third time, so that a stream of the file ends and another begins
        steps[20:] = [Motion(tasks=(POSTURE,)).step(i) for i in range(20, 49)]
        last = Motion(tasks=(REACH,)).step(49)
    whole = record_steps([*steps, last], ROBOT)
    path, line, lengths = tmp_path / "a.poise", 1, set()
    while True:
        recorder = Recorder(ROBOT, path)
        for step in steps:
            recorder(step)
        struck = interrupted_at(line, lambda recorder=recorder: recorder(last))
        recording = recorder.finish("interrupted")
        lengths.add(recording.samples)
        assert all(same_values(recording[name], whole[name][: recording.samples]) for name in recording.channels)
        assert identical(load_recording(path), recording)
        if not struck:
            break
        line += 1
    assert lengths == {49, 50}


def test_ctrl_c_while_finishing_can_be_finished_again(tmp_path: Path) -> None:
    steps = list(Motion().steps(5))
    path, line, struck = tmp_path / "a.poise", 1, True
    while struck:
        recorder = Recorder(ROBOT, path)
        for step in steps:
            recorder(step)
        struck = interrupted_at(line, recorder.finish)
        recording = recorder.finish()
        assert recording.samples == 5
        assert identical(load_recording(path), recording)
        line += 1


def test_a_disk_that_fails_does_not_stop_the_motion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written, write = [], FileWriter.write

    def fails(writer: FileWriter, first: int, channels: Any) -> None:
        if first >= 50:
            raise OSError(28, "No space left on device")
        write(writer, first, channels)
        written.append(first)

    monkeypatch.setattr(FileWriter, "write", fails)
    with pytest.raises(WriteError) as caught:
        record_steps(Motion().steps(120), ROBOT, tmp_path / "a.poise")
    assert "No space left on device" in str(caught.value)
    assert isinstance(caught.value, RecordingError)
    assert caught.value.recording.samples == 120
    assert load_recording(tmp_path / "a.poise", partial=True).samples == 50
    with pytest.raises(RecordingInterrupted) as interrupted:
        record_steps(steps_before_error(70, KeyboardInterrupt()), ROBOT, tmp_path / "b.poise")
    assert interrupted.value.recording.samples == 70


CHILD = """
import sys, itertools
from recorded_steps import Motion, ROBOT, REACH, POSTURE
from poise.recording import record_steps

motion = Motion()
def steps():
    for i in itertools.count():
        motion.tasks = (REACH, POSTURE) if i // 70 % 2 else (POSTURE,)  # the hierarchy changes while it runs
        yield motion.step(i)
try:
    record_steps(steps(), ROBOT, sys.argv[1], progress=lambda time: print(time, flush=True))
except KeyboardInterrupt as interruption:
    print("recorded", interruption.recording.samples, flush=True)
    sys.exit(130)
"""


def start_recording_process(path: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, str(path)],
        cwd=Path(__file__).parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Processes started in the background may ignore Ctrl-C, and children inherit that.
        preexec_fn=enable_ctrl_c,
    )


def test_a_process_that_is_killed_leaves_all_but_the_last_quarter_of_a_second(tmp_path: Path) -> None:
    path = tmp_path / "a.poise"
    process = start_recording_process(path)
    try:
        assert process.stdout is not None
        time = next(float(line) for line in process.stdout if float(line) >= 2.0)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == -signal.SIGKILL
    with pytest.raises(RecordingError, match=r"truncated .* samples up to .* s intact: .*partial=True"):
        load_recording(path)
    recording = load_recording(path, partial=True)
    assert not recording.complete
    assert recording.time[-1] >= time - 0.25
    assert np.array_equal(recording.time, np.arange(recording.samples) * PERIOD)
    motion = Motion()
    assert all(np.array_equal(recording["q"][i], motion.step(i).state.q) for i in range(0, recording.samples, 20))
    assert "reach" in recording.levels()


def test_a_process_that_receives_ctrl_c_leaves_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "a.poise"
    process = start_recording_process(path)
    try:
        assert process.stdout is not None
        next(line for line in process.stdout if float(line) >= 0.6)
        process.send_signal(signal.SIGINT)
        rest, errors = wait_for_exit(process)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130, errors
    recording = load_recording(path)
    assert f"recorded {recording.samples}" in rest
    assert recording.provenance["outcome"] == "interrupted"
