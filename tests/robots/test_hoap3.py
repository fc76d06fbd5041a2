"""HOAP-3 is the robot of [Galdeano2014]: compared with the public model, if available, and with the paper."""

from xml.etree import ElementTree

import numpy as np
import pinocchio
import pytest

from poise.robots import Robot, limbs, load_robot, shape_vertices
from poise.robots.urdf import vertical_extent
from shared_data import require_data

REFERENCE = "robots/hoap3_reference.urdf"
#: The pelvis' frame is this far from that of the public model, which is at the axis of the waist (m): above the hips.
BEFORE = np.array([-0.035, 0.0, 0.0])
#: The public model: its joints, and mass (kg) and center of mass (m) of each link.
Published = tuple[pinocchio.Model, dict[str, tuple[float, np.ndarray]]]

#: Links of the public model (the joint of the same name carries them) and our joints; of the left.
PUBLISHED = {
    "CHEST": "waist",
    "H_PAN": "head_pan",
    "H_TILT": "head_tilt",
    "H_ROLL": "head_roll",
    "L_SFE": "left_shoulder_flexion",
    "L_SAA": "left_shoulder_abduction",
    "L_SHR": "left_shoulder_rotation",
    "L_EB": "left_elbow_flexion",
    "L_WR": "left_wrist",
    "L_LR": "left_hip_rotation",
    "L_LAA": "left_hip_abduction",
    "L_LFE": "left_hip_flexion",
    "L_KN": "left_knee",
    "L_AFE": "left_ankle_flexion",
    "L_AAA": "left_ankle_abduction",
}
PUBLISHED |= {"R" + key[1:]: name.replace("left", "right") for key, name in PUBLISHED.items() if key.startswith("L_")}
#: Bodies of ours that are one in the public model.
PARTS = {"H_ROLL": ("head_tilt", "head_roll")} | {
    f"{side[0].upper()}_EB": (f"{side}_elbow_flexion", f"{side}_wrist", f"{side}_finger") for side in ("left", "right")
}
#: Ranges that differ between the sides there; ours are those of the left (rad).
UNEQUAL = ("right_shoulder_rotation", "right_wrist")


@pytest.fixture(scope="module")
def hoap3() -> Robot:
    return load_robot("hoap3")


@pytest.fixture(scope="module")
def public_model() -> Published:
    """Joints of the public model, and masses (kg) and centers of mass (m) by link, in tags that no parser supports."""
    found = require_data(REFERENCE)
    tree, bodies = ElementTree.fromstring(found.read_text(encoding="utf-8")), {}
    for link in tree.iter("link"):
        for tag in list(link):
            if tag.tag == "intertial":
                mass, origin = tag.find("mass"), tag.find("origin")
                assert mass is not None
                assert origin is not None
                place = np.array([float(word) for word in origin.attrib["xyz"].split()])
                bodies[link.attrib["name"]] = float(mass.attrib["value"]), place
            link.remove(tag)
    return pinocchio.buildModelFromXML(ElementTree.tostring(tree, encoding="unicode")), bodies


def public_joint(model: pinocchio.Model, link: str) -> int:
    return int(model.frames[model.getBodyId(link)].parentJoint)


# -- as published ------------------------------------------------------------------------------------------------------


def test_its_joints_are_where_those_of_the_public_model_are(hoap3: Robot, public_model: Published) -> None:
    """In any posture; joints have the same signs, and palms, soles and eyes the same positions."""
    theirs, random = public_model[0], np.random.default_rng(7)
    data, other, zero = hoap3.model.createData(), theirs.createData(), theirs.createData()
    pinocchio.forwardKinematics(theirs, zero, np.zeros(theirs.nq))
    for _ in range(5):
        angles = random.uniform(hoap3.limits.lower, hoap3.limits.upper)
        q = np.zeros(theirs.nq)
        for link, name in PUBLISHED.items():
            q[theirs.idx_qs[public_joint(theirs, link)]] = angles[hoap3.joint(name).v - 6]
        pinocchio.framesForwardKinematics(theirs, other, q)
        pinocchio.framesForwardKinematics(hoap3.model, data, np.array([*BEFORE, 0.0, 0.0, 0.0, 1.0, *angles]))
        for link, name in PUBLISHED.items():
            pose, there = data.oMi[hoap3.joint(name).index], public_joint(theirs, link)
            assert pose.translation == pytest.approx(other.oMi[there].translation, abs=1e-6), name
            turned = other.oMi[there].rotation @ zero.oMi[there].rotation.T
            assert pose.rotation == pytest.approx(turned, abs=1e-6), name
        ends = {"EYE": hoap3.gaze} | {f"{hand.side[0].upper()}_HAND": hand for hand in hoap3.hands}
        for link, part in (ends | {f"{foot.side[0].upper()}_FOOT": foot for foot in hoap3.feet}).items():
            place = other.oMf[theirs.getBodyId(link)].translation
            assert data.oMf[part.index].translation == pytest.approx(place, abs=1e-6), link


