"""TOML as people write it: whatever a file does beyond that is said in one line, before anybody trips over it."""

from __future__ import annotations

import tomllib
from typing import Any

#: Tables within tables, of which no file of ours has more than four; Python's own way of printing a value ends at 1000.
DEEPEST = 50
#: Whole numbers that TOML promises to keep.
LARGEST = 2**63


def parse_toml(content: bytes) -> dict[str, Any]:
    """The tables of a TOML file; ValueError, with one line on what is wrong, for anything else.

    >>> parse_toml(b"x = 1")
    {'x': 1}
    """
    try:
        values = tomllib.loads(content.decode("utf-8"))
    except RecursionError:
        raise ValueError("lists or tables within each other without end") from None
    _check(values)
    return values


def _check(values: Any) -> None:
    """Refuses depth and numbers that nobody means; without recursion, which depth would break."""
    level, depth = [values], 0
    while level:
        depth += 1
        if depth > DEEPEST:
            raise ValueError(f"lists or tables more than {DEEPEST} deep within each other")
        within: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                within += value.values()
            elif isinstance(value, list):
                within += value
            elif isinstance(value, int) and not -LARGEST <= value < LARGEST:
                raise ValueError("a whole number of more than 64 bits")
        level = within
