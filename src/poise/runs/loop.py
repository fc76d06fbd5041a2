"""Controller, plant and recording of a request."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

from poise.control import RAMP, KinematicController, PositionController, Step, TorqueController
from poise.plants import (
    FLOOR_FRICTION,
    Breakdown,
    Carried,
    Ground,
    IdealPlant,
    ModelError,
    PositionServos,
    Push,
    Sensors,
    Thing,
    TorqueMotors,
    steps,
    terrain,
)
from poise.recording import Progress, Recorder, Recording, heard, settings
from poise.robots import State
from poise.runs.request import Request, lasting
from poise.solvers import NullSpace, Weighted

if TYPE_CHECKING:
    from poise.plants import MujocoPlant, RemotePlant

#: A robot that has fallen is watched so much longer, s.
LYING = 0.5


@dataclass
class Ran:
    """A motion that was run.

    Attributes:
        recording: of it.
        seconds: that it was to last.
        wall: seconds that it took to compute, plant and recording included.
        fall: how it fell; "" if it did not.
    """

    recording: Recording
    seconds: float
    wall: float
    fall: str

    @cached_property
    def states(self) -> list[State]:
        """Where the robot was, a hundred times a second, and in the end."""
        recording = self.recording
        stride = round(max(0.01 / recording.period, 1.0)) if recording.period > 0.0 else 1
        last = len(recording) - 1
        return [recording.state(i, recording.robot) for i in sorted({*range(0, last + 1, stride), last})]


def plant_for(
    request: Request, start: State, ground: Ground | None = None, things: Sequence[Thing] = (), stiffness: float = 1.0
) -> IdealPlant | MujocoPlant | RemotePlant:
    """What the request moves. On ground that is not flat the robot may start elsewhere: ask the plant where.

    Args:
        start: of the robot.
        ground: in place of the terrain of the request.
        things: that stand around.
        stiffness: of position servos, as a share of what the robot's data say.
    """
    if request.plant == "ideal":
        return IdealPlant(start)
    if request.remote:
        from poise.plants import RemotePlant

        return RemotePlant(request.remote, start.robot)
    from poise.plants import MujocoPlant

    return MujocoPlant(
        start,
        ground=terrain(request.terrain) if ground is None else ground,
        things=things,
        actuators=PositionServos(share=stiffness) if request.mode == "position" else TorqueMotors(),
        friction=FLOOR_FRICTION if request.friction is None else request.friction,
        pushes=[Push.parsed(text) for text in request.pushes],
        sensors=Sensors(noise=request.noise or 0.0, delay=1e-3 * request.delay),
        breakdowns=[Breakdown.parsed(text) for text in request.breakdowns],
        carried=Carried.share(start.robot, 0.01 * request.carry) if request.carry else None,
        model_error=ModelError(mass=0.01 * request.mass_error),
        seed=request.seed,
    )


def controller_for(
    request: Request, behavior: Any, weights: Sequence[float] | None = None
) -> KinematicController | PositionController | TorqueController:
    """What the request decides with. The exponential profile under torques is the paper's: tasks switch at once."""
    solver = Weighted(weights) if request.solver == "weighted" else None
    if request.mode == "kinematic":
        return KinematicController(behavior, solver, ramp=getattr(behavior, "ramp", RAMP))
    if request.regulated:  # the paper's rate
        return PositionController(behavior, NullSpace() if request.solver == "null-space" else None, period=0.001)
    if request.mode == "position":
        return PositionController(behavior, solver)
    at_once = {"ramp": 0.0} if request.behavior == "reach" and request.profile == "exponential" else {}
    return TorqueController(behavior, solver, **at_once)


def ran(
    request: Request,
    behavior: Any,
    plant: IdealPlant | MujocoPlant | RemotePlant,
    path: str | PathLike[str] | None,
    progress: Progress | None,
    news: Callable[[], dict[str, Any]] = dict,
    over: Callable[[], bool] = lambda: False,
) -> Ran:
    """Runs a behavior as requested, until its end or a fall.

    Args:
        news: asked after every step for facts that only then are known, for the provenance.
        over: asked after every step whether there is nothing left to do.
    """
    controller = controller_for(request, behavior, getattr(behavior, "weights", None))
    seconds = lasting(behavior.seconds if request.seconds is None else request.seconds, controller.period)
    asked = {"behavior": request.behavior, "seed": request.seed}
    if request.behavior == "reach":
        asked["profile"] = request.profile
    facts = {**settings(controller, plant), **asked, "settings": dict(request.settings), "mode": request.mode}
    if request.regulated:
        facts |= behavior.facts
    elif request.behavior == "walk":
        facts |= {"style": behavior.style.name, "steps": request.steps, "speed": behavior.own_speed}
    if request.behavior == "navigate":
        facts["guide"] = "scenario" if request.scenario else request.script or "random"
    for name in request.disturbances:
        attribute = {"push": "pushes", "breakdown": "breakdowns"}.get(name, name.replace(" ", "_"))
        facts[name] = getattr(request, attribute)
    begin = time.perf_counter()
    with _frozen():
        recorder = Recorder(plant.robot, path, facts)

        def told() -> Iterator[Step]:
            for step in _until_fallen(controller, plant, seconds):
                recorder.provenance.update(news())
                yield step
                if over():
                    return

        recording = heard(told(), recorder, progress)
    return Ran(recording, seconds, time.perf_counter() - begin, getattr(plant, "fall", ""))


@contextmanager
def _frozen() -> Iterator[None]:
    """The garbage collector does not walk through all that was there before: a tenth of the time of a run."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _until_fallen(controller: Any, plant: Any, seconds: float) -> Iterator[Step]:
    end = None
    for step in steps(controller, plant, seconds):
        yield step
        if end is None and getattr(plant, "fallen", False):
            end = step.state.time + LYING
        if end is not None and step.state.time >= end:
            return
