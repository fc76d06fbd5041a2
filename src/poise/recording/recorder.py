"""Recorder: steps of a control loop become a recording, in memory and in a file, with progress."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

import numpy as np

from poise.control import Controller
from poise.errors import RecordingError
from poise.plants import Plant, steps
from poise.recording.channel import Channel, Part, joined, plain
from poise.recording.provenance import Body, circumstances, settings, written
from poise.recording.recording import Recording
from poise.recording.sample_block import CAPACITY, Block, Layout

if TYPE_CHECKING:
    from poise.control import Step
    from poise.recording.file_format import Writer
    from poise.robots import Robot

#: A run that ends sooner than this (s) shows nothing: it would only flicker.
PATIENCE = 1.0
#: The bar is drawn anew every so often (s), which costs the loop nothing and looks steady.
REFRESH = 0.1
#: A log gets a line every so often (s).
LOG = 30.0
#: Characters of the bar, and of the whole line, which fits a terminal of 80.
BAR, LINE = 30, 79


class Bar:
    """A progress bar on standard error: how far, how long still. Silent unless a person looks at it for a while.

    Call it with the time of the motion so far (s), then `close` it, which leaves the line clean for what follows.

    Args:
        what: is going on, such as ``"reach on g1"``.
        total: seconds of motion in all.
        stream: where to, if not standard error; silent unless it is a terminal.
        patience: seconds until it appears.
        unit: of the total, if it is not seconds.
        counted: whether whole things are counted: then it tells how many a second.
        lines: whether a stream that is no terminal, such as the log of a night's work, gets a line now and then.

    >>> with Bar("reach on g1", 10.0) as bar:
    ...     poise.record(controller, plant, 10.0, progress=bar)
    """

    def __init__(
        self,
        what: str,
        total: float,
        stream: TextIO | None = None,
        patience: float = PATIENCE,
        unit: str = "s",
        counted: bool = False,
        lines: bool = False,
    ) -> None:
        self.what, self.total, self.unit, self.counted = what, total, unit, counted
        self._stream = sys.stderr if stream is None else stream
        self._terminal = _is_terminal(self._stream)
        self._shown = self._terminal or lines
        self._first: float | None = None
        self._begin = time.monotonic()
        patience = patience if self._terminal else LOG
        self._next = self._begin + patience
        self._drawn = False

    def __call__(self, done: float, more: str = "") -> None:
        if self._first is None:  # what was done before it took no time now
            self._first = done
        if not self._shown or (now := time.monotonic()) < self._next:
            return
        self._next = now + (REFRESH if self._terminal else LOG)
        share = min(max(done / self.total, 0.0), 1.0) if self.total > 0.0 else 1.0
        spent, came = now - self._begin, done - self._first
        sure = came > 0.02 * (self.total - self._first)  # sooner it is a guess
        left = f"{spent / came * (self.total - done):.0f} s left" if sure else ""
        if self.counted:
            told = f"{done:.0f} of {self.total:.0f} {self.unit} {came / spent:.3g}/s  {left}  {more}"
        else:
            told = f"{done:.1f} of {self.total:.1f} {self.unit}  {left}"
        if not self._terminal:
            self._print(f"{self.what}: {told}".rstrip(), "\n", "")
            return
        end = f" [{'#' * int(BAR * share):<{BAR}}] {told}"
        self._print(f"{self.what[: max(LINE - len(end), 0)]}{end}"[:LINE])

    def close(self) -> None:
        """Leaves the line clean for what follows."""
        if self._drawn and self._terminal:
            self._print("", "\r")
            self._drawn = False

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _print(self, text: str, end: str = "", begin: str = "\r") -> None:
        line = f"{begin}{text:<{LINE}}" if begin else text
        try:
            print(line, end=end, file=self._stream, flush=True)
            self._drawn = True
        except (OSError, ValueError):  # the terminal is gone; the motion goes on
            self._shown = False


def _is_terminal(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


# -- Recorder: listens to the control loop ---------------------------------------------------------------------------


#: A file is never further behind the motion than this (s).
BEHIND = 0.25


class UnwrittenError(RecordingError):
    """The file could not be written to the end; all that was recorded is in ``recording``, to be saved elsewhere."""

    def __init__(self, message: str, recording: Recording, path: str) -> None:
        super().__init__(message, path=path)
        self.recording = recording


class _Done(NamedTuple):
    """Samples whose block is full, linked to those before them."""

    first: int
    part: Part
    before: _Done | None


class _Held(NamedTuple):
    """The block that is being filled, the number of its first sample, and what is done."""

    block: Block
    first: int
    done: _Done | None


class Recorder:
    """A listener: call it with each `Step`, then `finish`.

    While the robot moves, a file is written along if a path is given, never more than 0.25 s behind: a process that is
    killed leaves a file that `load_recording` opens with ``partial=True``. If the disk fails meanwhile, the motion goes
    on and `finish` tells.

    A call may be interrupted anywhere by Ctrl-C: its step then counts as a whole or not at all.

    Args:
        robot: whose motion it is.
        path: a ``.poise`` file to write along; what is there is overwritten.
        provenance: facts beyond version, date, machine and robot; ``recorder.provenance`` takes more until the end.

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
        self.provenance = written({**circumstances(robot), **provenance})
        self._body = Body.of(robot)
        self._begun = self._last = np.nan  # of the first sample nothing is late
        self._contacts: tuple[object, str] = ((), "")
        self._held: _Held | None = None
        self._recording: Recording | None = None
        self._writer: Writer | None = None
        self._failure: RecordingError | None = None
        if self.path is not None:
            from poise.recording.file_format import Writer, checked_place, unwritable

            try:
                self._writer = Writer(checked_place(self.path), self.provenance)
            except OSError as error:
                raise unwritable(self.path, error) from None

    @property
    def samples(self) -> int:
        """How many steps were recorded."""
        if self._recording is not None:
            return len(self._recording)
        return 0 if self._held is None else self._held.first + self._held.block.filled

    def __call__(self, step: Step) -> None:
        if self._recording is not None:
            raise RecordingError("this recorder has finished; make another")
        held = self._held
        if held is None or not held.block.layout.fits(step):
            held = self._next(Layout(self._body, step, None if held is None else held.block.layout))
        elif held.block.filled == CAPACITY:  # left full by an interruption
            held = self._next(held.block.layout)
        state, block = step.state, held.block
        if state.contacts != self._contacts[0]:
            self._contacts = (state.contacts, ", ".join(plain(part.name) for part in state.contacts))
        if block.filled == 0:
            self._begun = state.time
        block.add(step, self._contacts[1])
        interval, self._last = state.time - self._last, state.time
        # The next sample would come too late (give or take half a period of rounding), or the clock was set back.
        late = state.time + 1.5 * interval >= self._begun + BEHIND or interval < 0.0
        if late or block.filled == CAPACITY:
            self._next(block.layout)

    def finish(self, ended: str = "finished") -> Recording:
        """The recording; a file is closed. Asking again gives the same.

        Args:
            ended: how it ended, for the provenance: ``"finished"``, ``"interrupted"`` or what went wrong.
        """
        if self._recording is None:
            if self._held is not None and self._held.block.filled:
                self._next(self._held.block.layout)
            parts = [done.part for done in reversed(_links(self._held))]
            channels = joined(parts) if parts else (Channel("time", "s", np.zeros(0)),)
            self._recording = Recording(channels, {**self.provenance, "ended": ended}, self.robot)
        self._close()
        self._held = None
        if self._failure is not None:
            raise UnwrittenError(
                f"{self._failure}; the recording itself is whole: save it elsewhere", self._recording, str(self.path)
            )
        return self._recording

    def _next(self, layout: Layout) -> _Held:
        """Begins a block; the samples of the last one are handed to the file."""
        held = self._held
        done = None if held is None else held.done
        if held is not None and held.block.filled:
            done = _Done(held.first, held.block.channels(), done)
        # The one moment at which samples change hands: an interruption finds them on one side or the other.
        self._held = fresh = _Held(Block(layout), self.samples, done)
        self._write()
        return fresh

    def _write(self) -> None:
        """Appends to the file what it does not have yet."""
        if self._writer is not None:
            try:
                for done in reversed(_links(self._held, self._writer.samples)):
                    self._writer.write(done.first, done.part)
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
        from poise.recording.file_format import unwritable

        assert self._writer is not None
        assert self.path is not None
        self._failure = unwritable(self.path, error)
        self._writer.abandon()
        self._writer = None


