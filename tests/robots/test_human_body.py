"""The human of the library: 42 degrees of freedom, made from published tables for any height, mass and sex."""

from typing import Any

import numpy as np
import pinocchio
import pytest

from poise.errors import RobotError
from poise.recording import environment_facts, robot_from_provenance
from poise.robots import MEAN_STATURE, SEXES, SIDES, BodyShape, Robot, human_joints, landmarks, load_robot
from poise.robots.description import mirrored_name
from poise.robots.human.anthropometry import POISE_FROM_SEGMENT, SEGMENT_TABLE, Sex, mass_fractions
from poise.robots.human.human_model import DUMMY_MASS, link_inertias
from poise.robots.human.skeleton import INTERMEDIATE_LINKS
from poise.robots.urdf import mirrored_inertia, vertical_extent


@pytest.fixture(scope="module", params=SEXES)
def sex(request: pytest.FixtureRequest) -> Sex:
    return request.param


@pytest.fixture(scope="module")
def human(sex: Sex) -> Robot:
    return load_robot("human", sex=sex)


def frame_position(robot: Robot, frame: str, **angles: float) -> np.ndarray:
    """Position of a frame with the base at the origin and some joints turned, all others at zero (m)."""
    q = pinocchio.neutral(robot.model)
    for name, angle in angles.items():
        q[robot.joint(name).q] = angle
    data = robot.model.createData()
    pinocchio.framesForwardKinematics(robot.model, data, q)
    return np.array(data.oMf[robot.frame(frame).index].translation)


def test_it_has_forty_two_degrees_of_freedom_split_as_in_the_paper(human: Robot) -> None:
    names = [joint.name for joint in human.joints]
    assert human.model.nv == 42
    assert sum(name.startswith("left_") for name in names) == 7 + 8
    assert sum(name.startswith("right_") for name in names) == 7 + 8
    assert [name for name in names if not name.startswith(SIDES)] == [
        *(f"lumbar_{kind}" for kind in ("extension", "bending", "rotation")),
        *(f"neck_{kind}" for kind in ("extension", "bending", "rotation")),
    ]
    assert [name.removeprefix("left_") for name in names[:7]] == [
        "hip_flexion", "hip_adduction", "hip_rotation", "knee_flexion", "ankle_dorsiflexion", "ankle_inversion",
        "toes_extension",
    ]  # fmt: skip


@pytest.mark.parametrize(("height", "mass"), [(1.5, 48.0), (1.77, 75.0), (1.95, 110.0)])
def test_height_and_mass_are_the_given_ones(sex: Sex, height: float, mass: float) -> None:
    robot = load_robot("human", height=height, mass=mass, sex=sex)
    lowest, highest = vertical_extent(robot.model, pinocchio.neutral(robot.model), robot.visual_geometry)
    assert robot.mass == pytest.approx(mass, rel=1e-9)
    assert highest - lowest == pytest.approx(height, abs=0.006)  # the tables add up to the stature within that


def test_segment_masses_are_those_of_the_table(sex: Sex) -> None:
    shape = BodyShape.of(mass=80.0, sex=sex)
    found, share = link_inertias(shape), mass_fractions(sex)
    assert sum(share[name] * (1 if name in ("head", "torso", "pelvis") else 2) for name in share) == pytest.approx(1.0)
    for name, part in (("thigh", None), ("shank", None), ("foot", "toes"), ("hand", "fingers"), ("upper_arm", None)):
        weight = found[f"right_{name}"].mass + (found[f"right_{part}"].mass if part else 0.0)
        assert weight == pytest.approx(80.0 * share[name], abs=4 * DUMMY_MASS)


