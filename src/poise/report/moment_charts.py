"""Report sections on ground forces and joint moments of a person, measured and simulated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from poise.analysis import GaitCycle, normalize_cycle
from poise.arrays import Array, Mask
from poise.errors import GaitError, PoiseError
from poise.html import (
    COLORS,
    DASHES,
    FAINT,
    HALF,
    SHADE,
    THIRD,
    Section,
    beside,
    bullets,
    curve,
    drawing,
    figure,
    heading,
    note,
    number,
    paragraph,
    percent,
    table,
    wordy,
)
from poise.human import (
    BACK,
    LEG,
    STORED_UNIT,
    Convention,
    Fit,
    Simulated,
    Torques,
    against_stored,
    compute_torques,
    ground_forces,
    human_strides,
    moments,
)
from poise.report.cycle_curves import LEG_COLORS, LEG_DASHES, SCALE
from poise.robots import GRAVITY, SIDES, Side

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORCES = (
    "Forces of the ground on each foot as the plates measured them, as a share of the body's weight. Grey: the foot is "
    "wholly on its plates, and all that the ground does to it is known."
)
RESIDUAL = (
    "What would have to act on the pelvis beside the ground to make the measured motion out of the measured forces, in "
    "world axes. With a perfect body, perfect markers and perfect plates it would be zero. Grey: frames in which both "
    "feet are wholly on plates or in the air; only these count."
)


def trial(torques: Torques) -> Section:
    """Who walked, on which plates, and what was decided on the way."""
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
            "all of it"
            if each.whole
            else "not alone"
            if each.shared
            else f"{1e3 * each.beyond:.0f} mm beyond the edge",
        )
        for each in torques.ground.intervals
    ]
    whole = wordy(["", torques.trial.path.rpartition("/")[2]], rows)
    whole += wordy(["plate", "foot", "loaded (s)", "the plate measures"], steps) if steps else ""
    return Section("The trial", whole + heading("How it was done") + bullets(torques.notes))


def forces(torques: Torques) -> Section:
    """Forces of the ground under each foot over time."""
    figures = [_plate_force(torques, side, *_force_limits(torques)) for side in SIDES]
    return Section("Ground forces", paragraph(FORCES) + beside(figures))


def residual(torques: Torques) -> Section:
    """Force and moment at the pelvis that nothing explains, over time and on average."""
    known = torques.ground.known
    groups = (("force", "N", slice(0, 3)), ("moment", "N m", slice(3, 6)))
    figures = []
    for name, unit, columns in groups:
        values = torques.residual[:, columns]
        with drawing(f"Residual {name} at the pelvis over time", HALF) as drawn:
            marked(drawn.axes, torques.time, known)
            for k, axis in enumerate("xyz"):
                shown = np.where(known, values[:, k], np.nan)
                curve(drawn.axes, torques.time, shown, color=COLORS[k], linestyle=DASHES[k], label=axis)
            drawn.axes.axhline(0.0, color=FAINT, linewidth=0.6)
            drawn.axes.set(xlabel="time (s)", ylabel=f"{name} ({unit})", xlim=_span(torques))
            drawn.legend(3)
        figures.append(figure(drawn.svg, f"Residual {name} in the axes of the world, where all contact is measured."))
    rms, weight = torques.residual_rms, GRAVITY * torques.mass
    rows = [
        (axis, number(float(rms[k])), percent(float(rms[k]) / weight), number(float(rms[k + 3])))
        for k, axis in enumerate(("x", "y", "z, up"))
    ]
    head = ["axis of the world", "force, rms (N)", "of the weight", "moment, rms (N m)"]
    caption = f"Root mean square over {int(known.sum())} of {len(known)} frames."
    return Section("What stays unexplained", paragraph(RESIDUAL) + beside(figures) + table(head, rows, caption))


def marked(axes: Axes, time: Array, marks: Mask) -> None:
    """Times at which something holds, on a grey ground."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], marks, [False]]).astype(np.int8)))
    for begin, end in edges.reshape(-1, 2).tolist():
        axes.axvspan(time[begin], time[min(end, len(time) - 1)], color=SHADE, linewidth=0, zorder=0)


def _share(torques: Torques, side: Side) -> Array:
    """Force of the ground in % of the weight, n x 3; NaN where no plate is loaded."""
    loaded = torques.ground.loaded[side][:, np.newaxis]
    return np.where(loaded, 100.0 * torques.ground.force[side] / (GRAVITY * torques.mass), np.nan)


