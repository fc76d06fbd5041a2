"""Report sections on ground reaction forces and joint moments of a person, measured and simulated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from poise.analysis import GaitCycle, normalize_cycle, walking_direction
from poise.arrays import Array, Mask
from poise.errors import GaitError, PoiseError
from poise.html import (
    GRID_COLOR,
    HALF_WIDTH,
    LINE_COLORS,
    LINE_DASHES,
    SHADE_COLOR,
    THIRD_WIDTH,
    Section,
    bullets,
    curve,
    figure,
    grid,
    heading,
    new_chart,
    note,
    number,
    paragraph,
    percent,
    table,
    text_table,
    verdict,
)
from poise.human import (
    BACK_MOMENTS,
    LEG_MOMENTS,
    PLUG_IN_GAIT_UNIT,
    DynamicGait,
    Fit,
    MomentConvention,
    Torques,
    compare_stored_moments,
    compute_torques,
    ground_forces,
    human_anatomical_walk,
    internal_joint_moments,
)
from poise.report.cycle_curves import CYCLE_AXIS_LABEL, LEG_COLORS, LEG_DASHES
from poise.robots import GRAVITY, SIDES, Side

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORCES_DESCRIPTION = (
    "Ground reaction force on each foot as measured by the force plates, in percent of body weight: "
    "upward, forward in the direction of walking, and to the left of the person. Gray: the foot is "
    "entirely on its plates, and its ground reaction force is known completely."
)
RESIDUAL_DESCRIPTION = (
    "Force and moment that would have to act on the pelvis, in addition to the measured ground reaction forces, to "
    "produce the measured motion, in world axes. With a perfect body model, perfect markers and perfect plates they "
    "would be zero; Hicks et al. 2015 recommend peaks below 5 % of the ground reaction force. World axes are those of "
    "the file, turned if necessary so that z is up. Gray: frames in which both feet are entirely on plates or in the "
    "air; only these count."
)


def trial_section(torques: Torques) -> Section:
    """Build the section with person, body, force plates, foot contacts and notes of the computation."""
    person, robot = torques.trial.subject, torques.robot
    rows = [
        ("person", person.name or "not named"),
        ("mass (kg)", f"{torques.mass:.1f}"),
        ("body", f"{robot.height:.2f} m, {len(robot.joints)} joints"),
        ("frames", f"{len(torques.time)} at {torques.trial.rate:g} Hz, {torques.time[-1] - torques.time[0]:.2f} s"),
        ("force plates", str(len(torques.trial.plates))),
    ]
    steps = [
        (
            torques.trial.plates[each.plate].name,
            each.side,
            f"{torques.time[each.begin]:.2f} to {torques.time[each.end - 1]:.2f}",
            "the whole foot"
            if each.complete
            else "both feet"
            if each.shared
            else f"a part: {1e3 * each.overhang:.0f} mm beyond the edge",
        )
        for each in torques.foot_wrenches.plate_contacts
    ]
    tables = text_table(["", torques.trial.path.rpartition("/")[2]], rows)
    tables += text_table(["plate", "foot", "loaded (s)", "the plate measures"], steps) if steps else ""
    quality = torques.quality
    reasons = "; ".join(check.message for check in quality.checks)
    shown = verdict(None if quality.verdict == "doubtful" else quality.usable, f"Moments: {quality.verdict}.", reasons)
    return Section("Trial", shown + tables + heading("Notes on the computation") + bullets(torques.notes))


def ground_forces_section(torques: Torques) -> Section:
    """Build the section with the ground reaction force under each foot over time."""
    figures = [_plate_force_figure(torques, side, *_force_limits(torques)) for side in SIDES]
    return Section("Ground forces", paragraph(FORCES_DESCRIPTION) + grid(figures))


def residual_section(torques: Torques) -> Section:
    """Build the section with the residual force and moment at the pelvis, over time and as rms."""
    known = torques.foot_wrenches.known
    groups = (("force", "N", slice(0, 3)), ("moment", "N m", slice(3, 6)))
    figures = []
    for name, unit, columns in groups:
        values = torques.residual[:, columns]
        with new_chart(f"Residual {name} at the pelvis over time", HALF_WIDTH) as chart:
            shade_intervals(chart.axes, torques.time, known)
            for k, axis in enumerate("xyz"):
                shown = np.where(known, values[:, k], np.nan)
                curve(chart.axes, torques.time, shown, color=LINE_COLORS[k], linestyle=LINE_DASHES[k], label=axis)
            chart.axes.axhline(0.0, color=GRID_COLOR, linewidth=0.6)
            chart.axes.set(xlabel="time (s)", ylabel=f"{name} ({unit})", xlim=_time_limits(torques))
            chart.legend(3)
        figures.append(figure(chart.svg, f"Residual {name} in world axes, for frames with all contacts measured."))
    rms, weight = torques.residual_rms, GRAVITY * torques.mass
    rows = [
        (axis, number(float(rms[k])), percent(float(rms[k]) / weight), number(float(rms[k + 3])))
        for k, axis in enumerate(("x", "y", "z, up"))
    ]
    head = ["world axis", "force, rms (N)", "share of weight", "moment, rms (N m)"]
    caption = f"Root mean square over {int(known.sum())} of {len(known)} frames."
    return Section(
        "Residual at the pelvis", paragraph(RESIDUAL_DESCRIPTION) + grid(figures) + table(head, rows, caption)
    )


def shade_intervals(axes: Axes, time: Array, mask: Mask) -> None:
    """Shade the time intervals in which ``mask`` is true."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    for begin, end in edges.reshape(-1, 2).tolist():
        axes.axvspan(time[begin], time[min(end, len(time) - 1)], color=SHADE_COLOR, linewidth=0, zorder=0)


