"""Curves of a walk as gait laboratories read them: angles, moments and powers over the cycle, table and profile score.

Angles of pelvis and trunk are Cardan angles relative to the direction of walking x, with z up:

    R = Rz(rotation) Rx(obliquity) Ry(tilt)

Tilt is positive forward, obliquity with the side of the cycle up, rotation with the side of the cycle forward; foot
progression, the direction from the heel to the second toe against the direction of walking, is positive inwards. Joint
angles and internal moments have the signs of `poise.human`. The power of a joint is the sum over its axes of torque
times velocity, per kg, positive where muscles do work on the body.

>>> walk = compute_gait_curves(fit_trial("walk.c3d"))
>>> walk.curves("knee_flexion", "left").mean.max(), walk.profile_score().score
(61.2, 5.8)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from poise.analysis import CycleCurves, GaitCycle, gait_cycles, normalize_cycle, stride_lengths, walking_direction
from poise.arrays import Array
from poise.errors import GaitError
from poise.extras import scipy
from poise.files import json_ready
from poise.human.event_sources import SourcedEvent, collect_events
from poise.human.fitting.body_fit import Fit
from poise.human.gait.reference_walk import ReferenceWalk
from poise.human.gait.straight_walking import straightness
from poise.human.torques import Torques, compute_torques, internal_joint_moments
from poise.human.trial import TrialError
from poise.human.walk_norms import (
    NormComparison,
    ProfileScore,
    choose_norm,
    compare_with_norm,
    profile_score,
    speed_note,
)
from poise.robots import SIDES, Side

#: Angles with their titles, in the order of reports. Those of legs are on the side of the cycle.
GAIT_ANGLES = {
    "pelvis_tilt": "Pelvis tilt (anterior +)", "pelvis_obliquity": "Pelvis obliquity (up +)",
    "pelvis_rotation": "Pelvis rotation (forward +)", "trunk_tilt": "Trunk tilt (forward +)",
    "trunk_obliquity": "Trunk obliquity (up +)", "trunk_rotation": "Trunk rotation (forward +)",
    "hip_flexion": "Hip flexion", "hip_adduction": "Hip adduction", "hip_rotation": "Hip internal rotation",
    "knee_flexion": "Knee flexion", "ankle_dorsiflexion": "Ankle dorsiflexion",
    "foot_progression": "Foot progression (in +)",
}  # fmt: skip
LEG_ANGLES = ("hip_flexion", "hip_adduction", "hip_rotation", "knee_flexion", "ankle_dorsiflexion")
#: Internal moments by the words of `internal_joint_moments`.
GAIT_MOMENTS = {
    "hip_extensor_moment": "hip extensor", "hip_abductor_moment": "hip abductor",
    "knee_extensor_moment": "knee extensor", "ankle_plantarflexor_moment": "ankle plantarflexor",
}  # fmt: skip
#: Powers with the joints whose axes are added.
GAIT_POWERS = {
    "hip_power": ("hip_flexion", "hip_adduction", "hip_rotation"),
    "knee_power": ("knee_flexion",),
    "ankle_power": ("ankle_dorsiflexion", "ankle_inversion"),
}  # fmt: skip
#: Rows of the spatiotemporal table: title and unit.
SPATIOTEMPORAL_ROWS = {
    "speed": ("speed", "m/s"), "cadence": ("cadence", "steps/min"), "stride": ("stride length", "m"),
    "stride_time": ("stride time", "s"), "step": ("step length", "m"), "width": ("step width", "m"),
    "stance": ("stance", "%"), "swing": ("swing", "%"), "single_support": ("single support", "%"),
    "double_support": ("double support, both", "%"),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class GaitCurves:
    """Curves of a walk over the gait cycles of both feet.

    Attributes:
        fit: body model and motion.
        reference: the motion, on a fixed floor.
        events: gait events with their sources, in order of time.
        cycles: the cycles of straight walking, in order of time.
        torques: joint torques; None without ground forces.
        notes: remarks, one sentence each.
    """

    fit: Fit
    reference: ReferenceWalk
    events: tuple[SourcedEvent, ...]
    cycles: tuple[GaitCycle, ...]
    torques: Torques | None = None
    notes: tuple[str, ...] = ()
    _cache: dict[tuple[str, Side], CycleCurves] = field(default_factory=dict, repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the curves: angles (degrees) and, with ground forces, moments (N m/kg) and powers (W/kg)."""
        return (*GAIT_ANGLES, *(() if self.torques is None else (*GAIT_MOMENTS, *GAIT_POWERS)))

    def cycles_of(self, side: Side) -> tuple[GaitCycle, ...]:
        """Return the cycles of a foot."""
        return tuple(cycle for cycle in self.cycles if cycle.side == side)

    def curves(self, name: str, side: Side) -> CycleCurves:
        """Return a curve over the cycles of a side, at 101 points each; NaN where it is unknown."""
        if name not in self.names:
            raise GaitError(f"no curve '{name}'; there are {', '.join(self.names)}")
        if (name, side) not in self._cache:
            cycles = self.cycles_of(side)
            values = [self._curve(name, cycle) for cycle in cycles]
            stance = float(np.mean([cycle.stance for cycle in cycles])) if cycles else float("nan")
            self._cache[name, side] = CycleCurves(np.array(values) if values else np.zeros((0, 101)), stance)
        return self._cache[name, side]

    def _curve(self, name: str, cycle: GaitCycle) -> Array:
        if name.startswith(("pelvis", "trunk", "foot")):
            values, time = self._segment_angles(cycle)[name], self.reference.time
            return normalize_cycle(time, values, cycle, kind="spline")
        if name in LEG_ANGLES:
            angle = np.degrees(self.fit.angles()[f"{cycle.side}_{name}"])
            return normalize_cycle(self.fit.time, angle, cycle, kind="spline")
        assert self.torques is not None
        if name in GAIT_MOMENTS:
            values = internal_joint_moments(self.torques)[f"{cycle.side} {GAIT_MOMENTS[name]}"]
        else:
            joints = [self.torques.robot.joint(f"{cycle.side}_{joint}") for joint in GAIT_POWERS[name]]
            values = np.sum([self.torques.joint_torque(j.name) * self.torques.v[:, j.v] for j in joints], axis=0)
            values = values / self.torques.mass
        return normalize_cycle(self.fit.time, values, cycle)

    def _segment_angles(self, cycle: GaitCycle) -> dict[str, Array]:
        """Return angles of pelvis, trunk and foot against the walking direction of a cycle (n, degrees)."""
        time, q = self.reference.time, self.reference.q
        inside = np.flatnonzero((time >= cycle.initial_contact - 1e-9) & (time <= cycle.end + 1e-9))
        travel = q[inside[-1], :2] - q[inside[0], :2]
        heading = float(np.arctan2(travel[1], travel[0]))
        sign = 1.0 if cycle.side == "left" else -1.0
        found: dict[str, Array] = {}
        back = scipy.spatial.transform.Rotation.from_euler("z", -heading)
        for part, rotations in (("pelvis", self._orientations["pelvis"]), ("trunk", self._orientations["torso"])):
            rotation, obliquity, tilt = (back * rotations).as_euler("ZXY", degrees=True).T
            found |= {f"{part}_tilt": tilt, f"{part}_obliquity": sign * obliquity, f"{part}_rotation": -sign * rotation}
        heel = self.reference.foot_point("heel")[cycle.side]
        ball = self.reference.foot_point("first_metatarsal"), self.reference.foot_point("fifth_metatarsal")
        axis = 0.67 * ball[0][cycle.side] + 0.33 * ball[1][cycle.side] - heel  # towards the second toe
        angle = np.degrees(np.unwrap(np.arctan2(axis[:, 1], axis[:, 0])) - heading)
        angle = (angle + 180.0) % 360.0 - 180.0
        found["foot_progression"] = -sign * angle
        return found

    @cached_property
    def _orientations(self) -> dict[str, Any]:
        import pinocchio

        robot = self.reference.robot
        model, data = robot.model, robot.model.createData()
        frames = {name: robot.frame(name).index for name in ("pelvis", "torso")}
        found: dict[str, list[Array]] = {name: [] for name in frames}
        for q in self.reference.q:
            pinocchio.framesForwardKinematics(model, data, q)
            for name, frame in frames.items():
                found[name].append(data.oMf[frame].rotation.copy())
        return {name: scipy.spatial.transform.Rotation.from_matrix(np.array(each)) for name, each in found.items()}

    @cached_property
    def spatiotemporal(self) -> dict[Side, dict[str, float]]:
        """Mean values of the cycles of each side, by the keys of `SPATIOTEMPORAL_ROWS`."""
        heels = self.reference.foot_point("heel")
        direction = walking_direction(self.reference.q[:, :3], heels, self.reference.foot_point("first_metatarsal"))
        table: dict[Side, dict[str, float]] = {}
        for side in SIDES:
            rows = []
            for cycle in self.cycles_of(side):
                lengths = stride_lengths(cycle, self.reference.time, heels, direction)._asdict()
                single = 100.0 * (cycle.opposite_initial_contact - cycle.opposite_toe_off) / cycle.duration
                rows.append(
                    {
                        **{name: float(value) for name, value in lengths.items() if name in SPATIOTEMPORAL_ROWS},
                        "cadence": cycle.cadence, "stride_time": cycle.duration, "stance": cycle.stance,
                        "swing": 100.0 - cycle.stance, "single_support": single,
                        "double_support": cycle.double_support,
                    }
                )  # fmt: skip
            if rows:
                table[side] = {
                    name: float(np.mean([row[name] for row in rows])) for name in SPATIOTEMPORAL_ROWS if name in rows[0]
                }
        return table

    @property
    def event_counts(self) -> dict[str, int]:
        """Number of events by source: "plates", "file", "rule"."""
        sources = [each.source for each in self.events]
        return {source: sources.count(source) for source in ("plates", "file", "rule")}

    def compare_with_norm(self, dataset: str | None = None) -> tuple[NormComparison, ...]:
        """Compare the mean curves of both sides with the norm; see `poise.human.walk_norms`."""
        return compare_with_norm(self._means(), self.fit.shape, dataset)

    def profile_score(self, dataset: str | None = None) -> ProfileScore:
        """Return the gait profile score against the norm; see `poise.human.walk_norms`."""
        return profile_score(self._means(), self.fit.shape, dataset)

    def _means(self) -> dict[tuple[str, Side], Array]:
        return {
            (name, side): self.curves(name, side).mean for name in GAIT_ANGLES for side in SIDES if self.cycles_of(side)
        }

    def summary(self, dataset: str | None = None) -> dict[str, Any]:
        """Return plain values for JSON: events, table, ranges, norm and mean curves."""
        return json_ready(
            {
                "trial": self.fit.name,
                "cycles": [{"side": c.side, "begin_s": c.initial_contact, "end_s": c.end} for c in self.cycles],
                "events": [
                    {"time_s": e.event.time, "side": e.event.side, "kind": e.event.kind, "source": e.source}
                    for e in self.events
                ],
                "event_sources": self.event_counts,
                "spatiotemporal": self.spatiotemporal,
                "curves": {
                    name: {side: self.curves(name, side).mean for side in SIDES if self.cycles_of(side)}
                    for name in self.names
                },
                "norm": [each.summary() for each in self.compare_with_norm(dataset)],
                "profile": self.profile_score(dataset).summary(),
                **self.fit.quality.summary(),
                "notes": list(self.notes),
            }
        )

    def text(self, dataset: str | None = None) -> str:
        """Return events, spatiotemporal table, ranges with the norm, and profile score as text."""
        counts = ", ".join(
            f"{count} from {'the ' if s != 'plates' else ''}{s}" for s, count in self.event_counts.items() if count
        )
        strides = {side: len(self.cycles_of(side)) for side in SIDES}
        lines = [
            f"{self.fit.name}: {strides['left']} left and {strides['right']} right gait cycles; the fit is "
            f"{self.fit.quality.verdict}",
            f"events: {counts}",
            "",
            f"{'':<26} {'left':>7} {'right':>7}",
        ]
        for name, (title, unit) in SPATIOTEMPORAL_ROWS.items():
            values = [self.spatiotemporal.get(side, {}).get(name, float("nan")) for side in SIDES]
            if np.isfinite(values).any():
                lines.append(f"{f'{title} ({unit})':<26} {_cell(values[0])} {_cell(values[1])}")
        score = self.profile_score(dataset)
        lines += ["", *score.lines(self.compare_with_norm(dataset), GAIT_ANGLES)]
        peaks = [name for name in (*GAIT_MOMENTS, *GAIT_POWERS) if name in self.names]
        if peaks:
            lines += ["", f"{'largest, smallest':<28} {'left':>15} {'right':>15}"]
        for name in peaks:
            cells = [_extremes(self.curves(name, side)) for side in SIDES]
            unit = "W/kg" if name in GAIT_POWERS else "N m/kg"
            title = f"{name.replace('_', ' ')} ({unit})"
            lines.append(f"{title:<28} {cells[0]:>15} {cells[1]:>15}")
        speeds = [row["speed"] for row in self.spatiotemporal.values()]
        notes = [*self.notes, speed_note(float(np.mean(speeds)), choose_norm(self.fit.shape, dataset))]
        return "\n".join([*lines, *(f"  {note}" for note in notes if note)])