def test_centers_and_inertias_are_those_of_the_table(sex: Sex) -> None:
    shape = BodyShape.of(mass=80.0, sex=sex)
    row, found = SEGMENT_TABLE[sex]["thigh"], link_inertias(shape)["right_thigh"]
    isb = POISE_FROM_SEGMENT.T @ found.center / shape.thigh[1]
    assert 100.0 * isb == pytest.approx([row.x, row.y, row.z])
    inertia = POISE_FROM_SEGMENT.T @ found.inertia @ POISE_FROM_SEGMENT
    radius = (
        100.0 * np.sqrt(np.abs(inertia) / (mass_fractions(sex)["thigh"] * 80.0)) / shape.thigh[1] * np.sign(inertia)
    )
    expected = [[row.xx, row.xy, row.xz], [row.xy, row.yy, row.yz], [row.xz, row.yz, row.zz]]
    assert radius == pytest.approx(np.array(expected), rel=1e-6)


def test_foot_and_toes_together_are_the_foot_of_the_table(sex: Sex) -> None:
    shape = BodyShape.of(sex=sex)
    found, row = link_inertias(shape), SEGMENT_TABLE[sex]["foot"]
    root = next(np.array(joint.position) for joint in human_joints(shape) if joint.child == "right_toes")
    foot, toes = found["right_foot"], found["right_toes"].translate(root)
    foot = foot._replace(mass=foot.mass + DUMMY_MASS * shape.mass / 75.0)  # minus the dummy mass of the ankle
    center = (foot.mass * foot.center + toes.mass * toes.center) / (foot.mass + toes.mass)
    assert center == pytest.approx(row.center * shape.foot[1], abs=1e-4)
    whole = foot.inertia_about(center) + toes.inertia_about(center)
    assert whole == pytest.approx(
        row.unit_inertia * mass_fractions(sex)["foot"] * shape.mass * shape.foot[1] ** 2, abs=2e-6
    )


def test_left_and_right_bodies_are_mirror_images(human: Robot) -> None:
    names = list(human.model.names)
    for joint, name in enumerate(names):
        if mirrored_name(name, names):
            image = mirrored_inertia(human.model, joint)
            assert image is not None
            assert image[0].isApprox(human.model.inertias[joint], 1e-9)


@pytest.mark.parametrize("side", SIDES)
def test_signs_are_those_of_anatomy_on_both_sides(human: Robot, side: str) -> None:
    """Flexion, adduction, internal rotation, dorsiflexion, inversion, pronation are positive."""
    out = 1.0 if side == "left" else -1.0  # y of outward motion

    def displacement(frame: str, joint: str, angle: float = 0.3) -> np.ndarray:
        name = f"{side}_{frame}" if frame not in ("head", "left_palm") else frame
        return np.asarray(frame_position(human, name, **{f"{side}_{joint}": angle}) - frame_position(human, name))

    assert displacement("shank", "hip_flexion")[0] > 0.1
    assert out * displacement("shank", "hip_adduction")[1] < -0.1
    assert out * displacement("toe_tip", "hip_rotation")[1] < -0.02
    assert displacement("foot", "knee_flexion")[0] < -0.1
    assert displacement("toe_tip", "ankle_dorsiflexion")[2] > 0.02
    assert (
        displacement("first_metatarsal", "ankle_inversion")[2]
        > displacement("fifth_metatarsal", "ankle_inversion")[2] + 0.01
    )
    assert displacement("toe_tip", "toes_extension")[2] > 0.01
    assert displacement("forearm", "shoulder_flexion")[0] > 0.05
    assert out * displacement("forearm", "shoulder_adduction")[1] < -0.03
    assert displacement("hand", "elbow_flexion")[0] > 0.05
    assert displacement("fingers", "wrist_flexion")[0] > 0.01
    assert out * displacement("fingers", "wrist_deviation")[1] < -0.01
    palm = frame_position(human, f"{side}_palm", **{f"{side}_forearm_pronation": 1.5}) - frame_position(
        human, f"{side}_hand", **{f"{side}_forearm_pronation": 1.5}
    )
    assert out * palm[1] < -0.01  # palms inwards


def test_spine_and_neck_lean_back_and_right_and_turn_left(human: Robot) -> None:
    for part, frame in (("lumbar", "head"), ("neck", "eyes")):
        assert (frame_position(human, frame, **{f"{part}_extension": 0.3}) - frame_position(human, frame))[0] < -0.02
        assert (frame_position(human, frame, **{f"{part}_bending": 0.3}) - frame_position(human, frame))[1] < -0.02
    assert (frame_position(human, "eyes", neck_rotation=0.3) - frame_position(human, "eyes"))[1] > 0.02


