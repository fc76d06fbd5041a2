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
    return {**{key: result[key] for key in kept}, "workloads": workloads, "peers": _peers(result["peers"])}


def _peers(measured: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Ratios and versions of the whole steps, if they were measured; of each robot where they were dynamics."""
    if measured is None:
        return None
    kept = ("ratio", "quiet_ratio", "errors", "from_ours")
    contenders = {
        name: {"version": entry["version"], **{key: _rounded(entry[key]) for key in kept if key in entry}}
        for name, entry in measured["contenders"].items()
    }
    dynamics = measured.get("dynamics")
    robots = {} if dynamics is None else {name: _peers(robot) for name, robot in dynamics["robots"].items()}
    stored = {"contenders": contenders, "bars": _rounded(measured["bars"]), "met": measured["met"]}
    return {**stored, "dynamics": robots} if robots else stored


def _rounded(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _rounded(inner) for key, inner in value.items()}
    return float(f"{value:.3g}") if isinstance(value, float) else value
