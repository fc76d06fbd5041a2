"""Random hierarchies and random states for fuzz runs: any tasks and constraints in any order, with any target."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pinocchio

from poise import constraints, tasks
from poise.arrays import Array
from poise.campaign.kinds.fuzz_call_check import check_call
from poise.hierarchy import Hierarchy, Level
from poise.robots import Frame, Robot, State
from poise.state import Contact

Random = np.random.Generator
TaskFactory = Callable[["RandomSource"], Any]

#: Distances of a target from the current value, in the unit of the task: from tiny through reachable to unreachable.
OFFSET_SIZES = (0.0, 1e-12, 1e-3, 0.05, 0.3, 2.0, 100.0, 1e6)
AXES = ("x", "y", "z", "xy", "xz", "zy", "xyz")
MAX_LEVELS = 7


class RandomSource:
    """Source of random arguments for tasks, drawn from a state and a random generator."""

    def __init__(self, start: State, random: Random) -> None:
        self.start, self.robot, self.random = start, start.robot, random

    def frame(self) -> Frame:
        """Return a random frame, mostly a hand, a foot or the chest."""
        robot = self.robot
        main_frames = [*robot.hands, *robot.feet, *([robot.chest] if robot.chest else [])]
        frames = main_frames if main_frames and self.random.random() < 0.8 else list(robot.frames.values())
        return frames[int(self.random.integers(len(frames)))]

    def contact(self) -> Contact:
        """Return a random contact of a foot or hand, with a random force parametrization."""
        robot, random = self.robot, self.random
        parts = [*robot.feet, *robot.hands]
        part = parts[int(random.integers(len(parts)))]
        forces = str(random.choice(["wrench", "vertices", "normals"])) if part in robot.feet else "wrench"
        normal = (0.0, 0.0, 1.0) if random.random() < 0.7 else tuple(random.normal(size=3))
        friction = float(random.choice([0.0, 1e-6, 0.3, 0.7, 5.0]))
        largest = float(random.choice([np.inf, 1.0, 500.0]))
        return Contact(part, normal=normal, friction=friction, forces=forces, largest_force=largest)  # type: ignore[arg-type]

    def joints(self) -> Any:
        """Return some of the joints, or None for all."""
        count = int(self.random.integers(1, len(self.robot.joints) + 1))
        indices = self.random.choice(len(self.robot.joints), size=count, replace=False)
        return None if self.random.random() < 0.5 else [self.robot.joints[int(i)] for i in indices]

    def offset(self, size: int) -> Array:
        """Return a random vector with `size` entries, sometimes along one axis only."""
        direction = self.random.normal(size=size)
        if self.random.random() < 0.3:
            direction *= np.arange(size) == self.random.integers(size)
        return float(self.random.choice(OFFSET_SIZES)) * direction

    def axes(self) -> str:
        return str(self.random.choice(AXES))

    def options(self, tolerance: bool = True, dynamics: bool = True) -> dict[str, Any]:
        """Return random keyword arguments of a task: weight, tolerance and dynamics, each only sometimes."""
        random = self.random
        arguments: dict[str, Any] = {}
        if random.random() < 0.3:
            arguments["weight"] = float(10.0 ** random.uniform(-6.0, 6.0)) if random.random() < 0.8 else 0.0
        if tolerance and random.random() < 0.3:
            arguments["tolerance"] = float(random.choice([0.0, 1e-9, 0.01, 10.0]))
        if dynamics and random.random() < 0.3:
            rate = float(random.choice([0.1, 5.0, 50.0, 1000.0]))
            speed = float(random.choice([np.inf, 1e-3, 1.0]))
            arguments["dynamics"] = tasks.MinimumJerk(0.5) if random.random() < 0.3 else tasks.Decay(rate, speed=speed)
        return arguments

    def target(self, value: Array) -> Any:
        """Return a fixed target at a value of the task, or a moving target that starts there."""
        match int(self.random.integers(4)):
            case 0:
                return tasks.SinusoidTarget(
                    value, value + self.offset(len(value)), float(self.random.choice([0.5, 50.0]))
                )
            case 1:
                return tasks.MinimumJerkTarget(
                    value, value + self.offset(len(value)), float(self.random.choice([1e-3, 1.0]))
                )
            case _:
                return value


def _offset_pose(source: RandomSource, frame: Frame) -> Any:
    pose = source.start.pose(frame)
    pose.translation = pose.translation + source.offset(3)
    return pose


def _position(c: RandomSource) -> Any:
    frame, axes = c.frame(), c.axes()
    return tasks.Position(frame, c.target(c.start.pose(frame).translation + c.offset(3)), axes, **c.options())


def _posture(c: RandomSource) -> Any:
    joints = c.joints()
    count = len(c.robot.joints) if joints is None else len(joints)
    angles = c.random.normal(size=count) * float(c.random.choice(OFFSET_SIZES))
    return tasks.Posture(c.start if joints is None and c.random.random() < 0.5 else angles, joints, **c.options())


def _relative_pose(c: RandomSource) -> Any:
    frame, other = c.frame(), c.frame()
    pose = c.start.pose(other).actInv(c.start.pose(frame))
    pose.translation = pose.translation + c.offset(3)
    return tasks.RelativePose(frame, other, pose, c.axes(), c.axes(), **c.options())


def _center_of_mass_inside(c: RandomSource) -> Any:
    anywhere = c.start.center_of_mass[:2] + c.random.normal(size=(5, 2)) * float(c.random.choice(OFFSET_SIZES[3:]))
    polygon = None if c.random.random() < 0.5 else anywhere
    return constraints.CenterOfMassInside(
        float(c.random.choice([0.0, 0.01, 5.0])), polygon, **c.options(tolerance=False)
    )


def _box(c: RandomSource) -> Any:
    frame = c.frame()
    corner, size = c.start.pose(frame).translation + c.offset(3), np.abs(c.offset(3))
    return constraints.Box(frame, corner, corner + size, **c.options(tolerance=False))


def _self_collision(c: RandomSource) -> Any:
    robot = c.robot
    parts = [*robot.hands, *robot.feet]
    pairs = [(a, b) for i, a in enumerate(parts) for b in parts[i + 1 :]]
    return constraints.SelfCollision(robot, float(c.random.choice([0.0, 0.02, 1.0])), pairs)


def _obstacle_distance(c: RandomSource) -> Any:
    point, turn = c.random.normal(0.0, 0.6, 3), pinocchio.exp3(c.random.normal(size=3))
    pose, size = pinocchio.SE3(turn, point), float(c.random.choice([0.05, 0.3]))
    made = (
        constraints.Obstacle.box((size, 0.1, 2.0 * size), pose),
        constraints.Obstacle.ball(size, point),
        constraints.Obstacle.capsule(0.1, size, pose),
    )
    made[0].move(pose, c.random.normal(size=6))
    return constraints.ObstacleDistance(c.robot, made[: int(c.random.integers(1, 4))], 0.02, rows=6)


def _joint_limit(c: RandomSource) -> Any:
    kind = (constraints.JointRange, constraints.JointSpeed, constraints.JointAcceleration)[int(c.random.integers(3))]
    return kind(
        c.robot, c.joints(), margin=float(c.random.choice([0.0, 0.05])), scale=float(c.random.choice([1.0, 0.1]))
    )


def _force_limit(c: RandomSource) -> Any:
    kinds = (constraints.NormalForces, constraints.FrictionCone, constraints.WrenchCone, constraints.PlanarContact)
    return kinds[int(c.random.integers(4))](c.contact(), **c.options(tolerance=False, dynamics=False))


#: Functions that create a random task, by class; force tasks have no effect in a controller without forces.
TASK_FACTORIES: dict[str, TaskFactory] = {
    "Position": _position,
    "Orientation": lambda c: tasks.Orientation(f := c.frame(), _offset_pose(c, f).rotation, c.axes(), **c.options()),
    "Pose": lambda c: tasks.Pose(f := c.frame(), _offset_pose(c, f), c.axes(), c.axes(), **c.options()),
    "HoldPose": lambda c: tasks.HoldPose(c.frame(), c.start, **c.options()),
    "RelativePose": _relative_pose,
    "Direction": lambda c: tasks.Direction(c.frame(), c.random.normal(size=3), c.offset(3), **c.options()),
    "Gaze": lambda c: tasks.Gaze(f := c.frame(), _offset_pose(c, f).translation, (1.0, 0.0, 0.0), **c.options()),
    "CenterOfMass": lambda c: tasks.CenterOfMass(c.target(c.start.center_of_mass + c.offset(3)), **c.options()),
    "LinearMomentum": lambda c: tasks.LinearMomentum(c.offset(3), **c.options()),
    "AngularMomentum": lambda c: tasks.AngularMomentum(c.offset(3), **c.options()),
    "Posture": _posture,
    "Configuration": lambda c: tasks.Configuration(c.start, **c.options()),
    "JointComfort": lambda c: tasks.JointComfort(c.robot, float(c.random.choice([0.0, 1.0, 1e6])), c.joints()),
    "LeastVelocity": lambda c: tasks.LeastVelocity(c.joints(), **c.options(dynamics=False)),
    "JointTorque": lambda c: tasks.JointTorque(
        None, float(c.offset(1)[0]), **c.options(tolerance=False, dynamics=False)
    ),
    "ContactForce": lambda c: tasks.ContactForce(c.contact(), c.offset(3)),
    "CenterOfPressure": lambda c: tasks.CenterOfPressure(c.contact(), c.offset(2)),
    "ForceDistribution": lambda c: tasks.ForceDistribution([Contact(foot) for foot in c.robot.feet]),
    "JointLimit": _joint_limit,
    "Box": _box,
    "Polyhedron": lambda c: constraints.Polyhedron(c.frame(), c.random.normal(size=(4, 3)), c.offset(4)),
    "HalfSpace": lambda c: constraints.HalfSpace(c.frame(), c.random.normal(size=3), float(c.offset(1)[0])),
    "CenterOfMassInside": _center_of_mass_inside,
    "CenterOfMassPlanes": lambda c: constraints.CenterOfMassPlanes(c.random.normal(size=(3, 3)), c.offset(3)),
    "ObstacleDistance": _obstacle_distance,
    "SelfCollision": _self_collision,
    "PinnedContact": lambda c: constraints.PinnedContact(c.frame(), c.axes(), c.axes()),
    "RigidContact": lambda c: constraints.RigidContact(c.contact(), c.start if c.random.random() < 0.5 else None),
    "NonPenetration": lambda c: constraints.NonPenetration(c.contact(), c.random.normal(size=3)),
    "TorqueLimit": lambda c: constraints.TorqueLimit(c.robot, c.joints(), float(c.random.choice([1.0, 0.01, 3.0]))),
    "StaticTorqueLimit": lambda c: constraints.StaticTorqueLimit(
        c.robot, c.frame(), c.joints(), float(c.random.choice([1.0, 0.01, 3.0]))
    ),
    "ForceLimit": _force_limit,
}


class RandomHierarchy(NamedTuple):
    """A random hierarchy, with the tasks that could not be created.

    Attributes:
        hierarchy: the hierarchy.
        has_joint_limits: whether range and speed of all joints are constraints.
        rejected: number of tasks that raised an error.
        faults: errors that were not clear one-line errors.
    """

    hierarchy: Hierarchy
    has_joint_limits: bool
    rejected: int
    faults: list[str]


def random_hierarchy(start: State, random: Random, levels: int = 0) -> RandomHierarchy:
    """Return a random hierarchy with this number of levels; 0: one to seven."""
    source, names, faults, rejected = RandomSource(start, random), list(TASK_FACTORIES), [], 0

    def random_tasks(max_count: int) -> list[Any]:
        nonlocal rejected
        tasks_so_far: list[Any] = []
        for _ in range(int(random.integers(1, max_count + 1))):
            name = names[int(random.integers(len(names)))]
            outcome = check_call(partial(_append_task, tasks_so_far, TASK_FACTORIES[name], source))
            rejected += not outcome.has_result
            if outcome.fault:
                faults.append(f"{name}: {outcome.fault}")
        return [*tasks_so_far, *tasks_so_far[: int(random.random() < 0.1)]]  # sometimes the first task is there twice

    has_joint_limits = bool(random.random() < 0.7)
    limits = [constraints.JointRange(start.robot), constraints.JointSpeed(start.robot)] if has_joint_limits else []
    always = [*limits, *(random_tasks(2) if random.random() < 0.3 else [])]
    count = levels or int(random.integers(1, MAX_LEVELS + 1))
    stack = [Level(f"level {k}", random_tasks(3), float(random.choice([0.0, 0.0, 0.1]))) for k in range(count)]
    if not (always or any(level.tasks for level in stack)):
        always = [tasks.LeastVelocity()]  # no task could be created
    return RandomHierarchy(Hierarchy(always, stack), has_joint_limits, rejected, faults)


def _append_task(tasks_so_far: list[Any], factory: TaskFactory, source: RandomSource) -> None:
    tasks_so_far.append(factory(source))


# -- Random states ---------------------------------------------------------------------------------------------------


#: What a failing sensor reports.
SENSOR_FAULT_VALUES = (np.nan, np.inf, -np.inf, 1e9, -1e9)


def random_start(robot: Robot, random: np.random.Generator) -> State:
    """Return a random state: joints in their range, at its ends or slightly beyond; any base pose; moving or not."""
    stance = next(iter(robot.stances), None)
    q = np.array(robot.rest if stance is None else robot.stance(stance).q)
    low, high = robot.limits.lower, robot.limits.upper
    joint_q = [joint.q for joint in robot.joints]
    match int(random.integers(4)):
        case 0:
            pass  # the stance itself
        case 1:
            q[joint_q] = random.uniform(low, high)
        case 2:
            q[joint_q] = np.where(random.random(len(low)) < 0.5, low, high)  # stretched and folded: singular
        case _:
            beyond = 0.05 * (high - low)
            q[joint_q] = random.uniform(low - beyond, high + beyond)
    if random.random() < 0.5:
        base_motion = random.normal(size=6) * float(random.choice([0.0, 0.3, 3.0, 1e3]))
        q = pinocchio.integrate(robot.model, q, np.concatenate([base_motion, np.zeros(robot.model.nv - 6)]))
        q[3:7] /= np.linalg.norm(q[3:7])
    speed = float(random.choice([0.0, 0.0, 0.1, 1.0, 20.0]))
    parts = [part for part in (*robot.feet, *robot.hands[:1]) if random.random() < 0.6]
    return State(robot, q, speed * random.normal(size=robot.model.nv), contacts=tuple(parts))


def corrupt_state(state: State, random: np.random.Generator) -> State:
    """Return a state with some entries replaced by sensor faults, without the checks of `State`."""
    q, v = np.array(state.q), np.array(state.v)
    for _ in range(int(random.integers(1, 4))):
        values = q if random.random() < 0.5 else v
        values[int(random.integers(len(values)))] = random.choice(SENSOR_FAULT_VALUES)
    return State._unchecked(state.robot, q, v, state.time, state.contacts)
