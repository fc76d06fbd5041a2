"""When a robot has fallen."""

from __future__ import annotations

import math
from collections.abc import Sequence

import mujoco
import numpy as np

from poise.plants.engine.holding import NAME as CARRIED
from poise.plants.ground import Ground
from poise.robots import Frame, State

#: A base lower than this share of its height in the start, or tilted by more (degrees), comes up again in no motion
#: that is meant: a deep squat leaves more than half of the height, a deep bow less than this tilt at the pelvis.
LOWEST, STEEPEST = 0.5, 60.0


class Fall:
    """Watches for a fall, and keeps the first one that it sees.

    A robot has fallen when a body other than its parts, and what these carry, touches the ground, when its base is
    lower than half of its height in the start, or tilted by more than 60 degrees. A box in its hands may touch it.
    """

    def __init__(self, start: State, model: mujoco.MjModel, ground: Ground, parts: Sequence[Frame]) -> None:
        self.reason = ""
        names, subtrees = start.robot.model.names, start.robot.model.subtrees
        # toes and fingers belong to the foot or hand that carries them
        own = {int(model.body(names[joint]).id) for part in parts for joint in subtrees[part.joint]}
        self._ground = ground
        x, y, z = start.q[:3]
        self._lowest = LOWEST * (z - ground.elevation(x, y))
        up = start.pose(start.robot.frame(start.robot.model.names[1])).rotation[2]
        self._up: tuple[float, float, float] = (float(up[0]), float(up[1]), float(up[2]))
        self._steepest = math.cos(math.radians(STEEPEST))
        # Ground counts 1 and a body that is no part 2: only a contact of the two counts 3.
        self._kind = np.zeros(model.ngeom, dtype=np.int64)
        for geom in range(model.ngeom):
            body = int(model.geom_bodyid[geom])
            if body == 0:
                self._kind[geom] = int(model.geom(geom).name.startswith("ground"))
            elif body not in own and model.body(body).name != CARRIED and model.geom_conaffinity[geom]:
                self._kind[geom] = 2
        self._model = model

    def look(self, data: mujoco.MjData, time: float) -> None:
        """Looks once more."""
        if self.reason:
            return
        x, y, z, qw, qx, qy, qz = data.qpos[:7].tolist()
        a, b, c = self._up
        upright = 2.0 * (a * (qx * qz - qw * qy) + b * (qy * qz + qw * qx)) + c * (1.0 - 2.0 * (qx * qx + qy * qy))
        height = z - self._ground.elevation(x, y)
        if upright < self._steepest:
            self.reason = f"fell at {time:.2f} s: the base is tilted by more than {STEEPEST:g} degrees"
        elif height < self._lowest:
            self.reason = f"fell at {time:.2f} s: the base is at {height:.2f} m, below half of its height in the start"
        elif data.ncon:
            kinds = self._kind.take(data.contact.geom)
            touching = kinds[:, 0] + kinds[:, 1] == 3
            if touching.any():
                self.reason = f"fell at {time:.2f} s: {self._body(data, int(touching.argmax()))} touches the ground"

    def _body(self, data: mujoco.MjData, contact: int) -> str:
        first, second = data.contact.geom[contact]
        geom = first if self._kind[first] == 2 else second
        return str(self._model.body(int(self._model.geom_bodyid[geom])).name)
