"""Report page on one or more recordings: reading of files, summary, overview, and assembly of the page.

>>> from poise import report
>>> report.save_page("r.html", {"kinematic": one, "torque": other})
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from poise.errors import PoiseError, RecordingError
from poise.html import (
    DASH,
    Section,
    assemble_page,
    bullets,
    grouped_table,
    join_words,
    note,
    number,
    paragraph,
    percent,
    save_page_file,
    table,
    text_table,
    verdict,
)
from poise.human import FitQuality
from poise.recording import Recording, load_recording, make_unique
from poise.report.balance_view import balance_section
from poise.report.control_quality import has_control_times, smoothness_section, task_errors_section, timing_section
from poise.report.cycle_curves import gait_angles_section, gait_cycle_section
from poise.report.force_charts import contact_forces_section, sole_pressure_section
from poise.report.guided_motion import guided_motion_section
from poise.report.joint_angles import comparison_section, has_joint_angles, joint_angles_section
from poise.report.key_frames import key_frames_section, markers_section, stick_figure_section
from poise.report.recording_view import RecordingView, recording_views
from poise.report.torque_charts import joint_torques_section, torque_limits_section
from poise.report.walk_summary import angular_momentum_section, footprints_section, style_measures_section
from poise.runs import summarize_run


def read_recordings(paths: Iterable[str | os.PathLike[str]]) -> dict[str, Recording]:
    """Load recordings, with labels from their file names; files of equal name are labeled with their folder.

    Of a truncated file, the intact part is loaded; ``recording.complete`` is then False, and the page says so.

    >>> list(read_recordings(["runs/slow.poise", "runs/fast.poise"]))
    ['slow', 'fast']
    """
    file_paths = [Path(path) for path in paths]
    loaded = [_load_intact(path) for path in file_paths]
    stems = [path.stem for path in file_paths]
    labels = [
        stem if stems.count(stem) == 1 else f"{path.absolute().parent.name}/{stem}"
        for path, stem in zip(file_paths, stems, strict=True)
    ]
    return dict(zip(make_unique(labels), loaded, strict=True))


def _load_intact(path: Path) -> Recording:
    try:
        return load_recording(path)
    except RecordingError as error:
        try:
            return load_recording(path, partial=True)
        except RecordingError:
            raise error from None


# -- Summary ---------------------------------------------------------------------------------------------------------


class ViewSummary(NamedTuple):
    """Summary of one recording.

    Attributes:
        succeeded: whether the motion succeeded; None if it was not judged.
        verdict: ``"succeeded"``, ``"failed: "`` and the reasons, or what the recording is if it was not judged.
        motion: the motion and its circumstances; "" if they are unknown.
        figures: name and value of each figure that matters for the motion.
        warnings: sentences about the quality of the motion, without a full stop.
    """

    succeeded: bool | None
    verdict: str
    motion: str
    figures: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]


def summary_section(views: Sequence[RecordingView]) -> Section:
    """Build the first section: the verdict on each recording, a table of figures, and warnings."""
    summaries = [summarize_view(view) for view in views]
    is_single = len(views) == 1
    parts = []
    for view, summary in zip(views, summaries, strict=True):
        text = summary.verdict[:1].upper() + summary.verdict[1:] if is_single else f"{view.label}: {summary.verdict}"
        parts.append(verdict(summary.succeeded, f"{text}.", f"{summary.motion}." if summary.motion else ""))
    names = list(dict.fromkeys(name for summary in summaries for name, _ in summary.figures))
    rows = [(name, *(dict(summary.figures).get(name, DASH) for summary in summaries)) for name in names]
    if rows:
        parts.append(text_table(["", *(view.label for view in views)], rows))
    for view, summary in zip(views, summaries, strict=True):
        label = "Warning" if is_single else f"Warning about {view.label}"
        parts.append(bullets(f"{label}: {warning}." for warning in summary.warnings))
    return Section("Summary", "".join(parts))


def summarize_view(view: RecordingView) -> ViewSummary:
    """Return the summary of a recording: the result of its run if it has one, else what its data tell."""
    result = view.recording.provenance.get("result")
    if isinstance(result, dict):
        try:
            return ViewSummary(*summarize_run(result))
        except (KeyError, TypeError, ValueError):  # written by another version of Poise, or by another program
            pass
    if view.is_measured:
        return _measured_summary(view)
    recording = view.recording
    late, fallbacks = recording.overruns(), recording.fallbacks()
    warnings = [str(late)] if late is not None and late.ticks else []
    warnings += [f"the controller used fallbacks: {', '.join(fallbacks)}"] if fallbacks else []
    figures = (("duration", f"{recording.duration:.2f} s"),) if recording.samples else ()
    fall = recording.provenance.get("fall")
    if isinstance(fall, dict):
        return ViewSummary(False, f"failed: {fall.get('reason') or 'the robot fell'}", "", figures, tuple(warnings))
    return ViewSummary(None, "not judged: the recording has no result of a run", "", figures, tuple(warnings))


def _measured_summary(view: RecordingView) -> ViewSummary:
    """Return the summary of a measured person: how well the model fits the markers, and the gait."""
    figures = [("duration", f"{view.recording.duration:.2f} s")]
    if "markers/distance" in view.recording:
        distance = view.recording["markers/distance"]
        if np.isfinite(distance).any():
            text = f"{number(1e3 * float(np.sqrt(np.nanmean(distance**2))))} mm rms"
            figures.append(("distance of markers from the model", text))
    if view.gait is not None:
        lengths = view.gait.lengths(view.gait.middle_cycle)
        figures.append(("complete gait cycles", str(len(view.gait.cycles))))
        figures.append(("walking speed", f"{number(lengths.speed)} m/s"))
    torques = " with joint torques" if view.torque is not None else ""
    quality = FitQuality.from_summary(view.recording.provenance.get("quality", {}))
    text = f"measured motion of a person{torques}: {quality.verdict}"
    if not quality.usable:
        text += f", {'; '.join(quality.failures)}"
    warnings = tuple(check.message for check in quality.checks if check.level == "warning")
    succeeded = None if quality.verdict == "doubtful" else quality.usable
    return ViewSummary(succeeded, text, "", tuple(figures), warnings)


# -- Overview --------------------------------------------------------------------------------------------------------


#: Largest number of phases listed individually; a walk has more.
MAX_PHASE_ROWS = 12


def overview_section(views: Sequence[RecordingView]) -> Section:
    """Build the section with the provenance of the recordings side by side, notes on missing data, and phases."""
    rows_by_title = {
        "robot": [_robot_text(view) for view in views],
        "person": [_person_text(view) for view in views],
        "trial": [_provenance_text(view, "trial") for view in views],
        "behavior": [_provenance_text(view, "behavior", "profile") for view in views],
        "controller": [_controller_text(view) for view in views],
        "plant": [_provenance_text(view, "plant") for view in views],
        "duration (s)": [f"{view.recording.duration:.2f}" for view in views],
        "samples": [f"{view.recording.samples}" for view in views],
        "control period (ms)": [DASH if view.is_measured else _period_text(view) for view in views],
        "frame rate (Hz)": [_rate_text(view) if view.is_measured else DASH for view in views],
        "fallbacks": [DASH if view.is_measured else str(sum(view.recording.fallbacks().values())) for view in views],
        "largest share of a torque limit": [percent(peak_torque_share(view)) for view in views],
        "date": [_provenance_text(view, "date").partition("+")[0].replace("T", " ") for view in views],
        "Poise": [_provenance_text(view, "poise") for view in views],
    }
    rows = [(name, *values) for name, values in rows_by_title.items() if any(value != DASH for value in values)]
    notes = [note(f"{view.label}: {sentence}") for view in views for sentence in view.notes]
    notes.append(note(_not_recorded_sentence(views)))
    return Section(
        "Overview", "".join([*notes, text_table(["", *(view.label for view in views)], rows), _phase_tables(views)])
    )


def _not_recorded_sentence(views: Sequence[RecordingView]) -> str:
    """Return a sentence on data that no recording has, whose sections are left out; empty if there are none."""
    missing = [
        *(["torques"] if all(view.torque is None for view in views) else []),
        *(["contact forces"] if not any(view.contact_names for view in views) else []),
    ]
    return f"No {' and no '.join(missing)} were recorded." if missing else ""


def peak_torque_share(view: RecordingView) -> float | None:
    """Return the largest |τ| / limit over all joints and samples; None without torques or model."""
    torque, limits = view.torque, view.torque_limits if view.torque is not None else None
    if torque is None or limits is None or np.isnan(limits).all():
        return None
    return float(np.nanmax(np.abs(torque) / limits))


def _phase_tables(views: Sequence[RecordingView]) -> str:
    """Return one table of phases if all recordings have the same phases, else one for each recording."""
    if not any(view.phases for view in views):
        return paragraph("No named phases in " + ("this recording." if len(views) == 1 else "these recordings."))
    if max(len(view.phases) for view in views) > MAX_PHASE_ROWS:
        return _phase_counts([view for view in views if view.phases])
    names = {tuple(phase.name for phase in view.phases) for view in views}
    if len(names) > 1:
        return "".join(_phase_table([view]) for view in views if view.phases)
    return _phase_table(views)


def _phase_table(views: Sequence[RecordingView]) -> str:
    rows = [
        (f"{i + 1}  {phase.name or '(no name)'}", *(_phase_times(view, i) for view in views))
        for i, phase in enumerate(views[0].phases)
    ]
    return table(
        ["phase", *(f"{view.label} (s)" for view in views)],
        rows,
        f"Phases of {join_words([view.label for view in views])}.",
    )


def _phase_counts(views: Sequence[RecordingView]) -> str:
    """Return a table of count and mean duration of repeated phases, as in a walk."""
    names = list(dict.fromkeys(phase.name for view in views for phase in view.phases))
    rows = []
    for name in names:
        cells = []
        for view in views:
            lengths = [phase.end - phase.begin for phase in view.phases if phase.name == name]
            cells += [str(len(lengths)), f"{np.mean(lengths):.2f}" if lengths else DASH]
        rows.append((name or "(no name)", *cells))
    caption = "Phases: count and mean duration."
    return grouped_table(["phase"], [view.label for view in views], ("count", "mean (s)"), rows, caption)


def _phase_times(view: RecordingView, i: int) -> str:
    return f"{view.phases[i].begin:.2f} to {view.phases[i].end:.2f}"


def _robot_text(view: RecordingView) -> str:
    robot = view.robot
    if robot is None:
        return view.robot_name
    return f"{view.robot_name}, {len(robot.joints)} joints, {robot.mass:.1f} kg"


def _provenance_text(view: RecordingView, *keys: str) -> str:
    values = [str(view.recording.provenance[key]) for key in keys if view.recording.provenance.get(key)]
    return ", ".join(values) or DASH


def _controller_text(view: RecordingView) -> str:
    controller = view.recording.provenance.get("controller")
    if not isinstance(controller, dict):
        return str(controller) if controller else DASH
    solver = str(controller.get("solver") or "").partition("(")[0]
    return ", ".join(word for word in (controller.get("name"), solver) if word) or DASH


def _person_text(view: RecordingView) -> str:
    """Return name, height, mass and sex of a measured person, as far as known."""
    if not view.is_measured:
        return DASH
    body = view.recording.provenance.get("load_arguments") or {}
    properties = [(body.get("height"), "{:.2f} m"), (body.get("mass"), "{:.1f} kg"), (body.get("sex"), "{}")]
    texts = [view.recording.provenance.get("subject"), *(form.format(value) for value, form in properties if value)]
    return ", ".join(str(text) for text in texts if text) or DASH


def _rate_text(view: RecordingView) -> str:
    return f"{1.0 / view.recording.period:.4g}" if view.recording.period > 0.0 else DASH


def _period_text(view: RecordingView) -> str:
    return f"{1e3 * view.recording.period:.4g}" if view.recording.samples > 1 else DASH


# -- Page ------------------------------------------------------------------------------------------------------------


#: Sections of the page, in order. Sections on steps, walks, guided motion, force cells and markers are None if no
#: recording has such data, and are left out.
RECORDING_SECTIONS: tuple[Callable[[Sequence[RecordingView]], Section | None], ...] = (
    summary_section,
    overview_section,
    key_frames_section,
    stick_figure_section,
    markers_section,
    gait_angles_section,
    guided_motion_section,
    footprints_section,
    style_measures_section,
    gait_cycle_section,
    angular_momentum_section,
    joint_angles_section,
    joint_torques_section,
    torque_limits_section,
    task_errors_section,
    balance_section,
    contact_forces_section,
    sole_pressure_section,
    timing_section,
    comparison_section,
    smoothness_section,
)


def _has_duration(view: RecordingView) -> bool:
    return view.recording.samples > 1 and bool(view.recording.time[-1] > view.recording.time[0])


#: What a recording needs for a section; a section that fits no recording is left out. Others fit every recording, or
#: decide themselves. A measured person has no controller and no flat soles.
SECTION_NEEDS: Mapping[Callable[..., Section | None], Callable[[RecordingView], bool]] = {
    key_frames_section: lambda view: view.robot is not None and view.recording.samples > 0,
    footprints_section: lambda view: view.recorded_steps is not None,
    style_measures_section: lambda view: view.recorded_walk is not None,
    gait_cycle_section: lambda view: view.recorded_walk is not None and bool(view.recorded_walk.cycles),
    angular_momentum_section: lambda view: view.recorded_walk is not None,
    joint_angles_section: has_joint_angles,
    joint_torques_section: lambda view: view.torque is not None,
    torque_limits_section: lambda view: view.torque is not None and view.torque_limits is not None,
    task_errors_section: lambda view: not view.is_measured and bool(view.recording.residuals()),
    balance_section: lambda view: not view.is_measured and view.body_trajectories is not None,
    contact_forces_section: lambda view: bool(view.contact_names),
    timing_section: lambda view: not view.is_measured and (has_control_times(view) or bool(view.recording.fallbacks())),
    comparison_section: _has_duration,
    smoothness_section: lambda view: view.body_trajectories is not None or view.torque is not None,
}


def applies(section: Callable[..., Section | None], views: Sequence[RecordingView]) -> bool:
    """Return whether a section applies to at least one of the recordings; a comparison needs two."""
    fitting = sum(map(SECTION_NEEDS.get(section, lambda _: True), views))
    return fitting >= (2 if section is comparison_section else 1)


def recording_page(recordings: Mapping[str, Recording], progress: Callable[[str], object] | None = None) -> str:
    """Return a self-contained HTML page about recordings; the page loads no other files.

    It begins with the verdict. Sections that apply to none of the recordings are left out, for example footprints of a
    reach; the others state which data a recording does not have, for example torques of a kinematic one.

    Args:
        recordings: recordings by label, in the order in which they are shown.
        progress: called with the name of each section before it is built or left out.

    Raises:
        PoiseError: there are no recordings.
    """
    if not recordings:
        raise PoiseError("report: no recordings given; pass at least one")
    views = recording_views(recordings)
    sections = []
    for section in RECORDING_SECTIONS:
        if progress is not None:
            progress(section.__name__.removesuffix("_section").replace("_", " "))
        if applies(section, views):
            sections.append(section(views))
    return assemble_page(
        join_words(list(recordings)), [section for section in sections if section is not None], first=1
    )


def save_page(
    path: str | os.PathLike[str],
    recordings: Mapping[str, Recording],
    progress: Callable[[str], object] | None = None,
) -> Path:
    """Write a `recording_page` to a file atomically and return its path.

    >>> save_page("r.html", {"reach": poise.load_recording("reach.poise")})
    """
    return save_page_file(path, lambda: recording_page(recordings, progress))
