"""Friction learnt from slips: known slips of a known body, noise, feet that roll, and walks on ice."""

from __future__ import annotations

import math

import numpy as np
import pytest
from standing_hierarchies import standing

from poise import constraints
from poise.control import TorqueController
from poise.control.friction_estimate import USED_SHARE, FrictionEstimate
from poise.plants import MujocoPlant, Push, Sensors, steps
from poise.robots import State
from poise.runs import Walk
from poise.state import Contact, ContactForces, Imu, SensorReadings, Snapshot
from simulated_robots import biped

ROBOT = biped()
LEFT = Contact(ROBOT.feet[0])
WEIGHT = 9.81 * ROBOT.mass
SLIDING = np.eye(ROBOT.model.nv)[0] * 0.2


def readings(state: State, force: np.ndarray, moment: np.ndarray) -> SensorReadings:
    """Readings of a robot whose left sole has a force and a moment about its middle."""
    middle = state.pose(ROBOT.feet[0]).act(ROBOT.feet[0].sole.center)
    forces = ContactForces((ROBOT.feet[0].name,), np.concatenate([force, moment])[None], middle[None])
    imu = Imu(np.array([0.0, 0.0, 0.0, 1.0]), np.zeros(3), np.zeros(3))
    return SensorReadings(forces, {}, imu, state.q[7:], state.v[6:], state)


def estimate(
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0),
    yaw_rate: float = 0.0,
    force: tuple[float, float, float] = (0.0, 0.0, 0.5),
    moment: tuple[float, float, float] = (0.0, 0.0, 0.0),
    noise: float = 0.0,
    ticks: int = 100,
) -> float:
    """Estimated μ of a robot that moves as a rigid body; force and moment in units of its weight."""
    start, snapshot, friction = ROBOT.stance("standing"), Snapshot(ROBOT), FrictionEstimate()
    random = np.random.default_rng(0)
    sole = start.pose(ROBOT.feet[0]).act(ROBOT.feet[0].sole.center) - start.q[:3]
    v = np.zeros(ROBOT.model.nv)
    v[:3] = np.array(velocity) - np.cross([0.0, 0.0, yaw_rate], sole)  # the sole turns about its middle
    v[5] = yaw_rate
    for tick in range(ticks):
        measured = v + noise * random.standard_normal(ROBOT.model.nv)
        state = start.replace(v=measured, time=0.002 * tick)
        at = readings(state, WEIGHT * np.array(force), WEIGHT * np.array(moment))
        friction.update(snapshot.at(state), (LEFT,), at)
    return friction.value


def test_the_force_ratio_of_a_sliding_sole_is_the_friction() -> None:
    assert estimate((0.2, 0.0, 0.0), force=(-0.1, 0.0, 0.5)) == pytest.approx(0.2, abs=0.005)
    assert estimate((-0.1, 0.1, 0.0), force=(0.1, -0.1, 0.5)) == pytest.approx(0.2 * math.sqrt(2.0), abs=0.005)


def test_a_sole_that_turns_on_its_place_slips_against_its_yaw_moment() -> None:
    lever = 0.6 * LEFT.radius
    assert estimate(yaw_rate=3.0, moment=(0.0, 0.0, -0.1 * lever)) == pytest.approx(0.2, abs=0.005)
    assert estimate(yaw_rate=3.0, moment=(0.0, 0.0, 0.1 * lever)) == math.inf


def test_a_sole_that_turns_on_its_toe_teaches_nothing_and_one_that_slides_on_it_does() -> None:
    toe = LEFT.outline[:, 0].max()
    pressure = (0.0, -0.5 * toe, -0.01 * toe)  # all of the force at the toe, which resists yaw little
    to_middle = 3.0 * toe  # velocity of the middle of a sole that turns about its toe
    assert estimate((0.0, -to_middle, 0.0), yaw_rate=3.0, force=(0.0, 0.0, 0.5), moment=pressure) == math.inf
    sliding = estimate((0.2, 0.0, 0.0), force=(-0.1, 0.0, 0.5), moment=(0.0, -0.5 * toe, 0.0))
    assert sliding == pytest.approx(0.2, abs=0.005)


def test_a_slip_that_ends_does_not_lower_the_friction() -> None:
    """The force ratio of a sole falls while parts of it hold already."""
    start, snapshot, friction = ROBOT.stance("standing").replace(v=SLIDING), Snapshot(ROBOT), FrictionEstimate()
    for tick in range(60):
        state, ratio = start.replace(time=0.002 * tick), 0.2 - 0.002 * max(tick - 30, 0)
        force = WEIGHT * np.array([-0.5 * ratio, 0.0, 0.5])
        friction.update(snapshot.at(state), (LEFT,), readings(state, force, np.zeros(3)))
    assert friction.value == pytest.approx(0.2, abs=0.003)


