"""A skeleton over time: where its joints are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poise.human.files.axes import Z_UP
from poise.human.trial import Trial

Array = NDArray[np.float64]

#: Rotation of any joint from one frame to the next (rad) that no person manages, even at 30 frames a second, and how
#: many times the usual one of the same file it must be.
JUMP, TIMES = np.radians(15.0), 10.0


@dataclass(frozen=True, eq=False)
class BvhMotion:
    """Joints and their motion, lengths in m, in the axes of the file.

    Attributes:
        path: the file.
        joints: k names, each behind its parent; the end of a chain is called after it, e.g. ``"Head_end"``.
        parents: place of each joint's parent among the joints, -1 for the root.
        offsets: k x 3, m, of a joint in its parent, in the rest pose.
        translations: n x k x 3, m, of a joint in its parent; the offset unless the file moves it.
        rotations: n x k x 3 x 3, ``parent_from_joint``.
        time: n, s, begins at 0.
        up: the axis of the file that is up.
        notes: what was decided on the way, one sentence each.
    """

    path: str
    joints: tuple[str, ...]
    parents: tuple[int, ...]
    offsets: Array
    translations: Array
    rotations: Array
    time: Array
    up: str = "y"
    notes: tuple[str, ...] = ()

    def positions(self) -> Array:
        """Where the joints are in the world, n x k x 3, m, z up.

        With t_j and R_j of a joint in its parent p: ``x_j = x_p + G_p t_j``, ``G_j = G_p R_j``; then turned so that z
        is up.
        """
        x, G = np.array(self.translations), np.array(self.rotations)
        for j, p in enumerate(self.parents):
            if p >= 0:
                x[:, j] = x[:, p] + np.einsum("nij,nj->ni", G[:, p], self.translations[:, j])
                G[:, j] = G[:, p] @ self.rotations[:, j]
        world: Array = x @ Z_UP[self.up].T
        return world

    def as_trial(self) -> Trial:
        """The joint centres as if they were markers, with the names of the joints as labels."""
        rate = 1.0 / float(self.time[1] - self.time[0]) if len(self.time) > 1 else 1.0
        return Trial(
            self.path,
            rate,
            self.time,
            self.joints,
            self.positions(),
            notes=(*self.notes, "Joint centres of a skeleton, not markers."),
        )


def turns(axis: int, angles: Array) -> Array:
    """Rotations about a coordinate axis, n angles (rad) to n x 3 x 3."""
    c, s = np.cos(angles), np.sin(angles)
    R = np.zeros((len(angles), 3, 3))
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R[:, axis, axis] = 1.0
    R[:, i, i], R[:, i, j], R[:, j, i], R[:, j, j] = c, -s, s, c
    return R


def first_frame_apart(rotations: Array) -> bool:
    """Whether the first frame is far from the second, n x k x 3 x 3: a pose that somebody put there."""
    if len(rotations) < 4:
        return False
    cosine = (np.einsum("nkij,nkij->nk", rotations[:-1], rotations[1:]) - 1.0) / 2.0
    largest = np.arccos(np.clip(cosine, -1.0, 1.0)).max(axis=1)
    return bool(largest[0] > max(JUMP, TIMES * np.median(largest[1:])))
