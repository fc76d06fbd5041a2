"""`Robot`, an immutable robot model, and `State`, its configuration and velocity at one instant; limbs and legs."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pinocchio
from numpy.typing import ArrayLike

from poise.arrays import Array
from poise.errors import RobotError, StateError, unknown_name_error
from poise.geometry import polygon
from poise.parsing import format_value
from poise.robots.description import ServoData
from poise.robots.parts import SIDES, Foot, Frame, GazeFrame, Hand, Joint, JointLimits, Side, contact_points
from poise.robots.urdf import GeometrySource, vertical_extent

#: Acceleration of gravity g (m/s²), a positive number; gravity points along -z of the world.
GRAVITY = 9.81
#: Largest deviation of a quaternion from unit length; integration in double precision drifts far less in an hour.
UNIT_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class State:
    """State of a robot at one instant. It is immutable; `replace` returns a changed copy.

    Args:
        robot: the robot.
        q: configuration: position of the base in the world (m), its quaternion (x, y, z, w), joint angles (rad).
        v: velocity: linear (m/s) and angular (rad/s) of the base in its own frame, joint rates (rad/s); default zero.
        time: time since the motion began (s).
        contacts: the parts in contact with the environment, usually feet.

    >>> start = poise.load_robot("g1").stance("standing")
    >>> start.pose(start.robot.hand("left")).translation  # where the left hand is, in the world
    """

    robot: Robot
    q: Array
    v: Array = None  # type: ignore[assignment]  # zeros, made below
    time: float = 0.0
    contacts: tuple[Frame, ...] = ()

    def __post_init__(self) -> None:
        model = self.robot.model
        joints = model.nv - 6
        q = self._checked_vector("q", self.q, model.nq, f"7 of the base and {joints} joint angles")
        rates = np.zeros(model.nv) if self.v is None else self.v
        v = self._checked_vector("v", rates, model.nv, f"6 of the base and {joints} joint rates")
        length = float(np.linalg.norm(q[3:7]))
        if abs(length - 1.0) > UNIT_TOLERANCE:
            raise self._error("q", f"the quaternion q[3:7] has length {length:.6g}; divide it by its length")
        try:
            time = float(self.time)
        except (TypeError, ValueError):
            time = float("nan")
        if not np.isfinite(time):
            raise self._error("time", f"time is {self.time!r}; expected a number of seconds")
        self.__dict__.update(q=q, v=v, time=time, contacts=self._checked_contacts())

    @classmethod
    def _unchecked(cls, robot: Robot, q: Array, v: Array, time: float, contacts: tuple[Frame, ...]) -> State:
        """Build a state without checks, from values known to be valid: for the control loop.

        The arrays are not copied and become read-only: the caller must not write to them again.
        """
        q.setflags(write=False)
        v.setflags(write=False)
        state = object.__new__(cls)
        fields = state.__dict__  # assigning fields one by one takes half the time of update()
        fields["robot"] = robot
        fields["q"] = q
        fields["v"] = v
        fields["time"] = time
        fields["contacts"] = contacts
        return state

    def replace(self, **changes: Any) -> State:
        """Return a copy with the given fields changed and checked: ``state.replace(time=0.5, contacts=())``."""
        try:
            return replace(self, **changes)
        except TypeError:
            unknown_fields = sorted(set(changes) - {"robot", "q", "v", "time", "contacts"})
            raise self._error(
                ", ".join(unknown_fields),
                f"a state has no {', '.join(unknown_fields)}; it has robot, q, v, time, contacts",
            ) from None

    def pose(self, frame: Frame) -> pinocchio.SE3:
        """Return the pose of a frame in the world, ``world_from_frame``."""
        return self.robot._kinematics(self).oMf[frame.index].copy()

    @cached_property
    def center_of_mass(self) -> Array:
        """Center of mass in the world (m, 3)."""
        return _read_only(pinocchio.centerOfMass(self.robot.model, self.robot._kinematics(self), self.q, False))

    @cached_property
    def support_polygon(self) -> Array:
        """Convex hull of all contacts, seen from above: k x 2 (m), counter-clockwise.

        A foot contributes the corners of its sole, any other part its origin.
        """
        points = [np.zeros((0, 2))]
        for part in self.contacts:
            pose = self.pose(part)
            points.append(contact_points(part, pose.rotation, pose.translation)[:, :2])
        return _read_only(polygon.convex_hull(np.vstack(points)))

    @cached_property
    def support_center(self) -> Array:
        """Centroid of the support polygon (m, 2)."""
        if len(self.support_polygon) == 0:
            raise self._error("contacts", "there is no support polygon without contacts; give contacts=robot.feet")
        return _read_only(polygon.centroid(self.support_polygon))

    def __repr__(self) -> str:
        on = " and ".join(part.name for part in self.contacts) or "nothing"
        return f"State({self.robot.name}, time {self.time:g} s, on {on})"

    def _checked_contacts(self) -> tuple[Frame, ...]:
        parts: Any = self.contacts
        contacts = tuple(parts) if isinstance(parts, Iterable) else (parts,)
        for part in contacts:
            if not isinstance(part, Frame):
                raise self._error("contacts", f"{part!r} is not a part of a robot; give e.g. robot.foot('left')")
            if part.robot_name != self.robot.name:
                raise self._error("contacts", f"{part.name} belongs to {part.robot_name}; give parts of this robot")
        return contacts

    def _checked_vector(self, what: str, values: ArrayLike, size: int, parts: str) -> Array:
        try:
            numbers = np.array(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise self._error(what, f"{what} is not an array of numbers: {str(values)[:60]!r}") from None
        if numbers.shape != (size,):
            raise self._error(what, f"{what} has shape {numbers.shape}; expected {size} numbers, {parts}")
        if not np.isfinite(numbers).all():
            unknown_fields = ", ".join(str(i) for i in np.flatnonzero(~np.isfinite(numbers))[:5])
            raise self._error(what, f"{what} is NaN or infinite at index {unknown_fields}; expected finite numbers")
        numbers.flags.writeable = False
        return numbers

    def _error(self, element: str, message: str) -> StateError:
        return StateError(f"State of {self.robot.name}: {message}", robot=self.robot.name, element=element)


def _read_only(values: ArrayLike) -> Array:
    array = np.array(values, dtype=np.float64)
    array.flags.writeable = False
    return array


# -- Robot -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Robot:
    """Robot model with a floating base, its joints and named parts. Built by `load_robot`.

    Args:
        name: short name.
        model: the pinocchio model: a free-flyer ``root_joint``, then the actuated joints; locked joints are removed.
        source: origin of the description.
        joints: actuated joints in the order of q, v and `limits`.
        frames: every frame by its name.
        feet, hands: left first; empty if none was declared.
        head: gaze frame and viewing direction, if declared.
        chest: frame of the upper trunk, if declared.
        limits: limits of the joints.
        rest: the default configuration of posture tasks.
        stances: configurations by name, see `stance`.
        servos: data of the position servos in its joints.
        notes: corrections made to the description, one sentence each.
        load_arguments: arguments of `load_robot` besides the name; for a human: height, mass, sex, shape. A recording
            stores them to rebuild the same body.

    >>> robot = poise.load_robot("g1")
    >>> robot.hand("left"), robot.joint("left_knee_joint"), robot.stance("standing").center_of_mass
    """

    name: str
    model: pinocchio.Model
    source: str
    joints: tuple[Joint, ...]
    frames: Mapping[str, Frame]
    feet: tuple[Foot, ...]
    hands: tuple[Hand, ...]
    head: GazeFrame | None
    chest: Frame | None
    limits: JointLimits
    rest: Array
    stances: Mapping[str, Array]
    servos: ServoData
    notes: tuple[str, ...]
    load_arguments: Mapping[str, Any]
    _geometry: GeometrySource
    _height: float | None = None
    _scratch: threading.local = field(default_factory=threading.local)

    @cached_property
    def mass(self) -> float:
        """Total mass (kg)."""
        return float(pinocchio.computeTotalMass(self.model))

    @property
    def weight(self) -> float:
        """Weight m g (N), with g = `GRAVITY`."""
        return GRAVITY * self.mass

    @cached_property
    def height(self) -> float:
        """Height with all joints at zero (m): as declared, or else measured.

        It is measured on the visual shapes, or between the frames if the shapes cannot be read.
        """
        if self._height is not None:
            return self._height
        try:
            shapes = self.visual_geometry
        except RobotError:
            shapes = pinocchio.GeometryModel()
        lowest, highest = vertical_extent(
            self.model, np.concatenate([self.rest[:7], np.zeros(self.model.nq - 7)]), shapes
        )
        return highest - lowest

    @cached_property
    def visual_geometry(self) -> pinocchio.GeometryModel:
        """Visual shapes with their meshes; read from disk on first access."""
        return self._geometry.load(pinocchio.VISUAL)

    @cached_property
    def collision_geometry(self) -> pinocchio.GeometryModel:
        """Collision shapes with their meshes; read from disk on first access."""
        return self._geometry.load(pinocchio.COLLISION)

    @property
    def gaze(self) -> GazeFrame:
        """Gaze frame with its viewing direction; raises `RobotError` if none was declared."""
        if self.head is None:
            raise self._undeclared_error("gaze", "gaze={'frame': '...', 'axis': [1, 0, 0]}")
        return self.head

    def foot(self, side: str) -> Foot:
        """Return the ``"left"`` or ``"right"`` foot."""
        for foot in self.feet:
            if foot.side == side:
                return foot
        self._check_side(side)
        sole = "'sole': [x_min, x_max, y_min, y_max]"
        raise self._undeclared_error(f"{side} foot", f"feet={{'{side}': {{'frame': '...', {sole}}}}}")

    def hand(self, side: str) -> Hand:
        """Return the ``"left"`` or ``"right"`` hand."""
        for hand in self.hands:
            if hand.side == side:
                return hand
        self._check_side(side)
        raise self._undeclared_error(f"{side} hand", f"hands={{'{side}': {{'frame': '...'}}}}")

    def joint(self, name: str) -> Joint:
        """Return an actuated joint by its name."""
        if name not in self._joints:
            raise unknown_name_error(f"{self.name} has no joint", name, self._joints)
        return self._joints[name]

    def frame(self, name: str) -> Frame:
        """Return a frame by its name: links and joints of the URDF, and frames added for soles, hands and gaze."""
        if name not in self.frames:
            raise unknown_name_error(f"{self.name} has no frame", name, self.frames)
        return self.frames[name]

    def stance(self, name: str) -> State:
        """Return the state at rest in a named stance, with all feet in contact.

        x points forward; the middle of the soles is at the world origin.
        """
        if name not in self._states:
            advice = f"declare it: stances={{{name!r}: {{'joints': {{...}}}}}}"
            raise unknown_name_error(f"{self.name} has no stance", name, self.stances, advice=advice)
        return self._states[name]

    @cached_property
    def _joints(self) -> dict[str, Joint]:
        return {joint.name: joint for joint in self.joints}

    @cached_property
    def _states(self) -> dict[str, State]:
        return {name: State(self, q, contacts=self.feet) for name, q in self.stances.items()}

    def _kinematics(self, state: State) -> pinocchio.Data:
        """Return this thread's pinocchio Data with forward kinematics of a state.

        Data is created once per thread, since that takes a millisecond.
        """
        scratch = self._scratch
        try:
            if scratch.state is state:
                return scratch.data
        except AttributeError:
            scratch.data = self.model.createData()
        pinocchio.framesForwardKinematics(self.model, scratch.data, state.q)
        scratch.state = state
        return scratch.data

    def _check_side(self, side: str) -> None:
        if side not in SIDES:
            raise unknown_name_error(f"{self.name} has no side", side, SIDES)

    def _undeclared_error(self, part: str, argument: str) -> RobotError:
        path = self._geometry.path
        message = f"{self.name} declares no {part}; give load_robot(..., {argument}) or the same in {path.stem}.toml"
        return RobotError(message, file=str(path), element=part)

    def __repr__(self) -> str:
        return f"Robot({self.name}, {len(self.joints)} joints, {self.mass:.1f} kg, {self.source})"


# -- Limbs -----------------------------------------------------------------------------------------------------------


class Limb(NamedTuple):
    """A limb: its name, for example "left leg" or "trunk", and its joints from the base outwards."""

    name: str
    joints: tuple[str, ...]


def limbs(robot: Robot) -> tuple[Limb, ...]:
    """Group the joints by limb: left and right leg, trunk, head, left and right arm, other joints; empty ones left out.

    A chain of joints leads from the base to each foot, each hand, the gaze frame and the chest. Joints on one chain
    belong to that limb; joints shared by several chains belong to the trunk. Joints beyond the end of a chain, for
    example fingers, belong to the limb that carries them.

    >>> [limb.name for limb in limbs(poise.load_robot("talos"))]
    ['left leg', 'right leg', 'trunk', 'head', 'left arm', 'right arm']
    """
    ends = {f"{foot.side} leg": foot.joint for foot in robot.feet}
    if robot.head is not None:
        ends["head"] = robot.head.joint
    ends |= {f"{hand.side} arm": hand.joint for hand in robot.hands}
    if robot.chest is not None:
        ends["trunk"] = robot.chest.joint
    chains = {name: _chain(robot, joint) for name, joint in ends.items()}
    limb_of: dict[int, str] = {}
    for joint in robot.joints:
        owners = [name for name, chain in chains.items() if joint.index in chain]
        if owners:
            limb_of[joint.index] = owners[0] if len(owners) == 1 else "trunk"
    for joint in robot.joints:  # parents come before children
        parent = limb_of.get(robot.model.parents[joint.index])
        limb_of.setdefault(joint.index, parent if parent is not None and parent != "trunk" else "other joints")
    order = ("left leg", "right leg", "trunk", "head", "left arm", "right arm", "other joints")
    candidates = [Limb(name, tuple(j.name for j in robot.joints if limb_of[j.index] == name)) for name in order]
    return tuple(limb for limb in candidates if limb.joints)


def _chain(robot: Robot, joint: int) -> set[int]:
    """Return the ids of the joints between the base and a joint, including that joint."""
    chain = set()
    while joint > 1:  # 0 is the world, 1 the free-flying base
        chain.add(joint)
        joint = robot.model.parents[joint]
    return chain


# -- Checks ----------------------------------------------------------------------------------------------------------


def check_robot(robot: Any, label: str) -> Robot:
    """Return the robot; raise a RobotError, which begins with the label, if the object is not one."""
    if not isinstance(robot, Robot):
        raise RobotError(f"{label}: {format_value(robot)} is not a robot; give a Robot, e.g. poise.load_robot('g1')")
    return robot


# -- Leg length, hip height and leg strength -------------------------------------------------------------------------


def leg_length(robot: Robot) -> float:
    """Return the distance from the first joint of a leg to the sole with all joints at zero (m).

    Step lengths are given as fractions of it.
    """
    zero_state = State(robot, np.concatenate([robot.rest[:7], np.zeros(robot.model.nq - 7)]))
    foot = robot.feet[0]
    return float(np.linalg.norm(zero_state.pose(_hip(robot)).translation - zero_state.pose(foot).translation))


def leg_strength(robot: Robot) -> float:
    """Return the largest joint torque of a leg, divided by weight times leg length (dimensionless)."""
    chain = set(robot.model.supports[robot.feet[0].joint])
    largest_torque = max(float(robot.limits.torque[joint.v - 6]) for joint in robot.joints if joint.index in chain)
    return largest_torque / (robot.weight * leg_length(robot))


def ankle_range(stance: State) -> tuple[float, float]:
    """Return how far behind and ahead of the middle of a sole the ankle can hold the whole weight (m), within the sole.

    The torque of the last joint about the lateral axis that bears the weight at a distance d is m g d.
    """
    robot = stance.robot
    foot = robot.foot("left")
    data = robot.model.createData()
    pinocchio.computeJointJacobians(robot.model, data, stance.q)
    pose = stance.pose(foot)
    middle, ahead, lateral = pose.act(foot.sole.center), pose.rotation[:, 0], pose.rotation[:, 1]
    half = foot.sole.half_size[0]
    chain = set(robot.model.supports[foot.joint])
    for joint in reversed([joint for joint in robot.joints if joint.index in chain]):
        axis = pinocchio.getJointJacobian(robot.model, data, joint.index, pinocchio.LOCAL_WORLD_ALIGNED)[3:, joint.v]
        if abs(float(axis @ lateral)) > math.cos(math.radians(45.0)):
            offset = float(ahead @ (middle - data.oMi[joint.index].translation))
            lever = float(robot.limits.torque[joint.v - 6]) / robot.weight
            return min(half, max(lever + offset, 0.0)), min(half, max(lever - offset, 0.0))
    return half, half


def swing_limits(stance: State) -> tuple[tuple[float, float], float]:
    """Return the largest accelerations (m/s²: ahead, sideways) and the speed (m/s) of a foot that its hip can swing.

    A joint with torque limit τ, inertia I of what it moves, and lever r of the foot accelerates the foot by r τ / I.
    """
    robot = stance.robot
    foot = robot.foot("left")
    data = robot.model.createData()
    inertia = pinocchio.crba(robot.model, data, stance.q).diagonal()
    pinocchio.computeJointJacobians(robot.model, data, stance.q)
    J = pinocchio.getJointJacobian(robot.model, data, foot.joint, pinocchio.LOCAL_WORLD_ALIGNED)
    sole_from_joint = stance.pose(foot).act(foot.sole.center) - data.oMi[foot.joint].translation
    lever = np.abs(J[:3].T + np.cross(J[3:].T, sole_from_joint))
    heading = np.abs(stance.pose(foot).rotation[:2, :2])
    lever = lever[:, :2] @ heading  # ahead and sideways
    joints = [joint.v for joint in robot.joints if joint.index in set(robot.model.supports[foot.joint])]
    long_levers = 0.6 * leg_length(robot)
    accelerations, speeds = [], []
    for axis in range(2):
        hips = [v for v in joints if lever[v, axis] >= long_levers]
        hip = max(hips or joints, key=lambda v: lever[v, axis] * robot.limits.torque[v - 6] / inertia[v])
        accelerations.append(float(lever[hip, axis] * robot.limits.torque[hip - 6] / inertia[hip]))
        speeds.append(float(lever[hip, axis] * robot.limits.velocity[hip - 6]))
    return (accelerations[0], accelerations[1]), min(speeds)


def hip_height(state: State) -> float:
    """Return the height of the hip, the first joint of a leg, above the sole of its foot (m)."""
    robot = state.robot
    return float(state.pose(_hip(robot)).translation[2] - state.pose(robot.feet[0]).translation[2])


def ankle_position(robot: Robot) -> Array:
    """Return the position of the last joint of the first foot's leg, in the frame of the foot (m, 3)."""
    foot = robot.feet[0]
    zero_state = State(robot, np.concatenate([robot.rest[:7], np.zeros(robot.model.nq - 7)]))
    ankle = robot.frame(robot.model.names[foot.joint])
    return np.asarray(zero_state.pose(foot).actInv(zero_state.pose(ankle).translation))


