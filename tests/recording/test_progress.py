"""ProgressBar: shown at terminals only, after a delay, and cleared at the end."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

import pytest
from recorded_steps import PERIOD, ROBOT, Motion

from poise.control import Command, Controller
from poise.errors import PoiseError
from poise.plants import Plant
from poise.plants import control_loop as loop
from poise.recording import ProgressBar, RecordingInterrupted, record
from poise.recording import recorder as progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    @property
    def line(self) -> str:
        """The final text of the line."""
        *_, last = self.getvalue().rstrip("\r").rpartition("\r")
        return last.rstrip()


class Clock:
    """Clock that advances at every call."""

    def __init__(self, tick: float) -> None:
        self.tick, self.now = tick, 0.0

    def monotonic(self) -> float:
        self.now += self.tick
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock(0.5)
    monkeypatch.setattr(progress, "time", clock)
    return clock


def test_the_bar_shows_progress_and_remaining_time(clock: Clock) -> None:
    terminal = Terminal()
    bar = ProgressBar("reach on g1", 10.0, terminal)
    for done in (1.0, 2.0, 5.0):
        bar(done)
    assert "reach on g1 [###############               ] 5.0 of 10.0 s  2 s left" in terminal.line


def test_a_short_run_shows_nothing(clock: Clock) -> None:
    terminal = Terminal()
    with ProgressBar("reach", 10.0, terminal) as bar:
        bar(9.0)
    assert terminal.getvalue() == ""


def test_the_bar_clears_its_line_at_the_end(clock: Clock) -> None:
    terminal = Terminal()
    with ProgressBar("reach", 10.0, terminal) as bar:
        for _ in range(5):
            bar(1.0)
    assert terminal.line == ""
    assert terminal.getvalue().endswith("\r")


def test_no_line_is_wider_than_a_terminal(clock: Clock) -> None:
    terminal = Terminal()
    bar = ProgressBar("a very long name " * 10, 1e6, terminal)
    for done in (0.0, 0.0, 1e4, 1e6, 2e6):
        bar(done)
    assert max(map(len, terminal.getvalue().split("\r"))) < 80


@pytest.mark.parametrize("stream", [io.StringIO(), None])
def test_without_a_terminal_nothing_is_written(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], stream: io.StringIO | None
) -> None:
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=stream))
    with ProgressBar("reach", 1.0) as bar:
        for _ in range(5):
            bar(0.5)
    assert stream is None or stream.getvalue() == ""
    assert capsys.readouterr() == ("", "")


class LostTerminal(Terminal):
    """Terminal that raises when it is written to after its end."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error, self.gone, self.refused = error, False, 0

    def write(self, text: str) -> int:
        if self.gone:
            self.refused += 1
            raise self.error
        return super().write(text)


@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), ValueError("I/O operation on closed file")])
def test_a_terminal_that_goes_away_does_not_stop_the_motion(clock: Clock, error: Exception) -> None:
    terminal = LostTerminal(error)
    with ProgressBar("reach", 1.0, terminal) as bar:
        for _ in range(5):
            bar(0.5)
        shown = terminal.getvalue()
        terminal.gone = True
        for _ in range(5):
            bar(0.75)
        assert terminal.refused == 1  # one more attempt, and no other
    assert "0.5 of 1.0 s" in shown
    assert terminal.getvalue() == shown


class FakeController(Controller):
    period = PERIOD

    def __init__(self, until: int = 1000) -> None:
        self.until = until

    def step(self, state: Any) -> Any:
        if state == self.until:
            raise KeyboardInterrupt
        return Command(Motion().step(state).command.velocity, None, None, PERIOD)


class FakePlant(Plant):
    robot = ROBOT

    def __init__(self) -> None:
        self.count = -1

    def state(self) -> Any:
        self.count += 1
        return self.count

    def apply(self, command: Any) -> None: ...

    def advance(self) -> None: ...


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    terminal = Terminal()
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=terminal))
    monkeypatch.setattr(loop, "ControlStep", lambda state, *_: Motion().step(state))
    return terminal


def test_record_shows_a_bar_on_a_terminal(clock: Clock, terminal: Terminal) -> None:
    plant = FakePlant()
    recording = record(FakeController(), plant, 20 * PERIOD)
    assert (recording.samples, plant.count) == (20, 19)  # no state is read beyond those of its steps
    assert "recording figure [##############################] 0.1 of 0.1 s" in terminal.getvalue()
    assert terminal.line == ""


def test_the_bar_is_gone_after_ctrl_c(clock: Clock, terminal: Terminal) -> None:
    with pytest.raises(RecordingInterrupted):
        record(FakeController(until=15), FakePlant(), 20 * PERIOD)
    assert terminal.getvalue() != ""
    assert terminal.line == ""


def test_with_a_progress_callback_no_bar_is_shown(clock: Clock, terminal: Terminal) -> None:
    times: list[float] = []
    record(FakeController(), FakePlant(), 5 * PERIOD, progress=times.append)
    assert len(times) == 5
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("seconds", ["long", -1.0, float("nan")])
def test_an_invalid_time_is_refused_at_a_terminal_too(terminal: Terminal, seconds: Any) -> None:
    with pytest.raises(PoiseError, match="expected a number, zero or more"):
        record(FakeController(), FakePlant(), seconds)
