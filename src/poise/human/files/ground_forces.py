"""Ground forces beside a marker file: MOT and STO files with force, point and torque columns, as OpenSim uses them.

Each group of columns is one force on the body, in N, m and N m, usually with y up and on the clock of the markers:

    ground_force_vx vy vz   force F
    ground_force_px py pz   its point p, m
    ground_torque_x y z     torque τ about that point

Groups differ in the rest of the name: ``1_ground_force_vx``, ``ground_force_r_vx``, ``FP1_fx``, ``f1_1``. Files say
nothing about the edges of plates.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from poise.analysis import LOADED_FORCE
from poise.arrays import Array
from poise.human.files.file_conventions import ROTATION_TO_Z_UP
from poise.human.files.opensim_motion import OpenSimMotion, read_motion, write_motion
from poise.human.trial import ForcePlate, Trial, TrialError, trial_error

FORCE_SUFFIXES = (".mot", ".sto")
#: A column of a force, with its axis: ``ground_force_vx``, ``FP1_my``, ``ground_torque_z``, ``f1_1``.
COLUMN = re.compile(r"(?P<stem>.*?)(?:(?<![a-z])(?P<kind>[vfpm]))?_?(?P<axis>[xyz123])", re.IGNORECASE)
#: Words in the rest of a name that tell what a column is; what remains without them tells the group.
KIND_WORDS = {
    "torque": re.compile(r"torques?|moments?", re.IGNORECASE),
    "point": re.compile(r"cop|points?|positions?", re.IGNORECASE),
    "force": re.compile(r"forces?|grf|f(?=\d+$)", re.IGNORECASE),
}
KIND_LETTERS = {"v": "force", "f": "force", "p": "point", "m": "torque"}
NUMBERED = re.compile(r"(?P<kind>[fpm])(?P<group>\d+)_(?P<axis>[xyz123])", re.IGNORECASE)
FILLER_WORDS = re.compile(
    r"ground|reaction|external|" + "|".join(p.pattern for p in KIND_WORDS.values()), re.IGNORECASE
)
#: Words that file names of forces have in addition to the name of their trial.
NAME_WORDS = re.compile(
    r"grf|grfs|ground|reaction|forces?|kinetics?|external|loads?|filtered|markers?|trajectories|plates?", re.IGNORECASE
)
#: Range of the largest vertical force of a person, N: from a small child standing to landings from jumps.
PLAUSIBLE_FORCE = (50.0, 5e4)
#: Largest usual distance from the centre of pressure to the nearest marker on the foot, horizontally, m.
MAX_FOOT_DISTANCE = 0.3
#: Markers up to this height above the point of a force may be on the foot that bears it, m.
FOOT_HEIGHT = 0.3


@dataclass(frozen=True, eq=False)
class GroundForces:
    """Forces on the body over time, in the axes of the file.

    Attributes:
        path: the file.
        time: n, s, on the clock of the file.
        force, point, torque: n x 3 by group, N, m, N m; the torque is about the point.
        notes: remarks on the reading, one sentence each.
    """

    path: str
    time: Array
    force: Mapping[str, Array]
    point: Mapping[str, Array]
    torque: Mapping[str, Array]
    notes: tuple[str, ...] = ()


@dataclass
class _Group:
    """Columns of one force by kind ("force", "point", "torque") and axis (0 to 2)."""

    columns: dict[tuple[str, int], str] = field(default_factory=dict)

    def named(self, kind: str) -> list[str]:
        return [self.columns[kind, axis] for axis in range(3) if (kind, axis) in self.columns]


def force_columns(names: tuple[str, ...]) -> dict[str, dict[tuple[str, int], str]]:
    """Return the columns of forces by group, then by kind ("force", "point", "torque") and axis (0 to 2).

    >>> force_columns(("ground_force_vx", "ground_torque_x", "knee_angle_r"))
    {'': {('force', 0): 'ground_force_vx', ('torque', 0): 'ground_torque_x'}}
    """
    groups: dict[str, _Group] = {}
    for name in names:
        numbered = NUMBERED.fullmatch(name)
        match = numbered or COLUMN.fullmatch(name)
        if match is None:
            continue
        stem = "" if numbered else match["stem"]
        letter = (match["kind"] or "").lower()
        by_word = next((kind for kind, words in KIND_WORDS.items() if words.search(stem)), None)
        kind = KIND_LETTERS.get(letter, by_word)
        if kind is None or (not numbered and by_word is None and not re.search(r"fp|plate", stem, re.IGNORECASE)):
            continue
        group = numbered["group"] if numbered else "_".join(re.findall(r"[^\W_]+", FILLER_WORDS.sub("", stem)))
        axis = "123xyz".index(match["axis"].lower()) % 3
        groups.setdefault(group.lower(), _Group()).columns[kind, axis] = name
    return {name: group.columns for name, group in groups.items() if group.named("force")}


def read_ground_forces(path: str | Path) -> GroundForces:
    """Read the ground forces of a MOT or STO file.

    Raises:
        TrialError: no force columns, or an incomplete group; the message says which columns are missing.

    >>> forces = read_ground_forces("walk_grf.mot")
    >>> {name: force[:, 1].max() for name, force in forces.force.items()}
    {'': 812.4, '1': 798.2}
    """
    if Path(path).suffix.lower() not in FORCE_SUFFIXES:
        raise trial_error(path, f"no ground forces; expected a {' or '.join(FORCE_SUFFIXES)} file")
    motion = read_motion(path)
    groups = force_columns(motion.names)
    if not groups:
        raise trial_error(
            path, "no ground forces; expected columns such as ground_force_vx, ground_force_px, ground_torque_x"
        )
    force, point, torque, notes = {}, {}, {}, []
    for name, columns in groups.items():
        for kind in ("force", "point", "torque"):
            found = [axis for axis in range(3) if (kind, axis) in columns]
            if len(found) == 3 or (kind == "torque" and not found):
                continue
            example = columns["force", min(axis for which, axis in columns if which == "force")]
            missing = ", ".join("xyz"[axis] for axis in range(3) if axis not in found)
            raise trial_error(
                path, f"the {kind} of '{example}' has no column for {missing}; expected force, point and torque", kind
            )
        values = {
            kind: np.column_stack([motion.column(columns[kind, axis]) for axis in range(3)])
            for kind in ("force", "point", "torque")
            if (kind, 0) in columns
        }
        unknown = np.asarray(~np.isfinite(np.hstack(list(values.values()))).all(axis=1))
        if unknown.any():
            notes.append(f"Ground forces: {int(unknown.sum())} rows without numbers are taken as unloaded.")
        force[name], point[name] = (np.where(unknown[:, None], 0.0, values[kind]) for kind in ("force", "point"))
        torque[name] = np.where(unknown[:, None], 0.0, values.get("torque", np.zeros_like(force[name])))
    return GroundForces(str(path), motion.time, force, point, torque, tuple(dict.fromkeys(notes)))


def has_ground_forces(path: Path) -> bool:
    """Return whether a MOT or STO file has columns of forces."""
    try:
        return bool(force_columns(read_motion(path).names))
    except TrialError:
        return False


def find_ground_forces(path: Path) -> list[Path]:
    """Return the files of forces beside a trial: MOT and STO files with force columns, named like the trial.

    ``walk1.trc`` has its forces in ``walk1.mot``, ``walk1_grf.mot``, ``subject_walk1_forces.sto``, ...

    >>> find_ground_forces(Path("lab/walk1.trc"))
    [PosixPath('lab/walk1_grf.mot')]
    """
    if not path.parent.is_dir():
        return []
    wanted = _bare_name(path)
    beside = sorted(file for file in path.parent.iterdir() if file.suffix.lower() in FORCE_SUFFIXES and file.is_file())
    return [file for file in beside if _bare_name(file) == wanted and has_ground_forces(file)]


def _bare_name(path: Path) -> str:
    words = re.findall(r"[^\W_]+", path.stem.lower())
    return " ".join(word for word in words if not NAME_WORDS.fullmatch(word))


# -- Forces at the frames of a trial -----------------------------------------------------------------------------------


def add_ground_forces(trial: Trial, forces: GroundForces | str | Path) -> Trial:
    """Return a trial with force plates from a file of ground forces, averaged to the frames of the markers.

    Raises:
        TrialError: forces that do not belong to the trial: another clock, unit or axes.

    >>> trial = add_ground_forces(read_trial("walk.trc"), "walk_grf.mot")
    """
    forces = forces if isinstance(forces, GroundForces) else read_ground_forces(forces)
    notes = list(forces.notes)
    _check_clock(trial, forces, notes)
    _check_force_unit(forces)
    rotation = _rotation(forces, notes)
    plates = [_plate(trial, forces, name, rotation) for name in forces.force]
    _check_points(trial, plates, forces.path)
    plates = [plate for plate in plates if plate.force.any()]
    name = Path(forces.path).name
    if not plates:
        raise trial_error(forces.path, f"no force above {LOADED_FORCE:g} N while {Path(trial.path).name} lasts")
    notes.insert(0, f"Ground forces from {name}: {len(plates)}, edges of the plates unknown.")
    return trial.replace(plates=tuple(plates), notes=(*trial.notes, *notes))


def _check_clock(trial: Trial, forces: GroundForces, notes: list[str]) -> None:
    begin, end = trial.start, trial.start + trial.duration
    first, last = float(forces.time[0]), float(forces.time[-1])
    both = min(end, last) - max(begin, first)
    if both <= 0.5 * min(trial.duration, last - first):
        raise trial_error(
            forces.path,
            f"another clock: forces from {first:.2f} to {last:.2f} s, markers of {Path(trial.path).name} from "
            f"{begin:.2f} to {end:.2f} s; expected the same trial on one clock",
            "time",
        )
    if begin < first - 1.0 / trial.rate or end > last + 1.0 / trial.rate:
        notes.append(f"Ground forces last from {first - begin:.2f} to {last - begin:.2f} s of the trial only.")


def _check_force_unit(forces: GroundForces) -> None:
    total = np.sum([np.abs(force).max(axis=1) for force in forces.force.values()], axis=0)
    largest, (low, high) = float(total.max()), PLAUSIBLE_FORCE
    if not low <= largest <= high:
        guess = "is it in kN, N/kg or body weights?" if largest < low else "which unit is it in?"
        raise trial_error(forces.path, f"the largest force is {largest:.3g}; expected N; {guess}", "force")


def _rotation(forces: GroundForces, notes: list[str]) -> Array:
    """Return the rotation to z up, 3 x 3, negative if the file has the force on the plates."""
    total = np.sum([force.sum(axis=0) for force in forces.force.values()], axis=0)
    axis = int(np.abs(total).argmax())
    if axis != 1:
        notes.append(f"Ground forces: {'xyz'[axis]} is up, the direction of the largest force.")
    if total[axis] < 0.0:
        notes.append("Ground forces point down: taken as forces on the plates, and reversed.")
    return ROTATION_TO_Z_UP["xyz"[axis]]


def _plate(trial: Trial, forces: GroundForces, name: str, rotation: Array) -> ForcePlate:
    force, point, torque = (each[name] @ rotation.T for each in (forces.force, forces.point, forces.torque))
    if force[:, 2].sum() < 0.0:
        force, torque = -force, -torque
    loaded = force[:, 2:] > LOADED_FORCE  # points of unloaded plates are arbitrary
    force = np.where(loaded, force, 0.0)
    moment = np.where(loaded, np.cross(point, force) + torque, 0.0)
    height = np.where(loaded[:, 0], point[:, 2] * force[:, 2], 0.0)
    samples = np.column_stack([force, moment, height])
    means = _average_around(forces.time, samples, trial.start + trial.time, 1.0 / trial.rate)
    force, moment, height = means[:, :3], means[:, 3:6], means[:, 6]
    on = force[:, 2] > LOADED_FORCE
    load = np.where(on, force[:, 2], 1.0)
    # On the level of the points, the centre of pressure is where the moment has no horizontal component.
    z = height / load
    center = np.column_stack([(force[:, 0] * z - moment[:, 1]) / load, (force[:, 1] * z + moment[:, 0]) / load, z])
    free = moment - np.cross(center, force)
    force, center, free = (np.where(on[:, None], each, 0.0) for each in (force, center, free))
    return ForcePlate(f"force {name}" if name else "force", np.empty((0, 3)), force, center, free)


def _average_around(time: Array, samples: Array, frames: Array, period: float) -> Array:
    """Average samples within half a frame of each frame; interpolate where there is none. Zero outside their time."""
    first = np.searchsorted(time, frames - 0.5 * period - 1e-9)
    last = np.searchsorted(time, frames + 0.5 * period - 1e-9)
    sums = np.vstack([np.zeros(samples.shape[1]), np.cumsum(samples, axis=0)])
    count = (last - first)[:, None]
    mean = (sums[last] - sums[first]) / np.maximum(count, 1)
    linear = np.column_stack([np.interp(frames, time, column, left=0.0, right=0.0) for column in samples.T])
    return np.asarray(np.where(count > 0, mean, linear))


def _check_points(trial: Trial, plates: list[ForcePlate], path: str) -> None:
    """Raise an error if the points of the forces are not under the feet."""
    distance = _foot_distance(trial, plates, 1.0)
    if distance is None or distance <= MAX_FOOT_DISTANCE:
        return
    for factor, unit in ((1e-3, "mm"), (1e-2, "cm")):
        scaled = _foot_distance(trial, plates, factor)
        if scaled is not None and scaled <= MAX_FOOT_DISTANCE:
            raise trial_error(path, f"the points of the forces are in {unit}; expected m", "point")
    raise trial_error(
        path,
        f"the points of the forces are {distance:.2f} m from the nearest markers on the feet of "
        f"{Path(trial.path).name}; expected the same trial, clock, axes and m",
        "point",
    )


def _foot_distance(trial: Trial, plates: list[ForcePlate], factor: float) -> float | None:
    """Return the median horizontal distance from the points of forces to the nearest low marker, m; None without."""
    distances = []
    for plate in plates:
        for k in np.flatnonzero(plate.force[:, 2] > LOADED_FORCE):
            point, markers = factor * plate.center_of_pressure[k], trial.positions[k]
            low = markers[
                np.nan_to_num(markers[:, 2], nan=np.inf) < np.nanmin(markers[:, 2], initial=np.inf) + FOOT_HEIGHT
            ]
            low = np.vstack([low, markers[np.abs(markers[:, 2] - point[2]) < FOOT_HEIGHT]])
            if len(low):
                distances.append(float(np.linalg.norm(low[:, :2] - point[:2], axis=1).min()))
    return float(np.median(distances)) if distances else None


# -- Writing -----------------------------------------------------------------------------------------------------------


def write_ground_forces(trial: Trial, path: str | Path) -> Path:
    """Write the force plates of a trial as OpenSim reads them: y up, N, m, N m, on the clock of the trial.

    >>> write_ground_forces(trial, "walk_grf.mot")
    """
    rotation = ROTATION_TO_Z_UP["y"]  # its transpose takes z up to y up
    names: list[str] = []
    columns: list[Array] = []
    for k, plate in enumerate(trial.plates):
        prefix = f"{k + 1}_"
        for word, kind, values in (
            ("force", "v", plate.force),
            ("force", "p", plate.center_of_pressure),
            ("torque", "", plate.free_moment),
        ):
            names += [f"{prefix}ground_{word}_{kind}{axis}" for axis in "xyz"]
            columns.append(values @ rotation)
    values = np.hstack(columns) if columns else np.empty((len(trial.time), 0))
    return write_motion(OpenSimMotion(tuple(names), trial.start + trial.time, values), path)
