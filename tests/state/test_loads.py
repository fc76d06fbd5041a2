"""A snapshot that carries loads equals one of a robot whose links are as much heavier."""

import numpy as np
import pinocchio
import pytest

from poise.errors import StateError
from poise.robots import Frame, State
from poise.state import DYNAMICS, Snapshot
from robot_states import installed_robot

ROBOT = installed_robot("g1")
LOADS: dict[Frame, float] = {ROBOT.hand("left"): 2.0, ROBOT.hand("right"): 0.7}


def moving_state(seed: int) -> State:
    random = np.random.default_rng(seed)
    q = pinocchio.integrate(ROBOT.model, ROBOT.stance("standing").q, random.normal(0.0, 0.2, ROBOT.model.nv))
    return State(ROBOT, q, random.normal(0.0, 0.5, ROBOT.model.nv))


def loaded_model() -> pinocchio.Model:
    """The model with a heavy small ball welded to each hand, by pinocchio's own composition of bodies."""
    model = pinocchio.Model(ROBOT.model)
    for frame, mass in LOADS.items():
        placement = model.frames[frame.index].placement
        model.appendBodyToJoint(frame.joint, pinocchio.Inertia.FromSphere(mass, 1e-6), placement)
    return model


def test_dynamics_momentum_and_center_of_mass_include_the_loads() -> None:
    model, state = loaded_model(), moving_state(0)
    data, v = model.createData(), state.v
    snapshot = Snapshot(ROBOT)
    snapshot.at(state).compute(DYNAMICS)
    snapshot.carry(LOADS)
    np.testing.assert_allclose(snapshot.mass_matrix, _symmetric(pinocchio.crba(model, data, state.q)), atol=1e-9)
    np.testing.assert_allclose(
        snapshot.nonlinear_effects, pinocchio.nonLinearEffects(model, data, state.q, v), atol=1e-8
    )
    np.testing.assert_allclose(snapshot.center_of_mass, pinocchio.centerOfMass(model, data, state.q, v), atol=1e-12)
    np.testing.assert_allclose(snapshot.center_of_mass_velocity, data.vcom[0], atol=1e-12)
    momentum = pinocchio.computeCentroidalMomentum(model, data, state.q, v)
    np.testing.assert_allclose(snapshot.momentum, momentum.vector, atol=1e-9)
    rate = pinocchio.computeCentroidalMomentumTimeVariation(model, data, state.q, v, np.zeros(model.nv))
    np.testing.assert_allclose(snapshot.momentum_drift, rate.vector, atol=1e-8)
    pinocchio.centerOfMass(model, data, state.q, v, np.zeros(model.nv))
    np.testing.assert_allclose(snapshot.center_of_mass_drift, data.acom[0], atol=1e-9)


def _symmetric(upper: np.ndarray) -> np.ndarray:
    return np.triu(upper) + np.triu(upper, 1).T


def test_loads_are_replaced_and_removed_and_no_other_snapshot_carries_them() -> None:
    state = moving_state(1)
    bare, snapshot = Snapshot(ROBOT).at(state), Snapshot(ROBOT).at(state)
    snapshot.carry(LOADS)
    hand: Frame = ROBOT.hand("left")
    snapshot.carry({hand: 1.0})
    assert np.abs(snapshot.mass_matrix - bare.mass_matrix).max() > 0.1
    snapshot.carry({})
    np.testing.assert_allclose(snapshot.mass_matrix, Snapshot(ROBOT).at(state).mass_matrix, atol=1e-12)
    np.testing.assert_allclose(snapshot.center_of_mass, bare.center_of_mass, atol=1e-14)


@pytest.mark.parametrize("mass", [-1.0, float("nan"), float("inf")])
def test_a_load_is_a_finite_mass(mass: float) -> None:
    with pytest.raises(StateError, match="expected a mass in kg"):
        Snapshot(ROBOT).carry({ROBOT.hand("left"): mass})
