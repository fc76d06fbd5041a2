"""Sensor faults: faulty force cells and servos are detected soon and named, without false alarms."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from poise.behaviors import ZmpBalance
from poise.behaviors.sensor_faults import CHECK_PERIOD, SensorFaultDetector
from poise.robots import Foot
from robot_states import installed_robot
from zmp_balance_runs import PERIOD, cell_forces, observe_cells

HOAP3 = installed_robot("hoap3")
WEIGHT = 9.81 * HOAP3.mass
FEET = tuple(HOAP3.foot(side) for side in ("left", "right"))
#: Noise of healthy cells (N): `Sensors` has 20 s with s = 0.01.
NOISE = 0.2
#: Times (s) within which a fault is detected, and within which the regulation has ended.
SOON, GONE = 0.5, 0.2
CORNERS = ("front left", "back left", "back right", "front right")
ROBOTS = pytest.mark.parametrize("name", ["hoap3", "nao", "g1", "talos"])
SEEDS = pytest.mark.parametrize("seed", range(4))
#: From (time, 2 x 4 cells of left and right) to the faulty readings.
Fault = Callable[[float, np.ndarray], np.ndarray]


class StandingRobot:
    """A standing robot whose cells and servos are monitored by a `SensorFaultDetector`."""

    def __init__(self, seed: int = 0, name: str = "hoap3", noise: float = NOISE, grain: float = 0.0) -> None:
        self.robot = installed_robot(name)
        self.fault_detector = SensorFaultDetector(self.robot)
        self.feet = tuple(self.robot.foot(side) for side in ("left", "right"))
        self.weight = 9.81 * self.robot.mass
        self.noise, self.grain = noise * self.weight / WEIGHT, grain
        self.random = np.random.default_rng(seed)
        self.time = 0.0
        self.trusts: list[float] = []
        # Weight anywhere in the middle third of either sole.
        self.places = [self.random.uniform(-1.0, 1.0, 2) / 3.0 * half_size(foot) for foot in self.feet]

    def healthy_forces(self, share: float) -> np.ndarray:
        """Readings of healthy cells, with this share of the weight on the left foot."""
        parts = zip(self.feet, (share, 1.0 - share), self.places, strict=True)
        cells = np.array([cell_forces(foot, part * self.weight, place) for foot, part, place in parts])
        overwrite = np.maximum(cells + self.random.normal(0.0, self.noise, (2, 4)), 0.0)
        return self.grain * np.round(overwrite / self.grain) if self.grain else overwrite

    def time_until_fault(
        self,
        seconds: float,
        fault: Fault = lambda time, cells: cells,
        share: Callable[[float], float] = lambda time: 0.5,
        lags: np.ndarray | None = None,
    ) -> float:
        """Run for some seconds; return the time until the first fault, from the start of this run."""
        found, behind = np.inf, np.zeros(len(self.robot.joints)) if lags is None else lags
        for i in range(round(seconds / PERIOD)):
            self.time += PERIOD
            overwrite = fault(self.time, self.healthy_forces(share(self.time)))
            cells = {foot.name: row for foot, row in zip(self.feet, overwrite, strict=True)}
            self.fault_detector.update(cells, behind, share(self.time), PERIOD)
            self.trusts.append(self.fault_detector.trust)
            if self.fault_detector.faults and not np.isfinite(found):
                found = i * PERIOD
        return found


def half_size(foot: Foot) -> np.ndarray:
    """Half length and half width of a sole (m)."""
    return np.abs(foot.corners - foot.sole.center)[0, :2]


def set_cell(foot: int, corner: int, value: float) -> Fault:
    """A fault that replaces the reading of one cell."""

    def overwrite(time: float, cells: np.ndarray) -> np.ndarray:
        cells[foot, corner] = value
        return cells

    return overwrite


# -- detected faults ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.0, "reads no force, although its neighbors do"),
        (7.25, "is stuck at one value"),
        (np.nan, "gives invalid readings"),
        (np.inf, "gives invalid readings"),
        (-np.inf, "gives invalid readings"),
    ],
)
@pytest.mark.parametrize("foot", [0, 1])
@pytest.mark.parametrize("corner", range(4))
def test_a_broken_cell_is_found_and_named(foot: int, corner: int, value: float, words: str) -> None:
    robot = StandingRobot(seed=corner)
    robot.places = [np.zeros(2), np.zeros(2)]
    assert robot.time_until_fault(0.5) == np.inf
    assert robot.fault_detector.trust == pytest.approx(1.0)
    assert robot.time_until_fault(SOON, set_cell(foot, corner, value)) < SOON
    side = ("left", "right")[foot]
    assert robot.fault_detector.faults == [f"the {CORNERS[corner]} force cell of the {side} sole {words}"]
    robot.time_until_fault(GONE + PERIOD)
    assert robot.fault_detector.trust == 0.0
    assert robot.time_until_fault(1.0) == 0.0, "a faulty cell stays faulty"


@ROBOTS
@pytest.mark.parametrize("value", [0.0, np.nan])
def test_a_broken_cell_is_found_on_every_robot(name: str, value: float) -> None:
    robot = StandingRobot(name=name)
    assert robot.time_until_fault(0.5) == np.inf
    assert robot.time_until_fault(SOON, set_cell(1, 2, value)) < SOON


def test_the_corners_are_named_by_their_position() -> None:
    for (front, side), corner in zip([(1, 1), (-1, 1), (-1, -1), (1, -1)], FEET[0].corners, strict=True):
        assert np.sign(corner[:2]).tolist() == [front, side]


@SEEDS
def test_swapped_feet_are_found_once_the_weight_is_on_one_of_them(seed: int) -> None:
    robot = StandingRobot(seed)
    assert robot.time_until_fault(1.0, lambda time, cells: cells[::-1]) == np.inf, (
        "undetectable with half of the weight on each foot"
    )
    assert robot.time_until_fault(SOON, lambda time, cells: cells[::-1], share=lambda time: 0.9) < SOON
    (words,) = robot.fault_detector.faults
    assert words == "the force cells measure the weight on the wrong foot: left and right are swapped"
    robot.time_until_fault(GONE + PERIOD)
    assert robot.fault_detector.trust == 0.0


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_saturated_servo_is_reported_by_name_and_cleared_when_it_follows_again(sign: float) -> None:
    robot = StandingRobot()
    knee = next(i for i, joint in enumerate(HOAP3.joints) if joint.name == "left_knee")
    lags = np.zeros(28)
    assert robot.time_until_fault(0.5, lags=lags) == np.inf
    lags[knee] = sign * HOAP3.servos.saturation_error
    assert robot.time_until_fault(SOON, lags=lags) < SOON
    assert robot.fault_detector.faults == ["the servo of left_knee is saturated and does not follow"]
    assert robot.fault_detector.trust == 0.0
    lags[knee] *= 0.7  # between both thresholds: unchanged
    assert robot.time_until_fault(0.2, lags=lags) == 0.0
    lags[knee] *= 0.5
    robot.time_until_fault(GONE + CHECK_PERIOD + 2 * PERIOD, lags=lags)
    assert robot.fault_detector.faults == []
    assert robot.fault_detector.trust == pytest.approx(1.0)


def test_a_servo_that_lags_briefly_is_not_reported() -> None:
    """Every knee lags while a foot lands."""
    robot, lags = StandingRobot(), np.full(28, HOAP3.servos.saturation_error)
    for _ in range(5):
        assert robot.time_until_fault(0.08, lags=lags) == np.inf
        assert robot.time_until_fault(0.02) == np.inf


def test_arms_that_are_held_do_not_end_the_regulation() -> None:
    robot, lags = StandingRobot(), np.zeros(28)
    arms = [i for i, joint in enumerate(HOAP3.joints) if "shoulder" in joint.name or "elbow" in joint.name]
    lags[arms] = 1.0
    assert robot.time_until_fault(1.0, lags=lags) == np.inf


def test_soft_servos_may_lag_further() -> None:
    lags = np.full(28, 5.0 * HOAP3.servos.saturation_error)
    overwrite = {foot.name: cell_forces(foot, 0.5 * WEIGHT, (0.0, 0.0)) for foot in FEET}
    for stiffness, tired in ((1.0, True), (0.1, False)):
        fault_detector = SensorFaultDetector(HOAP3, stiffness)
        for _ in range(200):
            fault_detector.update(overwrite, lags, 0.5, PERIOD)
        assert bool(fault_detector.faults) is tired


# -- no false alarms ---------------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 10_000), noise=st.floats(0.01, 2.0 * NOISE))
def test_healthy_cells_at_rest_cause_no_fault(seed: int, noise: float) -> None:
    robot = StandingRobot(seed, noise=noise)
    assert robot.time_until_fault(0.6) == np.inf, robot.fault_detector.faults
    assert robot.fault_detector.trust == pytest.approx(1.0)


@pytest.mark.parametrize(("noise", "grain"), [(0.02, 0.1), (0.02, 0.5), (NOISE, 0.25), (NOISE, 1.0)])
@SEEDS
def test_healthy_cells_with_coarse_resolution_cause_no_fault(seed: int, noise: float, grain: float) -> None:
    """A cell in the middle of a quantization step is constant for seconds, while others at its edge change."""
    assert StandingRobot(seed, noise=noise, grain=grain).time_until_fault(2.0) == np.inf


@given(seed=st.integers(0, 10_000), frequency=st.floats(0.5, 2.0))
def test_healthy_cells_cause_no_fault_during_weight_transfer(seed: int, frequency: float) -> None:
    """Slowly and fast, until one foot is lifted and its cells measure only noise."""
    robot = StandingRobot(seed)

    def share(time: float) -> float:
        return float(np.clip(0.5 + 0.7 * np.sin(2.0 * np.pi * frequency * time), 0.0, 1.0))

    assert robot.time_until_fault(1.0, share=share) == np.inf, robot.fault_detector.faults


@SEEDS
def test_cells_without_noise_cause_no_fault(seed: int) -> None:
    robot = StandingRobot(seed, noise=0.0)
    assert robot.time_until_fault(0.5) == np.inf
    assert robot.time_until_fault(1.0, share=lambda time: 1.0) == np.inf


@SEEDS
def test_a_rocking_sole_causes_no_fault(seed: int) -> None:
    """It stands on three corners for a quarter of a second at a time, each time on others."""
    robot = StandingRobot(seed)

    def rocking(time: float, cells: np.ndarray) -> np.ndarray:
        cells[0, int(time / 0.25) % 4] = 0.0
        return cells

    assert robot.time_until_fault(2.0, rocking) == np.inf


# -- trust -------------------------------------------------------------------------------------------------------------


def test_trust_rises_and_falls_within_a_fifth_of_a_second_without_jumps() -> None:
    robot = StandingRobot()
    robot.time_until_fault(0.3)
    robot.time_until_fault(0.3, set_cell(0, 0, np.nan))
    trusts = np.array(robot.trusts)
    assert np.abs(np.diff(trusts, prepend=0.0)).max() <= PERIOD / GONE + 1e-12
    assert trusts[round(GONE / PERIOD) + 1] == pytest.approx(1.0)
    assert trusts[300 + round(GONE / PERIOD) + 1] == 0.0
    assert (trusts >= 0.0).all()
    assert (trusts <= 1.0).all()


def test_without_regulation_there_is_neither_trust_nor_a_fault() -> None:
    fault_detector, overwrite = SensorFaultDetector(HOAP3), {foot.name: np.full(4, 10.0) for foot in FEET}
    for _ in range(300):
        fault_detector.update(overwrite, None, 0.5, PERIOD, regulating=False)
    assert (fault_detector.trust, fault_detector.faults) == (0.0, [])


# -- nothing is NaN ----------------------------------------------------------------------------------------------------

ANYTHING = st.floats(allow_nan=True, allow_infinity=True)


@example(left=[0.0] * 4, right=[0.0, 0.0, 1e308, 1e308])  # finite numbers with an infinite sum
@given(left=st.lists(ANYTHING, min_size=4, max_size=4), right=st.lists(ANYTHING, min_size=4, max_size=4))
def test_any_cell_readings_leave_all_outputs_finite(left: list[float], right: list[float]) -> None:
    body = ZmpBalance(HOAP3)
    with np.errstate(all="ignore"):
        observe_cells(body, lambda time: {"left": left, "right": right}, 0.02)
        observe_cells(body, lambda time: {"left": right, "right": left}, 0.02)
    assert np.isfinite([body.regulator.shift, body.regulator.error, body.fault_detector.trust]).all()
    assert np.isfinite(body.task_set.center.value).all()
    assert all(np.isfinite([sole.force, sole.zmp]).all() for sole in body.sole_loads.values())


def test_a_foot_without_readings_is_reported_as_four_faulty_cells() -> None:
    fault_detector = SensorFaultDetector(HOAP3)
    fault_detector.update({FEET[0].name: np.full(4, 10.0)}, None, 0.5, PERIOD)
    assert len(fault_detector.faults) == 4
    assert all("right sole gives invalid readings" in words for words in fault_detector.faults)
