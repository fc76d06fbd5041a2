"""The shapes of a robot as few triangles, for a browser that draws them thirty times a second."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poise.cache import Arrays, store, stored
from poise.robots import Robot

#: Triangles of one piece: a link, or as much of it as has one colour. Without a graphics card G1 is then drawn 4.5
#: times as often as in full detail.
MOST = 800
#: Grows whenever the same robot would give other triangles, or they are stored in another way.
VERSION = 2


@dataclass(frozen=True, eq=False)
class Piece:
    """What one joint carries in one colour.

    Attributes:
        joint: number of the joint of the pinocchio model.
        color: red, green, blue, alpha, from 0 to 1.
        points: n x 3, in the frame of the joint (m).
        faces: m x 3, to be seen from both sides; points on an edge are there once for each side, so that normals that
            are means over triangles do not round it.
    """

    joint: int
    color: tuple[float, float, float, float]
    points: NDArray[np.float32]
    faces: NDArray[np.uint32]


def pieces(robot: Robot, most: int = MOST) -> tuple[Piece, ...]:
    """The shapes of a robot, one piece for each joint and colour, at most so many triangles each.

    They are kept on disk, see `poise.cache`: making them takes seconds, reading them milliseconds.

    >>> sum(len(piece.faces) for piece in pieces(poise.load_robot("g1")))
    """
    name = _name(robot, most)
    found = _unpacked(stored(name) if name else None, robot)
    if found is None:
        from poise.studio.triangles import made  # here, because the renderer takes half a second to import

        found = tuple(
            Piece(joint, color, mesh.points.astype(np.float32), mesh.faces.astype(np.uint32))
            for joint, color, mesh in made(robot, most)
        )
        if name:
            store(name, _packed(found))
    return found


def _name(robot: Robot, most: int) -> str | None:
    """The same for robots that look the same; None if nobody can tell whether they do."""
    key = robot._shapes.key()
    facts = [VERSION, most, key, list(robot.model.names)]
    return f"shapes-{hashlib.sha256(repr(facts).encode()).hexdigest()[:32]}" if key else None


def _packed(found: tuple[Piece, ...]) -> Arrays:
    """All points and faces in one array each: reading many small ones takes longer."""
    return {
        "joints": np.array([piece.joint for piece in found], dtype=np.int64),
        "colors": np.array([piece.color for piece in found], dtype=np.float64).reshape(-1, 4),
        "counts": np.array([(len(p.points), len(p.faces)) for p in found], dtype=np.int64).reshape(-1, 2),
        "points": np.concatenate([np.zeros((0, 3), np.float32), *(piece.points for piece in found)]),
        "faces": np.concatenate([np.zeros((0, 3), np.uint32), *(piece.faces for piece in found)]),
    }


def _unpacked(arrays: Arrays | None, robot: Robot) -> tuple[Piece, ...] | None:
    """The pieces of stored arrays; None if these are none, or are not what `_packed` makes."""
    try:
        assert arrays is not None
        joints, colors, counts = (arrays[name] for name in ("joints", "colors", "counts"))
        n, m = np.cumsum(counts, axis=0)[:-1].T
        points, faces = np.split(arrays["points"], n), np.split(arrays["faces"], m)
        found = []
        for joint, color, p, f, (points_of, faces_of) in zip(joints, colors, points, faces, counts, strict=True):
            r, g, b, a = (float(part) for part in color)
            assert (p.shape, f.shape) == ((points_of, 3), (faces_of, 3))
            assert (p.dtype.name, f.dtype.name) == ("float32", "uint32")
            assert 0 <= int(joint) < robot.model.njoints
            assert np.isfinite(p).all()
            assert not f.size or int(f.max()) < len(p)
            found.append(Piece(int(joint), (r, g, b, a), p, f))
        return tuple(found)
    except (AssertionError, KeyError, ValueError, TypeError, IndexError):
        return None