def _force_limits(torques: Torques) -> tuple[float, float]:
    """Least and most of all forces, with a little room: both feet are drawn at one scale."""
    both = np.concatenate([_share(torques, side).ravel() for side in SIDES])
    both = both[np.isfinite(both)]
    return (1.1 * min(float(both.min()), 0.0), 1.05 * float(both.max())) if len(both) else (0.0, 100.0)


def _plate_force(torques: Torques, side: Side, low: float, high: float) -> str:
    ground, share = torques.ground, _share(torques, side)
    loaded = ground.loaded[side]
    with drawing(f"Ground force under the {side} foot over time", HALF, 150.0) as drawn:
        axes = drawn.axes
        marked(axes, torques.time, loaded & ground.measured[side])
        curve(axes, torques.time, share[:, 2], color=LEG_COLORS[side], label="vertical", linewidth=1.4)
        for k, axis in enumerate("xy"):
            curve(axes, torques.time, share[:, k], color=COLORS[2 + k], linestyle=DASHES[1 + k], label=f"along {axis}")
        axes.axhline(0.0, color=FAINT, linewidth=0.6)
        axes.set(xlabel="time (s)", ylabel="force (% of weight)", xlim=_span(torques), ylim=(low, high))
        drawn.legend(3)
    most = float(np.nanmax(share[:, 2])) if loaded.any() else 0.0
    said = f"at most {most:.0f} % of the weight" if loaded.any() else "on no plate"
    return figure(drawn.svg, f"{side.capitalize()} foot: {said}.")


def _span(torques: Torques) -> tuple[float, float]:
    return float(torques.time[0]), float(torques.time[-1])


# -- Moments of hips -------------------------------------------------------------------------------------------------


STORED, UNIT = "#222222", "moment (N m/kg)"
SIGNS = (
    "Moments are internal, those of muscles and ligaments, per kg of body mass; positive is what the title says. "
    "Solid: all that the ground does to the leg is known (grey ground: the foot is wholly on its plates; else it is "
    "in the air). Faint: a plate bears only a part of the foot, and the moment is too small by an unknown amount. No "
    "line: the foot stands beside the plates."
)
FILE = "Dashed, black: the moment that the laboratory's software stored in the file."


def legs(torques: Torques) -> Section:
    """Moments of both legs over time, with those of the file, then over the gait cycle."""
    known, every = moments(torques), moments(torques, everywhere=True)
    stored = any(_stored(torques, side, own) is not None for side in SIDES for own in LEG)
    figures = [
        _over_time(torques, side, own, known, every, _moment_limits(torques, own, every))
        for own in LEG
        for side in SIDES
    ]
    parts = [paragraph(SIGNS, FILE if stored else ""), beside(figures), heading("Over the gait cycle")]
    return Section("Moments of the legs", "".join([*parts, _cycles(torques, known)]))


def back(torques: Torques) -> Section:
    """Moments of the lower back, which need no plate: all that is above it hangs on nothing else."""
    words = (
        "Moments of the lower back carry trunk, head and arms. They follow from the motion of these alone: no plate is "
        "needed, and they are known in every frame."
    )
    own = moments(torques)
    figures = []
    for k, each in enumerate(BACK):
        with drawing(f"{each.title} moment over time", THIRD) as drawn:
            curve(drawn.axes, torques.time, own[each.title], color=COLORS[k])
            drawn.axes.axhline(0.0, color=FAINT, linewidth=0.6)
            drawn.axes.set(xlabel="time (s)", ylabel=UNIT, xlim=(torques.time[0], torques.time[-1]))
        low, high = (number(float(f(own[each.title])), 2) for f in (np.nanmin, np.nanmax))
        figures.append(figure(drawn.svg, f"{each.title.capitalize()}: {low} to {high} N m/kg."))
    return Section("Moments of the lower back", paragraph(words) + beside(figures, 3))


