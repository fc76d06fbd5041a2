"""The report on one or more recordings: reading files, the overview section and the whole page.

>>> from poise import report
>>> report.save_page("r.html", {"kinematic": one, "torque": other})
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from poise.errors import PoiseError, RecordingError
from poise.html import NONE, Section, assembled, grouped, listed, note, paragraph, percent, saved, table
from poise.recording import Recording, different, load_recording
from poise.report.balance_view import balance
from poise.report.control_quality import errors, smoothness, timing
from poise.report.cycle_curves import cycle, gait_angles
from poise.report.force_charts import forces, soles
from poise.report.guided_motion import loci
from poise.report.joint_angles import comparison, trajectories
from poise.report.key_frames import frames, markers, sticks
from poise.report.recording_view import Subject, subjects
from poise.report.torque_charts import limits, torques
from poise.report.walk_summary import footprints, measures, momentum


def read_recordings(paths: Iterable[str | os.PathLike[str]]) -> dict[str, Recording]:
    """Recordings by short names: those of their files, with their folders where these alone tell them apart.

    What is intact of a file that was cut off is taken; ``recording.complete`` is then False, and the page says so.

    >>> list(read(["runs/slow.poise", "runs/fast.poise"]))
    ['slow', 'fast']
    """
    places = [Path(path) for path in paths]
    found = [_loaded(place) for place in places]
    stems = [place.stem for place in places]
    labels = [
        stem if stems.count(stem) == 1 else f"{place.absolute().parent.name}/{stem}"
        for place, stem in zip(places, stems, strict=True)
    ]
    return dict(zip(different(labels), found, strict=True))


def _loaded(path: Path) -> Recording:
    try:
        return load_recording(path)
    except RecordingError as whole:
        try:
            return load_recording(path, partial=True)
        except RecordingError:
            raise whole from None


# -- Overview: what was recorded, and the figures that matter most ---------------------------------------------------


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


# -- One self-contained page about one or more recordings ------------------------------------------------------------


#: What stands on the page, in this order: each makes its section from the same recordings; those of walks make none
#: where nobody walks, that of soles none where no force cells are, and those of markers none where nobody wore any.
RECORDING_SECTIONS: tuple[Callable[[Sequence[Subject]], Section | None], ...] = (
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
    for section in (each for each in RECORDING_SECTIONS if each not in needless):
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
