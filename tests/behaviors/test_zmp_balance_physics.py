"""HOAP-3 on its servos in MuJoCo with noisy cells: it stands, squats and walks, and reports faults."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from poise.behaviors import ZmpBalance, regulation_settings, standing_reference, zmp_error
from poise.control import PositionController
from poise.plans import ReferenceTrajectory, SquatReference
from poise.plants import HardwareFault, MujocoPlant, PositionServos, Push, Sensors, control_step
from poise.robots import State, limbs
from robot_states import installed_robot, not_none
from zmp_balance_runs import PERIOD, neutral_walk

HOAP3 = installed_robot("hoap3")
SOLE = HOAP3.foot("left").sole
#: Half length and half width of a sole (m).
EDGE_SHARE = np.array([0.5 * (SOLE.x_max - SOLE.x_min), 0.5 * (SOLE.y_max - SOLE.y_min)])
#: Stiff servos, so that feet land as planned, with a soft regulation: stiff bodies shake.
WALKING: dict[str, Any] = {
    "stiffness": 1.0,
    "momentum_recovery_gain": 0.0,
    "proportional": 0.05,
    "derivative": 0.0,
    "integral": 0.1,
}
#: Slow and short steps; the robot walks 9 cm with four of them.
STROLL: dict[str, Any] = {"single_support": 0.9, "double_support": 0.6, "step_length": 0.12}
BREAKS = 1.5
#: Number of samples over which ε_ZMP is averaged: 20 ms, since cells are noisy.
MEAN = 20


@dataclass
class Run:
    """Recorded quantities, one row per millisecond."""

    fallen: str = ""
    errors: list[complex] = field(default_factory=list)
    zmps: list[tuple[complex, complex]] = field(default_factory=list)
    fallbacks: list[str] = field(default_factory=list)
    trusts: list[float] = field(default_factory=list)
    finite: bool = True
    end: State | None = None
    joints: list[np.ndarray] = field(default_factory=list)

    @property
    def first_fault_time(self) -> float:
        """Time of the first reported fault (s)."""
        return next((i * PERIOD for i, fallback in enumerate(self.fallbacks) if fallback), np.inf)

    def arm_deviations(self, time: float) -> np.ndarray:
        """Deviation of the true arm angles from those at a time (deg), one row per millisecond from then on."""
        arms = [HOAP3.joint(name).q for limb in limbs(HOAP3) if limb.name.endswith(" arm") for name in limb.joints]
        angles = np.array(self.joints)[round(time / PERIOD) :, arms]
        return np.degrees(np.abs(angles - angles[0]).max(axis=1))


def run_balance(
    seconds: float,
    trajectory: ReferenceTrajectory | None = None,
    broken: str = "",
    push: Push | None = None,
    **gains: float,
) -> Run:
    settings = regulation_settings(HOAP3, **gains)
    body = ZmpBalance(HOAP3, trajectory, settings)
    controller = PositionController(body, period=PERIOD)
    plant = MujocoPlant(
        body.start,
        actuators=PositionServos(stiffness_scale=settings.stiffness),
        sensors=Sensors(noise=0.01),
        pushes=[push] if push else [],
        faults=[HardwareFault.parse(broken)] if broken else [],
        seed=1,
    )
    run = Run()
    for _ in range(round(seconds / PERIOD)):
        command = control_step(controller, plant).command
        run.errors.append(zmp_error(body.sole_loads["left"], body.sole_loads["right"]))
        run.zmps.append((body.sole_loads["left"].zmp, body.sole_loads["right"].zmp))
        run.fallbacks.append(command.fallback)
        run.trusts.append(body.fault_detector.trust)
        run.joints.append(plant.truth().q)
        run.finite &= bool(np.isfinite(not_none(command.position)).all() and np.isfinite(command.velocity).all())
        if plant.fallen:
            break
    run.fallen, run.end = plant.fall, plant.truth()
    return run


# -- both scenarios of the paper ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "force",
    [
        pytest.param((25.0, 0.0, 0.0), id="from behind"),
        # Pushed from the side by tests/runs/test_runs_on_servos.py as well.
        pytest.param((0.0, 20.0, 0.0), id="from the side", marks=pytest.mark.slow),
    ],
)
def test_after_a_push_the_zmp_is_back_within_a_second_and_the_arms_stay_down(force: tuple[float, float, float]) -> None:
    """Up to 30 % of its weight for 0.1 s, after it has settled; its arms still drift to their comfort position."""
    time, duration = 4.0, 0.1
    run = run_balance(6.0, push=Push(force, duration, time))
    assert run.fallen == ""
    assert run.first_fault_time == np.inf
    errors = np.abs(np.convolve(run.errors, np.full(MEAN, 1.0 / MEAN), "same"))[:-MEAN]
    pushed, back = round(time / PERIOD), round((time + duration + 1.0) / PERIOD)
    assert errors[pushed - 500 : pushed - MEAN].max() < 0.005
    assert errors[pushed : pushed + 500].max() > 0.01, "it was a push"
    assert errors[back:].max() < 0.005
    assert run.arm_deviations(time).max() < 10.0


def test_after_a_push_that_needs_arms_and_trunk_they_return_within_two_seconds() -> None:
    """Without rotating arms and trunk it falls after a push of 35 N from behind."""
    time, duration = 3.0, 0.1
    run = run_balance(time + duration + 2.0, push=Push((43.0, 0.0, 0.0), duration, time))
    assert run.fallen == ""
    deviations = run.arm_deviations(time)
    assert deviations.max() > 20.0
    assert deviations[-1] < 10.0


def test_squats_keep_the_zmp_well_inside_the_soles() -> None:
    """Two squats of 5 cm in four seconds; "well" is the inner half, in both directions and under both soles."""
    begin = 2.0
    run = run_balance(begin + 4.0, SquatReference(*standing_reference(HOAP3.stance("standing")), 0.05, 0.5, 2, begin))
    assert run.fallen == ""
    assert run.first_fault_time == np.inf
    zmps = np.array(run.zmps[round(begin / PERIOD) :])
    assert np.abs(zmps.real).max() < 0.5 * EDGE_SHARE[0]
    assert np.abs(zmps.imag).max() < 0.5 * EDGE_SHARE[1]


# -- faults ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("dead", "reads no force, although its neighbors do"),
        ("stuck", "is stuck at one value"),
        # Invalid readings are tested in tests/runs/test_runs_on_servos.py as well.
        pytest.param("nan", "gives invalid readings", marks=pytest.mark.slow),
    ],
)
def test_a_faulty_cell_is_reported_and_the_robot_does_not_fall(value: str, words: str) -> None:
    run = run_balance(BREAKS + 1.5, broken=f"cell:left:2:{value}@{BREAKS}")
    assert run.fallen == ""
    assert run.finite
    assert BREAKS <= run.first_fault_time < BREAKS + 0.5
    assert run.fallbacks[-1] == f"no ZMP regulation: the back right force cell of the left sole {words}"
    assert run.trusts[round((BREAKS + 0.75) / PERIOD)] == 0.0


def test_a_weak_knee_that_can_still_carry_the_weight_causes_no_fall() -> None:
    """1.3 of 10 N m are left; with 1.0 N m the robot falls."""
    run = run_balance(BREAKS + 2.5, broken=f"weak:left_knee:0.13@{BREAKS}")
    assert run.fallen == ""
    assert run.finite


def test_a_knee_too_weak_for_the_weight_is_reported_before_the_fall() -> None:
    """With 0.5 N m of torque left, no control of the center of mass helps."""
    run = run_balance(BREAKS + 2.5, broken=f"weak:left_knee:0.05@{BREAKS}")
    assert run.fallen != ""
    assert run.finite
    assert "the servo of left_knee is saturated and does not follow" in run.fallbacks[-1]


# -- walking -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("broken", ["", "swapped@1"], ids=["healthy", "with swapped soles"])
def test_it_walks_four_steps(broken: str) -> None:
    """Swapped soles are detected when all weight should be on one foot; the walk continues without regulation."""
    trajectory = neutral_walk(HOAP3, 4, **STROLL)
    run = run_balance(trajectory.seconds, trajectory, broken, **WALKING)
    assert run.fallen == ""
    assert run.finite
    goal = trajectory.center(trajectory.seconds)[0]
    assert run.end is not None
    # Soles slip by some millimeters at each step.
    assert run.end.center_of_mass == pytest.approx(goal, abs=0.01)
    if not broken:
        assert run.first_fault_time == np.inf
        return
    assert 1.0 <= run.first_fault_time < trajectory.phases[2].begin + 0.5
    assert run.fallbacks[-1].endswith(
        "the force cells measure the weight on the wrong foot: left and right are swapped"
    )
    assert run.trusts[-1] == 0.0