def test_a_sole_that_holds_lifts_lands_or_is_pulled_along_teaches_nothing() -> None:
    assert estimate(force=(-0.1, 0.0, 0.5)) == math.inf
    assert estimate((0.0, 0.0, 0.3), force=(-0.1, 0.0, 0.5)) == math.inf
    assert estimate((0.2, 0.0, 0.0), force=(-0.001, 0.0, 0.01)) == math.inf  # it bears nothing
    assert estimate((0.2, 0.0, 0.0), force=(0.1, 0.0, 0.5)) == math.inf  # the force drives it
    assert estimate((0.2, 0.0, 0.0), force=(0.0, -0.1, 0.5)) == math.inf
    assert estimate((0.2, 0.0, 0.0), force=(math.nan, 0.0, 0.5)) == math.inf
    assert estimate((0.2, 0.0, 0.0), force=(-0.1, 0.0, 0.5), ticks=5) == math.inf  # too short


def test_noise_of_a_sole_that_holds_is_no_slip() -> None:
    for noise in (0.01, 0.1, 0.5):
        assert estimate(force=(-0.02, 0.0, 0.5), noise=noise, ticks=500) == math.inf


def test_the_estimate_grows_again_without_slip() -> None:
    start, snapshot, friction = ROBOT.stance("standing"), Snapshot(ROBOT), FrictionEstimate()
    friction.value = 0.2
    for tick in range(1001):
        state = start.replace(time=0.002 * tick)
        friction.update(snapshot.at(state), (LEFT,), readings(state, np.array([0.0, 0.0, WEIGHT]), np.zeros(3)))
    assert friction.value == pytest.approx(0.2 + 2.0 * 0.02, abs=1e-4)
    assert friction.limit(0.7) == pytest.approx(USED_SHARE * friction.value)
    assert friction.limit(0.1) == 0.1


# -- in the controller -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("forces", ["wrench", "vertices", "normals"])
def test_planned_forces_stay_inside_the_narrowed_cone(forces: str) -> None:
    start = ROBOT.stance("standing")
    contacts = [Contact(foot, forces=forces) for foot in ROBOT.feet]  # type: ignore[arg-type]
    hierarchy = standing(start, contacts)
    if forces == "normals":
        hierarchy = hierarchy.replace(always=[*hierarchy.always, *map(constraints.FrictionCone, contacts)])
    # Pushed ahead: the center of mass is to stop, which needs friction.
    v = np.zeros(ROBOT.model.nv)
    v[0] = 0.8
    ratios = []
    for friction in (math.inf, 0.3):
        controller = TorqueController(hierarchy)
        controller.step(start)
        controller._friction.value = friction
        controller.update_sensors(readings(start, np.zeros(3), np.zeros(3)))
        command = controller.step(start.replace(v=v, time=0.002))
        assert command.forces is not None
        total = command.forces.total
        ratios.append(math.hypot(total[0], total[1]) / total[2])
    assert ratios[0] > 0.3
    assert ratios[1] <= USED_SHARE * 0.3 + 1e-3
    assert ratios[1] > 0.5 * USED_SHARE * 0.3


@pytest.mark.needs_models
@pytest.mark.parametrize(("noise", "friction"), [(0.0, 0.2), (0.01, 0.2)])
def test_g1_learns_the_friction_of_ice_and_walks_on_it(noise: float, friction: float) -> None:
    """Feet that roll tip and turn while they slip: the estimate is within a tenth here; 0.15 is learnt as 0.114."""
    setup = Walk(steps=6, speed=(0.3, 0.0, 0.0), friction=friction, noise=noise).build()  # type: ignore[call-arg]
    lowest = math.inf
    for _ in steps(setup.controller, setup.plant, setup.seconds):
        lowest = min(lowest, setup.controller.friction)  # type: ignore[attr-defined]
    assert not setup.plant.fallen
    assert lowest == pytest.approx(friction, rel=0.25 if noise else 0.1)


@pytest.mark.needs_models
def test_a_push_on_dry_ground_does_not_narrow_the_friction() -> None:
    setup = Walk(steps=0, seconds=2.0).build()  # type: ignore[call-arg]
    plant = MujocoPlant(setup.plant.state(), sensors=Sensors(noise=0.01), pushes=[Push((0, 150, 0), 0.1, time=0.5)])
    for _ in steps(setup.controller, plant, 2.0):
        assert setup.controller.friction > 0.78  # type: ignore[attr-defined]
    assert not plant.fallen
