"""Trial: what a laboratory measured of one person in one go, in SI units with z up, whatever file it came from."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from poise.human.errors import TrialError
from poise.robots.names import near_misses
from poise.robots.parts import Side

Array = NDArray[np.float64]
Kind = Literal["strike", "off"]

#: Frames a second that no camera takes (Hz): a filter for walking would have nothing left to compute with.
FASTEST = 1e6


@dataclass(frozen=True)
class Event:
    """A foot meets the ground (``"strike"``) or leaves it (``"off"``); time in s on the trial's clock."""

    time: float
    side: Side
    kind: Kind


@dataclass(frozen=True)
class Subject:
    """Who was measured, as far as known, else None. Mass in kg, height in m, ``"male"`` or ``"female"``."""

    name: str = ""
    mass: float | None = None
    height: float | None = None
    sex: str | None = None


@dataclass(frozen=True, eq=False)
class Plate:
    """A force plate, at the frames of the markers (mean over the samples around the moment of a frame).

    The wrench on the body is a force F through the centre of pressure c and a moment τ about it that is normal to the
    plate; about a point p of the world it is ``(F, (c - p) x F + τ)``.

    Attributes:
        name: e.g. ``"plate 1"``.
        corners: 4 x 3, m.
        force: n x 3, N, on the body: upwards when somebody stands on it; zero where unloaded.
        center: n x 3, m, on the plate; zero where unloaded.
        moment: n x 3, N m, on the body; zero where unloaded.
    """

    name: str
    corners: Array
    force: Array
    center: Array
    moment: Array

    def part(self, frames: slice) -> Plate:
        """The same plate during some of the frames."""
        return Plate(self.name, self.corners, self.force[frames], self.center[frames], self.moment[frames])


@dataclass(frozen=True, eq=False)
class Trial:
    """Markers over time, and what came with them.

    Attributes:
        path: the file that it was read from, or any name.
        rate: frames a second (Hz).
        time: n, s, begins at 0.
        labels: names of the m markers, each once.
        positions: n x m x 3, m, z up; NaN in gaps.
        events: in the order of time.
        plates: force plates.
        subject: who it is.
        angles: joint angles that the file stores, n x 3 in degrees, by name, as the laboratory computed them.
        moments: the same for moments, n x 3 as stored (Plug-in Gait: N mm per kg).
        notes: what was decided and done on the way, one sentence each.
        computed: points that the laboratory's software computed from the markers, n x 3 in m: centre of mass, segments.

    >>> trial = read_trial("walk.c3d")
    >>> trial.marker("LASI")[0], trial.events[0]
    (array([0.031, 0.369, 1.011]), Event(time=0.02, side='left', kind='strike'))
    """

    path: str
    rate: float
    time: Array
    labels: tuple[str, ...]
    positions: Array
    events: tuple[Event, ...] = ()
    plates: tuple[Plate, ...] = ()
    subject: Subject = Subject()
    angles: Mapping[str, Array] = field(default_factory=dict)
    moments: Mapping[str, Array] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    computed: Mapping[str, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n, m = len(self.time), len(self.labels)
        if np.shape(self.positions) != (n, m, 3):
            raise self._error(f"positions are {np.shape(self.positions)}; expected {n} frames x {m} labels x 3")
        if not (np.isfinite(self.rate) and 0.0 < self.rate <= FASTEST):
            raise self._error(f"a rate of {self.rate} Hz; expected a positive number of frames a second, 1e6 at most")
        if len(set(self.labels)) != m:
            twice = next(label for label in self.labels if self.labels.count(label) > 1)
            raise TrialError(
                f"{self.path}: marker '{twice}' is there twice; expected labels that differ", element=twice
            )
        for name, values in {**self.angles, **self.moments, **self.computed}.items():
            if np.shape(values) != (n, 3):
                raise self._error(f"'{name}' is {np.shape(values)}; expected {n} frames x 3")
        for plate in self.plates:
            if {np.shape(plate.force), np.shape(plate.center), np.shape(plate.moment)} != {(n, 3)}:
                raise self._error(f"{plate.name} is {np.shape(plate.force)}; expected {n} frames x 3")

    def marker(self, label: str) -> Array:
        """Positions of one marker, n x 3."""
        if label not in self.labels:
            near = near_misses(label, self.labels)
            hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(self.labels[:20])}"
            raise TrialError(f"{self.path}: no marker '{label}'; {hint}", path=self.path, element=label, near=near)
        return self.positions[:, self.labels.index(label)]

    def cut(self, first: float, last: float) -> Trial:
        """The frames from one time to another (s, both included), on a clock that begins at 0 again."""
        half = 0.5 / self.rate
        inside = np.flatnonzero((self.time > first - half) & (self.time < last + half))
        if not len(inside):
            raise self._error(f"no frame between {first:g} and {last:g} s; it lasts {self.duration:.3g} s")
        frames = slice(int(inside[0]), int(inside[-1]) + 1)
        start, end = float(self.time[frames][0]), float(self.time[frames][-1])
        events = (
            dataclasses.replace(e, time=e.time - start) for e in self.events if start - half < e.time < end + half
        )
        return self.replace(
            time=self.time[frames] - start,
            positions=self.positions[frames],
            events=tuple(events),
            plates=tuple(plate.part(frames) for plate in self.plates),
            **{word: _rows(getattr(self, word), frames) for word in ("angles", "moments", "computed")},
            notes=(*self.notes, f"Cut to {start:.3f} .. {end:.3f} s."),
        )

    def replace(self, **fields: Any) -> Trial:
        """The same trial with other values of some attributes."""
        return dataclasses.replace(self, **fields)

    @property
    def duration(self) -> float:
        """From the first frame to the last (s)."""
        return float(self.time[-1] - self.time[0]) if len(self.time) else 0.0

    def _error(self, complaint: str) -> TrialError:
        return TrialError(f"{self.path}: {complaint}", path=self.path)


def _rows(channels: Mapping[str, Array], frames: slice) -> dict[str, Array]:
    return {name: values[frames] for name, values in channels.items()}
