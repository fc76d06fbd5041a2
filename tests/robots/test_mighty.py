"""mighty is the robot of [Sugihara2008]: compared with the model of its author, if available, and with the paper."""

import re

import numpy as np
import pinocchio
import pytest

from poise import constraints, tasks
from poise.constraints.collision import collision_pairs
from poise.control import Command, KinematicController
from poise.hierarchy import Hierarchy, Level
from poise.plants import MujocoPlant, PositionServos, steps
from poise.robots import Robot, capsules, load_robot
from poise.robots.urdf import vertical_extent
from shared_data import require_data
from standing_checks import check_standing_on_cells

REFERENCE = "robots/mighty_reference.ztk"
#: The trunk's frame is this far before that of the public model (m): above the hips.
BEFORE = np.array([0.039, 0.0, 0.0])
#: Mass missing in the public model compared with the paper (kg), as a box at the trunk's center of mass (m).
MISSING, BOX = 6.5 - 5.531071, np.array([0.08, 0.12, 0.10])
GRAVITY = 9.81
Blocks = dict[str, dict[str, str]]


@pytest.fixture(scope="module")
def mighty() -> Robot:
    return load_robot("mighty")


@pytest.fixture(scope="module")
def public_model() -> dict[str, Blocks]:
    """Links and motors of the public model by name, their keys as text."""
    found = require_data(REFERENCE)
    kinds: dict[str, Blocks] = {"link": {}, "motor": {}}
    parts = re.split(r"^\[(\w+)\]$", found.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for kind, text in zip(parts[1::2], parts[2::2], strict=True):
        if kind in kinds:
            keys = dict(re.findall(r"^(\w+)\s*:\s*(\{[^}]*\}|\S+)", text, flags=re.MULTILINE))
            kinds[kind][keys["name"]] = keys
    return kinds


def numbers(text: str) -> np.ndarray:
    return np.array([float(word) for word in re.findall(r"-?[\d.]+(?:e-?\d+)?", text)])


def poses(links: Blocks, angles: dict[str, float]) -> dict[str, pinocchio.SE3]:
    """Poses of the links of the public model by name; each turns about the z axis of its frame."""
    found: dict[str, pinocchio.SE3] = {}
    for name, keys in links.items():
        placed = numbers(keys["frame"]).reshape(3, 4)
        turn = pinocchio.SE3(pinocchio.rpy.rpyToMatrix(0.0, 0.0, angles.get(name, 0.0)), np.zeros(3))
        pose = pinocchio.SE3(placed[:, :3], placed[:, 3]) * turn
        found[name] = found[keys["parent"]] * pose if "parent" in keys else pose
    return found


# -- as published ------------------------------------------------------------------------------------------------------


def test_its_joints_are_where_those_of_the_public_model_are(mighty: Robot, public_model: dict[str, Blocks]) -> None:
    """In any posture; joints have the same signs, and hands and soles the same positions."""
    random = np.random.default_rng(7)
    data, zero = mighty.model.createData(), poses(public_model["link"], {})
    for _ in range(5):
        angles = random.uniform(mighty.limits.lower, mighty.limits.upper)
        theirs = poses(public_model["link"], dict(zip([joint.name for joint in mighty.joints], angles, strict=True)))
        pinocchio.framesForwardKinematics(mighty.model, data, np.array([*BEFORE, 0.0, 0.0, 0.0, 1.0, *angles]))
        for joint in mighty.joints:
            pose, other = data.oMi[joint.index], theirs[joint.name]
            assert pose.translation == pytest.approx(other.translation, abs=2e-6), joint.name
            turned = other.rotation @ zero[joint.name].rotation.T
            assert pose.rotation == pytest.approx(turned, abs=1e-6), joint.name
        for side in ("left", "right"):
            for part, name in ((mighty.hand(side), f"{side}_hand"), (mighty.foot(side), f"{side}_foot")):
                place = data.oMf[part.index].translation
                assert place == pytest.approx(theirs[name].translation, abs=3e-6), name


def test_its_bodies_are_those_of_the_public_model_and_a_box_in_the_trunk(
    mighty: Robot, public_model: dict[str, Blocks]
) -> None:
    zero = poses(public_model["link"], {})
    for joint in range(1, mighty.model.njoints):
        name = mighty.model.names[joint]
        trunk = name == "root_joint"
        keys, R = public_model["link"]["body" if trunk else name], zero["body" if trunk else name].rotation
        body = mighty.model.inertias[joint]
        box = np.diag(MISSING / 12 * (BOX @ BOX - BOX**2)) if trunk else np.zeros((3, 3))
        assert body.mass == pytest.approx(float(keys["mass"]) + MISSING * trunk, abs=1e-6), name
        # The published trunk is 0.8 mm off the mid-plane.
        lever = R @ numbers(keys["COM"]) - BEFORE * trunk
        assert body.lever == pytest.approx(lever, abs=8e-4 if trunk else 1e-6), name
        inertia = R @ numbers(keys["inertia"]).reshape(3, 3) @ R.T + box
        assert np.abs(body.inertia - inertia).max() < (5e-6 if trunk else 1e-9), name


def test_its_motors_are_those_of_the_public_model(mighty: Robot, public_model: dict[str, Blocks]) -> None:
    """Range, stall torque k Y N V, speed V / (k N) and armature J N² of each joint; both ankles have the large one."""
    for i, joint in enumerate(mighty.joints):
        keys = public_model["link"][joint.name]
        motor = "RE-max24-belt" if "ankle_flexion" in joint.name else keys["motor"]
        words = ("motorconstant", "admittance", "gearratio", "maxvoltage", "rotorinertia", "gearinertia")
        k, Y, N, V, rotor, gear = (float(public_model["motor"][motor][word]) for word in words)
        limits = mighty.limits
        assert np.rad2deg([limits.lower[i], limits.upper[i]]) == pytest.approx(
            [float(keys["min"]), float(keys["max"])], abs=1e-3
        )
        assert limits.torque[i] == pytest.approx(k * Y * N * V, rel=1e-3), joint.name
        assert limits.velocity[i] == pytest.approx(V / (k * N), rel=1e-3), joint.name
        assert mighty.model.armature[joint.v] == pytest.approx((rotor + gear) * N**2, rel=1e-3), joint.name


def test_it_is_as_in_the_paper(mighty: Robot) -> None:
    """Figure 7: 580 mm, 6.5 kg, 8 joints in the arms and 12 in the legs."""
    assert mighty.mass == pytest.approx(6.5, abs=1e-5)
    straight = np.concatenate([mighty.rest[:7], np.zeros(20)])
    lowest, highest = vertical_extent(mighty.model, straight, mighty.visual_geometry)
    assert highest - lowest == pytest.approx(0.58, abs=1e-4)
    carried = {part.name: mighty.model.supports[part.joint].tolist() for part in (*mighty.hands, *mighty.feet)}
    assert {name: len(joints) - 2 for name, joints in carried.items()} == {
        "left_hand": 4,
        "right_hand": 4,
        "left_sole": 6,
        "right_sole": 6,
    }
    assert len(mighty.joints) == 20


def test_every_inertia_is_physical(mighty: Robot) -> None:
    """Inertias are positive definite, and no principal moment is more than the other two together."""
    for name, body in zip(mighty.model.names[1:], list(mighty.model.inertias)[1:], strict=True):
        small, middle, large = np.linalg.eigvalsh(body.inertia)
        assert body.mass > 0.0, name
        assert 0.0 < small <= middle <= large < small + middle, name


# -- stance ------------------------------------------------------------------------------------------------------------


def test_it_stands_in_the_walking_pose(mighty: Robot) -> None:
    """Center of mass at 0.27 m, so that a pendulum of that height falls at w = 6.03 1/s; feet 84 mm apart."""
    start = mighty.stance("standing")
    height = start.center_of_mass[2]
    assert height == pytest.approx(0.27, abs=1e-3)
    assert np.sqrt(GRAVITY / height) == pytest.approx(6.03, abs=0.02)
    assert [start.pose(foot).translation[1] for foot in mighty.feet] == pytest.approx([0.042, -0.042], abs=1e-6)


def test_its_soles_are_as_published(mighty: Robot) -> None:
    for foot in mighty.feet:
        assert np.ptp(foot.corners, axis=0)[:2] == pytest.approx([0.099, 0.072])
        assert foot.sole.center[:2] == pytest.approx([0.0069, 0.0])


def test_feet_stand_twelve_millimetres_apart_and_do_not_collide(mighty: Robot) -> None:
    start, found, bodies = mighty.stance("standing"), collision_pairs(mighty), capsules(mighty)
    inner = [start.pose(foot).act(corner)[1] for foot in mighty.feet for corner in foot.corners]
    assert min(y for y in inner if y > 0) - max(y for y in inner if y < 0) == pytest.approx(0.012)
    names = [{bodies[a].name, bodies[b].name} for a, b in found.pairs]
    assert found.hull_gaps[names.index({"left_foot", "right_foot"})] == pytest.approx(0.012, abs=1e-6)


def test_nothing_touches_in_standing(mighty: Robot) -> None:
    constraint = constraints.SelfCollision(mighty)
    gaps = constraint.gaps(mighty.stance("standing"))
    assert min(gaps.values()) > 0.0
    assert all(gaps[pair] > min_gap for pair, min_gap in zip(constraint.pairs, constraint.min_gaps, strict=True))
    assert not MujocoPlant(mighty, self_collision=True).notes


def test_one_leg_can_carry_it_on_its_toes(mighty: Robot) -> None:
    """With all weight at the front edge of one sole; the small motor, published for one ankle, is too weak."""
    start, data = mighty.stance("standing"), mighty.model.createData()
    weight = GRAVITY * mighty.mass
    pinocchio.computeJointJacobians(mighty.model, data, start.q)
    pinocchio.updateFramePlacements(mighty.model, data)
    for foot in mighty.feet:
        J = pinocchio.getFrameJacobian(mighty.model, data, foot.index, pinocchio.LOCAL)
        wrench = np.array([0.0, 0.0, weight, 0.0, -foot.sole.x_max * weight, 0.0])
        ankle = mighty.joint(f"{foot.side}_ankle_flexion")
        torque = abs(J[:, ankle.v] @ wrench)
        assert 2.785 < torque < 0.9 * mighty.limits.torque[ankle.v - 6]


# -- position servos and force cells -----------------------------------------------------------------------------------


def standing_hierarchy(robot: Robot) -> Hierarchy:
    start = robot.stance("standing")
    return Hierarchy(
        always=[constraints.JointRange(robot), constraints.JointSpeed(robot)],
        levels=[
            Level("feet", [tasks.HoldPose(foot, at=start) for foot in robot.feet]),
            Level("balance", [tasks.CenterOfMass(target=start.support_center, axes="xy")]),
            Level("posture", [tasks.Posture(target=start)]),
        ],
    )


def test_it_stands_on_its_servos(mighty: Robot) -> None:
    plant = MujocoPlant(mighty, actuators=PositionServos())
    for _ in steps(KinematicController(standing_hierarchy(mighty), period=0.005), plant, 5.0):
        assert not plant.fallen
    check_standing_on_cells(plant)


def test_it_stands_on_its_servos_without_feedback(mighty: Robot) -> None:
    plant = MujocoPlant(mighty, actuators=PositionServos())
    for _ in range(1000):
        plant.apply(Command(np.zeros(mighty.model.nv), None, None, 0.005))
        plant.advance()
    assert plant.truth().time == pytest.approx(5.0)
    check_standing_on_cells(plant)
