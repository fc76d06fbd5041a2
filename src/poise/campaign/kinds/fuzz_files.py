"""Fuzz runs of file readers: corrupted files of each format, read by every reader of that format."""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from poise.campaign.kinds import fuzz_samples as samples
from poise.campaign.kinds.fuzz_call_check import check_call, shorten
from poise.campaign.kinds.fuzz_mutations import MUTATIONS
from poise.campaign.kinds.fuzz_samples import valid_file
from poise.campaign.kinds.fuzz_structures import random_structure
from poise.campaign.kinds.kind import Column, RunKind, RunOutput, Value, check_choice, with_defaults
from poise.devices import Script
from poise.human import (
    Trial,
    fill_gaps,
    load_marker_set,
    low_pass_markers,
    match_markers,
    read_bvh,
    read_motion,
    read_skeleton,
    read_trial,
)
from poise.plans import NEUTRAL, Style
from poise.recording import load_recording
from poise.robots import Robot, load_robot

Reader = Callable[[Path], Any]


@dataclass(frozen=True)
class FuzzFormat:
    """A file format to fuzz.

    Attributes:
        file_name: name of the file, with suffix.
        readers: readers by name; each reads a file and uses the result as a user would.
        companion_files: texts of files that must be beside it, by name.
    """

    file_name: str
    readers: dict[str, Reader]
    companion_files: dict[str, str]

    @property
    def suffix(self) -> str:
        return Path(self.file_name).suffix


def _access(*values: object) -> None:
    """Evaluate the arguments and do nothing with them."""


def _exercise_robot(robot: Robot) -> None:
    _access(repr(robot), robot.mass, robot.height, [str(note) for note in robot.notes])
    for name in robot.stances:
        state = robot.stance(name)
        _access(state.center_of_mass, state.support_polygon)
    for foot in robot.feet:
        _access(foot.corners)


def _exercise_shapes(robot: Robot) -> None:
    _access(robot.visual_geometry, robot.collision_geometry)


def _exercise_trial(trial: Trial) -> None:
    _access(trial.duration, trial.notes)
    for label in trial.labels[:3]:
        trial.marker(label)
    trial.cut(0.0, trial.duration / 2.0)
    fill_gaps(trial)


def _exercise_recording(path: Path, partial: bool = False) -> None:
    recording = load_recording(path, partial=partial)
    recording.summary()
    _access(recording.duration, recording.period, recording.fallbacks(), recording.nonfinite_commands())
    for name in recording.channels:
        _access(recording[name], recording.units[name], recording.labels[name])


def _exercise_script(path: Path) -> None:
    script = Script.load(path)
    for time in (0.0, 0.5 * script.seconds, script.seconds, float("nan")):
        script.read(time)


def _exercise_style(path: Path) -> None:
    style = Style.load(path)
    _access(style.to_toml(), style.blend(NEUTRAL, 0.5), style.replace(step_turn=0.1))


def _exercise_motion(path: Path) -> None:
    motion = read_motion(path)
    _access(motion.angle_columns, motion.values_in_degrees)
    for name in motion.names[:3]:
        motion.column(name)


def _exercise_bvh(path: Path) -> None:
    read_bvh(path, scale=0.01, skip=1).positions()


def _exercise_spec(path: Path) -> None:
    from poise.campaign.spec import Spec  # imported late: it imports the kinds, and so this module

    for size in ("full", "short", "check"):
        spec = Spec.load(path, size)
        _access(spec.columns, spec.plan_digest)


FORMATS: dict[str, FuzzFormat] = {
    "urdf": FuzzFormat(
        "robot.urdf",
        {
            "load_robot": lambda path: _exercise_robot(load_robot(path)),
            "load_robot with parts": lambda path: _exercise_robot(
                load_robot(path, repair_inertias=True, **samples.ROBOT_PARTS)
            ),
            "shapes": lambda path: _exercise_shapes(load_robot(path)),
        },
        {},
    ),
    "robot_toml": FuzzFormat(
        "robot.toml",
        {
            "load_robot": lambda path: _exercise_robot(load_robot(path)),
            "load_robot beside": lambda path: _exercise_robot(load_robot(path.with_suffix(".urdf"))),
        },
        {"robot.urdf": samples.urdf_text()},
    ),
    "c3d": FuzzFormat(
        "trial.c3d",
        {
            "read_trial": lambda path: _exercise_trial(read_trial(path)),
            "match_markers": lambda path: match_markers(read_trial(path, up="z")),
            "low_pass_markers": lambda path: low_pass_markers(fill_gaps(read_trial(path))),
        },
        {},
    ),
    "trc": FuzzFormat(
        "trial.trc",
        {
            "read_trial": lambda path: _exercise_trial(read_trial(path)),
            "match_markers": lambda path: match_markers(read_trial(path, up="y")),
            "low_pass_markers": lambda path: low_pass_markers(fill_gaps(read_trial(path))),
        },
        {},
    ),
    "mot": FuzzFormat("motion.mot", {"read_motion": _exercise_motion}, {}),
    "bvh": FuzzFormat(
        "skeleton.bvh",
        {
            "read_bvh": _exercise_bvh,
            "read_skeleton": lambda path: _exercise_trial(read_skeleton(path)),
            "read_trial": lambda path: match_markers(read_trial(path), "skeleton"),
        },
        {},
    ),
    "poise": FuzzFormat(
        "motion.poise",
        {
            "load_recording": _exercise_recording,
            "load_recording partial": lambda path: _exercise_recording(path, partial=True),
        },
        {},
    ),
    "style": FuzzFormat("style.toml", {"Style.load": _exercise_style}, {}),
    "script": FuzzFormat("script.json", {"Script.load": _exercise_script}, {}),
    "marker_set": FuzzFormat(
        "markers.toml",
        {
            "load_marker_set": load_marker_set,
            "match_markers": lambda path: match_markers(samples.trial(), path),
        },
        {},
    ),
    "campaign": FuzzFormat("campaign.toml", {"Spec.load": _exercise_spec}, {}),
}


