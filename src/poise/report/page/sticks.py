"""Stick figure: the joint centers of a person from the side and from the front, with the markers that were measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.report.page.gait import moments_of
from poise.report.page.html import note, paragraph
from poise.report.page.postures import Stick, drawable, facing, row, stick
from poise.report.page.section import Section
from poise.report.page.subject import Subject

Array = NDArray[np.float64]

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
        forward = heading(s, [moment.sample for moment in shown])
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


def heading(subject: Subject, samples: Sequence[int]) -> Array:
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
