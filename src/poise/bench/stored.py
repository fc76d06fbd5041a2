"""What of a result is worth keeping: ratios and counts, which mean something on another machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_KEPT = ("ratio", "quiet_ratio", "solves", "failures", "counters", "agreement")


def ratios_and_counts(result: Mapping[str, Any]) -> dict[str, Any]:
    """The result without times and without the machine, ratios to three digits."""
    workloads = []
    for workload in result["workloads"]:
        contenders = {
            name: {key: _rounded(entry[key]) for key in _KEPT if key in entry}
            for name, entry in workload["contenders"].items()
        }
        workloads.append({**workload, "contenders": contenders, "bars": _rounded(workload["bars"])})
    kept = ("benchmark", "repeat", "versions", "missing", "met")
    return {**{key: result[key] for key in kept}, "workloads": workloads}


def _rounded(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _rounded(inner) for key, inner in value.items()}
    return float(f"{value:.3g}") if isinstance(value, float) else value