def _weight_percent(torques: Torques, side: Side) -> Array:
    """Return the ground reaction force forward, to the left and up, % of body weight (n, 3); NaN on no loaded plate."""
    loaded = torques.foot_wrenches.loaded[side][:, np.newaxis]
    forward = _walking_direction(torques)
    axes = np.array([forward, np.cross((0.0, 0.0, 1.0), forward), (0.0, 0.0, 1.0)])
    force = torques.foot_wrenches.force[side] @ axes.T
    return np.where(loaded, 100.0 * force / (GRAVITY * torques.mass), np.nan)


def _force_limits(torques: Torques) -> tuple[float, float]:
    """Return the vertical axis limits for both feet, % of body weight."""
    both = np.concatenate([_weight_percent(torques, side).ravel() for side in SIDES])
    both = both[np.isfinite(both)]
    return (1.1 * min(float(both.min()), 0.0), 1.05 * float(both.max())) if len(both) else (0.0, 100.0)


def _plate_force_figure(torques: Torques, side: Side, y_min: float, y_max: float) -> str:
    ground, share = torques.foot_wrenches, _weight_percent(torques, side)
    loaded = ground.loaded[side]
    with new_chart(f"Ground force under the {side} foot over time", HALF_WIDTH, 150.0) as chart:
        axes = chart.axes
        shade_intervals(axes, torques.time, loaded & ground.measured[side])
        curve(axes, torques.time, share[:, 2], color=LEG_COLORS[side], label="vertical", linewidth=1.4)
        for k, label in enumerate(("forward", "to the left")):
            curve(
                axes,
                torques.time,
                share[:, k],
                color=LINE_COLORS[2 + k],
                linestyle=LINE_DASHES[1 + k],
                label=label,
            )
        axes.axhline(0.0, color=GRID_COLOR, linewidth=0.6)
        axes.set(xlabel="time (s)", ylabel="force (% of weight)", xlim=_time_limits(torques), ylim=(y_min, y_max))
        chart.legend(3)
    peak = float(np.nanmax(share[:, 2])) if loaded.any() else 0.0
    text = f"at most {peak:.0f} % of the weight" if loaded.any() else "on no plate"
    return figure(chart.svg, f"{side.capitalize()} foot: {text}.")


def _walking_direction(torques: Torques) -> Array:
    """Return the horizontal direction of walking (3), of the feet where the person stays in place."""
    points = torques.foot_wrenches.foot_stance.points
    heel, ball = ({side: points[side][:, k] for side in SIDES} for k in (0, 1))
    return walking_direction(torques.q[:, :3], heel, ball)


def _time_limits(torques: Torques) -> tuple[float, float]:
    """Return the limits of the time axis, s; a trial of a single frame has the duration of that frame."""
    first, last = float(torques.time[0]), float(torques.time[-1])
    return first, last if last > first else first + 1.0 / torques.trial.rate


# -- Joint moments ---------------------------------------------------------------------------------------------------


FILE_COLOR, MOMENT_AXIS_LABEL = "#222222", "moment (N m/kg)"
SIGN_DESCRIPTION = (
    "Moments are internal, those of muscles and ligaments, per kg of body mass; titles name the positive direction. "
    "Solid: all ground reaction forces on the leg are known (gray background: the foot is entirely on its plates; "
    "otherwise it is in the air). Faint: a plate carries only a part of the foot, and the moment is too small by an "
    "unknown amount. No line: the foot is beside the plates."
)
FILE_DESCRIPTION = "Dashed, black: the moment stored in the file by the software of the laboratory."


