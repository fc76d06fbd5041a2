"""Formats: every reader that takes a kind of file, and what a user does with what comes out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from poise.campaign.kinds.fuzz import bases
from poise.devices import Script
from poise.human import filled, load_marker_set, match, read_bvh, read_motion, read_trial, smoothed
from poise.human.files.skeleton import read_skeleton
from poise.human.trial import Trial
from poise.plans.style import NEUTRAL, Style
from poise.recording import load_recording
from poise.robots import Robot, load_robot

Reader = Callable[[Path], Any]


@dataclass(frozen=True)
class Format:
    """A kind of file.

    Attributes:
        file: how a file is called, with its suffix.
        readers: by name; each reads a file and touches the result as a user would.
        beside: files that must lie beside it, by name.
    """

    file: str
    readers: dict[str, Reader]
    beside: dict[str, str]

    @property
    def suffix(self) -> str:
        return Path(self.file).suffix


def _touched(*values: object) -> None:
    """Values that are only asked for."""


def _robot(robot: Robot) -> None:
    _touched(repr(robot), robot.mass, robot.height, [str(note) for note in robot.notes])
    for name in robot.stances:
        state = robot.stance(name)
        _touched(state.center_of_mass, state.support_polygon)
    for foot in robot.feet:
        _touched(foot.corners)


def _shapes(robot: Robot) -> None:
    _touched(robot.visual_geometry, robot.collision_geometry)


def _trial(trial: Trial) -> None:
    _touched(trial.duration, trial.notes)
    for label in trial.labels[:3]:
        trial.marker(label)
    trial.cut(0.0, trial.duration / 2.0)
    filled(trial)


def _recording(path: Path, partial: bool = False) -> None:
    recording = load_recording(path, partial=partial)
    recording.summary()
    _touched(recording.duration, recording.period, recording.fallbacks(), recording.nonfinite_commands())
    for name in recording.channels:
        _touched(recording[name], recording.units[name], recording.labels[name])


def _script(path: Path) -> None:
    script = Script.load(path)
    for time in (0.0, 0.5 * script.seconds, script.seconds, float("nan")):
        script.read(time)


def _style(path: Path) -> None:
    style = Style.load(path)
    _touched(style.text(), style.mixed(NEUTRAL, 0.5), style.but(turn=0.1))


def _motion(path: Path) -> None:
    motion = read_motion(path)
    _touched(motion.angular, motion.values_in_degrees)
    for name in motion.names[:3]:
        motion.column(name)


def _bvh(path: Path) -> None:
    read_bvh(path, scale=0.01, skip=1).positions()


def _campaign(path: Path) -> None:
    from poise.campaign.spec import Spec  # which needs the kinds, of which this is one

    for size in ("full", "short", "check"):
        spec = Spec.load(path, size)
        _touched(spec.columns, spec.plan)


FORMATS: dict[str, Format] = {
    "urdf": Format(
        "robot.urdf",
        {
            "load_robot": lambda path: _robot(load_robot(path)),
            "load_robot with parts": lambda path: _robot(load_robot(path, repair_inertias=True, **bases.PARTS)),
            "shapes": lambda path: _shapes(load_robot(path)),
        },
        {},
    ),
    "robot_toml": Format(
        "robot.toml",
        {
            "load_robot": lambda path: _robot(load_robot(path)),
            "load_robot beside": lambda path: _robot(load_robot(path.with_suffix(".urdf"))),
        },
        {"robot.urdf": bases.urdf_text()},
    ),
    "c3d": Format(
        "trial.c3d",
        {
            "read_trial": lambda path: _trial(read_trial(path)),
            "match": lambda path: match(read_trial(path, up="z")),
            "smoothed": lambda path: smoothed(filled(read_trial(path))),
        },
        {},
    ),
    "trc": Format(
        "trial.trc",
        {
            "read_trial": lambda path: _trial(read_trial(path)),
            "match": lambda path: match(read_trial(path, up="y")),
            "smoothed": lambda path: smoothed(filled(read_trial(path))),
        },
        {},
    ),
    "mot": Format("motion.mot", {"read_motion": _motion}, {}),
    "bvh": Format(
        "skeleton.bvh",
        {
            "read_bvh": _bvh,
            "read_skeleton": lambda path: _trial(read_skeleton(path)),
            "read_trial": lambda path: match(read_trial(path), "skeleton"),
        },
        {},
    ),
    "poise": Format(
        "motion.poise",
        {"load_recording": _recording, "load_recording partial": lambda path: _recording(path, partial=True)},
        {},
    ),
    "style": Format("style.toml", {"Style.load": _style}, {}),
    "script": Format("script.json", {"Script.load": _script}, {}),
    "marker_set": Format(
        "markers.toml",
        {
            "load_marker_set": load_marker_set,
            "match": lambda path: match(bases.trial(), path),
        },
        {},
    ),
    "campaign": Format("campaign.toml", {"Spec.load": _campaign}, {}),
}


def quietly(reader: Reader, path: Path) -> None:
    """Reads, without the warnings of numpy about numbers that a file has."""
    with np.errstate(all="ignore"):
        reader(path)
