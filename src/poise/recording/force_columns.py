"""Columns of a sample for contact wrenches and sensor readings, with contacts that change during the motion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from poise.arrays import Array
from poise.recording.channel import make_unique, printable
from poise.recording.provenance import CoordinateLabels
from poise.state import center_of_pressure

if TYPE_CHECKING:
    from poise.robots import State
    from poise.state import ContactForces, SensorReadings

Columns = slice | NDArray[np.intp]
#: Reserves columns for a channel, given its label, the labels of its columns and their units; returns their slice.
ReserveColumns = Callable[[str, tuple[str, ...], tuple[str, ...]], slice]

AXES = ("x", "y", "z")
_WRENCH = (("fx", "fy", "fz", "mx", "my", "mz"), ("N", "N", "N", "N m", "N m", "N m"))
#: Vertical force, as a fraction of the weight, below which contact forces are sensor noise.
MIN_CONTACT_LOAD = 0.02


class WrenchColumns:
    """Columns for the wrench (N, N m; 6) and the point (m; 3) of every contact so far.

    A walking robot makes and breaks contacts several times a second. Each contact keeps its columns, with NaN while it
    is open, so that the layout of a recording changes only if a part touches for the first time.

    Args:
        reserve: reserves columns.
        channels: prefixes of the labels of wrenches and of points, before the name of the contact.
        names: names of the contacts in the current step.
        previous: columns of the previous layout, whose contacts are kept.
    """

    def __init__(
        self,
        reserve: ReserveColumns,
        channels: tuple[str, str],
        names: Sequence[str],
        previous: WrenchColumns | None = None,
    ) -> None:
        self.names: tuple[str, ...] = tuple(
            dict.fromkeys((*(() if previous is None else previous.names), *_unique_names(names)))
        )
        wrenches = [reserve(f"{channels[0]}/{name}", *_WRENCH) for name in self.names]
        points = [reserve(f"{channels[1]}/{name}", AXES, ("m",) * 3) for name in self.names]
        self.wrenches, self.points = _join_slices(wrenches), _join_slices(points)
        self._columns: dict[tuple[str, ...], tuple[Columns, Columns]] = {}
        self._find_columns(tuple(names))

    def fits(self, forces: ContactForces) -> bool:
        """Return whether all these contacts have columns."""
        return forces.names in self._columns or self._find_columns(forces.names)

    def write(self, row: Array, forces: ContactForces | None) -> int:
        """Copy the forces into a row of a sample; return how many wrench components were written."""
        if forces is None:
            row[self.wrenches] = row[self.points] = np.nan
            return 0
        wrenches, points = self._columns[forces.names]
        if len(forces.names) < len(self.names):
            row[self.wrenches] = row[self.points] = np.nan
        row[wrenches], row[points] = forces.wrenches.ravel(), forces.points.ravel()
        return forces.wrenches.size

    def center_of_pressure(self, numbers: Array, weight: float) -> Array:
        """Return the center of pressure (CoP) of each of n rows (n x 2, m); NaN below `MIN_CONTACT_LOAD` of the weight.

            h = Σ f_zi z_i / Σ f_zi,   p of `poise.state.balance.center_of_pressure` on the plane z = h

        The height h of the plane is the mean height of the contacts, weighted by their vertical force: it changes
        smoothly from one stair to the next.
        """
        n, k = len(numbers), len(self.names)
        wrenches = numbers[:, self.wrenches].reshape(n, k, 6)
        points = numbers[:, self.points].reshape(n, k, 3)
        absent = np.isnan(np.concatenate([wrenches, points], axis=2)).all(axis=2, keepdims=True)
        wrenches, points = (np.where(absent, 0.0, values) for values in (wrenches, points))
        load = wrenches[..., 2].sum(axis=1)
        load = np.where(load > MIN_CONTACT_LOAD * weight, load, np.nan)
        points[..., 2] -= ((wrenches[..., 2] * points[..., 2]).sum(axis=1) / load)[:, np.newaxis]
        return center_of_pressure(points, wrenches[..., :3], wrenches[..., 3:])

    def _find_columns(self, names: tuple[str, ...]) -> bool:
        """Find and store the columns of contacts in a new order; return False if a contact has no columns."""
        unique = _unique_names(names)
        if any(name not in self.names for name in unique):
            return False
        places = np.array([self.names.index(name) for name in unique], dtype=np.intp)
        if unique == self.names:
            self._columns[names] = self.wrenches, self.points
        else:
            columns = [
                span.start + (size * places[:, np.newaxis] + np.arange(size)).ravel()
                for span, size in ((self.wrenches, 6), (self.points, 3))
            ]
            self._columns[names] = columns[0], columns[1]
        return True


def _unique_names(names: Iterable[str]) -> tuple[str, ...]:
    return make_unique(map(printable, names))


def _join_slices(spans: Sequence[slice]) -> slice:
    """Join consecutive slices."""
    return slice(spans[0].start, spans[-1].stop) if spans else slice(0, 0)


# -- Sensors ---------------------------------------------------------------------------------------------------------


#: Corners of a sole, counter-clockwise seen from above, as in `poise.robots.parts.Sole`.
_CORNER_LABELS = ("front left", "back left", "back right", "front right")


class SensorColumns:
    """Columns for measured forces, force cells, IMU, encoders, and the true state if it differs from the measured one.

    Args:
        reserve: reserves columns.
        labels: labels of the joints.
        readings: sensor readings of the current step; None if only the previous layout had any.
        truth: whether the true state differs from the measured state.
        previous: columns of the previous layout, which are kept.
    """

    def __init__(
        self,
        reserve: ReserveColumns,
        labels: CoordinateLabels,
        readings: SensorReadings | None,
        truth: bool,
        previous: SensorColumns | None,
    ) -> None:
        names = () if readings is None else readings.forces.names
        self.forces: WrenchColumns = WrenchColumns(
            reserve, ("measured/force", "measured/contact_point"), names, None if previous is None else previous.forces
        )
        feet = {**(previous.cells if previous else {}), **({} if readings is None else dict.fromkeys(readings.cells))}
        self.cells: dict[str, slice] = {
            foot: reserve(f"measured/cells/{printable(foot)}", _CORNER_LABELS, ("N",) * len(_CORNER_LABELS))
            for foot in feet
        }
        self.orientation = reserve("measured/imu/orientation", ("qx", "qy", "qz", "qw"), ("",) * 4)
        self.angular_velocity = reserve("measured/imu/angular_velocity", AXES, ("rad/s",) * 3)
        self.acceleration = reserve("measured/imu/acceleration", AXES, ("m/s^2",) * 3)
        self.positions = self.velocities = slice(0, 0)
        if labels.joints:
            rates = tuple(f"{unit}/s" for unit in labels.joint_units)
            self.positions = reserve("measured/joint_positions", labels.joints, labels.joint_units)
            self.velocities = reserve("measured/joint_velocities", labels.joints, rates)
        self.truth: tuple[slice, slice] | None = None
        if truth or (previous is not None and previous.truth is not None):
            q = reserve("true/q", labels.q_labels, labels.q_units)
            self.truth = q, reserve("true/v", labels.v_labels, labels.rate_units("/s"))

    def fits(self, readings: SensorReadings, state: State) -> bool:
        """Return whether all sensor readings have columns."""
        return (
            (self.truth is not None or not differs_from_truth(readings, state))
            and readings.cells.keys() <= self.cells.keys()
            and self.forces.fits(readings.forces)
        )

    def write(self, row: Array, readings: SensorReadings | None) -> None:
        """Copy sensor readings into a row of a sample; missing values are NaN."""
        if readings is None:
            self._clear(row)
            return
        self.forces.write(row, readings.forces)
        for foot, span in self.cells.items():
            row[span] = readings.cells.get(foot, np.nan)
        imu = readings.imu
        row[self.orientation] = imu.orientation
        row[self.angular_velocity], row[self.acceleration] = imu.angular_velocity, imu.acceleration
        row[self.positions], row[self.velocities] = readings.positions, readings.velocities
        if self.truth is not None:
            q, v = self.truth
            row[q], row[v] = readings.truth.q, readings.truth.v

    def _clear(self, row: Array) -> None:
        self.forces.write(row, None)
        spans = (self.orientation, self.angular_velocity, self.acceleration, self.positions, self.velocities)
        for span in (*self.cells.values(), *spans, *(self.truth or ())):
            row[span] = np.nan


def differs_from_truth(readings: SensorReadings, state: State) -> bool:
    """Return whether the measured state differs from the true state of the plant."""
    truth = readings.truth
    # Comparing bytes is several times faster than comparing numbers; 0.0 and -0.0 may count as different.
    return truth is not state and (
        (truth.q is not state.q and truth.q.tobytes() != state.q.tobytes())
        or (truth.v is not state.v and truth.v.tobytes() != state.v.tobytes())
    )
