"""Write C3D files: markers, events, force plates and subject, with the labels of Vicon."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from poise.extras import ezc3d
from poise.human.trial import ForcePlate, Trial

#: Event labels of Vicon.
EVENT_LABELS = {"initial_contact": "Foot Strike", "toe_off": "Foot Off"}
#: Distance from the centres of pressure to the edges that are written for a plate with unknown edges, m.
EDGE = np.array([0.15, 0.15, 0.0])
PLATE_CHANNELS = ("Fx", "Fy", "Fz", "Mx", "My", "Mz")


def write_c3d(trial: Trial, path: str | Path) -> Path:
    """Write a trial as a C3D file, in mm, z up, plates as type 2 with one sample per frame.

    Stored angles and moments of other software are not written.

    >>> write_c3d(trial, "walk.c3d")
    """
    file = ezc3d.c3d()
    _write_points(file, trial)
    _write_analogs(file, trial)
    _write_events(file, trial)
    if trial.subject.name:
        file.add_parameter("SUBJECTS", "NAMES", [trial.subject.name])
    if trial.subject.mass is not None:
        file.add_parameter("PROCESSING", "Bodymass", [float(trial.subject.mass)])
    if trial.subject.height is not None:
        file.add_parameter("PROCESSING", "Height", [1e3 * trial.subject.height])
    file.write(str(path))
    return Path(path)


def _write_points(file: Any, trial: Trial) -> None:
    n, m = len(trial.time), len(trial.labels)
    parameters = file["parameters"]["POINT"]
    parameters["RATE"]["value"] = [float(trial.rate)]
    parameters["LABELS"]["value"] = list(trial.labels)
    parameters["UNITS"]["value"] = ["mm"]
    file["header"]["points"]["frame_rate"] = float(trial.rate)
    points = np.ones((4, m, n))
    points[:3] = 1e3 * trial.positions.transpose(2, 1, 0)
    file["data"]["points"] = points
    visible = np.isfinite(points).all(axis=0)
    file["data"]["meta_points"] = {
        "residuals": np.where(visible, 0.0, -1.0)[np.newaxis],
        "camera_masks": np.zeros((7, m, n), dtype=bool),
    }


def _write_analogs(file: Any, trial: Trial) -> None:
    if not trial.plates:
        return
    channels = np.vstack([_plate_channels(plate) for plate in trial.plates])
    labels = [f"{name}{k + 1}" for k in range(len(trial.plates)) for name in PLATE_CHANNELS]
    parameters = file["parameters"]["ANALOG"]
    parameters["RATE"]["value"] = [float(trial.rate)]
    parameters["LABELS"]["value"] = labels
    parameters["UNITS"]["value"] = [unit for _ in trial.plates for unit in ("N",) * 3 + ("Nmm",) * 3]
    parameters["SCALE"]["value"] = np.ones(len(labels))
    parameters["OFFSET"]["value"] = np.zeros(len(labels), dtype=int)
    file["header"]["analogs"]["frame_rate"] = float(trial.rate)
    file["data"]["analogs"] = channels[np.newaxis]
    count = len(trial.plates)
    group = file["parameters"]["FORCE_PLATFORM"]
    group["USED"]["value"] = [count]
    group["TYPE"]["value"] = [2] * count
    group["ZERO"]["value"] = [1, 0]
    group["CORNERS"]["value"] = np.stack([1e3 * _ordered_corners(plate).T for plate in trial.plates], axis=2)
    group["ORIGIN"]["value"] = np.zeros((3, count))
    group["CHANNEL"]["value"] = np.arange(1, 6 * count + 1).reshape(count, 6).T


def _ordered_corners(plate: ForcePlate) -> np.ndarray:
    """Return the corners in the order that aligns x and y of the plate with the world: ++, -+, --, +-."""
    surface = plate.corners
    if not len(surface):  # edges unknown: the rectangle around the centres of pressure
        surface = plate.center_of_pressure[plate.force[:, 2] > 0.0]
        surface = np.vstack([surface + EDGE, surface - EDGE]) if len(surface) else np.vstack([EDGE, -EDGE])
    low, high = surface.min(axis=0), surface.max(axis=0)
    z = surface[:, 2].mean()
    (x, y), (X, Y) = low[:2], high[:2]
    return np.array([[X, Y, z], [x, Y, z], [x, y, z], [X, y, z]])


def _plate_channels(plate: ForcePlate) -> np.ndarray:
    """Return force (N) and moment about the middle of the plate (N mm), 6 x n."""
    middle = _ordered_corners(plate).mean(axis=0)
    loaded = np.linalg.norm(plate.force, axis=1) > 0.0
    lever = np.where(loaded[:, np.newaxis], plate.center_of_pressure - middle, 0.0)
    moment = np.cross(lever, plate.force) + plate.free_moment
    return np.vstack([plate.force.T, 1e3 * moment.T])


def _write_events(file: Any, trial: Trial) -> None:
    if not trial.events:
        return
    times = np.array([[0.0, event.time] for event in trial.events]).T
    file.add_parameter("EVENT", "USED", [len(trial.events)])
    file.add_parameter("EVENT", "CONTEXTS", [event.side.capitalize() for event in trial.events])
    file.add_parameter("EVENT", "LABELS", [EVENT_LABELS[event.kind] for event in trial.events])
    file.add_parameter("EVENT", "TIMES", times)
