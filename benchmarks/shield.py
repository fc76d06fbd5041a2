"""Throw the arms of a shielded robot about, with unknown loads in its hands: falls, limits, wishes met, explanations.

    python -m benchmarks.shield                                          # G1 and Talos, 10 seeds of 60 s each: hours
    python -m benchmarks.shield --robots g1 --modes walk --seeds 3 --seconds 20
    python -m benchmarks.shield --robots g1 --modes walk --direct        # the same commands straight to the arms

In each trial a client commands all joints of arms and head at random: goals anywhere in their ranges, every 0.15 to
0.6 s, to which the commanded angles move with the full speed of the joints. Every few seconds it wishes a position of a
hand that conflicts with nothing instead, near that of the standing stance, for 2.5 s. Each hand carries an unknown load
from none to `--load`. In mode walk it wishes 0.3 m/s.

"missed" are positions that were not met within 1 cm, and "worst" the largest error; "unexplained" are limited wishes
without a reason; "ms" is the processor time of a tick, median and 99.9 %, whose period is 2 ms. With --direct the arms
follow the commands by stiff position control, and the balance controller has all other joints.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.control import Command, Controller, ControlStep, TorqueController
from poise.plants import Load, MujocoPlant, control_step
from poise.robots import State, load_robot
from poise.shield import BalanceShield, WishReporter, explain_held
from poise.solvers import Lexicographic
from poise.state import SensorReadings

#: Largest load in each hand by robot (kg).
LOADS = {"g1": 2.0, "talos": 6.0}
SPEED = 0.3
#: Wishes are sent at 100 Hz, and judged at 5 Hz.
WISH_TICKS, JUDGE_TICKS = 5, 100
#: A pose is wished for `POSE_TIME` seconds out of every `CYCLE_TIME`, and judged in the last `JUDGED_TIME` of them.
CYCLE_TIME, POSE_TIME, JUDGED_TIME = 8.0, 2.5, 0.3
#: Largest angle by which a wished pose differs from the standing stance, in each joint of the arm (rad).
POSE_RANGE = 0.35
MET = 0.01


@dataclass
class Trial:
    """Figures of one trial."""

    robot: str
    mode: str
    seed: int
    direct: bool
    loads: tuple[float, ...] = ()
    seconds: float = 0.0
    fall: str = ""
    distance: float = 0.0
    beyond_limits: int = 0
    fallbacks: int = 0
    poses: int = 0
    missed: int = 0
    worst_error: float = 0.0
    limited: int = 0
    unexplained: int = 0
    load_errors: list[float] = field(default_factory=list)
    milliseconds: tuple[float, float] = (0.0, 0.0)


class RandomClient:
    """Commands all joints of arms and head at random, and wishes poses of hands in between."""

    def __init__(self, shield: BalanceShield, seed: int) -> None:
        robot, joints = shield.robot, shield.joints
        self.random, self.shield, self.joints = np.random.default_rng(seed), shield, joints
        limits = robot.limits
        places = [joint.v - 6 for joint in joints.joints]
        self.lower, self.upper, self.speed = limits.lower[places], limits.upper[places], limits.velocity[places]
        self.command: Array = joints.rest.copy()
        self.goal, self.next_goal = self.command, 0.0
        self.pose: tuple[str, Array] | None = None
        self.cycle = -1.0
        self.judged = False

    def advance(self, time: float, period: float) -> None:
        """Move the commanded angles with the full speed of the joints, and choose goals and poses."""
        if time >= self.next_goal:
            self.goal = self.random.uniform(self.lower, self.upper)
            self.next_goal = time + self.random.uniform(0.15, 0.6)
        step = self.speed * period
        self.command = self.command + np.clip(self.goal - self.command, -step, step)
        cycle, phase = divmod(time, CYCLE_TIME)
        if phase < CYCLE_TIME - POSE_TIME:
            self.pose = None
        elif cycle != self.cycle:
            self.cycle, self.pose, self.judged = cycle, self.new_pose(), False

    def new_pose(self) -> tuple[str, Array]:
        """Return a side, and a position of its hand in the chest, near that of the standing stance."""
        robot = self.shield.robot
        hand = robot.hands[int(self.random.integers(len(robot.hands)))]
        stance = robot.stance("standing")
        q = stance.q.copy()
        for name in self.shield.hands[hand.side].joints:
            joint = robot.joint(name)
            low, high = robot.limits.lower[joint.v - 6], robot.limits.upper[joint.v - 6]
            q[joint.q] = np.clip(q[joint.q] + self.random.uniform(-POSE_RANGE, POSE_RANGE), low + 0.1, high - 0.1)
        state = State(robot, q)
        chest = state.pose(robot.chest or robot.frame("root_joint"))
        away = np.array([0.04, 0.03 if hand.side == "left" else -0.03, 0.02])  # from the body
        return hand.side, chest.actInv(state.pose(hand)).translation + away

    def message(self) -> dict[str, object]:
        """Return the wishes of this tick."""
        velocity = [SPEED, 0.0, 0.0] if self.shield.mode == "walk" else None
        if self.pose is not None:
            side, position = self.pose
            return {"hands": {side: {"position": position.tolist(), "frame": "body"}}, "velocity": velocity}
        return {
            "joints": dict(zip(self.joints.names, self.command.tolist(), strict=True)),
            "velocity": velocity,
        }


class TimedController(Controller):
    """A controller that measures the processor time of its steps.

    Attributes:
        spent: processor time of the last step (s).
    """

    def __init__(self, inner: Controller) -> None:
        self.inner, self.period, self.behavior, self.spent = inner, inner.period, inner.behavior, 0.0

    def update_sensors(self, readings: SensorReadings | None) -> None:
        self.inner.update_sensors(readings)

    def prepare(self, state: State) -> None:
        self.inner.prepare(state)

    def step(self, state: State) -> Command:
        begin = time.thread_time()
        command = self.inner.step(state)
        self.spent = time.thread_time() - begin
        return command


class DirectArms(Controller):
    """A balance controller whose torques of arms and head are replaced by position control of the commanded angles."""

    def __init__(self, inner: TorqueController, client: RandomClient) -> None:
        self.inner, self.client, self.period, self.behavior = inner, client, inner.period, inner.behavior
        joints, robot = client.joints, client.shield.robot
        self.places = [joint.v - 6 for joint in joints.joints]
        self.limit = robot.limits.torque[self.places]
        M = pinocchio.crba(robot.model, robot.model.createData(), robot.stance("standing").q)
        inertia = np.diag(M)[[joint.v for joint in joints.joints]]
        # Full torque at 0.2 rad, with critical damping.
        self.stiffness = self.limit / 0.2
        self.damping = 2.0 * np.sqrt(self.stiffness * inertia)

    def update_sensors(self, readings: SensorReadings | None) -> None:
        self.inner.update_sensors(readings)

    def prepare(self, state: State) -> None:
        self.inner.prepare(state)

    def step(self, state: State) -> Command:
        command, client = self.inner.step(state), self.client
        assert command.torque is not None
        q, v = state.q[client.joints.indices], state.v[client.joints.velocity_indices]
        torque = command.torque.copy()
        wanted = self.stiffness * (client.command - q) - self.damping * v
        torque[self.places] = np.clip(wanted, -self.limit, self.limit)
        command.torque = torque
        return command


def run_trial(name: str, mode: str, seed: int, seconds: float, load: float, direct: bool) -> Trial:
    """Run one trial until its end or a fall."""
    robot = load_robot(name)
    random = np.random.default_rng(1000 + seed)
    shield = BalanceShield(robot, mode)  # type: ignore[arg-type]
    client, reporter = RandomClient(shield, seed), WishReporter(shield)
    masses = random.uniform(0.0, load, len(robot.hands))
    start = robot.stance("standing")
    plant = MujocoPlant(
        start,
        loads=[Load(hand, mass) for hand, mass in zip(robot.hands, masses, strict=True)] if load else [],
        seed=seed,
    )
    torques = TorqueController(shield, Lexicographic(), estimate_loads=True)
    controller = TimedController(DirectArms(torques, client) if direct else torques)
    trial = Trial(name, mode, seed, direct, tuple(masses.round(2).tolist()))
    spent, limit = [], robot.limits.torque + 1e-9
    controller.prepare(plant.state())
    joint_range = (robot.limits.lower - 0.02, robot.limits.upper + 0.02)
    for tick in range(round(seconds / controller.period)):
        client.advance(plant.time, controller.period)
        if tick % WISH_TICKS == 0 and (not direct or mode == "walk"):
            shield.wish(shield.parse({"velocity": [SPEED, 0.0, 0.0]} if direct else client.message()))
        step = control_step(controller, plant)
        spent.append(controller.spent)
        torque = step.command.torque
        assert torque is not None
        angles = step.state.q[[joint.q for joint in robot.joints]]
        bad = not np.isfinite(torque).all() or (np.abs(torque) > limit).any()
        trial.beyond_limits += bool(bad or ((angles < joint_range[0]) | (angles > joint_range[1])).any())
        trial.fallbacks += bool(step.command.fallback)
        if not direct:
            judge(trial, client, reporter, step, tick)
        if plant.fallen:
            trial.fall = plant.fall
            break
    trial.seconds = plant.time
    trial.distance = float(plant.truth().q[0] - start.q[0])
    if not direct and not trial.fall:
        trial.load_errors = [
            round(torques.loads.get(hand, 0.0) - mass, 2)
            for hand, mass in zip(robot.hands, masses.tolist(), strict=True)
        ]
    trial.milliseconds = (1e3 * float(np.median(spent)), 1e3 * float(np.percentile(spent, 99.9)))
    return trial


def judge(trial: Trial, client: RandomClient, reporter: WishReporter, step: ControlStep, tick: int) -> None:
    """Judge a wished pose at its end, and the explanations of limited wishes at 5 Hz."""
    state = step.state
    remaining = CYCLE_TIME - state.time % CYCLE_TIME
    if client.pose is not None and remaining <= JUDGED_TIME:
        side, position = client.pose
        robot = client.shield.robot
        chest = state.pose(robot.chest or robot.frame("root_joint"))
        error = float(np.linalg.norm(chest.actInv(state.pose(robot.hand(side))).translation - position))
        if not client.judged:
            client.judged = True
            trial.poses += 1
            trial.missed += int(error > MET)
        trial.worst_error = max(trial.worst_error, error)
    if tick % JUDGE_TICKS == 0:
        report = reporter.report(step)
        reasons = {each.wish for each in (*report.limits, *explain_held(report.held, step.command.solution))}
        limited = [each.wish for each in report.wishes if each.state == "limited"]
        trial.limited += len(limited)
        trial.unexplained += sum(wish not in reasons for wish in limited)


def trials(options: argparse.Namespace) -> Iterator[Trial]:
    for name in options.robots.split(","):
        load = LOADS.get(name, 0.0) if options.load is None else options.load
        for mode in options.modes.split(","):
            for seed in range(options.first_seed, options.first_seed + options.seeds):
                yield run_trial(name, mode, seed, options.seconds, load, options.direct)


def line(trial: Trial) -> str:
    """Return the line of a trial in the table."""
    cells = [
        trial.robot,
        trial.mode,
        str(trial.seed),
        "/".join(f"{mass:.1f}" for mass in trial.loads),
        f"{trial.seconds:.1f}",
        f"{trial.distance:.2f}",
        str(trial.beyond_limits),
        str(trial.fallbacks),
        f"{trial.missed}/{trial.poses}",
        f"{1e3 * trial.worst_error:.1f}",
        f"{trial.unexplained}/{trial.limited}",
        "/".join(f"{error:+.2f}" for error in trial.load_errors),
        f"{trial.milliseconds[0]:.2f}/{trial.milliseconds[1]:.2f}",
        trial.fall or "stood",
    ]
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, WIDTHS, strict=True))


HEADS = (
    "robot", "mode", "seed", "loads kg", "s", "m", "beyond", "fallbacks", "missed", "worst mm", "unexplained",
    "load error", "ms", "end",
)  # fmt: skip
WIDTHS = (6, 6, 4, 8, 5, 6, 6, 9, 6, 8, 12, 12, 10, 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robots", default="g1,talos")
    parser.add_argument("--modes", default="stand,walk")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--load", type=float, help="largest load in each hand (kg); default 2 for G1, 6 for Talos")
    parser.add_argument("--direct", action="store_true", help="send the commands straight to the arms")
    parser.add_argument("--json", metavar="FILE", help="also write the figures")
    options = parser.parse_args()
    print("  ".join(head.ljust(width) for head, width in zip(HEADS, WIDTHS, strict=True)))
    results = []
    for trial in trials(options):
        results.append(trial)
        print(line(trial), flush=True)
    falls = sum(bool(trial.fall) for trial in results)
    print(f"{falls} falls in {len(results)} trials, {sum(trial.seconds for trial in results):.0f} s")
    if options.json:
        with open(options.json, "w") as file:
            json.dump([asdict(trial) for trial in results], file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
