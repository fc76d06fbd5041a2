"""One self-contained page about one or more recordings: data in, HTML out.

>>> from poise import report
>>> report.save_page("r.html", {"kinematic": one, "torque": other})
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
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
from poise.report.page.gait_angles import gait_angles
from poise.report.page.html import listed
from poise.report.page.joints import trajectories
from poise.report.page.limits import limits
from poise.report.page.loci import loci
from poise.report.page.markers import markers
from poise.report.page.measures import measures
from poise.report.page.momentum import momentum
from poise.report.page.overview import overview
from poise.report.page.section import Section
from poise.report.page.smoothness import smoothness
from poise.report.page.soles import soles
from poise.report.page.sticks import sticks
from poise.report.page.subject import Subject, subjects
from poise.report.page.timing import timing
from poise.report.page.torques import torques
from poise.report.page.whole import assembled, saved

__all__ = ["SECTIONS", "page", "save_page"]

#: What stands on the page, in this order: each makes its section from the same recordings; those of walks make none
#: where nobody walks, that of soles none where no force cells are, and those of markers none where nobody wore any.
SECTIONS: tuple[Callable[[Sequence[Subject]], Section | None], ...] = (
    overview, frames, sticks, markers, gait_angles, loci, footprints, measures, cycle, momentum, trajectories, torques,
    limits, errors, balance, forces, soles, timing, comparison, smoothness,
)  # fmt: skip
#: Of these, what tells of a controller or of flat soles, left out where all motions are people's own; and what tells of
#: torques and forces, left out where these are not known of any.
CONTROLLED, LOADED = (errors, balance, timing), (torques, limits, forces)


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
    needless = [*CONTROLLED] if all(subject.measured for subject in shown) else []
    needless += LOADED if all(subject.unloaded for subject in shown) else []
    for section in (each for each in SECTIONS if each not in needless):
        if progress is not None:
            progress(section.__name__)
        made.append(section(shown))
    return assembled(f"{listed(list(recordings))}", [section for section in made if section is not None])


def save_page(
    path: str | os.PathLike[str],
    recordings: Mapping[str, Recording],
    progress: Callable[[str], object] | None = None,
) -> Path:
    """Writes a `page` to a file and returns its path; the file appears whole or not at all.

    >>> save_page("r.html", {"reach": poise.load_recording("reach.poise")})
    """
    return saved(path, lambda: page(recordings, progress))
