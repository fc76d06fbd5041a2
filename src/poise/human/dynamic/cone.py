"""Friction of the floor under a foot that rolls: the cone stands upright while the foot does not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from poise.constraints import FrictionCone, NormalForces
from poise.constraints.cones import INNER
from poise.robots import Robot
from poise.state import FRAMES, Snapshot
from poise.tasks.forces import ForceUnknowns
from poise.tasks.layout import Layout, Memory
from poise.tasks.task import Writer


class UprightCone(FrictionCone, NormalForces):
    """Level ground pushes on a point: ``|f_x|, |f_y| <= (μ/√2) f_z`` in world axes, which says ``f_z >= 0`` as well.

    With R the rotation of the contact's own axes, in which the force y is unknown, the rows are ``C R y >= 0``, C a
    pyramid; they change as the foot turns. It stands for both cones that other contacts have in their own axes.
    """

    needs = FRAMES

    def unknowns(self, robot: Robot, layout: Layout) -> Sequence[int] | None:
        return None  # rows of several unknowns each

    def row_unit(self, order: int) -> str:
        return "N"

    def bind_forces(
        self, snapshot: Snapshot, memory: Memory, layout: Layout, forces: ForceUnknowns
    ) -> Sequence[Writer]:
        mu, span, contact = INNER * self.contact.friction, forces.spans[self.contact], self.contact
        pyramid = forces.unit * np.array([[1.0, 0.0, mu], [-1.0, 0.0, mu], [0.0, 1.0, mu], [0.0, -1.0, mu]])
        memory.upper[:] = np.inf

        def write() -> None:
            rotation = (snapshot.pose(contact.frame) * contact.frame_from_contact).rotation
            memory.whole[:, span] = pyramid @ rotation

        return [write]
