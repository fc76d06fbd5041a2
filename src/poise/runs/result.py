"""Result: what `poise run --json` prints."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from poise.recording import Recording
from poise.runs.request import Request

Result = dict[str, Any]


def summarised(request: Request, recording: Recording, seconds: float) -> Result:
    """All keys of a run of so many seconds; those that only some behaviors know are None until they set them."""
    spent = 1e-3 * float(np.nansum(recording["control/milliseconds"])) if len(recording) else 0.0
    return {
        "behavior": request.behavior,
        "robot": request.robot,
        "mode": request.mode,
        "plant": request.plant,
        "seconds": seconds,
        "fell": None,
        "reason": None,
        "steps": None,
        "distance_m": None,
        "heading_rad": None,
        "worst_tilt_deg": None,
        "zmp_margin_m": None,
        "reach_errors_m": None,
        "control_ms": recording.milliseconds("control"),
        "realtime_factor": seconds / spent if spent > 0.0 else None,
        "fallbacks": recording.fallbacks(),
        "nonfinite_commands": recording.nonfinite_commands(),
        "levels": recording.levels(),
    }


def finite(result: Any) -> Any:
    """The same with None where a number is infinite or NaN, which JSON does not know."""
    if isinstance(result, dict):
        return {key: finite(value) for key, value in result.items()}
    if isinstance(result, list):
        return [finite(value) for value in result]
    return None if isinstance(result, float) and not math.isfinite(result) else result
