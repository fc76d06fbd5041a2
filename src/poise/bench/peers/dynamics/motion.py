"""The motion along which all contenders are asked: computed once, by kinematics alone, and the same for everybody."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pinocchio

from poise import constraints, tasks
from poise.arrays import Array
from poise.bench.peers.dynamics import problem
from poise.control import KinematicController
from poise.hierarchy import Hierarchy, Level
from poise.plants import IdealPlant
from poise.robots import Robot, State, load_robot
from poise.state import Snapshot
from poise.tasks import ACCELERATION, Decay

#: Cycles before the one that counts: posture and errors then come back to where they were to a millimetre.
SETTLING = 2
#: Newton steps that put the feet back: they are off by micrometres, so two reach rounding.
CORRECTIONS = 2


class Followed:
    """A target that is known at every step beforehand: whoever takes a step says which.

    Args:
        value, rate, acceleration: one line per step, m and s.
    """

    def __init__(self, value: Array, rate: Array, acceleration: Array) -> None:
        self.value, self.rate, self.acceleration = value, rate, acceleration
        self.step = 0

    def sample(self, time: float) -> tuple[Array, Array, Array]:
        step = self.step
        return self.value[step], self.rate[step], self.acceleration[step]


@dataclass(frozen=True, eq=False)
class Motion:
    """States and targets of one robot over one cycle.

    Attributes:
        robot: who moves.
        start: where it stands, and the posture it prefers.
        sway, reach: targets of the center of mass and of the hand.
        q, v: the states, one line per step.
        acceleration: what kinematics with strict priorities asked for in each, one line per step: where no force and
            no torque is at its limit, strict priorities in dynamics must ask for the same.
    """

    robot: Robot
    start: State
    sway: Followed
    reach: Followed
    q: Array
    v: Array
    acceleration: Array

    @cached_property
    def states(self) -> list[State]:
        """The states as values, one per step."""
        feet = self.robot.feet
        lines = zip(self.q, self.v, strict=True)
        return [State(self.robot, q, v, step * problem.PERIOD, feet) for step, (q, v) in enumerate(lines)]


def motion(name: str) -> Motion:
    """The motion of a robot of the library.

    >>> motion("g1").q.shape
    (1500, 36)
    """
    robot = load_robot(name, armature={"*": 0.0})  # a URDF, which is all that peers read, knows no rotors
    start = robot.stance("standing")
    sway, reach = _targets(start)
    held = [tasks.HoldPose(foot, at=start) for foot in robot.feet]
    hierarchy = Hierarchy([constraints.JointRange(robot)], levels(start, sway, reach, Level("contact", held)))
    plant = IdealPlant(start)
    controller = KinematicController(hierarchy, period=problem.PERIOD, order=ACCELERATION)
    seen, snapshot = [], Snapshot(robot)
    for tick in range((SETTLING + 1) * problem.STEPS):
        sway.step = reach.step = tick % problem.STEPS
        if tick >= SETTLING * problem.STEPS:
            seen.append(_standing(plant.state(), start, snapshot))
        plant.apply(controller.step(plant.state()))
        plant.advance()
    controller = KinematicController(hierarchy, period=problem.PERIOD, order=ACCELERATION, ramp=0.0)
    wanted = []
    for step, state in enumerate(seen):
        sway.step = reach.step = step
        wanted.append(controller.step(state).acceleration)
    q, v = np.array([state.q for state in seen]), np.array([state.v for state in seen])
    return Motion(robot, start, sway, reach, q, v, np.array(wanted))


def levels(start: State, sway: Followed, reach: Followed, contact: Level) -> list[Level]:
    """What matters, in order: the given contact level, balance, hand, torso, posture."""
    robot, rates = start.robot, {name: Decay(rate) for name, rate in problem.RATES.items()}
    assert robot.chest is not None
    upright = tasks.Orientation(robot.chest, start.pose(robot.chest).rotation, reference=rates["torso"])
    return [
        contact,
        Level("balance", [tasks.CenterOfMass(sway, reference=rates["balance"])]),
        Level("hand", [tasks.Position(robot.hand(problem.SIDE), reach, reference=rates["hand"])]),
        Level("torso", [upright]),
        Level("posture", [tasks.Posture(start, reference=rates["posture"])]),
    ]


def _standing(state: State, start: State, snapshot: Snapshot) -> State:
    """The nearest state in which both feet are exactly where they stand, and still.

    With the Jacobian J of both feet and their errors e, ``q -= J# e`` until e vanishes, then ``v -= J# J v``.
    """
    robot = state.robot
    for _ in range(CORRECTIONS):
        snapshot.at(state)
        errors = [_error(snapshot.pose(foot), start.pose(foot)) for foot in robot.feet]
        pinv = np.linalg.pinv(np.vstack([snapshot.jacobian(foot) for foot in robot.feet]))
        state = state.replace(q=pinocchio.integrate(robot.model, state.q, -pinv @ np.concatenate(errors)))
    snapshot.at(state)
    J = np.vstack([snapshot.jacobian(foot) for foot in robot.feet])
    return state.replace(v=state.v - np.linalg.pinv(J) @ (J @ state.v))


def _error(now: pinocchio.SE3, then: pinocchio.SE3) -> Array:
    """How far a pose is from another: m and rad, world axes."""
    return np.concatenate([now.translation - then.translation, pinocchio.log3(now.rotation @ then.rotation.T)])


def _targets(start: State) -> tuple[Followed, Followed]:
    """Where the center of mass and the hand go."""
    robot, height = start.robot, start.robot.height
    left, right = robot.feet
    between = float(np.linalg.norm(start.pose(left).translation - start.pose(right).translation))
    sizes = np.array([left.sole.x_max - left.sole.x_min, between, height])
    hand = start.pose(robot.hand(problem.SIDE)).translation + height * np.array(problem.REACH_MIDDLE)
    center_of_mass = start.center_of_mass + height * np.array(problem.SWAY_MIDDLE)
    sway = _followed(center_of_mass, sizes * problem.SWAY, problem.SWAY_TURNS)
    return sway, _followed(hand, height * np.array(problem.REACH), problem.REACH_TURNS)


def _followed(middle: Array, amplitudes: Array, turns: tuple[int, int, int]) -> Followed:
    x, y, z = amplitudes
    waves = np.array([problem.wave(step, (x, y, z), turns) for step in range(problem.STEPS)])
    return Followed(middle + waves[:, 0], waves[:, 1], waves[:, 2])
