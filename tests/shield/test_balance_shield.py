"""A shielded robot meets wishes that conflict with nothing, keeps its balance with all others, and says what limits."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pytest

from poise import tasks
from poise.control import ControlStep, TorqueController
from poise.errors import PoiseError
from poise.hierarchy import Level
from poise.plants import Load, MujocoPlant, steps
from poise.robots import limbs
from poise.shield import BalanceShield, WishReporter, explain_held
from poise.shield.balance_shield import HANDS, JOINTS, LIMITS, UPRIGHT
from poise.solvers import Lexicographic
from poise.tasks import Posture
from robot_states import installed_robot

G1 = installed_robot("g1")
Wishes = Callable[[float], Mapping[str, Any] | None]


class Run:
    """A simulated robot with a shield, which repeats the wishes of a function of time at 50 Hz."""

    def __init__(self, mode: Any, wishes: Wishes, robot: Any = G1, loads: Sequence[Load] = ()) -> None:
        self.shield = BalanceShield(robot, mode)
        self.controller = TorqueController(self.shield, Lexicographic(), estimate_loads=bool(loads))
        self.plant = MujocoPlant(robot, loads=loads)
        self.reporter = WishReporter(self.shield)
        self._wishes = wishes

    def steps(self, seconds: float) -> Iterator[ControlStep]:
        for k, step in enumerate(steps(self.controller, self.plant, seconds)):
            assert step.command.torque is not None
            assert np.isfinite(step.command.torque).all()
            assert (np.abs(step.command.torque) <= self.shield.robot.limits.torque + 1e-9).all()
            if k % 10 == 0 and (message := self._wishes(step.state.time)) is not None:
                self.shield.wish(self.shield.parse(dict(message)))
            yield step
        assert not self.plant.fall

    def last(self, seconds: float) -> ControlStep:
        *_, step = self.steps(seconds)
        return step


def test_the_wishes_stand_below_the_balance() -> None:
    pairs: tuple[tuple[Literal["stand", "walk"], str], ...] = (("stand", "balance"), ("walk", "swing"))
    for mode, essential in pairs:
        shield = BalanceShield(G1, mode)
        for hierarchy in shield.hierarchies:
            names = [level.name for level in hierarchy.levels]
            place = names.index(essential)
            assert names[place + 1 : place + 6] == [LIMITS, UPRIGHT, HANDS, "wished gaze", JOINTS]


def test_joints_and_a_hand_meet_wishes_that_conflict_with_nothing() -> None:
    angles = {"left_elbow_joint": 0.9, "left_shoulder_roll_joint": 0.5}
    point = np.array([0.28, -0.22, 0.95])
    run = Run("stand", lambda _: {"joints": angles, "hands": {"right": {"position": point.tolist()}}})
    step = run.last(2.0)
    state = run.plant.truth()
    for name, angle in angles.items():
        assert state.q[G1.joint(name).q] == pytest.approx(angle, abs=0.01)
    assert np.linalg.norm(state.pose(G1.hand("right")).translation - point) < 0.01
    report = run.reporter.report(step)
    assert {each.wish: each.state for each in report.wishes} == dict.fromkeys([*angles, "right hand"], "met")
    assert not report.limits


def test_a_hand_in_the_body_goes_along_while_the_robot_walks() -> None:
    assert G1.chest is not None
    chest_from_hand = (
        G1.stance("standing").pose(G1.chest).actInv(G1.stance("standing").pose(G1.hand("left"))).translation
    )
    place = (chest_from_hand + np.array([0.15, 0.05, 0.15])).tolist()
    wishes = {"hands": {"left": {"position": place, "frame": "body"}}, "velocity": [0.3, 0.0, 0.0]}
    run = Run("walk", lambda _: wishes)
    misses = []
    for step in run.steps(4.0):
        if step.state.time > 1.5:
            state = run.plant.truth()
            at = state.pose(G1.chest).actInv(state.pose(G1.hand("left"))).translation
            misses.append(np.linalg.norm(at - place))
    assert np.median(misses) < 0.005
    assert max(misses) < 0.015  # at the impact of a foot
    assert run.plant.truth().q[0] > 0.4


def test_wishes_that_are_not_repeated_expire_and_the_arms_return() -> None:
    wishes = {"joints": {"left_shoulder_pitch_joint": -1.0}, "velocity": [0.3, 0.0, 0.0]}
    run = Run("walk", lambda time: wishes if time < 1.5 else None)
    shoulder, rest = G1.joint("left_shoulder_pitch_joint"), G1.stance("standing")
    angles, speeds = {}, []
    for step in run.steps(5.5):
        angles[round(step.state.time, 3)] = step.state.q[shoulder.q]
        if step.state.time > 1.7:
            speeds.append(abs(step.state.v[shoulder.v]))
    assert angles[1.5] == pytest.approx(-1.0, abs=0.05)
    assert angles[1.69] == pytest.approx(-1.0, abs=0.05)
    assert max(speeds) < 2.0  # it returns calmly
    assert angles[5.4] == pytest.approx(rest.q[shoulder.q], abs=0.15)  # the walk may swing it a little
    assert run.shield.velocity is None
    phase = run.shield.phase(5.5)
    assert phase is not None
    assert phase.name == "standing"


def test_a_limited_wish_says_by_what() -> None:
    wishes = {
        "joints": {"left_elbow_joint": 9.0},
        "hands": {"right": {"position": [3.0, -0.2, 1.0]}},
        "velocity": [2.0, 0.0, 0.0],
    }
    run = Run("stand", lambda _: wishes)
    step = run.last(2.0)
    report = run.reporter.report(step)
    limits = {(each.wish, each.limit): each.amount for each in report.limits}
    upper = G1.limits.upper[G1.joint("left_elbow_joint").v - 6]
    assert limits["left_elbow_joint", "joint range"] == pytest.approx(9.0 - upper, abs=0.05)
    assert limits["right hand", "reach of the arm"] > 1.5
    assert limits["velocity", "this shield stands; start it with --mode walk"] == pytest.approx(2.0)
    assert all(each.state == "limited" for each in report.wishes)


def test_hands_that_press_together_are_held_by_the_self_collision() -> None:
    between = [0.25, 0.0, 0.9]
    run = Run("stand", lambda _: {"hands": {side: {"position": between} for side in ("left", "right")}})
    step = run.last(1.5)
    report = run.reporter.report(step)
    named = explain_held(report.held, step.command.solution)
    assert {each.wish for each in report.held} <= {each.wish for each in named}
    assert any(each.level == LIMITS and "collision" in each.limit for each in named)


@pytest.mark.parametrize("mode", ["stand", "walk"])
def test_arms_that_are_thrown_about_do_not_cost_the_balance(mode: str) -> None:
    random = np.random.default_rng(3)
    goal: dict[str, Any] = {"next": 0.0}

    def wishes(time: float) -> Mapping[str, Any]:
        joints = run.shield.joints
        if time >= goal["next"]:
            goal["next"] = time + random.uniform(0.15, 0.6)
            goal["angles"] = dict(zip(joints.names, random.uniform(joints.lower, joints.upper).tolist(), strict=True))
        return {"joints": goal["angles"], "velocity": [0.3, 0.0, 0.0] if mode == "walk" else None}

    loads = [Load(G1.hand("left"), 1.5)] if mode == "walk" else []
    run = Run(mode, wishes, loads=loads)
    step = run.last(4.0)
    report = run.reporter.report(step, run.controller.loads)
    assert report.loads == ({"left": pytest.approx(1.5, rel=0.1)} if loads else {})


def test_a_wrist_that_cannot_hold_its_load_does_not_cost_the_balance() -> None:
    talos = installed_robot("talos")  # 3 N m at the roll of the wrist
    joints = BalanceShield(talos).joints
    angles = {
        name: 0.5 * (low + high) for name, low, high in zip(joints.names, joints.lower, joints.upper, strict=True)
    }
    run = Run("stand", lambda _: {"joints": angles}, talos, [Load(talos.hand(side), 5.0) for side in ("left", "right")])
    run.last(2.5)


def test_a_hand_holds_a_point_of_the_world_while_the_robot_walks_past_with_a_level_cup() -> None:
    point = np.array([0.9, 0.35, 0.95])
    run = Run("walk", lambda _: {"velocity": [0.3, 0.0, 0.0], "hands": {"left": {"position": point.tolist()}}})
    left, right = G1.hand("left"), G1.hand("right")
    upwards = G1.stance("standing").pose(right).rotation.T @ (0.0, 0.0, 1.0)
    run.shield.add_level(Level("cup", tasks.Direction(right, axis=upwards, target=(0.0, 0.0, 1.0))), below=UPRIGHT)
    reached, misses, tilts = 0.0, [], []
    for step in run.steps(4.8):
        state = run.plant.truth()
        tilts.append(np.degrees(np.arccos(min(1.0, (state.pose(right).rotation @ upwards)[2]))))
        if run.shield.hands["left"].beyond_reach == 0.0 and run.shield.hands["left"].active:
            reached = reached or step.state.time
            if step.state.time > reached + 0.5:
                misses.append(np.linalg.norm(state.pose(left).translation - point))
    assert len(misses) > 500  # a second, in which the robot walks 0.3 m
    assert max(misses) < 0.02
    assert max(tilts) < 5.0


def test_wishes_for_legs_are_refused_and_the_mode_is_checked() -> None:
    shield = BalanceShield(G1)
    legs = {name for limb in limbs(G1) if "leg" in limb.name or limb.name == "trunk" for name in limb.joints}
    for name in legs:
        with pytest.raises(PoiseError, match="there is no joint"):
            shield.parse({"joints": {name: 0.0}})
    with pytest.raises(PoiseError, match="expected one of stand, walk"):
        BalanceShield(G1, "fly")  # type: ignore[arg-type]


def test_the_task_of_joints_has_no_weight_without_wishes() -> None:
    shield = BalanceShield(G1)
    assert isinstance(shield.joints.task, Posture)
    assert not np.asarray(shield.joints.task.weight).any()
