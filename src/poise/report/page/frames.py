"""Key frames: what the motion looks like at its start and at the end of each phase."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence

import numpy as np
import pinocchio
from PIL import Image

from poise.errors import PoiseError
from poise.report.page.html import figure, note, paragraph
from poise.report.page.section import Section
from poise.report.page.sticks import moments
from poise.report.page.subject import Subject
from poise.report.picture import picture
from poise.robots import State

#: Most pictures in a row: more would be too small to see anything.
MOST = 6
#: Pixels of a whole row and of its height: twice what a screen of 1040 shows would be heavy, 1.4 times is sharp.
WIDTH, HEIGHT = 1440, 380
#: Of the pictures' compression: above, files grow and nothing is seen.
QUALITY = 82
#: Bodies that go farther than this, per m of their height, are shown where they began: a picture of the whole way would
#: show them small.
FAR = 0.3


def frames(subjects: Sequence[Subject]) -> Section:
    """A row of pictures for each recording."""
    rows = [_row(subject) for subject in subjects]
    seen = [s for s, row in zip(subjects, rows, strict=True) if "<img" in row]
    green = "The outline of the support polygon is green, the center of mass above the ground red."
    red = "The red spot is the center of mass, projected on the ground."
    legend = "" if not seen else red if not any("contacts" in s.recording for s in seen) else green
    return Section("Key frames", paragraph(legend) + "".join(rows))


def key_samples(subject: Subject) -> list[tuple[str, int]]:
    """Names and numbers of the samples to show: the start, then the end of each phase; without phases, equal steps."""
    if subject.measured and subject.gait is not None:
        return [(moment.name.partition("\n")[0], moment.sample) for moment in moments(subject)[:MOST]]
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
    return strip(gathered(states, turned=subject.measured), names, f"{subject.label}: {', '.join(names)}.")


def strip(states: Sequence[State], names: Sequence[str], caption: str) -> str:
    """Pictures of some postures in a row with a caption, or why there are none."""
    try:
        image = picture(states, WIDTH, HEIGHT, labels=names)
    except PoiseError as error:
        return note(f"{caption.partition(':')[0]}: no pictures here: {error}.")
    return figure(f'<img alt="{states[0].robot.name} in {len(states)} postures" src="{_data(image)}">', caption)


def gathered(states: Sequence[State], turned: bool = False) -> list[State]:
    """The same postures in one place, for bodies that go far; facing x as robots do, if they are to be turned."""
    places = np.array([state.q[:2] for state in states])
    far = FAR * states[0].robot.height
    if not turned and float(np.linalg.norm(places - places[0], axis=1).max()) < far:
        return list(states)
    facing = np.sum([pinocchio.Quaternion(*state.q[[6, 3, 4, 5]]).matrix()[:, 0] for state in states], axis=0)
    angle = -float(np.arctan2(facing[1], facing[0])) if turned else 0.0
    turn = pinocchio.Quaternion(pinocchio.rpy.rpyToMatrix(0.0, 0.0, angle))
    moved = []
    for state in states:
        q = np.array(state.q)
        q[:2] = 0.0
        q[3:7] = (turn * pinocchio.Quaternion(*q[[6, 3, 4, 5]])).coeffs()
        moved.append(state.replace(q=q))
    return moved


def _data(image: np.ndarray) -> str:
    """A picture as text that stands in the page itself."""
    file = io.BytesIO()
    Image.fromarray(image).save(file, "JPEG", quality=QUALITY, optimize=True)
    return f"data:image/jpeg;base64,{base64.b64encode(file.getvalue()).decode()}"
