"""Former names in specs and campaign folders, so that files of earlier versions can be read.

>>> rename_spec_keys({"behavior": "walk", "floor": 0.9})
{'kind': 'walk', 'min_success_rate': 0.9}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from poise.parsing import rename_former_keys
from poise.plans import Style
from poise.runs import MOTIONS

#: Keys of a spec, also in its tables [short] and [check].
FORMER_SPEC_KEYS = {"behavior": "kind", "floor": "min_success_rate"}
#: Keys of the table [keep] of a spec.
FORMER_KEEP_KEYS = {"most": "max_recordings"}
#: Kinds of runs.
FORMER_KINDS = {"drill": "fault drill"}
#: Parameters of the runs of all motions.
FORMER_MOTION_PARAMETERS = {"break": "fault", "carry": "carried_mass"}
#: Parameters of the runs of a kind: names in specs and columns of the results.
FORMER_PARAMETERS: dict[str, dict[str, str]] = {
    "fault drill": {"do": "action"},
    **dict.fromkeys(MOTIONS, FORMER_MOTION_PARAMETERS),
    "walk": {
        **FORMER_MOTION_PARAMETERS,
        **{f"style.{former}": f"style.{name}" for former, name in Style.former_names.items()},
    },
}
#: Facts about a campaign, in ``campaign.json``.
FORMER_FACTS = {**FORMER_SPEC_KEYS, "plan": "plan_digest", "planned": "planned_runs"}
#: Columns of the results of motions.
FORMER_MOTION_COLUMNS = {
    "returned_s": "recovery_time_s",
    "seconds_moved": "motion_seconds",
    "zmp_largest_m": "zmp_max_m",
}
#: Columns of the results of one kind of runs.
FORMER_COLUMNS: dict[str, dict[str, str]] = {
    "fault drill": {"drawn": "random_number"},
    "fuzz controllers": {
        "beyond_limits": "limit_violations",
        "refused": "rejected",
        "violated": "nonzero_slack",
        "worst_excess": "worst_violation",
    },
    "fuzz files": {"refusals": "rejections"},
    "human fit": {"used_set": "used_marker_set"},
    "human gait": {
        "rotation_error_deg": "joint_angle_error_deg",
        "used_set": "used_marker_set",
        "worst_rotation": "worst_joint",
    },
    "navigate": {"corrected": "prolonged", "longest_s": "longest_segment_s", "projected": "projected_commands"},
    "solver programs": {"undecided": "ambiguous", "worst_gap": "reference_gap"},
    "walk": {
        "divergent_error_m": "dcm_error_m",
        "measure.center_height": "measure.center_of_mass_height",
        "measure.center_smoothness": "measure.center_of_mass_smoothness",
        "measure.divergent_error": "measure.dcm_error",
        "measure.divergent_margin": "measure.dcm_margin",
        "measure.pressure_margin": "measure.center_of_pressure_margin",
    },
}


def rename_spec_keys(data: Mapping[str, Any], sizes: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the tables of a spec with current keys, also in its tables for other sizes of the campaign.

    Raises:
        UsageError: if a table has both names of a key.
    """
    renamed = rename_former_keys(data, FORMER_SPEC_KEYS)
    if isinstance(renamed.get("keep"), dict):
        renamed["keep"] = rename_former_keys(renamed["keep"], FORMER_KEEP_KEYS)
    return {
        key: rename_spec_keys(value) if key in sizes and isinstance(value, dict) else value
        for key, value in renamed.items()
    }


def rename_facts(facts: Any) -> Any:
    """Return the facts about a campaign with current names of facts, kinds, parameters and columns."""
    if not isinstance(facts, dict):  # the caller reports it
        return facts
    renamed = rename_former_keys(facts, FORMER_FACTS)
    kind = str(renamed.get("kind", ""))
    renamed["kind"] = FORMER_KINDS.get(kind, kind)
    for name in ("parameters", "columns"):
        if isinstance(renamed.get(name), dict):
            renamed[name] = rename_columns(renamed[name], renamed["kind"])
    return renamed


def rename_columns(row: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Return a row of the results, or the declarations of its columns, with current names.

    Args:
        row: value by name.
        kind: current name of the kind of runs.
    """
    former = {**FORMER_MOTION_COLUMNS, **FORMER_PARAMETERS.get(kind, {}), **FORMER_COLUMNS.get(kind, {})}
    return rename_former_keys(row, former)