def leg_moments_section(torques: Torques) -> Section:
    """Build the section: moments of both legs over time, with those stored in the file, and over the gait cycle."""
    known, all_moments = internal_joint_moments(torques), internal_joint_moments(torques, include_unknown=True)
    has_file_moments = any(
        _file_moment(torques, side, convention) is not None for side in SIDES for convention in LEG_MOMENTS
    )
    figures = [
        _moment_time_figure(
            torques, side, convention, known, all_moments, _moment_limits(torques, convention, all_moments)
        )
        for convention in LEG_MOMENTS
        for side in SIDES
    ]
    parts = [
        paragraph(SIGN_DESCRIPTION, FILE_DESCRIPTION if has_file_moments else ""),
        grid(figures),
        heading("Over the gait cycle"),
    ]
    return Section("Joint moments of the legs", "".join([*parts, _cycle_figures(torques, known)]))


def back_moments_section(torques: Torques) -> Section:
    """Build the section with the moments of the lower back, which depend on the upper body alone, not on the plates."""
    description = (
        "The moments of the lower back support trunk, head and arms. They follow from the motion of these segments "
        "alone: no force plate is needed, and they are known in every frame."
    )
    back_moments = internal_joint_moments(torques)
    figures = []
    for k, each in enumerate(BACK_MOMENTS):
        with new_chart(f"{each.title} moment over time", THIRD_WIDTH) as chart:
            curve(chart.axes, torques.time, back_moments[each.title], color=LINE_COLORS[k])
            chart.axes.axhline(0.0, color=GRID_COLOR, linewidth=0.6)
            chart.axes.set(xlabel="time (s)", ylabel=MOMENT_AXIS_LABEL, xlim=_time_limits(torques))
        y_min, y_max = (number(float(f(back_moments[each.title])), 2) for f in (np.nanmin, np.nanmax))
        figures.append(figure(chart.svg, f"{each.title.capitalize()}: {y_min} to {y_max} N m/kg."))
    return Section("Moments of the lower back", paragraph(description) + grid(figures, 3))


def file_comparison_section(torques: Torques) -> Section:
    """Build the section that compares the computed moments with those stored in the file."""
    rows = compare_stored_moments(torques)
    if not rows:
        return Section("Comparison with the moments in the file", note("The file stores no moments to compare with."))
    description = (
        "For frames in which a plate carries the foot. The correlation compares the shapes over time: it is 1 if the "
        "curves are equal up to scale and offset. Laboratories place the hip joint center differently, by one to two "
        "centimeters, which changes the hip moment most."
    )
    cells = [
        (
            f"{row.side.capitalize()} {row.title}",
            str(row.agreement.samples),
            f"{row.agreement.correlation:.3f}",
            number(row.agreement.error, 2),
            number(row.agreement.peak),
            number(row.agreement.reference_peak),
            percent(row.agreement.peak_ratio),
        )
        for row in rows
    ]
    head = ["moment", "frames", "correlation", "rms difference (N m/kg)", "peak, Poise (N m/kg)", "peak, file (N m/kg)",
            "ratio of peaks"]  # fmt: skip
    return Section("Comparison with the moments in the file", paragraph(description) + table(head, cells))


def _file_moment(torques: Torques, side: Side, convention: MomentConvention) -> Array | None:
    """Return a moment stored in the file, (n,), N m/kg, NaN for frames without one; None if it is not stored."""
    values = (
        torques.trial.moments.get(f"{side[0].upper()}{convention.plug_in_gait_channel}")
        if convention.plug_in_gait_channel
        else None
    )
    if values is None:
        return None
    is_stored = np.isfinite(values).all(axis=1) & (values != 0.0).any(axis=1)
    return np.where(is_stored, PLUG_IN_GAIT_UNIT * values[:, convention.component], np.nan) if is_stored.any() else None


def _moment_limits(
    torques: Torques, convention: MomentConvention, all_moments: dict[str, Array]
) -> tuple[float, float]:
    """Return the vertical axis limits of a moment for both sides, N m/kg."""
    values = [all_moments[f"{side} {convention.title}"][torques.foot_wrenches.has_wrench(side)] for side in SIDES]
    values += [file for side in SIDES if (file := _file_moment(torques, side, convention)) is not None]
    both = np.concatenate(values)
    both = both[np.isfinite(both)] if np.isfinite(both).any() else np.zeros(1)
    room = 0.06 * float(np.ptp(both)) + 0.01
    return float(both.min()) - room, float(both.max()) + room


