"""Robot: the frozen description of a body, with handles to its parts."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.errors import RobotError
from poise.robots.limits import Limits
from poise.robots.names import unknown
from poise.robots.parts import SIDES, Foot, Frame, Gaze, Hand, Joint
from poise.robots.servos import ServoData
from poise.robots.shapes import Shapes, extent
from poise.robots.state import State

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Robot:
    """A body with a free-flying base, its joints, and the parts that tasks speak of. Made by `load_robot`.

    Args:
        name: short name.
        model: the pinocchio model: a free-flyer ``root_joint``, then the actuated joints; locked joints are gone.
        source: where the description is from.
        joints: actuated joints in the order of q, v and `limits`.
        frames: every frame by its name.
        feet, hands: left first; empty if none was declared.
        head: where it looks from and along, if declared.
        chest: frame of the upper trunk, if declared.
        limits: ranges of the joints.
        rest: the configuration postures fall back to.
        stances: configurations by name, see `stance`.
        servos: what is known of position servos in its joints.
        notes: what was corrected in the description, one sentence each.
        parts: what `load_robot` was told beside the name, for a human: height, mass, sex, shape. With these a recording
            finds the same body again.

    >>> robot = poise.load_robot("g1")
    >>> robot.hand("left"), robot.joint("left_knee_joint"), robot.stance("standing").center_of_mass
    """

    name: str
    model: pinocchio.Model
    source: str
    joints: tuple[Joint, ...]
    frames: Mapping[str, Frame]
    feet: tuple[Foot, ...]
    hands: tuple[Hand, ...]
    head: Gaze | None
    chest: Frame | None
    limits: Limits
    rest: Array
    stances: Mapping[str, Array]
    servos: ServoData
    notes: tuple[str, ...]
    parts: Mapping[str, Any]
    _shapes: Shapes
    _height: float | None = None
    _scratch: threading.local = field(default_factory=threading.local)

    @cached_property
    def mass(self) -> float:
        """Mass of all bodies (kg)."""
        return float(pinocchio.computeTotalMass(self.model))

    @cached_property
    def height(self) -> float:
        """From the lowest to the highest point with all joints at zero (m), as declared or else as measured.

        It is measured on the visual shapes, or between the frames if these cannot be read.
        """
        if self._height is not None:
            return self._height
        try:
            shapes = self.visual_geometry
        except RobotError:
            shapes = pinocchio.GeometryModel()
        lowest, highest = extent(self.model, np.concatenate([self.rest[:7], np.zeros(self.model.nq - 7)]), shapes)
        return highest - lowest

    @cached_property
    def visual_geometry(self) -> pinocchio.GeometryModel:
        """The shapes that are drawn, with their meshes; read from disk when first asked for."""
        return self._shapes.load(pinocchio.VISUAL)

    @cached_property
    def collision_geometry(self) -> pinocchio.GeometryModel:
        """The shapes that collide, with their meshes; read from disk when first asked for."""
        return self._shapes.load(pinocchio.COLLISION)

    @property
    def gaze(self) -> Gaze:
        """Where it looks from and along; an error if none was declared."""
        if self.head is None:
            raise self._undeclared("gaze", "gaze={'frame': '...', 'axis': [1, 0, 0]}")
        return self.head

    def foot(self, side: str) -> Foot:
        """The left or the right foot."""
        for foot in self.feet:
            if foot.side == side:
                return foot
        self._check_side(side)
        sole = "'sole': [x_min, x_max, y_min, y_max]"
        raise self._undeclared(f"{side} foot", f"feet={{'{side}': {{'frame': '...', {sole}}}}}")

    def hand(self, side: str) -> Hand:
        """The left or the right hand."""
        for hand in self.hands:
            if hand.side == side:
                return hand
        self._check_side(side)
        raise self._undeclared(f"{side} hand", f"hands={{'{side}': {{'frame': '...'}}}}")

    def joint(self, name: str) -> Joint:
        """An actuated joint by its name."""
        if name not in self._joints:
            raise unknown(f"{self.name} has no joint", name, self._joints)
        return self._joints[name]

    def frame(self, name: str) -> Frame:
        """Any frame by its name: links and joints of the URDF, and those added for soles, hands and gaze."""
        if name not in self.frames:
            raise unknown(f"{self.name} has no frame", name, self.frames)
        return self.frames[name]

    def stance(self, name: str) -> State:
        """A state at rest in a named posture, on all its feet, x forward, middle of the soles at the world origin."""
        if name not in self._states:
            advice = f"declare it: stances={{{name!r}: {{'joints': {{...}}}}}}"
            raise unknown(f"{self.name} has no stance", name, self.stances, advice=advice)
        return self._states[name]

    @cached_property
    def _joints(self) -> dict[str, Joint]:
        return {joint.name: joint for joint in self.joints}

    @cached_property
    def _states(self) -> dict[str, State]:
        return {name: State(self, q, contacts=self.feet) for name, q in self.stances.items()}

    def _placed(self, state: State) -> pinocchio.Data:
        """Work space of this thread with all frames placed as in a state; made once, since that costs a millisecond."""
        scratch = self._scratch
        try:
            if scratch.state is state:
                return scratch.data
        except AttributeError:
            scratch.data = self.model.createData()
        pinocchio.framesForwardKinematics(self.model, scratch.data, state.q)
        scratch.state = state
        return scratch.data

    def _check_side(self, side: str) -> None:
        if side not in SIDES:
            raise unknown(f"{self.name} has no side", side, SIDES)

    def _undeclared(self, part: str, argument: str) -> RobotError:
        path = self._shapes.path
        message = f"{self.name} declares no {part}; give load_robot(..., {argument}) or the same in {path.stem}.toml"
        return RobotError(message, file=str(path), element=part)

    def __repr__(self) -> str:
        return f"Robot({self.name}, {len(self.joints)} joints, {self.mass:.1f} kg, {self.source})"
