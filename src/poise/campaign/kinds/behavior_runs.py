"""Motion: one behavior on one robot, as ``poise run`` does it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poise.analysis import MEASURES
from poise.campaign.kinds.kind import Column, Kind, Outcome, Value
from poise.errors import RecordingError
from poise.plans import STYLES
from poise.robots import library_names
from poise.runs import PARAMETERS, command_of, request_of

if TYPE_CHECKING:
    from poise.recording import Recording
    from poise.runs import Request, Result

#: Keys of a result that become columns as they are.
PLAIN: dict[str, Column] = {
    "fell": Column("flag", "", "whether the robot fell"),
    "distance_m": Column("number", "m", "how far it came"),
    "heading_rad": Column("number", "rad", "how far it turned to the left"),
    "worst_tilt_deg": Column("number", "deg", "how far the trunk leaned at worst"),
    "zmp_margin_m": Column("number", "m", "how far the ZMP was inside the soles, at worst"),
    "nonfinite_commands": Column("count", "", "commands that were not finite"),
}
#: Those that are called as a parameter is, or that hold more than one number.
RENAMED: dict[str, Column] = {
    "seconds_moved": Column("number", "s", "how long it moved: until its end, or half a second beyond a fall"),
    "steps_made": Column("count", "", "steps that were made"),
    "fallback_steps": Column("count", "", "control steps in which a fallback took over"),
    "levels_rms": Column("number", "", "largest root mean square error of a level"),
}
WALK: dict[str, Column] = {
    "speed_forward": Column("number", "m/s", "mean speed forward"),
    "speed_left": Column("number", "m/s", "mean speed to the left"),
    "speed_turning": Column("number", "rad/s", "mean rate of the heading"),
    "divergent_error_m": Column("number", "m", "how far the divergent component was off its plan in the last second"),
    "slip_m": Column("number", "m", "how far a standing foot slipped, at worst"),
    **{f"measure.{name}": Column("number", each.unit, each.about) for name, each in MEASURES.items()},
}
REACH: dict[str, Column] = {
    "reach_error_m": Column("number", "m", "by how much a target was missed, at worst"),
}
NAVIGATE: dict[str, Column] = {
    "segments": Column("count", "", "motion segments"),
    "corrected": Column("count", "", "of them, those that were prolonged"),
    "projected": Column("count", "", "commands that were beyond a boundary"),
    "longest_s": Column("number", "s", "longest segment"),
    "response_s": Column("number", "s", "until a guided point moved, median"),
    "hand_to_door_m": Column("number", "m", "of the scenario: from the hand to the door"),
}
SERVOS: dict[str, Column] = {
    "zmp_rms_m": Column("number", "m", "weighted ZMP from the middle of the soles, root mean square"),
    "zmp_largest_m": Column("number", "m", "the same at worst"),
    "returned_s": Column("number", "s", "from the last push until it was back within 5 mm"),
}
OWN = {
    "reach": REACH,
    "walk": {**WALK, **SERVOS},
    "navigate": NAVIGATE,
    "stand": SERVOS,
    "squat": SERVOS,
}
#: Parameters that may name files.
FILES = {"robot": library_names, "style": lambda: list(STYLES), "script": list}


class Motion(Kind):
    """Runs of one behavior. Parameters are those of ``poise run``, see `poise.runs.run_parameters`."""

    def __init__(self, behavior: str) -> None:
        self.name = behavior
        self.columns: Mapping[str, Column] = {**RENAMED, **PLAIN, **OWN[behavior]}

    def read(self, given: Mapping[str, Value], base: Path) -> dict[str, Value]:
        from poise.runs import check_request

        found = {name: _from(base, name, value) for name, value in given.items()}
        check_request(request_of(self.name, found))
        return {name: _typed(name, value) for name, value in found.items()}

    def files(self, parameters: Mapping[str, Value]) -> list[str]:
        named = [str(parameters[name]) for name in FILES if parameters.get(name)]
        beside = [str(Path(path).with_suffix(suffix)) for path in named for suffix in (".urdf", ".toml")]
        return [path for path in dict.fromkeys([*named, *beside]) if os.path.isabs(path) and os.path.isfile(path)]

    def command(self, parameters: Mapping[str, Value], seed: int) -> str:
        return command_of(self.name, parameters, seed)

    def perform(self, parameters: Mapping[str, Value], seed: int, along: Path | None = None) -> Outcome:
        recording, result = _ran(request_of(self.name, parameters, seed), along)
        times = {f"control_ms_{name}": value for name, value in (result["control_ms"] or {}).items()}
        if result["realtime_factor"] is not None:
            times["realtime_factor"] = result["realtime_factor"]
        values = _values(result, recording)
        if self.name == "walk" and not result["fell"]:  # how a fall looks is no style
            values |= _measures(recording)
        return Outcome(values, result["reason"] or "", recording.save, times=times)


def _ran(request: Request, along: Path | None) -> tuple[Recording, Result]:
    from poise import runs

    try:
        return runs.run(request, along)
    except RecordingError:  # a disk that is full is not the motion's fault
        if along is None:
            raise
        along.unlink(missing_ok=True)
        return runs.run(request)


def _values(result: Mapping[str, Any], recording: Any) -> dict[str, Value]:
    walk, guided = result.get("walk", {}), result.get("navigate", {})
    servos = result.get("regulation", {})
    speed = walk.get("speed", [None, None, None])
    response = guided.get("response_s") or {}
    errors = [each["rms"] for each in (result["levels"] or {}).values() if each["rms"] is not None]
    return {
        **{name: result[name] for name in PLAIN},
        "seconds_moved": float(recording.duration),
        "steps_made": result["steps"],
        "fallback_steps": sum((result["fallbacks"] or {}).values()),
        "levels_rms": max(errors, default=None),
        "reach_error_m": max(result["reach_errors_m"] or [], default=None),
        "speed_forward": speed[0],
        "speed_left": speed[1],
        "speed_turning": speed[2],
        "divergent_error_m": walk.get("divergent_error_m"),
        "slip_m": walk.get("slip_m"),
        **{name: guided.get(name) for name in ("segments", "corrected", "projected", "longest_s")},
        "response_s": response.get("median"),
        "hand_to_door_m": guided.get("scenario", {}).get("hand_to_door_m"),
        **{name: servos.get(name) for name in SERVOS},
    }


def _measures(recording: Any) -> dict[str, Value]:
    """How a walk looked, from its steady steps."""
    from poise.analysis import analyze_walk, style_measures

    found = style_measures(analyze_walk(recording, recording.robot))
    return {f"measure.{name}": float(getattr(found, name)) for name in MEASURES}


def _from(base: Path, name: str, value: Value) -> Value:
    """A file that the spec names is found from where the spec lies, and nowhere else."""
    if name in FILES and isinstance(value, str) and value and value not in FILES[name]():
        path = (base / value).resolve()
        return str(path) if Path(value).suffix or os.path.isfile(path) else value
    return value


def _typed(name: str, value: Value) -> Value:
    """A number where the command line takes one, even if the spec has it as a word."""
    parameter = PARAMETERS.get(name)
    if parameter is not None and isinstance(value, (str, int)) and not isinstance(value, bool):
        meant = parameter.read(str(value))
        if isinstance(meant, (int, float)):
            return meant
    return float(value) if parameter is None and isinstance(value, int) else value
