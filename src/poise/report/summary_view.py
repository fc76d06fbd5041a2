"""First section of a report on recordings: verdict, the figures that matter for the motion, and warnings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from poise.html import DASH, Section, bullets, number, text_table, verdict
from poise.report.recording_view import RecordingView
from poise.runs import summarize_run


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
    """Build the section: the verdict on each recording, a table of figures, and warnings."""
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
    return ViewSummary(None, f"measured motion of a person{torques}", "", tuple(figures), ())