def _moment_time_figure(
    torques: Torques,
    side: Side,
    convention: MomentConvention,
    known: dict[str, Array],
    all_moments: dict[str, Array],
    y_limits: tuple[float, float],
) -> str:
    title, ground = f"{side} {convention.title}", torques.foot_wrenches
    partial_moment = np.where(ground.has_wrench(side), all_moments[title], np.nan)
    file = _file_moment(torques, side, convention)
    with new_chart(f"Moment of the {title} over time", HALF_WIDTH, 120.0) as chart:
        axes = chart.axes
        shade_intervals(axes, torques.time, ground.loaded[side] & ground.measured[side])
        curve(axes, torques.time, partial_moment, color=LEG_COLORS[side], alpha=0.35, linewidth=1.0)
        curve(axes, torques.time, known[title], color=LEG_COLORS[side], linewidth=1.4)
        if file is not None:
            curve(axes, torques.time, file, color=FILE_COLOR, linestyle=(0, (3.0, 1.6)), linewidth=0.9)
        axes.axhline(0.0, color=GRID_COLOR, linewidth=0.6)
        axes.set(xlabel="time (s)", ylabel=MOMENT_AXIS_LABEL, xlim=_time_limits(torques), ylim=y_limits)
    known_values = known[title][np.isfinite(known[title])]
    text = (
        f"{number(float(known_values.min()), 2)} to {number(float(known_values.max()), 2)} N m/kg"
        if len(known_values)
        else "not known"
    )
    if len(known_values) and not ground.measured_in_stance(side):
        text += ", known in swing only"
    return figure(chart.svg, f"{title.capitalize()}: {text}.")


def _cycle_figures(torques: Torques, known: dict[str, Array]) -> str:
    try:
        cycles = human_anatomical_walk(torques).cycles
    except GaitError as error:
        return note(f"{error}.")
    figures = [chart for convention in LEG_MOMENTS if (chart := _cycle_figure(torques, convention, cycles, known))]
    description = (
        "From initial contact of a foot to its next initial contact, each leg over the cycles of its own foot, as far "
        "as its moment is known; the vertical line is toe-off."
    )
    return paragraph(description) + grid(figures, 3)


def _cycle_figure(
    torques: Torques, convention: MomentConvention, cycles: tuple[GaitCycle, ...], known: dict[str, Array]
) -> str:
    peaks: dict[str, float] = {}
    with new_chart(f"Moment of the {convention.title} over the gait cycle", THIRD_WIDTH) as chart:
        axes = chart.axes
        for side in SIDES:
            values, first = known[f"{side} {convention.title}"], True
            for cycle in (cycle for cycle in cycles if cycle.side == side):
                moment = normalize_cycle(torques.time, values, cycle)
                if np.isfinite(moment).any():
                    axes.plot(
                        np.linspace(0.0, 100.0, len(moment)),
                        moment,
                        color=LEG_COLORS[side],
                        linestyle=LEG_DASHES[side],
                        label=side if first else None,
                    )
                    axes.axvline(
                        cycle.stance, color=LEG_COLORS[side], linestyle=LEG_DASHES[side], linewidth=0.5, alpha=0.7
                    )
                    first = False
                    peaks[side] = max(peaks.get(side, -np.inf), float(np.nanmax(moment)))
        axes.axhline(0.0, color=GRID_COLOR, linewidth=0.6)
        axes.set(xlabel=CYCLE_AXIS_LABEL, ylabel=MOMENT_AXIS_LABEL, xlim=(0.0, 100.0))
        chart.legend(2)
    text = ", ".join(f"{side} {number(peak, 2)}" for side, peak in peaks.items())
    return figure(chart.svg, f"{convention.title.capitalize()}: at most {text} N m/kg.") if peaks else ""


# -- Dynamics --------------------------------------------------------------------------------------------------------


DYNAMICS_DESCRIPTION = (
    "The best variant, simulated with torques: equation of motion, torque limits and friction at the contact points "
    "have priority over all tasks, so that the zero-moment point is inside the feet and friction limits hold by "
    "construction. Contact points are corners of the soles and tips of the toes, from heel to ball as the foot rolls."
)
SIMULATION_DESCRIPTION = (
    "In MuJoCo the cycle is repeated ten times, and each foot is placed where the body is falling to. The distance "
    "covered shows how much a measured gait relies on balance control, which is missing here."
)
MEASURED_DESCRIPTION = "Dashed, black: from force plates and markers, for frames in which all forces are known."
#: Leg joints whose moments are drawn.
LEG_JOINTS = ("hip_flexion", "knee_flexion", "ankle_dorsiflexion")


