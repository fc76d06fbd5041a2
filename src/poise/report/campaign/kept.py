"""Kept: where a page finds what was kept of a run."""

from __future__ import annotations

from typing import NamedTuple


class Kept(NamedTuple):
    """What was kept of a run, as the page links it.

    Attributes:
        recording: address of its recording from where the page lies; "" if there is none.
        replay: address of a page that plays it; "" if there is none.
        note: why something is missing; "" if nothing is.
    """

    recording: str = ""
    replay: str = ""
    note: str = ""