def hip_offset(state: State) -> float:
    """Return the distance of the first joint of a leg ahead of the center of mass (m), along its foot."""
    robot = state.robot
    ahead = state.pose(_hip(robot)).translation - state.center_of_mass
    return float(ahead @ state.pose(robot.feet[0]).rotation[:, 0])


def knee_joint(robot: Robot, side: Side) -> Joint:
    """Return the knee of a leg: the joint that shortens it most when the robot stands.

    Its angle is zero where the leg is straight, as for `leg_length`.
    """
    foot, stance = robot.foot(side), robot.stance("standing")
    data = robot.model.createData()
    pinocchio.computeJointJacobians(robot.model, data, stance.q)
    chain = list(robot.model.supports[foot.joint])
    J = pinocchio.getJointJacobian(robot.model, data, foot.joint, pinocchio.LOCAL_WORLD_ALIGNED)[:3]
    leg = data.oMi[foot.joint].translation - data.oMi[chain[2]].translation
    joints = [joint for joint in robot.joints if joint.index in chain]
    return max(joints, key=lambda joint: abs(float(J[:, joint.v] @ leg)))


def _hip(robot: Robot) -> Frame:
    """Return the frame of the first joint of the first foot's leg."""
    return robot.frame(robot.model.names[list(robot.model.supports[robot.feet[0].joint])[2]])
