"""Contact: its axes, the wrench of its force variables, and refusal of invalid contacts."""

from collections.abc import Callable

import numpy as np
import pytest

from contact_states import TRIANGLE, example_contacts, random_dynamics_sample
from poise.errors import StateError
from poise.state import Contact, contact_of
from poise.state.contact_forces import DEFAULT_FRICTION
from robot_states import installed_robot, random_state

ROBOT = installed_robot("g1")
FOOT, HAND = ROBOT.foot("left"), ROBOT.hand("left")
FIRST = np.eye(4)[:, :1]  # picks one of four corners
KINDS = pytest.mark.parametrize("kind", example_contacts(ROBOT))


@KINDS
def test_its_axes_are_a_right_handed_frame_in_the_middle_with_z_along_the_normal(kind: str) -> None:
    contact = example_contacts(ROBOT)[kind]
    R, p = contact.frame_from_contact.rotation, contact.frame_from_contact.translation
    assert pytest.approx(np.eye(3), abs=1e-12) == R.T @ R
    assert np.linalg.det(R) == pytest.approx(1.0)
    assert p == pytest.approx(contact.corners.mean(axis=0), abs=1e-12)
    normal = np.array([1.0, -2.0, 0.5]) / np.linalg.norm([1.0, -2.0, 0.5]) if kind == "point" else [0.0, 0.0, 1.0]
    assert R[:, 2] == pytest.approx(normal)
    assert R[:, 0] @ [1.0, 0.0, 0.0] >= 0.0, "x is as much along the body's x as the plane allows"
    assert R[:, 1] @ [1.0, 0.0, 0.0] == pytest.approx(0.0, abs=1e-12)


@KINDS
def test_its_corners_are_the_outline_in_its_own_plane(kind: str) -> None:
    contact = example_contacts(ROBOT)[kind]
    flat = np.column_stack([contact.outline, np.zeros(len(contact.outline))])
    back = np.array([contact.frame_from_contact.act(corner) for corner in flat])
    assert back == pytest.approx(contact.corners, abs=1e-12)


@KINDS
@pytest.mark.parametrize("seed", range(3))
def test_the_basis_makes_the_wrench_of_the_unknowns(kind: str, seed: int) -> None:
    """φ = G y."""
    contact = example_contacts(ROBOT)[kind]
    at = random_dynamics_sample(random_state(ROBOT, seed), [contact], seed)
    assert contact.basis @ at.unknowns[contact] == pytest.approx(at.wrench(contact), abs=1e-9)
    assert contact.normal_row @ at.unknowns[contact] == pytest.approx(at.wrench(contact)[2], abs=1e-9)


def test_the_number_of_force_variables_follows_from_the_force_model() -> None:
    sizes = {kind: contact.size for kind, contact in example_contacts(ROBOT).items()}
    assert sizes == {"wrench": 6, "vertices": 12, "normals": 10, "triangle": 9, "point": 3}


def test_a_point_contact_always_has_a_single_force() -> None:
    for forces in ("wrench", "vertices", "normals"):
        contact = Contact(HAND, forces=forces)
        assert contact.point_like
        assert (contact.forces, contact.size, contact.rectangle) == ("vertices", 3, None)


def test_a_sole_is_a_rectangle_and_a_rotated_or_irregular_one_is_not() -> None:
    assert Contact(FOOT).rectangle == pytest.approx((0.085, 0.025))
    turned = FOOT.corners @ np.array([[0.8, -0.6, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]])
    assert Contact(FOOT, turned).rectangle is None
    assert Contact(FOOT, FOOT.corners + 0.01 * FIRST * [1, 0, 0]).rectangle is None
    assert Contact(FOOT, TRIANGLE).rectangle is None


def test_half_the_diagonal_makes_moments_of_the_size_of_forces() -> None:
    assert Contact(FOOT).radius == pytest.approx(np.hypot(0.085, 0.025))
    assert np.diag(Contact(FOOT).basis)[3:] == pytest.approx(Contact(FOOT).radius)


def test_contacts_with_the_same_facts_are_the_same_contact() -> None:
    assert Contact(FOOT) == contact_of(FOOT)
    assert hash(Contact(FOOT)) == hash(contact_of(FOOT))
    assert contact_of(Contact(FOOT, friction=0.3)).friction == 0.3
    others = [
        Contact(ROBOT.foot("right")),
        Contact(FOOT, friction=DEFAULT_FRICTION / 2),
        Contact(FOOT, forces="vertices"),
        Contact(FOOT, largest_force=10.0),
        Contact(FOOT, name="toes"),
        Contact(FOOT, 0.9 * FOOT.corners),
        Contact(FOOT, normal=(0.0, 0.0, -1.0)),
    ]
    assert len({Contact(FOOT), *others}) == 1 + len(others)
    assert Contact(FOOT) != FOOT


def test_it_has_a_readable_repr() -> None:
    assert repr(Contact(FOOT, friction=0.5)) == "Contact(left_sole, 4 corners, friction 0.5, wrench)"
    assert Contact(FOOT, name="toes").name == "toes"


WRONG: dict[str, tuple[Callable[[], object], tuple[str, ...]]] = {
    "no frame": (lambda: Contact("left_sole"), ("'left_sole'", "robot.foot('left')")),  # type: ignore[arg-type]
    "no normal": (lambda: Contact(FOOT, normal=(0, 0, 0)), ("normal is zero", "out of the surface")),
    "a normal of two": (lambda: Contact(FOOT, normal=(0, 1)), ("normal is (0, 1)", "3 finite numbers")),
    "a normal of NaN": (lambda: Contact(FOOT, normal=(0, 0, np.nan)), ("nan", "3 finite numbers")),
    "corners of words": (lambda: Contact(FOOT, "all"), ("corners is all", "l x 3")),
    "no corners": (lambda: Contact(FOOT, np.zeros((0, 3))), ("corners is []", "l x 3")),
    "corners in the plane": (lambda: Contact(FOOT, np.eye(2)), ("l x 3",)),
    "two corners": (lambda: Contact(FOOT, FOOT.corners[:2]), ("2 corners lie on a line", "three or more")),
    "corners that are no plane": (
        lambda: Contact(FOOT, FOOT.corners + 0.01 * FIRST * [0, 0, 1]),
        ("do not lie in one plane", "flat patch"),
    ),
    "corners across another normal": (lambda: Contact(FOOT, normal=(1, 0, 1)), ("do not lie in one plane",)),
    "no friction": (lambda: Contact(FOOT, friction=0.0), ("friction is 0.0", "positive")),
    "friction of a word": (lambda: Contact(FOOT, friction="rubber"), ("'rubber'", "positive")),  # type: ignore[arg-type]
    "friction without end": (lambda: Contact(FOOT, friction=np.inf), ("friction is inf", "positive")),
    "a force that pulls": (lambda: Contact(FOOT, largest_force=-1.0), ("largest_force is -1.0", "positive")),
    "an unknown model": (lambda: Contact(FOOT, forces="corners"), ("'corners'", "wrench, vertices, normals")),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("case", WRONG)
def test_the_error_names_the_given_and_the_expected_value_in_one_line(case: str) -> None:
    build, words = WRONG[case]
    with pytest.raises(StateError) as caught:
        build()
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 200
    for word in words:
        assert word in text, f"{word!r} is not in {text!r}"
