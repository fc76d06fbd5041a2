"""Body: what a motion segment knows of a robot: its soles, its time constant, and three masses instead of one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.errors import RobotError
from poise.plans.divergent import GRAVITY, natural_frequency
from poise.robots import Robot
from poise.robots.parts import Side

Array = NDArray[np.float64]

#: A knee takes this share of its greatest speed at most: what servos follow with a load on them.
SPEED = 0.6
#: Soles are shrunk on every side by this share of their half width, which is left to the feedback.
MARGIN = 0.25
#: A leg swings so slowly that it moves the pressure by this share of half the sole at most.
SWAY = 0.35


@dataclass(frozen=True, eq=False)
class Body:
    """A robot as legs and a trunk.

    The zero moment point of the concentrated mass and that of the whole body differ by centimetres in a quick step.
    Two more masses catch most of that: a leg's lies on the line from hip to sole, at the share `hanging` of it.

    Args:
        mass: of all (kg).
        omega: ω (1/s), of the standing centre of mass.
        height: of the centre of mass above the soles, standing (m).
        half: half length and half width of a sole (m).
        margin: that is kept free on all sides of a sole, for the feedback (m).
        leg: mass of one leg (kg).
        hanging: how far along the line from hip to sole a leg's mass hangs (0 to 1).
        hips: by side, places of the hips seen from the centre of mass, in trunk axes, standing (m).
        inertia: of everything but the legs about its roll and pitch axes (kg m²).
        shortening: how fast a knee shortens a leg (m/s), in the standing stance.
    """

    mass: float
    omega: float
    height: float
    half: tuple[float, float]
    margin: float
    leg: float
    hanging: float
    hips: Mapping[Side, tuple[float, float, float]]
    inertia: tuple[float, float]
    shortening: float

    def calmest_swing(self, way: complex) -> float:
        """The least seconds in which a leg swings this way (m, along and across the standing sole).

        A leg that is accelerated by a moves the pressure by ``m_l λ h a / (m g)``, with h the height of the body; that
        may be a share of half the sole. The quintic's greatest acceleration is 5.77 of its way per T². Beyond that,
        errors of the three masses are of the size of the sole, and the arms are thrown about to make up for them.
        """
        shift = self.leg * self.hanging * self.height / (self.mass * GRAVITY)
        length, width = (SWAY * half / shift for half in self.half)
        return math.sqrt(5.77 * max(abs(way.real) / length, abs(way.imag) / width))

    @classmethod
    def of(cls, robot: Robot) -> Body:
        """Measured in the robot's standing stance."""
        if len(robot.feet) != 2:
            raise RobotError(f"{robot.name} has {len(robot.feet)} feet; motion segments take two", element="feet")
        stance = robot.stance("standing")
        model, data = robot.model, robot.model.createData()
        pinocchio.computeJointJacobians(model, data, stance.q)
        center = stance.center_of_mass
        masses, hanging, knees = [], [], []
        hips: dict[Side, tuple[float, float, float]] = {}
        legs: set[int] = set()
        for foot in robot.feet:
            chain = [joint for joint in model.supports[foot.joint] if joint > 1]
            legs |= set(chain)
            placed = [data.oMi[joint].act(model.inertias[joint]) for joint in chain]
            whole = sum(placed[1:], placed[0])
            hip, sole = (
                np.mean([data.oMi[joint].translation for joint in chain[:3]], axis=0),
                stance.pose(foot).act(foot.sole.center),
            )
            x, y, z = (float(value) for value in hip - center)
            hips[foot.side] = (x, y, z)
            masses.append(whole.mass)
            hanging.append((hip[2] - whole.lever[2]) / (hip[2] - sole[2]))
            knees.append(_shortening(robot, chain, data))
        rest = [data.oMi[joint].act(model.inertias[joint]) for joint in range(1, model.njoints) if joint not in legs]
        trunk = sum(rest[1:], rest[0])
        sole = robot.feet[0].sole
        half = (0.5 * (sole.x_max - sole.x_min), 0.5 * (sole.y_max - sole.y_min))
        height = float(center[2] - np.mean([stance.pose(foot).translation[2] for foot in robot.feet]))
        return cls(
            mass=robot.mass,
            omega=natural_frequency(height),
            height=height,
            half=half,
            margin=MARGIN * half[1],
            leg=float(np.mean(masses)),
            hanging=float(np.mean(hanging)),
            hips=MappingProxyType(hips),
            inertia=(float(trunk.inertia[0, 0]), float(trunk.inertia[1, 1])),
            shortening=float(np.mean(knees)),
        )


def _shortening(robot: Robot, chain: list[int], data: pinocchio.Data) -> float:
    """How fast the joint that bends a leg most shortens it, at a share of its greatest speed (m/s)."""
    J = pinocchio.getJointJacobian(robot.model, data, chain[-1], pinocchio.LOCAL_WORLD_ALIGNED)[:3]
    leg = data.oMi[chain[-1]].translation - data.oMi[chain[0]].translation
    rates = {joint: abs(float(J[:, joint.v] @ leg)) for joint in robot.joints if joint.index in chain}
    knee = max(rates, key=rates.__getitem__)
    # Ranges of speed in descriptions are placeholders at times: no knee turns faster than two turns a second.
    return SPEED * rates[knee] / float(np.linalg.norm(leg)) * min(float(robot.limits.velocity[knee.v - 6]), 12.0)
