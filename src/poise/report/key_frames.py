"""Report sections that show the body: pictures of key frames, stick figures, and marker residuals of a fit."""

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
    HALF_WIDTH,
    LINE_COLORS,
    SHADE_COLOR,
    Section,
    StickFigure,
    bullets,
    column_layout,
    curve,
    figure,
    has_human_frames,
    heading,
    horizontal_direction,
    new_chart,
    note,
    number,
    paragraph,
    percent,
    shade_phases,
    stick_figure,
    stick_figure_row,
    table,
)
from poise.plants import EnvironmentGeometry
from poise.rendering import picture, recorded_environment
from poise.report.recording_view import RecordingView, cycle_instants, time_range
from poise.robots import State

#: Channel of the measured markers of a person.
MARKER_CHANNEL = "markers/measured"
#: Number of postures shown of a motion without a gait cycle.
POSTURE_COUNT = 7


class KeyInstant(NamedTuple):
    """Instant that is shown: index of its sample, and its label."""

    sample: int
    name: str


def stick_figure_section(views: Sequence[RecordingView]) -> Section | None:
    """Build the section: side and front view of each recording with markers; None if there is none."""
    available = [view for view in views if MARKER_CHANNEL in view.recording and view.recording.samples]
    if not available:
        return None
    parts = [
        paragraph(
            "Lines connect the joint centers of the fitted body, blue on its left and orange on its right; green "
            "dots are the measured markers. Postures are drawn side by side, to scale."
        )
    ]
    for view in available:
        if view.robot is None or not has_human_frames(view.robot):
            parts.append(note(view.missing_note("joint centers, since the model of a human body is missing")))
            continue
        instants = key_instants(view)
        figures = [stick_figure_at(view, instant.sample) for instant in instants]
        forward = facing_direction(view, [instant.sample for instant in instants])
        for direction in ("side", "front"):
            span = (
                "over the motion"
                if view.gait is None
                else f"over a gait cycle of its {view.gait.middle_cycle.side} foot"
            )
            caption = f"{view.label}, seen from {'its right' if direction == 'side' else 'the front'} {span}."
            parts.append(stick_figure_row(figures, [instant.name for instant in instants], forward, direction, caption))
    return Section("Stick figure", "".join(parts))


def key_instants(view: RecordingView) -> list[KeyInstant]:
    """Return the events and mid-swings of the gait cycle in the middle of the motion.

    Without a gait cycle, return `POSTURE_COUNT` instants at equal intervals.
    """
    time = view.recording.time
    if view.gait is None:
        seen = np.flatnonzero(np.isfinite(view.recording["q"][:, :7]).all(axis=1))
        spread = (
            seen[np.unique(np.linspace(0, len(seen) - 1, POSTURE_COUNT).astype(int))].tolist() if len(seen) else [0]
        )
        return [KeyInstant(i, f"{time[i]:.2f} s") for i in spread]
    times_and_labels = cycle_instants(view.gait.middle_cycle)
    return [KeyInstant(int(np.argmin(np.abs(time - at))), name) for at, name in times_and_labels]


def facing_direction(view: RecordingView, samples: Sequence[int]) -> Array:
    """Return the mean direction that the body faces at some samples, a horizontal unit vector (3)."""
    forward = np.nansum([_forward_axis(q) for q in view.recording["q"][list(samples)]], axis=0)
    return horizontal_direction(forward)


def _forward_axis(q: Array) -> Array:
    """Return the forward axis of the base in the world (3)."""
    return np.asarray(pinocchio.Quaternion(*q[[6, 3, 4, 5]]).matrix()[:, 0])


def stick_figure_at(view: RecordingView, sample: int) -> StickFigure:
    """Return the stick figure of the body with its measured markers at a sample."""
    assert view.robot is not None
    recording = view.recording
    return stick_figure(
        view.robot, recording["q"][sample], np.asarray(recording[MARKER_CHANNEL][sample]).reshape(-1, 3)
    )


