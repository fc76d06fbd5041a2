"""HTML pages of reports: elements, tables, number formats, style sheet, and atomic writing of a page.

Functions that return elements escape the text that they are given; arguments that are HTML already are named so.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from poise.errors import PoiseError
from poise.extras import require
from poise.files import atomic_write_text, failure_reason, writable_path


class Section(NamedTuple):
    """A section of a page: its title (plain text) and its content (HTML)."""

    title: str
    html: str

    @property
    def anchor(self) -> str:
        """Id of the section, for links to it."""
        return re.sub(r"[^a-z]+", "-", self.title.lower()).strip("-")


# -- Style sheet -----------------------------------------------------------------------------------------------------


STYLE_SHEET = """
:root { color-scheme: light; }
body { margin: 0 auto; max-width: 1040px; padding: 24px 20px 60px; background: #fff; color: #1a1a1a;
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", "DejaVu Sans",
  sans-serif; }
h1 { font-size: 26px; line-height: 1.25; margin: 0 0 4px; font-weight: 600; }
h2 { font-size: 19px; margin: 44px 0 6px; padding-top: 8px; border-top: 1px solid #ccc; font-weight: 600; }
h3 { font-size: 15px; margin: 22px 0 4px; font-weight: 600; }
p { margin: 6px 0 10px; max-width: 46em; }
section ul { margin: 6px 0 10px; padding-left: 20px; max-width: 46em; }
.grid > div { min-width: 0; }
.byline { color: #555; margin: 0 0 14px; }
.verdict { border-left: 5px solid #8a8a8a; background: #f4f4f4; padding: 8px 14px; font-weight: 600; }
.verdict small { font-weight: 400; font-size: 13px; }
.verdict.good { border-color: #00794f; background: #e8f5ef; }
.verdict.bad { border-color: #b3261e; background: #fbeceb; }
details { margin: 10px 0 14px; }
summary { cursor: pointer; color: #00568a; font-size: 13.5px; }
details .table { margin: 6px 0 0; }
.note { background: #f4f4f4; border-left: 3px solid #8a8a8a; padding: 6px 12px; }
nav ul { columns: 2; padding: 0; margin: 18px 0; list-style: none; max-width: 46em; }
a { color: #00568a; }
.grid { display: grid; gap: 10px 18px; align-items: start; margin: 8px 0; }
.columns2 { grid-template-columns: repeat(2, minmax(0, 1fr)); }
.columns3 { grid-template-columns: repeat(3, minmax(0, 1fr)); }
figure { margin: 0 0 6px; min-width: 0; }
figcaption { font-size: 13px; line-height: 1.4; color: #444; }
figure img { display: block; width: 100%; height: auto; border: 1px solid #ddd; box-sizing: border-box; }
svg { display: block; width: 100%; height: auto; }
svg * { stroke-linejoin: round; stroke-linecap: butt; }
svg text { font-family: inherit; fill: #222; }
.table { overflow-x: auto; margin: 10px 0 14px; }
table { border-collapse: collapse; font-size: 13.5px; line-height: 1.35; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: #444; font-size: 13px; padding-bottom: 4px; }
th, td { padding: 3px 14px 3px 0; text-align: right; vertical-align: top; }
td { max-width: 26em; }
.text th, .text td { text-align: left; }
.text td { max-width: 40em; }
th:first-child { text-align: left; }
thead tr:last-child th { border-bottom: 1px solid #555; }
thead th { font-weight: 600; vertical-align: bottom; }
th[colspan] { text-align: center; padding-bottom: 1px; }
tbody th { font-weight: 400; white-space: nowrap; }
tbody th small { display: block; white-space: normal; max-width: 46em; color: #555; font-size: 12px; }
tbody tr { border-bottom: 1px solid #e4e4e4; }
@media (max-width: 700px) { .columns2, .columns3 { grid-template-columns: minmax(0, 1fr); } nav ul { columns: 1; }
  tbody th { white-space: normal; } }
@page { size: A4 landscape; margin: 10mm 14mm; }
@media print {
  body { max-width: none; padding: 0; font-size: 10pt; }
  nav { display: none; }
  a { color: inherit; text-decoration: none; }
  section ~ section { break-before: page; }
  h2 { margin-top: 10pt; }
  section ~ section h2 { margin-top: 0; border-top: 0; padding-top: 0; }
  h3 { margin-top: 8pt; }
  .grid { gap: 6pt 14pt; margin: 4pt 0; }
  h2, h3, section > p { break-after: avoid; }
  figure, tr, .note, .verdict { break-inside: avoid; }
  details::details-content { content-visibility: visible; display: block; }
  .table { break-inside: avoid; }
  thead { display: table-header-group; }
  table { font-size: 9pt; }
  figcaption, caption { font-size: 8.5pt; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
""".strip()

# -- A whole page ----------------------------------------------------------------------------------------------------


def assemble_page(title: str, sections: Sequence[Section], first: int = 0) -> str:
    """Return a complete HTML page with a style sheet and links to its sections; it loads no other files.

    Args:
        title: title of the page.
        sections: its sections.
        first: number of sections before the links to the others.
    """
    links = "".join(f'<li><a href="#{s.anchor}">{escape(s.title)}</a></li>' for s in sections[first:])
    bodies = [f'<section id="{s.anchor}"><h2>{escape(s.title)}</h2>\n{s.html}</section>' for s in sections]
    bodies.insert(first, f"<nav><ul>{links}</ul></nav>")
    content = "\n".join(bodies)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>
{STYLE_SHEET}
</style>
</head>
<body>
<h1>{escape(title)}</h1>
<p class="byline">Report by Poise. This file is self-contained.</p>
{content}
</body>
</html>
"""


def save_page_file(path: str | os.PathLike[str], build_page: Callable[[], str]) -> Path:
    """Write a page to a file and return its path.

    The path is checked before ``build_page`` is called, so that a wrong path fails at once.

    Raises:
        PoiseError: the file cannot be written.
    """
    target = writable_path(path, lambda message: PoiseError(f"save_page: {message}"))
    require("matplotlib", "PIL")  # fail before building sections that do not need them
    text = build_page()
    try:
        atomic_write_text(target, text)
    except OSError as error:
        message = f"{path} cannot be written: {failure_reason(error)}; give another path or free disk space"
        raise PoiseError(message) from error
    return Path(path)


# -- HTML elements ---------------------------------------------------------------------------------------------------


#: Shown in place of a missing number.
DASH = "\N{EN DASH}"
MINUS, TIMES = "\N{MINUS SIGN}", "\N{MULTIPLICATION SIGN}"


def paragraph(*sentences: str) -> str:
    """Join sentences to a paragraph; skip empty ones, and return an empty string if none is left."""
    texts = [escape(sentence) for sentence in sentences if sentence]
    return f"<p>{' '.join(texts)}</p>" if texts else ""


def note(*sentences: str) -> str:
    """Highlighted paragraph for missing data or problems; empty if all sentences are empty."""
    texts = [escape(sentence) for sentence in sentences if sentence]
    return f'<p class="note">{" ".join(texts)}</p>' if texts else ""


def verdict(succeeded: bool | None, sentence: str, details: str = "") -> str:
    """Highlighted paragraph with a verdict: green for a success, red for a failure, gray for None."""
    kind = {True: "good", False: "bad", None: "open"}[succeeded]
    small = f"<br><small>{escape(details)}</small>" if details else ""
    return f'<p class="verdict {kind}">{escape(sentence)}{small}</p>'


def heading(text: str) -> str:
    """Heading inside a section."""
    return f"<h3>{escape(text)}</h3>"


def figure(content_html: str, caption: str) -> str:
    """Figure with a caption below; the content is HTML already."""
    return f"<figure>{content_html}<figcaption>{escape(caption)}</figcaption></figure>"


def grid(figures: Iterable[str], columns: int = 2) -> str:
    """Lay out figures in two or three columns; a single figure takes one of two columns."""
    content = "".join(figures)
    return f'<div class="grid columns{min(max(columns, 2), 3)}">{content}</div>' if content else ""


def column_layout(parts: Sequence[str]) -> str:
    """Lay out pieces of HTML side by side, one per column."""
    return grid((f"<div>{part}</div>" for part in parts), len(parts))


def bullets(sentences: Iterable[str]) -> str:
    """Bullet list of sentences; empty if there are none."""
    texts = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences if sentence)
    return f"<ul>{texts}</ul>" if texts else ""


def table(headers: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """Table whose first column names the rows; the other columns hold numbers or short words.

    Units are part of the headers: ``"peak (N m)"``.
    """
    return _table(f"<tr>{_header_cells(headers)}</tr>", rows, caption)


def text_table(headers: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """Table whose cells hold text, aligned to the left."""
    return _table(f"<tr>{_header_cells(headers)}</tr>", rows, caption).replace('class="table"', 'class="table text"', 1)


def grouped_table(
    leading_headers: Sequence[str],
    group_names: Sequence[str],
    group_headers: Sequence[str],
    rows: Iterable[Sequence[str]],
    caption: str = "",
) -> str:
    """Table in which the same columns are repeated for several groups, for example recordings.

    Args:
        leading_headers: headers of the columns before the groups.
        group_names: names of the groups, above their columns.
        group_headers: headers of the columns of every group.
        rows: cells, those of the leading columns first.
        caption: caption of the table.
    """
    group_cells = "".join(
        f'<th scope="colgroup" colspan="{len(group_headers)}">{escape(name)}</th>' for name in group_names
    )
    blank = f'<td colspan="{len(leading_headers)}"></td>'
    header_cells = _header_cells([*leading_headers, *[*group_headers] * len(group_names)])
    return _table(f"<tr>{blank}{group_cells}</tr><tr>{header_cells}</tr>", rows, caption)


def annotated_table(headers: Sequence[str], rows: Iterable[tuple[str, str, Sequence[str]]], caption: str = "") -> str:
    """Table whose rows are (name, description, cells); the description is set in small type below the name."""
    body = "".join(
        f'<tr><th scope="row">{escape(name)}<small>{escape(description)}</small></th>'
        f"{''.join(f'<td>{escape(word)}</td>' for word in cells)}</tr>"
        for name, description, cells in rows
    )
    return _table_element(f"<tr>{_header_cells(headers)}</tr>", body, caption)


def _header_cells(words: Sequence[str]) -> str:
    return "".join(f'<th scope="col">{escape(word)}</th>' for word in words)


def _table(headers: str, rows: Iterable[Sequence[str]], caption: str) -> str:
    body = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>{"".join(f"<td>{escape(word)}</td>" for word in row[1:])}</tr>'
        for row in rows
    )
    return _table_element(headers, body, caption)


#: Largest number of rows of a table that is shown open; longer ones fold.
MAX_OPEN_ROWS = 12


def _table_element(headers: str, body: str, caption: str) -> str:
    rows = body.count("<tr>")
    if rows <= MAX_OPEN_ROWS:
        title = f"<caption>{escape(caption)}</caption>" if caption else ""
        return f'<div class="table"><table>{title}<thead>{headers}</thead><tbody>{body}</tbody></table></div>'
    summary = f"{caption.rstrip('.')} ({rows} rows)" if caption else f"Table of {rows} rows"
    content = f'<div class="table"><table><thead>{headers}</thead><tbody>{body}</tbody></table></div>'
    return f"<details><summary>{escape(summary)}</summary>{content}</details>"


def number(value: float | None, digits: int = 3) -> str:
    """Format a number with ``digits`` significant digits, without exponent if short: 0.00123, 45.6, 1230, 1.20e-07.

    Missing numbers (None, NaN) become a dash.
    """
    if value is None or math.isnan(value):
        return DASH
    if math.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    if value == 0.0:
        return "0"
    exponent = math.floor(math.log10(abs(float(f"{value:.{digits - 1}e}"))))
    if not -4 <= exponent < 7:
        return f"{value:.{digits - 1}e}".replace("-", MINUS)
    return f"{value:.{max(digits - 1 - exponent, 0)}f}".replace("-", MINUS)


def si_prefix(unit: str, size: float) -> tuple[float, str]:
    """Return the factor and the prefixed unit for values of this size: 0.002 m is 2 mm.

    >>> si_prefix("m, rad", 0.002)
    (1000.0, 'mm, mrad')
    """
    words = unit.split(", ")
    has_si_unit = all(re.fullmatch(r"(m|rad|N|N m)(/s|/s²|/s\^2)?", word) for word in words)
    if not has_si_unit or not 0.0 < size < 0.1:
        return 1.0, unit
    factor, prefix = (1e3, "m") if size >= 1e-4 else (1e6, "µ")
    return factor, ", ".join(prefix + word for word in words)


def percent(share: float | None) -> str:
    """Format a fraction in percent; two significant digits below 100 %: 0.314 is ``31 %``, 0.0042 is ``0.42 %``."""
    if share is None or math.isnan(share):
        return DASH
    return f"{100 * share:.0f} %" if abs(share) >= 0.0995 else f"{number(100 * share, 2)} %"


def no_break(text: str) -> str:
    """Replace spaces by no-break spaces, so that the text stays on one line."""
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def join_words(words: Sequence[str]) -> str:
    """Join words to an enumeration: ``a, b and c``."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""