def dynamics_section(walks: Sequence[tuple[str, Fit, DynamicGait]]) -> Section | None:
    """Build the section: table of all simulated walks, then forces and moments of the first over its gait cycle.

    Args:
        walks: name, fit and simulated gait of each walk; None is returned if there are none.
    """
    if not walks:
        return None
    head = ["walk", "angle error, rms (deg)", "vertical force, share of weight", "friction used", "ankle (N m/kg)",
            "knee (N m/kg)", "distance in MuJoCo (m)", "strides"]  # fmt: skip
    rows = []
    for name, _, simulated in walks:
        summary = simulated.summary()
        y_min, y_max = summary["vertical_force_of_weight"]
        peaks = summary["peak_torque_per_kg"]
        ankle, knee = (max(peaks[f"{side}_{joint}"] for side in SIDES) for joint in (LEG_JOINTS[2], LEG_JOINTS[1]))
        distance = f"{simulated.distance:.2f} of {simulated.requested_distance:.2f}"
        rows.append((name, number(summary["angle_rmse_deg"], 2), f"{percent(y_min)} to {percent(y_max)}",
                     f"{summary['friction_used']:.2f} of {summary['friction_limit']:g}", number(ankle, 2),
                     number(knee, 2), distance, f"{simulated.strides:.1f}"))  # fmt: skip
    name, fit, simulated = walks[0]
    torques = _measured_torques(fit)
    figures = [_simulated_force_figure(simulated, torques, side) for side in SIDES]
    figures += [_simulated_moment_figure(simulated, torques, joint, side) for joint in LEG_JOINTS for side in SIDES]
    parts = [
        paragraph(DYNAMICS_DESCRIPTION),
        paragraph(SIMULATION_DESCRIPTION),
        table(head, rows),
        heading(f"Forces and moments of {name}"),
    ]
    if torques is not None:
        parts.append(paragraph(MEASURED_DESCRIPTION))
    return Section("Simulation with torques and contact forces", "".join([*parts, grid(figures)]))


def _measured_torques(fit: Fit) -> Torques | None:
    """Return the joint torques measured with force plates in the same trial; None without plates."""
    try:
        return compute_torques(fit) if fit.trial.plates else None
    except PoiseError:
        return None


def _simulated_force_figure(simulated: DynamicGait, torques: Torques | None, side: Side) -> str:
    recording, weight = simulated.ideal_recording, simulated.reference.robot.weight
    share = 100.0 * ground_forces(recording)[side] / weight
    with new_chart(f"Vertical force under the {side} foot over the cycle", HALF_WIDTH) as chart:
        curve(chart.axes, recording.time, share[:, 2], color=LEG_COLORS[side])
        if torques is not None:
            known = torques.foot_wrenches.loaded[side] & torques.foot_wrenches.measured[side]
            measured = np.where(known, 100.0 * torques.foot_wrenches.force[side][:, 2] / weight, np.nan)
            curve(chart.axes, torques.time, measured, color=FILE_COLOR, linestyle="--", linewidth=0.8)
        _set_axes(chart.axes, simulated, "force (% of weight)")
    return figure(
        chart.svg, f"{side.capitalize()} foot, vertical force: at most {number(float(share[:, 2].max()), 3)} %."
    )


def _simulated_moment_figure(simulated: DynamicGait, torques: Torques | None, joint: str, side: Side) -> str:
    convention = next(each for each in LEG_MOMENTS if each.joint == joint)
    robot, recording = simulated.reference.robot, simulated.ideal_recording
    at = robot.joint(f"{side}_{joint}")
    values = convention.sign * recording["command/torque"][:, at.v - 6] / robot.mass
    with new_chart(f"{side} {convention.title} moment over the cycle", HALF_WIDTH) as chart:
        curve(chart.axes, recording.time, values, color=LEG_COLORS[side])
        if torques is not None:
            measured = convention.sign * torques.joint_torque(at.name) / torques.mass
            curve(chart.axes, torques.time, measured, color=FILE_COLOR, linestyle="--", linewidth=0.8)
        _set_axes(chart.axes, simulated, MOMENT_AXIS_LABEL)
    y_min, y_max = number(float(values.min()), 2), number(float(values.max()), 2)
    return figure(chart.svg, f"{side.capitalize()} {convention.title}: {y_min} to {y_max} N m/kg.")


def _set_axes(axes: Axes, simulated: DynamicGait, label: str) -> None:
    axes.axhline(0.0, color=GRID_COLOR, linewidth=0.6)
    axes.set(xlabel="time (s)", ylabel=label, xlim=(simulated.cycle.initial_contact, simulated.cycle.end))
