"""The tests: speeds, largest pushes, disturbances and measures of a walk, the same for every walker.

Every run has self-collision and speed limits of the motors. A walker has fallen if its base is tilted by more than 60
degrees or lower than 60 % of its first height; the fall detection of the plant, which also counts a hand on the ground,
is not used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.learned.walkers import Walker
from poise.plans import Speed
from poise.plants import MujocoPlant, Push, control_step
from poise.robots import GRAVITY, Robot, State
from poise.runs.world import World

#: A fall: tilt of the base (rad), and its height relative to the first one.
LARGEST_TILT, LEAST_HEIGHT = math.radians(60.0), 0.6
#: Length of a walk, and the part of it that is measured, after its start (s).
WALK_SECONDS, MEASURED_FROM = 8.0, 3.0
#: Time of the first push, after the first steps, and length of a run after it (s).
PUSH_TIME, AFTER_PUSH = 4.0, 3.0
#: Time of a push on a standing robot (s).
STANDING_PUSH_TIME = 1.0
#: Duration of a push (s), and largest force that is tried (N).
PUSH_SECONDS, LARGEST_FORCE = 0.1, 800.0
#: Period of steps of a walk at 0.3 m/s (s), over which the pushes are spread.
STEP_PERIOD = 0.5
#: Speed of the walks with disturbances and pushes.
SPEED: Speed = (0.3, 0.0, 0.0)


@dataclass(frozen=True)
class Size:
    """How much is tested.

    Attributes:
        seeds: seeds of each disturbance.
        directions: number of directions of pushes, evenly spread.
        phases: number of times of pushes within a step.
        force_step: step of the forces (N).
    """

    seeds: int
    directions: int
    phases: int
    force_step: float


SHORT, FULL = Size(2, 4, 1, 100.0), Size(5, 8, 5, 50.0)
#: Speeds that are asked for: forward, to the left (m/s) and turning (rad/s).
SPEEDS: tuple[Speed, ...] = (
    (0.3, 0.0, 0.0),
    (0.5, 0.0, 0.0),
    (0.8, 0.0, 0.0),
    (1.2, 0.0, 0.0),
    (-0.3, 0.0, 0.0),
    (0.0, 0.3, 0.0),
    (0.0, 0.0, 0.6),
)
#: Disturbances of a walk at 0.3 m/s.
WORLDS: dict[str, dict[str, Any]] = {
    "friction 0.4": {"friction": 0.4},
    "friction 0.25": {"friction": 0.25},
    "friction 0.2": {"friction": 0.2},
    "uneven 2 cm": {"terrain": "rough:0.02"},
    "uneven 4 cm": {"terrain": "rough:0.04"},
    "uneven 6 cm": {"terrain": "rough:0.06"},
    "delay 10 ms": {"delay": 10.0},
    "delay 20 ms": {"delay": 20.0},
    "delay 30 ms": {"delay": 30.0},
    "mass -15 %": {"mass_error": -15.0},
    "mass +30 %": {"mass_error": 30.0},
    "noise 0.05": {"noise": 0.05},
    "slope 8 degrees": {"terrain": "slope:8"},
}


@dataclass(frozen=True)
class Run:
    """One simulated run.

    Attributes:
        states: true states at 100 per second.
        torques: torques of the motors at these times (N m).
        forces: largest force on a foot between them (N).
        fell: whether the walker fell; the run ends there.
    """

    states: Sequence[State]
    torques: np.ndarray
    forces: np.ndarray
    fell: bool


def simulate(walker: Walker, robot: Robot, speed: Speed, seconds: float, push: str = "", **world: Any) -> Run:
    """Run a walker.

    Args:
        walker: the walker.
        robot: the G1.
        speed: commanded speed.
        seconds: duration (s).
        push: a push, as on the command line.
        world: fields of `World`, and `seed`.
    """
    seed = int(world.pop("seed", 0))
    pushes = (push,) if push else ()
    controller, plant = walker.build(
        robot, speed, World(push=pushes, self_collision=True, speed_limits=True, **world), seed
    )
    start = plant.truth()
    states, torques, forces, largest, fell = [start], [], [], 0.0, False
    every = round(0.01 / controller.period)
    for tick in range(1, round(seconds / controller.period) + 1):
        control_step(controller, plant)
        largest = max(largest, foot_force(plant))
        if tick % every:
            continue
        states.append(plant.truth())
        torques.append(plant.joint_torques())
        forces.append(largest)
        largest = 0.0
        if has_fallen(start, states[-1], plant) or plant.failure:
            fell = True
            break
    return Run(states, np.array(torques), np.array(forces), fell)


def foot_force(plant: MujocoPlant) -> float:
    """Return the largest normal force on a foot (N)."""
    truth = plant._simulation.sample().contact_readings.normal_forces
    return float(truth[: len(plant.robot.feet)].max(initial=0.0))


def has_fallen(start: State, state: State, plant: MujocoPlant) -> bool:
    """Return whether the base is tilted or low; heights are above the ground."""
    x, y, z, qx, qy, *_ = state.q.tolist()
    x0, y0, z0, *_ = start.q.tolist()
    ground = plant.ground
    upright = 1.0 - 2.0 * (qx * qx + qy * qy)
    return upright < math.cos(LARGEST_TILT) or z - ground.elevation(x, y) < LEAST_HEIGHT * (
        z0 - ground.elevation(x0, y0)
    )


# -- Tests -----------------------------------------------------------------------------------------------------------


def reached_speed(run: Run) -> tuple[float, float, float]:
    """Return the mean speed after the start, in the axes of the first heading while it does not turn (m/s, rad/s)."""
    states = [state for state in run.states if state.time >= MEASURED_FROM]
    if len(states) < 2:
        return math.nan, math.nan, math.nan
    seconds = states[-1].time - states[0].time
    yaws = np.unwrap([_yaw(state) for state in states])
    turning = float(yaws[-1] - yaws[0]) / seconds
    steps = np.diff([complex(*state.q[:2]) for state in states]) * np.exp(-1j * yaws[:-1])
    mean = steps.sum() / seconds
    return float(mean.real), float(mean.imag), turning


def speed_tests(walker: Walker, robot: Robot, progress: Callable[[str], None]) -> dict[str, str]:
    """Return the speeds that a walker reaches, by name of the command."""
    rows = {}
    for speed in SPEEDS:
        run = simulate(walker, robot, speed, WALK_SECONDS)
        axis = int(np.argmax(np.abs(speed)))
        name = f"{('forward', 'left', 'turning')[axis]} {speed[axis]:g}"
        rows[name] = "falls" if run.fell else f"{reached_speed(run)[axis]:.2f}"
        progress(f"{walker.name}: {name}: {rows[name]}")
    return rows


def disturbance_tests(walker: Walker, robot: Robot, size: Size, progress: Callable[[str], None]) -> dict[str, str]:
    """Return how many walks survive, by disturbance; the seed also varies the speed by a tenth, and turns a little."""
    rows = {}
    for name, world in WORLDS.items():
        survived = 0
        for seed in range(size.seeds):
            random = np.random.default_rng(seed)
            speed = (SPEED[0] + float(random.uniform(-0.03, 0.03)), 0.0, float(random.uniform(-0.05, 0.05)))
            survived += not simulate(walker, robot, speed, WALK_SECONDS, seed=seed, **world).fell
        rows[name] = f"{survived}/{size.seeds}"
        progress(f"{walker.name}: {name}: {rows[name]}")
    return rows


def push_tests(walker: Walker, robot: Robot, size: Size, progress: Callable[[str], None]) -> dict[str, str]:
    """Return the largest pushes that a walker survives, the smallest and the median over directions and phases (N)."""
    rows = {}
    for name, speed, time in (
        ("push standing", (0.0, 0.0, 0.0), STANDING_PUSH_TIME),
        ("push walking", SPEED, PUSH_TIME),
    ):
        phases = size.phases if any(speed) else 1
        limits = [
            largest_push(
                walker, robot, speed, 2.0 * math.pi * k / size.directions, time + STEP_PERIOD * i / phases, size
            )
            for k in range(size.directions)
            for i in range(phases)
        ]
        rows[f"{name}, least / median N"] = f"{min(limits):.0f} / {np.median(limits):.0f}"
        progress(f"{walker.name}: {name}: {[round(limit) for limit in limits]}")
    return rows


def largest_push(walker: Walker, robot: Robot, speed: Speed, direction: float, time: float, size: Size) -> float:
    """Return the largest force below the first fall, from below in steps (N)."""
    force = 0.0
    while force < LARGEST_FORCE:
        tried = force + size.force_step
        x, y = tried * math.cos(direction), tried * math.sin(direction)
        push = Push((x, y, 0.0), PUSH_SECONDS, time)
        text = f"{x!r},{y!r},0,{push.duration!r}@{time!r}"
        if simulate(walker, robot, speed, time + AFTER_PUSH, text).fell:
            break
        force = tried
    return force


def measures(walker: Walker, robot: Robot, progress: Callable[[str], None]) -> dict[str, str]:
    """Return measures of an undisturbed walk at 0.5 m/s."""
    run = simulate(walker, robot, (0.5, 0.0, 0.0), WALK_SECONDS)
    names = ("cost of transport", "pelvis pitch, degrees", "lateral sway, mm", "peak foot force, weights")
    if run.fell:
        return dict.fromkeys(names, "falls")
    picked = [i for i, state in enumerate(run.states[1:]) if state.time >= MEASURED_FROM]
    states = [run.states[i + 1] for i in picked]
    rates = np.array([state.v[6:] for state in states])
    power = float(np.abs(run.torques[picked] * rates).sum(axis=1).mean())
    forward, _, _ = reached_speed(run)
    pitch = np.degrees(
        [math.asin(max(-1.0, min(1.0, -state.pose(robot.frame("pelvis")).rotation[2, 0]))) for state in states]
    )
    sway = np.array([state.q[1] for state in states])
    sway -= np.polyval(np.polyfit(np.arange(len(sway)), sway, 1), np.arange(len(sway)))
    weight = robot.mass * GRAVITY
    values = (power / (weight * forward), np.ptp(pitch), 1e3 * np.ptp(sway), run.forces[picked].max() / weight)
    rows = {f"{name}": f"{value:.3g}" for name, value in zip(names, values, strict=True)}
    progress(f"{walker.name}: {rows}")
    return rows


def _yaw(state: State) -> float:
    x, y, z, w = state.q[3:7].tolist()
    return math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
