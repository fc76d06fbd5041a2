"""Runs over a folder of marker files: fit each trial (``human fit``), or fit and reproduce it (``human gait``)."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from poise import parsing
from poise.campaign.kinds.kind import Column, RunKind, RunOutput, Value
from poise.errors import GaitError, PoiseError, UsageError, suggestion

if TYPE_CHECKING:
    from poise.human import Fit, Variant

FIT_COLUMNS: dict[str, Column] = {
    "frames": Column("count", "", "frames of the trial"),
    "seconds": Column("number", "s", "duration of the trial"),
    "used_marker_set": Column("text", "", "marker set used"),
    "markers": Column("count", "", "number of markers used"),
    "height_m": Column("number", "m", "height of the person"),
    "mass_kg": Column("number", "kg", "mass of the person"),
    "marker_rms_mm": Column("number", "mm", "root mean square distance of markers from the body model"),
    "worst_marker_mm": Column("number", "mm", "distance of the worst marker"),
    "worst_marker": Column("text", "", "name of the worst marker"),
}
#: Keys in `Fit.summary` of columns that cannot have the same name, because a parameter has it.
SUMMARY_KEYS = {"used_marker_set": "marker_set"}
GAIT_COLUMNS: dict[str, Column] = {
    **FIT_COLUMNS,
    "cadence": Column("number", "steps/min", "steps per minute"),
    "stride_m": Column("number", "m", "stride length"),
    "speed_m_s": Column("number", "m/s", "walking speed"),
    "joint_angle_error_deg": Column(
        "number", "deg", "root mean square difference of joint angles from the measured ones over the gait cycle"
    ),
    "mean_difference_deg": Column("number", "deg", "mean absolute difference of ranges of motion from the measured"),
    "worst_difference_deg": Column("number", "deg", "largest difference of a range of motion from the measured one"),
    "worst_joint": Column("text", "", "joint with the largest difference"),
    "zmp_inside": Column("number", "share", "fraction of the gait cycle with the ZMP inside the soles"),
}
PARAMETER_PARSERS: dict[str, Callable[[str], Any]] = {
    "height": parsing.parse_positive,
    "mass": parsing.parse_positive,
    "cutoff": parsing.parse_positive,
    "sex": str,
    "marker_set": str,
    "static": str,
    "trial": str,
}


class HumanTrials(RunKind):
    """Runs of ``human fit`` or ``human gait``, one for each trial in a folder.

    Parameters: ``folder`` (or ``trial``, one file), ``static``, ``height``, ``mass``, ``sex``, ``marker_set``,
    ``cutoff``; for ``human gait`` also ``variant``, see `poise.human.gait.VARIANTS`.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_gait = name.endswith("gait")
        self.columns: Mapping[str, Column] = GAIT_COLUMNS if self.is_gait else FIT_COLUMNS

    def check_parameters(self, values: Mapping[str, Value], spec_folder: Path) -> dict[str, Value]:
        parameters: dict[str, Value] = {}
        for name, value in values.items():
            if name == "folder":  # each trial in it is the parameter `trial` of a run
                continue
            if name == "variant" and self.is_gait:
                parameters[name] = _find_variant(str(value)).name
                continue
            if name not in PARAMETER_PARSERS:
                known = ["folder", *PARAMETER_PARSERS, *(["variant"] if self.is_gait else [])]
                raise UsageError(f"there is no parameter '{name}' of '{self.name}'; {suggestion(name, known)}")
            try:
                parameters[name] = None if value is None else PARAMETER_PARSERS[name](str(value))
            except UsageError as error:
                raise UsageError(f"{name}: {error}") from None
        if not parameters.get("trial"):
            raise UsageError(f"'{self.name}' needs trials; give folder = \"FOLDER\" in [fixed]")
        if parameters.get("sex") not in (None, "male", "female"):
            raise UsageError(f"sex: '{parameters['sex']}'; expected male or female")
        for name in ("trial", "static"):
            if parameters.get(name):
                path = spec_folder / str(parameters[name])
                if not path.is_file():
                    raise UsageError(f"{name}: there is no file '{path}'")
                parameters[name] = str(path.resolve())
        if parameters.get("marker_set"):
            parameters["marker_set"] = _resolve_marker_set(str(parameters["marker_set"]), spec_folder)
        return parameters

    def files(self, parameters: Mapping[str, Value]) -> list[str]:
        paths = [str(parameters[name]) for name in ("trial", "static", "marker_set") if parameters.get(name)]
        return [path for path in paths if Path(path).is_absolute()]

    def expand(self, fixed: Mapping[str, Value], spec_folder: Path) -> dict[str, list[Value]]:
        from poise.human import find_trials

        folder = fixed.get("folder")
        if folder is None:
            return {}
        if not (spec_folder / str(folder)).is_dir():
            raise UsageError(f"folder: there is no folder '{spec_folder / str(folder)}'")
        return {"trial": [str(files.path) for files in find_trials([spec_folder / str(folder)])]}

    def command(self, parameters: Mapping[str, Value], seed: int) -> str:
        options = [
            part
            for name, value in parameters.items()
            if value is not None and name not in ("trial", "variant")
            for part in (f"--{name.replace('_', '-')}", str(value))
        ]
        return shlex.join(["poise", *self.name.split(), str(parameters["trial"]), *options])

    def run(self, parameters: Mapping[str, Value], seed: int, recording_path: Path | None = None) -> RunOutput:
        from poise.human import FitOptions, fit_trial

        options: Any = {
            name: parameters[name] for name in FitOptions.__annotations__ if parameters.get(name) is not None
        }
        static = parameters.get("static")
        try:
            fit = fit_trial(str(parameters["trial"]), None if static is None else str(static), **options)
        except PoiseError as error:
            return RunOutput({}, str(error))
        summary = fit.summary()
        values: dict[str, Value] = {name: summary[SUMMARY_KEYS.get(name, name)] for name in FIT_COLUMNS}
        reason = ""
        if self.is_gait:
            try:
                values |= _gait_values(fit, parameters.get("variant"))
            except PoiseError as error:
                reason = str(error)
        return RunOutput(values, reason, lambda path: fit.recording().save(path))


@cache
def _resolve_marker_set(name: str, spec_folder: Path) -> str:
    """Return the name of a marker set, or the absolute path of its file; an error if it cannot be loaded."""
    from poise.human import load_marker_set, marker_sets

    resolved = name if name in marker_sets() or not Path(name).suffix else str((spec_folder / name).resolve())
    load_marker_set(resolved)
    return resolved


def _find_variant(name: str) -> Variant:
    from poise.human import gait

    try:
        return gait.find_variant(name)
    except GaitError as error:
        raise UsageError(f"variant: {error}") from None


def _gait_values(fit: Fit, variant: Value) -> dict[str, Value]:
    from poise.human import BEST, reproduce_walk

    trial = reproduce_walk(fit, variants=[BEST if variant is None else _find_variant(str(variant))])
    walk, measures = trial.spatiotemporal_parameters, trial.best_quality
    return {
        "cadence": walk["cadence"],
        "stride_m": walk["stride"],
        "speed_m_s": walk["speed"],
        "joint_angle_error_deg": float(np.mean(measures.errors)),
        "mean_difference_deg": float(np.abs(measures.differences).mean()),
        "worst_difference_deg": float(measures.worst_joint[1]),
        "worst_joint": measures.worst_joint[0],
        "zmp_inside": float(measures.zmp_inside),
    }
