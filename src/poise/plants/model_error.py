"""ModelError: how the simulated robot differs from the one that its controller knows."""

from __future__ import annotations

from dataclasses import dataclass

from poise.plants.errors import number


@dataclass(frozen=True)
class ModelError:
    """What a controller does not know of its robot.

    Args:
        mass: fraction by which every link is heavier, its rotational inertia too: 0.1 is ten percent.
        friction: fraction by which the ground and all things grip better than `friction` says: -0.2 is more slippery.
        damping: of every joint (N m s/rad).
        dry_friction: of every joint (N m): below this torque a joint at rest does not move.
        armature: inertia of every joint's rotor beyond what the model has (kg m²).

    >>> plant = poise.MujocoPlant(robot, model_error=ModelError(mass=0.1, damping=0.5))
    """

    mass: float = 0.0
    friction: float = 0.0
    damping: float = 0.0
    dry_friction: float = 0.0
    armature: float = 0.0

    def __post_init__(self) -> None:
        number(self.mass, "ModelError.mass", low=-0.9)  # a tenth of a robot is still one; nothing is none
        number(self.friction, "ModelError.friction", low=-1.0)
        number(self.damping, "ModelError.damping", low=0.0, unit="N m s/rad")
        number(self.dry_friction, "ModelError.dry_friction", low=0.0, unit="N m")
        number(self.armature, "ModelError.armature", low=0.0, unit="kg m²")