def read_quietly(reader: Reader, path: Path) -> None:
    """Read a file without numpy's warnings about its numbers."""
    with np.errstate(all="ignore"):
        reader(path)


# -- Fuzz files ------------------------------------------------------------------------------------------------------


#: Mutations of a file; with "none" it is unchanged, and every reader must read it.
MUTATION_NAMES = (*MUTATIONS, "structure", "none")


class FuzzFiles(RunKind):
    """Runs that read a mutated file with every reader of its format and use the results.

    Parameters: ``format``, one of `FORMATS`, and ``mutation``, one of `MUTATION_NAMES`.

    A run succeeds if each reader returns a result or raises a clear one-line `PoiseError`. The campaign detects
    crashes, hangs and excessive memory.
    """

    name = "fuzz files"
    columns: Mapping[str, Column] = {
        "bytes": Column("count", "", "size of the file"),
        "readers": Column("count", "", "readers of the format"),
        "results": Column("count", "", "readers that returned a result"),
        "rejections": Column("count", "", "readers that rejected it with a clear error"),
        "message": Column("text", "", "message of the first error"),
    }

    def check_parameters(self, values: Mapping[str, Value], spec_folder: Path) -> dict[str, Value]:
        parameters = with_defaults(self.name, values, {"format": None, "mutation": None})
        check_choice("format", parameters["format"], FORMATS)
        check_choice("mutation", parameters["mutation"], MUTATION_NAMES)
        return parameters

    def run(self, parameters: Mapping[str, Value], seed: int, recording_path: Path | None = None) -> RunOutput:
        format_name, mutation = str(parameters["format"]), str(parameters["mutation"])
        data = mutated_file(format_name, mutation, seed)
        faults, messages, results = [], [], 0
        with tempfile.TemporaryDirectory() as folder:
            for name, reader in FORMATS[format_name].readers.items():
                outcome = check_call(partial(read_quietly, reader, write_files(format_name, data, Path(folder))))
                results += outcome.has_result
                if not outcome.has_result:
                    messages.append(_without_folder(outcome.message, folder))
                if outcome.fault:
                    faults.append(_without_folder(f"{name}: {outcome.fault}", folder))
        if mutation == "none" and results < len(FORMATS[format_name].readers) and not faults:
            faults.append(f"a valid file is rejected: {messages[0]}")
        values: dict[str, Value] = {
            "bytes": len(data),
            "readers": len(FORMATS[format_name].readers),
            "results": results,
            "rejections": len(messages) - len(faults),
            "message": messages[0] if messages else None,
        }
        return RunOutput(values, "; ".join(faults), partial(_save, data), FORMATS[format_name].suffix)


def mutated_file(format_name: str, mutation: str, seed: int) -> bytes:
    """Return the mutated file of a format for a seed."""
    random = np.random.default_rng([seed, zlib.crc32(format_name.encode()), zlib.crc32(mutation.encode())])
    if mutation == "structure":
        return random_structure(format_name, random)
    return MUTATIONS[mutation](random, valid_file(format_name)) if mutation in MUTATIONS else valid_file(format_name)


def write_files(format_name: str, data: bytes, folder: Path) -> Path:
    """Write a file and its companion files to a folder, and return its path."""
    for name, text in FORMATS[format_name].companion_files.items():
        (folder / name).write_text(text, encoding="utf-8")
    path = folder / FORMATS[format_name].file_name
    path.write_bytes(data)
    return path


def _without_folder(message: str, folder: str) -> str:
    """Return a message without the folder of this run, which has a random name."""
    return shorten(message.replace(f"{folder}/", "").replace(folder, ""), 300)


def _save(data: bytes, path: Path) -> None:
    path.write_bytes(data)