# -- Markers ---------------------------------------------------------------------------------------------------------


#: Number of markers in the table: those with the largest rms distance; the figure shows all.
TABLE_ROWS = 12
#: Height of a row of the figure, and width of the marker names, in drawing units.
BAR_ROW_HEIGHT, NAME_WIDTH = 11.5, 96.0
#: Rms distance (mm) below which a whole-body fit is good: skin moves by about this much relative to bone.
GOOD_FIT_RMS = 12.0
MARKERS_DESCRIPTION = (
    "The distance of a marker is that between its measured position and its position on the fitted body. Skin moves "
    f"over bone by about a centimeter; a whole-body fit with an rms below {GOOD_FIT_RMS:.0f} mm is good. A marker with "
    "a large distance throughout is placed elsewhere than assumed; one with a large distance for a moment was "
    "mistaken for another marker."
)


def markers_section(views: Sequence[RecordingView]) -> Section | None:
    """Build the section: distances by marker and over time, and the notes of the fit; None if there are no markers."""
    available = [view for view in views if "markers/distance" in view.recording and view.recording.samples]
    if not available:
        return None
    parts = [paragraph(MARKERS_DESCRIPTION), _marker_table(available)]
    for view in available:
        parts += [heading(view.label)] if len(available) > 1 else []
        parts.append(column_layout([_distance_bars(view), _distance_figure(view) + _farthest_table(view)]))
        notes = [str(each) for each in view.recording.provenance.get("notes") or ()]
        parts += [heading("Notes on the fit"), bullets(notes)] if notes else []
    return Section("Markers", "".join(parts))


def _marker_distances(view: RecordingView) -> Array:
    """Return the distance of each marker from its place on the fitted body, mm, (n, markers)."""
    return np.asarray(1e3 * view.recording["markers/distance"])


def _marker_table(views: Sequence[RecordingView]) -> str:
    rows = []
    for view in views:
        distances, names = _marker_distances(view), view.recording.labels["markers/distance"]
        frame, marker = np.unravel_index(int(np.nanargmax(distances)), distances.shape)
        rows.append(
            (
                view.label,
                str(len(names)),
                number(_rms(distances)),
                number(float(np.nanpercentile(distances, 95))),
                f"{number(float(distances[frame, marker]))}, {names[marker]} at {view.recording.time[frame]:.2f} s",
                percent(float(np.isfinite(distances).mean())),
            )
        )
    head = ["recording", "markers", "rms (mm)", "95th percentile (mm)", "largest (mm)", "visible"]
    return table(head, rows)


def _rms(values: Array, axis: int | None = None) -> float:
    return float(np.sqrt(np.nanmean(values**2, axis=axis)))


def _marker_errors(distances: Array) -> tuple[Array, Array]:
    """Return rms and largest distance of every marker, mm; NaN for a marker that is never visible."""
    known = np.where(np.isfinite(distances), distances, 0.0)
    count = np.isfinite(distances).sum(axis=0)
    rms = np.where(count > 0, np.sqrt((known**2).sum(axis=0) / np.maximum(count, 1)), np.nan)
    return rms, np.where(count > 0, known.max(axis=0), np.nan)


def _distance_bars(view: RecordingView) -> str:
    names, distances = view.recording.labels["markers/distance"], _marker_distances(view)
    rms, largest = _marker_errors(distances)
    order = np.argsort(-np.nan_to_num(rms, nan=-1.0))
    rows = np.arange(len(order))
    with new_chart(
        f"Distance of each marker of {view.label}", HALF_WIDTH, 50.0 + BAR_ROW_HEIGHT * len(order), NAME_WIDTH
    ) as chart:
        axes = chart.axes
        for k in rows[1::2]:
            axes.axhspan(k - 0.5, k + 0.5, color=SHADE_COLOR, alpha=0.55, linewidth=0, zorder=0)
        axes.barh(rows, rms[order], height=0.6, color=LINE_COLORS[0], label="root mean square")
        axes.plot(largest[order], rows, "o", color=LINE_COLORS[1], markersize=3.2, label="largest")
        axes.set_yticks(rows, [names[k] for k in order])
        axes.tick_params(axis="y", length=0, labelsize=7.5)
        axes.set(xlabel="distance (mm)", ylim=(len(rows) - 0.5, -0.5))
        axes.set_xlim(left=0.0)
        chart.legend(2)
    return figure(chart.svg, f"{view.label}: distance of each marker from its place on the body, largest first.")


