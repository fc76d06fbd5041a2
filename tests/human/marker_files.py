"""Small marker files for tests: a person standing in a T-pose, in any format, units and axes."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import ezc3d
import numpy as np

from shared_data import require_data

#: Left half of a person in a T-pose, m, x forward, y left, z up; the span is 1.7 m, as much as the height.
HALF = {
    "FHD": (0.10, 0.08, 1.70), "BHD": (-0.09, 0.07, 1.70), "SHO": (0.0, 0.18, 1.45), "ELB": (0.0, 0.47, 1.44),
    "WRA": (0.03, 0.72, 1.43), "WRB": (-0.03, 0.72, 1.43), "FIN": (0.0, 0.85, 1.43), "ASI": (0.11, 0.12, 1.00),
    "PSI": (-0.08, 0.05, 1.01), "THI": (0.02, 0.19, 0.70), "KNE": (0.0, 0.16, 0.50), "TIB": (0.02, 0.17, 0.30),
    "ANK": (0.0, 0.14, 0.08), "HEE": (-0.07, 0.10, 0.04), "TOE": (0.13, 0.11, 0.04),
}  # fmt: skip
MIDDLE = {"C7": (-0.08, 0.0, 1.50), "T10": (-0.10, 0.0, 1.22), "CLAV": (0.07, 0.0, 1.41), "STRN": (0.11, 0.0, 1.25)}
PERSON: dict[str, tuple[float, float, float]] = {
    **MIDDLE,
    "RBAK": (-0.10, -0.10, 1.38),
    **{f"L{name}": place for name, place in HALF.items()},
    **{f"R{name}": (x, -y, z) for name, (x, y, z) in HALF.items()},
}


def standing(frames: int = 5, people: Mapping[str, tuple[float, float, float]] = PERSON) -> np.ndarray:
    """Return marker positions (frames x markers x 3, m); the person drifts forward by 1 cm per frame."""
    still = np.array(list(people.values()))
    return still + np.array([0.2, 0.3, 0.0]) + np.arange(frames)[:, None, None] * np.array([0.01, 0.0, 0.0])


def in_axes(positions: np.ndarray, up: str) -> np.ndarray:
    """Rotate positions from z up to another axis up, right-handed."""
    x, y, z = np.moveaxis(positions, -1, 0)
    turned = {"z": (x, y, z), "y": (x, z, -y), "x": (z, x, y), "-z": (x, -y, -z), "-y": (x, -z, y), "-x": (-z, y, x)}
    return np.stack(turned[up], axis=-1)


def write_c3d(
    path: Path,
    positions: np.ndarray,
    labels: Sequence[str] = tuple(PERSON),
    *,
    rate: float = 100.0,
    units: str = "mm",
    scale: float = 1000.0,
    first_frame: int = 0,
    analogs: Mapping[str, np.ndarray] | None = None,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
) -> Path:
    """Write a C3D file; positions in m times ``scale``, NaN for hidden markers; analogs are channels of samples."""
    c3d = ezc3d.c3d()
    values = scale * np.asarray(positions, dtype=float).transpose(2, 1, 0)
    c3d["header"]["points"]["first_frame"] = first_frame
    c3d["parameters"]["POINT"]["RATE"]["value"] = [rate]
    c3d["parameters"]["POINT"]["LABELS"]["value"] = list(labels)
    c3d["parameters"]["POINT"]["UNITS"]["value"] = [units]
    c3d["data"]["points"] = np.concatenate([values, np.ones((1, *values.shape[1:]))])
    if analogs:
        samples = np.array(list(analogs.values()), dtype=float)
        c3d["parameters"]["ANALOG"]["RATE"]["value"] = [rate * samples.shape[1] / len(positions)]
        c3d["parameters"]["ANALOG"]["LABELS"]["value"] = list(analogs)
        c3d["data"]["analogs"] = samples[None]
    for group, entries in (parameters or {}).items():
        for name, value in entries.items():
            c3d.add_parameter(group, name, np.asarray(value, dtype=float) if isinstance(value, np.ndarray) else value)
            if isinstance(value, np.ndarray) and value.dtype.kind == "i":  # add_parameter supports no integer arrays
                c3d["parameters"][group][name].update(type=ezc3d.ezc3d.INT, value=value)
    c3d.write(str(path))
    return path


def write_trc(
    path: Path, rows: Sequence[str], labels: Sequence[str], header: str = "100\t100\t3\t{m}\tmm\t100\t1\t3"
) -> Path:
    """Write a TRC file with the given rows of text."""
    names = "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames"
    axes = "\t\t" + "\t".join(f"{axis}{i + 1}" for i in range(len(labels)) for axis in "XYZ")
    top = ["PathFileType\t4\t(X/Y/Z)\tany.trc", names, header.format(m=len(labels))]
    path.write_text("\n".join([*top, "Frame#\tTime\t" + "\t\t\t".join(labels) + "\t\t\t", axes, "", *rows]) + "\n")
    return path


def trc_rows(positions: np.ndarray, rate: float = 100.0, gap: str = "") -> list[str]:
    """Return the rows of a TRC file; NaN coordinates become the text for gaps."""
    return [
        "\t".join([f"{i + 1}", f"{i / rate:.5f}", *(gap if np.isnan(x) else f"{x:.5f}" for x in frame.ravel())])
        for i, frame in enumerate(positions)
    ]


def value_start(data: bytes, group: str, name: str) -> int:
    """Return the position of the values of a parameter in a C3D file; its record follows its name."""
    position = data.index(name.encode(), data.index(group.encode(), 512))
    dimensions = data[position + len(name) + 3]
    return position + len(name) + 4 + dimensions


def patched(path: Path, *changes: tuple[int, str, float]) -> Path:
    """Overwrite bytes of a file with numbers: (position, format of `struct`, value)."""
    data = bytearray(path.read_bytes())
    for place, form, value in changes:
        struct.pack_into(form, data, place, value)
    path.write_bytes(data)
    return path


def mocap(name: str) -> Path:
    """Return the path of a recorded trial; skip the test if there is none."""
    return require_data(f"mocap/{name}")
