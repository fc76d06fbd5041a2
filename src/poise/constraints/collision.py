"""Self-collision avoidance: the constraint, and the search for pairs of bodies that can collide."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary
from xml.etree import ElementTree

import numpy as np
import pinocchio
from numpy.typing import ArrayLike

from poise.arrays import Array
from poise.constraints.distances import CapsulePairs, Hull, NearestHullPairs, NearestPairs, hull_distance
from poise.errors import RobotError, TaskError
from poise.parsing import format_value
from poise.robots import Frame, Joint, Robot, State, capsules
from poise.state import FRAMES, Snapshot
from poise.tasks import (
    ACCELERATION,
    Decay,
    MotionTask,
    TaskDynamics,
    TaskRows,
    VariableLayout,
    Writer,
    check_task_number,
)

PairIndices = tuple[int, int]

#: Bodies with this many joints or fewer between them (nearly) touch in all postures; joint ranges keep them apart.
ADJACENT_JOINTS = 2
#: Number of random postures in which pairs are tested, with all joints inside their ranges; takes a tenth of a second.
RANDOM_POSTURES = 1000
#: Bodies that stay farther apart than this (m) in all random postures count as unable to collide; the margin covers
#: the postures between the samples.
NEAR_GAP = 0.05


class CollisionPairs(NamedTuple):
    """Pairs of bodies that can collide.

    Attributes:
        pairs: per pair two indices into the capsules of the robot.
        stance_gaps: gap between the capsules of each pair in the first stance, m.
        hull_gaps: gap between the convex hulls of each pair in the first stance, m; if the capsules are `NEAR_GAP` or
            more apart, the gap of the capsules.
    """

    pairs: tuple[PairIndices, ...]
    stance_gaps: Array
    hull_gaps: Array


def collision_pairs(robot: Robot, srdf: str | Path | None = None) -> CollisionPairs:
    """Return the pairs of bodies that can collide, computed once per robot.

    These are all pairs except

    - bodies with `ADJACENT_JOINTS` joints or fewer between them;
    - bodies that an SRDF file allows to collide (``disable_collisions``);
    - bodies whose convex hulls touch in the first stance;
    - bodies whose capsules stay at least `NEAR_GAP` apart in the first stance and in `RANDOM_POSTURES` random postures
      (always the same ones);
    - a body and a descendant of it in the kinematic tree, if their capsules overlap in the first stance.

    Args:
        robot: the robot.
        srdf: path of an SRDF file; None: all files near the URDF of the robot that have its name.

    >>> collision_pairs(robot).pairs
    """
    pairs_by_srdf = _pairs_by_robot.setdefault(robot, {})
    if srdf not in pairs_by_srdf:
        bodies, disabled, supports = capsules(robot), _disabled_pairs(robot, srdf), robot.model.supports
        pairs = [
            (a, b)
            for a, b in combinations(range(len(bodies)), 2)
            if len(set(supports[bodies[a].joint]) ^ set(supports[bodies[b].joint])) > ADJACENT_JOINTS
            and not all(frozenset(links) in disabled for links in product(bodies[a].links, bodies[b].links))
        ]
        if not pairs:
            return CollisionPairs((), np.zeros(0), np.zeros(0))
        stance = next(iter(robot.stances.values()), robot.rest)
        gaps = pair_gaps(robot, pairs, np.vstack([stance, _random_postures(robot)]))
        hulls = _hull_gaps(robot, pairs, gaps[0], stance)
        is_descendant = np.array([bodies[a].joint in supports[bodies[b].joint] for a, b in pairs], dtype=bool)
        selection = np.flatnonzero((hulls > 0.0) & (gaps.min(axis=0) < NEAR_GAP) & ~(is_descendant & (gaps[0] < 0.0)))
        pairs_by_srdf[srdf] = CollisionPairs(tuple(pairs[k] for k in selection), gaps[0, selection], hulls[selection])
    return pairs_by_srdf[srdf]


_pairs_by_robot: WeakKeyDictionary[Robot, dict[str | Path | None, CollisionPairs]] = WeakKeyDictionary()


def pair_gaps(robot: Robot, pairs: Sequence[PairIndices], postures: Array) -> Array:
    """Return the gaps of pairs of capsules (m): one line per posture q, one column per pair."""
    model, data = robot.model, robot.model.createData()
    gaps = CapsulePairs(model, capsules(robot), pairs)
    out = np.zeros((len(postures), len(pairs)))
    rotations = [data.oMi[joint].rotation for joint in gaps.joints]
    translations = [data.oMi[joint].translation for joint in gaps.joints]
    for line, q in zip(out, postures, strict=True):
        pinocchio.forwardKinematics(model, data, q)
        line[:] = gaps.measure(gaps.place(rotations, translations))[0]
    return out


def body_overlap(robot: Robot, postures: Array) -> float:
    """Return the largest overlap of two bodies of a robot in some postures q (m); 0 if all stay apart.

    Pairs are selected by their capsules, and their overlap is measured between convex hulls. For a robot whose shapes
    cannot be read the result is 0.

    >>> body_overlap(robot, recording["q"][::25])
    0.0136
    """
    try:
        pairs = collision_pairs(robot).pairs
    except RobotError:
        return 0.0
    if not pairs or not len(postures):
        return 0.0
    gaps = pair_gaps(robot, pairs, postures)
    worst, hulls = 0.0, dict[int, Hull]()
    for line, q in zip(gaps, postures, strict=True):
        near = np.flatnonzero(line < -worst).tolist()  # a hull lies inside its capsule: others overlap less
        if near:
            overlaps = -_hull_gaps(robot, [pairs[k] for k in near], line[near], q, hulls)
            worst = max(worst, float(overlaps.max()))
    return worst


def _hull_gaps(
    robot: Robot, pairs: Sequence[PairIndices], gaps: Array, q: Array, hulls: dict[int, Hull] | None = None
) -> Array:
    """Return the gaps of pairs at a posture q (m), between hulls where the gap of the capsules is below `NEAR_GAP`.

    Args:
        robot, pairs: the robot, and pairs of indices into its capsules.
        gaps: gaps of the capsules at q, m.
        q: posture.
        hulls: cache of hulls by index of their capsule, to which new ones are added.
    """
    data = robot.model.createData()
    pinocchio.forwardKinematics(robot.model, data, q)
    near = np.flatnonzero(gaps < NEAR_GAP).tolist()
    cache = {} if hulls is None else hulls
    for index in sorted({index for k in near for index in pairs[k]} - cache.keys()):
        cache[index] = Hull(capsules(robot)[index])
    out = gaps.copy()
    for k in near:
        a, b = (cache[index] for index in pairs[k])
        closest = hull_distance(a, data.oMi[a.joint], b, data.oMi[b.joint])
        out[k] = gaps[k] if closest is None else max(closest.gap, gaps[k])  # a hull lies inside its capsule
    return out


def _random_postures(robot: Robot) -> Array:
    """Return random postures with all joints inside their ranges and the base at its rest pose; always the same."""
    random = np.random.default_rng(0)
    postures = np.tile(robot.rest, (RANDOM_POSTURES, 1))
    joint_indices = [joint.q for joint in robot.joints]
    postures[:, joint_indices] = random.uniform(
        robot.limits.lower, robot.limits.upper, (RANDOM_POSTURES, len(joint_indices))
    )
    return postures


def _disabled_pairs(robot: Robot, srdf: str | Path | None) -> set[frozenset[str]]:
    """Return the pairs of links that SRDF files disable (``<disable_collisions link1= link2=>``)."""
    urdf = robot._geometry.path
    name = ElementTree.fromstring(robot._geometry.text).get("name", "").lower()
    disabled = set()
    for file in (
        [Path(srdf)] if srdf else sorted({*urdf.parent.glob("*.srdf"), *urdf.parent.parent.glob("srdf/*.srdf")})
    ):
        try:
            root = ElementTree.parse(file).getroot()
        except (OSError, ElementTree.ParseError) as error:
            if srdf:
                raise TaskError(f"{file}: not an SRDF file: {error}; give pairs=None or pairs of links") from None
            continue
        if srdf or root.get("name", "").lower() == name:
            disabled_elements = root.iter("disable_collisions")
            disabled |= {
                frozenset((element.get("link1", ""), element.get("link2", ""))) for element in disabled_elements
            }
    return disabled


def resolve_pairs(robot: Robot, pairs: Iterable[Any], task: str) -> tuple[PairIndices, ...]:
    """Return pairs of indices into the capsules of a robot, from pairs of frames, joints or their names.

    A frame without a shape stands for the links that it is fixed to. `task` is the name in error messages.

    >>> resolve_pairs(robot, [(robot.hand("left"), "torso_link")], "apart")
    """
    if not isinstance(pairs, Iterable):
        raise TaskError(
            f"{task}: pairs is {format_value(pairs)}; expected pairs of frames, None, or the path of an SRDF", task
        )
    bodies = capsules(robot)
    indices: dict[PairIndices, None] = {}
    for pair in pairs:
        if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
            raise TaskError(f"{task}: {format_value(pair)} is not a pair; expected two frames or names of links", task)
        for a, b in product(*(capsule_indices(robot, part, task) for part in pair)):
            if bodies[a].joint == bodies[b].joint:
                names = " and ".join(str(part.name if isinstance(part, (Frame, Joint)) else part) for part in pair)
                raise TaskError(f"{task}: {names} are parts of one body and cannot collide; drop the pair", task)
            indices[min(a, b), max(a, b)] = None
    if not indices:
        raise TaskError(f"{task}: no pairs were given; give some, or None for all that can collide", task)
    return tuple(indices)


def capsule_indices(robot: Robot, part: Any, task: str) -> list[int]:
    """Return the indices of the capsules of a link, of the link that a frame is fixed to, or of a joint's links."""
    if isinstance(part, Frame) and part.robot_name != robot.name:
        raise TaskError(f"{task}: {part.name} belongs to {part.robot_name}; give parts of {robot.name}", task)
    bodies = capsules(robot)
    try:
        name = part.name if isinstance(part, (Frame, Joint)) else part
        frame = robot.frame(name if isinstance(name, str) else repr(name))
    except RobotError as error:
        raise TaskError(f"{task}: {error}", task) from None
    index = frame.index
    while robot.model.frames[index].parentJoint == frame.joint and index:
        found_indices = [k for k, body in enumerate(bodies) if robot.model.frames[index].name in body.links]
        if found_indices or robot.model.frames[index].type == pinocchio.FrameType.JOINT:
            break
        index = robot.model.frames[index].parentFrame
    found_indices = found_indices or [k for k, body in enumerate(bodies) if body.joint == frame.joint]
    if not found_indices:
        raise TaskError(f"{task}: {frame.name} has no shape; give a link with a shape, e.g. {bodies[0].name!r}", task)
    return found_indices


