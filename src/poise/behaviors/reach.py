"""Behavior `Reach`: the sequence of reaching tasks on one foot of [Saab2012], section 3.2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np
import pinocchio

from poise import constraints, tasks
from poise.errors import PoiseError, RobotError, UsageError
from poise.hierarchy import Behavior, Hierarchy, Level, solve_pose
from poise.parameters import FormerNames, check_parameters, gain_parameter
from poise.parsing import format_value, is_number, parse_toml
from poise.robots import Frame, Robot, State, check_robot, other_side
from poise.state import Snapshot

#: In fractions of the height of the robot: lift of the free foot, and position of the hand with the cup relative to the
#: support foot: forward, outward and up.
FOOT_LIFT = 0.08
CUP_POSITION = (0.20, 0.20, 0.64)
#: Damping of the chest task. Romeo cannot keep its chest upright in this pose: undamped, the infeasible task would
#: disturb the whole posture.
CHEST_DAMPING = 0.3


def one_foot_stance(robot: Robot, side: Literal["left", "right"] = "right") -> State:
    """Return the robot upright on one foot, the other foot lifted.

    The center of mass is above the middle of the sole. The hand of the free side, if there is one, holds a cup in
    front; the other hand hangs.

    Raises:
        PoiseError: if the robot cannot reach this pose.
    """
    start = robot.stance("standing")
    free = other_side(side)
    outward = 1.0 if free == "left" else -1.0
    support, swing = robot.foot(side), robot.foot(free)
    cup_hands = [hand for hand in robot.hands if hand.side == free]
    world_from_support = start.pose(support)
    middle = world_from_support.act(support.sole.center)
    lifted = pinocchio.SE3(start.pose(swing))
    lifted.translation += robot.height * np.array([-0.02, 0.02 * outward, FOOT_LIFT])
    cup = world_from_support.act(robot.height * np.array([CUP_POSITION[0], outward * CUP_POSITION[1], CUP_POSITION[2]]))
    upright = [tasks.Orientation(robot.chest, start.pose(robot.chest))] if robot.chest else []
    hierarchy = Hierarchy(
        always=[constraints.JointRange(robot, margin=0.02)],
        levels=[
            Level("support", [tasks.HoldPose(support, at=start)]),
            Level("balance", [tasks.CenterOfMass(middle[:2], axes="xy")]),
            Level("free foot", [tasks.Pose(swing, lifted)]),
            Level("chest", upright, damping=CHEST_DAMPING),
            Level("cup", [tasks.Position(hand, cup) for hand in cup_hands]),
            Level("posture", [tasks.Posture(start)]),
        ],
    )
    posed = solve_pose(hierarchy, start)
    unmet = [name for name in posed.unmet if name in ("support", "balance", "free foot")]
    if unmet:
        raise PoiseError(f"{robot.name} cannot stand on its {side} foot: {', '.join(unmet)} could not be met")
    return posed.state.replace(contacts=(support,))


# -- Reach -----------------------------------------------------------------------------------------------------------


Profile = Literal["exponential", "minimum-jerk"]

#: Coordinates forward, left and up.
ReachPoint = tuple[float, float, float]
#: Points of the right hand relative to the support (right) foot, in fractions of the height of the robot. The paper
#: shows them in pictures only: near the floor, at the limit of stability. The intermediary points IP1 and IP2 lead the
#: hand around the body to the low first target, and up and away from the ground before the second.
REACH_TARGETS: dict[str, dict[str, ReachPoint]] = {
    "near": {
        "IP1": (0.20, -0.18, 0.58),
        "target 1": (0.23, -0.14, 0.54),
        "IP2": (0.22, -0.05, 0.60),
        "target 2": (0.25, 0.02, 0.56),
        "target 3": (0.27, -0.12, 0.62),
    },
    "middle": {
        "IP1": (0.22, -0.18, 0.56),
        "target 1": (0.27, -0.13, 0.45),
        "IP2": (0.25, -0.04, 0.58),
        "target 2": (0.29, 0.03, 0.50),
        "target 3": (0.33, -0.10, 0.60),
    },
    "floor": {
        "IP1": (0.25, -0.16, 0.40),
        "target 1": (0.28, -0.10, 0.12),
        "IP2": (0.27, -0.04, 0.35),
        "target 2": (0.30, 0.03, 0.15),
        "target 3": (0.30, -0.12, 0.40),
    },
}
#: A pose counts as reachable if the hand is this near to its point (m).
REACHABLE_ERROR = 0.005
#: Gain of the limit of static torques (1/s). With a gain of 5 it slows G1, which stays below 81 % of its limits, so
#: early that the cup leaves its box by 15 mm.
HOLDING_GAIN = 20.0


def load_reach_points(targets: str) -> dict[str, ReachPoint]:
    """Return the points of the right hand by name, in the order of the motion, from `REACH_TARGETS` or a TOML file.

    The file has one line per point, ``"target 1" = [0.28, -0.10, 0.12]``: forward, left and up from the right foot, in
    fractions of the height of the robot. Points whose names begin with IP are intermediary.

    Raises:
        UsageError: if there is no such set, or the file is not of this form.
    """
    if targets in REACH_TARGETS:
        return REACH_TARGETS[targets]
    if not targets.endswith(".toml"):
        raise UsageError(f"there are no targets '{targets}'; expected {', '.join(REACH_TARGETS)}, or a .toml file")
    try:
        points = parse_toml(Path(targets).read_bytes())
    except OSError as error:
        raise UsageError(f"'{targets}' cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise UsageError(f"'{targets}' is not a TOML file: {error}") from None
    for name, point in points.items():
        if not (isinstance(point, list) and len(point) == 3 and all(is_number(value) for value in point)):
            raise UsageError(
                f"'{targets}': {name} is {format_value(point)}; expected [forward, left, up] in fractions of the height"
            )
    if not any(not name.startswith("IP") for name in points):
        raise UsageError(f"'{targets}' has no target; expected lines like \"target 1\" = [0.28, -0.10, 0.12]")
    return {name: (float(x), float(y), float(z)) for name, (x, y, z) in points.items()}


@dataclass(frozen=True)
class ReachSettings(FormerNames):
    """Durations, gains and limits of the sequence.

    If `min_body_distance` is zero, bodies may collide as in the paper, and the motion follows its profile exactly. On a
    robot without a neck the gaze moves the whole trunk; `gaze_damping` limits that motion.

    `holding_share` keeps to postures that the motors can hold: without it Talos, which bends down to the floor with a
    straight leg, needs 131 % of the torque limit of its hip; with it, it bends its knee further. The rest of the torque
    is for the motion; with a gain of 4 it would not be enough on Talos to keep the left foot in its box.
    """

    phase_duration: float = gain_parameter(2.5, "time for each of the five points", "s")
    gain: float = gain_parameter(3.0, "gain of the exponential profile")
    hand_box: float = gain_parameter(
        0.03, "half-width of the box in which the left hand keeps the cup", "m per m of height"
    )
    foot_box: float = gain_parameter(0.02, "half-width of the box of the left foot", "m per m of height")
    posture_gain: float = gain_parameter(2.0, "gain of the posture")
    speed_share: float = gain_parameter(0.5, "fraction of the joint speed limits that may be used", "")
    gaze_damping: float = gain_parameter(0.1, "damping of the gaze", "")
    min_body_distance: float = gain_parameter(0.01, "smallest distance between bodies of the robot", "m", zero=True)
    motion_share: float = gain_parameter(
        0.9, "fraction of each phase that a minimum-jerk motion takes; the rest is settling time", ""
    )
    reach_scale: float = gain_parameter(1.0, "scale of the forward and sideways distances of the points", "")
    holding_share: float = gain_parameter(
        0.9, "fraction of the torque limits that a posture may take at rest; 0: no limit", "", zero=True
    )

    former_names = MappingProxyType(
        {
            "phase": "phase_duration",
            "rate": "gain",
            "posture": "posture_gain",
            "speed": "speed_share",
            "calm": "gaze_damping",
            "apart": "min_body_distance",
            "share": "motion_share",
            "reach": "reach_scale",
        }
    )

    def __post_init__(self) -> None:
        check_parameters(self, "reach")


@dataclass(frozen=True)
class ReachPhase:
    """Phase of the sequence, in which the right hand moves to one point.

    Attributes:
        name: name of the point in the paper.
        begin, end: times (s).
        point: position in the world (m).
        is_target: whether the point is a target, at which the robot gazes, or an intermediary point.
    """

    name: str
    begin: float
    end: float
    point: tuple[float, float, float]
    is_target: bool


class Reach(Behavior):
    """Motion of the right hand to IP1, target 1, IP2, targets 2 and 3, on the right foot, with a cup in the left hand.

    A hierarchy as a function of the state, for a controller; `poise.runs.Reach` is the complete run.

    The levels of the hierarchy, highest priority first, as in figure 1 of the paper: contact of the right foot; center
    of mass above it (equality); left foot, then left hand, each inside a box (inequalities, orientation free); right
    hand to the point of the phase; gaze at the target, active after each intermediary point; posture.

    Args:
        robot: robot with two feet and a right hand; without a left hand there is no cup, without a head no gaze.
        settings: see `ReachSettings`.
        profile: time profile of the hand: "exponential", as in the paper, or "minimum-jerk", as it suggests.
        targets: "near", "middle", "floor" as in the paper, or a TOML file, see `load_reach_points`; None: the result
            of `default_targets`.

    Attributes:
        targets: the set of targets, or the file.
        targets_reason: why the targets are not "floor" although none were given; else "".

    >>> reach = Reach(robot)
    >>> recording = poise.record(poise.KinematicController(reach), poise.IdealPlant(reach.start), reach.seconds)
    """

    essential_level = "left foot"

    def __init__(
        self,
        robot: Robot,
        settings: ReachSettings | None = None,
        profile: Profile = "exponential",
        targets: str | None = None,
    ) -> None:
        if profile not in ("exponential", "minimum-jerk"):
            raise PoiseError(f"profile is {profile!r}; expected 'exponential' or 'minimum-jerk'")
        self.robot, self.profile = check_robot(robot, type(self).__name__), profile
        self.settings = settings or ReachSettings()
        if not any(hand.side == "right" for hand in robot.hands):
            raise RobotError(
                f"{robot.name} declares no right hand, which reaches the points; choose another robot, or "
                "declare [hands] in a TOML file beside its URDF"
            )
        self.start: State = one_foot_stance(robot, "right")
        self._common_hierarchy = self._hierarchy()
        choice = default_targets(robot, self.settings) if targets is None else TargetChoice(targets, "")
        self.targets, self.targets_reason = choice
        self.phases = tuple(self._phases(load_reach_points(self.targets)))
        self.seconds = self.phases[-1].end
        self.hierarchies = tuple(self._hierarchy_of(phase) for phase in self.phases)

    def __call__(self, snapshot: Snapshot) -> Hierarchy:
        return self.hierarchies[self._index(snapshot.time)]

    def phase(self, time: float) -> ReachPhase:
        """Return the phase at a time (s)."""
        return self.phases[self._index(time)]

    @property
    def holds_cup(self) -> bool:
        """Whether the robot has a left hand, which holds the cup."""
        return any(hand.side == "left" for hand in self.robot.hands)

    def reach_errors(self, states: dict[str, State]) -> dict[str, float]:
        """Return the distance of the right hand from its point (m) for states at the ends of phases, by phase name."""
        hand = self.robot.hand("right")
        points = {phase.name: np.array(phase.point) for phase in self.phases}
        return {
            name: float(np.linalg.norm(state.pose(hand).translation - points[name])) for name, state in states.items()
        }

    def final_pose(self, phase: ReachPhase) -> State:
        """Return the posture at the end of a phase, solved from the start."""
        hand = Level("right hand", [tasks.Position(self.robot.hand("right"), phase.point)])
        return solve_pose(self._common_hierarchy.with_level(hand, before="posture"), self.start).state

    def box_violation(self, part: Literal["foot", "hand"], states: Sequence[State]) -> float:
        """Return the largest distance of the left hand or foot outside its box over all states (m)."""
        frame, half = self._box_of(part)
        middle = self.start.pose(frame).translation
        return max(0.0, *(float((np.abs(s.pose(frame).translation - middle) - half).max()) for s in states))

    # -- construction ----------------------------------------------------------------------------------------------

    def _index(self, time: float) -> int:
        return min(max(int(time / self.settings.phase_duration + 1e-9), 0), len(self.phases) - 1)

    def _phases(self, points: Mapping[str, ReachPoint]) -> list[ReachPhase]:
        foot, height = self.start.pose(self.robot.foot("right")), self.robot.height
        phases = []
        for i, (name, place) in enumerate(points.items()):
            scaled = height * np.array(
                [self.settings.reach_scale * place[0], self.settings.reach_scale * place[1], place[2]]
            )
            x, y, z = (float(value) for value in foot.act(scaled))
            begin = i * self.settings.phase_duration
            phases.append(
                ReachPhase(name, begin, begin + self.settings.phase_duration, (x, y, z), not name.startswith("IP"))
            )
        return phases

    def _hierarchy(self) -> Hierarchy:
        """Return the hierarchy that all phases share."""
        robot, start = self.robot, self.start
        support = robot.foot("right")
        return Hierarchy(
            # No acceleration limit: at velocity level its bounds move with v, which makes the motion less smooth.
            always=[
                constraints.JointRange(robot),
                constraints.JointSpeed(robot, scale=self.settings.speed_share),
                *self._collision_constraints(),
                *self._torque_constraints(),
            ],
            levels=[
                Level("contact", [constraints.RigidContact(support, at=start)]),
                Level("balance", [tasks.CenterOfMass(start.support_center, axes="xy")]),
                Level("left foot", [self._box("foot")]),
                *([Level("left hand", [self._box("hand")])] if self.holds_cup else []),
                Level("posture", [tasks.Posture(start, dynamics=tasks.Decay(self.settings.posture_gain))]),
            ],
        )

    def _collision_constraints(self) -> list[constraints.SelfCollision]:
        """Return the self-collision constraint, if the robot has shapes: the points of the paper do not avoid all."""
        if self.settings.min_body_distance == 0.0:
            return []
        try:
            return [constraints.SelfCollision(self.robot, distance=self.settings.min_body_distance)]
        except PoiseError:  # the robot description has no shapes
            return []

    def _torque_constraints(self) -> list[constraints.StaticTorqueLimit]:
        """Return the limit of the static torques; a joint that needs more at the start may take as much everywhere."""
        robot, share = self.robot, self.settings.holding_share
        if share == 0.0:
            return []
        at_start = np.abs(constraints.static_torques(self.start)) / robot.limits.torque
        limited = [joint for joint in robot.joints if np.isfinite(robot.limits.torque[joint.v - 6])]
        scale = np.maximum(share, at_start[[joint.v - 6 for joint in limited]])
        if not limited:
            return []
        dynamics = tasks.Decay(HOLDING_GAIN)
        return [constraints.StaticTorqueLimit(robot, robot.foot("right"), limited, scale, dynamics=dynamics)]

    def _box_of(self, part: Literal["foot", "hand"]) -> tuple[Frame, float]:
        """Return the frame that stays in a box, and the half-width of the box (m)."""
        if part == "foot":
            return self.robot.foot("left"), self.settings.foot_box * self.robot.height
        return self.robot.hand("left"), self.settings.hand_box * self.robot.height

    def _box(self, part: Literal["foot", "hand"]) -> constraints.Box:
        frame, half = self._box_of(part)
        middle = self.start.pose(frame).translation
        return constraints.Box(frame, middle - half, middle + half, name=f"left {part} in its box")

    def _hierarchy_of(self, phase: ReachPhase) -> Hierarchy:
        hand = tasks.Position(
            self.robot.hand("right"),
            phase.point,
            dynamics=self._task_dynamics(phase),
            name=f"right hand to {phase.name}",
        )
        hierarchy = self._common_hierarchy.with_level(Level("right hand", [hand]), before="posture")
        head = self.robot.head
        if not phase.is_target or head is None:
            return hierarchy
        gaze = tasks.Gaze(head, phase.point, dynamics=self._task_dynamics(phase), name=f"gaze at {phase.name}")
        return hierarchy.with_level(Level("gaze", [gaze], damping=self.settings.gaze_damping), before="posture")

    def _task_dynamics(self, phase: ReachPhase) -> tasks.Decay | tasks.MinimumJerk:
        if self.profile == "exponential":
            return tasks.Decay(self.settings.gain)
        return tasks.MinimumJerk(self.settings.motion_share * (phase.end - phase.begin), begin=phase.begin)


class TargetChoice(NamedTuple):
    """Set of targets for a robot, and why it is not "floor", the one of the paper; "" if it is."""

    targets: str
    reason: str


def default_targets(robot: Robot, settings: ReachSettings | None = None) -> TargetChoice:
    """Return "floor" if a robot reaches these targets within its torque limits, else "middle" and the reason.

    >>> default_targets(load_robot("romeo")).reason
    'floor needs 514 % of the torque limit of RHipYaw'
    """
    settings = settings or ReachSettings()
    if _largest_miss(Reach(robot, settings, targets="floor")) <= REACHABLE_ERROR:
        return TargetChoice("floor", "")
    unlimited = Reach(robot, replace(settings, holding_share=0.0), targets="floor")
    miss = _largest_miss(unlimited)
    if miss > REACHABLE_ERROR:
        return TargetChoice("middle", f"floor is out of reach by {1e3 * miss:.0f} mm")
    poses = [unlimited.final_pose(phase) for phase in unlimited.phases if phase.is_target]
    shares = np.max([np.abs(constraints.static_torques(pose)) / robot.limits.torque for pose in poses], axis=0)
    worst = int(np.argmax(shares))
    name = next(joint.name for joint in robot.joints if joint.v == worst + 6)
    return TargetChoice("middle", f"floor needs {100 * shares[worst]:.0f} % of the torque limit of {name}")


def _largest_miss(reach: Reach) -> float:
    """Return the largest distance of the right hand from a target in the final poses of the phases (m)."""
    poses = {phase.name: reach.final_pose(phase) for phase in reach.phases if phase.is_target}
    return max(reach.reach_errors(poses).values())
