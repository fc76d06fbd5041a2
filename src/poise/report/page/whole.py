"""A whole page: sections below each other in one file, which appears whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

from poise.errors import PoiseError
from poise.report.page.section import Section
from poise.report.page.style import STYLE


def assembled(title: str, sections: Sequence[Section]) -> str:
    """HTML with its style and links to its sections; nothing is fetched from anywhere."""
    links = "".join(f'<li><a href="#{s.anchor}">{escape(s.title)}</a></li>' for s in sections)
    bodies = "\n".join(f'<section id="{s.anchor}"><h2>{escape(s.title)}</h2>\n{s.html}</section>' for s in sections)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>
{STYLE}
</style>
</head>
<body>
<h1>{escape(title)}</h1>
<p class="made">A report by Poise. Everything is in this file.</p>
<nav><ul>{links}</ul></nav>
{bodies}
</body>
</html>
"""


def saved(path: str | os.PathLike[str], made: Callable[[], str]) -> Path:
    """Writes a page to a file and returns its path; what is wrong with the place is said before the page is made."""
    file = Path(path)
    if file.is_dir():
        raise PoiseError(f"save_page: {file} is a folder; give the name of a file in it")
    if not file.absolute().parent.is_dir():
        raise PoiseError(f"save_page: there is no folder {file.parent}; make it first")
    text = made()
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        beside.write_text(text, encoding="utf-8")
        os.replace(beside, file)
    except OSError as error:
        raise PoiseError(f"save_page: {file} cannot be written: {error.strerror or error}") from error
    finally:
        beside.unlink(missing_ok=True)
    return file
