"""Sensors: where what a plant's sensors say stands among the numbers of a step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from poise.recording.body import Body
from poise.recording.channel import Header, plain
from poise.recording.wrenches import AXES, Array, Take, Wrenches

if TYPE_CHECKING:
    from poise.state import Sensed, State

#: Corners of a sole, counter-clockwise seen from above, as in `poise.robots.parts.Sole`.
_CORNERS = ("front left", "back left", "back right", "front right")


class Sensors:
    """Columns for measured forces, force cells, inertial unit, encoders, and the true state where it is another.

    Args:
        take: sets columns aside.
        body: labels of the joints.
        sensed: of the step at hand; None if only the layout before had any.
        truth: whether the true state is not the measured one.
        before: those of the layout before, which stay.
    """

    def __init__(self, take: Take, body: Body, sensed: Sensed | None, truth: bool, before: Sensors | None) -> None:
        names = () if sensed is None else sensed.forces.names
        self.forces: Wrenches = Wrenches(
            take, ("sensed/force", "sensed/force_point"), names, None if before is None else before.forces
        )
        feet = {**(before.cells if before else {}), **({} if sensed is None else dict.fromkeys(sensed.cells))}
        self.cells: dict[str, slice] = {
            foot: take(Header(f"sensed/cells/{plain(foot)}", "number", _CORNERS, ("N",) * len(_CORNERS)))
            for foot in feet
        }
        self.orientation = take(Header("sensed/imu/orientation", "number", ("qx", "qy", "qz", "qw"), ("",) * 4))
        self.angular_velocity = take(Header("sensed/imu/angular_velocity", "number", AXES, ("rad/s",) * 3))
        self.acceleration = take(Header("sensed/imu/acceleration", "number", AXES, ("m/s^2",) * 3))
        self.positions = self.rates = slice(0, 0)
        if body.joints:
            rates = tuple(f"{unit}/s" for unit in body.joint_units)
            self.positions = take(Header("sensed/positions", "number", body.joints, body.joint_units))
            self.rates = take(Header("sensed/rates", "number", body.joints, rates))
        self.truth: tuple[slice, slice] | None = None
        if truth or (before is not None and before.truth is not None):
            q = take(Header("true/q", "number", body.q_labels, body.q_units))
            self.truth = q, take(Header("true/v", "number", body.v_labels, body.rates("/s")))

    def fits(self, sensed: Sensed, state: State) -> bool:
        """Whether all that was sensed has its columns."""
        return (
            (self.truth is not None or not misjudged(sensed, state))
            and sensed.cells.keys() <= self.cells.keys()
            and self.forces.fits(sensed.forces)
        )

    def write(self, line: Array, sensed: Sensed | None) -> None:
        """Copies what was sensed into a line of numbers; NaN for what is missing."""
        if sensed is None:
            self._clear(line)
            return
        self.forces.write(line, sensed.forces)
        for foot, span in self.cells.items():
            line[span] = sensed.cells.get(foot, np.nan)
        imu = sensed.imu
        line[self.orientation] = imu.orientation
        line[self.angular_velocity], line[self.acceleration] = imu.angular_velocity, imu.acceleration
        line[self.positions], line[self.rates] = sensed.positions, sensed.rates
        if self.truth is not None:
            q, v = self.truth
            line[q], line[v] = sensed.truth.q, sensed.truth.v

    def _clear(self, line: Array) -> None:
        self.forces.write(line, None)
        spans = (self.orientation, self.angular_velocity, self.acceleration, self.positions, self.rates)
        for span in (*self.cells.values(), *spans, *(self.truth or ())):
            line[span] = np.nan


def misjudged(sensed: Sensed, state: State) -> bool:
    """Whether the state that was measured is not the one that the plant is in."""
    truth = sensed.truth
    # Bytes, not numbers: several times faster, and of two zeros that differ in sign nothing is lost.
    return truth is not state and (
        (truth.q is not state.q and truth.q.tobytes() != state.q.tobytes())
        or (truth.v is not state.v and truth.v.tobytes() != state.v.tobytes())
    )
