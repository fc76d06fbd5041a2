"""Report sections that show the body: key frames, stick figures and marker residuals."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.errors import PoiseError
from poise.extras import PIL
from poise.html import (
    COLORS,
    HALF,
    SHADE,
    Section,
    Stick,
    bullets,
    columns,
    curve,
    drawable,
    drawing,
    facing,
    figure,
    heading,
    note,
    number,
    paragraph,
    percent,
    row,
    shade,
    stick,
    table,
)
from poise.rendering import picture
from poise.report.recording_view import Subject, moments_of, span
from poise.robots import State

#: The channel of a person's markers.
MEASURED = "markers/measured"
#: Moments that are shown of a motion without a gait cycle.
COUNT = 7


class Moment(NamedTuple):
    """When something is shown: sample, and what is written below."""

    sample: int
    name: str


def sticks(subjects: Sequence[Subject]) -> Section | None:
    """Side and front view of each recording that has markers; None if there is none."""
    having = [s for s in subjects if MEASURED in s.recording and len(s.recording)]
    if not having:
        return None
    parts = [
        paragraph(
            "Lines go through the joint centers of the fitted body, blue on its left and orange on its right; green "
            "dots are the markers that were measured. Each posture stands in its own place, at its true size."
        )
    ]
    for s in having:
        if s.robot is None or not drawable(s.robot):
            parts.append(note(s.lacks("joint centers are known without the model of a human body")))
            continue
        shown = moments(s)
        figures = [standing(s, moment.sample) for moment in shown]
        forward = facing_direction(s, [moment.sample for moment in shown])
        for view in ("side", "front"):
            what = "over the motion" if s.gait is None else f"over a gait cycle of its {s.gait.middle.side} foot"
            caption = f"{s.label}, seen from {'its right' if view == 'side' else 'the front'} {what}."
            parts.append(row(figures, [moment.name for moment in shown], forward, view, caption))
    return Section("Stick figure", "".join(parts))


def moments(subject: Subject) -> list[Moment]:
    """The events of the gait cycle in the middle of the motion and the middles of its single supports; else equal
    steps."""
    time = subject.recording.time
    if subject.gait is None:
        spread = np.unique(np.linspace(0, len(time) - 1, COUNT).astype(int)).tolist()
        return [Moment(i, f"{time[i]:.2f} s") for i in spread]
    shown = moments_of(subject.gait.middle)
    return [Moment(int(np.argmin(np.abs(time - at))), name) for at, name in shown]


def facing_direction(subject: Subject, samples: Sequence[int]) -> Array:
    """Where the body faces on average, a horizontal unit vector (3)."""
    ahead = np.sum([_turned(q) for q in subject.recording["q"][list(samples)]], axis=0)
    return facing(ahead)


def _turned(q: Array) -> Array:
    """The forward axis of a base in the world."""
    return np.asarray(pinocchio.Quaternion(*q[[6, 3, 4, 5]]).matrix()[:, 0])


def standing(subject: Subject, sample: int) -> Stick:
    """The body and the markers of a recording at a sample."""
    assert subject.robot is not None
    recording = subject.recording
    return stick(subject.robot, recording["q"][sample], np.asarray(recording[MEASURED][sample]).reshape(-1, 3))


# -- Markers ---------------------------------------------------------------------------------------------------------


#: Markers in the table: those that are farthest off; the figure has all.
SHOWN = 12
#: Height of a row of the figure, and room for the names of markers, in units of the drawing.
ROW, NAMES = 11.5, 96.0
#: Root mean square distance (mm) below which a whole-body fit is a good one: skin moves that much over bone.
GOOD = 12.0
WORDS = (
    "The distance of a marker is that between where it was measured and where it sits on the fitted body. Skin moves "
    f"over bone by about a centimetre; a whole body that is fitted to less than {GOOD:.0f} mm is fitted well. A single "
    "marker that is far off throughout sits elsewhere than assumed, one that is far off for a moment was mistaken for "
    "another."
)


def markers(subjects: Sequence[Subject]) -> Section | None:
    """Distances by marker and over time, and the notes of the fit; None if no recording has markers."""
    having = [s for s in subjects if "markers/distance" in s.recording and len(s.recording)]
    if not having:
        return None
    parts = [paragraph(WORDS), _table(having)]
    for s in having:
        parts += [heading(s.label)] if len(having) > 1 else []
        parts.append(columns([_bars(s), _times(s) + _farthest(s)]))
        notes = [str(each) for each in s.recording.provenance.get("notes") or ()]
        parts += [heading("How the body was fitted"), bullets(notes)] if notes else []
    return Section("Markers", "".join(parts))


def _distances(subject: Subject) -> Array:
    """mm, n x m."""
    return np.asarray(1e3 * subject.recording["markers/distance"])


def _table(subjects: Sequence[Subject]) -> str:
    rows = []
    for s in subjects:
        apart, names = _distances(s), s.recording.labels["markers/distance"]
        frame, marker = np.unravel_index(int(np.nanargmax(apart)), apart.shape)
        rows.append(
            (
                s.label,
                str(len(names)),
                number(_rms(apart)),
                number(float(np.nanpercentile(apart, 95))),
                f"{number(float(apart[frame, marker]))}, {names[marker]} at {s.recording.time[frame]:.2f} s",
                percent(float(np.isfinite(apart).mean())),
            )
        )
    head = ["recording", "markers", "rms (mm)", "95 % are below (mm)", "largest (mm)", "seen"]
    return table(head, rows)


def _rms(values: Array, axis: int | None = None) -> float:
    return float(np.sqrt(np.nanmean(values**2, axis=axis)))


def _each(apart: Array) -> tuple[Array, Array]:
    """Root mean square and largest distance of every marker, mm; NaN of one that is never seen."""
    known = np.where(np.isfinite(apart), apart, 0.0)
    count = np.isfinite(apart).sum(axis=0)
    rms = np.where(count > 0, np.sqrt((known**2).sum(axis=0) / np.maximum(count, 1)), np.nan)
    return rms, np.where(count > 0, known.max(axis=0), np.nan)


def _bars(subject: Subject) -> str:
    names, apart = subject.recording.labels["markers/distance"], _distances(subject)
    rms, most = _each(apart)
    order = np.argsort(-np.nan_to_num(rms, nan=-1.0))
    rows = np.arange(len(order))
    with drawing(f"Distance of each marker of {subject.label}", HALF, 50.0 + ROW * len(order), NAMES) as drawn:
        axes = drawn.axes
        for k in rows[1::2]:
            axes.axhspan(k - 0.5, k + 0.5, color=SHADE, alpha=0.55, linewidth=0, zorder=0)
        axes.barh(rows, rms[order], height=0.6, color=COLORS[0], label="root mean square")
        axes.plot(most[order], rows, "o", color=COLORS[1], markersize=3.2, label="largest")
        axes.set_yticks(rows, [names[k] for k in order])
        axes.tick_params(axis="y", length=0, labelsize=7.5)
        axes.set(xlabel="distance (mm)", ylim=(len(rows) - 0.5, -0.5))
        axes.set_xlim(left=0.0)
        drawn.legend(2)
    return figure(drawn.svg, f"{subject.label}: each marker from its place on the body, the farthest first.")


def _times(subject: Subject) -> str:
    recording, apart = subject.recording, _distances(subject)
    names = recording.labels["markers/distance"]
    worst = int(np.nanargmax(_each(apart)[1]))
    with np.errstate(invalid="ignore"):
        whole = np.sqrt(np.nanmean(np.where(np.isfinite(apart).any(axis=1, keepdims=True), apart, np.inf) ** 2, axis=1))
    whole = np.where(np.isfinite(whole), whole, np.nan)
    with drawing(f"Distance of the markers of {subject.label} over time", HALF, 160.0) as drawn:
        line = partial(curve, drawn.axes, recording.time)
        line(apart[:, worst], color=COLORS[1], label=f"{names[worst]}, which has the largest", linewidth=0.9)
        line(whole, color=COLORS[0], label="root mean square of all")
        shade(drawn.axes, subject.phases, HALF)
        drawn.axes.set(xlabel="time (s)", ylabel="distance (mm)", xlim=span(subject))
        drawn.axes.set_ylim(bottom=0.0)
        drawn.legend(2)
    said = f"at most {number(float(np.nanmax(apart)))} mm, at {names[worst]}"
    return figure(drawn.svg, f"{subject.label} over time: {number(_rms(apart))} mm root mean square, {said}.")


def _farthest(subject: Subject) -> str:
    names, apart = subject.recording.labels["markers/distance"], _distances(subject)
    known = subject.recording.provenance.get("markers") or {}
    rms, most = _each(apart)
    rows = []
    for k in np.argsort(-np.nan_to_num(rms, nan=-1.0))[:SHOWN]:
        link = str((known.get(names[k]) or {}).get("link", "")).replace("_", " ")
        seen = percent(float(np.isfinite(apart[:, k]).mean()))
        rows.append((names[k], link, number(float(rms[k])), number(float(most[k])), seen))
    head = ["marker", "on the", "rms (mm)", "largest (mm)", "seen"]
    return table(head, rows, f"The {len(rows)} that are farthest off.")


# -- Key frames ------------------------------------------------------------------------------------------------------


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
    PIL.Image.fromarray(image).save(file, "JPEG", quality=QUALITY, optimize=True)
    return f"data:image/jpeg;base64,{base64.b64encode(file.getvalue()).decode()}"
