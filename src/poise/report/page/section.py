"""Section: a titled part of the page."""

from __future__ import annotations

import re
from typing import NamedTuple


class Section(NamedTuple):
    """A part of the page: its title (text) and what stands below (HTML)."""

    title: str
    html: str

    @property
    def anchor(self) -> str:
        """The name under which it can be linked."""
        return re.sub(r"[^a-z]+", "-", self.title.lower()).strip("-")
