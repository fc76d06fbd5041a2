"""A fit as a recording: the body's motion, its markers, and where all of it comes from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pinocchio

from poise.human.fitting.points import Points
from poise.recording import Channel, Recording
from poise.recording.body import Body
from poise.recording.provenance import circumstances

if TYPE_CHECKING:
    from poise.human.fitting.fit import Fit

#: How a recording of a measured motion calls what made it.
BEHAVIOR = "human fit"


def recording_of(fit: Fit) -> Recording:
    """Channels of any motion (time, q, v, center_of_mass), and of markers: measured and on the body (m), distances (m).

    The provenance says which body it is, how the trial was read and cleaned, and where the markers sit.
    """
    robot, body = fit.robot, Body.of(fit.robot)
    labels = fit.placed.labels
    axes = tuple(f"{label} {axis}" for label in labels for axis in "xyz")
    seen = np.stack([fit.trial.marker(label) for label in labels], axis=1)
    points = fit.placed.points(robot)
    channels = [
        Channel("time", "s", fit.time),
        Channel("q", body.q_units, fit.q, body.q_labels),
        Channel("v", body.rates("/s"), fit.v, body.v_labels),
        Channel("center_of_mass", "m", _centers(fit), ("x", "y", "z")),
        Channel("markers/measured", "m", seen.reshape(len(seen), -1), axes),
        Channel("markers/body", "m", _on_body(points, fit.q), axes),
        Channel("markers/distance", "m", fit.errors, labels),
    ]
    return Recording(channels, {**circumstances(robot), **facts(fit)}, robot)


def facts(fit: Fit) -> dict[str, Any]:
    """What is known of a fit beside its numbers, to be kept with them."""
    return {
        "behavior": BEHAVIOR,
        "trial": Path(fit.trial.path).name,
        "rate": fit.trial.rate,
        "subject": fit.trial.subject.name,
        "notes": list(fit.notes),
        "events": [[event.time, event.side, event.kind] for event in fit.trial.events],
        "markers": {
            label: {"link": link, "place": place.tolist()}
            for label, link, place in zip(fit.placed.labels, fit.placed.links, fit.placed.places, strict=True)
        },
        "controller": {"period": float(np.median(np.diff(fit.time))) if len(fit.time) > 1 else None},
    }


def _centers(fit: Fit) -> np.ndarray:
    data = fit.robot.model.createData()
    return np.array([pinocchio.centerOfMass(fit.robot.model, data, q, False).copy() for q in fit.q])


def _on_body(points: Points, q: np.ndarray) -> np.ndarray:
    return np.array([points.world(each).ravel() for each in q])
