"""Recorder: listens to the control loop; record: runs the loop with a recorder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from poise.control import Controller
from poise.errors import RecordingError
from poise.plants import Plant, steps
from poise.recording.channel import Channel, Part, joined, plain
from poise.recording.coordinate_labels import Body
from poise.recording.progress_bar import Bar
from poise.recording.provenance import circumstances, settings, written
from poise.recording.recording import Recording
from poise.recording.sample_block import CAPACITY, Block, Layout

if TYPE_CHECKING:
    from poise.control import Step
    from poise.recording.file_format import Writer
    from poise.robots import Robot

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
