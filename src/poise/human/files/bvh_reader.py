"""Read BVH files: skeletons over time, as joint positions or as a trial whose markers are joint centres.

`read_bvh` returns the joint hierarchy with its rotations; `read_skeleton` returns a `Trial` for `fit`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from poise.arrays import Array
from poise.human.files.file_conventions import ROTATION_TO_Z_UP, check_up_axis
from poise.human.files.text_tables import check_joint_count, number_table, table_number, text_lines
from poise.human.files.trial_reader import read_file_head
from poise.human.trial import Trial, TrialError, trial_error

#: A first frame is an outlier if a joint rotates from it to the second by more than this angle (rad), which no person
#: reaches at 30 frames per second, and by more than this multiple of the usual rotation between frames.
FIRST_FRAME_ANGLE, FIRST_FRAME_RATIO = np.radians(15.0), 10.0


@dataclass(frozen=True, eq=False)
class BvhMotion:
    """Joints and their motion, lengths in m, in the axes of the file.

    Attributes:
        path: the file.
        joints: k names, parents before children; the end site of a chain has the name of its last joint and ``_end``,
            e.g. ``"Head_end"``.
        parents: index of each joint's parent, -1 for the root.
        offsets: k x 3, m, of a joint in its parent, in the rest pose.
        translations: n x k x 3, m, of a joint in its parent; the offset unless the file has position channels.
        rotations: n x k x 3 x 3, ``parent_from_joint``.
        time: n, s, begins at 0.
        up: the vertical axis of the file.
        notes: remarks on the reading, one sentence each.
    """

    path: str
    joints: tuple[str, ...]
    parents: tuple[int, ...]
    offsets: Array
    translations: Array
    rotations: Array
    time: Array
    up: str = "y"
    notes: tuple[str, ...] = ()

    def positions(self) -> Array:
        """Compute the positions of the joints in the world frame, n x k x 3, m, z up.

        With t_j and R_j of a joint in its parent p: ``x_j = x_p + G_p t_j``, ``G_j = G_p R_j``; then rotated so that z
        is up.
        """
        x, G = np.array(self.translations), np.array(self.rotations)
        for j, p in enumerate(self.parents):
            if p >= 0:
                x[:, j] = x[:, p] + np.einsum("nij,nj->ni", G[:, p], self.translations[:, j])
                G[:, j] = G[:, p] @ self.rotations[:, j]
        world: Array = x @ ROTATION_TO_Z_UP[self.up].T
        return world

    def to_trial(self) -> Trial:
        """Return a trial whose markers are the joint centres, labelled with the names of the joints."""
        rate = 1.0 / float(self.time[1] - self.time[0]) if len(self.time) > 1 else 1.0
        return Trial(
            self.path,
            rate,
            self.time,
            self.joints,
            self.positions(),
            notes=(*self.notes, "Joint centres of a skeleton, not markers."),
        )


def axis_rotations(axis: int, angles: Array) -> Array:
    """Return rotations about a coordinate axis: n angles (rad) to n x 3 x 3."""
    c, s = np.cos(angles), np.sin(angles)
    R = np.zeros((len(angles), 3, 3))
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R[:, axis, axis] = 1.0
    R[:, i, i], R[:, i, j], R[:, j, i], R[:, j, j] = c, -s, s, c
    return R


def is_first_frame_outlier(rotations: Array) -> bool:
    """Return whether the first frame (of n x k x 3 x 3) is far from the second, as an inserted T-pose is."""
    if len(rotations) < 4:
        return False
    cosine = (np.einsum("nkij,nkij->nk", rotations[:-1], rotations[1:]) - 1.0) / 2.0
    largest = np.arccos(np.clip(cosine, -1.0, 1.0)).max(axis=1)
    return bool(largest[0] > max(FIRST_FRAME_ANGLE, FIRST_FRAME_RATIO * np.median(largest[1:])))


# -- BVH files: hierarchy and motion ---------------------------------------------------------------------------------


POSITION_CHANNELS = ("xposition", "yposition", "zposition")
ROTATION_CHANNELS = ("xrotation", "yrotation", "zrotation")


@dataclass
class _BvhJoint:
    name: str
    parent: int
    offset: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    channels: list[str] = field(default_factory=list)


def read_bvh(path: str | Path, *, scale: float = 1.0, up: str = "y", skip: int = 0) -> BvhMotion:
    """Read a skeleton and its motion.

    Args:
        path: the file.
        scale: m per unit of the file; 1 for files exported by Poise, ``0.0254 / 0.45`` for the files of CMU.
        up: the vertical axis of the file.
        skip: frames to skip at the beginning; 1 for the files of CMU, whose first frame is an inserted T-pose.

    >>> motion = read_bvh("07_01.bvh", scale=0.0254 / 0.45, skip=1)
    >>> motion.positions()[0, motion.joints.index("Hips")]
    array([0.5, 1.79, 0.89])
    """
    path = Path(path)
    read_file_head(path)
    check_up_axis(up, path)
    if not (math.isfinite(scale) and scale > 0.0):
        raise trial_error(path, f"scale is {scale!r}; expected a positive number of m per unit", "scale")
    lines = text_lines(path)
    if not lines[0].strip().upper().startswith("HIERARCHY"):
        raise trial_error(path, "not a BVH file: it does not begin with HIERARCHY")
    joints, motion_line = _parse_hierarchy(path, lines)
    stated_frames, period, start = _parse_motion_header(path, lines, motion_line)
    columns = sum(len(joint.channels) for joint in joints)
    numbers = number_table(path, lines, start, columns)
    check_joint_count(path, lines, len(numbers), len(joints))
    if not np.isfinite(numbers).all():
        line = start + 1 + int(np.argmax(~np.isfinite(numbers).all(axis=1)))
        raise trial_error(path, f"line {line}: fewer numbers than the {columns} channels", f"line {line}")
    notes = (
        []
        if stated_frames == len(numbers)
        else [f"The header says {stated_frames} frames, the file has {len(numbers)}."]
    )
    if not 0 <= skip < len(numbers):
        raise trial_error(
            path, f"skip is {skip}; expected 0 .. {len(numbers) - 1}, less than the number of frames", "skip"
        )
    translations, rotations = _channel_motion(joints, numbers)
    if is_first_frame_outlier(rotations):
        notes.append(
            "The first frame is far from the second, perhaps an inserted pose"
            + (", and is left out." if skip else "; skip=1 leaves it out.")
        )
    if skip:
        notes.append(f"Frames left out at the beginning: {skip}.")
    return BvhMotion(
        path=str(path),
        joints=tuple(_unique_names(joints)),
        parents=tuple(joint.parent for joint in joints),
        offsets=scale * np.array([joint.offset for joint in joints]),
        translations=scale * translations[skip:],
        rotations=rotations[skip:],
        time=np.arange(len(numbers) - skip) * np.float64(period),
        up=up,
        notes=tuple(notes),
    )


def _parse_hierarchy(path: Path, lines: list[str]) -> tuple[list[_BvhJoint], int]:
    """Return the joints, parents before children, and the index of the line MOTION."""
    joints: list[_BvhJoint] = []
    open_joints: list[int] = []
    current = -1
    for i, line in enumerate(lines[1:], 1):
        words = line.split()
        word = words[0].upper() if words else ""
        if word == "MOTION":
            if open_joints or not joints:
                raise _line_error(path, i, "MOTION before the last closing brace of the skeleton")
            return joints, i
        if word in ("ROOT", "JOINT", "END"):
            parent = open_joints[-1] if open_joints else -1
            name = f"{joints[parent].name}_end" if word == "END" and joints else "_".join(words[1:])
            if (word != "ROOT" and parent < 0) or not name:
                raise _line_error(path, i, f"{word} without a name or a parent")
            joints.append(_BvhJoint(name, parent))
            current = len(joints) - 1
        elif word == "{":
            open_joints.append(current)
        elif word == "}":
            if not open_joints:
                raise _line_error(path, i, "unexpected closing brace")
            open_joints.pop()
        elif word == "OFFSET" and current >= 0:
            joints[current].offset = _parse_offset(path, words[1:], i)
        elif word == "CHANNELS" and current >= 0:
            joints[current].channels = _parse_channels(path, words[1:], i)
        elif word:
            raise _line_error(path, i, f"{words[0][:30]!r} is not a keyword of a BVH hierarchy")
    raise trial_error(path, "BVH file without MOTION: truncated or damaged")


def _parse_motion_header(path: Path, lines: list[str], line: int) -> tuple[int, float, int]:
    """Return the number of frames stated in the file (-1 if none), the frame time (s), and the first line of data."""
    values: dict[str, float] = {}
    for i in range(line + 1, min(line + 10, len(lines))):
        name, colon, value = lines[i].partition(":")
        if colon:
            values[" ".join(name.lower().split())] = table_number(path, value.strip(), i + 1)
        if "frame time" in values:
            period, stated_frames = values["frame time"], values.get("frames", math.nan)
            if not period > 0.0:
                raise _line_error(path, i, f"frame time of {period:g} s; expected a positive number")
            return int(stated_frames) if math.isfinite(stated_frames) else -1, period, i + 1
    raise trial_error(path, "BVH file without 'Frame Time:' under MOTION")


def _channel_motion(joints: list[_BvhJoint], numbers: Array) -> tuple[Array, Array]:
    """Return position (n x k x 3, units of the file) and rotation (n x k x 3 x 3) of each joint in its parent.

    A position channel replaces the offset of the joint, it is not added to it.
    """
    n = len(numbers)
    translations = np.tile(np.array([joint.offset for joint in joints]), (n, 1, 1))
    rotations = np.tile(np.eye(3), (n, len(joints), 1, 1))
    column = 0
    for j, joint in enumerate(joints):
        for channel in joint.channels:
            if channel in POSITION_CHANNELS:
                translations[:, j, POSITION_CHANNELS.index(channel)] = numbers[:, column]
            else:
                rotations[:, j] = rotations[:, j] @ axis_rotations(
                    ROTATION_CHANNELS.index(channel), np.radians(numbers[:, column])
                )
            column += 1
    return translations, rotations


def _unique_names(joints: list[_BvhJoint]) -> list[str]:
    """Make names unique by appending numbers to repeated ones."""
    names: dict[str, None] = {}
    counts: dict[str, int] = {}
    for joint in joints:
        name = joint.name
        while name in names:
            counts[joint.name] = counts.get(joint.name, 1) + 1
            name = f"{joint.name}_{counts[joint.name]}"
        names[name] = None
    return list(names)


def _parse_offset(path: Path, words: list[str], line: int) -> list[float]:
    values = [table_number(path, word, line + 1) for word in words]
    if len(values) != 3 or not all(math.isfinite(value) for value in values):
        raise _line_error(path, line, f"OFFSET {' '.join(words)[:40]!r}; expected three numbers")
    return values


def _parse_channels(path: Path, words: list[str], line: int) -> list[str]:
    channels = [word.lower() for word in words[1:]]
    known = set(channels) <= {*POSITION_CHANNELS, *ROTATION_CHANNELS}
    if not words or words[0].lstrip("0") != (str(len(channels)) if channels else "") or not known:
        raise _line_error(
            path, line, f"CHANNELS {' '.join(words)[:60]!r}; expected their number and as many names such as Xposition"
        )
    return channels


def _line_error(path: Path, line: int, complaint: str) -> TrialError:
    return trial_error(path, f"line {line + 1}: {complaint}", f"line {line + 1}")


# -- Skeletons as trials ---------------------------------------------------------------------------------------------


#: Length units of BVH files (m), which the format does not state. The last one is that of the files of CMU.
UNIT_LENGTHS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "inch": 0.0254, "0.45 inch": 0.0254 / 0.45}
#: Height of the skeleton of an average person, from its lowest to its highest joint (m).
TYPICAL_HEIGHT = 1.65


def read_skeleton(path: str | Path, up: str | None = None) -> Trial:
    """Read the joint centres of a BVH file as a trial, for `fit` with the marker set ``skeleton``.

    The length unit is the one of `UNIT_LENGTHS` in which the skeleton has the size of a person. A first frame far from
    the second, the T-pose inserted in many files, is left out. The notes report both.

    >>> human.fit(read_skeleton("07_01.bvh")).rms
    """
    full_motion = read_bvh(path, up=up or "y")
    skip = int(is_first_frame_outlier(full_motion.rotations))
    motion = read_bvh(path, up=up or "y", skip=skip) if skip else full_motion
    length = _skeleton_height(motion)
    unit = min(UNIT_LENGTHS, key=lambda name: abs(np.log(UNIT_LENGTHS[name] * length / TYPICAL_HEIGHT)))
    trial = replace(
        motion, offsets=UNIT_LENGTHS[unit] * motion.offsets, translations=UNIT_LENGTHS[unit] * motion.translations
    ).to_trial()
    return trial.replace(notes=(*trial.notes, f"Length unit taken as {unit}, from the size of the skeleton."))


def _skeleton_height(motion: BvhMotion) -> float:
    """Return the height from the lowest to the highest joint, median over the frames, in units of the file."""
    heights = motion.positions()[:, :, 2]
    return float(np.median(heights.max(axis=1) - heights.min(axis=1))) or 1.0
