"""Fuzz files: a corrupted file of each format, given to every reader that takes it."""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from poise.campaign.kinds import fuzz_samples as bases
from poise.campaign.kinds.fuzz_mutations import MUTATIONS
from poise.campaign.kinds.fuzz_samples import base
from poise.campaign.kinds.fuzz_structures import structure
from poise.campaign.kinds.fuzz_verdict import brief, judged
from poise.campaign.kinds.kind import Column, Kind, Outcome, Value, check_word, filled_in
from poise.devices import Script
from poise.human import (
    Trial,
    filled,
    load_marker_set,
    match,
    read_bvh,
    read_motion,
    read_skeleton,
    read_trial,
    smoothed,
)
from poise.plans import NEUTRAL, Style
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


# -- Fuzz files ------------------------------------------------------------------------------------------------------


#: What can be done to a file; "none" is nothing, and then every reader must read it.
WAYS = (*MUTATIONS, "structure", "none")


class FuzzFiles(Kind):
    """Parameters: ``format``, one of `FORMATS`, and ``mutation``, one of `WAYS`.

    A run makes a file, hands it to every reader of its format and touches what comes out. It succeeds if each reader
    gives a result or a PoiseError of one clear line; a crash, a hang and too much memory are for the campaign to see.
    """

    name = "fuzz files"
    columns: Mapping[str, Column] = {
        "bytes": Column("count", "", "size of the file"),
        "readers": Column("count", "", "readers that were given it"),
        "results": Column("count", "", "of these, how many made something of it"),
        "refusals": Column("count", "", "of these, how many refused it in one clear line"),
        "message": Column("text", "", "of the first that refused it"),
    }

    def read(self, given: Mapping[str, Value], base: Path) -> dict[str, Value]:
        parameters = filled_in(self.name, given, {"format": None, "mutation": None})
        check_word("format", parameters["format"], FORMATS)
        check_word("mutation", parameters["mutation"], WAYS)
        return parameters

    def perform(self, parameters: Mapping[str, Value], seed: int, along: Path | None = None) -> Outcome:
        form, way = str(parameters["format"]), str(parameters["mutation"])
        data = mutated(form, way, seed)
        faults, messages, results = [], [], 0
        with tempfile.TemporaryDirectory() as folder:
            for name, reader in FORMATS[form].readers.items():
                verdict = judged(partial(quietly, reader, written(form, data, Path(folder))))
                results += verdict.result
                if not verdict.result:
                    messages.append(_placeless(verdict.message, folder))
                if verdict.fault:
                    faults.append(_placeless(f"{name}: {verdict.fault}", folder))
        if way == "none" and results < len(FORMATS[form].readers) and not faults:
            faults.append(f"a sound file is refused: {messages[0]}")
        values: dict[str, Value] = {
            "bytes": len(data),
            "readers": len(FORMATS[form].readers),
            "results": results,
            "refusals": len(messages) - len(faults),
            "message": messages[0] if messages else None,
        }
        return Outcome(values, "; ".join(faults), partial(_save, data), FORMATS[form].suffix)


def mutated(form: str, way: str, seed: int) -> bytes:
    """The file of a seed."""
    random = np.random.default_rng([seed, zlib.crc32(form.encode()), zlib.crc32(way.encode())])
    if way == "structure":
        return structure(form, random)
    return MUTATIONS[way](random, base(form)) if way in MUTATIONS else base(form)


def written(form: str, data: bytes, folder: Path) -> Path:
    """The file in a folder, with all that must lie beside it."""
    for name, text in FORMATS[form].beside.items():
        (folder / name).write_text(text, encoding="utf-8")
    path = folder / FORMATS[form].file
    path.write_bytes(data)
    return path


def _placeless(message: str, folder: str) -> str:
    """A message without the folder of this run, which is another each time."""
    return brief(message.replace(f"{folder}/", "").replace(folder, ""), 300)


def _save(data: bytes, path: Path) -> None:
    path.write_bytes(data)
