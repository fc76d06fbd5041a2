"""Key frames: what the motion looks like at its start and at the end of each phase."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence

import numpy as np
from PIL import Image

from poise.errors import PoiseError
from poise.report.page.html import figure, note, paragraph
from poise.report.page.section import Section
from poise.report.page.subject import Subject
from poise.report.picture import picture

#: Most pictures in a row: more would be too small to see anything.
MOST = 6
#: Pixels of a whole row and of its height: twice what a screen of 1040 shows would be heavy, 1.4 times is sharp.
WIDTH, HEIGHT = 1440, 380
#: Of the pictures' compression: above, files grow and nothing is seen.
QUALITY = 82


def frames(subjects: Sequence[Subject]) -> Section:
    """A row of pictures for each recording."""
    rows = [_row(subject) for subject in subjects]
    seen = any("<img" in row for row in rows)
    legend = "The outline of the support polygon is green, the center of mass above the ground red." if seen else ""
    return Section("Key frames", paragraph(legend) + "".join(rows))


def key_samples(subject: Subject) -> list[tuple[str, int]]:
    """Names and numbers of the samples to show: the start, then the end of each phase; without phases, equal steps."""
    n, time = len(subject.recording), subject.recording.time
    phases = [phase for phase in subject.phases if phase.name]
    if not 1 < len(phases) < MOST:
        spread = np.unique(np.linspace(0, n - 1, MOST).astype(int)).tolist()
        return [(f"{time[i]:.1f} s", i) for i in spread]
    ends = [max(int(np.searchsorted(time, phase.end - 1e-9)) - 1, 0) for phase in phases]
    return [("start", 0), *((f"end of {p.name}", end) for p, end in zip(phases, ends, strict=True))]


def _row(subject: Subject) -> str:
    if subject.robot is None or not len(subject.recording):
        return note(subject.lacks("pictures can be drawn without its robot's model"))
    names, states = [], []
    for name, i in key_samples(subject):
        try:
            states.append(subject.recording.state(i, subject.robot))
            names.append(name)
        except PoiseError:  # a state that went astray cannot be drawn
            continue
    if not states:
        return note(subject.lacks("pictures can be drawn of states that are not finite"))
    try:
        image = picture(states, WIDTH, HEIGHT, labels=names)
    except PoiseError as error:
        return note(f"{subject.label}: no pictures here: {error}.")
    shown = f"{subject.label}: {', '.join(names)}."
    return figure(f'<img alt="{subject.robot_name} in {len(states)} postures" src="{_data(image)}">', shown)


def _data(image: np.ndarray) -> str:
    """A picture as text that stands in the page itself."""
    file = io.BytesIO()
    Image.fromarray(image).save(file, "JPEG", quality=QUALITY, optimize=True)
    return f"data:image/jpeg;base64,{base64.b64encode(file.getvalue()).decode()}"
