"""Report sections on joint angles by limb, and on the comparison of recordings over normalized time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from poise.analysis import NormalizedRecording, align_recordings, cycle_difference, cycle_period, joint_angles
from poise.arrays import Array
from poise.extras import matplotlib
from poise.html import (
    GRID_COLOR,
    HALF_WIDTH,
    LINE_COLORS,
    LINE_DASHES,
    THIRD_WIDTH,
    Section,
    chart_width,
    curve,
    figure,
    grid,
    grouped_table,
    heading,
    join_words,
    new_chart,
    note,
    number,
    paragraph,
    shade_phases,
    short_joint_names,
    table,
)
from poise.report.recording_view import RecordingView, time_range
from poise.report.torque_charts import LIMB_GROUPS
from poise.robots import Limb

#: A recording, and the same recording on the common time scale.
NormalizedView = tuple[RecordingView, NormalizedRecording]

PROGRESS_AXIS_LABEL = "progress of the motion (%)"


def overlay_chart(
    normalized: Sequence[NormalizedView],
    values: Sequence[Array],
    label: str,
    caption: str,
    width: float = HALF_WIDTH,
    from_zero: bool = False,
    min_span: float = 0.0,
) -> str:
    """Plot one curve per recording over normalized time.

    Args:
        normalized: the recordings.
        values: values of each recording, one per step of the common time scale.
        label: label of the vertical axis, with its unit.
        caption: caption of the figure.
        width: width in drawing units.
        from_zero: whether the vertical axis begins at zero.
        min_span: smallest range of the vertical axis, so that noise is not enlarged.
    """
    with new_chart(f"{caption.partition(':')[0]} of several recordings", width) as chart:
        for (view, recording), y in zip(normalized, values, strict=True):
            style = {"color": view.line_style.color, "linestyle": view.line_style.dashes, "label": view.label}
            curve(chart.axes, recording.percent, y, **style)
        shade_phases(chart.axes, normalized[0][1].phases, width)
        chart.axes.set(xlabel=PROGRESS_AXIS_LABEL, ylabel=label, xlim=(0.0, 100.0))
        if from_zero:
            chart.axes.set_ylim(bottom=0.0)
        low, high = chart.axes.get_ylim()
        if high - low < min_span:
            chart.axes.set_ylim((low + high - min_span) / 2, (low + high + min_span) / 2)
        chart.legend(3)
    return figure(chart.svg, caption)


def robot_heights(normalized: Sequence[NormalizedView]) -> list[float]:
    """Return the heights of the robots (m) if the robots differ and all heights are known; else an empty list."""
    known = [view.robot.height for view, _ in normalized if view.robot is not None]
    robots_differ = len({view.robot_name for view, _ in normalized}) > 1
    return known if robots_differ and len(known) == len(normalized) else []


# -- Joint angles ----------------------------------------------------------------------------------------------------


#: Largest number of joints compared in figures: those that differ most.
MAX_FIGURES = 6
#: Joints with a smaller range (°) do not take part in the motion; figures of angles span at least twice this.
MIN_RANGE = 1.0
#: Largest difference between cycles of a periodic motion (rad), about 0.6 degrees: the criterion for squats. Cycles
#: that differ by less than `ROUNDING_FLOOR` (rad) are equal up to rounding.
PERIODIC_TOLERANCE, ROUNDING_FLOOR = 1e-2, 1e-9
CYCLES_DESCRIPTION = (
    "Each cycle of a squat compared with the previous one: root mean square difference of the joint angles over the "
    "cycle, of all joints together and of the joint that differs most. If the motion converges to a periodic one, the "
    f"difference decreases and stays below {1e3 * PERIODIC_TOLERANCE:.0f} mrad, the line."
)


def joint_angles_section(views: Sequence[RecordingView]) -> Section:
    """Build the section: joint angles over time by limb ([Galdeano2014], figure 9), and differences between cycles."""
    available = [view for view in views if has_joint_angles(view)]
    parts = [note(view.missing_note("joint angles were recorded")) for view in views if view not in available]
    parts.insert(0, paragraph(*(_range_sentence(view) for view in available)))
    for title, names in LIMB_GROUPS:
        rows = [row for name in names if (row := _limb_row(available, name))]
        if len(available) == 1:  # left and right side by side
            rows = [[each for row in rows for each in row]] if rows else []
        parts += [heading(title)] if rows else []
        parts += [grid(row, len(available)) for row in rows]
    return Section("Joint angles by limb", "".join([*parts, *_cycle_comparison(available)]))


def has_joint_angles(view: RecordingView) -> bool:
    """Return whether a recording has joint angles."""
    return bool(np.isfinite(joint_angles(view.recording)[1]).any())


def _joint_degrees(view: RecordingView, joints: Sequence[str]) -> tuple[list[str], Array]:
    """Return the names and angles of those of the given joints that are revolute and recorded, (n, joints), °."""
    names, angles = joint_angles(view.recording)
    columns = [k for k, name in enumerate(names) if name in joints and np.isfinite(angles[:, k]).any()]
    return [names[k] for k in columns], np.degrees(angles[:, columns])


def _range_sentence(view: RecordingView) -> str:
    """Return a sentence on the number of joints that move and the joint with the largest range."""
    names, angles = _joint_degrees(view, joint_angles(view.recording)[0])
    ranges = np.nanmax(angles, axis=0) - np.nanmin(angles, axis=0)
    most, count = int(ranges.argmax()), int((ranges >= MIN_RANGE).sum())
    return (
        f"Of {len(names)} joints of {view.label}, {count} move by {MIN_RANGE:.0f}° or more; {names[most]} moves most, "
        f"by {number(float(ranges[most]))}°."
    )


def _limb_row(views: Sequence[RecordingView], limb: str) -> list[str]:
    """Return the figures of one limb, one per recording that has it, at the same scale."""
    limbs = [
        (view, each, _joint_degrees(view, each.joints)) for view in views for each in view.limbs if each.name == limb
    ]
    limbs = [(view, each, joints_and_angles) for view, each, joints_and_angles in limbs if joints_and_angles[0]]
    if not limbs:
        return []
    low = min(float(np.nanmin(angles)) for _, _, (_, angles) in limbs)
    high = max(float(np.nanmax(angles)) for _, _, (_, angles) in limbs)
    padding = max(0.05 * (high - low), MIN_RANGE - (high - low) / 2)
    return [
        _limb_figure(view, each, joints_and_angles, (low - padding, high + padding), chart_width(len(views)))
        for view, each, joints_and_angles in limbs
    ]


def _limb_figure(
    view: RecordingView,
    limb: Limb,
    joints_and_angles: tuple[list[str], Array],
    limits: tuple[float, float],
    width: float,
) -> str:
    names, angles = joints_and_angles
    with new_chart(f"Joint angles of the {limb.name} of {view.label} over time", width) as chart:
        for i, name in enumerate(short_joint_names(names)):
            style = {"color": LINE_COLORS[i % len(LINE_COLORS)], "linestyle": LINE_DASHES[i % len(LINE_DASHES)]}
            curve(chart.axes, view.recording.time, angles[:, i], label=name, **style)
        shade_phases(chart.axes, view.phases, width)
        chart.axes.set(xlabel="time (s)", ylabel="angle (°)", xlim=time_range(view), ylim=limits)
        chart.legend(4 if width >= HALF_WIDTH else 2)
    ranges = np.nanmax(angles, axis=0) - np.nanmin(angles, axis=0)
    most = int(ranges.argmax())
    return figure(chart.svg, f"{view.label}, {limb.name}: {names[most]} moves by {number(float(ranges[most]))}°.")


def _cycle_comparison(views: Sequence[RecordingView]) -> list[str]:
    """Return figures and a table of the differences between consecutive cycles, for recordings of cyclic behaviors."""
    figures, rows = [], []
    for view in views:
        cycle = cycle_period(view.recording)
        if cycle is None:
            continue
        differences = (
            1e3 * cycle_difference(view.recording, cycle.period, begin=cycle.begin)[: max(cycle.cycles - 1, 0)]
        )
        if len(differences):
            rms, worst = np.sqrt(np.mean(differences**2, axis=1)), differences.max(axis=1)
            figures.append(_difference_figure(view, rms, worst))
            cells = [f"{number(float(rms[k]))} ({number(float(worst[k]))})" for k in (0, len(differences) // 2, -1)]
            name = joint_angles(view.recording)[0][int(differences[-1].argmax())]
            rows.append((view.label, str(len(differences) + 1), number(cycle.period), *cells, name))
    head = [
        "recording",
        "cycles",
        "period (s)",
        "second (mrad)",
        "halfway (mrad)",
        "last (mrad)",
        "worst joint at last",
    ]
    summary = table(head, rows, "Difference of all joints together; in brackets that of the worst joint.")
    return [heading("From cycle to cycle"), paragraph(CYCLES_DESCRIPTION), grid(figures), summary] if rows else []


def _difference_figure(view: RecordingView, rms: Array, worst: Array) -> str:
    count = np.arange(len(rms)) + 2
    with new_chart(f"Difference of each cycle of {view.label} from the previous one") as chart:
        axes = chart.axes
        axes.plot(
            count,
            np.maximum(worst, 1e3 * ROUNDING_FLOOR),
            "s-",
            color=LINE_COLORS[1],
            markersize=3.5,
            label="worst joint",
        )
        axes.plot(
            count, np.maximum(rms, 1e3 * ROUNDING_FLOOR), "o-", color=LINE_COLORS[0], markersize=3.5, label="all joints"
        )
        axes.axhline(1e3 * PERIODIC_TOLERANCE, color=GRID_COLOR, linewidth=0.9, linestyle=(0, (4, 2)))
        axes.set(xlabel="cycle (count)", ylabel="difference (mrad)", yscale="log", xlim=(1.5, count[-1] + 0.5))
        axes.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(integer=True))
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        chart.legend(2)
    return figure(
        chart.svg, f"{view.label}: rms difference from {number(float(rms[0]))} to {number(float(rms[-1]))} mrad."
    )


def compare_angles(normalized: Sequence[NormalizedView]) -> list[str]:
    """Compare the angles of the joints that recordings share with the first one: figures and rms differences."""
    first = normalized[0][0]
    if "q" not in first.recording:
        return [note(first.missing_note("joint angles were recorded"))]
    first_joints = set(first.recording.labels["q"][7:])
    available = [
        (view, n)
        for view, n in normalized
        if "q" in view.recording and first_joints & set(view.recording.labels["q"][7:])
    ]
    names = {view.label for view, _ in available}
    missing_joints = [
        note(view.missing_note(f"joint name in common with {first.label}"))
        for view, _ in normalized
        if view.label not in names
    ]
    if len(available) < 2:
        return missing_joints
    shared = set.intersection(*(set(view.recording.labels["q"][7:]) for view, _ in available))
    common = [name for name in first.recording.labels["q"][7:] if name in shared]
    values = [np.degrees(np.stack([n[f"q/{name}"] for name in common], axis=1)) for _, n in available]
    differences = np.array([np.sqrt(np.nanmean((each - values[0]) ** 2, axis=0)) for each in values[1:]])
    order = np.argsort(-differences.max(axis=0))[:MAX_FIGURES]
    figures = []
    for k in order:
        difference = ", ".join(
            f"{number(row[k])}° ({view.label})" for row, (view, _) in zip(differences, available[1:], strict=True)
        )
        caption = f"{common[k]}: rms difference {difference}."
        figures.append(overlay_chart(available, [each[:, k] for each in values], "angle (°)", caption))
    rows = [
        (limb.name, *(word for row in differences for word in _limb_difference(row, common, limb.joints)))
        for limb in first.limbs
        if set(limb.joints) & shared
    ]
    summary = grouped_table(["limb"], [view.label for view, _ in available[1:]], ("rms (°)", "largest at"), rows)
    text = f"Differences are from {first.label}; the {len(order)} joints that differ most are drawn."
    return [heading("Joint angles"), paragraph(text), *missing_joints, grid(figures), summary]


def _limb_difference(differences: Array, common: Sequence[str], joints: Sequence[str]) -> tuple[str, str]:
    """Return the rms difference over the joints of a limb, and the joint with the largest difference, as texts."""
    limb_differences = [(float(differences[k]), name) for k, name in enumerate(common) if name in joints]
    most = max(limb_differences)
    return number(float(np.sqrt(np.mean([size**2 for size, _ in limb_differences])))), f"{most[1]}, {number(most[0])}°"


def compare_limb_torques(normalized: Sequence[NormalizedView]) -> list[str]:
    """Plot the norm of the joint torques of each limb per body mass, so that robots and people can be compared."""
    available = [
        (view, recording) for view, recording in normalized if view.torque is not None and view.robot is not None
    ]
    if len(available) < 2:
        return [note("Torques are not compared: fewer than two of the recordings have torques and a known mass.")]
    figures = []
    for name in [limb.name for limb in available[0][0].limbs]:
        values = [(pair, limb_torque(pair[0], name)) for pair in available]
        known = [(pair, pair[1].at(each)) for pair, each in values if each is not None]
        if len(known) > 1:
            pairs, lengths = [pair for pair, _ in known], [each for _, each in known]
            caption = f"{name}: norm of its joint torques, per body mass."
            figures.append(overlay_chart(pairs, lengths, "torque per mass (N m/kg)", caption, from_zero=True))
    return [heading("Limb torques"), grid(figures)]


def limb_torque(view: RecordingView, limb: str) -> Array | None:
    """Return ``|τ| / m``, the norm of the joint torques of a limb per body mass, (n,), N m/kg; None without data."""
    joints = next((each.joints for each in view.limbs if each.name == limb), ())
    columns = [view.torque_joints.index(joint) for joint in joints if joint in view.torque_joints]
    if not columns or view.torque is None or view.robot is None:
        return None
    return np.asarray(np.linalg.norm(view.torque[:, columns], axis=1) / view.robot.mass)


# -- Comparison ------------------------------------------------------------------------------------------------------


#: Smallest vertical range of a figure of the center of mass, mm or % of the height: less is noise.
MIN_CENTER_SPAN = 2.0


def comparison_section(views: Sequence[RecordingView]) -> Section:
    """Build the section: center of mass, hand speeds, joint angles and limb torques over normalized time."""
    title = "Comparison after time normalization"
    if len(views) < 2:
        return Section(title, note("There is one recording only; pass two or more to compare them."))
    with_duration = [
        view for view in views if view.recording.samples > 1 and view.recording.time[-1] > view.recording.time[0]
    ]
    if len(with_duration) < 2:
        return Section(title, note("Fewer than two of the recordings have a duration."))
    normalized = list(zip(with_duration, align_recordings([view.recording for view in with_duration]), strict=True))
    parts = [
        paragraph(_scale_sentence(normalized)),
        *_compare_centers_of_mass(normalized),
        *_compare_hand_speeds(normalized),
        *compare_angles(normalized),
        *compare_limb_torques(normalized),
    ]
    return Section(title, "".join(parts))


def _scale_sentence(normalized: Sequence[NormalizedView]) -> str:
    times = join_words(
        [f"{view.label} {view.recording.time[-1] - view.recording.time[0]:.2f} s" for view, _ in normalized]
    )
    method = "phase by phase, since all have the same phases" if normalized[0][1].phases else "each as a whole"
    return f"Durations: {times}. Time is normalized to 0 to 100 %, {method}."


def _compare_centers_of_mass(normalized: Sequence[NormalizedView]) -> list[str]:
    """Plot the displacement of the centers of mass from their start, per robot height if the robots differ."""
    available = [(view, recording) for view, recording in normalized if "center_of_mass" in view.recording]
    if len(available) < 2:
        return [note("The center of mass is not compared: fewer than two of the recordings have it.")]
    sizes = robot_heights(available)
    unit, scales = ("% of height", [100.0 / size for size in sizes]) if sizes else ("mm", [1e3] * len(available))
    figures = []
    for k, axis in enumerate(("x, forward", "y, to the left", "z, up")):
        displacements = []
        for (view, recording), scale in zip(available, scales, strict=True):
            displacements.append(scale * (recording["center_of_mass"][:, k] - view.recording["center_of_mass"][0, k]))
        figures.append(
            overlay_chart(
                available,
                displacements,
                f"{axis[0]} ({unit})",
                f"{axis}, relative to the start.",
                THIRD_WIDTH,
                min_span=MIN_CENTER_SPAN,
            )
        )
    return [heading("Center of mass"), grid(figures, 3)]


def _compare_hand_speeds(normalized: Sequence[NormalizedView]) -> list[str]:
    """Plot the speed of each hand, in robot heights per second if the robots differ."""
    figures = []
    for side in ("left", "right"):
        available, speeds = [], []
        for view, recording in normalized:
            hand = next((hand for hand in (view.robot.hands if view.robot else ()) if hand.side == side), None)
            if hand is not None and view.body_trajectories is not None:
                available.append((view, recording))
                speeds.append(recording.at(np.linalg.norm(view.body_trajectories.velocity(hand), axis=1)))
        if len(available) < 2:
            continue
        sizes = robot_heights(available)
        values = [speed / size for speed, size in zip(speeds, sizes, strict=True)] if sizes else speeds
        most = [
            f"{number(float(np.nanmax(v)))} m/s ({view.label})" for v, (view, _) in zip(speeds, available, strict=True)
        ]
        label = "speed (heights/s)" if sizes else "speed (m/s)"
        figures.append(
            overlay_chart(available, values, label, f"{side} hand: at most {join_words(most)}.", from_zero=True)
        )
    if not figures:
        return [note("Hands are not compared: fewer than two of the recordings have hands and a model.")]
    return [heading("Hand speed"), grid(figures)]
