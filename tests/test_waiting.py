"""Waiting in tests: longer with progress or on a busy machine, but never endless."""

from __future__ import annotations

import subprocess
import sys

import pytest

import waiting


class Machine:
    """A clock that advances by a second per call, and cores that other programs may use."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, spare: float) -> None:
        self.now = self.capacity = 0.0
        self.spare = spare
        monkeypatch.setattr(waiting.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(waiting.time, "sleep", self.pause)
        monkeypatch.setattr(waiting, "_available_cpu_seconds", lambda: self.capacity)

    def pause(self, _: float) -> None:
        self.now += 1.0
        self.capacity += self.spare


@pytest.mark.parametrize(("spare", "seconds"), [(2.0, 60.0), (1.0, 60.0), (0.25, 240.0)])
def test_the_timeout_counts_only_available_cpu_time(
    monkeypatch: pytest.MonkeyPatch, spare: float, seconds: float
) -> None:
    machine = Machine(monkeypatch, spare)
    with pytest.raises(AssertionError, match="no progress for 60 s; waited for: the moon"):
        waiting.wait_until(lambda: False, "the moon")
    assert machine.now == seconds


def test_progress_restarts_the_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch, spare=2.0)
    assert waiting.wait_until(lambda: machine.now > 500.0, progress=lambda: min(machine.now, 450.0) // 50.0)
    machine.now = 0.0
    with pytest.raises(AssertionError, match="no progress"):
        waiting.wait_until(lambda: machine.now > 600.0, progress=lambda: min(machine.now, 450.0) // 50.0)


def test_the_error_shows_the_condition_without_a_description(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch, spare=2.0)
    with pytest.raises(AssertionError, match=r"waited for: .*machine\.now < 0\.0"):
        waiting.wait_until(lambda: machine.now < 0.0)


def test_a_program_runs_to_its_end_and_its_text_is_whole() -> None:
    program = "import sys; print('x' * 200_000); sys.exit('bad')"  # more than a pipe holds
    result = waiting.run_to_end([sys.executable, "-c", program])
    assert (result.returncode, result.stdout, result.stderr) == (1, "x" * 200_000 + "\n", "bad\n")


def test_waiting_for_a_sleeping_process_ends() -> None:
    command = [sys.executable, "-c", "import time; time.sleep(600)"]
    with subprocess.Popen(command) as process, pytest.raises(AssertionError, match=r"the end of .*sleep"):
        waiting.wait_for_exit(process, stall=0.5)
