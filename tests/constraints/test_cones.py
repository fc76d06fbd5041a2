"""Limits of contact wrenches: friction and wrench cones against linear programs over the forces at the corners."""

import numpy as np
import pytest
from scipy.optimize import linprog

from contact_states import TRIANGLE, force_layout
from poise.constraints import (
    INSCRIBED_PYRAMID,
    FrictionCone,
    NormalForces,
    PlanarContact,
    WrenchCone,
    contact_constraints,
)
from poise.constraints.dynamics import wrench_cone
from poise.errors import TaskError
from poise.solvers import Rows
from poise.state import Contact, LoadedPatch, Snapshot
from poise.tasks import Assembly, Task
from robot_states import installed_robot, not_none

ROBOT = installed_robot("g1")
START = ROBOT.stance("standing")
FOOT = ROBOT.foot("left")


def rows_of(contact: Contact, tasks: list[Task]) -> list[Rows]:
    """Rows on (v̇, y / kg), with the columns of accelerations left out."""
    snapshot = Snapshot(ROBOT).at(START)
    layout = force_layout(snapshot, [contact])
    found = [task.rows(snapshot, layout) for task in tasks]
    assert not any(rows.A[:, : layout.nv].any() for rows in found)
    return [Rows(rows.A[:, layout.nv :], rows.lower, rows.upper) for rows in found]


def reachable(contact: Contact, rows: list[Rows], wrench: np.ndarray) -> bool:
    """Return whether variables that satisfy these rows produce a wrench, by linear programming."""
    A, lower, upper = (np.concatenate([getattr(r, name) for r in rows]) for name in ("A", "lower", "upper"))
    low, high = np.isfinite(lower), np.isfinite(upper)
    answer = linprog(
        np.zeros(contact.size),
        A_ub=np.vstack([A[high], -A[low]]),
        b_ub=np.concatenate([upper[high], -lower[low]]) + 1e-9,
        A_eq=ROBOT.mass * contact.basis,
        b_eq=wrench,
        bounds=(None, None),
    )
    return answer.status == 0


def corner_wrenches(contact: Contact, mu: float, random: np.random.Generator) -> np.ndarray:
    """A wrench made of forces inside pyramids at the corners, some of them on an edge or zero."""
    total = np.zeros(6)
    for x, y in contact.outline:
        fz = random.choice([0.0, random.uniform(0.0, 200.0)])
        f = np.array([*(mu * fz * random.choice([-1.0, 1.0, *random.uniform(-1, 1, 2)], 2)), fz])
        total += np.concatenate([f, np.cross([x, y, 0.0], f)])
    return total


def random_wrench(contact: Contact, mu: float, random: np.random.Generator) -> np.ndarray:
    """A wrench about as large as the cone is wide."""
    X, Y = contact.rectangle or (0.05, 0.04)
    fz = random.uniform(50.0, 300.0)
    return (
        fz
        * np.array([mu, mu, 1.0, Y, X, mu * (X + Y)])
        * np.array([*random.normal(0, 0.6, 2), 1, *random.normal(0, 0.6, 3)])
    )


@pytest.mark.parametrize("seed", range(20))
def test_every_wrench_of_corner_forces_is_in_the_wrench_cone(seed: int) -> None:
    random, contact = np.random.default_rng(seed), Contact(FOOT)
    C = wrench_cone(*not_none(contact.rectangle), INSCRIBED_PYRAMID * contact.friction)
    for _ in range(20):
        wrench = corner_wrenches(contact, INSCRIBED_PYRAMID * contact.friction, random)
        assert (C @ wrench).min() >= -1e-9


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("shape", [(0.1, 0.05), (0.03, 0.12), (0.06, 0.06)])
def test_a_wrench_is_in_the_wrench_cone_exactly_if_corner_forces_can_produce_it(
    shape: tuple[float, float], seed: int
) -> None:
    random = np.random.default_rng(seed)
    corners = np.array([[a * shape[0], b * shape[1], 0.0] for a, b in ((1, 1), (-1, 1), (-1, -1), (1, -1))])
    contact = Contact(FOOT, corners, friction=float(random.uniform(0.2, 1.2)), forces="vertices")
    mu = INSCRIBED_PYRAMID * contact.friction
    C, vertices = wrench_cone(*shape, mu), rows_of(contact, contact_constraints(contact))
    inside = []
    for _ in range(12):
        wrench = random_wrench(contact, mu, random)
        room = (C @ wrench).min() / wrench[2]
        if abs(room) > 1e-6:  # not to rounding on the edge
            inside.append(room > 0.0)
            assert reachable(contact, vertices, wrench) == inside[-1]
    assert len(inside) > 8


@pytest.mark.parametrize(("begin", "end"), [(-1.0, 1.0), (0.9, 1.0), (-1.0, -0.8), (-0.3, 0.6)])
def test_a_loaded_patch_is_a_shorter_contact(begin: float, end: float) -> None:
    """The rows on a wrench about the middle of the sole are those on the same wrench about the middle of the patch."""
    patch = LoadedPatch()
    whole = Contact(FOOT, patch=patch)
    X, Y = not_none(whole.rectangle)
    outline = [(end * X, Y), (begin * X, Y), (begin * X, -Y), (end * X, -Y)]
    part = Contact(FOOT, [whole.frame_from_contact.act(np.array([x, y, 0.0])) for x, y in outline])
    patch.set(begin, end)
    force, moment = np.random.default_rng(3).normal(size=(2, 3))
    arm = np.array([0.5 * (begin + end) * X, 0.0, 0.0])
    of_patch, of_part = (
        rows_of(contact, [WrenchCone(contact)])[0].A @ np.linalg.solve(contact.basis, np.concatenate([force, m]))
        for contact, m in ((whole, moment + np.cross(arm, force)), (part, moment))
    )
    assert of_patch == pytest.approx(of_part)


