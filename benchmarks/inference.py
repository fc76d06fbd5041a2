"""How often `poise infer` finds a hidden stack of tasks again, from a noisy recording of its motion.

    python -m benchmarks.inference --stacks 40
    python -m benchmarks.inference --stacks 10 --noise 0 --first-seed 500

Each stack has contacts, one to four tasks drawn from hands, chest, gaze and center of mass with random gains
and targets, some of them out of reach or in conflict, and in four of five cases a posture. It moves G1 or Talos
for 3 s.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pinocchio

import poise
from poise import inference, tasks
from poise.arrays import Array
from poise.inference import InferredTask
from poise.robots import Robot, State

SECONDS = 3.0
#: Noise of a recording: position of the base (m), angles (rad).
NOISE = (1e-3, np.radians(0.2))


class HiddenTask(NamedTuple):
    """One level of a hidden stack: its task, and what should be found."""

    name: str
    task: tasks.MotionTask
    gain: float
    target: Array | None


@dataclass
class Score:
    """What was found of the hidden stacks.

    Attributes:
        stacks, right_sets: number of stacks, and of those of which exactly the right tasks were found.
        tasks, found, extra: hidden tasks, those that were found, and found ones that were not there.
        pairs, right_pairs: pairs of neighbors whose order shows in the motion, and those in the right order.
        gain_errors, target_errors: of the tasks that were found (relative; m).
    """

    stacks: int = 0
    right_sets: int = 0
    tasks: int = 0
    found: int = 0
    extra: int = 0
    pairs: int = 0
    right_pairs: int = 0
    gain_errors: list[float] = field(default_factory=list)
    target_errors: list[float] = field(default_factory=list)

    def text(self) -> str:
        """Return the table."""
        gains, targets = np.array(self.gain_errors), np.array(self.target_errors)
        return "\n".join(
            [
                f"stacks with exactly the right tasks   {self.right_sets} of {self.stacks}",
                f"tasks found                           {self.found} of {self.tasks}",
                f"tasks that were not there             {self.extra}",
                f"order of neighbors that shows, right  {self.right_pairs} of {self.pairs}",
                f"gains within 10 %                     {int((gains < 0.1).sum())} of {len(gains)}",
                f"targets within 5 mm                   {int((targets < 0.005).sum())} of {len(targets)}",
            ]
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stacks", type=int, default=20, help="number of hidden stacks (default 20)")
    parser.add_argument("--first-seed", type=int, default=0, help="seed of the first stack (default 0)")
    parser.add_argument(
        "--noise", type=float, default=1.0, help="factor of the noise of 1 mm and 0.2 degrees (default 1)"
    )
    options = parser.parse_args()
    score = Score()
    for seed in range(options.first_seed, options.first_seed + options.stacks):
        begin = time.process_time()
        line = run_stack(seed, options.noise, score)
        print(f"{seed}: {line}, {time.process_time() - begin:.1f} s", flush=True)
    print(score.text())


def run_stack(seed: int, noise: float, score: Score) -> str:
    """Record the motion of one hidden stack, infer it, and add to the score."""
    random = np.random.default_rng(seed)
    robot = poise.load_robot(("g1", "talos")[seed % 2])
    start = robot.stance("standing")
    hidden = draw_stack(robot, start, random)
    contacts = poise.Level("contact", [tasks.HoldPose(foot, at=start) for foot in robot.feet])
    hierarchy = poise.Hierarchy(levels=[contacts, *(poise.Level(each.name, each.task) for each in hidden)])
    motion = poise.record(poise.KinematicController(hierarchy), poise.IdealPlant(start), SECONDS)
    q = noisy(np.array(motion["q"]), noise, random)
    segment = inference.infer_segment(robot, np.array(motion.time), q, 0.0, SECONDS)
    levels = () if segment is None else segment.levels
    return compare(hidden, levels, score)


def draw_stack(robot: Robot, start: State, random: np.random.Generator) -> list[HiddenTask]:
    """Draw the levels of a stack below its contacts."""

    def dynamics() -> tasks.Decay:
        return tasks.Decay(float(random.uniform(1.0, 5.0)))

    def hand(side: str) -> HiddenTask:
        frame = robot.hand("left" if side == "left" else "right")
        offset = random.uniform(-0.15, 0.25, 3)
        if random.uniform() < 0.4:  # out of reach
            offset = np.array([random.uniform(0.6, 1.0), random.uniform(-0.3, 0.3), random.uniform(-0.2, 0.5)])
        target, law = start.pose(frame).translation + offset, dynamics()
        return HiddenTask(f"{side} hand position", tasks.Position(frame, target, dynamics=law), law.rate, target)

    def hand_orientation() -> HiddenTask:
        side = "left" if random.uniform() < 0.5 else "right"
        frame, law = robot.hand("left" if side == "left" else "right"), dynamics()
        R = pinocchio.exp3(random.uniform(-0.5, 0.5, 3)) @ start.pose(frame).rotation
        return HiddenTask(f"{side} hand orientation", tasks.Orientation(frame, R, dynamics=law), law.rate, None)

    def chest() -> HiddenTask:
        assert robot.chest is not None
        law = dynamics()
        R = pinocchio.exp3(random.uniform(-0.25, 0.25, 3)) @ start.pose(robot.chest).rotation
        return HiddenTask("chest orientation", tasks.Orientation(robot.chest, R, dynamics=law), law.rate, None)

    def gaze() -> HiddenTask:
        assert robot.gaze is not None
        law = dynamics()
        point = random.uniform((0.6, -1.0, 0.2), (2.0, 1.0, 1.6))
        return HiddenTask("gaze", tasks.Gaze(robot.gaze, point, dynamics=law), law.rate, None)

    def center_of_mass() -> HiddenTask:
        law, target = dynamics(), start.center_of_mass[:2] + random.uniform(-0.03, 0.03, 2)
        task = tasks.CenterOfMass(target, axes="xy", dynamics=law)
        return HiddenTask("center of mass xy", task, law.rate, target)

    kinds: list[Callable[[], HiddenTask]] = [
        lambda: hand("left"), lambda: hand("right"), hand_orientation, chest, gaze, center_of_mass,
    ]  # fmt: skip
    hidden = [kinds[i]() for i in random.permutation(len(kinds))[: random.integers(1, 5)]]
    if random.uniform() < 0.8:
        q, law = np.array(start.q), tasks.Decay(float(random.uniform(0.7, 3.0)))
        q[7:] += random.uniform(-0.2, 0.2, len(q) - 7)
        hidden.append(HiddenTask("posture", tasks.Posture(q, dynamics=law), law.rate, None))
    return hidden


def noisy(q: Array, factor: float, random: np.random.Generator) -> Array:
    """Return configurations with white noise on base and joints."""
    q = q.copy()
    q[:, :3] += random.normal(0.0, NOISE[0] * factor, (len(q), 3))
    q[:, 7:] += random.normal(0.0, NOISE[1] * factor, q[:, 7:].shape)
    for x in q:
        turned = pinocchio.Quaternion(x[3:7]).toRotationMatrix() @ pinocchio.exp3(
            random.normal(0.0, NOISE[1] * factor, 3)
        )
        x[3:7] = pinocchio.Quaternion(turned).coeffs()
    return q


def compare(hidden: list[HiddenTask], found: tuple[InferredTask, ...], score: Score) -> str:
    """Add one stack to the score; return a line about it."""
    names = [task.name for task in found]
    missing = [each.name for each in hidden if each.name not in names]
    extra = [name for name in names if name not in [each.name for each in hidden]]
    score.stacks += 1
    score.right_sets += not missing and not extra
    score.tasks += len(hidden)
    score.found += len(hidden) - len(missing)
    score.extra += len(extra)
    for each in hidden:
        if each.name in names:
            task = found[names.index(each.name)]
            score.gain_errors.append(abs(task.gain / each.gain - 1.0))
            if each.target is not None:
                score.target_errors.append(float(np.abs(np.array(task.target) - each.target).max()))
    order = {each.name: i for i, each in enumerate(hidden)}
    for first, second in pairwise(found):
        if first.order_known and first.name in order and second.name in order:
            score.pairs += 1
            score.right_pairs += order[first.name] < order[second.name]
    text = (
        "right"
        if not missing and not extra
        else f"missing {', '.join(missing) or '-'}; extra {', '.join(extra) or '-'}"
    )
    return f"{' > '.join(each.name for each in hidden)}: {text}"


if __name__ == "__main__":
    main()
