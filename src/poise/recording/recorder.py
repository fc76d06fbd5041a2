"""Recording of a control loop in memory and to a file, with a progress bar: `record`, `record_steps`, `Recorder`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

import numpy as np

from poise.control import Controller
from poise.errors import RecordingError
from poise.plants import Plant, steps
from poise.recording.channel import Channel, ChannelGroup, concatenate, printable
from poise.recording.provenance import CoordinateLabels, controller_facts, environment_facts, json_round_trip
from poise.recording.recording import Recording
from poise.recording.sample_block import BLOCK_CAPACITY, SampleBlock, SampleLayout

if TYPE_CHECKING:
    from poise.control import ControlStep
    from poise.recording.file_format import FileWriter
    from poise.robots import Robot

#: Seconds until the bar appears; in a shorter run it would only flicker.
BAR_DELAY = 1.0
#: Seconds between two updates of the bar: negligible cost, steady display.
REFRESH_INTERVAL = 0.1
#: Seconds between two lines in a log.
LOG_INTERVAL = 30.0
#: Width of the bar and of the whole line in characters; the line fits a terminal of 80 columns.
BAR_WIDTH, LINE_WIDTH = 30, 79


class ProgressBar:
    """Progress bar on standard error with the estimated remaining time. It is shown only on a terminal, after a delay.

    Call it with the elapsed time of the motion (s), then `close` it, which clears the line.

    Args:
        title: title of the bar, for example ``"reach on g1"``.
        total: total duration of the motion (s), or number of items.
        stream: output stream, default standard error.
        delay: seconds until the bar appears.
        unit: unit of the total, default seconds.
        count_items: whether items are counted; then the bar shows the rate per second and a suffix.
        log_lines: whether a stream that is not a terminal, for example a log file, gets a line every 30 s.

    >>> with ProgressBar("reach on g1", 10.0) as bar:
    ...     poise.record(controller, plant, 10.0, progress=bar)
    """

    def __init__(
        self,
        title: str,
        total: float,
        stream: TextIO | None = None,
        delay: float = BAR_DELAY,
        unit: str = "s",
        count_items: bool = False,
        log_lines: bool = False,
    ) -> None:
        self.title, self.total, self.unit, self.count_items = title, total, unit, count_items
        self._stream = sys.stderr if stream is None else stream
        self._terminal = _is_terminal(self._stream)
        self._enabled = self._terminal or log_lines
        self._first: float | None = None
        self._begin = time.monotonic()
        delay = delay if self._terminal else LOG_INTERVAL
        self._next_time = self._begin + delay
        self._drawn = False

    def __call__(self, finished: float, suffix: str = "") -> None:
        if self._first is None:  # progress before the first call took no time in this run
            self._first = finished
        if not self._enabled or (now := time.monotonic()) < self._next_time:
            return
        self._next_time = now + (REFRESH_INTERVAL if self._terminal else LOG_INTERVAL)
        share = min(max(finished / self.total, 0.0), 1.0) if self.total > 0.0 else 1.0
        elapsed, progressed = now - self._begin, finished - self._first
        reliable = progressed > 0.02 * (self.total - self._first)  # below 2 % the estimate is a guess
        left = f"{elapsed / progressed * (self.total - finished):.0f} s left" if reliable else ""
        if self.count_items:
            text = f"{finished:.0f} of {self.total:.0f} {self.unit} {progressed / elapsed:.3g}/s  {left}  {suffix}"
        else:
            text = f"{finished:.1f} of {self.total:.1f} {self.unit}  {left}"
        if not self._terminal:
            self._print(f"{self.title}: {text}".rstrip(), "\n", "")
            return
        end = f" [{'#' * int(BAR_WIDTH * share):<{BAR_WIDTH}}] {text}"
        self._print(f"{self.title[: max(LINE_WIDTH - len(end), 0)]}{end}"[:LINE_WIDTH])

    def close(self) -> None:
        """Clear the line of the bar."""
        if self._drawn and self._terminal:
            self._print("", "\r")
            self._drawn = False

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _print(self, text: str, end: str = "", begin: str = "\r") -> None:
        line = f"{begin}{text:<{LINE_WIDTH}}" if begin else text
        try:
            print(line, end=end, file=self._stream, flush=True)
            self._drawn = True
        except (OSError, ValueError):  # the terminal was closed; the motion continues
            self._enabled = False


def _is_terminal(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


# -- Recorder --------------------------------------------------------------------------------------------------------


#: Longest delay between a sample and its writing to the file (s).
MAX_FILE_LAG = 0.25


class WriteError(RecordingError):
    """The file could not be written completely; ``recording`` has all samples and can be saved elsewhere."""

    def __init__(self, message: str, recording: Recording, path: str) -> None:
        super().__init__(message, path=path)
        self.recording = recording


class _FinishedBlock(NamedTuple):
    """Samples of a completed block, linked to the previous block."""

    first: int
    part: ChannelGroup
    previous: _FinishedBlock | None


class _OpenBlock(NamedTuple):
    """The block being filled, the index of its first sample, and the last completed block."""

    block: SampleBlock
    first: int
    finished: _FinishedBlock | None


class Recorder:
    """Collects control steps into a `Recording`: call it with each `ControlStep`, then call `finish`.

    If a path is given, the file is written during the motion, at most 0.25 s behind: if the process is killed,
    `load_recording` opens the file with ``partial=True``. If writing fails, the motion continues and `finish` raises
    `WriteError`.

    If Ctrl-C interrupts a call, its step is recorded completely or not at all.

    Args:
        robot: the robot that moves.
        path: a ``.poise`` file written during the motion; it is overwritten if it exists.
        provenance: facts besides version, date, machine and robot; ``recorder.provenance`` accepts more until `finish`.

    >>> recorder = Recorder(robot, "walk.poise")
    >>> for step in steps(controller, plant, seconds=3.0):
    ...     recorder(step)
    >>> recording = recorder.finish()
    """

    def __init__(
        self,
        robot: Robot,
        path: str | PathLike[str] | None = None,
        provenance: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self.robot = robot
        self.path = None if path is None else Path(path)
        self.provenance = json_round_trip({**environment_facts(robot), **provenance})
        self._labels = CoordinateLabels.of(robot)
        self._block_start = self._last_time = np.nan  # NaN, so that the first sample does not count as late
        self._contacts: tuple[object, str] = ((), "")
        self._open_block: _OpenBlock | None = None
        self._recording: Recording | None = None
        self._writer: FileWriter | None = None
        self._failure: RecordingError | None = None
        if self.path is not None:
            from poise.recording.file_format import FileWriter, check_output_path, write_error

            try:
                self._writer = FileWriter(check_output_path(self.path), self.provenance)
            except OSError as error:
                raise write_error(self.path, error) from None

    @property
    def samples(self) -> int:
        """Number of recorded steps."""
        if self._recording is not None:
            return self._recording.samples
        return 0 if self._open_block is None else self._open_block.first + self._open_block.block.count

    def __call__(self, step: ControlStep) -> None:
        if self._recording is not None:
            raise RecordingError("this recorder has finished; create a new one")
        open_block = self._open_block
        if open_block is None or not open_block.block.layout.fits(step):
            open_block = self._start_block(
                SampleLayout(self._labels, step, None if open_block is None else open_block.block.layout)
            )
        elif open_block.block.count == BLOCK_CAPACITY:  # still full after an interruption
            open_block = self._start_block(open_block.block.layout)
        state, block = step.state, open_block.block
        if state.contacts != self._contacts[0]:
            self._contacts = (state.contacts, ", ".join(printable(part.name) for part in state.contacts))
        if block.count == 0:
            self._block_start = state.time
        block.add(step, self._contacts[1])
        interval, self._last_time = state.time - self._last_time, state.time
        # The next sample would come too late (with half a period of tolerance for rounding), or time went backwards.
        late = state.time + 1.5 * interval >= self._block_start + MAX_FILE_LAG or interval < 0.0
        if late or block.count == BLOCK_CAPACITY:
            self._start_block(block.layout)

    def note_fall(self, plant: Plant, time: float) -> None:
        """Add the time (s) and reason of the first fall of a plant to the provenance."""
        if plant.fallen and not self.provenance.get("fall"):
            self.provenance["fall"] = {"time": time, "reason": plant.fall}

    def copy_notes(self, plant: Plant) -> None:
        """Copy the notes of a plant, if any, to the provenance."""
        if plant.notes:
            self.provenance["plant_notes"] = list(plant.notes)

    def finish(self, outcome: str = "finished") -> Recording:
        """Close the file, if any, and return the recording. Further calls return the same recording.

        Args:
            outcome: how the motion ended, for the provenance: ``"finished"``, ``"interrupted"`` or an error message.

        Raises:
            WriteError: if the file could not be written completely.
        """
        if self._recording is None:
            if self._open_block is not None and self._open_block.block.count:
                self._start_block(self._open_block.block.layout)
            parts = [finished.part for finished in reversed(_finished_blocks(self._open_block))]
            channels = concatenate(parts) if parts else (Channel("time", "s", np.zeros(0)),)
            self._recording = Recording(channels, {**self.provenance, "outcome": outcome}, self.robot)
        self._close()
        self._open_block = None
        if self._failure is not None:
            raise WriteError(
                f"{self._failure}; the recording in memory is complete: save it elsewhere",
                self._recording,
                str(self.path),
            )
        return self._recording

    def _start_block(self, layout: SampleLayout) -> _OpenBlock:
        """Start a new block and write the samples of the last one to the file."""
        open_block = self._open_block
        finished = None if open_block is None else open_block.finished
        if open_block is not None and open_block.block.count:
            finished = _FinishedBlock(open_block.first, open_block.block.channels(), finished)
        # One assignment moves the samples to the finished blocks, so that an interruption cannot lose or repeat them.
        self._open_block = started = _OpenBlock(SampleBlock(layout), self.samples, finished)
        self._write()
        return started

    def _write(self) -> None:
        """Append all finished blocks that are not yet in the file."""
        if self._writer is not None:
            try:
                for finished in reversed(_finished_blocks(self._open_block, self._writer.samples)):
                    self._writer.write(finished.first, finished.part)
            except OSError as error:
                self._fail(error)

    def _close(self) -> None:
        self._write()
        if self._writer is not None and self._recording is not None:
            try:
                self._writer.close({"provenance": self._recording.provenance})
                self._writer = None
            except OSError as error:
                self._fail(error)

    def _fail(self, error: OSError) -> None:
        from poise.recording.file_format import write_error

        assert self._writer is not None
        assert self.path is not None
        self._failure = write_error(self.path, error)
        self._writer.abandon()
        self._writer = None


def _finished_blocks(open_block: _OpenBlock | None, since: int = 0) -> list[_FinishedBlock]:
    """Return the finished blocks that start at sample `since` or later, the latest first."""
    blocks, finished = [], None if open_block is None else open_block.finished
    while finished is not None and finished.first >= since:
        blocks.append(finished)
        finished = finished.previous
    return blocks


# -- Running and recording a control loop ----------------------------------------------------------------------------


#: Callback with the elapsed time of the motion (s), called after each step.
Progress = Callable[[float], object]


class RecordingInterrupted(KeyboardInterrupt):
    """KeyboardInterrupt (Ctrl-C) during a recording, with the samples recorded so far.

    Attributes:
        recording: the motion so far; if a path was given, the file has the same samples.
    """

    def __init__(self, recording: Recording) -> None:
        super().__init__(f"interrupted after {recording.duration:.3f} s of motion")
        self.recording = recording


def record(
    controller: Controller,
    plant: Plant,
    seconds: float,
    path: str | PathLike[str] | None = None,
    progress: Progress | None = None,
    provenance: Mapping[str, Any] = MappingProxyType({}),
    view: bool | Callable[[ControlStep], None] = False,
) -> Recording:
    """Run a controller on a plant for a number of seconds and record the motion.

    Args:
        controller: a controller of Poise, or any `Controller`.
        plant: a plant of Poise, or any `poise.plants.Plant`.
        seconds: duration of the motion (s).
        path: a ``.poise`` file written during the motion, so that at most 0.25 s are lost if the process is killed.
        progress: callback with the elapsed time of the motion (s), called after each step. By default a `ProgressBar`
            on standard error, shown only on a terminal after one second; ``progress=lambda time: None`` disables it.
        provenance: further facts, for example ``{"seed": 7, "command_line": "poise run walk --seed 7"}``.
        view: True shows the motion in the browser, at real time, and keeps the page until the user presses Enter; an
            open `poise.view` shows it there; False (default) shows nothing and costs nothing.

    Raises:
        RecordingInterrupted: on Ctrl-C, with the recording so far; the file, if any, is closed properly.

    >>> recording = poise.record(controller, poise.IdealPlant(start), seconds=3.0)
    >>> print(recording.summary())
    """
    controller, plant = Controller.adapt(controller), Plant.adapt(plant)
    recorder = Recorder(plant.robot, path, {**controller_facts(controller, plant), **provenance})

    def steps_with_provenance() -> Iterator[ControlStep]:
        for i, step in enumerate(steps(controller, plant, seconds)):
            if i == 0:  # a controller with a behavior knows its hierarchy only after the first step
                recorder.provenance.update({**controller_facts(controller, plant), **provenance})
            recorder.note_fall(plant, step.state.time)
            recorder.copy_notes(plant)
            if show is not None:
                show(step)
            yield step

    if view is not True:
        show = view if callable(view) else None
        return _record_with_progress(steps_with_provenance(), recorder, seconds, controller.period, progress)
    # The only import of a package of a later layer; it happens only if a view is requested.
    with import_module("poise.viewer").view(plant.state(), controller=controller, ground=plant.environment) as show:
        recording = _record_with_progress(steps_with_provenance(), recorder, seconds, controller.period, progress)
        show.wait()
        return recording


def _record_with_progress(
    steps: Iterable[ControlStep], recorder: Recorder, seconds: float, period: float, progress: Progress | None
) -> Recording:
    if progress is not None:
        return record_into(steps, recorder, progress)
    with ProgressBar(f"recording {recorder.robot.name}", seconds) as bar:
        return record_into(steps, recorder, lambda _: bar(recorder.samples * period))


def record_steps(
    steps: Iterable[ControlStep],
    robot: Robot,
    path: str | PathLike[str] | None = None,
    progress: Progress | None = None,
    provenance: Mapping[str, Any] = MappingProxyType({}),
) -> Recording:
    """Record an iterable of control steps; arguments as for `record`.

    If an exception ends the steps early, the file is closed properly and its provenance has the reason.
    """
    return record_into(steps, Recorder(robot, path, provenance), progress)


def record_into(steps: Iterable[ControlStep], recorder: Recorder, progress: Progress | None) -> Recording:
    """Pass steps to a recorder until they end; if an exception ends them, the file is closed with the reason."""
    try:
        for step in steps:
            recorder(step)
            if progress is not None:
                progress(step.state.time)
    except KeyboardInterrupt:
        raise RecordingInterrupted(_finish_anyway(recorder, "interrupted")) from None
    except BaseException as error:
        _finish_anyway(recorder, f"{type(error).__name__}: {error}")
        if recorder.path is not None and recorder.samples:
            error.add_note(f"The motion recorded until then is in {recorder.path}.")
        raise
    return recorder.finish()


def _finish_anyway(recorder: Recorder, outcome: str) -> Recording:
    """Return the recording, even if its file cannot be written."""
    try:
        return recorder.finish(outcome)
    except WriteError as error:
        return error.recording
