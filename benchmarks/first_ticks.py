"""Longest control steps of a reach, a walk with three changes of style, and navigation, relative to the period.

    python benchmarks/first_ticks.py                  # two minutes
    python benchmarks/first_ticks.py --only walk

Each run is repeated, and the fastest pass of each step counts: processor time of the thread, which excludes what other
programs do. The loop calls `Controller.prepare` before its clock starts, as `poise.record` does.
"""

from __future__ import annotations

import argparse
import gc
import time

import numpy as np

from poise import runs
from poise.arrays import Array
from poise.behaviors import Walk
from poise.control import Controller

#: Duration of each run (s), and the times and names of the styles of the walk.
SECONDS = 8.0
STYLES = {2.0: "sad", 3.6: "relaxed", 5.2: "cautious"}
MOTIONS: dict[str, runs.Motion] = {
    "reach": runs.Reach(robot="g1", mode="torque"),  # type: ignore[call-arg]
    "walk": runs.Walk(robot="g1", steps=12, style="proud"),  # type: ignore[call-arg]
    "navigate": runs.Navigate(robot="g1", random=True, seconds=SECONDS),  # type: ignore[call-arg]
}


def step_times(motion: runs.Motion) -> tuple[Array, Array, float]:
    """Return the processor times of the steps (s), which of them changed the hierarchy, and the period (s)."""
    setup = motion.build(motion.load())
    controller, plant = Controller.adapt(setup.controller), setup.plant
    controller.prepare(plant.state())
    styles, times, changes = dict(STYLES), [], []
    gc.collect()
    gc.disable()
    for _ in range(round(min(SECONDS, setup.seconds) / controller.period)):
        state, readings, before = plant.state(), plant.readings(), controller.hierarchy
        if isinstance(controller.behavior, Walk) and styles and state.time >= next(iter(styles)):
            controller.behavior.style = styles.pop(next(iter(styles)))
        begin = time.thread_time()
        controller.update_sensors(readings)
        command = controller.step(state)
        times.append(time.thread_time() - begin)
        changes.append(controller.hierarchy is not before)
        plant.apply(command)
        plant.advance()
    gc.enable()
    return np.array(times), np.array(changes), controller.period


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(MOTIONS), help="motions, separated by commas")
    parser.add_argument("--repeat", type=int, default=3, help="passes (default 3)")
    options = parser.parse_args()
    print("| motion | steps | median / period | first step | largest at a change | largest | above the period |")
    print("|---|---|---|---|---|---|---|")
    for name in options.only.split(","):
        passes = [step_times(MOTIONS[name]) for _ in range(options.repeat)]
        share = np.min([times for times, _, _ in passes], axis=0) / passes[0][2]
        changed = passes[0][1]
        figures = np.median(share), share[0], share[changed].max(), share.max()
        print(f"| {name} | {len(share)} | {' | '.join(f'{each:.2f}' for each in figures)} | {(share > 1.0).sum()} |")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