def test_torsion_turns_the_toes_out_and_varus_moves_the_feet_together() -> None:
    straight = load_robot("human")
    twisted = load_robot("human", shape={"tibial_torsion": 0.3, "knee_varus": 0.1})
    assert frame_position(twisted, "left_toe_tip")[1] - frame_position(twisted, "left_foot")[1] > 0.03
    assert frame_position(twisted, "right_toe_tip")[1] - frame_position(twisted, "right_foot")[1] < -0.03
    for side, out in (("left", 1.0), ("right", -1.0)):
        assert out * (frame_position(twisted, f"{side}_foot") - frame_position(straight, f"{side}_foot"))[1] < -0.02


def test_sides_may_differ_and_it_still_stands() -> None:
    robot = load_robot("human", height=1.8, mass=70.0, shape={"thigh": [0.44, 0.43], "tibial_torsion": [0.2, 0.4]})
    stance = robot.stance("standing")
    for foot in robot.feet:
        assert stance.pose(foot).translation[2] == pytest.approx(0.0, abs=1e-9)
    assert stance.center_of_mass[:2] == pytest.approx(stance.support_center, abs=1e-6)


def test_a_recording_finds_the_same_body_again() -> None:
    robot = load_robot("human", height=1.62, mass=55.0, sex="female", shape={"thigh": [0.38, 0.39]})
    again = robot_from_provenance(environment_facts(robot))
    assert isinstance(again, Robot)
    assert again.mass == robot.mass
    assert all(a.isApprox(b) for a, b in zip(again.model.jointPlacements, robot.model.jointPlacements, strict=True))


def test_every_link_that_weighs_something_is_drawn_and_can_be_touched(human: Robot) -> None:
    solid = {i for i in range(1, human.model.njoints) if human.model.inertias[i].mass > 2.0 * DUMMY_MASS}
    for shapes in (human.visual_geometry, human.collision_geometry):
        assert {shape.parentJoint for shape in shapes.geometryObjects} == solid
    assert len(solid) == human.model.njoints - 1 - sum(
        joint.child.split("_", 1)[-1] in INTERMEDIATE_LINKS or joint.child in INTERMEDIATE_LINKS
        for joint in human_joints(BodyShape.of())
    )


def test_landmarks_lie_on_links_and_left_mirrors_right(human: Robot, sex: Sex) -> None:
    places = landmarks(BodyShape.of(sex=sex))
    for name, (link, place) in places.items():
        assert link in human.frames
        if name.startswith("left_"):
            other = places[name.replace("left_", "right_")]
            assert other[1] == pytest.approx(place * [1, -1, 1])


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"height": 17.9}, "height"),
        ({"height": "tall"}, "height"),
        ({"mass": -3}, "mass"),
        ({"mass": True}, "mass"),
        ({"sex": "femal"}, "did you mean 'female'"),
        ({"shape": {"tigh": 0.4}}, "did you mean 'thigh'"),
        ({"shape": {"thigh": [0.4]}}, "two numbers"),
        ({"shape": {"thigh": float("nan")}}, "thigh"),
        ({"shape": 3}, "table of numbers"),
    ],
)
def test_an_implausible_body_is_refused_in_one_line(parts: dict[str, Any], words: str) -> None:
    with pytest.raises(RobotError, match=words) as caught:
        load_robot("human", **parts)
    assert "\n" not in str(caught.value)


def test_without_a_height_it_is_the_mean_of_its_sex(sex: Sex) -> None:
    assert load_robot("human", sex=sex).height == MEAN_STATURE[sex]


@pytest.mark.parametrize("height", [177.0, 1770])
def test_a_height_in_centimetres_or_millimetres_is_refused_with_the_metres(height: float) -> None:
    with pytest.raises(RobotError, match=r"expected 0.7 to 2.8 m; did you mean 1.77 m\?"):
        BodyShape.of(height)
