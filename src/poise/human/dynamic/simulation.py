"""A gait with torques and contact forces: on an ideal plant, where only physics limits it, and in a physics engine."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.analysis.gait_cycle import Cycle
from poise.control import TorqueController
from poise.human.dynamic.bearing import FRICTION, Bearing, bearing
from poise.human.dynamic.repeated import repeated
from poise.human.dynamic.treading import Treading
from poise.human.gait import BEST, Reference
from poise.human.gait.levels import path
from poise.plants import IdealPlant, MujocoPlant, steps
from poise.recording import Recording, record
from poise.recording.provenance import settings
from poise.recording.record import record_steps
from poise.robots import State
from poise.robots.parts import SIDES
from poise.state.balance import GRAVITY

Array = NDArray[np.float64]

#: Period of the controller on an ideal plant, that of the kinematic gait, and in physics (s).
PERIOD, PHYSICS = 0.005, 0.002
#: Cycles that are tried in physics.
CYCLES = 10
#: How much of the first stride is over when physics begin: both feet stand.
BEGIN = 0.03


@dataclass(frozen=True, eq=False)
class Simulated:
    """What came of it.

    Attributes:
        reference, cycle, bearing: of what.
        ideal: recording of one cycle with torques and forces that physics allow.
        physics: recording in MuJoCo, until the fall.
        fall: how it ended there; "" if it did not fall.
        distance: that the pelvis went there on its feet (m), of `asked` m.
    """

    reference: Reference
    cycle: Cycle
    bearing: Bearing
    ideal: Recording
    physics: Recording | None
    fall: str
    distance: float
    asked: float
    strides: float


def with_torques(
    reference: Reference, cycle: Cycle, period: float = PERIOD, along: bool = True
) -> tuple[Recording, Bearing]:
    """One cycle on an ideal plant by a `TorqueController`; `along` the path of the best variant, or the reference."""
    bears = bearing(reference)
    posture = path(reference, cycle, BEST) if along else None
    q, v, _ = reference.sample(cycle.strike)
    start = State(reference.robot, q, v, time=cycle.strike)
    controller = TorqueController(Treading(reference, bears, period, posture), period=period)
    return record(controller, IdealPlant(start), cycle.duration), bears


def in_physics(reference: Reference, cycle: Cycle, cycles: int = CYCLES) -> tuple[Recording, str, float, float, float]:
    """The cycle, repeated, in MuJoCo: recording, how it fell, distance on its feet and asked for (m), strides."""
    walk = repeated(reference, cycle, cycles)
    begin = BEGIN * cycle.duration
    q, v, _ = walk.sample(begin)
    start = State(walk.robot, q, v, time=begin, contacts=walk.robot.feet)
    plant = MujocoPlant(start, friction=FRICTION, self_collision=False)
    controller = TorqueController(Treading(walk, bearing(walk), PHYSICS, adapts=True), period=PHYSICS)
    seconds = float(walk.time[-1]) - begin - 0.1  # the splines end there
    standing = takewhile(lambda step: not plant.fallen, steps(controller, plant, seconds))
    recording = record_steps(standing, walk.robot, provenance=settings(controller, plant))
    way = recording["q"][:, :2]
    went = float(np.linalg.norm(way[-1] - way[0]))
    asked = float(np.linalg.norm(walk.sample(seconds + begin)[0][:2] - q[:2]))
    return recording, plant.fall, went, asked, recording.duration / cycle.duration


def simulate(reference: Reference, cycle: Cycle, physics: bool = True) -> Simulated:
    """A gait with dynamics, on both plants."""
    ideal, bears = with_torques(reference, cycle)
    if not physics:
        return Simulated(reference, cycle, bears, ideal, None, "", 0.0, 0.0, 0.0)
    recording, fall, went, asked, strides = in_physics(reference, cycle)
    return Simulated(reference, cycle, bears, ideal, recording, fall, went, asked, strides)


def ground_forces(recording: Recording) -> dict[str, Array]:
    """Sum of the forces under each foot over time (n x 3, N), of a recording with contacts named after their side."""
    found: dict[str, Array] = {}
    for side in SIDES:
        names = [name for name in recording.channels if name.startswith(f"force/{side} ")]
        parts = [np.nan_to_num(recording[name][:, :3]) for name in names]
        found[side] = np.sum(parts, axis=0) if parts else np.zeros((len(recording), 3))
    return found


def dynamics_facts(simulated: Simulated) -> dict[str, Any]:
    """What a table says of it: errors against the reference, largest torques and forces per weight, friction used."""
    recording, robot = simulated.ideal, simulated.reference.robot
    wanted = np.array([simulated.reference.sample(float(time))[0] for time in recording.time])
    apart = np.degrees(recording["q"][:, 7:] - wanted[:, 7:])
    forces = ground_forces(recording)
    weight = robot.mass * GRAVITY
    total = forces["left"] + forces["right"]
    torque = recording["command/torque"]
    used = max(
        float(np.max(np.hypot(f[on, 0], f[on, 1]) / f[on, 2])) for f in forces.values() if (on := f[:, 2] > 20.0).any()
    )
    peaks = {
        joint.name: float(np.abs(torque[:, joint.v - 6]).max()) / robot.mass
        for joint in robot.joints
        if any(word in joint.name for word in ("hip", "knee", "ankle", "lumbar"))
    }
    facts: dict[str, Any] = {
        "angle_rmse_deg": float(np.sqrt(np.mean(apart**2))),
        "angle_worst_deg": float(np.abs(apart).max()),
        "fallbacks": recording.fallbacks(),
        "vertical_force_of_weight": [float(total[:, 2].min() / weight), float(total[:, 2].max() / weight)],
        "friction_used": used,
        "friction_limit": FRICTION,
        "peak_torque_per_kg": peaks,
        "physics_distance_m": simulated.distance,
        "physics_asked_m": simulated.asked,
        "physics_strides": simulated.strides,
        "physics_fall": simulated.fall,
    }
    knee, ankle = (max(peaks[f"{side}_{name}"] for side in SIDES) for name in ("knee_flexion", "ankle_dorsiflexion"))
    facts["text"] = (
        f"with torques: angles within {facts['angle_rmse_deg']:.1f} degrees rms, knee {knee:.2f} and ankle {ankle:.2f} "
        f"N m/kg at most, friction used {used:.2f} of {FRICTION:g}; in MuJoCo {simulated.distance:.2f} m of "
        f"{simulated.asked:.2f}, {simulated.strides:.1f} strides"
        + (f", then {simulated.fall}" if simulated.fall else "")
    )
    return facts
