"""docs/dynamics.md: its program prints the output on the page, and both sides of every displayed equation agree."""

import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pinocchio
import pytest
from standing_hierarchies import AcceleratingTarget
from test_friction_estimate import LEFT as SLIPPING_SOLE
from test_friction_estimate import estimate

from contact_states import forward_dynamics
from poise import constraints, tasks
from poise.control import Command, DampedHold, TorqueController
from poise.control.friction_estimate import MIN_FRICTION
from poise.control.torque_control import HOLD_RATE
from poise.hierarchy import Hierarchy, Level
from poise.robots import State
from poise.state import Contact, Snapshot
from robot_states import installed_robot, integrate_state, not_none, random_state
from test_readme import block, numbers, words

ROBOT = installed_robot("g1")
LEFT = Contact(ROBOT.foot("left"))
RIGHT = Contact(ROBOT.foot("right"), forces="normals")
HAND = Contact(ROBOT.hand("left"), normal=(0.0, 0.0, 1.0))
K = 25.0


@cache
def sample_command() -> tuple[State, Command]:
    """Both feet slide a little and stop, a hand may only leave its surface, and the body accelerates."""
    start = ROBOT.stance("standing")
    state = start.replace(v=np.random.default_rng(3).normal(0.0, 0.05, ROBOT.model.nv))
    hierarchy = Hierarchy(
        always=[constraints.NonPenetration(HAND, damping=K)],
        levels=[
            Level("contact", [constraints.RigidContact(contact, damping=K) for contact in (LEFT, RIGHT)]),
            Level("push", [tasks.CenterOfMass(AcceleratingTarget(start.center_of_mass, (2.0, 1.0, 0.0)))]),
            Level("posture", [tasks.Posture(start)]),
        ],
    )
    command = TorqueController(hierarchy).step(state)
    assert command.fallback == ""
    return state, command


def in_contact_axes(contact: Contact) -> tuple[np.ndarray, np.ndarray]:
    """Force and moment of a contact, in its own axes (N, N m)."""
    state, command = sample_command()
    R = (state.pose(contact.frame) * contact.frame_from_contact).rotation
    f, m = np.split(not_none(command.forces)[contact.name], 2)
    return R.T @ f, R.T @ m


def jacobian(state: State, contact: Contact, point: np.ndarray) -> np.ndarray:
    """Jacobian of a point fixed to the contact's body, given in its frame, in world axes, by pinocchio alone."""
    model, data = ROBOT.model, ROBOT.model.createData()
    pinocchio.computeJointJacobians(model, data, state.q)
    pinocchio.updateFramePlacements(model, data)
    J = pinocchio.getFrameJacobian(model, data, contact.frame.index, pinocchio.LOCAL_WORLD_ALIGNED)
    arm = data.oMf[contact.frame.index].rotation @ point
    return np.vstack([J[:3] - pinocchio.skew(arm) @ J[3:], J[3:]])


def drift(state: State, contact: Contact, point: np.ndarray) -> np.ndarray:
    """J̇ v by differences along the motion."""
    step = 1e-5
    ahead, behind = (jacobian(integrate_state(state, state.v, s), contact, point) @ state.v for s in (step, -step))
    return (ahead - behind) / (2 * step)


def check_equation_of_motion() -> None:
    state, command = sample_command()
    model, data = ROBOT.model, ROBOT.model.createData()
    M = pinocchio.crba(model, data, state.q)
    M = np.triu(M) + np.triu(M, 1).T
    h = pinocchio.nonLinearEffects(model, data, state.q, state.v)
    right = np.concatenate([np.zeros(6), command.torque])
    for contact in (LEFT, RIGHT, HAND):
        middle = contact.frame_from_contact.translation
        right += jacobian(state, contact, middle).T @ not_none(command.forces)[contact.name]
    assert M @ command.acceleration + h == pytest.approx(right, abs=1e-7)


def check_friction() -> None:
    for contact in (LEFT, RIGHT, HAND):
        f, _ = in_contact_axes(contact)
        assert np.abs(f[:2]).max() <= contact.friction / np.sqrt(2.0) * f[2] + 1e-7


def check_yaw_moment() -> None:
    for contact in (LEFT, RIGHT):
        (fx, fy, fz), (mx, my, mz) = in_contact_axes(contact)
        (X, Y), mu = not_none(contact.rectangle), contact.friction / np.sqrt(2.0)
        assert mz >= -mu * (X + Y) * fz + abs(Y * fx - mu * mx) + abs(X * fy - mu * my) - 1e-7
        assert mz <= mu * (X + Y) * fz - abs(Y * fx + mu * mx) - abs(X * fy + mu * my) + 1e-7


def check_normal_forces() -> None:
    _, command = sample_command()
    assert not_none(command.forces).names == (HAND.name, LEFT.name, RIGHT.name)
    first = ROBOT.model.nv + HAND.size + LEFT.size
    normals = ROBOT.mass * not_none(command.solution).x[first + 6 : first + RIGHT.size]
    f, m = in_contact_axes(RIGHT)
    x, y = RIGHT.outline.T
    assert f[2] == pytest.approx(normals.sum(), abs=1e-7)
    assert m[:2] == pytest.approx([y @ normals, -x @ normals], abs=1e-7)


