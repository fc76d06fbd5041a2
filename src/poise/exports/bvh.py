"""BVH: the motion as a skeleton that animation software reads."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

import numpy as np

from poise.exports.euler import zxy_angles
from poise.exports.job import Job
from poise.exports.skeleton import Bone, Skeleton

#: Frames a second unless asked otherwise: animators use 24 to 60.
RATE = 60.0
TURNS = "Zrotation Xrotation Yrotation"
MOVES = "Xposition Yposition Zposition"


def write(job: Job, file: Path) -> None:
    """Lengths in m, angles in degrees, y up, the robot facing z; one joint per body that moves, see docs/export.md.

    Every joint has three rotations in the order z, x, y (applied to a point from the last to the first); the base, and
    joints that slide, have their position before these.
    """
    trajectory, skeleton = job.trajectory(RATE), Skeleton.of(job.robot)
    position, rotation = skeleton.moved(trajectory)
    degrees = np.degrees(zxy_angles(rotation))
    period = 1.0 / (job.rate or RATE)
    with open(file, "w", encoding="ascii", errors="replace", newline="\n") as stream:
        stream.write("HIERARCHY\n")
        _bone(stream, skeleton.bones, 0, "")
        stream.write(f"MOTION\nFrames: {len(degrees)}\nFrame Time: {period:.8f}\n")
        for i, time in enumerate(trajectory.time):
            numbers: list[str] = []
            for j, bone in enumerate(skeleton.bones):
                parts = [*position[i, j], *degrees[i, j]] if _moves(bone) else degrees[i, j]
                numbers += [f"{number:.6f}" for number in parts]
            stream.write(" ".join(numbers) + "\n")
            job.progress(float(time - trajectory.time[0]))


def _moves(bone: Bone) -> bool:
    return bone.parent < 0 or bone.slides


def _bone(stream: TextIO, bones: tuple[Bone, ...], number: int, indent: str) -> None:
    bone = bones[number]
    channels = f"6 {MOVES} {TURNS}" if _moves(bone) else f"3 {TURNS}"
    stream.write(f"{indent}{'JOINT' if number else 'ROOT'} {bone.name}\n{indent}{{\n")
    inner = indent + "  "
    stream.write(f"{inner}OFFSET {_point(bone.offset)}\n{inner}CHANNELS {channels}\n")
    for child, other in enumerate(bones):
        if other.parent == number:
            _bone(stream, bones, child, inner)
    if bone.end is not None:
        stream.write(f"{inner}End Site\n{inner}{{\n{inner}  OFFSET {_point(bone.end)}\n{inner}}}\n")
    stream.write(f"{indent}}}\n")


def _point(point: np.ndarray) -> str:
    return " ".join(f"{number:.6f}" for number in point)
