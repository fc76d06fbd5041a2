"""Any URDF becomes a Robot; errors are one line that names file and element."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from poise.errors import RobotError
from poise.robots import Foot, Robot, load_robot
from small_robots import BIPED, BIPED_PARTS, LIMIT, PENDULUM, joint, link, robot, write_urdf


def load_error(path: Path, **parts: Any) -> RobotError:
    with pytest.raises(RobotError) as caught:
        load_robot(path, **parts)
    assert "\n" not in str(caught.value)
    return caught.value


def test_a_urdf_without_parts_is_a_robot_without_feet_and_hands(tmp_path: Path) -> None:
    pendulum = load_robot(write_urdf(tmp_path, PENDULUM))
    assert (pendulum.name, pendulum.feet, pendulum.hands, pendulum.head, pendulum.chest) == (
        "small",
        (),
        (),
        None,
        None,
    )
    assert [(j.name, j.index, j.q, j.v) for j in pendulum.joints] == [("hinge", 2, 7, 6)]
    assert pendulum.mass == pytest.approx(2.0)
    assert pendulum.rest == pytest.approx([0, 0, 0, 0, 0, 0, 1, 0])
    assert pendulum.height == pytest.approx(0.3)  # no shapes: between the frames


@pytest.mark.parametrize(
    ("ask", "word"),
    [
        (lambda r: r.foot("left"), "feet={'left'"),
        (lambda r: r.hand("right"), "hands={'right'"),
        (lambda r: r.gaze, "gaze={"),
        (lambda r: r.stance("standing"), "stances={'standing'"),
    ],
)
def test_the_error_for_an_undeclared_part_explains_how_to_declare_it(
    tmp_path: Path, ask: Callable[[Robot], object], word: str
) -> None:
    with pytest.raises(RobotError, match="small") as caught:
        ask(load_robot(write_urdf(tmp_path, PENDULUM)))
    assert word in str(caught.value)


def test_names_that_do_not_exist_come_with_near_misses(tmp_path: Path) -> None:
    pendulum = load_robot(write_urdf(tmp_path, PENDULUM))
    for ask, near in [
        (lambda: pendulum.joint("hing"), "hinge"),
        (lambda: pendulum.frame("Bob"), "bob"),
        (lambda: pendulum.foot("lef"), "left"),
    ]:
        with pytest.raises(RobotError, match="did you mean") as caught:
            ask()
        assert caught.value.near[0] == near


def test_parts_come_from_arguments_or_from_the_toml_beside_it_and_arguments_win(tmp_path: Path) -> None:
    path = write_urdf(tmp_path, BIPED)
    write_urdf(tmp_path, '[feet]\nframe = "{side}_foot"\nsole = [-0.1, 0.1, -0.05, 0.05]\n', "small.toml")
    assert load_robot(path).foot("left").sole.x_min == -0.1
    assert load_robot(tmp_path / "small.toml").foot("left").sole.x_min == -0.1
    assert load_robot(path, feet=BIPED_PARTS["feet"]).foot("left").sole.x_min == -0.08


def test_parts_of_the_left_side_are_mirrored_to_the_right(tmp_path: Path) -> None:
    biped = load_robot(write_urdf(tmp_path, BIPED), **BIPED_PARTS)
    left, right = biped.feet
    assert (left.name, left.side, right.name, right.side) == ("left_sole", "left", "right_sole", "right")
    assert left.corners * [1, -1, 1] == pytest.approx(right.corners[::-1])
    assert biped.frame("left_sole") is left is biped.foot("left")


def test_a_handle_is_resolved_once(tmp_path: Path) -> None:
    biped = load_robot(write_urdf(tmp_path, BIPED), **BIPED_PARTS)
    for frame in biped.frames.values():
        assert biped.model.frames[frame.index].name == frame.name
        assert biped.model.frames[frame.index].parentJoint == frame.joint
    for handle in biped.joints:
        assert biped.model.names[handle.index] == handle.name
        assert (biped.model.idx_qs[handle.index], biped.model.idx_vs[handle.index]) == (handle.q, handle.v)
    assert isinstance(biped.frame("right_sole"), Foot)
    assert hash(biped) != hash(load_robot(write_urdf(tmp_path, BIPED), **BIPED_PARTS))


def test_a_locked_joint_leaves_the_model_at_its_angle(tmp_path: Path) -> None:
    path = write_urdf(tmp_path, PENDULUM)
    stiff = load_robot(path, locked={"hinge": 0.5})
    assert (stiff.joints, stiff.model.nq) == ((), 7)
    assert stiff.mass == pytest.approx(2.0)
    placement = stiff.model.frames[stiff.frame("bob").index].placement
    assert placement.rotation[0, 2] == pytest.approx(np.sin(0.5))


def test_a_continuous_joint_can_be_locked_but_not_moved(tmp_path: Path) -> None:
    path = write_urdf(tmp_path, robot(link("base"), link("wheel"), joint("axle", "base", "wheel", kind="continuous")))
    assert load_error(path).element == "axle"
    assert load_robot(path, locked=["axle"]).joints == ()


def test_limits_are_read_and_corrected(tmp_path: Path) -> None:
    path = write_urdf(tmp_path, BIPED)
    limits = load_robot(path).limits
    assert (limits.lower == -1.5).all()
    assert (limits.upper == 1.5).all()
    assert (limits.velocity == 8.0).all()
    assert (limits.torque == 50.0).all()
    assert limits.acceleration == pytest.approx(80.0)  # full speed within a tenth of a second
    corrected = {"velocity": {"*": 100.0, "left_knee": 3.0}, "torque": {"{side}_knee": [1.0, 2.0]}}
    biped = load_robot(path, limits=corrected)
    left, right = (biped.joint(f"{side}_knee").v - 6 for side in ("left", "right"))
    assert biped.limits.velocity[[left, right]] == pytest.approx([3.0, 100.0])
    assert biped.limits.torque[[left, right, 0]] == pytest.approx([1.0, 2.0, 50.0])
    assert biped.limits.acceleration[right] == 200.0
    with pytest.raises(ValueError, match="read-only"):
        biped.limits.torque[0] = 0.0


NO_EFFORT = LIMIT.replace('effort="50"', 'effort="0"')
BROKEN = {
    "it is not XML": ("<robot", ""),
    "expected <robot>": ("<sdf/>", "sdf"),
    "No link elements": ("<robot name='none'/>", ""),
    "not found": (robot(link("base"), joint("hinge", "base", "bob")), "bob"),
    "not unique": (robot(link("base"), link("base")), "base"),
    "Two root links": (robot(link("base"), link("bob")), ""),
    "does not specify limits": (robot(link("base"), link("bob"), joint("hinge", "base", "bob", limit="")), "hinge"),
    "no known type": (robot(link("base"), link("bob"), joint("hinge", "base", "bob", kind="bend")), "hinge"),
    "nan": (PENDULUM.replace('"-1.5"', '"nan"'), "hinge"),
    "inf": (PENDULUM.replace('"8"', '"inf"'), "hinge"),
    "torque limit 0": (PENDULUM.replace(LIMIT, NO_EFFORT), "hinge"),
    "lower < upper": (PENDULUM.replace('"-1.5"', '"2"'), "hinge"),
    "not a float": (robot(link("base"), link("bob", mass="heavy"), joint("hinge", "base", "bob")), "bob"),
    "mass -3": (robot(link("base"), link("bob", mass="-3"), joint("hinge", "base", "bob")), "bob"),
    "the total mass is zero": (robot('<link name="base"/>'), "base"),
    "is not physical": (robot(link("base"), link("bob", inertia="1 0.1 0.1"), joint("hinge", "base", "bob")), "bob"),
    "mass 0 kg": (robot(link("base"), '<link name="bob"/>', joint("hinge", "base", "bob")), "bob"),
    "Planar": (robot(link("base"), link("bob"), joint("slide", "base", "bob", kind="planar")), "slide"),
}


@pytest.mark.parametrize(("expected", "text", "element"), [(key, *value) for key, value in BROKEN.items()])
def test_a_broken_urdf_is_one_line_with_file_and_element(
    tmp_path: Path, expected: str, text: str, element: str, capfd: pytest.CaptureFixture[str]
) -> None:
    path = write_urdf(tmp_path, text)
    error = load_error(path)
    assert expected in str(error)
    assert str(error).startswith(f"{path}: ")
    assert (error.file, error.element) == (str(path), element)
    assert capfd.readouterr() == ("", "")


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    assert "no such file" in str(load_error(tmp_path / "none.urdf"))
    path = tmp_path / "binary.urdf"
    path.write_bytes(b"\xff\xfe\x00")
    assert "not a text file" in str(load_error(path))
    assert "missing.urdf" in str(load_error(write_urdf(tmp_path, 'urdf = "missing.urdf"', "a.toml")))


def test_a_joint_that_follows_another_is_noted(tmp_path: Path) -> None:
    tied = joint("second", "base", "finger", limit=LIMIT + '<mimic joint="hinge"/>')
    path = write_urdf(tmp_path, robot(link("base"), link("bob"), link("finger"), joint("hinge", "base", "bob"), tied))
    assert load_robot(path).notes == ("joint 'second' follows 'hinge' in its URDF but moves freely here",)
