"""What drives the joints of a simulated robot: torque motors or position servos."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from poise.plants.errors import PlantError, positive, vector
from poise.tasks.axes import shown


@dataclass(frozen=True)
class TorqueMotors:
    """Motors that give the torque they are told, up to the limits of the robot; what is cut off is counted."""


@dataclass(frozen=True, eq=False)
class PositionServos:
    """Servos that hold the joints at targets: ``torque = K (target - q) + D (rate - v)``, up to the robot's limits.

    Targets start where the servos hold the robot still in its start, beyond its angles by ``torque / K``, and move with
    the velocities that are commanded: ``target += rate · dt``. So a controller of velocities that sees a joint sag
    raises its target until it is where it should be. A target stays within ``limit / K`` of the joint's angle, since
    beyond that no torque is to be had. Torques in commands are not used.

    Args:
        stiffness: K (N m/rad), a number or one per joint; None: as the robot's data file says; where it says nothing, a
            joint gives its largest torque at 0.02 rad.
        share: of that stiffness, where none is given: drives have a gain that can be set.
        damping: D (N m s/rad), a number or one per joint; None: critical, with the inertia that the joint sees in the
            start, ``D = 2 √(K M_ii)``.

    >>> plant = poise.MujocoPlant(start, actuators=PositionServos())
    """

    stiffness: ArrayLike | None = None
    damping: ArrayLike | None = None
    share: float = 1.0

    def __post_init__(self) -> None:
        positive(self.share, "PositionServos.share")
        for name in ("stiffness", "damping"):
            given = getattr(self, name)
            if given is not None:
                values = vector(np.ravel(given), np.size(given), f"PositionServos.{name}")
                if not (values >= 0.0).all() or (name == "stiffness" and not (values > 0.0).all()):
                    raise PlantError(f"PositionServos.{name} is {shown(given)}; expected positive numbers", name)
