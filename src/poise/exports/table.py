"""CSV: a joint trajectory as a table, one line per sample."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from poise.exports.errors import ExportError
from poise.exports.job import Job
from poise.exports.trajectory import Trajectory

Array = NDArray[np.float64]

#: Digits of a number: nanometres in a hall of a metre, far below what any encoder sees.
DIGITS = "%.9g"
BASE_Q = ("base_x", "base_y", "base_z", "base_qx", "base_qy", "base_qz", "base_qw")
BASE_V = ("base_vx", "base_vy", "base_vz", "base_wx", "base_wy", "base_wz")


def write(job: Job, file: Path) -> None:
    """One head, ``time [s],q/base_x [m],...``, then the samples; of a torque that is not known the place says nan."""
    trajectory = job.trajectory()
    names, columns = ["time [s]"], [trajectory.time[:, None]]
    for name, values, labels, units in _blocks(trajectory):
        names += [
            f"{name}/{label} [{unit}]" if unit else f"{name}/{label}" for label, unit in zip(labels, units, strict=True)
        ]
        columns.append(values)
    with open(file, "w", encoding="utf-8", newline="\n") as stream:
        stream.write(",".join(names) + "\n")
        for time, line in zip(trajectory.time, np.hstack(columns), strict=True):
            stream.write(",".join(DIGITS % number for number in line) + "\n")
            job.progress(float(time - trajectory.time[0]))


def read(path: Path) -> Trajectory:
    """The trajectory in such a file. Units in the head may be missing; they are then s, m and rad."""
    try:
        head, _, body = path.read_text(encoding="utf-8-sig").partition("\n")
        names = [re.sub(r"\s*\[.*\]$", "", word.strip().strip('"')) for word in head.split(",")]
        if "time" not in names or not any(name.startswith("q/") for name in names):
            raise ExportError(f"{path} is no joint trajectory: its head has no columns 'time' and 'q/...'", str(path))
        rows = [line.split(",") for line in body.splitlines() if line.strip()]
        uneven = [i for i, row in enumerate(rows) if len(row) != len(names)]
        if uneven:
            line, count = uneven[0] + 2, len(rows[uneven[0]])
            raise ExportError(f"{path}: line {line} has {count} columns and the head {len(names)}; mend it", str(path))
        values = np.array(rows, dtype=np.float64).reshape(len(rows), len(names))
    except UnicodeDecodeError:
        raise ExportError(f"{path} is no text; give a .csv that 'poise export' wrote", str(path)) from None
    except ValueError as error:
        raise ExportError(f"{path} holds something that is no number: {error}", str(path)) from None
    found = {name: values[:, i] for i, name in enumerate(names)}
    joints = tuple(name[2:] for name in names if name.startswith("q/") and name[2:] not in BASE_Q)
    units = re.findall(r"q/([^,\[]*?)\s*\[m\]", head)
    return Trajectory(
        found["time"],
        _stacked(found, "q", (*BASE_Q, *joints), path),
        joints,
        tuple("m" if joint in units else "rad" for joint in joints),
        _stacked(found, "v", (*BASE_V, *joints), path) if any(name.startswith("v/") for name in names) else None,
        _stacked(found, "torque", joints, path) if any(name.startswith("torque/") for name in names) else None,
    )


def _blocks(trajectory: Trajectory) -> list[tuple[str, Array, tuple[str, ...], tuple[str, ...]]]:
    """Name, values, labels and units of what there is."""
    joints, units = trajectory.joints, trajectory.units
    blocks = [("q", trajectory.q, (*BASE_Q, *joints), ("m", "m", "m", "", "", "", "", *units))]
    if trajectory.v is not None:
        rates = (*["m/s"] * 3, *["rad/s"] * 3, *(f"{unit}/s" for unit in units))
        blocks.append(("v", trajectory.v, (*BASE_V, *joints), rates))
    if trajectory.torque is not None:
        efforts = tuple("N" if unit == "m" else "N m" for unit in units)
        blocks.append(("torque", trajectory.torque, joints, efforts))
    return blocks


def _stacked(found: dict[str, Array], name: str, labels: tuple[str, ...], path: Path) -> Array:
    missing = [f"{name}/{label}" for label in labels if f"{name}/{label}" not in found]
    if missing:
        raise ExportError(f"{path} has no column '{missing[0]}'; give a .csv that 'poise export' wrote", str(path))
    return np.column_stack([found[f"{name}/{label}"] for label in labels])
