"""Random hierarchies and random states: every task and constraint in any order, with targets of all sorts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pinocchio

from poise import constraints, tasks
from poise.arrays import Array
from poise.campaign.kinds.fuzz_verdict import judged
from poise.hierarchy import Hierarchy, Level
from poise.robots import Frame, Robot, State
from poise.state import Contact

Random = np.random.Generator
Maker = Callable[["Choice"], Any]

#: How far a target is from where things are, in the unit of the task: reachable, far, beyond all, and hardly at all.
SIZES = (0.0, 1e-12, 1e-3, 0.05, 0.3, 2.0, 100.0, 1e6)
AXES = ("x", "y", "z", "xy", "xz", "zy", "xyz")
LEVELS = 7


class Choice:
    """What the makers of tasks draw from: a state, and a generator."""

    def __init__(self, start: State, random: Random) -> None:
        self.start, self.robot, self.random = start, start.robot, random

    def frame(self) -> Frame:
        """Any frame; mostly a hand, a foot or the chest."""
        robot = self.robot
        usual = [*robot.hands, *robot.feet, *([robot.chest] if robot.chest else [])]
        known = usual if usual and self.random.random() < 0.8 else list(robot.frames.values())
        return known[int(self.random.integers(len(known)))]

    def contact(self) -> Contact:
        """A part against a plane, with forces written in one of the ways there are."""
        robot, random = self.robot, self.random
        parts = [*robot.feet, *robot.hands]
        part = parts[int(random.integers(len(parts)))]
        forces = str(random.choice(["wrench", "vertices", "normals"])) if part in robot.feet else "wrench"
        normal = (0.0, 0.0, 1.0) if random.random() < 0.7 else tuple(random.normal(size=3))
        friction = float(random.choice([0.0, 1e-6, 0.3, 0.7, 5.0]))
        largest = float(random.choice([np.inf, 1.0, 500.0]))
        return Contact(part, normal=normal, friction=friction, forces=forces, largest_force=largest)  # type: ignore[arg-type]

    def joints(self) -> Any:
        """Some of the joints, or all."""
        count = int(self.random.integers(1, len(self.robot.joints) + 1))
        some = self.random.choice(len(self.robot.joints), size=count, replace=False)
        return None if self.random.random() < 0.5 else [self.robot.joints[int(i)] for i in some]

    def shift(self, size: int) -> Array:
        """A vector of some size, at times along one axis only."""
        direction = self.random.normal(size=size)
        if self.random.random() < 0.3:
            direction *= np.arange(size) == self.random.integers(size)
        return float(self.random.choice(SIZES)) * direction

    def axes(self) -> str:
        return str(self.random.choice(AXES))

    def options(self, within: bool = True, reference: bool = True) -> dict[str, Any]:
        """Weight, interval and reference, each at times."""
        random = self.random
        given: dict[str, Any] = {}
        if random.random() < 0.3:
            given["weight"] = float(10.0 ** random.uniform(-6.0, 6.0)) if random.random() < 0.8 else 0.0
        if within and random.random() < 0.3:
            given["within"] = float(random.choice([0.0, 1e-9, 0.01, 10.0]))
        if reference and random.random() < 0.3:
            rate = float(random.choice([0.1, 5.0, 50.0, 1000.0]))
            speed = float(random.choice([np.inf, 1e-3, 1.0]))
            given["reference"] = tasks.MinimumJerk(0.5) if random.random() < 0.3 else tasks.Decay(rate, speed=speed)
        return given

    def target(self, place: Array) -> Any:
        """A place, or something that begins there and moves."""
        match int(self.random.integers(4)):
            case 0:
                return tasks.Oscillation(place, place + self.shift(len(place)), float(self.random.choice([0.5, 50.0])))
            case 1:
                return tasks.Passage(place, place + self.shift(len(place)), float(self.random.choice([1e-3, 1.0])))
            case _:
                return place


def _pose(choice: Choice, frame: Frame) -> Any:
    pose = choice.start.pose(frame)
    pose.translation = pose.translation + choice.shift(3)
    return pose


def _position(c: Choice) -> Any:
    frame, axes = c.frame(), c.axes()
    return tasks.Position(frame, c.target(c.start.pose(frame).translation + c.shift(3)), axes, **c.options())


def _posture(c: Choice) -> Any:
    joints = c.joints()
    count = len(c.robot.joints) if joints is None else len(joints)
    angles = c.random.normal(size=count) * float(c.random.choice(SIZES))
    return tasks.Posture(c.start if joints is None and c.random.random() < 0.5 else angles, joints, **c.options())


def _relative(c: Choice) -> Any:
    frame, other = c.frame(), c.frame()
    pose = c.start.pose(other).actInv(c.start.pose(frame))
    pose.translation = pose.translation + c.shift(3)
    return tasks.RelativePose(frame, other, pose, c.axes(), c.axes(), **c.options())


def _inside(c: Choice) -> Any:
    anywhere = c.start.center_of_mass[:2] + c.random.normal(size=(5, 2)) * float(c.random.choice(SIZES[3:]))
    polygon = None if c.random.random() < 0.5 else anywhere
    return constraints.CenterOfMassInside(float(c.random.choice([0.0, 0.01, 5.0])), polygon, **c.options(within=False))


def _box(c: Choice) -> Any:
    frame = c.frame()
    corner, size = c.start.pose(frame).translation + c.shift(3), np.abs(c.shift(3))
    return constraints.Box(frame, corner, corner + size, **c.options(within=False))


def _apart(c: Choice) -> Any:
    robot = c.robot
    parts = [*robot.hands, *robot.feet]
    pairs = [(a, b) for i, a in enumerate(parts) for b in parts[i + 1 :]]
    return constraints.SelfCollision(robot, float(c.random.choice([0.0, 0.02, 1.0])), pairs)


def _limit(c: Choice) -> Any:
    kind = (constraints.JointRange, constraints.JointSpeed, constraints.JointAcceleration)[int(c.random.integers(3))]
    return kind(
        c.robot, c.joints(), margin=float(c.random.choice([0.0, 0.05])), scale=float(c.random.choice([1.0, 0.1]))
    )


def _bearing(c: Choice) -> Any:
    kinds = (constraints.NormalForces, constraints.FrictionCone, constraints.WrenchCone, constraints.PlanarContact)
    return kinds[int(c.random.integers(4))](c.contact(), **c.options(within=False, reference=False))


#: Makers by class; those of forces say nothing to a controller without any.
MAKERS: dict[str, Maker] = {
    "Position": _position,
    "Orientation": lambda c: tasks.Orientation(f := c.frame(), _pose(c, f).rotation, c.axes(), **c.options()),
    "Pose": lambda c: tasks.Pose(f := c.frame(), _pose(c, f), c.axes(), c.axes(), **c.options()),
    "HoldPose": lambda c: tasks.HoldPose(c.frame(), c.start, **c.options()),
    "RelativePose": _relative,
    "Direction": lambda c: tasks.Direction(c.frame(), c.random.normal(size=3), c.shift(3), **c.options()),
    "Gaze": lambda c: tasks.Gaze(f := c.frame(), _pose(c, f).translation, (1.0, 0.0, 0.0), **c.options()),
    "CenterOfMass": lambda c: tasks.CenterOfMass(c.target(c.start.center_of_mass + c.shift(3)), **c.options()),
    "LinearMomentum": lambda c: tasks.LinearMomentum(c.shift(3), **c.options()),
    "AngularMomentum": lambda c: tasks.AngularMomentum(c.shift(3), **c.options()),
    "Posture": _posture,
    "Configuration": lambda c: tasks.Configuration(c.start, **c.options()),
    "JointComfort": lambda c: tasks.JointComfort(c.robot, float(c.random.choice([0.0, 1.0, 1e6])), c.joints()),
    "LeastVelocity": lambda c: tasks.LeastVelocity(c.joints(), **c.options(reference=False)),
    "JointTorque": lambda c: tasks.JointTorque(None, float(c.shift(1)[0]), **c.options(within=False, reference=False)),
    "ContactForce": lambda c: tasks.ContactForce(c.contact(), c.shift(3)),
    "CenterOfPressure": lambda c: tasks.CenterOfPressure(c.contact(), c.shift(2)),
    "ForceDistribution": lambda c: tasks.ForceDistribution([Contact(foot) for foot in c.robot.feet]),
    "JointLimit": _limit,
    "Box": _box,
    "Polyhedron": lambda c: constraints.Polyhedron(c.frame(), c.random.normal(size=(4, 3)), c.shift(4)),
    "HalfSpace": lambda c: constraints.HalfSpace(c.frame(), c.random.normal(size=3), float(c.shift(1)[0])),
    "CenterOfMassInside": _inside,
    "CenterOfMassPlanes": lambda c: constraints.CenterOfMassPlanes(c.random.normal(size=(3, 3)), c.shift(3)),
    "SelfCollision": _apart,
    "PinnedContact": lambda c: constraints.PinnedContact(c.frame(), c.axes(), c.axes()),
    "RigidContact": lambda c: constraints.RigidContact(c.contact(), c.start if c.random.random() < 0.5 else None),
    "NonPenetration": lambda c: constraints.NonPenetration(c.contact(), c.random.normal(size=3)),
    "TorqueLimit": lambda c: constraints.TorqueLimit(c.robot, c.joints(), float(c.random.choice([1.0, 0.01, 3.0]))),
    "ForceLimit": _bearing,
}


class Made(NamedTuple):
    """A random hierarchy, and what was refused on the way.

    Attributes:
        hierarchy: the hierarchy.
        guarded: whether range and speed of all joints stand above everything.
        refused: how many tasks were refused in one clear line.
        faults: what was wrong with the way others were.
    """

    hierarchy: Hierarchy
    guarded: bool
    refused: int
    faults: list[str]


def random_hierarchy(start: State, random: Random, levels: int = 0) -> Made:
    """A hierarchy of so many levels; 0: one to seven."""
    choice, names, faults, refused = Choice(start, random), list(MAKERS), [], 0

    def some(most: int) -> list[Any]:
        nonlocal refused
        found: list[Any] = []
        for _ in range(int(random.integers(1, most + 1))):
            name = names[int(random.integers(len(names)))]
            verdict = judged(partial(_kept, found, MAKERS[name], choice))
            refused += not verdict.result
            if verdict.fault:
                faults.append(f"{name}: {verdict.fault}")
        return [*found, *found[: int(random.random() < 0.1)]]  # at times the first is there twice

    guarded = bool(random.random() < 0.7)
    limits = [constraints.JointRange(start.robot), constraints.JointSpeed(start.robot)] if guarded else []
    always = [*limits, *(some(2) if random.random() < 0.3 else [])]
    count = levels or int(random.integers(1, LEVELS + 1))
    stack = [Level(f"level {k}", some(3), float(random.choice([0.0, 0.0, 0.1]))) for k in range(count)]
    if not (always or any(level.tasks for level in stack)):
        always = [tasks.LeastVelocity()]  # all others were refused
    return Made(Hierarchy(always, stack), guarded, refused, faults)


def _kept(found: list[Any], maker: Maker, choice: Choice) -> None:
    found.append(maker(choice))


# -- Random states ---------------------------------------------------------------------------------------------------


#: What a failing sensor reports.
BROKEN = (np.nan, np.inf, -np.inf, 1e9, -1e9)


def random_start(robot: Robot, random: np.random.Generator) -> State:
    """Joints anywhere in their range, at its very ends or a little beyond; the base anywhere; moving or not."""
    stance = next(iter(robot.stances), None)
    q = np.array(robot.rest if stance is None else robot.stance(stance).q)
    low, high = robot.limits.lower, robot.limits.upper
    places = [joint.q for joint in robot.joints]
    match int(random.integers(4)):
        case 0:
            pass  # as it stands
        case 1:
            q[places] = random.uniform(low, high)
        case 2:
            q[places] = np.where(random.random(len(low)) < 0.5, low, high)  # stretched and folded: singular
        case _:
            beyond = 0.05 * (high - low)
            q[places] = random.uniform(low - beyond, high + beyond)
    if random.random() < 0.5:
        turned = random.normal(size=6) * float(random.choice([0.0, 0.3, 3.0, 1e3]))
        q = pinocchio.integrate(robot.model, q, np.concatenate([turned, np.zeros(robot.model.nv - 6)]))
        q[3:7] /= np.linalg.norm(q[3:7])
    speed = float(random.choice([0.0, 0.0, 0.1, 1.0, 20.0]))
    parts = [part for part in (*robot.feet, *robot.hands[:1]) if random.random() < 0.6]
    return State(robot, q, speed * random.normal(size=robot.model.nv), contacts=tuple(parts))


def broken(state: State, random: np.random.Generator) -> State:
    """The same with entries that no sensor should report; a State as such refuses some of them."""
    q, v = np.array(state.q), np.array(state.v)
    for _ in range(int(random.integers(1, 4))):
        values = q if random.random() < 0.5 else v
        values[int(random.integers(len(values)))] = random.choice(BROKEN)
    return State._trusted(state.robot, q, v, state.time, state.contacts)
