"""Which runs are the worst: those that failed, the soonest first, then those that nearly did."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from poise.campaign.kinds.kind import Column

#: How long a run moved, which is how soon it fell.
MOVED = "seconds_moved"


def margin_of(columns: Mapping[str, Column]) -> str:
    """The column that tells how near to failure a run was; "" if there is none."""
    return next((name for name, each in columns.items() if "margin" in name and each.type in ("number", "count")), "")


def merit(row: Mapping[str, Any], margin: str) -> tuple[bool, float, int]:
    """Sorts rows of a table, the worst first.

    Runs that failed stand before those that succeeded. Of the former, those that moved for the shortest time come first
    and those of which this is not known last; of the latter, those with the smallest margin, likewise. Of two that are
    alike the one that stands first in the plan comes first.

    Args:
        row: of a run.
        margin: the column that `margin_of` names.

    >>> sorted(rows, key=lambda row: merit(row, "zmp_margin_m"))[0]["reason"]
    'fell at 0.8 s'
    """
    succeeded = row["succeeded"] is True
    told = row.get(margin if succeeded else MOVED)
    return succeeded, math.inf if told is None or math.isnan(told) else float(told), int(row["run"])
