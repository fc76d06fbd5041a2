"""Columns of a sample for contact wrenches and sensor readings, while contacts come and go."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from poise.arrays import Array
from poise.recording.channel import different, plain
from poise.recording.provenance import Body
from poise.state import center_of_pressure

if TYPE_CHECKING:
    from poise.robots import State
    from poise.state import ContactForces, Sensed

Columns = slice | NDArray[np.intp]
#: Sets columns aside for a channel of this label, these labels of columns and their units, and tells where they are.
Take = Callable[[str, tuple[str, ...], tuple[str, ...]], slice]

AXES = ("x", "y", "z")
_WRENCH = (("fx", "fy", "fz", "mx", "my", "mz"), ("N", "N", "N", "N m", "N m", "N m"))
#: Of the weight: what presses less than this on the ground is noise of the sensors and no stance.
LEAST_LOAD = 0.02


class Wrenches:
    """Columns for the wrench (N, N m; 6) and the point (m; 3) of every contact that was seen so far.

    A walking robot loses and gains contacts several times a second. Each keeps its columns, NaN while it does not
    touch, so that the layout of a recording changes only when a part touches for the first time.

    Args:
        take: sets columns aside.
        channels: what the labels of wrenches and of points are, before the name of the contact.
        names: of the contacts in the step at hand.
        before: those of the layout before, which stay.
    """

    def __init__(
        self, take: Take, channels: tuple[str, str], names: Sequence[str], before: Wrenches | None = None
    ) -> None:
        self.names: tuple[str, ...] = tuple(dict.fromkeys((*(() if before is None else before.names), *_words(names))))
        wrenches = [take(f"{channels[0]}/{name}", *_WRENCH) for name in self.names]
        points = [take(f"{channels[1]}/{name}", AXES, ("m",) * 3) for name in self.names]
        self.wrenches, self.points = _joined(wrenches), _joined(points)
        self._known: dict[tuple[str, ...], tuple[Columns, Columns]] = {}
        self._learned(tuple(names))

    def fits(self, forces: ContactForces) -> bool:
        """Whether all these contacts have their columns."""
        return forces.names in self._known or self._learned(forces.names)

    def write(self, line: Array, forces: ContactForces | None) -> int:
        """Copies the forces into a line of numbers; how many numbers of wrenches they are."""
        if forces is None:
            line[self.wrenches] = line[self.points] = np.nan
            return 0
        wrenches, points = self._known[forces.names]
        if len(forces.names) < len(self.names):
            line[self.wrenches] = line[self.points] = np.nan
        line[wrenches], line[points] = forces.wrenches.ravel(), forces.points.ravel()
        return forces.wrenches.size

    def center_of_pressure(self, numbers: Array, weight: float) -> Array:
        """Where the ground pushes in each of n lines (n, 2), m; NaN where less than `LEAST_LOAD` of the weight rests.

            h = Σ f_zi z_i / Σ f_zi,   p of `poise.state.balance.center_of_pressure` on the plane z = h

        The plane goes through the contacts, weighted by their load: it moves smoothly from one stair to the next.
        """
        n, k = len(numbers), len(self.names)
        wrenches = numbers[:, self.wrenches].reshape(n, k, 6)
        points = numbers[:, self.points].reshape(n, k, 3)
        absent = np.isnan(np.concatenate([wrenches, points], axis=2)).all(axis=2, keepdims=True)
        wrenches, points = (np.where(absent, 0.0, values) for values in (wrenches, points))
        load = wrenches[..., 2].sum(axis=1)
        load = np.where(load > LEAST_LOAD * weight, load, np.nan)
        points[..., 2] -= ((wrenches[..., 2] * points[..., 2]).sum(axis=1) / load)[:, np.newaxis]
        return center_of_pressure(points, wrenches[..., :3], wrenches[..., 3:])

    def _learned(self, names: tuple[str, ...]) -> bool:
        """Finds the columns of contacts in an order that was not met before; False if one has none."""
        words = _words(names)
        if any(word not in self.names for word in words):
            return False
        places = np.array([self.names.index(word) for word in words], dtype=np.intp)
        if words == self.names:
            self._known[names] = self.wrenches, self.points
        else:
            columns = [
                span.start + (size * places[:, np.newaxis] + np.arange(size)).ravel()
                for span, size in ((self.wrenches, 6), (self.points, 3))
            ]
            self._known[names] = columns[0], columns[1]
        return True


def _words(names: Iterable[str]) -> tuple[str, ...]:
    return different(map(plain, names))


def _joined(spans: Sequence[slice]) -> slice:
    """Spans that follow each other, as one."""
    return slice(spans[0].start, spans[-1].stop) if spans else slice(0, 0)


# -- Sensors ---------------------------------------------------------------------------------------------------------


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
            foot: take(f"sensed/cells/{plain(foot)}", _CORNERS, ("N",) * len(_CORNERS)) for foot in feet
        }
        self.orientation = take("sensed/imu/orientation", ("qx", "qy", "qz", "qw"), ("",) * 4)
        self.angular_velocity = take("sensed/imu/angular_velocity", AXES, ("rad/s",) * 3)
        self.acceleration = take("sensed/imu/acceleration", AXES, ("m/s^2",) * 3)
        self.positions = self.rates = slice(0, 0)
        if body.joints:
            rates = tuple(f"{unit}/s" for unit in body.joint_units)
            self.positions = take("sensed/positions", body.joints, body.joint_units)
            self.rates = take("sensed/rates", body.joints, rates)
        self.truth: tuple[slice, slice] | None = None
        if truth or (before is not None and before.truth is not None):
            q = take("true/q", body.q_labels, body.q_units)
            self.truth = q, take("true/v", body.v_labels, body.rates("/s"))

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