def _cell(value: float) -> str:
    return f"{value:>7.2f}" if np.isfinite(value) else f"{'-':>7}"


def _extremes(curves: CycleCurves) -> str:
    """Return maximum and minimum of a mean curve; none if it is unknown in most of the stance."""
    values = curves.mean if curves.count else np.full(101, np.nan)
    stance = np.isfinite(values[: round(np.nan_to_num(curves.toe_off, nan=60.0))])
    known = values[np.isfinite(values)]
    return f"{known.max():.2f}, {known.min():.2f}" if stance.mean() > 0.5 else "-"


def compute_gait_curves(fit: Fit) -> GaitCurves:
    """Compute the curves of all straight gait cycles of a fitted walk (`poise human curves`).

    Raises:
        GaitError: the motion has no complete gait cycle of straight walking; the message says why.

    >>> print(compute_gait_curves(fit_trial("walk.c3d")).text())
    """
    reference = ReferenceWalk.from_fit(fit)
    notes: list[str] = []
    torques = None
    if fit.trial.plates:
        try:
            torques = compute_torques(fit)
        except TrialError as error:
            notes.append(str(error).removeprefix(f"{fit.trial.path}: "))
    events = collect_events(reference, fit.trial.events, torques)
    cycles = gait_cycles(each.event for each in events)
    reference.cycle() if not cycles else None  # raises an error that lists the missing events
    reasons = {cycle: straightness(reference, cycle).reason for cycle in cycles}
    straight = tuple(cycle for cycle in cycles if not reasons[cycle])
    if not straight:
        texts = dict.fromkeys(f"{c.initial_contact:.2f} to {c.end:.2f} s: {reasons[c]}" for c in cycles)
        raise GaitError(f"no gait cycle of straight walking: {'; '.join(list(texts)[:4])}")
    if len(straight) < len(cycles):
        notes.append(f"{len(cycles) - len(straight)} gait cycles are not straight walking and left out")
    if torques is not None:
        notes += [note for note in torques.notes if "unknown" in note or "beside the plates" in note]
    return GaitCurves(fit, reference, events, straight, torques, tuple(notes))
