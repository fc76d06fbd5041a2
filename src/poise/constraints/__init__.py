"""Constraints: tasks that limit a motion and are usually part of `always`.

| constraint | keeps |
|---|---|
| `JointRange`, `JointSpeed`, `JointAcceleration` | joints inside their limits, braking in time |
| `Box`, `Polyhedron`, `HalfSpace` | a point of the body inside a region |
| `CenterOfMassInside` | the center of mass above the support polygon |
| `SelfCollision` | bodies of the robot apart from each other |
| `ObstacleDistance` | bodies of the robot apart from obstacles in the world, which may move |
| `PinnedContact` | a frame at rest |
| `RigidContact`, `NonPenetration` | a contact fixed; a contact from sinking into the surface |
| `StaticTorqueLimit` | postures that the motors can hold at rest on one foot |
| `EquationOfMotion`, `TorqueLimit` | motion, torques and forces consistent; torques inside motor limits |
| `NormalForces`, `PlanarContact`, `FrictionCone`, `WrenchCone` | contact forces feasible |

They can also be part of a level, where they yield to all higher levels.
"""

from poise.constraints.collision import SelfCollision, body_overlap, collision_pairs
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
from poise.constraints.obstacles import Obstacle, ObstacleDistance
from poise.constraints.regions import Box, CenterOfMassInside, CenterOfMassPlanes, HalfSpace, Polyhedron
from poise.constraints.static_torque import StaticTorqueLimit, static_torques

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
    "Obstacle",
    "ObstacleDistance",
    "PinnedContact",
    "PlanarContact",
    "Polyhedron",
    "RigidContact",
    "SelfCollision",
    "StaticTorqueLimit",
    "TorqueLimit",
    "WrenchCone",
    "body_overlap",
    "collision_pairs",
    "contact_constraints",
    "static_torques",
]
