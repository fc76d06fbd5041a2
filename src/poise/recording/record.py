"""Running the control loop with a recorder at its side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from poise.plants.loop import Controller, Plant, steps
from poise.recording.progress import Bar
from poise.recording.provenance import settings
from poise.recording.recorder import Recorder, UnwrittenError
from poise.recording.recording import Recording

if TYPE_CHECKING:
    from poise.control import Step
    from poise.robots import Robot

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
        controller: ``controller.step(state) -> Command``.
        plant: what moves.
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
