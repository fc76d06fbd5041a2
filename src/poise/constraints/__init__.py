"""What must hold: constraints, which are tasks that usually stand in `always`.

| constraint | keeps |
|---|---|
| `JointRange`, `JointSpeed`, `JointAcceleration` | joints inside their limits, braking in time |
| `Box`, `Polyhedron`, `HalfSpace` | a point of the body in a region |
| `CenterOfMassInside` | the centre of mass above the support polygon |
| `SelfCollision` | bodies apart from each other |
| `PinnedContact` | a frame at rest |
| `RigidContact`, `NonPenetration` | a contact where it is; only out of the surface |
| `EquationOfMotion`, `TorqueLimit` | what physics and motors allow |
| `NormalForces`, `PlanarContact`, `FrictionCone`, `WrenchCone` | forces that a contact can bear |

They may as well stand in a level, where they give way to what is above them.
"""

from poise.constraints.collision import SelfCollision
from poise.constraints.contact import NonPenetration, PinnedContact, RigidContact
from poise.constraints.dynamics import (
    INSCRIBED_PYRAMID,
    EquationOfMotion,
    FrictionCone,
    NormalForces,
    PlanarContact,
    TorqueLimit,
    WrenchCone,
    contact_constraints,
)
from poise.constraints.joints import JointAcceleration, JointLimit, JointRange, JointSpeed
from poise.constraints.regions import Box, CenterOfMassInside, CenterOfMassPlanes, HalfSpace, Polyhedron

__all__ = [
    "INSCRIBED_PYRAMID",
    "Box",
    "CenterOfMassInside",
    "CenterOfMassPlanes",
    "EquationOfMotion",
    "FrictionCone",
    "HalfSpace",
    "JointAcceleration",
    "JointLimit",
    "JointRange",
    "JointSpeed",
    "NonPenetration",
    "NormalForces",
    "PinnedContact",
    "PlanarContact",
    "Polyhedron",
    "RigidContact",
    "SelfCollision",
    "TorqueLimit",
    "WrenchCone",
    "contact_constraints",
]
