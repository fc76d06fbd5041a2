"""Carried box: its weight, its pose between the hands, and the load on both arms."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import mujoco
import numpy as np
import pytest

from poise import PositionController, TorqueController
from poise.behaviors import Squat, SquatSettings, Stand
from poise.control import Command
from poise.errors import RobotError
from poise.plants import CarriedBox, MujocoPlant, PlantError, PositionServos, Table, steps
from poise.robots import Robot, load_robot
from simulated_robots import airborne_state, biped, run_torques
from small_robots import BIPED, BIPED_PARTS, write_urdf

SHARE = 0.1


@cache
def biped_with_hands() -> Robot:
    """The small biped with two hands, both on its trunk."""
    hands = {"hands": {"frame": "head", "name": "{side}_hand", "position": [0.2, 0.15, -0.2]}}
    with TemporaryDirectory() as folder:
        return load_robot(write_urdf(Path(folder), BIPED), **{**BIPED_PARTS, **hands})


def middle_of_hands(plant: MujocoPlant) -> np.ndarray:
    """Middle of the hands at the last step of the engine (m)."""
    return np.mean([plant.data.site(hand.name).xpos for hand in plant.robot.hands], axis=0)


def box_forces(plant: MujocoPlant) -> np.ndarray:
    """Forces of the box on the left and the right hand, in world axes (2, 3, N)."""
    assert (plant.data.efc_type[:12] == mujoco.mjtConstraint.mjCNSTR_EQUALITY).all()
    return plant.data.efc_force[:12].reshape(2, 6)[:, :3]


@pytest.fixture(
    scope="module",
    params=["hoap3", "nao", pytest.param("g1", marks=pytest.mark.needs_models)],
    ids=["hoap3", "nao", "g1"],
)
def carrying_robot(request: pytest.FixtureRequest) -> tuple[MujocoPlant, list[float], list[float]]:
    """A robot that stood for 3 s with a tenth of its mass in its hands; positions and tilts of the box."""
    robot = load_robot(request.param)
    stand = Stand(robot, start=robot.stance("carrying"))
    plant = MujocoPlant(stand.start, carried_box=CarriedBox.of_mass_fraction(robot, SHARE))
    away, turned = [], []
    for _ in steps(TorqueController(stand), plant, 3.0):
        away.append(float(np.linalg.norm(plant.data.body("carried").xpos - middle_of_hands(plant))))
        line = plant.data.site(robot.hand("left").name).xpos - plant.data.site(robot.hand("right").name).xpos
        turned.append(float(np.linalg.norm(line / np.linalg.norm(line) - plant.data.body("carried").xmat[1::3])))
    return plant, away, turned


def test_a_robot_stands_with_a_tenth_of_its_mass_in_its_hands(carrying_robot: tuple) -> None:
    plant, _, _ = carrying_robot
    assert not plant.fallen, plant.fall
    assert not plant.notes


def test_feet_carry_the_robot_and_the_box(carrying_robot: tuple) -> None:
    plant, _, _ = carrying_robot
    expected = 9.81 * plant.robot.mass * (1.0 + SHARE)
    assert plant.readings().forces.total[2] == pytest.approx(expected, rel=0.005)


def test_the_box_stays_between_the_hands(carrying_robot: tuple) -> None:
    """Bar: 1 cm. Weld constraints deflect by a tenth of a millimeter; y stays on the line of the hands."""
    _, away, turned = carrying_robot
    assert max(away) < 1e-3
    assert max(turned) < 1e-2


def test_both_arms_carry_half_of_its_weight(carrying_robot: tuple) -> None:
    plant, _, _ = carrying_robot
    half = 0.5 * 9.81 * SHARE * plant.robot.mass
    assert box_forces(plant)[:, 2] == pytest.approx([-half, -half], rel=0.02)


def test_the_box_is_part_of_neither_the_state_nor_the_contacts(carrying_robot: tuple) -> None:
    """States are those of the robot alone, and holding hands have no contact."""
    plant, _, _ = carrying_robot
    state = plant.truth()
    assert len(state.q) == plant.robot.model.nq == plant.model.nq - 7
    assert set(state.contacts) == set(plant.robot.feet)
    for hand in plant.robot.hands:
        assert state.pose(hand).translation == pytest.approx(plant.data.site(hand.name).xpos, abs=1e-3)


def test_a_robot_squats_with_it() -> None:
    robot = load_robot("hoap3")
    squat = Squat(robot, SquatSettings(cycles=1.0), start=robot.stance("carrying"))
    plant = MujocoPlant(squat.start, carried_box=CarriedBox.of_mass_fraction(robot, SHARE))
    heights = []
    for _ in steps(TorqueController(squat), plant, squat.seconds):
        heights.append(float(plant.data.body("carried").xpos[2]))
        assert np.linalg.norm(plant.data.body("carried").xpos - middle_of_hands(plant)) < 0.01
    assert not plant.fallen, plant.fall
    assert np.ptp(heights) > 0.8 * squat.depth


def test_servos_hold_it_where_it_was() -> None:
    """Stiff servos under a controller without a model of the box: the hands sink by millimeters only."""
    robot = load_robot("hoap3")
    stand = Stand(robot, start=robot.stance("carrying"))
    plant = MujocoPlant(stand.start, carried_box=CarriedBox.of_mass_fraction(robot, SHARE), actuators=PositionServos())
    for _ in steps(PositionController(stand), plant, 2.0):
        pass
    assert not plant.fallen, plant.fall
    assert np.abs(plant.truth().v).max() < 0.01
    for hand in robot.hands:
        assert plant.truth().pose(hand).translation == pytest.approx(stand.start.pose(hand).translation, abs=0.005)


# -- mechanics ---------------------------------------------------------------------------------------------------------


def test_it_starts_midway_between_the_hands_and_level() -> None:
    robot, size = biped_with_hands(), (0.1, 0.2, 0.3)
    plant = MujocoPlant(robot, carried_box=CarriedBox(2.0, size))
    box, start = plant.data.body("carried"), plant.start
    expected = np.mean([start.pose(hand).translation for hand in robot.hands], axis=0)
    assert box.xpos == pytest.approx(expected, abs=3e-4)  # the start is pressed into the ground
    assert box.xpos == pytest.approx(box.xipos, abs=1e-12)
    assert box.xmat.reshape(3, 3) == pytest.approx(np.eye(3), abs=1e-9)
    assert plant.model.geom("carried").size == pytest.approx(0.5 * np.array(size))
    x, y, z = size
    inertia = 2.0 / 12.0 * np.array([y * y + z * z, x * x + z * z, x * x + y * y])
    assert plant.model.body("carried").inertia == pytest.approx(inertia)


def test_the_ground_carries_it_from_the_first_tick() -> None:
    robot = biped_with_hands()
    plant = MujocoPlant(robot, carried_box=CarriedBox(2.0))
    assert plant.readings().forces.total[2] == pytest.approx(9.81 * (robot.mass + 2.0), rel=1e-3)


def test_servos_start_with_the_torques_that_carry_it() -> None:
    """By virtual work: a small rotation of an arm joint lifts half of the weight with its hand."""
    robot, turn = load_robot("hoap3"), 1e-6
    start, mass = robot.stance("carrying"), SHARE * robot.mass
    held, bare = (MujocoPlant(start, carried_box=box)._simulation.holding_torque for box in (CarriedBox(mass), None))
    for i, joint in enumerate(robot.joints):
        turned = start.q.copy()
        turned[joint.q] += turn
        heights = [
            [state.pose(hand).translation[2] for hand in robot.hands] for state in (start, start.replace(q=turned))
        ]
        if any(word in joint.name for word in ("shoulder", "elbow", "wrist")):
            assert held[i] - bare[i] == pytest.approx(
                0.5 * 9.81 * mass * np.diff(heights, axis=0).sum() / turn, abs=1e-3
            ), joint.name


def total_momentum_and_energy(plant: MujocoPlant) -> tuple[np.ndarray, float]:
    """Momentum of robot and box, linear and about their center of mass, and their kinetic energy."""
    model, data = plant.model, plant.data
    mujoco.mj_forward(model, data)
    mujoco.mj_subtreeVel(model, data)
    momentum = np.concatenate([model.body_subtreemass[0] * data.subtree_linvel[0], data.subtree_angmom[0]])
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    return momentum, 0.5 * float(data.qvel @ M @ data.qvel)


def test_in_flight_holding_it_changes_neither_momentum_nor_energy() -> None:
    """Forces between hands and box sum to zero, and the grip only dissipates energy."""
    robot = load_robot("hoap3")
    start = robot.stance("carrying")
    q, v = start.q.copy(), np.zeros(robot.model.nv)
    q[2] += 3.0
    v[:6] = 0.3, 0.2, 0.1, 0.5, 1.0, 0.3
    plant = MujocoPlant(
        start.replace(q=q, v=v, contacts=()), carried_box=CarriedBox.of_mass_fraction(robot, SHARE), period=2e-4
    )
    plant.model.opt.gravity[:] = 0.0
    momentum, energy = total_momentum_and_energy(plant)
    for _ in range(5):
        run_torques(plant, 0.02)
        now, left = total_momentum_and_energy(plant)
        assert now == pytest.approx(momentum, abs=2e-3 * np.abs(momentum).max())
        assert left <= energy * (1.0 + 1e-6)
        energy = left
    assert (
        energy
        > 0.9
        * total_momentum_and_energy(MujocoPlant(plant.start, carried_box=CarriedBox.of_mass_fraction(robot, SHARE)))[1]
    )


def test_it_moves_with_the_hands_from_the_start() -> None:
    robot = biped_with_hands()
    v = np.zeros(robot.model.nv)
    v[:6] = 0.3, -0.2, 0.1, 0.4, 0.5, -0.6
    plant = MujocoPlant(airborne_state(robot, v=v), carried_box=CarriedBox(2.0), period=1e-4)
    assert np.abs(plant.data.efc_vel[:12]).max() < 1e-9


def test_hands_that_are_driven_apart_do_not_part_from_it() -> None:
    """Servos at full torque pull on each other through the box, and are counted; the box is not lost."""
    robot = load_robot("hoap3")
    plant = MujocoPlant(
        robot.stance("carrying"), carried_box=CarriedBox.of_mass_fraction(robot, SHARE), actuators=PositionServos()
    )
    velocity = np.zeros(robot.model.nv)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        velocity[robot.joint(f"{side}_shoulder_abduction").v] = sign
    for _ in range(250):
        plant.apply(Command(velocity, None, None, 0.002))
        plant.advance()
    assert not plant.failure
    assert np.linalg.norm(plant.data.body("carried").xpos - middle_of_hands(plant)) < 0.02


def test_it_can_be_set_down_on_a_table() -> None:
    """A carried box collides with ground and objects, and a box on the ground is no fall."""
    robot = biped_with_hands()
    start = robot.stance("standing")
    below = CarriedBox(2.0, (0.1, 0.1, 0.1)).pose_and_size(start)[0].translation - [0.0, 0.0, 0.05]
    plant = MujocoPlant(start, carried_box=CarriedBox(2.0, (0.1, 0.1, 0.1)), objects=[Table(below, size=(0.2, 0.2))])
    names = {plant.model.geom(int(geom)).name for geom in plant.data.contact.geom.ravel()}
    assert {"carried", "object 0"} <= names
    assert plant._fall_detector._geom_kind[plant.model.geom("carried").id] == 0


# -- invalid objects ---------------------------------------------------------------------------------------------------


def test_its_mass_may_be_given_as_a_share_of_the_robot() -> None:
    assert CarriedBox.of_mass_fraction(biped(), 0.10).mass == pytest.approx(0.1 * biped().mass)


def test_a_robot_with_one_hand_cannot_carry() -> None:
    with pytest.raises(RobotError, match="right hand"):
        MujocoPlant(biped(), carried_box=CarriedBox(1.0))


def test_hands_that_touch_hold_nothing() -> None:
    hands = {"hands": {"frame": "head", "name": "{side}_hand", "position": [0.2, 0.001, -0.2]}}
    with TemporaryDirectory() as folder:
        robot = load_robot(write_urdf(Path(folder), BIPED), **{**BIPED_PARTS, **hands})
    with pytest.raises(PlantError, match=r"the hands are 0\.2 cm apart; expected 2 cm or more"):
        MujocoPlant(robot, carried_box=CarriedBox(1.0))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: CarriedBox(0.0), "CarriedBox.mass is 0.0; expected a positive number of kg"),
        (lambda: CarriedBox(1.0, (0.1, 0.0, 0.1)), "CarriedBox.size is .*; expected 3 positive lengths in m"),
        (lambda: CarriedBox(1.0, (0.1, 0.1)), "CarriedBox.size has shape .*; expected 3 numbers in m"),
        (lambda: CarriedBox.of_mass_fraction(biped(), -0.1), "CarriedBox.of_mass_fraction is -0.1"),
        (
            lambda: MujocoPlant(biped(), carried_box=2.0),  # type: ignore[arg-type]
            r"carried_box is 2.0; expected CarriedBox.of_mass_fraction\(robot, 0.10\)",
        ),
    ],
)
def test_a_bad_object_is_refused_in_one_line(wrong: object, message: str) -> None:
    with pytest.raises(PlantError, match=message) as caught:
        wrong()  # type: ignore[operator]
    assert "\n" not in str(caught.value)
