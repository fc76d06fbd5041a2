"""Result of a run, as `poise run --json` prints it."""

from __future__ import annotations

import math
from typing import Any

from poise.analysis import largest_trunk_tilt, torque_saturation, zmp_margin
from poise.robots import Robot
from poise.runs.loop import Ran
from poise.runs.request import Request

Result = dict[str, Any]


def summarised(request: Request, ran: Ran, robot: Robot) -> Result:
    """All keys of a run; those that only some behaviors know are None until they set them."""
    recording = ran.recording
    return {
        "behavior": request.behavior,
        "robot": request.robot,
        "mode": request.mode,
        "plant": request.plant,
        "seconds": ran.seconds,
        "fell": bool(ran.fall),
        "reason": ran.fall or None,
        "steps": None,
        "distance_m": None,
        "heading_rad": None,
        "worst_tilt_deg": math.degrees(largest_trunk_tilt(ran.states, robot)),
        "zmp_margin_m": zmp_margin(recording, robot, ran.states),
        "reach_errors_m": None,
        "control_ms": recording.milliseconds("control"),
        "realtime_factor": recording.duration / ran.wall if ran.wall > 0.0 else None,
        "fallbacks": recording.fallbacks(),
        "nonfinite_commands": recording.nonfinite_commands(),
        "levels": recording.levels(),
        "limits": torque_saturation(recording, robot),
    }


def failed(result: Result, reasons: list[str]) -> Result:
    """The same, with more reasons why it did not succeed, if there are any."""
    given = [result["reason"]] if result["reason"] else []
    result["reason"] = "; ".join([*given, *reasons]) or None
    return finite(result)


def finite(result: Any) -> Any:
    """The same with None where a number is infinite or NaN, which JSON does not know."""
    if isinstance(result, dict):
        return {key: finite(value) for key, value in result.items()}
    if isinstance(result, list):
        return [finite(value) for value in result]
    return None if isinstance(result, float) and not math.isfinite(result) else result
