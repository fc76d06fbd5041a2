"""Reach: the sequence of reaching tasks of [Saab2012], section 3.2, standing on one foot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pinocchio

from poise import constraints, tasks
from poise.errors import PoiseError
from poise.hierarchy import Behavior, Hierarchy, Level, solve_pose
from poise.parameters import check_parameters, gain_parameter
from poise.robots import Frame, Robot, State, other_side
from poise.state import Snapshot

#: In fractions of the robot's height: how far the free foot is lifted, and where the hand with the cup is, forward
#: of the supporting foot, beside it and up.
FOOT_LIFT = 0.08
CUP_POSITION = (0.20, 0.20, 0.64)
#: Damping of the chest, which Romeo cannot hold upright so: undamped, what cannot be had would shake the whole posture.
CHEST_DAMPING = 0.3


def one_foot_stance(robot: Robot, side: Literal["left", "right"] = "right") -> State:
    """The robot on one foot, upright, its centre of mass above the middle of that sole, the other foot lifted.

    The hand of the free side holds a cup in front; the other hand hangs. Raises a PoiseError when the robot cannot
    stand so.
    """
    start = robot.stance("standing")
    free = other_side(side)
    outward = 1.0 if free == "left" else -1.0
    support, swing, hand = robot.foot(side), robot.foot(free), robot.hand(free)
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
            Level("cup", [tasks.Position(hand, cup)]),
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

#: Where the right hand goes, seen from the supporting (right) foot, in fractions of the robot's height: forward, left,
#: up. The paper shows them in pictures only. IP1 leads the hand round the body to the low first target, IP2 up and
#: away from the ground before the second.
REACH_POINTS: dict[str, tuple[float, float, float]] = {
    "IP1": (0.22, -0.18, 0.56),
    "target 1": (0.27, -0.13, 0.45),
    "IP2": (0.25, -0.04, 0.58),
    "target 2": (0.29, 0.03, 0.50),
    "target 3": (0.27, -0.10, 0.78),
}


@dataclass(frozen=True)
class ReachSettings:
    """Numbers of the sequence.

    With `apart` zero, bodies may meet as in the paper, and the motion follows its profile exactly. On a robot without
    a neck the gaze takes the whole trunk; `calm` damps it.
    """

    phase: float = gain_parameter(2.0, "time for each of the five points", "s")
    rate: float = gain_parameter(4.0, "gain of the exponential profile")
    hand_box: float = gain_parameter(
        0.03, "half-width of the box in which the left hand keeps the cup", "m per m of height"
    )
    foot_box: float = gain_parameter(0.02, "half-width of the box of the left foot", "m per m of height")
    posture: float = gain_parameter(2.0, "rate of the posture")
    speed: float = gain_parameter(0.5, "share of the joints' speed limits that may be used", "")
    calm: float = gain_parameter(0.1, "damping of the gaze", "")
    apart: float = gain_parameter(0.01, "distance that the bodies of the robot keep from each other", "m", zero=True)
    share: float = gain_parameter(
        0.9, "share of each phase that a minimum-jerk motion takes; the rest lets it settle", ""
    )
    reach: float = gain_parameter(1.0, "factor on how far forward and sideways the points are", "")

    def __post_init__(self) -> None:
        check_parameters(self, "reach")


@dataclass(frozen=True)
class ReachPhase:
    """One subtask: the right hand moves to a point.

    Attributes:
        name: the paper's word for the point.
        begin, end: seconds.
        point: where, in the world (m).
        is_target: whether the gaze follows: it does towards targets, not towards intermediary points.
    """

    name: str
    begin: float
    end: float
    point: tuple[float, float, float]
    is_target: bool


class Reach(Behavior):
    """Right hand through IP1, target 1, IP2, targets 2 and 3, on the right foot, with a cup in the left hand.

    The stack of tasks, the most important first, as in figure 1 of the paper: contact of the right foot; centre of
    mass held above it (equality); left foot, then left hand, each inside a box (inequalities, orientation free); right
    hand to the point of the phase; gaze at the target, switched on after each intermediary point; posture.

    Args:
        robot: with two feet, two hands and a gaze.
        settings: see `ReachSettings`.
        profile: how the hand comes to its points: "exponential", as in the paper, or "minimum-jerk", as it suggests.

    >>> reach = Reach(robot)
    >>> recording = poise.record(poise.KinematicController(reach), poise.IdealPlant(reach.start), reach.seconds)
    """

    def __init__(self, robot: Robot, settings: ReachSettings | None = None, profile: Profile = "exponential") -> None:
        if profile not in ("exponential", "minimum-jerk"):
            raise PoiseError(f"profile is {profile!r}; expected 'exponential' or 'minimum-jerk'")
        self.robot, self.profile = robot, profile
        self.settings = settings or ReachSettings()
        self.start: State = one_foot_stance(robot, "right")
        self.phases = tuple(self._phases())
        self.seconds = self.phases[-1].end
        self._common_hierarchy = self._hierarchy()
        self.hierarchies = tuple(self._hierarchy_of(phase) for phase in self.phases)

    def __call__(self, snapshot: Snapshot) -> Hierarchy:
        return self.hierarchies[self._index(snapshot.time)]

    def phase(self, time: float) -> ReachPhase:
        """The phase at a time."""
        return self.phases[self._index(time)]

    def reach_errors(self, states: dict[str, State]) -> dict[str, float]:
        """How far the right hand is from each target in the states at the ends of their phases, m."""
        hand = self.robot.hand("right")
        points = {phase.name: np.array(phase.point) for phase in self.phases}
        return {
            name: float(np.linalg.norm(state.pose(hand).translation - points[name])) for name, state in states.items()
        }

    def box_violation(self, part: Literal["foot", "hand"], states: Sequence[State]) -> float:
        """How far the left hand or foot was out of its box in any of the states, m."""
        frame, half = self._box_of(part)
        middle = self.start.pose(frame).translation
        return max(0.0, *(float((np.abs(s.pose(frame).translation - middle) - half).max()) for s in states))

    # -- making it -------------------------------------------------------------------------------------------------

    def _index(self, time: float) -> int:
        return min(max(int(time / self.settings.phase + 1e-9), 0), len(self.phases) - 1)

    def _phases(self) -> list[ReachPhase]:
        foot, height = self.start.pose(self.robot.foot("right")), self.robot.height
        phases = []
        for i, (name, place) in enumerate(REACH_POINTS.items()):
            scaled = height * np.array([self.settings.reach * place[0], self.settings.reach * place[1], place[2]])
            x, y, z = (float(value) for value in foot.act(scaled))
            begin = i * self.settings.phase
            phases.append(ReachPhase(name, begin, begin + self.settings.phase, (x, y, z), not name.startswith("IP")))
        return phases

    def _hierarchy(self) -> Hierarchy:
        """What stays the same in all phases."""
        robot, start = self.robot, self.start
        support = robot.foot("right")
        return Hierarchy(
            # No limit on acceleration: at velocity order its bounds move with v, and the motion becomes less smooth.
            always=[
                constraints.JointRange(robot),
                constraints.JointSpeed(robot, scale=self.settings.speed),
                *self._collision_constraints(),
            ],
            levels=[
                Level("contact", [constraints.RigidContact(support, at=start)]),
                Level("balance", [tasks.CenterOfMass(start.support_center, axes="xy")]),
                Level("left foot", [self._box("foot")]),
                Level("left hand", [self._box("hand")]),
                Level("posture", [tasks.Posture(start, dynamics=tasks.Decay(self.settings.posture))]),
            ],
        )

    def _collision_constraints(self) -> list[constraints.SelfCollision]:
        """The bodies keep apart, on robots that have any: the paper's intermediary points do not see to all of it."""
        if self.settings.apart == 0.0:
            return []
        try:
            return [constraints.SelfCollision(self.robot, distance=self.settings.apart)]
        except PoiseError:  # a description without shapes
            return []

    def _box_of(self, part: Literal["foot", "hand"]) -> tuple[Frame, float]:
        """The frame that stays in a box, and half the width of that (m)."""
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
        if not phase.is_target:
            return hierarchy
        gaze = tasks.Gaze(
            self.robot.gaze, phase.point, dynamics=self._task_dynamics(phase), name=f"gaze at {phase.name}"
        )
        return hierarchy.with_level(Level("gaze", [gaze], damping=self.settings.calm), before="posture")

    def _task_dynamics(self, phase: ReachPhase) -> tasks.Decay | tasks.MinimumJerk:
        if self.profile == "exponential":
            return tasks.Decay(self.settings.rate)
        return tasks.MinimumJerk(self.settings.share * (phase.end - phase.begin), begin=phase.begin)
