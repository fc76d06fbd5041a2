"""Force plates of C3D files, brought to the frames of the markers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.human.files.units import METRES
from poise.human.trial import Plate

Array = NDArray[np.float64]

#: Force along the plate's normal below which nobody stands on it, and where the centre of pressure is noise (N).
LOADED = 20.0
#: N m per unit of moment.
MOMENTS = {"nmm": 1e-3, "ncm": 1e-2, "nm": 1.0}
TYPES = (2, 4)


def plates(c3d: Any, swig: Any, rotation: Array, frames: int) -> tuple[tuple[Plate, ...], list[str]]:
    """The plates of a file and what was left out.

    Args:
        c3d: the file as `ezc3d.c3d` read it.
        swig: the module `ezc3d.ezc3d`, which makes forces of channels.
        rotation: 3 x 3, from the axes of the file to z up.
        frames: how many frames the markers have.
    """
    group = c3d["parameters"].get("FORCE_PLATFORM", {})
    types = [int(number) for number in np.ravel(group.get("TYPE", {}).get("value", []))]
    used = int(next(iter(np.ravel(group.get("USED", {}).get("value", [0]))), 0))
    found: list[Plate] = []
    notes: list[str] = []
    for number, kind in enumerate(types[:used]):
        if kind not in TYPES:
            notes.append(f"Force plate {number + 1} left out: type {kind}, where 2 and 4 are read.")
            continue
        try:
            raw = swig.ForcePlatform(number, c3d.c3d_swig)
            found.append(_plate(f"plate {number + 1}", raw, rotation, frames))
        except Exception as error:  # whatever a damaged group makes the reader say
            notes.append(f"Force plate {number + 1} left out: {' '.join(str(error).split())[:120]}.")
    return tuple(found), notes


def _plate(name: str, raw: Any, rotation: Array, frames: int) -> Plate:
    length = METRES.get(raw.positionUnit().strip().lower(), 1e-3)
    corners = length * np.array([corner.to_array()[:, 0] for corner in raw.corners()]) @ rotation.T
    with np.errstate(all="ignore"):  # numbers of a damaged file overflow; what comes of it is looked at below
        force, moment = (_frames(vectors, frames) @ rotation.T for vectors in (raw.forces(), raw.moments()))
    if not (np.isfinite(force).all() and np.isfinite(moment).all() and np.isfinite(corners).all()):
        raise ValueError("forces or corners that are no numbers")
    moment = moment * MOMENTS.get(raw.momentUnit().strip().lower(), 1e-3)
    return loaded(name, corners, force, moment)


def loaded(name: str, corners: Array, force: Array, moment: Array) -> Plate:
    """A plate from the force F on it or on the body and the moment M about the middle of its surface.

    The centre of pressure is the point c of the plane, with normal n, about which the moment has no part in the plane,
    and what is left is the free moment τ, with p = c - middle:

        M = p x F + τ,    n x M = p (n · F)   since   p · n = 0  and  τ is along n

    so ``p = n x M / (n · F)``. F is turned about if it would pull the person into the ground: then the file has the
    force on the plate. Below `LOADED` all is zero.
    """
    diagonals = corners[2] - corners[0], corners[3] - corners[1]
    n = np.cross(*diagonals)
    n = n / np.linalg.norm(n)
    n = n if n[2] > 0.0 else -n
    normal = force @ n
    strongest = int(np.abs(normal).argmax())
    if normal[strongest] < 0.0:
        force, moment, normal = -force, -moment, -normal
    on = normal > LOADED
    p = np.cross(n, moment[on]) / normal[on, None]
    center, rest, push = (np.zeros((len(force), 3)) for _ in range(3))
    center[on] = corners.mean(axis=0) + p
    rest[on] = moment[on] - np.cross(p, force[on])
    push[on] = force[on]
    return Plate(name, corners, push, center, rest)


def _frames(vectors: Any, frames: int) -> Array:
    """Means over the samples around each frame, n x 3: half of them before its moment, half after.

    The first sample of a frame is at its moment; a mean of all its samples would be half a frame late.
    """
    samples = np.array([vector.to_array()[:, 0] for vector in vectors])
    each = len(samples) // frames
    if each == 0:
        raise ValueError(f"{len(samples)} samples for {frames} frames")
    whole = samples[: each * frames]
    before = each // 2
    shifted = np.vstack([np.repeat(whole[:1], before, axis=0), whole])[: each * frames]
    means: Array = shifted.reshape(frames, each, 3).mean(axis=1)
    return means
