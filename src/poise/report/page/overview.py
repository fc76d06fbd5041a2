"""Overview: what was recorded, and the figures that matter most."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from poise.report.page.html import NONE, grouped, listed, note, paragraph, percent, table
from poise.report.page.section import Section
from poise.report.page.subject import Subject

#: Phases that are told one by one; a walk has more.
MANY = 12


def overview(subjects: Sequence[Subject]) -> Section:
    """Where the recordings come from, side by side, with what is missing of each."""
    facts = {
        "robot": [_robot(s) for s in subjects],
        "person": [_person(s) for s in subjects],
        "trial": [_fact(s, "trial") for s in subjects],
        "behavior": [_fact(s, "behavior", "profile") for s in subjects],
        "controller": [_controller(s) for s in subjects],
        "plant": [_fact(s, "plant") for s in subjects],
        "duration (s)": [f"{s.recording.duration:.2f}" for s in subjects],
        "samples": [f"{len(s.recording)}" for s in subjects],
        "control period (ms)": [NONE if s.measured else _period(s) for s in subjects],
        "frames a second": [_rate(s) if s.measured else NONE for s in subjects],
        "fallbacks": [NONE if s.measured else str(sum(s.recording.fallbacks().values())) for s in subjects],
        "largest share of a torque limit": [percent(torque_share(s)) for s in subjects],
        "date": [_fact(s, "date").partition("+")[0].replace("T", " ") for s in subjects],
        "Poise": [_fact(s, "poise") for s in subjects],
    }
    rows = [(name, *values) for name, values in facts.items() if any(value != NONE for value in values)]
    notes = [note(f"{s.label}: {sentence}") for s in subjects for sentence in s.notes]
    return Section("Overview", "".join([*notes, table(["", *(s.label for s in subjects)], rows), _phases(subjects)]))


def torque_share(subject: Subject) -> float | None:
    """The largest |τ| / limit of all joints and times; None without torques or model."""
    torque, limits = subject.torque, subject.torque_limits if subject.torque is not None else None
    if torque is None or limits is None or np.isnan(limits).all():
        return None
    return float(np.nanmax(np.abs(torque) / limits))


def _phases(subjects: Sequence[Subject]) -> str:
    """One table of phases if all recordings have the same, else one for each."""
    if not any(s.phases for s in subjects):
        return paragraph("No phases are named in " + ("this recording." if len(subjects) == 1 else "these recordings."))
    if max(len(s.phases) for s in subjects) > MANY:
        return _phase_counts([s for s in subjects if s.phases])
    names = {tuple(phase.name for phase in s.phases) for s in subjects}
    if len(names) > 1:
        return "".join(_phase_table([s]) for s in subjects if s.phases)
    return _phase_table(subjects)


def _phase_table(subjects: Sequence[Subject]) -> str:
    rows = [
        (f"{i + 1}  {phase.name or '(no name)'}", *(_times(s, i) for s in subjects))
        for i, phase in enumerate(subjects[0].phases)
    ]
    return table(
        ["phase", *(f"{s.label} (s)" for s in subjects)], rows, f"Phases of {listed([s.label for s in subjects])}."
    )


def _phase_counts(subjects: Sequence[Subject]) -> str:
    """Phases that come again and again, as those of a walk: how often, and how long on average."""
    names = list(dict.fromkeys(phase.name for s in subjects for phase in s.phases))
    rows = []
    for name in names:
        cells = []
        for s in subjects:
            lengths = [phase.end - phase.begin for phase in s.phases if phase.name == name]
            cells += [str(len(lengths)), f"{np.mean(lengths):.2f}" if lengths else NONE]
        rows.append((name or "(no name)", *cells))
    caption = "Phases: how often there is one, and how long it lasts on average."
    return grouped(["phase"], [s.label for s in subjects], ("times", "mean (s)"), rows, caption)


def _times(subject: Subject, i: int) -> str:
    return f"{subject.phases[i].begin:.2f} to {subject.phases[i].end:.2f}"


def _robot(subject: Subject) -> str:
    robot = subject.robot
    if robot is None:
        return subject.robot_name
    return f"{subject.robot_name}, {len(robot.joints)} joints, {robot.mass:.1f} kg"


def _fact(subject: Subject, *keys: str) -> str:
    values = [str(subject.recording.provenance[key]) for key in keys if subject.recording.provenance.get(key)]
    return ", ".join(values) or NONE


def _controller(subject: Subject) -> str:
    given = subject.recording.provenance.get("controller")
    if not isinstance(given, dict):
        return str(given) if given else NONE
    solver = str(given.get("solver") or "").partition("(")[0]
    return ", ".join(word for word in (given.get("name"), solver) if word) or NONE


def _person(subject: Subject) -> str:
    """Who was measured, as far as it is known."""
    if not subject.measured:
        return NONE
    parts = subject.recording.provenance.get("parts") or {}
    known = [(parts.get("height"), "{:.2f} m"), (parts.get("mass"), "{:.1f} kg"), (parts.get("sex"), "{}")]
    words = [subject.recording.provenance.get("subject"), *(form.format(value) for value, form in known if value)]
    return ", ".join(str(word) for word in words if word) or NONE


def _rate(subject: Subject) -> str:
    return f"{1.0 / subject.recording.period:.4g}" if subject.recording.period > 0.0 else NONE


def _period(subject: Subject) -> str:
    return f"{1e3 * subject.recording.period:.4g}" if len(subject.recording) > 1 else NONE
