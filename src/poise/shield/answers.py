"""What became of wishes: how far each is from being met, and what limits it, by level, limit and amount."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np

from poise.arrays import Array
from poise.control import Command, ControlStep
from poise.geometry import so3
from poise.robots import Frame
from poise.shield.balance_shield import GAZE, HANDS, JOINTS, BalanceShield, WishedHand
from poise.solvers import Program, Rows, Solution, obstacles
from poise.state import Snapshot

#: Remaining error of a wish that counts as met, by its unit.
MET = {"m": 0.01, "rad": 0.03, "m/s": 0.02}
#: Level of the limits that the shield itself sets, before a wish becomes a target.
SHIELD = "shield"
#: Limits of a wish that is on its way.
MOVING_JOINT, MOVING_HAND = "joint speed and acceleration", "hand speed and acceleration"
#: Share of the distance at which a target waits for a joint or hand that does not follow, from which on it counts as
#: blocked: what is missing is then due to what blocks it.
BLOCKED_SHARE = 0.9
#: Largest number of wishes whose obstacles are computed at once.
MAX_EXPLAINED = 6

WishState = Literal["met", "moving", "limited"]


@dataclass(frozen=True)
class WishLimit:
    """One reason why a wish is not met.

    Attributes:
        wish: name of a joint, "left hand", "right hand", "gaze" or "velocity".
        level: level of the hierarchy, or "shield" for limits of the target itself.
        limit: what limits, e.g. "joint range", "reach of the arm", "angular momentum[about z] at its upper bound".
        amount: what is missing because of it.
        unit: unit of the amount.
    """

    wish: str
    level: str
    limit: str
    amount: float
    unit: str

    def message(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)

    def __str__(self) -> str:
        return f"{self.wish}: {self.amount:.3g} {self.unit} missing, {self.limit} (level {self.level})"


@dataclass(frozen=True)
class WishResult:
    """Remaining error of one wish: "met", "moving" (it follows within the limits of speed), or "limited"."""

    wish: str
    state: WishState
    error: float
    unit: str


class HeldWish(NamedTuple):
    """A wish that is away from its target: distance, its unit, and the stacked rows of its task."""

    wish: str
    distance: float
    unit: str
    rows: tuple[int, ...]


@dataclass(frozen=True)
class ShieldReport:
    """What became of the wishes at one tick.

    Attributes:
        time: time of the robot (s).
        wishes: remaining error of each wish that holds.
        limits: why wishes are not met, as far as that is known without the rows of the hierarchy.
        held: wishes that are away from their targets; `explain_held` says why.
        loads: known and estimated loads in the hands (kg), by side.
    """

    time: float
    wishes: tuple[WishResult, ...] = ()
    limits: tuple[WishLimit, ...] = ()
    held: tuple[HeldWish, ...] = ()
    loads: Mapping[str, float] = field(default_factory=dict)

    def message(self) -> dict[str, Any]:
        """Return the report as plain values, for msgpack and JSON."""
        return {
            "time": self.time,
            "wishes": {
                each.wish: {"state": each.state, "error": each.error, "unit": each.unit} for each in self.wishes
            },
            "limits": [limit.message() for limit in self.limits],
            "loads": dict(self.loads),
        }


class WishReporter:
    """Makes reports about the wishes of a shield.

    >>> reporter = WishReporter(shield)
    >>> for step in poise.steps(controller, plant, 5.0):
    ...     report = reporter.report(step)
    ...     print(report.limits, explain_held(report.held, step.command.solution))
    """

    def __init__(self, shield: BalanceShield) -> None:
        self._shield, self._snapshot = shield, Snapshot(shield.robot)
        self._labels: Sequence[object] = ()
        self._rows: dict[tuple[str, str], slice] = {}
        self._begin()

    def report(self, step: ControlStep, loads: Mapping[Frame, float] = MappingProxyType({})) -> ShieldReport:
        """Return remaining errors and limits of all wishes at a control step; takes a few tenths of a millisecond.

        Args:
            step: the control step.
            loads: those of the controller (kg).
        """
        self._begin()
        self._find_rows(step.command)
        shield, snapshot = self._shield, self._snapshot.at(step.state)
        self._judge_joints(snapshot)
        for hand in shield.hands.values():
            if hand.active:
                self._judge_hand(snapshot, hand)
        if shield.gaze is not None and shield.robot.head is not None:
            head = shield.robot.head
            axis, way = snapshot.rotation(head) @ head.axis, shield.gaze - snapshot.position(head)
            angle = math.atan2(float(np.linalg.norm(np.cross(axis, way))), float(axis @ way))
            self._judge("gaze", angle, "rad", [], angle, self._task_rows(GAZE, "gaze"))
        if shield.velocity is not None:
            missing = float(np.linalg.norm(shield.velocity - shield.granted_velocity))
            reason = "walking speed" if shield.walk else "this shield stands; start it with --mode walk"
            self._judge("velocity", missing, "m/s", [(reason, missing)], 0.0, ())
        in_hands: dict[str, float] = {hand.side: float(loads[hand]) for hand in shield.robot.hands if hand in loads}
        return ShieldReport(step.state.time, tuple(self._results), tuple(self._limits), tuple(self._held), in_hands)

    def _begin(self) -> None:
        self._results: list[WishResult] = []
        self._limits: list[WishLimit] = []
        self._held: list[HeldWish] = []

    def _judge_joints(self, snapshot: Snapshot) -> None:
        joints = self._shield.joints
        rows = self._task_rows(JOINTS, joints.task.name)
        for i in np.flatnonzero(joints.following).tolist():
            q, wished, possible = float(snapshot.q[joints.indices[i]]), float(joints.wished[i]), float(joints.goal[i])
            target = float(joints.motion.value[i])
            reasons, lag = [("joint range", abs(wished - possible))], abs(target - q)
            if lag > BLOCKED_SHARE * joints.near[i]:  # its target waits for it
                lag = abs(possible - q)
            else:
                reasons.append((MOVING_JOINT, abs(possible - target)))
            self._judge(joints.names[i], abs(wished - q), "rad", reasons, lag, rows[i : i + 1])

    def _judge_hand(self, snapshot: Snapshot, hand: WishedHand) -> None:
        wish, target = hand.wish, hand.motion.pose.translation
        pose, name = hand.measure_pose(snapshot, wish.frame), f"{hand.hand.side} hand"
        rows = self._task_rows(HANDS, hand.tasks[wish.frame].name)
        error, lag, left = (
            float(np.linalg.norm(difference))
            for difference in (pose.translation - wish.position, pose.translation - target, hand.goal - target)
        )
        reasons = [("reach of the arm", hand.beyond_reach)]
        if lag > BLOCKED_SHARE * hand.near[0]:
            lag = float(np.linalg.norm(pose.translation - hand.goal))
        else:
            reasons.append((MOVING_HAND, left))
        self._judge(name, error, "m", reasons, lag, rows[:3])
        if wish.rotation is not None:
            angle, turn = (
                float(np.linalg.norm(so3.log(rotation @ hand.motion.pose.rotation.T)))
                for rotation in (wish.rotation, pose.rotation)
            )
            missing = float(np.linalg.norm(so3.log(wish.rotation @ pose.rotation.T)))
            self._judge(f"{name} orientation", missing, "rad", [(MOVING_HAND, angle)], turn, rows[3:])

    def _judge(
        self,
        wish: str,
        error: float,
        unit: str,
        reasons: Sequence[tuple[str, float]],
        lag: float,
        rows: tuple[int, ...],
    ) -> None:
        """Judge one wish by its error, the limits of its target, and its distance from the target."""
        tolerance = MET[unit]
        if error <= tolerance:
            self._results.append(WishResult(wish, "met", error, unit))
            return
        found = [WishLimit(wish, SHIELD, limit, amount, unit) for limit, amount in reasons if amount > 0.1 * tolerance]
        self._limits += found
        moving = bool(found) and all(each.limit in (MOVING_JOINT, MOVING_HAND) for each in found)
        if lag > 0.5 * tolerance or not found:
            self._held.append(HeldWish(wish, lag, unit, rows))
            moving = moving and lag <= tolerance
        self._results.append(WishResult(wish, "moving" if moving else "limited", error, unit))

    def _find_rows(self, command: Command) -> None:
        """Find the stacked rows of each task by level and name, if the hierarchy has changed."""
        labels, slices = command.tasks
        if labels is not self._labels:
            self._labels = labels
            self._rows = {(label.level, label.name): rows for label, rows in zip(labels, slices, strict=True)}

    def _task_rows(self, level: str, name: str) -> tuple[int, ...]:
        span = self._rows.get((level, name))
        return () if span is None else tuple(range(span.start, span.stop))


# -- Rows in the way -------------------------------------------------------------------------------------------------


def explain_held(held: Sequence[HeldWish], solution: Solution | None, budget: int = MAX_EXPLAINED) -> list[WishLimit]:
    """Return the rows of the hierarchy that keep wishes away from their targets.

    A row that is violated has obstacles. If no row of a wish is violated, its motion is catching up with its target.

    Args:
        held: of a `ShieldReport`.
        solution: solution of the same tick; None: the robot is being held.
        budget: largest number of wishes whose obstacles are computed, those farthest away first; some 3 ms each.
    """
    limits: list[WishLimit] = []
    slack = np.zeros(0) if solution is None else np.abs(solution.program.slack(solution.x))
    for k, (wish, distance, unit, rows) in enumerate(sorted(held, key=lambda each: -each.distance / MET[each.unit])):
        names: dict[tuple[str, str], None] = {}
        if solution is None:
            names[SHIELD, "the robot is being held"] = None
        elif rows and k < budget:
            worst = max(rows, key=lambda row: slack[row])
            for obstacle in obstacles(solution, [worst])[0]:
                names.setdefault((obstacle.level, f"{obstacle.row} {obstacle.side}".strip()))
        if not names:
            names[SHIELD, "catching up with its target" if k < budget else "higher levels"] = None
        limits += [WishLimit(wish, level, limit, distance, unit) for level, limit in names]
    return limits


class SolutionRows(NamedTuple):
    """A solution as plain arrays, which can be sent to another process.

    Attributes:
        levels: rows of each level; `names` of the levels.
        x, center: unknowns, and the point that `Program` prefers.
    """

    levels: list[list[Rows]]
    names: tuple[str, ...]
    x: Array
    center: Array

    @classmethod
    def of(cls, solution: Solution) -> SolutionRows:
        program = solution.program
        return cls([list(level) for level in program.levels], tuple(program.names), solution.x, program.center)

    def solution(self) -> Solution:
        """Return a solution with the same rows and unknowns."""
        program = Program(self.levels, self.names, len(self.x), center=self.center)
        return Solution(program, self.x, "optimal", np.zeros(program.rows, dtype=np.int8), 0, 0.0)