def stored(torques: Torques) -> Section:
    """How alike our moments and those of the file are."""
    rows = against_stored(torques)
    if not rows:
        return Section("Against the file", note("The file stores no moments that could be compared."))
    words = (
        "Frames in which a plate bears the foot. The correlation is that of the shapes over time: 1 where they are the "
        "same but for size and offset. Laboratories place the center of the hip otherwise, by a centimetre or two, "
        "which changes the moment of the hip the most."
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
    head = ["moment", "frames", "correlation", "rms difference (N m/kg)", "peak here (N m/kg)", "in the file (N m/kg)",
            "here of the file's"]  # fmt: skip
    return Section("Against the file", paragraph(words) + table(head, cells))


def _stored(torques: Torques, side: Side, own: Convention) -> Array | None:
    """What the file stores, N m per kg, NaN where it stores nothing; None if it has no such moment."""
    values = torques.trial.moments.get(f"{side[0].upper()}{own.stored}") if own.stored else None
    if values is None:
        return None
    there = np.isfinite(values).all(axis=1) & (values != 0.0).any(axis=1)
    return np.where(there, STORED_UNIT * values[:, own.component], np.nan) if there.any() else None


def _moment_limits(torques: Torques, own: Convention, every: dict[str, Array]) -> tuple[float, float]:
    """Least and most of a moment on both sides, with a little room: they are drawn at one scale."""
    values = [every[f"{side} {own.title}"][torques.ground.carried(side)] for side in SIDES]
    values += [file for side in SIDES if (file := _stored(torques, side, own)) is not None]
    both = np.concatenate(values)
    both = both[np.isfinite(both)] if np.isfinite(both).any() else np.zeros(1)
    room = 0.06 * float(np.ptp(both)) + 0.01
    return float(both.min()) - room, float(both.max()) + room


def _over_time(
    torques: Torques,
    side: Side,
    own: Convention,
    known: dict[str, Array],
    every: dict[str, Array],
    reach: tuple[float, float],
) -> str:
    title, ground = f"{side} {own.title}", torques.ground
    partly = np.where(ground.carried(side), every[title], np.nan)
    file = _stored(torques, side, own)
    with drawing(f"Moment of the {title} over time", HALF, 120.0) as drawn:
        axes = drawn.axes
        marked(axes, torques.time, ground.loaded[side] & ground.measured[side])
        curve(axes, torques.time, partly, color=LEG_COLORS[side], alpha=0.35, linewidth=1.0)
        curve(axes, torques.time, known[title], color=LEG_COLORS[side], linewidth=1.4)
        if file is not None:
            curve(axes, torques.time, file, color=STORED, linestyle=(0, (3.0, 1.6)), linewidth=0.9)
        axes.axhline(0.0, color=FAINT, linewidth=0.6)
        axes.set(xlabel="time (s)", ylabel=UNIT, xlim=(torques.time[0], torques.time[-1]), ylim=reach)
    ours = known[title][np.isfinite(known[title])]
    said = f"{number(float(ours.min()), 2)} to {number(float(ours.max()), 2)} N m/kg" if len(ours) else "not known"
    return figure(drawn.svg, f"{title.capitalize()}: {said}.")


def _cycles(torques: Torques, known: dict[str, Array]) -> str:
    try:
        cycles = human_strides(torques).cycles
    except GaitError as error:
        return note(f"{error}.")
    figures = [drawn for own in LEG if (drawn := _cycle(torques, own, cycles, known))]
    words = (
        "From one touchdown of a foot to its next, each leg over the cycles of its own foot, where its moment is "
        "known; the vertical line is where the foot leaves the ground."
    )
    return paragraph(words) + beside(figures, 3)


def _cycle(torques: Torques, own: Convention, cycles: tuple[GaitCycle, ...], known: dict[str, Array]) -> str:
    peaks: dict[str, float] = {}
    with drawing(f"Moment of the {own.title} over the gait cycle", THIRD) as drawn:
        axes = drawn.axes
        for side in SIDES:
            values, first = known[f"{side} {own.title}"], True
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
        axes.axhline(0.0, color=FAINT, linewidth=0.6)
        axes.set(xlabel=SCALE, ylabel=UNIT, xlim=(0.0, 100.0))
        drawn.legend(2)
    said = ", ".join(f"{side} {number(most, 2)}" for side, most in peaks.items())
    return figure(drawn.svg, f"{own.title.capitalize()}: at most {said} N m/kg.") if peaks else ""


# -- Dynamics --------------------------------------------------------------------------------------------------------


WORDS = (
    "The best variant again, with torques: equation of motion, torque limits and friction under the points that bear "
    "weight stand above all tasks, so that the zero-moment point is inside the feet and friction is respected by "
    "construction. Points that bear are corners of the soles and tips of the toes, from heel to ball as the foot rolls."
)
PHYSICS = (
    "In MuJoCo the cycle is repeated ten times, and each foot is set down where the fall leads to. How far it goes "
    "says how much a measured gait leaves to balance that nobody controls here."
)
MEASURED = "Dashed, black: from force plates and markers, where these say everything."
#: What is drawn of the legs.
SHOWN = ("hip_flexion", "knee_flexion", "ankle_dorsiflexion")


def dynamics(walks: Sequence[tuple[str, Fit, Simulated]]) -> Section | None:
    """A table of all walks, then forces and moments of the first over its cycle; nothing without walks."""
    if not walks:
        return None
    head = ["walk", "angles off (deg, rms)", "vertical force of weight", "friction used", "ankle (N m/kg)",
            "knee (N m/kg)", "in MuJoCo (m)", "strides"]  # fmt: skip
    rows = []
    for name, _, simulated in walks:
        facts = simulated.summary()
        low, high = facts["vertical_force_of_weight"]
        peaks = facts["peak_torque_per_kg"]
        ankle, knee = (max(peaks[f"{side}_{joint}"] for side in SIDES) for joint in (SHOWN[2], SHOWN[1]))
        went = f"{simulated.distance:.2f} of {simulated.asked:.2f}"
        rows.append((name, number(facts["angle_rmse_deg"], 2), f"{percent(low)} to {percent(high)}",
                     f"{facts['friction_used']:.2f} of {facts['friction_limit']:g}", number(ankle, 2), number(knee, 2),
                     went, f"{simulated.strides:.1f}"))  # fmt: skip
    name, fit, simulated = walks[0]
    torques = _measured(fit)
    figures = [_simulated_force(simulated, torques, side) for side in SIDES]
    figures += [_simulated_moment(simulated, torques, joint, side) for joint in SHOWN for side in SIDES]
    parts = [paragraph(WORDS), paragraph(PHYSICS), table(head, rows), heading(f"Forces and moments of {name}")]
    if torques is not None:
        parts.append(paragraph(MEASURED))
    return Section("With torques and contact forces", "".join([*parts, beside(figures)]))


def _measured(fit: Fit) -> Torques | None:
    """What plates tell of the same walk, if there are any."""
    try:
        return compute_torques(fit) if fit.trial.plates else None
    except PoiseError:
        return None


def _simulated_force(simulated: Simulated, torques: Torques | None, side: Side) -> str:
    recording, weight = simulated.ideal, simulated.reference.robot.weight
    share = 100.0 * ground_forces(recording)[side] / weight
    with drawing(f"Vertical force under the {side} foot over the cycle", HALF) as drawn:
        curve(drawn.axes, recording.time, share[:, 2], color=LEG_COLORS[side])
        if torques is not None:
            known = torques.ground.loaded[side] & torques.ground.measured[side]
            seen = np.where(known, 100.0 * torques.ground.force[side][:, 2] / weight, np.nan)
            curve(drawn.axes, torques.time, seen, color=STORED, linestyle="--", linewidth=0.8)
        _frame(drawn.axes, simulated, "force (% of weight)")
    return figure(
        drawn.svg, f"{side.capitalize()} foot, vertical force: at most {number(float(share[:, 2].max()), 3)} %."
    )


def _simulated_moment(simulated: Simulated, torques: Torques | None, joint: str, side: Side) -> str:
    own = next(each for each in LEG if each.joint == joint)
    robot, recording = simulated.reference.robot, simulated.ideal
    at = robot.joint(f"{side}_{joint}")
    values = own.sign * recording["command/torque"][:, at.v - 6] / robot.mass
    with drawing(f"{side} {own.title} moment over the cycle", HALF) as drawn:
        curve(drawn.axes, recording.time, values, color=LEG_COLORS[side])
        if torques is not None:
            seen = own.sign * torques.of(at.name) / torques.mass
            curve(drawn.axes, torques.time, seen, color=STORED, linestyle="--", linewidth=0.8)
        _frame(drawn.axes, simulated, UNIT)
    low, high = number(float(values.min()), 2), number(float(values.max()), 2)
    return figure(drawn.svg, f"{side.capitalize()} {own.title}: {low} to {high} N m/kg.")


def _frame(axes: Axes, simulated: Simulated, label: str) -> None:
    axes.axhline(0.0, color=FAINT, linewidth=0.6)
    axes.set(xlabel="time (s)", ylabel=label, xlim=(simulated.cycle.initial_contact, simulated.cycle.end))
