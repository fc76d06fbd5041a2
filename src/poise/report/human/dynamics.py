"""Dynamics: torques and ground forces of reproduced gaits, beside what plates measured, and how far they walk."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from poise.errors import PoiseError
from poise.human.dynamic import Simulated, dynamics_facts, ground_forces
from poise.human.fitting import Fit
from poise.human.torques import Torques, inverse_dynamics
from poise.human.torques.moments import LEG
from poise.report.human.moments import STORED, UNIT
from poise.report.page.cycle import LEGS
from poise.report.page.drawing import FAINT, HALF, curve, drawing
from poise.report.page.html import beside, figure, heading, number, paragraph, percent, table
from poise.report.page.section import Section
from poise.robots.parts import SIDES, Side
from poise.state.balance import GRAVITY

Array = NDArray[np.float64]

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
        facts = dynamics_facts(simulated)
        low, high = facts["vertical_force_of_weight"]
        peaks = facts["peak_torque_per_kg"]
        ankle, knee = (max(peaks[f"{side}_{joint}"] for side in SIDES) for joint in (SHOWN[2], SHOWN[1]))
        went = f"{simulated.distance:.2f} of {simulated.asked:.2f}"
        rows.append((name, number(facts["angle_rmse_deg"], 2), f"{percent(low)} to {percent(high)}",
                     f"{facts['friction_used']:.2f} of {facts['friction_limit']:g}", number(ankle, 2), number(knee, 2),
                     went, f"{simulated.strides:.1f}"))  # fmt: skip
    name, fit, simulated = walks[0]
    torques = _measured(fit)
    figures = [_force(simulated, torques, side) for side in SIDES]
    figures += [_moment(simulated, torques, joint, side) for joint in SHOWN for side in SIDES]
    parts = [paragraph(WORDS), paragraph(PHYSICS), table(head, rows), heading(f"Forces and moments of {name}")]
    if torques is not None:
        parts.append(paragraph(MEASURED))
    return Section("With torques and contact forces", "".join([*parts, beside(figures)]))


def _measured(fit: Fit) -> Torques | None:
    """What plates tell of the same walk, if there are any."""
    try:
        return inverse_dynamics(fit) if fit.trial.plates else None
    except PoiseError:
        return None


def _force(simulated: Simulated, torques: Torques | None, side: Side) -> str:
    recording, weight = simulated.ideal, GRAVITY * simulated.reference.robot.mass
    share = 100.0 * ground_forces(recording)[side] / weight
    with drawing(f"Vertical force under the {side} foot over the cycle", HALF) as drawn:
        curve(drawn.axes, recording.time, share[:, 2], color=LEGS[side])
        if torques is not None:
            known = torques.ground.loaded[side] & torques.ground.measured[side]
            seen = np.where(known, 100.0 * torques.ground.force[side][:, 2] / weight, np.nan)
            curve(drawn.axes, torques.time, seen, color=STORED, linestyle="--", linewidth=0.8)
        _frame(drawn.axes, simulated, "force (% of weight)")
    return figure(
        drawn.svg, f"{side.capitalize()} foot, vertical force: at most {number(float(share[:, 2].max()), 3)} %."
    )


def _moment(simulated: Simulated, torques: Torques | None, joint: str, side: Side) -> str:
    own = next(each for each in LEG if each.joint == joint)
    robot, recording = simulated.reference.robot, simulated.ideal
    at = robot.joint(f"{side}_{joint}")
    values = own.sign * recording["command/torque"][:, at.v - 6] / robot.mass
    with drawing(f"{side} {own.title} moment over the cycle", HALF) as drawn:
        curve(drawn.axes, recording.time, values, color=LEGS[side])
        if torques is not None:
            seen = own.sign * torques.of(at.name) / torques.mass
            curve(drawn.axes, torques.time, seen, color=STORED, linestyle="--", linewidth=0.8)
        _frame(drawn.axes, simulated, UNIT)
    low, high = number(float(values.min()), 2), number(float(values.max()), 2)
    return figure(drawn.svg, f"{side.capitalize()} {own.title}: {low} to {high} N m/kg.")


def _frame(axes: Axes, simulated: Simulated, label: str) -> None:
    axes.axhline(0.0, color=FAINT, linewidth=0.6)
    axes.set(xlabel="time (s)", ylabel=label, xlim=(simulated.cycle.strike, simulated.cycle.next_strike))