def check_contact_damping() -> None:
    state, command = sample_command()
    for contact in (LEFT, RIGHT):
        middle = contact.frame_from_contact.translation
        J = jacobian(state, contact, middle)
        right = -drift(state, contact, middle) - K * (J @ state.v)
        assert J @ command.acceleration == pytest.approx(right, abs=1e-6)


def check_corner_accelerations() -> None:
    state, command = sample_command()
    n, corner = np.array([0.0, 0.0, 1.0]), np.zeros(3)
    J = jacobian(state, HAND, corner)[:3]
    assert n @ (J @ command.acceleration + drift(state, HAND, corner)[:3]) >= -K * n @ (J @ state.v) - 1e-6


def check_hold_damping() -> None:
    """In the air, without contacts: accelerations by pinocchio from the torques of the hold."""
    start = random_state(ROBOT, 1, speed=0.2).replace(contacts=())
    snapshot = Snapshot(ROBOT).at(start)
    hold = DampedHold(snapshot, (), 0.002)
    later = integrate_state(start, start.v, 0.05)
    torque = hold.torque(not_none(snapshot.at(later).state))
    found = forward_dynamics(later, torque, {})[6:]
    assert found == pytest.approx(-(HOLD_RATE**2) * (later.q - start.q)[7:] - 2.0 * HOLD_RATE * later.v[6:], abs=1e-6)


def check_friction_of_slips() -> None:
    """Random slips of a sole, some against its friction and some not, with yaw."""
    rng, counts = np.random.default_rng(3), [0, 0]
    lever = 0.6 * SLIPPING_SOLE.radius
    for _ in range(40):
        force, moment = rng.uniform(-0.15, 0.15, 2), lever * float(rng.uniform(-0.15, 0.15))
        slip = 0.2 * rng.normal(size=3) if rng.random() < 0.3 else -np.array([*force, moment / lever])
        velocity, yaw_rate = slip[:2], float(slip[2]) / lever
        strength = float(np.hypot(np.hypot(*force), moment / lever))
        speed = float(np.hypot(np.hypot(*velocity), lever * yaw_rate))
        alignment = float(force @ velocity + moment * yaw_rate) / (strength * speed)
        if abs(alignment + 0.9) < 0.02 or speed < 0.05:
            continue  # near the threshold
        found = estimate((*velocity, 0.0), yaw_rate, (*force, 0.5), (0.0, 0.0, moment))
        counts[alignment < -0.9] += 1
        expected = max(strength / 0.5, MIN_FRICTION) if alignment < -0.9 else np.inf
        assert found == pytest.approx(expected, abs=0.005)
    assert min(counts) > 3


EQUATIONS: dict[str, Callable[[], None]] = {
    "M v̇ + h = (0, τ) + Σ J_cᵀ φ_c": check_equation_of_motion,
    "|f_x|, |f_y| <= μ' f_z": check_friction,
    "m_z >= -μ'(X+Y) f_z + |Y f_x - μ' m_x| + |X f_y - μ' m_y|": check_yaw_moment,
    "m_z <=  μ'(X+Y) f_z - |Y f_x + μ' m_x| - |X f_y + μ' m_y|": check_yaw_moment,
    "f_z = Σ f⊥_i        m_x = Σ y_i f⊥_i        m_y = -Σ x_i f⊥_i": check_normal_forces,
    "J v̇ = -J̇ v - k J v": check_contact_damping,
    "nᵀ (J_i v̇ + J̇_i v) >= -k nᵀ J_i v": check_corner_accelerations,
    "μ = √(f_x² + f_y² + (m / l)²) / f_z      if  f_x v_x + f_y v_y + m ω <= "
    "-0.9 √(f_x² + f_y² + (m / l)²) √(v_x² + v_y² + (l ω)²)": check_friction_of_slips,
    "v̇ = -ω² e - 2 ω ė": check_hold_damping,
}


@pytest.mark.parametrize("equation", EQUATIONS)
def test_both_sides_of_every_equation_agree(equation: str) -> None:
    EQUATIONS[equation]()


def test_these_are_all_equations_of_the_page(root: Path) -> None:
    page = re.sub(r"^```.*?^```", "", (root / "docs/dynamics.md").read_text(), flags=re.MULTILINE | re.DOTALL)
    assert re.findall(r"^ {4}(\S.*)$", page, flags=re.MULTILINE) == list(EQUATIONS)


def test_the_program_of_the_page_prints_the_output_on_the_page(root: Path) -> None:
    text = (root / "docs/dynamics.md").read_text()
    result = subprocess.run([sys.executable, "-c", block(text, "python")], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert words(result.stdout) == words(block(text, "text"))
    assert numbers(result.stdout) == pytest.approx(numbers(block(text, "text")), rel=0.02)
