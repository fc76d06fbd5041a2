"""Report sections on joint angles by limb, and on recordings compared over normalised time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from poise.analysis import NormalizedRecording, align_recordings, cycle_difference, cycle_period, joint_angles
from poise.arrays import Array
from poise.extras import matplotlib
from poise.html import (
    COLORS,
    DASHES,
    FAINT,
    HALF,
    THIRD,
    Section,
    beside,
    column,
    curve,
    drawing,
    figure,
    grouped,
    heading,
    listed,
    note,
    number,
    paragraph,
    shade,
    short,
    table,
)
from poise.report.recording_view import Subject, span
from poise.report.torque_charts import GROUPS
from poise.robots import Limb

#: A recording, and the same on the scale that all share.
Scaled = tuple[Subject, NormalizedRecording]

SCALE = "progress of the motion (%)"


def overlay(
    scaled: Sequence[Scaled],
    values: Sequence[Array],
    label: str,
    caption: str,
    width: float = HALF,
    from_zero: bool = False,
    least: float = 0.0,
) -> str:
    """A figure with a line per recording.

    Args:
        scaled: the recordings.
        values: of each, one per step of its scale.
        label: of the vertical axis, with its unit.
        caption: below the figure.
        width: in units of the drawing.
        from_zero: whether the vertical axis begins at zero.
        least: what the vertical axis spans at least, so that noise is not blown up.
    """
    with drawing(f"{caption.partition(':')[0]} of several recordings", width) as drawn:
        for (subject, own), y in zip(scaled, values, strict=True):
            style = {"color": subject.line.color, "linestyle": subject.line.dash, "label": subject.label}
            curve(drawn.axes, own.share, y, **style)
        shade(drawn.axes, scaled[0][1].phases, width)
        drawn.axes.set(xlabel=SCALE, ylabel=label, xlim=(0.0, 100.0))
        if from_zero:
            drawn.axes.set_ylim(bottom=0.0)
        low, high = drawn.axes.get_ylim()
        if high - low < least:
            drawn.axes.set_ylim((low + high - least) / 2, (low + high + least) / 2)
        drawn.legend(3)
    return figure(drawn.svg, caption)


def heights(scaled: Sequence[Scaled]) -> list[float]:
    """Heights of the robots (m), if they are different robots and all heights are known; else nothing."""
    known = [subject.robot.height for subject, _ in scaled if subject.robot is not None]
    different = len({subject.robot_name for subject, _ in scaled}) > 1
    return known if different and len(known) == len(scaled) else []


# -- Joints ----------------------------------------------------------------------------------------------------------


#: Joints whose angles are compared in figures: those that differ most.
SHOWN = 6
#: A joint that moves by less (°) was not needed for the motion; a figure of angles spans twice that at least.
STILL = 1.0
#: Cycles of a periodic motion are nearer to each other than this (rad), a little over half a degree: what is asked of
#: squats. Below `SAME` (rad) they are the same but for rounding.
PERIODIC, SAME = 1e-2, 1e-9
CYCLES = (
    "Each cycle of a squat against the one before: root mean square difference of the angles over the cycle, of all "
    "joints together and of the joint that differs most. In a motion that converges to a periodic one it falls and "
    f"stays below {1e3 * PERIODIC:.0f} mrad, the line."
)


def trajectories(subjects: Sequence[Subject]) -> Section:
    """Angles of the joints over time, a figure per limb ([Galdeano2014], figure 9), and whether cycles repeat."""
    having = [s for s in subjects if _known(s)]
    parts = [note(s.lacks("joint angles were recorded")) for s in subjects if s not in having]
    parts.insert(0, paragraph(*(_moving(s) for s in having)))
    for title, names in GROUPS:
        rows = [row for name in names if (row := _limb(having, name))]
        if len(having) == 1:  # left and right side by side
            rows = [[each for row in rows for each in row]] if rows else []
        parts += [heading(title)] if rows else []
        parts += [beside(row, len(having)) for row in rows]
    return Section("Joint angles by limb", "".join([*parts, *_cycles(having)]))


def _known(subject: Subject) -> bool:
    return bool(np.isfinite(joint_angles(subject.recording)[1]).any())


def _degrees(subject: Subject, joints: Sequence[str]) -> tuple[list[str], Array]:
    """Those of some joints that turn and have angles, and these, (n, joints), °."""
    names, angles = joint_angles(subject.recording)
    columns = [k for k, name in enumerate(names) if name in joints and np.isfinite(angles[:, k]).any()]
    return [names[k] for k in columns], np.degrees(angles[:, columns])


def _moving(subject: Subject) -> str:
    """How many joints move, and which one most."""
    names, angles = _degrees(subject, joint_angles(subject.recording)[0])
    ranges = np.nanmax(angles, axis=0) - np.nanmin(angles, axis=0)
    most, count = int(ranges.argmax()), int((ranges >= STILL).sum())
    return (
        f"Of {len(names)} joints of {subject.label}, {count} move by {STILL:.0f}° or more; {names[most]} moves most, "
        f"by {number(float(ranges[most]))}°."
    )


def _limb(subjects: Sequence[Subject], limb: str) -> list[str]:
    """The figures of one limb, one per recording that has it, at the same scale."""
    own = [(s, each, _degrees(s, each.joints)) for s in subjects for each in s.limbs if each.name == limb]
    own = [(s, each, found) for s, each, found in own if found[0]]
    if not own:
        return []
    low = min(float(np.nanmin(angles)) for _, _, (_, angles) in own)
    high = max(float(np.nanmax(angles)) for _, _, (_, angles) in own)
    room = max(0.05 * (high - low), STILL - (high - low) / 2)
    return [_trajectory(s, each, found, (low - room, high + room), column(len(subjects))) for s, each, found in own]


def _trajectory(
    subject: Subject, limb: Limb, found: tuple[list[str], Array], limits: tuple[float, float], width: float
) -> str:
    names, angles = found
    with drawing(f"Joint angles of the {limb.name} of {subject.label} over time", width) as drawn:
        for i, name in enumerate(short(names)):
            style = {"color": COLORS[i % len(COLORS)], "linestyle": DASHES[i % len(DASHES)]}
            curve(drawn.axes, subject.recording.time, angles[:, i], label=name, **style)
        shade(drawn.axes, subject.phases, width)
        drawn.axes.set(xlabel="time (s)", ylabel="angle (°)", xlim=span(subject), ylim=limits)
        drawn.legend(4 if width >= HALF else 2)
    ranges = np.nanmax(angles, axis=0) - np.nanmin(angles, axis=0)
    most = int(ranges.argmax())
    return figure(drawn.svg, f"{subject.label}, {limb.name}: {names[most]} moves by {number(float(ranges[most]))}°.")


def _cycles(subjects: Sequence[Subject]) -> list[str]:
    """Figures and a table of how far cycles are apart, of those that were asked to repeat themselves."""
    figures, rows = [], []
    for subject in subjects:
        asked = cycle_period(subject.recording)
        if asked is None:
            continue
        apart = 1e3 * cycle_difference(subject.recording, asked.period, begin=asked.begin)[: max(asked.cycles - 1, 0)]
        if len(apart):
            whole, worst = np.sqrt(np.mean(apart**2, axis=1)), apart.max(axis=1)
            figures.append(_difference(subject, whole, worst))
            told = [f"{number(float(whole[k]))} ({number(float(worst[k]))})" for k in (0, len(apart) // 2, -1)]
            name = joint_angles(subject.recording)[0][int(apart[-1].argmax())]
            rows.append((subject.label, str(len(apart) + 1), number(asked.period), *told, name))
    head = ["recording", "cycles", "of (s)", "second (mrad)", "halfway (mrad)", "last (mrad)", "worst of the last"]
    summary = table(head, rows, "All joints together, and in brackets the joint that differs most.")
    return [heading("From cycle to cycle"), paragraph(CYCLES), beside(figures), summary] if rows else []


def _difference(subject: Subject, whole: Array, worst: Array) -> str:
    count = np.arange(len(whole)) + 2
    with drawing(f"Difference of each cycle of {subject.label} from the one before") as drawn:
        axes = drawn.axes
        axes.plot(count, np.maximum(worst, 1e3 * SAME), "s-", color=COLORS[1], markersize=3.5, label="worst joint")
        axes.plot(count, np.maximum(whole, 1e3 * SAME), "o-", color=COLORS[0], markersize=3.5, label="all joints")
        axes.axhline(1e3 * PERIODIC, color=FAINT, linewidth=0.9, linestyle=(0, (4, 2)))
        axes.set(xlabel="cycle (count)", ylabel="difference (mrad)", yscale="log", xlim=(1.5, count[-1] + 0.5))
        axes.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(integer=True))
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        drawn.legend(2)
    return figure(drawn.svg, f"{subject.label}: from {number(float(whole[0]))} to {number(float(whole[-1]))} mrad.")


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


# -- Comparison ------------------------------------------------------------------------------------------------------


#: What a figure of the center of mass spans at least, mm or % of the height: less is noise.
LEAST = 2.0


def comparison(subjects: Sequence[Subject]) -> Section:
    """Center of mass, hands, joints that differ, torques of limbs: what can be compared of these recordings."""
    title = "Comparison after time normalisation"
    if len(subjects) < 2:
        return Section(title, note("There is one recording only; give two or more to compare them."))
    lasting = [s for s in subjects if len(s.recording) > 1 and s.recording.time[-1] > s.recording.time[0]]
    if len(lasting) < 2:
        return Section(title, note("Fewer than two of the recordings have a duration."))
    scaled = list(zip(lasting, align_recordings([s.recording for s in lasting]), strict=True))
    parts = [paragraph(_scale(scaled)), *_centers(scaled), *_hands(scaled), *angles(scaled), *efforts(scaled)]
    return Section(title, "".join(parts))


def _scale(scaled: Sequence[Scaled]) -> str:
    times = listed([f"{s.label} {s.recording.time[-1] - s.recording.time[0]:.2f} s" for s, _ in scaled])
    how = "phase by phase, since all have the same phases" if scaled[0][1].phases else "each as a whole"
    return f"Motions last: {times}. They are stretched to 0 to 100 %, {how}."


def _centers(scaled: Sequence[Scaled]) -> list[str]:
    """How the centers of mass move from where they start, per height of the robot if these are different robots."""
    having = [(s, own) for s, own in scaled if "center_of_mass" in s.recording]
    if len(having) < 2:
        return [note("Fewer than two of the recordings tell of the center of mass.")]
    sizes = heights(having)
    unit, scales = ("% of height", [100.0 / size for size in sizes]) if sizes else ("mm", [1e3] * len(having))
    figures = []
    for k, axis in enumerate(("x, forward", "y, to the left", "z, up")):
        moved = []
        for (s, own), scale in zip(having, scales, strict=True):
            moved.append(scale * (own["center_of_mass"][:, k] - s.recording["center_of_mass"][0, k]))
        figures.append(overlay(having, moved, f"{axis[0]} ({unit})", f"{axis}, from its start.", THIRD, least=LEAST))
    return [heading("Center of mass"), beside(figures, 3)]


def _hands(scaled: Sequence[Scaled]) -> list[str]:
    """How fast each hand moves, in heights of the robot per second if these are different robots."""
    figures = []
    for side in ("left", "right"):
        having, speeds = [], []
        for s, own in scaled:
            hand = next((hand for hand in (s.robot.hands if s.robot else ()) if hand.side == side), None)
            if hand is not None and s.tracks is not None:
                having.append((s, own))
                speeds.append(own.at(np.linalg.norm(s.tracks.velocity(hand), axis=1)))
        if len(having) < 2:
            continue
        sizes = heights(having)
        values = [speed / size for speed, size in zip(speeds, sizes, strict=True)] if sizes else speeds
        most = [f"{number(float(np.nanmax(v)))} m/s ({s.label})" for v, (s, _) in zip(speeds, having, strict=True)]
        label = "speed (heights/s)" if sizes else "speed (m/s)"
        figures.append(overlay(having, values, label, f"{side} hand: at most {listed(most)}.", from_zero=True))
    if not figures:
        return [note("Hands are not compared: fewer than two of the recordings have hands and a model.")]
    return [heading("Speed of the hands"), beside(figures)]