def test_the_rows_follow_a_patch_that_changes() -> None:
    snapshot, patch = Snapshot(ROBOT).at(START), LoadedPatch()
    contact = Contact(FOOT, patch=patch)
    assembly = Assembly(snapshot, [("cone", [WrenchCone(contact)])], force_layout(snapshot, [contact]))

    def matrix() -> np.ndarray:
        assembly.write()
        return np.array(assembly.stack.program().levels[0][0].A)

    whole = matrix()
    patch.set(begin=0.9)
    assert np.abs(matrix() - whole).max() > 0.01
    patch.set()
    assert matrix() == pytest.approx(whole)


def test_random_wrenches_are_inside_and_outside_the_cone() -> None:
    random, contact = np.random.default_rng(0), Contact(FOOT)
    mu = INSCRIBED_PYRAMID * contact.friction
    C = wrench_cone(*not_none(contact.rectangle), mu)
    share = np.mean([(C @ random_wrench(contact, mu, random)).min() > 0.0 for _ in range(500)])
    assert 0.1 < share < 0.9


@pytest.mark.parametrize("seed", range(6))
def test_all_ways_to_write_forces_allow_the_same_wrenches(seed: int) -> None:
    """By linear programs over the variables of each force model, with the constraints of a controller."""
    random = np.random.default_rng(seed)
    models = [Contact(FOOT, forces=forces) for forces in ("wrench", "vertices", "normals")]
    demands = [rows_of(contact, contact_constraints(contact)) for contact in models]
    C, mu = (
        wrench_cone(*not_none(models[0].rectangle), INSCRIBED_PYRAMID * models[0].friction),
        INSCRIBED_PYRAMID * models[0].friction,
    )
    for _ in range(8):
        wrench = random_wrench(models[0], mu, random)
        expected = (C @ wrench).min() > 0.0
        assert [reachable(c, rows, wrench) for c, rows in zip(models, demands, strict=True)] == [expected] * 3


@pytest.mark.parametrize("corners", [None, TRIANGLE], ids=["sole", "triangle"])
@pytest.mark.parametrize("seed", range(6))
def test_planar_contact_and_normal_forces_keep_the_pressure_inside(corners: np.ndarray | None, seed: int) -> None:
    """[Saab2012] eq. 8: f⊥ >= 0 with Q_c (φ, f⊥) = 0 exists exactly if the center of pressure lies in the polygon."""
    random = np.random.default_rng(seed)
    contact = Contact(FOOT, corners, forces="normals")
    demands = rows_of(contact, [PlanarContact(contact), NormalForces(contact)])
    for _ in range(12):
        f = np.append(random.normal(0, 500.0, 2), random.uniform(10.0, 300.0))  # it does not limit friction
        place = random.uniform(1.6 * contact.outline.min(axis=0), 1.6 * contact.outline.max(axis=0))
        wrench = np.concatenate([f, [place[1] * f[2], -place[0] * f[2], random.normal(0.0, 100.0)]])
        assert reachable(contact, demands, wrench) == _inside(place, contact.outline)


def test_a_contact_cannot_pull() -> None:
    for forces in ("wrench", "vertices", "normals"):
        contact = Contact(FOOT, forces=forces)
        demands = rows_of(contact, contact_constraints(contact))
        assert reachable(contact, demands, np.zeros(6))
        assert not reachable(contact, demands, np.array([0.0, 0.0, -1.0, 0.0, 0.0, 0.0]))


def test_a_contact_force_stays_below_its_maximum() -> None:
    for forces in ("wrench", "vertices", "normals"):
        contact = Contact(FOOT, forces=forces, largest_force=100.0)
        demands = rows_of(contact, contact_constraints(contact))
        assert reachable(contact, demands, np.array([0.0, 0.0, 99.0, 0.0, 0.0, 0.0]))
        assert not reachable(contact, demands, np.array([0.0, 0.0, 101.0, 0.0, 0.0, 0.0]))


def test_the_pyramid_lies_inside_the_round_cone_and_touches_it() -> None:
    contact = Contact(FOOT, friction=0.8)
    (rows,) = rows_of(contact, [FrictionCone(contact)])
    angles = np.linspace(0.0, 2.0 * np.pi, 361)
    reach = []
    for angle in angles:
        ray = np.array([np.cos(angle), np.sin(angle), 0.0, 0.0, 0.0, 0.0])
        up = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
        towards, room = rows.A @ ray, rows.A @ up
        reach.append(min(room[towards < -1e-12] / -towards[towards < -1e-12]))
    assert max(reach) == pytest.approx(0.8)
    assert min(reach) == pytest.approx(0.8 / np.sqrt(2.0))


def test_a_cone_that_does_not_fit_the_contact_is_refused_at_construction() -> None:
    with pytest.raises(TaskError, match="not a rectangle along the axes of the contact; give Contact"):
        WrenchCone(Contact(FOOT, TRIANGLE))
    with pytest.raises(TaskError, match="the contact has forces='wrench'; give Contact"):
        PlanarContact(Contact(FOOT))
    with pytest.raises(TaskError, match="not a rectangle; give forces='vertices'"):
        contact_constraints(Contact(FOOT, TRIANGLE))


def _inside(point: np.ndarray, polygon: np.ndarray) -> bool:
    """Left of every edge of a counter-clockwise polygon."""
    ahead = np.roll(polygon, -1, axis=0) - polygon
    away = point - polygon
    return bool((ahead[:, 0] * away[:, 1] - ahead[:, 1] * away[:, 0] > 0.0).all())
