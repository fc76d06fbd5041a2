"""HTML reader for tests: elements, tables and texts of a page, and whether it is well formed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from html.parser import HTMLParser

from poise.html import Section, assemble_page
from poise.recording import Recording
from poise.report.recording_view import RecordingView, recording_views

#: Elements that HTML never closes.
VOID = {"meta", "img", "br", "hr", "link", "input"}


class Page(HTMLParser):
    """A parsed page.

    Attributes:
        sections: texts by title.
        tables: rows of cells, section by section.
        captions: of figures, section by section.
        labels: texts inside figures, one list per figure.
        attributes: all (element, name, value).
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.sections: dict[str, str] = {}
        self.tables: dict[str, list[list[str]]] = {}
        self.captions: dict[str, list[str]] = {}
        self.labels: list[list[str]] = []
        self._title, self._words = "", ""
        self.feed(text)
        self.close()
        assert self.open == [], f"never closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.tables.setdefault(self._title, []).append([])
        if tag == "svg":
            self.labels.append([])
        if tag in ("h2", "td", "th", "figcaption", "text"):
            self._words = ""

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag, f"</{tag}> closes something else"
        words = " ".join(self._words.split())
        if tag == "h2":
            self._title = words
            self.sections[words] = ""
        elif tag in ("td", "th"):
            self.tables[self._title][-1].append(words)
        elif tag == "figcaption":
            self.captions.setdefault(self._title, []).append(words)
        elif tag == "text":
            self.labels[-1].append(words)

    def handle_data(self, data: str) -> None:
        self._words += data
        if self._title and "style" not in self.open:
            self.sections[self._title] += data

    def cell(self, section: str, row: str, column: int) -> str:
        """Return the cell of a table in the row that begins with the given text."""
        return next(cells[column] for cells in self.tables[section] if cells and cells[0] == row)

    def axes(self) -> list[tuple[str, ...]]:
        """Return the axis labels of each figure: texts with a unit at the end."""
        return [tuple(t for t in figure if re.search(r"\([^)]+\)$", t)) for figure in self.labels]


def read_sections(
    recordings: Mapping[str, Recording], *sections: Callable[[Sequence[RecordingView]], Section | None]
) -> Page:
    """Build only these sections of the page about recordings: the charts of a whole page take seconds."""
    views = recording_views(recordings)
    built = [section(views) for section in sections]
    return Page(assemble_page("sections", [section for section in built if section is not None]))


def value(cell: str) -> float:
    """Return the number in a cell."""
    return float(cell.replace("\N{MINUS SIGN}", "-").removesuffix("%").strip())
