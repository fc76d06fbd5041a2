"""HTML elements: paragraphs, tables, figures, and numbers with a sensible number of digits."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from html import escape

#: What stands where a number does not exist.
NONE = "\N{EN DASH}"
MINUS, TIMES = "\N{MINUS SIGN}", "\N{MULTIPLICATION SIGN}"


def paragraph(*sentences: str) -> str:
    """Sentences in a row; empty ones are left out, and so is a paragraph of none."""
    said = [escape(sentence) for sentence in sentences if sentence]
    return f"<p>{' '.join(said)}</p>" if said else ""


def note(*sentences: str) -> str:
    """What is absent or went wrong, set apart from what is seen."""
    said = [escape(sentence) for sentence in sentences if sentence]
    return f'<p class="note">{" ".join(said)}</p>' if said else ""


def heading(text: str) -> str:
    """A title inside a section."""
    return f"<h3>{escape(text)}</h3>"


def figure(drawing: str, caption: str) -> str:
    """A drawing, which is HTML already, above its caption."""
    return f"<figure>{drawing}<figcaption>{escape(caption)}</figcaption></figure>"


def beside(figures: Iterable[str], columns: int = 2) -> str:
    """Figures side by side, in two columns or three; one alone has a column for itself and leaves the other free."""
    whole = "".join(figures)
    return f'<div class="beside across{min(max(columns, 2), 3)}">{whole}</div>' if whole else ""


def columns(parts: Sequence[str]) -> str:
    """Pieces of HTML side by side, each in a column of its own with all that belongs to it."""
    return beside((f"<div>{part}</div>" for part in parts), len(parts))


def bullets(sentences: Iterable[str]) -> str:
    """Sentences below each other; nothing if there are none."""
    said = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences if sentence)
    return f"<ul>{said}</ul>" if said else ""


def table(head: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """A table whose first column names its rows; all others hold numbers or short words.

    Units stand in the head: ``"peak (N m)"``.
    """
    return _table(f"<tr>{_heads(head)}</tr>", rows, caption)


def wordy(head: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """A table whose cells hold words, which begin at the left."""
    return _table(f"<tr>{_heads(head)}</tr>", rows, caption).replace('class="table"', 'class="table words"', 1)


def grouped(
    first: Sequence[str], groups: Sequence[str], each: Sequence[str], rows: Iterable[Sequence[str]], caption: str = ""
) -> str:
    """A table in which the same columns come again for each of several groups, such as recordings.

    Args:
        first: heads of the columns before.
        groups: names that stand above.
        each: heads of the columns of every group.
    """
    above = "".join(f'<th scope="colgroup" colspan="{len(each)}">{escape(name)}</th>' for name in groups)
    blank = f'<td colspan="{len(first)}"></td>'
    return _table(f"<tr>{blank}{above}</tr><tr>{_heads([*first, *[*each] * len(groups)])}</tr>", rows, caption)


def explained(head: Sequence[str], rows: Iterable[tuple[str, str, Sequence[str]]], caption: str = "") -> str:
    """A table whose rows have a name, a sentence below it in small letters, and cells."""
    body = "".join(
        f'<tr><th scope="row">{escape(name)}<small>{escape(about)}</small></th>'
        f"{''.join(f'<td>{escape(word)}</td>' for word in cells)}</tr>"
        for name, about, cells in rows
    )
    return _framed(f"<tr>{_heads(head)}</tr>", body, caption)


def _heads(words: Sequence[str]) -> str:
    return "".join(f'<th scope="col">{escape(word)}</th>' for word in words)


def _table(head: str, rows: Iterable[Sequence[str]], caption: str) -> str:
    body = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>{"".join(f"<td>{escape(word)}</td>" for word in row[1:])}</tr>'
        for row in rows
    )
    return _framed(head, body, caption)


def _framed(head: str, body: str, caption: str) -> str:
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f'<div class="table"><table>{title}<thead>{head}</thead><tbody>{body}</tbody></table></div>'


def number(value: float | None, digits: int = 3) -> str:
    """A number with so many digits that count, in plain notation where that is short: 0.00123, 45.6, 1230, 1.2e-07."""
    if value is None or math.isnan(value):
        return NONE
    if math.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    if value == 0.0:
        return "0"
    size = math.floor(math.log10(abs(float(f"{value:.{digits - 1}e}"))))
    if not -4 <= size < 7:
        return f"{value:.{digits - 1}e}".replace("-", MINUS)
    return f"{value:.{max(digits - 1 - size, 0)}f}".replace("-", MINUS)


def prefixed(unit: str, size: float) -> tuple[float, str]:
    """A factor and a unit in which values of this size read well: 0.002 m is 2 mm.

    >>> prefixed("m, rad", 0.002)
    (1000.0, 'mm, mrad')
    """
    words = unit.split(", ")
    plain = all(re.fullmatch(r"(m|rad|N|N m)(/s|/s²|/s\^2)?", word) for word in words)
    if not plain or not 0.0 < size < 0.1:
        return 1.0, unit
    factor, prefix = (1e3, "m") if size >= 1e-4 else (1e6, "µ")
    return factor, ", ".join(prefix + word for word in words)


def percent(share: float | None) -> str:
    """A share in per cent, with two digits that count below a hundred: 0.314 is ``31 %``, 0.0042 is ``0.42 %``."""
    if share is None or math.isnan(share):
        return NONE
    return f"{100 * share:.0f} %" if abs(share) >= 0.0995 else f"{number(100 * share, 2)} %"


def unbroken(text: str) -> str:
    """The same text, kept in one line."""
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def listed(words: Sequence[str]) -> str:
    """Words in a sentence: ``a, b and c``."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""