# -- SelfCollision ---------------------------------------------------------------------------------------------------


#: Default largest number of rows: standing, G1 and Talos have 20 to 40 pairs within 10 cm; coal takes 20 µs per pair.
MAX_ROWS = {"capsules": 64, "meshes": 32}


class SelfCollision(MotionTask):
    """Keep bodies of the robot at a distance from each other.

    The error of a row is the gap d between two bodies (m, negative if they overlap). It stays above `distance` and,
    with g the gain of the task dynamics, shrinks no faster than ``ḋ >= -g (d - distance)``; bodies that are closer
    separate at that rate.

    Bodies are capsules around the shapes of the links (`poise.robots.collision_capsules`), whose gaps, Jacobians and
    drifts are exact and take some 10 µs for hundreds of pairs; or, tighter but slower, the convex hulls of their
    meshes, computed by coal. A pair keeps its row while it is among the nearest, so that the warm start of a solver
    remains valid.

    Args:
        robot: the robot.
        distance: smallest gap, m. Neighboring links are often closer than this in the first stance. With meshes, a
            pair whose hulls are closer than ``2 distance`` there gets half of their gap instead. With capsules, which
            enclose the hulls, this applies to pairs whose capsules are closer than `distance` there, and the difference
            between both gaps there is subtracted. Explicit pairs always use `distance`.
        pairs: pairs of frames or of names of links or joints; None: all that can collide (`collision_pairs`); the path
            of an SRDF file: all that can collide, except the pairs that it disables.
        joints: use only pairs with a body fixed to one of these joints, e.g. of the arms; None: all pairs. Ignored
            with explicit pairs.
        shapes: "capsules" or "meshes".
        rows: number of rows, for the nearest pairs; None: all pairs, but at most 64 (32 with meshes).
        influence: gap beyond which a pair is ignored, m. Pairs therefore approach each other at g (influence -
            distance) at most when they come within it.
        dynamics: limits how fast gaps shrink; None: ``Decay(10)``, which brakes a hand at 1 m/s with 10 m/s².

    >>> poise.Hierarchy(always=[constraints.JointRange(robot), constraints.SelfCollision(robot)], levels=[...])
    >>> constraints.SelfCollision(robot, distance=0.05, pairs=[(robot.hand("left"), robot.chest)])
    """

    unit = "m"
    required_terms = FRAMES

    def __init__(
        self,
        robot: Robot,
        distance: float = 0.02,
        pairs: Iterable[tuple[Any, Any]] | str | Path | None = None,
        shapes: str = "capsules",
        rows: int | None = None,
        influence: float = 0.2,
        joints: Iterable[Joint] | None = None,
        weight: ArrayLike = 1.0,
        dynamics: TaskDynamics | None = None,
        name: str = "self-collision",
    ) -> None:
        if not isinstance(robot, Robot):
            raise TaskError(f"{name}: {format_value(robot)} is not a robot; give a Robot, e.g. from load_robot()", name)
        if shapes not in tuple(MAX_ROWS):
            raise TaskError(f"{name}: shapes is {format_value(shapes)}; expected 'capsules' or 'meshes'", name)
        if rows is not None and not (isinstance(rows, int) and rows > 0):
            raise TaskError(f"{name}: rows is {format_value(rows)}; expected a positive whole number, or None", name)
        self.robot: Robot = robot
        self.shapes = shapes
        self.distance, self.influence = (
            check_task_number(distance, "distance", name),
            check_task_number(influence, "influence", name),
        )
        if not self.distance < self.influence:
            raise TaskError(f"{name}: influence is {influence}; expected more than the distance, {distance}", name)
        if pairs is None or isinstance(pairs, (str, Path)):
            candidates = collision_pairs(robot, pairs)
            self.indices = candidates.pairs
            self.min_gaps = np.minimum(self.distance, 0.5 * candidates.hull_gaps)
            if shapes == "capsules":
                is_close = candidates.stance_gaps < self.distance
                enclosure = candidates.hull_gaps - candidates.stance_gaps
                self.min_gaps = np.where(is_close, self.min_gaps - enclosure, self.distance)
            if joints is not None:
                joint_of = [capsule.joint for capsule in capsules(robot)]
                indices = {joint.index for joint in joints}
                selection = [k for k, pair in enumerate(self.indices) if any(joint_of[i] in indices for i in pair)]
                self.indices, self.min_gaps = tuple(self.indices[k] for k in selection), self.min_gaps[selection]
        else:
            self.indices = resolve_pairs(robot, pairs, name)
            self.min_gaps = np.full(len(self.indices), self.distance)
        if not self.indices:
            raise TaskError(
                f"{name}: {robot.name} has no bodies that can collide; give pairs=[(frame, frame), ...]", name
            )
        self.row_count = min(len(self.indices), rows or MAX_ROWS[shapes])
        super().__init__(name, weight, (self.distance, np.inf), dynamics or Decay(10.0), self.row_count)
        bodies = capsules(robot)
        hull_indices = sorted({index for pair in self.indices for index in pair}) if shapes == "meshes" else []
        self._hulls = {index: Hull(bodies[index]) for index in hull_indices}
        self.pairs = tuple((bodies[a].name, bodies[b].name) for a, b in self.indices)

    def labels(self, robot: Robot) -> tuple[str, ...]:
        if robot.name != self.robot.name:
            raise TaskError(
                f"{self.name}: made for {self.robot.name}, not for {robot.name}; build a new one", self.name
            )
        if self.row_count == len(self.pairs):
            return tuple(f"{a} - {b}" for a, b in self.pairs)
        return tuple(f"near pair {i}" for i in range(self.row_count))

    def gaps(self, state: State | Snapshot) -> dict[tuple[str, str], float]:
        """Return all pairs of this constraint with their gaps (m), the nearest first.

        >>> next(iter(constraint.gaps(state).items()))
        (('pelvis', 'left_rubber_hand'), 0.083)
        """
        snapshot = state if isinstance(state, Snapshot) else Snapshot(self.robot).at(state)
        snapshot.compute(FRAMES)
        nearest = self._nearest_pairs(snapshot, len(self.pairs))
        nearest.update()
        return {self.pairs[k]: float(nearest.gap[k]) for k in np.argsort(nearest.gap, kind="stable")}

    def bind_error(self, snapshot: Snapshot, task_rows: TaskRows, layout: VariableLayout) -> Sequence[Writer]:
        write, write_drift = self._nearest_pairs(snapshot, self.row_count).writers(
            task_rows, self.min_gaps, self.influence
        )
        return [write, write_drift] if layout.order == ACCELERATION else [write]

    def _nearest_pairs(self, snapshot: Snapshot, rows: int) -> NearestPairs:
        gaps = CapsulePairs(self.robot.model, capsules(self.robot), self.indices)
        if not self._hulls:
            return NearestPairs(snapshot, gaps, rows)
        hulls = [(self._hulls[a], self._hulls[b]) for a, b in self.indices]
        return NearestHullPairs(snapshot, gaps, rows, hulls, self.influence)
