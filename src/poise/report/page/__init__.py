"""One self-contained page about one or more recordings: data in, HTML out.

>>> from poise import report
>>> report.save_page("r.html", {"kinematic": one, "torque": other})
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path

from poise.errors import PoiseError
from poise.recording import Recording
from poise.report.page.balance import balance
from poise.report.page.comparison import comparison
from poise.report.page.cycle import cycle
from poise.report.page.errors import errors
from poise.report.page.footprints import footprints
from poise.report.page.forces import forces
from poise.report.page.frames import frames
from poise.report.page.html import listed
from poise.report.page.joints import trajectories
from poise.report.page.limits import limits
from poise.report.page.loci import loci
from poise.report.page.measures import measures
from poise.report.page.momentum import momentum
from poise.report.page.overview import overview
from poise.report.page.section import Section
from poise.report.page.smoothness import smoothness
from poise.report.page.soles import soles
from poise.report.page.style import STYLE
from poise.report.page.subject import Subject, subjects
from poise.report.page.timing import timing
from poise.report.page.torques import torques

__all__ = ["SECTIONS", "page", "save_page"]

#: What stands on the page, in this order: each makes its section from the same recordings; those of walks make none
#: where nobody walks, and that of soles none where no force cells are.
SECTIONS: tuple[Callable[[Sequence[Subject]], Section | None], ...] = (
    overview, frames, loci, footprints, measures, cycle, momentum, trajectories, torques, limits, errors, balance,
    forces, soles, timing, comparison, smoothness,
)  # fmt: skip


def page(recordings: Mapping[str, Recording], progress: Callable[[str], object] | None = None) -> str:
    """HTML about some recordings, with all figures in it: nothing is fetched from anywhere.

    What a recording does not have, such as the torques of a kinematic one, its sections say.

    Args:
        recordings: by the names that the page uses, in the order in which they are shown.
        progress: called with the name of each section before it is made.
    """
    if not recordings:
        raise PoiseError("a report needs recordings and none was given; give one or more")
    shown = subjects(recordings)
    made = []
    for section in SECTIONS:
        if progress is not None:
            progress(section.__name__)
        made.append(section(shown))
    return _assembled(f"{listed(list(recordings))}", [section for section in made if section is not None])


def save_page(
    path: str | os.PathLike[str],
    recordings: Mapping[str, Recording],
    progress: Callable[[str], object] | None = None,
) -> Path:
    """Writes a `page` to a file and returns its path; the file appears whole or not at all.

    >>> save_page("r.html", {"reach": poise.load_recording("reach.poise")})
    """
    file = Path(path)
    if file.is_dir():
        raise PoiseError(f"save_page: {file} is a folder; give the name of a file in it")
    if not file.absolute().parent.is_dir():
        raise PoiseError(f"save_page: there is no folder {file.parent}; make it first")
    text = page(recordings, progress)
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        beside.write_text(text, encoding="utf-8")
        os.replace(beside, file)
    except OSError as error:
        raise PoiseError(f"save_page: {file} cannot be written: {error.strerror or error}") from error
    finally:
        beside.unlink(missing_ok=True)
    return file


def _assembled(title: str, sections: Sequence[Section]) -> str:
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
