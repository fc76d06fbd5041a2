"""Inverse dynamics: joint torques of a person from motion and force plates ([Saab2012] section 3.1).

    S^T τ + (f, m) = M(q) a + h(q, v) - Σ over the feet of J_i^T w_i

Notation: τ are the joint torques, S selects the joints from the generalized coordinates, w_i is the ground reaction
wrench on foot i and J_i the Jacobian of that foot, M the inertia matrix of the body without motors, h gravity and
velocity-dependent terms. The first six rows, those of the pelvis, have no actuator; what remains there, (f, m), is the
residual force and moment, which measures how well motion, masses and force plates agree.

Torques of the back, neck and arms do not depend on the plates: they follow from the motion of the segments above.

If the mass is not given it is estimated from the plates. With c_z the height of the centre of mass, over the frames in
which all contact is measured,

    m = Σ F_z / Σ (g + d²c_z/dt²)

The mean force alone would be wrong by some per cent, because of the vertical acceleration of the body in these frames.

[Saab2012] L. Saab, N. Mansard, P. Souères, J.-Y. Fourquet, M. Sreenivasa, Y. Nakamura. *Whole-body torques for
generating complex movements in humans and humanoids.* SYROCO, 2012.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.arrays import Array, Mask
from poise.human.fitting.body_fit import Fit
from poise.human.fitting.fit_quality import FitQuality, QualityCheck
from poise.human.fitting.visibility import efforts_seen, leg_seen
from poise.human.torques.joint_moments import torques_summary, torques_text
from poise.human.torques.plate_forces import FootWrenches, MotionWithPlates, foot_wrenches, without_missing_load
from poise.human.trial import Trial, TrialError
from poise.recording import Channel, CoordinateLabels, Recording, channel_key, environment_facts
from poise.robots import GRAVITY, SIDES, Robot, Side

#: Beginning of the note of a fit whose mass was not given.
MASS_NOT_GIVEN = "the mass was not given"
#: Shortest time with complete contact data to estimate the mass, s: a third of a step, with falling and rising.
MIN_MEASURED_TIME = 0.2


def mass_from_plates(fit: MotionWithPlates, wrenches: FootWrenches | None = None) -> float:
    """Estimate the mass of a person, kg, from frames in which every foot is in the air or entirely on its plates.

    Args:
        fit: body model and motion; only the distribution of its mass is used.
        wrenches: wrenches from the plates; computed if not given.

    >>> mass_from_plates(fit(walk, static))
    """
    wrenches = foot_wrenches(fit) if wrenches is None else wrenches
    standing = np.logical_or.reduce([wrenches.loaded[side] for side in SIDES])
    frames = np.flatnonzero(wrenches.known & standing)
    if len(frames) < MIN_MEASURED_TIME * fit.trial.rate:
        raise TrialError(
            f"{fit.trial.path}: all contact is measured for only {len(frames) / fit.trial.rate:.2f} s; expected "
            f"{MIN_MEASURED_TIME:g} s or more to estimate the mass; give the mass",
            path=fit.trial.path,
            element="mass",
        )
    model, data = fit.robot.model, fit.robot.model.createData()
    acceleration_sum = 0.0
    for k in frames:
        pinocchio.computeCentroidalMomentumTimeVariation(model, data, fit.q[k], fit.v[k], fit.a[k])
        acceleration_sum += GRAVITY + float(data.dhg.linear[2]) / fit.robot.mass
    force_sum = sum(float(wrenches.force[side][frames, 2].sum()) for side in SIDES)
    return force_sum / acceleration_sum


# -- Inverse dynamics ------------------------------------------------------------------------------------------------


#: Relative difference, in single support, between the load on a plate and that required by the motion that is noted.
LOAD_TOLERANCE = 0.15
#: Residual force at the pelvis, rms as a share of the weight, above which moments are doubtful and unusable.
LARGE_RESIDUAL, UNUSABLE_RESIDUAL = 0.2, 0.4
#: Relative difference of the mass from that measured by the plates above which moments are doubtful and unusable. Loads
#: carried, clothes and the drift of plates explain some per cent.
DOUBTFUL_MASS, UNUSABLE_MASS = 0.1, 0.35


@dataclass(frozen=True, eq=False)
class Torques:
    """Joint torques of a person over n frames.

    Attributes:
        robot: the body model.
        trial: the trial.
        time: n, s.
        q, v, a: the motion.
        mass: of the body, kg, as used in inverse dynamics.
        torque: n x 42, N m at the joints in the order of `Robot.joints`, after six zeros for the base.
        residual: n x 6, force (N) and moment about the origin of the pelvis (N m) not explained by the plates, in world
            axes: the wrench that would have to act on the pelvis in addition to the ground.
        foot_wrenches: wrenches from the plates.
        notes: remarks on the processing, one sentence each.
        quality: checks of the fit, and of the plates against mass and motion, with a verdict.
        effort_seen: where the markers determine the motion that a torque depends on (n x 42); None: everywhere.

    >>> torques = compute_torques(fit(walk, static))
    >>> np.nanmax(torques.joint_torque("left_ankle_dorsiflexion")), torques.residual_rms
    """

    robot: Robot
    trial: Trial
    time: Array
    q: Array
    v: Array
    a: Array
    mass: float
    torque: Array
    residual: Array
    foot_wrenches: FootWrenches
    notes: tuple[str, ...]
    quality: FitQuality = field(default_factory=FitQuality)
    effort_seen: Mask | None = None

    def joint_torque(self, joint: str, include_unknown: bool = False) -> Array:
        """Return the torque of one joint, n, N m; NaN where unknown, unless `include_unknown`.

        It is the internal torque, that of muscles and ligaments, positive in the positive direction of the joint angle:
        ``left_knee_flexion`` is positive if the flexors dominate. `poise.human.internal_joint_moments` and the tables
        count extensors, abductors and plantarflexors positive, as Plug-in Gait does.
        """
        values = self.torque[:, self.robot.joint(joint).v]
        return values if include_unknown else np.where(self.valid(joint), values, np.nan)

    def valid(self, joint: str) -> Mask:
        """Return a mask of the frames in which the torque of a joint is known (n).

        It is known if the ground reaction on every foot distal to the joint is completely measured, and if the markers
        determine the motion of the pelvis, of the joint and of all beyond it.

        Back, neck and arms have no foot distal to them. The wrench acts on the foot as a whole, so the torque of the
        toe joint is known only in swing.
        """
        return self._valid[joint]

    @cached_property
    def _valid(self) -> dict[str, Mask]:
        model = self.robot.model
        masks = {}
        for joint in self.robot.joints:
            mask = np.ones(len(self.time), dtype=bool)
            for side in SIDES:
                foot = self.robot.foot(side).joint
                if joint.index in model.supports[foot]:
                    mask &= self.foot_wrenches.measured[side]
                elif foot in model.supports[joint.index]:
                    mask &= ~self.foot_wrenches.stance[side]
            masks[joint.name] = mask if self.effort_seen is None else mask & self.effort_seen[:, joint.v]
        return masks

    def __str__(self) -> str:
        return self.text()

    def recording(self) -> Recording:
        """Return motion, torques, ground reaction forces and residual as a recording.

        Channels are named as in recordings of robots: ``q``, ``v``, ``center_of_mass``, ``contacts``, ``phase`` (feet
        in stance), ``command/torque``; and ``torque_per_kg``, ``residual``. Unknown torques are NaN. Forces are
        ``measured/force/...``, the complete load of the feet, if the plates measured every step; else
        ``plate/force/...``. Both are wrenches about the middle of the sole, NaN while no plate is loaded.

        >>> compute_torques(fit(walk, static)).recording().save("walk.poise")  # then: poise report walk.poise
        """
        return _to_recording(self)

    def summary(self) -> dict[str, Any]:
        """Return plain values for JSON: peak moments per kg, agreement with stored ones, residual; keys have units."""
        return torques_summary(self)

    def text(self) -> str:
        """Return the summary as text tables."""
        return torques_text(self)

    @property
    def residual_rms(self) -> Array:
        """Root mean square of `residual` over frames with all contact measured, 6 (N, N m); NaN without any."""
        return residual_rms(self.foot_wrenches, self.residual)


def residual_rms(wrenches: FootWrenches, residual: Array) -> Array:
    """Compute `Torques.residual_rms`."""
    known = residual[wrenches.known & np.isfinite(residual).all(axis=1)]
    return np.sqrt(np.mean(known**2, axis=0)) if len(known) else np.full(6, np.nan)


def compute_torques(fit: MotionWithPlates, cutoff: float | None = None) -> Torques:
    """Compute the torques of all joints by inverse dynamics of a fitted motion and the force plates of its trial.

    If the fit did not know the mass, the mass measured by the plates is used. Takes about 0.1 ms per frame.

    Args:
        fit: body model and motion, a `poise.human.fitting.Fit` or similar; its motion is already filtered.
        cutoff: cut-off of a low-pass filter on the ground reaction forces (Hz); by default none. The same cut-off for
            motion and forces is often recommended against peaks at initial contact, but it did not bring torques closer
            to those of laboratories in any trial.
    """
    if len(fit.time) != len(fit.trial.time):
        raise TrialError(
            f"{fit.trial.path}: {len(fit.time)} frames of motion, {len(fit.trial.time)} in the trial; fit it again",
            path=fit.trial.path,
        )
    measured, effort_seen = fit, None
    if isinstance(fit, Fit):
        fit, effort_seen = fit.bridged(), efforts_seen(fit.robot, fit.motion.q, fit.motion.acceleration_seen)
    wrenches = foot_wrenches(fit, cutoff)
    if isinstance(measured, Fit):
        wrenches = wrenches.where_seen({side: leg_seen(fit.robot, measured.motion.seen, side) for side in SIDES})
    mass, notes = fit.robot.mass, list(fit.notes)
    notes += ["ground forces not filtered" if cutoff is None else f"ground forces low-pass filtered at {cutoff:g} Hz"]
    unknown_mass = any(MASS_NOT_GIVEN in note for note in fit.notes)
    if unknown_mass:
        with contextlib.suppress(TrialError):
            mass = mass_from_plates(fit, wrenches)
    torque, residual = _torques(fit, _model_of_mass(fit, mass), wrenches)
    reliable = without_missing_load(wrenches, residual[:, 2], GRAVITY * mass, fit.time)
    if unknown_mass:
        try:
            mass = mass_from_plates(fit, reliable)
            notes.append(f"mass {mass:.1f} kg, from the force plates")
        except TrialError as error:
            mass = fit.robot.mass
            notes.append(str(error).removeprefix(f"{fit.trial.path}: "))
        torque, residual = _torques(fit, _model_of_mass(fit, mass), wrenches)
    wrenches = reliable
    if effort_seen is not None:
        torque, residual = np.where(effort_seen, torque, np.nan), np.where(effort_seen[:, :6], residual, np.nan)
        torque[:, :6] = 0.0
    notes += _plate_notes(fit, wrenches, residual, mass)
    return Torques(
        fit.robot,
        fit.trial,
        fit.time,
        measured.q,
        measured.v,
        measured.a,
        mass,
        torque,
        residual,
        wrenches,
        tuple(dict.fromkeys(notes)),
        _quality(fit, wrenches, residual, mass),
        effort_seen,
    )


def _model_of_mass(fit: MotionWithPlates, mass: float) -> pinocchio.Model:
    """Return the body model with another mass (kg), distributed in the same way."""
    model = fit.robot.model.copy()
    model.armature = np.zeros(model.nv)  # motor inertia, which stabilises simulations; people have none
    for k in range(model.njoints):
        model.inertias[k] = pinocchio.Inertia(
            model.inertias[k].mass * mass / fit.robot.mass,
            model.inertias[k].lever,
            model.inertias[k].inertia * mass / fit.robot.mass,
        )
    return model


def _quality(fit: MotionWithPlates, wrenches: FootWrenches, residual: Array, mass: float) -> FitQuality:
    """Add checks of mass and residual to those of the fit."""
    checks = list(fit.quality.checks) if isinstance(fit, Fit) else []
    try:
        measured = mass_from_plates(fit, wrenches)
    except TrialError:
        measured = mass
    difference = abs(measured / mass - 1.0)
    if difference > DOUBTFUL_MASS:
        message = f"the mass is {mass:.1f} kg, the plates measure {measured:.1f} kg: check it"
        in_pounds = abs(0.4536 * mass / measured - 1.0) < DOUBTFUL_MASS
        message += f"; did you mean {0.4536 * mass:.1f} kg ({mass:g} lb)?" if in_pounds else ""
        checks.append(QualityCheck("mass", "failure" if difference > UNUSABLE_MASS else "warning", message))
    share = residual_rms(wrenches, residual)[:3] / (GRAVITY * mass)
    if np.any(share > LARGE_RESIDUAL):
        checks.append(
            QualityCheck(
                "residual",
                "failure" if np.any(share > UNUSABLE_RESIDUAL) else "warning",
                f"large residual: {100 * share.max():.0f} % of the weight (rms) at the pelvis; do not use the moments "
                "before checking mass, gaps of the markers and positions of the plates",
            )
        )
    return FitQuality.of(checks)


def _torques(fit: MotionWithPlates, model: pinocchio.Model, wrenches: FootWrenches) -> tuple[Array, Array]:
    """Compute `Torques.torque`, n x nv, and `Torques.residual`, n x 6."""
    data = model.createData()
    torque, residual = np.zeros((len(fit.time), model.nv)), np.zeros((len(fit.time), 6))
    feet = {side: fit.robot.foot(side).joint for side in SIDES}
    forces = [pinocchio.Force.Zero() for _ in range(model.njoints)]
    for k, (q, v, a) in enumerate(zip(fit.q, fit.v, fit.a, strict=True)):
        pinocchio.forwardKinematics(model, data, q)  # rnea does not compute joint placements in the world frame
        for side, joint in feet.items():
            wrench = pinocchio.Force(wrenches.force[side][k], wrenches.moment[side][k])
            forces[joint] = data.oMi[joint].actInv(wrench)
        effort = pinocchio.rnea(model, data, q, v, a, forces)
        torque[k, 6:] = effort[6:]
        world_from_pelvis = data.oMi[1].rotation
        residual[k] = np.concatenate([world_from_pelvis @ effort[:3], world_from_pelvis @ effort[3:6]])
    return torque, residual


def _plate_notes(fit: MotionWithPlates, wrenches: FootWrenches, residual: Array, mass: float) -> list[str]:
    """Return remarks on each plate contact, and on feet beside the plates."""
    notes = []
    vertical = np.sum([wrenches.force[side][:, 2] for side in SIDES], axis=0)
    for contact in wrenches.plate_contacts:
        name, span = (
            fit.trial.plates[contact.plate].name,
            f"{fit.time[contact.begin]:.2f} to {fit.time[contact.end - 1]:.2f} s",
        )
        note = f"{name}, {span}: {contact.side} foot"
        if contact.shared:
            note += ", shared with the other foot: its torques are unknown"
        elif not contact.complete:
            note += f", {1e3 * contact.overhang:.0f} mm beyond the edge: its torques are unknown"
        else:
            other = next(side for side in SIDES if side != contact.side)
            single_support = np.zeros(len(fit.time), dtype=bool)
            single_support[contact.begin : contact.end] = True
            single_support &= ~wrenches.stance[other]
            required = vertical + residual[:, 2]
            single_support &= np.isfinite(required)
            share = (
                float(vertical[single_support].sum() / required[single_support].sum()) if single_support.any() else 1.0
            )
            if abs(share - 1.0) > LOAD_TOLERANCE:
                note += (
                    f", bears {100 * share:.0f} % of the load that the motion requires: check the mass of {mass:.1f} kg"
                )
        notes.append(note)
    off_plates = {side: float(np.mean(~wrenches.has_wrench(side))) for side in SIDES}
    notes += [
        f"{side} foot beside the plates in {100 * share:.0f} % of the frames"
        for side, share in off_plates.items()
        if share
    ]
    return notes


# -- Recording -------------------------------------------------------------------------------------------------------


AXES = ("x", "y", "z")
#: Behavior name in the provenance of recordings of measured torques.
TORQUES_BEHAVIOR = "human torques"
WRENCH_LABELS = ("fx", "fy", "fz", "mx", "my", "mz")
WRENCH_UNITS = ("N", "N", "N", "N m", "N m", "N m")


def _to_recording(torques: Torques) -> Recording:
    robot = torques.robot
    body = CoordinateLabels.of(robot)
    known = np.column_stack([torques.joint_torque(joint.name) for joint in robot.joints])
    names, units = body.effort_labels(len(robot.joints))
    center, soles = _centers_and_soles(torques)
    channels = [
        Channel("time", "s", torques.time),
        Channel("q", body.q_units, torques.q, body.q_labels),
        Channel("v", body.rate_units("/s"), torques.v, body.v_labels),
        Channel("center_of_mass", "m", center, AXES),
        Channel("command/torque", units, known, names),
        Channel("torque_per_kg", tuple(f"{unit}/kg" for unit in units), known / torques.mass, names),
        Channel("residual", WRENCH_UNITS, torques.residual, WRENCH_LABELS),
        *_force_channels(torques, soles),
        Channel("contacts", "", _text_channel(torques, lambda on: ", ".join(robot.foot(side).name for side in on))),
        Channel("phase", "", _text_channel(torques, _phase_name)),
    ]
    provenance = {
        **environment_facts(robot),
        "behavior": TORQUES_BEHAVIOR,
        "trial": Path(torques.trial.path).name,
        "rate": torques.trial.rate,
        "subject": torques.trial.subject.name,
        "events": [[event.time, event.side, event.kind] for event in torques.trial.events],
        "mass": torques.mass,
        "torques": "inverse dynamics",
        "notes": list(torques.notes),
        "quality": torques.quality.summary(),
    }
    return Recording(channels, provenance, robot)


def _centers_and_soles(torques: Torques) -> tuple[Array, dict[Side, Array]]:
    """Compute the center of mass and the middle of each sole, n x 3, m."""
    robot = torques.robot
    model, data = robot.model, robot.model.createData()
    center = np.empty((len(torques.time), 3))
    soles: dict[Side, Array] = {side: np.empty((len(torques.time), 3)) for side in SIDES}
    for k, q in enumerate(torques.q):
        pinocchio.framesForwardKinematics(model, data, q)
        center[k] = pinocchio.centerOfMass(model, data, q, False)
        for side in SIDES:
            foot = robot.foot(side)
            soles[side][k] = data.oMf[foot.index].act(foot.sole.center)
    return center, soles


def _force_channels(torques: Torques, soles: dict[Side, Array]) -> list[Channel]:
    wrenches = torques.foot_wrenches
    source = "measured" if wrenches.known.all() else "plate"
    channels = []
    for side in SIDES:
        force, sole = wrenches.force[side], soles[side]
        wrench = np.hstack([force, wrenches.moment[side] - np.cross(sole, force)])
        unloaded = ~wrenches.loaded[side][:, np.newaxis]
        name = torques.robot.foot(side).name
        contact, point = f"{source}/force/{name}", f"{source}/contact_point/{name}"
        channels.append(
            Channel(channel_key(contact), WRENCH_UNITS, np.where(unloaded, np.nan, wrench), WRENCH_LABELS, contact)
        )
        channels.append(Channel(channel_key(point), "m", np.where(unloaded, np.nan, sole), AXES, point))
    return channels


def _text_channel(torques: Torques, text_of: Callable[[list[Side]], str]) -> NDArray[np.object_]:
    stance_feet = [[side for side in SIDES if torques.foot_wrenches.stance[side][k]] for k in range(len(torques.time))]
    return np.array([text_of(feet) for feet in stance_feet], dtype=object)


def _phase_name(stance_feet: list[Side]) -> str:
    return "double support" if len(stance_feet) > 1 else f"{stance_feet[0]} support" if stance_feet else "flight"