def _links(held: _Held | None, since: int = 0) -> list[_Done]:
    """What is done from this sample on, the latest first."""
    links, done = [], None if held is None else held.done
    while done is not None and done.first >= since:
        links.append(done)
        done = done.before
    return links


# -- Running the control loop with a recorder at its side ------------------------------------------------------------


#: Called after each step with the time of the motion so far (s).
Progress = Callable[[float], object]


class RecordingInterrupted(KeyboardInterrupt):
    """Ctrl-C while recording: a KeyboardInterrupt that brings what was recorded until then.

    Attributes:
        recording: the motion so far; if a path was given, the file holds the same.
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
) -> Recording:
    """Lets a controller move a plant for some seconds, and records all of it.

    Args:
        controller: what decides: one of ours, or a `Controller` of your own.
        plant: what moves: one of ours, or a `poise.plants.Plant` of your own.
        seconds: of motion.
        path: a ``.poise`` file to write along, so that nothing is lost if the process dies.
        progress: called after each step with the time of the motion so far (s). By default a `Bar` on standard error,
            which only a terminal shows, and only after a second; ``progress=lambda time: None`` for none at all.
        provenance: further facts, such as ``{"seed": 7, "command_line": "poise run walk --seed 7"}``.

    Raises:
        RecordingInterrupted: on Ctrl-C, with the recording so far; the file, if any, is closed properly.

    >>> recording = poise.record(controller, poise.IdealPlant(start), seconds=3.0)
    >>> print(recording.summary())
    """
    controller, plant = Controller.of(controller), Plant.of(plant)
    recorder = Recorder(plant.robot, path, {**settings(controller, plant), **provenance})

    def described() -> Iterator[Step]:
        for i, step in enumerate(steps(controller, plant, seconds)):
            if i == 0:  # a controller that asks a behavior knows its hierarchy only now
                recorder.provenance.update({**settings(controller, plant), **provenance})
            yield step

    if progress is not None:
        return heard(described(), recorder, progress)
    with Bar(f"recording {plant.robot.name}", seconds) as bar:
        return heard(described(), recorder, lambda _: bar(recorder.samples * controller.period))


def record_steps(
    steps: Iterable[Step],
    robot: Robot,
    path: str | PathLike[str] | None = None,
    progress: Progress | None = None,
    provenance: Mapping[str, Any] = MappingProxyType({}),
) -> Recording:
    """Records any steps, wherever they come from; arguments as for `record`.

    Whatever ends the steps early, the file is closed properly and says how it ended.
    """
    return heard(steps, Recorder(robot, path, provenance), progress)


def heard(steps: Iterable[Step], recorder: Recorder, progress: Progress | None) -> Recording:
    """Lets a recorder hear steps until they end; whatever ends them, its file is closed properly and says how."""
    try:
        for step in steps:
            recorder(step)
            if progress is not None:
                progress(step.state.time)
    except KeyboardInterrupt:
        raise RecordingInterrupted(_rescued(recorder, "interrupted")) from None
    except BaseException as error:
        _rescued(recorder, f"{type(error).__name__}: {error}")
        if recorder.path is not None:
            error.add_note(f"What was recorded until then is in {recorder.path}.")
        raise
    return recorder.finish()


def _rescued(recorder: Recorder, ended: str) -> Recording:
    """The recording, even if its file cannot be written."""
    try:
        return recorder.finish(ended)
    except UnwrittenError as error:
        return error.recording
