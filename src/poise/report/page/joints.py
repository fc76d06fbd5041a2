"""Joints of several recordings: how far their angles are apart, and what torques their limbs take."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from poise.report.page.html import beside, grouped, heading, note, number, paragraph
from poise.report.page.overlay import Scaled, overlay
from poise.report.page.subject import Subject

Array = NDArray[np.float64]

#: Joints whose angles are drawn: those that differ most.
SHOWN = 6


def angles(scaled: Sequence[Scaled]) -> list[str]:
    """Angles of the joints that recordings share with the first one, and how far they are from its angles."""
    first = scaled[0][0]
    if "q" not in first.recording:
        return [note(first.lacks("joint angles were recorded"))]
    own = set(first.recording.labels["q"][7:])
    having = [(s, n) for s, n in scaled if "q" in s.recording and own & set(s.recording.labels["q"][7:])]
    names = {s.label for s, _ in having}
    strange = [note(s.lacks(f"joint has the name of one of {first.label}")) for s, _ in scaled if s.label not in names]
    if len(having) < 2:
        return strange
    shared = set.intersection(*(set(s.recording.labels["q"][7:]) for s, _ in having))
    common = [name for name in first.recording.labels["q"][7:] if name in shared]
    values = [np.degrees(np.stack([n[f"q/{name}"] for name in common], axis=1)) for _, n in having]
    apart = np.array([np.sqrt(np.nanmean((each - values[0]) ** 2, axis=0)) for each in values[1:]])
    order = np.argsort(-apart.max(axis=0))[:SHOWN]
    figures = []
    for k in order:
        difference = ", ".join(f"{number(row[k])}° ({s.label})" for row, (s, _) in zip(apart, having[1:], strict=True))
        caption = f"{common[k]}: rms difference {difference}."
        figures.append(overlay(having, [each[:, k] for each in values], "angle (°)", caption))
    rows = [
        (limb.name, *(word for row in apart for word in _worst(row, common, limb.joints)))
        for limb in first.limbs
        if set(limb.joints) & shared
    ]
    summary = grouped(["limb"], [s.label for s, _ in having[1:]], ("rms (°)", "most at"), rows)
    said = f"Differences are from {first.label}; the {len(order)} joints that differ most are drawn."
    return [heading("Joint angles"), paragraph(said), *strange, beside(figures), summary]


def _worst(apart: Array, common: Sequence[str], joints: Sequence[str]) -> tuple[str, str]:
    """Root mean square difference over the joints of a limb, and the joint with the largest."""
    own = [(float(apart[k]), name) for k, name in enumerate(common) if name in joints]
    most = max(own)
    return number(float(np.sqrt(np.mean([size**2 for size, _ in own])))), f"{most[1]}, {number(most[0])}°"


def efforts(scaled: Sequence[Scaled]) -> list[str]:
    """Length of the torques of each limb, per mass, so that robots and people can be compared."""
    having = [(s, own) for s, own in scaled if s.torque is not None and s.robot is not None]
    if len(having) < 2:
        return [note("Torques are not compared: fewer than two of the recordings have torques and a known mass.")]
    figures = []
    for name in [limb.name for limb in having[0][0].limbs]:
        values = [(pair, effort(pair[0], name)) for pair in having]
        known = [(pair, pair[1].at(each)) for pair, each in values if each is not None]
        if len(known) > 1:
            pairs, lengths = [pair for pair, _ in known], [each for _, each in known]
            caption = f"{name}: length of the torques of its joints, per mass."
            figures.append(overlay(pairs, lengths, "torque per mass (N m/kg)", caption, from_zero=True))
    return [heading("Torques of limbs"), beside(figures)]


def effort(subject: Subject, limb: str) -> Array | None:
    """``|τ| / m`` over the joints of a limb, per sample, N m/kg; None if there is no such limb."""
    joints = next((each.joints for each in subject.limbs if each.name == limb), ())
    columns = [subject.joints.index(joint) for joint in joints if joint in subject.joints]
    if not columns or subject.torque is None or subject.robot is None:
        return None
    return np.asarray(np.linalg.norm(subject.torque[:, columns], axis=1) / subject.robot.mass)
