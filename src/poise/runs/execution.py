"""Execution of a motion: run and record the control loop until its end or a fall, and compute the common results."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

from poise.analysis import (
    RecordedWalk,
    analyze_walk,
    largest_trunk_tilt,
    quality_figures,
    quality_messages,
    state_samples,
    torque_saturation,
    zmp_margin,
)
from poise.control import Controller, ControlStep
from poise.errors import UsageError
from poise.files import json_ready
from poise.plants import Plant, Push, steps
from poise.recording import Progress, Recorder, Recording, append_facts, controller_facts, record_into
from poise.robots import Robot, State

if TYPE_CHECKING:
    from poise.runs.motion import Motion, Setup

#: Time for which the run continues after a fall (s).
SECONDS_AFTER_FALL = 0.5

#: Result of a run, by key, as ``poise run --json`` prints it.
Result = dict[str, Any]


@dataclass
class CompletedRun:
    """A completed run of a motion.

    Attributes:
        recording: recording of the run.
        robot: robot of the plant.
        seconds: planned duration (s).
        wall_time: computation time, plant and recording included (s).
        fall: description of the fall; "" if the robot did not fall.
    """

    recording: Recording
    robot: Robot
    seconds: float
    wall_time: float
    fall: str

    @cached_property
    def states(self) -> list[State]:
        """Recorded states of the robot at 100 Hz, and the last one."""
        recording = self.recording
        return [recording.state(i, recording.robot) for i in state_samples(recording)]

    @cached_property
    def states_before_fall(self) -> list[State]:
        """`states` until the fall, but at least the first one: slip or margins of a body on the ground mean nothing."""
        fall = self.recording.provenance.get("fall")
        return [state for state in self.states if not fall or state.time < fall["time"]] or self.states[:1]

    @cached_property
    def walk(self) -> RecordedWalk:
        """Footprints, steps and trajectories of the recording."""
        return analyze_walk(self.recording, self.robot)


def execute(
    motion: Motion, setup: Setup, path: str | PathLike[str] | None = None, progress: Progress | None = None
) -> CompletedRun:
    """Run a motion until its end or a fall, and record it.

    Args:
        motion: the motion; its `seconds`, if given, replaces the duration of the behavior.
        setup: behavior, controller and plant that `motion.build` returned.
        path: ``.poise`` file to record to; None: in memory only.
        progress: called with the time of the motion after each step (s).
    """
    controller, plant = setup.controller, setup.plant
    seconds = whole_periods(setup.seconds if motion.seconds is None else motion.seconds, controller.period)
    _check_pushes(motion.world.push, seconds)
    facts = {
        **controller_facts(controller, plant),
        "behavior": motion.name,
        "seed": motion.seed,
        **motion.provenance(),
        "settings": dict(motion.settings),
        "mode": motion.mode,
        **setup.provenance,
        **motion.world.disturbances,
    }
    begin = time.perf_counter()
    with collector_paused():
        recorder = Recorder(plant.robot, path, facts)

        def recorded_steps() -> Iterator[ControlStep]:
            for step in _until_fallen(controller, plant, seconds):
                recorder.provenance.update(setup.updates())
                recorder.note_fall(plant, step.state.time)
                yield step
                if setup.finished():
                    return

        recording = record_into(recorded_steps(), recorder, progress)
    return CompletedRun(recording, plant.robot, seconds, time.perf_counter() - begin, plant.fall)


def _check_pushes(pushes: tuple[str, ...], seconds: float) -> None:
    """Raise an error for a push that starts after the end: without it the run would seem to withstand the push."""
    for text in pushes:
        if Push.parse(text).time >= seconds:
            raise UsageError(f"the push '{text}' never acts: the motion ends at {seconds:g} s; give an earlier TIME")


@contextmanager
def collector_paused() -> Iterator[None]:
    """Exclude existing objects from garbage collection: scanning them takes a tenth of the time of a run."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _until_fallen(controller: Controller, plant: Plant, seconds: float) -> Iterator[ControlStep]:
    end = None
    for step in steps(controller, plant, seconds):
        yield step
        if end is None and plant.fallen:
            end = step.state.time + SECONDS_AFTER_FALL
        if end is not None and step.state.time >= end:
            return


def summarize(motion: Motion, run: CompletedRun) -> Result:
    """Return a result with all common keys. Keys that only some motions compute are None until `judge` sets them."""
    return {"behavior": motion.name, "robot": motion.robot, "mode": motion.mode, "plant": motion.plant, **measure(run)}


def measure(run: CompletedRun) -> Result:
    """Return the entries of a result that follow from the run alone, without the motion."""
    recording, robot = run.recording, run.robot
    late = recording.overruns()
    return {
        "seconds": run.seconds,
        "fell": bool(run.fall),
        "reason": run.fall or None,
        "steps": None,
        "distance_m": None,
        "heading_rad": None,
        "worst_tilt_deg": math.degrees(largest_trunk_tilt(run.states, robot)),
        "zmp_margin_m": zmp_margin(recording, robot, run.states_before_fall),
        "reach_errors_m": None,
        "control_ms": recording.milliseconds("control"),
        "overruns": None if late is None else late._asdict(),
        "realtime_factor": recording.duration / run.wall_time if run.wall_time > 0.0 else None,
        "fallbacks": recording.fallbacks(),
        "nonfinite_commands": recording.nonfinite_commands(),
        "levels": recording.levels(),
        "limits": torque_saturation(recording, robot),
        "quality": quality_figures(recording, robot, run.walk),
        "warnings": [],
    }


def finish_result(result: Result, reasons: list[str], kind: str) -> Result:
    """Add reasons for failure and warnings to a result, and convert it to JSON-ready values.

    Args:
        result: result with its figures of quality.
        reasons: reasons for failure.
        kind: kind of motion whose bounds of quality apply, see `poise.analysis.quality_messages`.
    """
    previous = [result["reason"]] if result["reason"] else []
    failures = {} if result["fell"] else quality_messages(result["quality"], kind, failures=True)
    result["reason"] = "; ".join([*previous, *reasons, *failures.values()]) or None
    if not result["fell"]:
        warnings = quality_messages(result["quality"], kind)
        result["warnings"] += [message for name, message in warnings.items() if name not in failures]
    json_result: Result = json_ready(result)
    return json_result


def store_result(recording: Recording, result: Result, path: str | PathLike[str] | None) -> Recording:
    """Return the recording with the result in its provenance, as the entry "result", and append it to its file.

    Args:
        recording: recording of the run.
        result: result of the run, JSON-ready.
        path: file of the recording; None if there is none.
    """
    facts = {"result": result}
    if path is not None:
        append_facts(path, facts)
    return Recording(recording.channels.values(), {**recording.provenance, **facts}, recording.robot)


def whole_periods(seconds: float, period: float) -> float:
    """Round a duration to whole control periods (s).

    Raises:
        UsageError: if the duration is shorter than half a period, or not finite.
    """
    steps = round(seconds / period) if math.isfinite(seconds) else 0
    if steps < 1:
        raise UsageError(f"a run of {seconds:g} s has no control step; give at least {period:g} s")
    return steps * period
