"""What physics adds to a hierarchy: contacts, the levels above it, and from a solution to torques."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from poise.constraints import (
    EquationOfMotion,
    FrictionCone,
    NormalForces,
    PlanarContact,
    TorqueLimit,
    WrenchCone,
    contact_constraints,
)
from poise.control.controller import Bound
from poise.errors import PoiseError
from poise.hierarchy import Hierarchy
from poise.robots import Robot
from poise.state import Contact, _motion  # type: ignore[attr-defined]
from poise.tasks import Task

Array = NDArray[np.float64]

#: A solution is possible if no torque is above its limit, and the base no further from its equation, than this share
#: of the limit and of the weight. Solutions are exact to 1e-9; what is above is a compromise.
POSSIBLE = 1e-6
CONES = (FrictionCone, NormalForces, PlanarContact, WrenchCone)


class Physical(Bound):
    """A hierarchy bound under the equation of motion.

    Args:
        bound: the hierarchy, bound; its first tasks are physics.
        count: how many they are.
        limit: of the torques (N m).
        least: by how much the equation of the base may be missed (N, N m).

    Attributes:
        forces: the unknowns of its contacts.
        decide: from a solution to torques and velocities, and whether physics allows it.
        physical: the rows that are physics.
    """

    def __init__(self, bound: Bound, count: int, limit: Array, least: float) -> None:
        super().__init__(bound.assembly, bound.layout, bound.groups, bound.damping)
        data, forces = bound.assembly.snapshot.data, bound.layout.forces
        assert forces is not None
        self.forces = forces
        self.decide: Callable[[Array, Array, Array, Array], bool] = _motion.Decision(
            data.M, data.nle, forces.lines, np.zeros(len(data.nle)), limit, least, POSSIBLE, bound.layout.period
        ).decide
        blocks = bound.assembly.stack.blocks[:count]
        self.physical = slice(0, blocks[-1].rows.stop if blocks else 0)


def planned_contacts(hierarchy: Hierarchy) -> tuple[Contact, ...]:
    """The contacts that the tasks of a hierarchy speak of, each once."""
    found: dict[str, Contact] = {}
    for task in hierarchy.tasks:
        for contact in task.contacts():
            other = found.setdefault(contact.name, contact)
            if other != contact:
                raise PoiseError(
                    f"two contacts are called '{contact.name}' and differ; build one Contact and give it to all tasks, "
                    "or give each a name"
                )
    return tuple(found.values())


def physics(hierarchy: Hierarchy, robot: Robot, contacts: Sequence[Contact]) -> list[Task]:
    """What physics demands and the hierarchy does not give a place to; what motors can give, wherever it stands."""
    tasks = hierarchy.tasks
    added: list[Task] = [TorqueLimit(robot)]  # a limit of the user's may be for some joints only, or give way
    if not any(isinstance(task, EquationOfMotion) for task in tasks):
        added.insert(0, EquationOfMotion())
    for contact in contacts:
        named = [task for task in tasks if isinstance(task, CONES) and task.contact == contact]
        if not named:
            added += contact_constraints(contact)
        elif not any(isinstance(task, NormalForces) for task in named):
            added.append(NormalForces(contact))
    return added
