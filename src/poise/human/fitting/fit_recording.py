"""Recording of a fit: motion, markers and their distances from the body, with the provenance of the trial."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.human.fitting.marker_tracking import BodyPoints
from poise.recording import Channel, CoordinateLabels, Recording, environment_facts

if TYPE_CHECKING:
    from poise.human.fitting.body_fit import Fit

#: Behavior name in the provenance of recordings of fits.
FIT_BEHAVIOR = "human fit"


def to_recording(fit: Fit) -> Recording:
    """Make a recording: time, q, v, center_of_mass; markers measured and on the model (m), and their distances (m).

    Values that the markers do not determine are NaN. Without the whole body there is no center of mass.
    The provenance has the body shape, how the trial was read and processed, and the marker placement.
    """
    robot, body = fit.robot, CoordinateLabels.of(fit.robot)
    labels = fit.marker_placement.labels
    axes = tuple(f"{label} {axis}" for label in labels for axis in "xyz")
    measured = np.stack([fit.trial.marker(label) for label in labels], axis=1)
    points = fit.marker_placement.body_points(robot)
    channels = [
        Channel("time", "s", fit.time),
        Channel("q", body.q_units, fit.q, body.q_labels),
        Channel("v", body.rate_units("/s"), fit.v, body.v_labels),
        *([Channel("center_of_mass", "m", _centers_of_mass(fit), ("x", "y", "z"))] if fit.whole_body else []),
        Channel("markers/measured", "m", measured.reshape(len(measured), -1), axes),
        Channel("markers/body", "m", _body_marker_positions(points, fit), axes),
        Channel("markers/distance", "m", fit.errors, labels),
    ]
    return Recording(channels, {**environment_facts(robot), **fit_provenance(fit)}, robot)


def fit_provenance(fit: Fit) -> dict[str, Any]:
    """Return the provenance of a fit: trial, subject, notes, events and marker placement."""
    return {
        "behavior": FIT_BEHAVIOR,
        "trial": Path(fit.trial.path).name,
        "rate": fit.trial.rate,
        "subject": fit.trial.subject.name,
        "notes": list(fit.notes),
        "quality": fit.quality.summary(),
        "events": [[event.time, event.side, event.kind] for event in fit.trial.events],
        "markers": {
            label: {"link": link, "location": location.tolist()}
            for label, link, location in zip(
                fit.marker_placement.labels, fit.marker_placement.links, fit.marker_placement.locations, strict=True
            )
        },
        "controller": {"period": float(np.median(np.diff(fit.time))) if len(fit.time) > 1 else None},
    }


def _centers_of_mass(fit: Fit) -> Array:
    """Compute the centre of mass (n x 3, m); NaN where it is unknown."""
    data = fit.robot.model.createData()
    centers = [pinocchio.centerOfMass(fit.robot.model, data, q, False).copy() for q in fit.motion.q]
    return np.where(fit.center_of_mass_seen[:, None], np.array(centers), np.nan)


def _body_marker_positions(points: BodyPoints, fit: Fit) -> Array:
    """Compute the positions of the markers on the body, one after the other (n x 3 M, m); NaN where it is unknown."""
    positions = np.array([points.positions(q) for q in fit.motion.q])
    seen = fit.motion.seen
    measured = seen.any(axis=0)
    known = np.array([seen[:, carrying & measured].all(axis=1) for carrying in points.support_mask > 0.0]).T
    return np.where(known[:, :, None], positions, np.nan).reshape(len(positions), -1)
