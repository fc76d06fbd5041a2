"""Force plates of C3D files, types 1 to 5: force on the body, centre of pressure and free moment at each frame.

A plate has its own axes, given by its corners: x from corner 2 to 1, y from corner 4 to 1, z usually down. `ORIGIN` is
the vector from the origin of these axes, where moments are measured, to the middle o of the surface:

| type | channels | force F and moment M about the origin |
|---|---|---|
| 1 | Fx Fy Fz Px Py Tz | F; M = (p - o) x F + Tz about the middle, with the centre of pressure p |
| 2 | Fx Fy Fz Mx My Mz | F, M |
| 3 | Fx12 Fx34 Fy14 Fy23 Fz1 Fz2 Fz3 Fz4 | four sensors at (± a, ± b), see `_from_four_sensors` |
| 4 | six voltages | C v, with `CAL_MATRIX` C, 6 x 6 |
| 5 | eight voltages | C v, with `CAL_MATRIX` C, 6 x 8 |

The moment about the middle of the surface is ``M - o x F``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from poise.analysis import LOADED_FORCE
from poise.arrays import Array
from poise.human.files.file_conventions import METRES_PER_UNIT
from poise.human.trial import ForcePlate

#: Newton per unit of force, N m per unit of moment.
FORCE_UNITS = {"n": 1.0, "kn": 1e3, "lbf": 4.4482}
MOMENT_UNITS = {"nmm": 1e-3, "ncm": 1e-2, "nm": 1.0}
#: Number of channels of each supported type.
PLATE_CHANNELS = {1: 6, 2: 6, 3: 8, 4: 6, 5: 8}


class PlateDescription(NamedTuple):
    """A plate as described in a file.

    Attributes:
        kind: type, a key of `PLATE_CHANNELS`.
        corners: 4 x 3, m, in the axes of the file.
        origin: see the module, m.
        samples: of its channels, samples x channels, as stored.
        units: of its channels, lower case without blanks; "" if not stated.
        calibration: 6 x channels; None without one.
        length: metres per unit of length in the file.
    """

    kind: int
    corners: Array
    origin: Array
    samples: Array
    units: tuple[str, ...]
    calibration: Array | None
    length: float


def read_force_plates(c3d: Mapping[str, Any], rotation: Array, frames: int) -> tuple[tuple[ForcePlate, ...], list[str]]:
    """Read the force plates of a file, and notes on those left out.

    Args:
        c3d: the file as read by `ezc3d.c3d`.
        rotation: 3 x 3, from the axes of the file to z up.
        frames: number of marker frames.
    """
    group = c3d["parameters"].get("FORCE_PLATFORM", {})
    types = [int(number) for number in np.ravel(_value(group, "TYPE"))]
    used = int(next(iter(np.ravel(_value(group, "USED"))), 0))
    plates: list[ForcePlate] = []
    notes: list[str] = []
    for number, kind in enumerate(types[:used]):
        if kind not in PLATE_CHANNELS:
            notes.append(f"Force plate {number + 1} left out: type {kind}; types 1 to 5 are supported.")
            continue
        try:
            plate = _describe(c3d, group, number, kind)
            plates.append(_read_plate(f"plate {number + 1}", plate, rotation, frames))
        except (ValueError, IndexError, TypeError, KeyError) as error:
            notes.append(f"Force plate {number + 1} left out: {' '.join(str(error).split())[:120]}.")
    return tuple(plates), notes


def _value(group: Mapping[str, Any], name: str) -> Any:
    return group.get(name, {}).get("value", [])


def _describe(c3d: Mapping[str, Any], group: Mapping[str, Any], number: int, kind: int) -> PlateDescription:
    """Return the description of a plate; raises a ValueError that names the parameter that is wrong."""
    parameters = c3d["parameters"]
    length = METRES_PER_UNIT.get(_text(_value(parameters.get("POINT", {}), "UNITS"), 0), 1e-3)
    corners, origin = np.asarray(_value(group, "CORNERS"), float), np.asarray(_value(group, "ORIGIN"), float)
    if corners.ndim != 3 or corners.shape[:2] != (3, 4) or corners.shape[2] <= number:
        raise ValueError(f"CORNERS is {_size(corners)}; expected 3 x 4 for each plate")
    if origin.ndim != 2 or origin.shape[0] != 3 or origin.shape[1] <= number:
        raise ValueError(f"ORIGIN is {_size(origin)}; expected 3 for each plate")
    count = PLATE_CHANNELS[kind]
    table = np.asarray(_value(group, "CHANNEL"), dtype=int)
    if table.ndim != 2 or table.shape[0] < count or table.shape[1] <= number:
        raise ValueError(f"CHANNEL is {_size(table)}; expected {count} for a plate of type {kind}")
    channels = table[:count, number] - 1
    analogs = np.asarray(c3d["data"]["analogs"], dtype=float)[0]
    if channels.min() < 0 or channels.max() >= len(analogs):
        raise ValueError(f"channel {channels.max() + 1} of {len(analogs)} analog channels")
    stated = _value(parameters.get("ANALOG", {}), "UNITS")
    return PlateDescription(
        kind,
        length * corners[:, :, number].T,
        length * origin[:, number],
        analogs[channels].T,
        tuple(_text(stated, i) for i in channels),
        _calibration(_value(group, "CAL_MATRIX"), number, count) if kind in (4, 5) else None,
        length,
    )


def _calibration(stored: Any, number: int, count: int) -> Array:
    """Return the calibration matrix, 6 x count; files have its six rows along either dimension."""
    matrices = np.asarray(stored, dtype=float)
    if matrices.ndim != 3 or matrices.shape[2] <= number or sorted(matrices.shape[:2]) != sorted((6, count)):
        raise ValueError(f"CAL_MATRIX is {_size(matrices)}; expected 6 x {count} for each plate")
    matrix = matrices[:, :, number]
    return np.asarray(matrix if matrix.shape[0] == 6 else matrix.T)


def _size(values: Array) -> str:
    return " x ".join(str(n) for n in values.shape) if values.size else "missing"


def _text(values: Sequence[Any], index: int) -> str:
    word = values[index] if index < len(values) else ""
    return "".join(str(word).lower().replace(".", "").replace("-", "").split())


def _read_plate(name: str, plate: PlateDescription, rotation: Array, frames: int) -> ForcePlate:
    with np.errstate(all="ignore"):  # values of a damaged file may overflow; the result is checked below
        force, moment = _wrench_about_middle(plate)
        x, y = plate.corners[0] - plate.corners[1], plate.corners[0] - plate.corners[3]
        z = np.cross(x, y)
        axes = np.array([axis / np.linalg.norm(axis) for axis in (x, np.cross(z, x), z)])
        force, moment = (average_to_frames(each, frames) @ axes @ rotation.T for each in (force, moment))
    corners = plate.corners @ rotation.T
    if not (np.isfinite(force).all() and np.isfinite(moment).all() and np.isfinite(corners).all()):
        raise ValueError("forces or corners are not finite")
    return make_force_plate(name, corners, force, moment)


def _wrench_about_middle(plate: PlateDescription) -> tuple[Array, Array]:
    """Return force (N) and moment about the middle of the surface (N m) in the axes of the plate, samples x 3."""
    newton = FORCE_UNITS.get(plate.units[0], 1.0)
    # The origin is below the surface, and z down: some files have the opposite vector.
    origin = -plate.origin if plate.origin[2] > 0.0 and plate.kind != 3 else plate.origin
    if plate.kind == 1:
        force = newton * plate.samples[:, :3]
        point = METRES_PER_UNIT.get(plate.units[3], plate.length) * plate.samples[:, 3:5] - plate.origin[:2]
        loaded = np.abs(force[:, 2:]) > 0.0
        arm = np.where(loaded, np.column_stack([point, np.zeros(len(point))]), 0.0)
        free = np.zeros_like(force)
        free[:, 2] = MOMENT_UNITS.get(plate.units[5], newton * plate.length) * plate.samples[:, 5]
        return force, np.cross(arm, force) + free
    if plate.kind == 3:
        a, b, surface = np.abs(plate.origin)
        force, moment = _from_four_sensors(newton * plate.samples, a, b)
        origin = np.array([0.0, 0.0, -surface])
    else:
        values = plate.samples if plate.calibration is None else plate.samples @ plate.calibration.T
        force = values[:, :3] * (newton if plate.calibration is None else 1.0)
        unit = MOMENT_UNITS.get(plate.units[3], plate.length) if plate.calibration is None else plate.length
        moment = unit * values[:, 3:6]
    return force, moment - np.cross(origin, force)


def _from_four_sensors(samples: Array, a: float, b: float) -> tuple[Array, Array]:
    """Return force and moment about the origin from eight signals of four sensors (type 3).

    Sensors 1 to 4 are at (a, b), (-a, b), (-a, -b) and (a, -b), m, in the order of the corners.
    """
    fx12, fx34, fy14, fy23, fz1, fz2, fz3, fz4 = samples.T
    force = np.column_stack([fx12 + fx34, fy14 + fy23, fz1 + fz2 + fz3 + fz4])
    moment = np.column_stack(
        [b * (fz1 + fz2 - fz3 - fz4), a * (-fz1 + fz2 + fz3 - fz4), b * (fx34 - fx12) + a * (fy14 - fy23)]
    )
    return force, moment


def make_force_plate(name: str, corners: Array, force: Array, moment: Array) -> ForcePlate:
    """Make a plate from its force F (n x 3, N) and its moment M about the middle of its surface (n x 3, N m).

    Both in world axes, on the plate or on the body; corners (4 x 3, m) in order around the plate.

    The centre of pressure c is the point of the plate, with normal n, about which the moment has no component in the
    plane. The remaining moment is the free moment τ. With p = c - middle:

        M = p x F + τ,    n x M = p (n · F)   since   p · n = 0  and  τ is along n

    so ``p = n x M / (n · F)``. If F points down, the file has the force on the plate, and signs are reversed. Below
    `LOADED_FORCE` everything is zero.
    """
    diagonals = corners[2] - corners[0], corners[3] - corners[1]
    n = np.cross(*diagonals)
    n = n / np.linalg.norm(n)
    n = n if n[2] > 0.0 else -n
    normal = force @ n
    strongest = int(np.abs(normal).argmax())
    if normal[strongest] < 0.0:
        force, moment, normal = -force, -moment, -normal
    loaded = normal > LOADED_FORCE
    p = np.cross(n, moment[loaded]) / normal[loaded, None]
    center, free_moment, force_on_body = (np.zeros((len(force), 3)) for _ in range(3))
    center[loaded] = corners.mean(axis=0) + p
    free_moment[loaded] = moment[loaded] - np.cross(p, force[loaded])
    force_on_body[loaded] = force[loaded]
    return ForcePlate(name, corners, force_on_body, center, free_moment)


def average_to_frames(samples: Array, frames: int) -> Array:
    """Average samples (samples x 3) over an interval centred at each frame, n x 3.

    The first sample of a frame is at the time of the frame, so a mean over its own samples would be half a frame late.
    """
    samples_per_frame = len(samples) // frames
    if samples_per_frame == 0:
        raise ValueError(f"{len(samples)} samples for {frames} frames")
    used_samples = samples[: samples_per_frame * frames]
    before = samples_per_frame // 2
    shifted = np.vstack([np.repeat(used_samples[:1], before, axis=0), used_samples])[: samples_per_frame * frames]
    means: Array = shifted.reshape(frames, samples_per_frame, 3).mean(axis=1)
    return means
