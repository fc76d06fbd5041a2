"""Which bodies of a robot are kept apart: those that can meet and do not touch anyway."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary
from xml.etree import ElementTree

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.constraints.gaps import Gaps
from poise.constraints.hulls import Hull, between
from poise.errors import RobotError, TaskError
from poise.robots import Frame, Robot
from poise.robots.capsules import capsules
from poise.tasks.axes import shown

Array = NDArray[np.float64]
Pair = tuple[int, int]

#: Bodies with no more joints between them always touch, or nearly so, and their joints' ranges keep them apart.
ADJACENT = 2
#: Postures tried to see which bodies can meet, all joints anywhere in their ranges; a tenth of a second.
POSTURES = 1000
#: Bodies that never come nearer than this (m) in any of them cannot meet: what lies between two tries is less.
NEAR = 0.05


class MeetingPairs(NamedTuple):
    """Pairs of bodies that can meet.

    Attributes:
        pairs: indices among the capsules of the robot.
        standing: gaps of their capsules in the first stance, m.
        hulls: gaps of their hulls there; those of the capsules where these are more than NEAR apart.
    """

    pairs: tuple[Pair, ...]
    standing: Array
    hulls: Array


def meeting_pairs(robot: Robot, srdf: str | Path | None = None) -> MeetingPairs:
    """Pairs of bodies that can meet, found once per robot.

    They are all pairs but those with ADJACENT joints or fewer between them, those that an SRDF file disables, those
    whose hulls touch in the first stance, those that stay apart in POSTURES random postures (always the same ones), and
    a body with one that it carries where their capsules are too fat to be apart in the stance.

    Args:
        robot: whose pairs.
        srdf: the file; None: those beside the robot's URDF that bear its name.

    >>> meeting_pairs(robot).pairs
    """
    known = _found.setdefault(robot, {})
    if srdf not in known:
        bodies, disabled, supports = capsules(robot), _disabled(robot, srdf), robot.model.supports
        pairs = [
            (a, b)
            for a, b in combinations(range(len(bodies)), 2)
            if len(set(supports[bodies[a].joint]) ^ set(supports[bodies[b].joint])) > ADJACENT
            and not all(frozenset(links) in disabled for links in product(bodies[a].links, bodies[b].links))
        ]
        if not pairs:
            return MeetingPairs((), np.zeros(0), np.zeros(0))
        stance = next(iter(robot.stances.values()), robot.rest)
        gaps = gaps_at(robot, pairs, np.vstack([stance, _postures(robot)]))
        hulls = _hull_gaps(robot, pairs, gaps[0], stance)
        carried = np.array([bodies[a].joint in supports[bodies[b].joint] for a, b in pairs], dtype=bool)
        kept = np.flatnonzero((hulls > 0.0) & (gaps.min(axis=0) < NEAR) & ~(carried & (gaps[0] < 0.0)))
        known[srdf] = MeetingPairs(tuple(pairs[k] for k in kept), gaps[0, kept], hulls[kept])
    return known[srdf]


_found: WeakKeyDictionary[Robot, dict[str | Path | None, MeetingPairs]] = WeakKeyDictionary()


def gaps_at(robot: Robot, pairs: Sequence[Pair], postures: Array) -> Array:
    """Gaps of pairs of capsules (m), one line per posture q."""
    model, data = robot.model, robot.model.createData()
    gaps = Gaps(model, capsules(robot), pairs)
    out = np.zeros((len(postures), len(pairs)))
    rotations = [data.oMi[joint].rotation for joint in gaps.joints]
    translations = [data.oMi[joint].translation for joint in gaps.joints]
    for line, q in zip(out, postures, strict=True):
        pinocchio.forwardKinematics(model, data, q)
        line[:] = gaps.measure(gaps.place(rotations, translations))[0]
    return out


def _hull_gaps(robot: Robot, pairs: Sequence[Pair], gaps: Array, q: Array) -> Array:
    """Gaps of the hulls of pairs at a posture, where those of the capsules are small."""
    data = robot.model.createData()
    pinocchio.forwardKinematics(robot.model, data, q)
    near = np.flatnonzero(gaps < NEAR).tolist()
    used = sorted({index for k in near for index in pairs[k]})
    hulls = {index: Hull(capsules(robot)[index]) for index in used}
    out = gaps.copy()
    for k in near:
        a, b = (hulls[index] for index in pairs[k])
        met = between(a, data.oMi[a.joint], b, data.oMi[b.joint])
        out[k] = gaps[k] if met is None else max(met.gap, gaps[k])  # a hull lies inside its capsule
    return out


def _postures(robot: Robot) -> Array:
    """Random postures with all joints in their ranges, the base at rest; the same at every call."""
    random = np.random.default_rng(0)
    postures = np.tile(robot.rest, (POSTURES, 1))
    places = [joint.q for joint in robot.joints]
    postures[:, places] = random.uniform(robot.limits.lower, robot.limits.upper, (POSTURES, len(places)))
    return postures


def _disabled(robot: Robot, srdf: str | Path | None) -> set[frozenset[str]]:
    """Pairs of links that SRDF files say need no look (``<disable_collisions link1= link2=>``)."""
    urdf = robot._shapes.path
    name = ElementTree.fromstring(robot._shapes.text).get("name", "").lower()
    disabled = set()
    for file in (
        [Path(srdf)] if srdf else sorted({*urdf.parent.glob("*.srdf"), *urdf.parent.parent.glob("srdf/*.srdf")})
    ):
        try:
            root = ElementTree.parse(file).getroot()
        except (OSError, ElementTree.ParseError) as error:
            if srdf:
                raise TaskError(
                    f"{file}: not an SRDF file that can be read: {error}; give pairs=None or links"
                ) from None
            continue
        if srdf or root.get("name", "").lower() == name:
            ties = root.iter("disable_collisions")
            disabled |= {frozenset((tie.get("link1", ""), tie.get("link2", ""))) for tie in ties}
    return disabled


def named_pairs(robot: Robot, pairs: Iterable[Any], task: str) -> tuple[Pair, ...]:
    """Pairs of capsules from pairs of frames, joints or their names; what has no shape stands for what moves with it.

    >>> named_pairs(robot, [(robot.hand("left"), "torso_link")], "apart")
    """
    if not isinstance(pairs, Iterable):
        raise TaskError(
            f"{task}: pairs is {shown(pairs)}; expected pairs of frames, None, or the path of an SRDF", task
        )
    bodies = capsules(robot)
    found: dict[Pair, None] = {}
    for pair in pairs:
        if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
            raise TaskError(f"{task}: {shown(pair)} is not a pair; expected two frames or names of links", task)
        for a, b in product(*(_capsules_of(robot, part, task) for part in pair)):
            if bodies[a].joint == bodies[b].joint:
                words = " and ".join(str(getattr(part, "name", part)) for part in pair)
                raise TaskError(f"{task}: {words} are parts of one body, which never moves apart; drop the pair", task)
            found[min(a, b), max(a, b)] = None
    if not found:
        raise TaskError(f"{task}: there are no pairs; give some, or None for all that can meet", task)
    return tuple(found)


def _capsules_of(robot: Robot, part: Any, task: str) -> list[int]:
    """The capsule around a link or around what a frame is fixed to; for a joint all that it carries."""
    if isinstance(part, Frame) and part.robot_name != robot.name:
        raise TaskError(f"{task}: {part.name} belongs to {part.robot_name}; give parts of {robot.name}", task)
    bodies = capsules(robot)
    try:
        frame = robot.frame(part if isinstance(part, str) else getattr(part, "name", repr(part)))
    except RobotError as error:
        raise TaskError(f"{task}: {error}", task) from None
    index = frame.index
    while robot.model.frames[index].parentJoint == frame.joint and index:
        around = [k for k, body in enumerate(bodies) if robot.model.frames[index].name in body.links]
        if around or robot.model.frames[index].type == pinocchio.FrameType.JOINT:
            break
        index = robot.model.frames[index].parentFrame
    around = around or [k for k, body in enumerate(bodies) if body.joint == frame.joint]
    if not around:
        raise TaskError(f"{task}: {frame.name} has no shape; give a link that has, e.g. {bodies[0].name!r}", task)
    return around