def test_its_ranges_are_those_of_the_public_model(hoap3: Robot, public_model: Published) -> None:
    theirs = public_model[0]
    for link, name in PUBLISHED.items():
        i, k = hoap3.joint(name).v - 6, theirs.idx_qs[public_joint(theirs, link)]
        here = [hoap3.limits.lower[i], hoap3.limits.upper[i]]
        there = [theirs.lowerPositionLimit[k], theirs.upperPositionLimit[k]]
        if name in UNEQUAL:
            assert here != pytest.approx(there, abs=1e-3), name
        else:
            assert here == pytest.approx(there, abs=1e-5), name


def test_its_masses_are_those_of_the_public_model(hoap3: Robot, public_model: Published) -> None:
    """With their centers, to 0.3 mm, the asymmetry of the public model; trunk and head are up to 1.6 mm off center."""
    theirs, bodies = public_model
    data, other = hoap3.model.createData(), theirs.createData()
    pinocchio.framesForwardKinematics(theirs, other, np.zeros(theirs.nq))
    pinocchio.forwardKinematics(hoap3.model, data, np.array([*BEFORE, 0.0, 0.0, 0.0, 1.0, *np.zeros(28)]))
    assert sum(mass for mass, _ in bodies.values()) == pytest.approx(hoap3.mass)
    for link, name in (PUBLISHED | {"WAIST": "root_joint"}).items():
        mass, place = bodies.get(link, (0.0, None))
        if place is None or not mass:  # there wrists are part of the forearm, and the neck tilt of the head
            continue
        joints = [hoap3.model.getJointId(part) for part in PARTS.get(link, (name,))]
        inertias = [data.oMi[joint].act(hoap3.model.inertias[joint]) for joint in joints]
        whole = sum(inertias[1:], inertias[0])
        # The trunk's center is given in a frame at the height of the shoulders, 0.125 above the waist.
        center = other.oMf[theirs.getBodyId(link)].act(place) + np.array([0.0, 0.0, 0.125 * (link == "CHEST")])
        assert whole.mass == pytest.approx(mass), link
        assert np.abs(whole.lever - center)[[0, 2]].max() < 3e-4, link
        assert abs(whole.lever[1] - center[1]) < (3e-4 if link[1] == "_" and link[0] in "LR" else 1.7e-3), link


def test_it_is_as_in_the_paper(hoap3: Robot) -> None:
    """Section II: 60 cm, 8.8 kg, 28 joints, six in each leg and each arm, one in the torso, three in the neck."""
    assert hoap3.mass == pytest.approx(8.8, abs=3e-3)
    lowest, highest = vertical_extent(
        hoap3.model, np.concatenate([hoap3.rest[:7], np.zeros(28)]), hoap3.visual_geometry
    )
    assert highest - lowest == pytest.approx(0.60, abs=1e-4)
    counts = {limb.name: len(limb.joints) for limb in limbs(hoap3)}
    assert counts == {"left leg": 6, "right leg": 6, "trunk": 1, "head": 3, "left arm": 6, "right arm": 6}


def test_the_middle_of_every_range_bends_the_waist(hoap3: Robot) -> None:
    """The comfort position of the paper is no upright one: the waist bends by 0.31 rad, the knees by 1.18 rad."""
    middle = 0.5 * (hoap3.limits.lower + hoap3.limits.upper)
    assert middle[hoap3.joint("waist").v - 6] == pytest.approx(0.3054, abs=1e-4)
    assert middle[hoap3.joint("left_knee").v - 6] == pytest.approx(1.1781, abs=1e-4)


# -- bodies ------------------------------------------------------------------------------------------------------------


def test_every_inertia_is_physical(hoap3: Robot) -> None:
    """Inertias are positive definite, and no principal moment is more than the other two together."""
    for name, body in zip(hoap3.model.names[1:], list(hoap3.model.inertias)[1:], strict=True):
        small, middle, large = np.linalg.eigvalsh(body.inertia)
        assert body.mass > 0.0, name
        assert 0.0 < small <= middle <= large < small + middle, name


def test_the_mass_of_every_body_is_spread_as_its_shape_is(hoap3: Robot) -> None:
    """The mean square distance of mass from its center, r² = (Ixx + Iyy + Izz) / 2m, fits the box around the drawing.

    A solid box with diagonal d has r = d / 12^½ = 0.29 d; heavy ends or a heavy middle are within a factor of two.
    """
    corners: dict[int, list[np.ndarray]] = {}
    for shape in hoap3.visual_geometry.geometryObjects:
        pose = shape.placement
        corners.setdefault(shape.parentJoint, []).append(shape_vertices(shape) @ pose.rotation.T + pose.translation)
    for joint in range(1, hoap3.model.njoints):
        body = hoap3.model.inertias[joint]
        spread = np.sqrt(0.5 * np.trace(body.inertia) / body.mass)
        diagonal = np.linalg.norm(np.ptp(np.vstack(corners[joint]), axis=0))
        assert 0.5 < spread / (diagonal / np.sqrt(12.0)) < 2.0, hoap3.model.names[joint]
