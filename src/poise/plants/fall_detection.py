"""Detection of falls in simulation, by contacts with the ground and by the capture point of the base.

A low or strongly bent posture is not a fall: a robot that bends down to a target near the floor and rises again has its
base below half of its height, and tilted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from poise.extras import mujoco
from poise.plants.engine.world import CARRIED_BODY
from poise.plants.environment import Terrain
from poise.robots import GRAVITY, Foot, Frame, State, leg_length

#: Tilt of the base (degrees) above which it is checked whether a step can still prevent the fall.
FALLEN_TILT = 60.0
#: No step prevents a fall if the capture point of the base is further than this from every foot (leg lengths): a step
#: reaches about 0.8, and the sole adds to that.
CAPTURABLE_DISTANCE = 1.0
#: Fraction of its initial height below which the base of a robot without collision shapes counts as fallen.
FALLEN_HEIGHT = 0.5


class FallDetector:
    """Detects the first fall.

    A robot has fallen if

    - a body touches the ground that is neither a foot nor another contact part, nor carried by one (toes, fingers).
      Hands are contact parts only if they are in contact at the start or given as contact frames. A carried box may
      touch the ground;
    - or its base is tilted by more than 60 degrees, and no step can prevent the fall any more: the capture point of the
      base, ``p + v √(h / g)`` with the horizontal position p, velocity v and height h of the base, is more than a leg
      length away from every foot.

    A robot without collision shapes has only the contacts of soles and contact parts. It has also fallen if its base is
    tilted by more than 60 degrees or lower than half of its initial height.

    Args:
        start: initial state.
        model: compiled model of the simulation.
        ground: terrain, for the height of the base.
        parts: frames that may touch the environment.
        allowed: parts besides the feet, and besides the contacts of the start, that may touch the ground.
    """

    def __init__(
        self,
        start: State,
        model: mujoco.MjModel,
        ground: Terrain,
        parts: Sequence[Frame],
        allowed: Sequence[Frame] = (),
    ) -> None:
        self.reason = ""
        robot = start.robot
        names, subtrees = robot.model.names, robot.model.subtrees
        ground_parts = [part for part in parts if isinstance(part, Foot) or part in (*start.contacts, *allowed)]
        # Toes and fingers belong to the foot or hand that carries them.
        part_bodies = {int(model.body(names[joint]).id) for part in ground_parts for joint in subtrees[part.joint]}
        self._feet = [int(model.body(names[foot.joint]).id) for foot in robot.feet]
        self._ground = ground
        self._has_shapes = any(model.geom(geom).name.startswith("capsule ") for geom in range(model.ngeom))
        self._leg_length = leg_length(robot) if robot.feet else math.inf
        x, y, z = start.q[:3]
        self._min_height = FALLEN_HEIGHT * (z - ground.elevation(x, y))
        up = start.pose(robot.frame(names[1])).rotation[2]
        self._up: tuple[float, float, float] = (float(up[0]), float(up[1]), float(up[2]))
        self._min_upright = math.cos(math.radians(FALLEN_TILT))
        # Ground geoms are 1, geoms of other bodies than parts are 2: the sum 3 means a contact between the two.
        self._geom_kind = np.zeros(model.ngeom, dtype=np.int64)
        for geom in range(model.ngeom):
            body = int(model.geom_bodyid[geom])
            if body == 0:
                self._geom_kind[geom] = int(model.geom(geom).name.startswith("ground"))
            elif body not in part_bodies and model.body(body).name != CARRIED_BODY and model.geom_conaffinity[geom]:
                self._geom_kind[geom] = 2
        self._model = model

    def update(self, data: mujoco.MjData, time: float) -> None:
        """Check for a fall at a time (s)."""
        if self.reason:
            return
        reason = self._ground_contact(data) or self._uncapturable(data)
        if reason:
            self.reason = f"fell at {time:.2f} s: {reason}"

    def _ground_contact(self, data: mujoco.MjData) -> str:
        """Return which body touches the ground that must not; "" if none does."""
        if not data.ncon:
            return ""
        kinds = self._geom_kind.take(data.contact.geom)
        touching = kinds[:, 0] + kinds[:, 1] == 3
        if not touching.any():
            return ""
        first, second = data.contact.geom[int(touching.argmax())]
        geom = first if self._geom_kind[first] == 2 else second
        return f"{self._model.body(int(self._model.geom_bodyid[geom])).name} touches the ground"

    def _uncapturable(self, data: mujoco.MjData) -> str:
        """Return why no step can prevent the fall, from tilt and capture point of the base; "" if one can."""
        x, y, z, qw, qx, qy, qz = data.qpos[:7].tolist()
        a, b, c = self._up
        upright = 2.0 * (a * (qx * qz - qw * qy) + b * (qy * qz + qw * qx)) + c * (1.0 - 2.0 * (qx * qx + qy * qy))
        tilted = upright < self._min_upright
        if not self._has_shapes:
            height = z - self._ground.elevation(x, y)
            if tilted:
                return f"the base is tilted by more than {FALLEN_TILT:g} degrees"
            if height < self._min_height:
                return f"the base is at {height:.2f} m, below half of its height at the start"
            return ""
        if not tilted:
            return ""
        height = max(z - self._ground.elevation(x, y), 0.0)
        # As `state.capture_point`, but in plain floats: this runs in every simulation step, and the height can be zero.
        time_constant = math.sqrt(height / GRAVITY)
        capture_point = (x + time_constant * float(data.qvel[0]), y + time_constant * float(data.qvel[1]))
        distance = min((math.dist(capture_point, data.xpos[foot, :2]) for foot in self._feet), default=math.inf)
        if distance <= CAPTURABLE_DISTANCE * self._leg_length:
            return ""
        return (
            f"the base is tilted by more than {FALLEN_TILT:g} degrees and its capture point is {distance:.2f} m from "
            "the nearest foot"
        )
