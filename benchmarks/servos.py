"""Measure robots on position servos: largest push with and without ZMP regulation, squats, walks, loads.

    python benchmarks/servos.py [--robot hoap3] [--only pushes,squats,walks,realtime] [--workers 2]

Pushes act on the base for 0.1 s, in eight directions, on a robot that has stood for 3 s with noisy sensors. Bisection
finds the largest push without a fall, to 4 %. The result is that of the weakest direction.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from functools import partial
from itertools import product

from poise import PositionController, runs
from poise.behaviors import ZmpBalance, regulation_settings
from poise.plants import RemotePlant, control_step
from poise.runs import recorded_zmp_error, recovery_time

#: Directions of pushes (degrees), 0 ahead, 90 to the left.
DIRECTIONS = (0, 45, 90, 135, 180, 225, 270, 315)
#: Relative resolution of the largest push.
PUSH_RESOLUTION = 0.04
#: Time at which a push begins, after the robot has settled (s).
PUSH_TIME = 3.0
#: Address of the simulation for the measurement in two processes.
ADDRESS = "tcp://127.0.0.1:5597"
#: Settings for servos of full stiffness, in place of those of the data file.
STIFFEST_SERVOS = {"stiffness": 1.0, "proportional": 0.03, "derivative": 0.0}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robot", default="hoap3")
    parser.add_argument("--only", default="pushes,squats,walks,realtime")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    with ProcessPoolExecutor(options.workers) as pool:
        if "pushes" in options.only:
            for line in push_summaries(options.robot, pool):
                print(line, flush=True)
        if "squats" in options.only:
            for line in pool.map(partial(squat_summary, options.robot), ("strict", "null-space", "carrying")):
                print(line, flush=True)
        if "walks" in options.only:
            for line in pool.map(partial(walk_summary, options.robot), (0.0, 10.0)):
                print(line, flush=True)
    if "realtime" in options.only:
        print(realtime_summary(options.robot))
    return 0


def realtime_summary(robot: str, steps: int = 5000) -> str:
    """Measure the control law in this process with MuJoCo in another, in lock-step at 1 kHz, one at a time."""
    command = [sys.executable, "-m", "poise", "serve", "--robot", robot, "--actuators", "servos", "--address", ADDRESS]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            server.stdout.readline()  # wait until the server is ready
            body = runs.library_robot(robot)
            servo_settings = {
                key: value
                for key, value in body.servos.walk.items()
                if key in STIFFEST_SERVOS or key in ("integral", "momentum_recovery_gain")
            }
            controller = PositionController(
                ZmpBalance(body, settings=regulation_settings(body, **servo_settings)), period=0.001
            )
            with closing(RemotePlant(ADDRESS, body)) as plant:
                control_step(controller, plant)
                begin, busy = time.perf_counter(), time.process_time()
                for _ in range(steps):
                    control_step(controller, plant)
                elapsed, busy = time.perf_counter() - begin, time.process_time() - busy
        finally:
            server.terminate()
    return (
        f"{robot}: 1 kHz in two processes: {1e-3 * steps / elapsed:.2f} of real time in lock-step, the controller busy "
        f"for {busy / (1e-3 * steps):.2f} of it, sockets included"
    )


def push_summaries(robot: str, pool: ProcessPoolExecutor) -> Iterator[str]:
    """Yield lines about the largest pushes, and the recovery time after 60 % of the weakest."""
    yield f"{robot}: largest push without a fall (N, 0.1 s) from " + ", ".join(f"{angle}°" for angle in DIRECTIONS)
    for name, settings_changes in (("its own stiffness", {}), ("stiffest servos", STIFFEST_SERVOS)):
        cases = list(product((0.0, 1.0), DIRECTIONS))
        pushes = list(pool.map(partial(largest_push, robot, settings_changes), *zip(*cases, strict=True)))
        without, regulated = pushes[: len(DIRECTIONS)], pushes[len(DIRECTIONS) :]
        yield f"  {name}, without: " + "  ".join(f"{force:5.1f}" for force in without)
        yield f"  {name}, with:    " + "  ".join(f"{force:5.1f}" for force in regulated)
        mean = sum(regulated) / sum(without)
        weakest = f"{min(without):.1f} -> {min(regulated):.1f}: {min(regulated) / min(without):.2f} times"
        yield f"  weakest {weakest}; mean of all directions {mean:.2f} times"
        if not settings_changes:
            back = list(pool.map(partial(recovery_seconds, robot, 0.6 * min(regulated)), DIRECTIONS))
            yield "  after 60 % of the weakest, back within 5 mm after (s): " + ", ".join(
                "never" if seconds is None else f"{seconds:.2f}" for seconds in back
            )


def largest_push(robot: str, settings_changes: dict[str, float], regulate: float, angle: int) -> float:
    """Return the largest push without a fall (N), by bisection."""
    low, high = 0.0, 5.0 * runs.library_robot(robot).mass
    while survives_push(robot, settings_changes, regulate, angle, high):
        low, high = high, 1.4 * high
    while high - low > PUSH_RESOLUTION * high:
        middle = 0.5 * (low + high)
        if survives_push(robot, settings_changes, regulate, angle, middle):
            low = middle
        else:
            high = middle
    return low


def push_motion(
    robot: str, settings_changes: dict[str, float], regulate: float, angle: int, force: float
) -> runs.Motion:
    x, y = force * math.cos(math.radians(angle)), force * math.sin(math.radians(angle))
    settings = {**settings_changes, "zmp_regulation": regulate}
    push = f"{x:.3f},{y:.3f},0,0.1@{PUSH_TIME}"
    return runs.Stand(robot=robot, mode="position", seconds=PUSH_TIME + 3.5, settings=settings, push=push)


def survives_push(robot: str, settings_changes: dict[str, float], regulate: float, angle: int, force: float) -> bool:
    return not push_motion(robot, settings_changes, regulate, angle, force).run()[1]["fell"]


def recovery_seconds(robot: str, force: float, angle: int) -> float | None:
    """Return the time until the ZMP error has decayed after a push (s); None if it does not."""
    recording, result = push_motion(robot, {}, 1.0, angle, force).run()
    if result["fell"]:
        return None
    return recovery_time(recording.time, abs(recorded_zmp_error(recording, runs.library_robot(robot))), PUSH_TIME + 0.1)


def squat_summary(robot: str, load_case: str) -> str:
    """Return a line about twenty squats of a fifth of the leg length, 5 cm on HOAP-3."""
    solver, carried_mass = ("strict", 10.0) if load_case == "carrying" else (load_case, 0.0)
    settings_changes = {"depth": 0.2, "cycles": 20.0}
    request = runs.Squat(
        robot=robot, mode="position", solver=solver, carried_mass=carried_mass, settings=settings_changes
    )
    result = request.run()[1]
    regulation = result["regulation"]
    rms = regulation["cycle_rms_rad"]
    return (
        f"{robot}: 20 squats ({load_case}): {'fell' if result['fell'] else 'stood'}, ZMP at most "
        f"{1e3 * regulation['zmp_max_m']:.1f} mm from the middle, cycle to cycle {1e3 * rms[0]:.1f} -> "
        f"{1e3 * rms[-1]:.2f} mrad"
    )


def walk_summary(robot: str, carried_mass: float) -> str:
    """Return a line about a walk of twenty steps."""
    result = runs.Walk(robot=robot, mode="position", carried_mass=carried_mass, steps=20).run()[1]
    load = f" with {carried_mass:.0f} % of its weight in the hands" if carried_mass else ""
    end = result["reason"] or "stands at the end"
    return f"{robot}: walk{load}: {result['steps']} steps, {result['distance_m']:.2f} m, {end}"


if __name__ == "__main__":
    raise SystemExit(main())
