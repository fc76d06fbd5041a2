"""Runs of a motion on a robot, as ``poise run`` executes them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from poise.analysis import QUALITY_FIGURES, quality_messages
from poise.campaign.kinds.kind import Column, RunKind, RunOutput, Value
from poise.errors import RecordingError
from poise.runs import (
    COMMON_COLUMNS,
    Motion,
    MotionRun,
    Result,
    campaign_parameters,
    command_line,
    motion_from,
    motion_named,
)


class MotionRuns(RunKind):
    """Runs of one motion. Parameters and columns are those of its definition, see `poise.runs`.

    The solver has no time budget unless the parameter ``budget`` sets one.

    Args:
        motion: name or class of the motion.
    """

    def __init__(self, motion: str | type[Motion]) -> None:
        self.motion = motion_named(motion) if isinstance(motion, str) else motion
        self.name = self.motion.name
        declared = {**COMMON_COLUMNS, **self.motion.columns}
        self.columns: Mapping[str, Column] = {
            name: Column(each.type, each.unit, each.about) for name, each in declared.items()
        }

    def check_parameters(self, values: Mapping[str, Value], spec_folder: Path) -> dict[str, Value]:
        parameters = {name: self._resolve_path(spec_folder, name, value) for name, value in values.items()}
        motion_from(self.motion, parameters).check_names()
        return {name: self._to_parameter_type(name, value) for name, value in parameters.items()}

    def files(self, parameters: Mapping[str, Value]) -> list[str]:
        paths = [str(parameters[name]) for name in self.motion.file_parameters if parameters.get(name)]
        companions = [str(Path(path).with_suffix(suffix)) for path in paths for suffix in (".urdf", ".toml")]
        return [path for path in dict.fromkeys([*paths, *companions]) if os.path.isabs(path) and os.path.isfile(path)]

    def command(self, parameters: Mapping[str, Value], seed: int) -> str:
        return command_line(self.motion, _unlimited(parameters), seed)

    def run(self, parameters: Mapping[str, Value], seed: int, recording_path: Path | None = None) -> RunOutput:
        motion = motion_from(self.motion, _unlimited(parameters), seed)
        recording, result = _run_with_recording(motion, recording_path)
        times = {f"control_ms_{name}": value for name, value in (result["control_ms"] or {}).items()}
        if result["realtime_factor"] is not None:
            times["realtime_factor"] = result["realtime_factor"]
        return RunOutput(motion.row(recording, result), self.reason(motion, result), recording.save, times=times)

    def reason(self, motion: Motion, result: Result) -> str:
        """Return the reason why a run failed; empty if it succeeded."""
        return result["reason"] or ""

    def _resolve_path(self, spec_folder: Path, name: str, value: Value) -> Value:
        """Resolve the path of a file parameter relative to the folder of the spec."""
        known = self.motion.file_parameters
        if name in known and isinstance(value, str) and value and value not in known[name]():
            path = (spec_folder / value).resolve()
            return str(path) if Path(value).suffix or os.path.isfile(path) else value
        return value

    def _to_parameter_type(self, name: str, value: Value) -> Value:
        """Convert the value of a numeric parameter to a number, even if the spec gives it as text."""
        parameter = campaign_parameters(self.motion).get(name)
        if parameter is not None and isinstance(value, (str, int)) and not isinstance(value, bool):
            number = parameter.parse(str(value))
            if isinstance(number, (int, float)):
                return number
        return float(value) if parameter is None and isinstance(value, int) and not isinstance(value, bool) else value


class WalkQuality(MotionRuns):
    """Walks that succeed only if no figure of quality exceeds its bound of warning, see `poise.analysis`.

    Computing times do not count: they depend on the machine.
    """

    def __init__(self) -> None:
        super().__init__("walk")
        self.name = "walk quality"

    def reason(self, motion: Motion, result: Result) -> str:
        warnings = {} if result["fell"] else quality_messages(result["quality"], motion.quality_kind)
        counted = [message for name, message in warnings.items() if QUALITY_FIGURES[name].reproducible]
        return super().reason(motion, result) or "; ".join(counted)


def _unlimited(parameters: Mapping[str, Value]) -> dict[str, Value]:
    """Return the parameters, without a time budget of the solver if they set none: no row depends on the machine."""
    return {**parameters, "budget": parameters.get("budget", 0)}


def _run_with_recording(motion: Motion, recording_path: Path | None) -> MotionRun:
    try:
        return motion.run(recording_path)
    except RecordingError:  # a full disk must not fail the motion: run it again without a file
        if recording_path is None:
            raise
        recording_path.unlink(missing_ok=True)
        return motion.run()
