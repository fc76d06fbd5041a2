"""Changes of style, speed and weights during a walk: no fall, and no jump of a target."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio
import pytest

from poise.behaviors import Walk
from poise.plans import STYLES
from robot_states import installed_robot, not_none
from walk_trials import WalkTrial

pytestmark = pytest.mark.needs_models

CHANGES: dict[str, Callable[[Walk], None]] = {
    "sad": lambda walk: setattr(walk, "style", "sad"),
    "proud": lambda walk: setattr(walk, "style", STYLES["proud"]),
    "faster and turning": lambda walk: setattr(walk, "speed", (0.35, 0.0, 0.3)),
    "backward": lambda walk: setattr(walk, "speed", (-0.1, 0.0, 0.0)),
    "as the style goes": lambda walk: setattr(walk, "speed", None),
    "stop": lambda walk: walk.stop(),
    "go": lambda walk: walk.go(3),
}
#: Largest rate of change: above that of a fast motion, and far below a jump within one tick of 2 ms. Positions in m,
#: angles in rad; weights are those of the posture of arms and head.
FASTEST = {"height": 0.5, "chest": 6.0, "pelvis": 6.0, "swinging foot": 5.0, "rest": 10.0, "weights": 20.0}
#: Largest change of the planned DCM, m per tick: 3 m/s. Only a stop may change it by more, since it replaces the next
#: step at once.
DIVERGENT, STOPPING = 0.006, 0.03


class ChangeRecorder:
    """Records the largest change from tick to tick of every target of a walk."""

    def __init__(self, trial: WalkTrial) -> None:
        self.trial = trial
        self.before: dict[str, Any] = {}
        self.most: dict[str, float] = {}

    def __call__(self) -> None:
        walk, task_set = self.trial.walk, self.trial.walk.task_set
        phase, state = walk.phase(), self.trial.controller._snapshot
        c, v = state.center_of_mass, state.center_of_mass_velocity
        xi = complex(c[0], c[1]) + complex(v[0], v[1]) / walk.footstep_plan.gait.omega
        now: dict[str, Any] = {
            "height": task_set.com_height.value[2:].copy(),
            "chest": task_set.chest.value.copy(),
            "pelvis": task_set.pelvis.value.copy(),
            "rest": np.concatenate([rest.value for rest in task_set.rest.values()]),
            "weights": task_set.posture_weight.value.copy(),
            "divergent component": np.array([xi - walk.dcm_error]),
        }
        if phase.kind == "single":
            now[f"swinging foot {phase.begin}"] = task_set.feet[phase.goal.side].value.translation.copy()
        for name in self.before.keys() & now.keys():
            a, b = self.before[name], now[name]
            turn = name in ("chest", "pelvis")
            change = np.linalg.norm(pinocchio.log3(a.T @ b)) if turn else np.abs(b - a).max()
            short = "swinging foot" if name.startswith("swinging") else name
            self.most[short] = max(self.most.get(short, 0.0), float(change))
        self.before = now


@pytest.fixture(scope="module")
def walk_through_changes() -> dict[str, tuple[WalkTrial, dict[str, float], str]]:
    """One walk through all changes: for each, the largest change of its targets, and whether it fell."""
    trial = WalkTrial(Walk(installed_robot("g1"), steps=math.inf))
    watch, found = ChangeRecorder(trial), {}
    trial.run(2.3, watch)
    for name, change in CHANGES.items():
        watch.most = {}
        change(trial.walk)
        trial.run(2.0 if name == "stop" else 3.8 if name == "go" else 1.1, watch)
        found[name] = (trial, watch.most, f"{trial.plant.fall or 'walks'}, {trial.walk.phase().name}")
    return found


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_on_the_way_causes_no_fall(name: str, walk_through_changes: dict) -> None:
    _, _, outcome = walk_through_changes[name]
    assert outcome.startswith("walks")
    assert ("standing" in outcome) == (name in ("stop", "go"))


@pytest.mark.parametrize("name", CHANGES)
def test_no_target_jumps(name: str, walk_through_changes: dict) -> None:
    trial, most, _ = walk_through_changes[name]
    period = trial.controller.period
    for quantity, fastest in FASTEST.items():
        assert most.get(quantity, 0.0) <= fastest * period, quantity
    assert most["divergent component"] <= (STOPPING if name == "stop" else DIVERGENT)


def test_all_changes_belong_to_one_walk_that_ends_standing(walk_through_changes: dict) -> None:
    trial = walk_through_changes["go"][0]
    assert trial.stands
    assert trial.bind_count == 6, "no change needs another hierarchy"
    assert trial.fallbacks == set()


def test_a_style_transition_ends_within_its_duration() -> None:
    walk = Walk(installed_robot("g1"), steps=0)
    trial = WalkTrial(walk).run(0.02)
    upright = walk.task_set.chest.value.copy()
    walk.style = STYLES["neutral"].replace(chest_pitch=0.3)
    leans = []
    trial.run(0.4, lambda: leans.append(np.linalg.norm(pinocchio.log3(upright.T @ walk.task_set.chest.value))))
    change = walk.settings.style_transition_time
    ticks = round(change / trial.controller.period)
    assert leans[0] < 0.01
    assert leans[ticks // 2] == pytest.approx(0.15, abs=0.01)
    assert leans[-1] == pytest.approx(0.3, abs=1e-6)
    assert walk.style.chest_pitch == 0.3


def test_a_weight_changes_without_binding_a_new_hierarchy() -> None:
    style = STYLES["neutral"].replace(angular_momentum_weight=1.0, torque_weight=0.5, arm_posture_weight=1.0)
    walk = Walk(installed_robot("g1"), style, speed=(0.0, 0.0, 0.0), steps=0)  # arm swing grows with speed
    trial = WalkTrial(walk).run(0.02)
    before = weights(trial)
    walk.style = walk.style.replace(angular_momentum_weight=4.0, torque_weight=0.25, arm_posture_weight=0.5)
    trial.run(walk.settings.style_transition_time + 0.02)
    after = weights(trial)
    assert trial.bind_count == 6
    assert after["angular momentum"] == pytest.approx(4.0 * before["angular momentum"])
    assert after["joint torque"] == pytest.approx(0.5 * before["joint torque"])
    arms = after["arms, head"] != before["arms, head"]
    assert arms.any()
    assert after["arms, head"][arms] == pytest.approx(0.5 * before["arms, head"][arms])


def weights(trial: WalkTrial) -> dict[str, np.ndarray]:
    """Weights of the rows of the level "style" in the last program."""
    command = trial.controller.command
    assert command is not None
    program = not_none(command.solution).program
    rows = program.levels[program.names.index("style")]
    return {row.name: np.broadcast_to(row.weight, len(row.lower)).copy() for row in rows}


@pytest.mark.parametrize("word", ["arms", "head", "arms and head"])
def test_torque_is_minimised_in_the_joints_that_the_style_names(word: str) -> None:
    robot = installed_robot("talos")
    trial = WalkTrial(Walk(robot, STYLES["neutral"].replace(torque_weight=1.0, torque_joints=word), steps=0)).run(0.01)
    program = trial.controller.command.solution.program  # type: ignore[union-attr]
    (rows,) = (row for row in program.levels[program.names.index("style")] if row.name == "joint torque")
    chosen = {label for label, weight in zip(not_none(rows.labels), rows.weight, strict=True) if weight > 0.0}
    assert any(label.startswith("arm") for label in chosen) == (word != "head")
    assert any(label.startswith("head") for label in chosen) == (word != "arms")
    assert not any(label.startswith("leg") for label in chosen)