def _distance_figure(view: RecordingView) -> str:
    recording, distances = view.recording, _marker_distances(view)
    names = recording.labels["markers/distance"]
    worst = int(np.nanargmax(_marker_errors(distances)[1]))
    with np.errstate(invalid="ignore"):
        rms = np.sqrt(
            np.nanmean(np.where(np.isfinite(distances).any(axis=1, keepdims=True), distances, np.inf) ** 2, axis=1)
        )
    rms = np.where(np.isfinite(rms), rms, np.nan)
    with new_chart(f"Distance of the markers of {view.label} over time", HALF_WIDTH, 160.0) as chart:
        line = partial(curve, chart.axes, recording.time)
        line(distances[:, worst], color=LINE_COLORS[1], label=f"{names[worst]}, the largest", linewidth=0.9)
        line(rms, color=LINE_COLORS[0], label="root mean square of all")
        shade_phases(chart.axes, view.phases, HALF_WIDTH)
        chart.axes.set(xlabel="time (s)", ylabel="distance (mm)", xlim=time_range(view))
        chart.axes.set_ylim(bottom=0.0)
        chart.legend(2)
    text = f"at most {number(float(np.nanmax(distances)))} mm, at {names[worst]}"
    return figure(chart.svg, f"{view.label} over time: {number(_rms(distances))} mm root mean square, {text}.")


def _farthest_table(view: RecordingView) -> str:
    names, distances = view.recording.labels["markers/distance"], _marker_distances(view)
    known = view.recording.provenance.get("markers") or {}
    rms, largest = _marker_errors(distances)
    rows = []
    for k in np.argsort(-np.nan_to_num(rms, nan=-1.0))[:TABLE_ROWS]:
        segment = str((known.get(names[k]) or {}).get("link", "")).replace("_", " ")
        visible = percent(float(np.isfinite(distances[:, k]).mean()))
        rows.append((names[k], segment, number(float(rms[k])), number(float(largest[k])), visible))
    head = ["marker", "segment", "rms (mm)", "largest (mm)", "visible"]
    return table(head, rows, f"The {len(rows)} markers with the largest rms distance.")


# -- Key frames ------------------------------------------------------------------------------------------------------


#: Largest number of pictures in a row: more would be too small.
MAX_PICTURES = 6
#: Width and height of a row of pictures (pixels): about 1.4 times the page width of 1040 is sharp; twice makes large
#: files.
STRIP_WIDTH, STRIP_HEIGHT = 1440, 380
#: JPEG quality of the pictures: higher values enlarge files without visible gain.
JPEG_QUALITY = 82
#: Bodies that travel further than this, per m of their height, are all drawn in one place: a picture of the whole path
#: would show them small.
MAX_TRAVEL = 0.3


def key_frames_section(views: Sequence[RecordingView]) -> Section:
    """Build the section: a row of pictures for each recording."""
    rows = [_picture_row(view) for view in views]
    pictured = [view for view, row in zip(views, rows, strict=True) if "<img" in row]
    green = "Green: outline of the support polygon. Red: center of mass, projected on the ground."
    red = "Red: center of mass, projected on the ground."
    legend = "" if not pictured else red if not any("contacts" in view.recording for view in pictured) else green
    return Section("Key frames", paragraph(legend) + "".join(rows))


