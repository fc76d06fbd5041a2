"""Execution of a motion: the recorded control loop until its end or a fall, and the result that is common to all."""

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

from poise.analysis import largest_trunk_tilt, torque_saturation, zmp_margin
from poise.control import Controller, ControlStep
from poise.errors import UsageError
from poise.files import json_ready
from poise.plants import Plant, steps
from poise.recording import Progress, Recorder, Recording, controller_facts, record_into
from poise.robots import Robot, State

if TYPE_CHECKING:
    from poise.runs.motion import Motion, Setup

#: A robot that has fallen is watched so much longer, s.
SECONDS_AFTER_FALL = 0.5

#: What ``poise run --json`` prints.
Result = dict[str, Any]


@dataclass
class CompletedRun:
    """A motion that was run.

    Attributes:
        recording: of it.
        robot: that moved.
        seconds: that it was to last.
        wall_time: time that it took to compute, plant and recording included (s).
        fall: how it fell; "" if it did not.
    """

    recording: Recording
    robot: Robot
    seconds: float
    wall_time: float
    fall: str

    @cached_property
    def states(self) -> list[State]:
        """States of the robot, a hundred times a second, and the last."""
        recording = self.recording
        stride = round(max(0.01 / recording.period, 1.0)) if recording.period > 0.0 else 1
        last = len(recording) - 1
        return [recording.state(i, recording.robot) for i in sorted({*range(0, last + 1, stride), last})]


def execute(
    motion: Motion, setup: Setup, path: str | PathLike[str] | None = None, progress: Progress | None = None
) -> CompletedRun:
    """Run a motion until its end or a fall, and record it."""
    controller, plant = setup.controller, setup.plant
    seconds = whole_periods(setup.seconds if motion.seconds is None else motion.seconds, controller.period)
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
    with _collector_paused():
        recorder = Recorder(plant.robot, path, facts)

        def recorded_steps() -> Iterator[ControlStep]:
            for step in _until_fallen(controller, plant, seconds):
                recorder.provenance.update(setup.updates())
                yield step
                if setup.finished():
                    return

        recording = record_into(recorded_steps(), recorder, progress)
    return CompletedRun(recording, plant.robot, seconds, time.perf_counter() - begin, plant.fall)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """The garbage collector does not walk through all that was there before: a tenth of the time of a run."""
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
    """All keys of a result; those that only some motions know are None until they set them."""
    return {"behavior": motion.name, "robot": motion.robot, "mode": motion.mode, "plant": motion.plant, **measure(run)}


def measure(run: CompletedRun) -> Result:
    """The keys of a result that follow from the run alone."""
    recording, robot = run.recording, run.robot
    return {
        "seconds": run.seconds,
        "fell": bool(run.fall),
        "reason": run.fall or None,
        "steps": None,
        "distance_m": None,
        "heading_rad": None,
        "worst_tilt_deg": math.degrees(largest_trunk_tilt(run.states, robot)),
        "zmp_margin_m": zmp_margin(recording, robot, run.states),
        "reach_errors_m": None,
        "control_ms": recording.milliseconds("control"),
        "realtime_factor": recording.duration / run.wall_time if run.wall_time > 0.0 else None,
        "fallbacks": recording.fallbacks(),
        "nonfinite_commands": recording.nonfinite_commands(),
        "levels": recording.levels(),
        "limits": torque_saturation(recording, robot),
    }


def finish_result(result: Result, reasons: list[str]) -> Result:
    """The result with the reasons why it failed, if there are any, ready to be written as JSON."""
    previous = [result["reason"]] if result["reason"] else []
    result["reason"] = "; ".join([*previous, *reasons]) or None
    json_result: Result = json_ready(result)
    return json_result


def whole_periods(seconds: float, period: float) -> float:
    """How long a run lasts: whole periods, one or more (s)."""
    steps = round(seconds / period) if math.isfinite(seconds) else 0
    if steps < 1:
        raise UsageError(f"a run of {seconds:g} s has no control step; give {period:g} s or more")
    return steps * period