def key_samples(view: RecordingView) -> list[tuple[str, int]]:
    """Return labels and indices of the samples to show.

    These are the instants of a gait cycle for a measured walk; else the start and the end of each phase; samples at
    equal intervals if there are no phases, or too many.
    """
    if view.is_measured and view.gait is not None:
        return [(instant.name.partition("\n")[0], instant.sample) for instant in key_instants(view)[:MAX_PICTURES]]
    n, time = view.recording.samples, view.recording.time
    phases = [phase for phase in view.phases if phase.name]
    if not 1 < len(phases) < MAX_PICTURES:
        spread = np.unique(np.linspace(0, n - 1, MAX_PICTURES).astype(int)).tolist()
        return [(f"{time[i]:.1f} s", i) for i in spread]
    ends = [max(int(np.searchsorted(time, phase.end - 1e-9)) - 1, 0) for phase in phases]
    return [("start", 0), *((f"end of {p.name}", end) for p, end in zip(phases, ends, strict=True))]


def _picture_row(view: RecordingView) -> str:
    if view.robot is None or not view.recording.samples:
        return note(view.missing_note("pictures, since the model of its robot is missing"))
    names, states = [], []
    for name, i in key_samples(view):
        try:
            states.append(view.recording.state(i, view.robot))
            names.append(name)
        except PoiseError:  # a state that is not finite cannot be drawn
            continue
    if not states:
        return note(view.missing_note("pictures, since its states are not finite"))
    environment = recorded_environment(view.recording, view.robot)
    gathered = gather_states(states, face_forward=view.is_measured)
    # The environment of each posture moves with its base.
    motions = [
        _base_pose(gathered_state) * _base_pose(state).inverse()
        for gathered_state, state in zip(gathered, states, strict=True)
    ]
    environments = [environment.transformed(motion) for motion in motions]
    return picture_strip(gathered, names, f"{view.label}: {', '.join(names)}.", environments)


def _base_pose(state: State) -> pinocchio.SE3:
    return pinocchio.XYZQUATToSE3(np.array(state.q[:7]))


def picture_strip(
    states: Sequence[State],
    names: Sequence[str],
    caption: str,
    environments: Sequence[EnvironmentGeometry] | None = None,
) -> str:
    """Return a row of pictures of postures with a caption, or a note on why there are none.

    Args:
        states: postures.
        names: name of each posture.
        caption: text below the pictures.
        environments: environment of each posture; None: flat ground.
    """
    try:
        image = picture(states, STRIP_WIDTH, STRIP_HEIGHT, labels=names, environment=environments)
    except PoiseError as error:
        return note(f"{caption.partition(':')[0]}: pictures are missing: {error}.")
    return figure(f'<img alt="{states[0].robot.name} in {len(states)} postures" src="{_data_url(image)}">', caption)


def gather_states(states: Sequence[State], face_forward: bool = False) -> list[State]:
    """Move postures to one place if the body travels far; with ``face_forward`` always, and turned to face x."""
    positions = np.array([state.q[:2] for state in states])
    max_travel = MAX_TRAVEL * states[0].robot.height
    if not face_forward and float(np.linalg.norm(positions - positions[0], axis=1).max()) < max_travel:
        return list(states)
    forward_sum = np.sum([pinocchio.Quaternion(*state.q[[6, 3, 4, 5]]).matrix()[:, 0] for state in states], axis=0)
    angle = -float(np.arctan2(forward_sum[1], forward_sum[0])) if face_forward else 0.0
    turn = pinocchio.Quaternion(pinocchio.rpy.rpyToMatrix(0.0, 0.0, angle))
    placed_states = []
    for state in states:
        q = np.array(state.q)
        q[:2] = 0.0
        q[3:7] = (turn * pinocchio.Quaternion(*q[[6, 3, 4, 5]])).coeffs()
        placed_states.append(state.replace(q=q))
    return placed_states


def _data_url(image: np.ndarray) -> str:
    """Encode an image as a JPEG data URL."""
    file = io.BytesIO()
    PIL.Image.fromarray(image).save(file, "JPEG", quality=JPEG_QUALITY, optimize=True)
    return f"data:image/jpeg;base64,{base64.b64encode(file.getvalue()).decode()}"
