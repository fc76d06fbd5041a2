"""Fuzz runs of controllers: random hierarchies from random states, with sensor faults."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np

from poise.arrays import Array
from poise.campaign.kinds.fuzz_call_check import check_call, innermost_location, shorten
from poise.campaign.kinds.fuzz_hierarchies import (
    MAX_LEVELS,
    RandomHierarchy,
    corrupt_state,
    random_hierarchy,
    random_start,
)
from poise.campaign.kinds.kind import Column, RunKind, RunOutput, Value, check_choice, with_defaults
from poise.control import Command, KinematicController, TorqueController
from poise.errors import PoiseError, UsageError
from poise.plants import IdealPlant
from poise.robots import Robot, State, load_robot
from poise.solvers import Lexicographic
from poise.tasks import ACCELERATION, VELOCITY

CONTROLLERS = ("kinematic", "torque")
#: Tolerance of limits for rounding: relative to the limit for speeds and torques, rad for joint ranges.
LIMIT_TOLERANCE = 1e-6
#: Largest slack of a constraint that counts as met, in the unit of its rows.
SLACK_TOLERANCE = 1e-9


class FuzzControllers(RunKind):
    """Runs of a controller with a random hierarchy on an ideal plant, with corrupted states in some control periods.

    Parameters: ``robot``; ``controller``, one of `CONTROLLERS`; ``levels``, 0: random from one to seven; ``ticks``.

    A run succeeds if every command is finite, keeps the limits that are constraints (torques always keep theirs), names
    a fallback if the state is not finite, and has an explanation; and if invalid tasks and hierarchies are rejected
    with a clear one-line error.
    """

    name = "fuzz controllers"
    columns: Mapping[str, Column] = {
        "commands": Column("count", "", "number of commands"),
        "fallbacks": Column("count", "", "commands with a named fallback"),
        "nonfinite": Column("count", "", "commands with NaN or infinite entries"),
        "limit_violations": Column("count", "", "commands beyond a limit"),
        "worst_violation": Column("number", "", "largest violation, relative to the limit, or rad for joint ranges"),
        "nonzero_slack": Column("count", "", "commands with slack in the solution"),
        "hierarchy_levels": Column("count", "", "levels of the hierarchy"),
        "tasks": Column("count", "", "tasks and constraints of the hierarchy"),
        "rows": Column("count", "", "rows of the program"),
        "rejected": Column("count", "", "tasks and hierarchies rejected with an error"),
        "statuses": Column("text", "", "statuses of the solver with their counts"),
        "first_fallback": Column("text", "", "first fallback"),
    }

    def check_parameters(self, values: Mapping[str, Value], spec_folder: Path) -> dict[str, Value]:
        defaults: dict[str, Value] = {"robot": "g1", "controller": "kinematic", "levels": 0, "ticks": 20}
        parameters = with_defaults(self.name, values, defaults)
        check_choice("controller", parameters["controller"], CONTROLLERS)
        for name, low, high in (("levels", 0, MAX_LEVELS), ("ticks", 1, 10_000)):
            count = parameters[name]
            if isinstance(count, bool) or not isinstance(count, int) or not low <= count <= high:
                raise UsageError(f"{name}: {count!r}; expected a whole number from {low} to {high}")
        try:
            _robot(str(parameters["robot"]))
        except PoiseError as error:
            raise UsageError(f"robot: {error}") from None
        return parameters

    def run(self, parameters: Mapping[str, Value], seed: int, recording_path: Path | None = None) -> RunOutput:
        random = np.random.default_rng([seed, CONTROLLERS.index(str(parameters["controller"]))])
        robot = _robot(str(parameters["robot"]))
        with np.errstate(all="ignore"):
            start = random_start(robot, random)
            sample = random_hierarchy(start, random, int(parameters["levels"] or 0))
            trial = ControllerTrial(sample, start, str(parameters["controller"]), random)
            trial.run(int(parameters["ticks"] or 0))
        return RunOutput(trial.values(), "; ".join(dict.fromkeys(trial.faults)))


class ControllerTrial:
    """One controller on one robot, with counts and faults of its commands."""

    def __init__(self, sample: RandomHierarchy, start: State, controller: str, random: np.random.Generator) -> None:
        self.sample, self.random, self.robot = sample, random, start.robot
        self.order = VELOCITY if random.random() < 0.5 else ACCELERATION
        ramp = float(random.choice([0.0, 0.02, 0.2]))
        self.controller: KinematicController | TorqueController
        if controller == "torque":
            self.controller = TorqueController(sample.hierarchy, Lexicographic(), ramp=ramp)
        else:
            self.controller = KinematicController(sample.hierarchy, Lexicographic(), order=self.order, ramp=ramp)
        self.plant = IdealPlant(start)
        self.faults = list(sample.faults)
        self.counts: Counter[str] = Counter({"rejected": sample.rejected})
        self.statuses: Counter[str] = Counter()
        self.excess, self.rows, self.first_fallback = 0.0, 0, ""

    def run(self, ticks: int) -> None:
        """Run a number of control periods (ticks); in a tenth of them the state is corrupted."""
        for tick in range(ticks):
            state = self.plant.state()
            is_corrupt = tick > 0 and self.random.random() < 0.1
            input_state = corrupt_state(state, self.random) if is_corrupt else state
            try:
                command = self.controller.step(input_state)
            except Exception as error:
                self._check_exception(error, tick)
                return
            self._check_command(command, input_state, tick)
            if not all(np.isfinite(part).all() for part in _command_arrays(command)):
                return
            self.plant.apply(command)
            self.plant.advance()

    def values(self) -> dict[str, Value]:
        return {
            **{
                name: self.counts[name]
                for name in ("commands", "fallbacks", "nonfinite", "limit_violations", "nonzero_slack")
            },
            "worst_violation": float(self.excess),
            "hierarchy_levels": len(self.sample.hierarchy.levels),
            "tasks": sum(len(level.tasks) for level in self.sample.hierarchy.levels)
            + len(self.sample.hierarchy.always),
            "rows": self.rows,
            "rejected": self.counts["rejected"],
            "statuses": ", ".join(f"{name} {count}" for name, count in sorted(self.statuses.items())),
            "first_fallback": self.first_fallback,
        }

    def _check_exception(self, error: Exception, tick: int) -> None:
        """Check an exception: only the first tick may raise, with a clear error that the hierarchy is invalid."""

        def raise_error() -> None:
            raise error

        outcome = check_call(raise_error)
        self.counts["rejected"] += 1
        if outcome.fault:
            self.faults.append(f"tick {tick} raises {outcome.fault}")
        elif tick:
            self.faults.append(
                f"tick {tick} raises {type(error).__name__} in {innermost_location(error)}: {shorten(str(error))}"
            )

    def _check_command(self, command: Command, input_state: State, tick: int) -> None:
        self.counts["commands"] += 1
        if command.fallback:
            self.counts["fallbacks"] += 1
            self.first_fallback = self.first_fallback or shorten(command.fallback, 100)
        if not all(np.isfinite(part).all() for part in _command_arrays(command)):
            self.counts["nonfinite"] += 1
            self.faults.append(f"the command at tick {tick} is not finite")
        elif not (np.isfinite(input_state.q).all() and np.isfinite(input_state.v).all()) and not command.fallback:
            self.faults.append(f"no fallback at tick {tick}, although the state is not finite")
        self._check_limits(command, input_state, tick)
        if command.solution is not None:
            self._check_solution(command, tick)

    def _check_limits(self, command: Command, input_state: State, tick: int) -> None:
        limits, joint_v = self.robot.limits, [joint.v for joint in self.robot.joints]
        excess, quantity = 0.0, ""
        if command.torque is not None:
            excess, quantity = float(np.max(np.abs(command.torque) / limits.torque - 1.0, initial=0.0)), "torque"
        elif self._limits_apply(command):
            v_before, v = input_state.v[joint_v], command.velocity[joint_v]
            slow = np.abs(v_before) <= limits.velocity
            excess, quantity = float(np.max((np.abs(v) / limits.velocity - 1.0)[slow], initial=0.0)), "speed"
            q = input_state.q[[joint.q for joint in self.robot.joints]]
            # A joint that cannot stop before the end of its range is not checked.
            stop = q + np.where(v_before > 0.0, 1.0, -1.0) * v_before**2 / (2.0 * limits.acceleration)
            inside = slow & (np.minimum(q, stop) >= limits.lower) & (np.maximum(q, stop) <= limits.upper)
            q_next = q + command.period * (v if command.acceleration is None else 0.5 * (v_before + v))
            out = float(np.max(np.maximum(limits.lower - q_next, q_next - limits.upper)[inside], initial=0.0))
            excess, quantity = (out, "range") if out > excess else (excess, quantity)
        self.excess = max(self.excess, excess)
        if excess > LIMIT_TOLERANCE:
            self.counts["limit_violations"] += 1
            self.faults.append(f"{quantity} beyond its limit by {excess:.3g} at tick {tick}")

    def _limits_apply(self, command: Command) -> bool:
        """Return whether joint limits are constraints and met in the solution, so that the command must keep them."""
        solution = command.solution
        limits_met = (
            solution is not None
            and not command.fallback
            and float(np.abs(solution.slack[0]).max(initial=0.0)) < SLACK_TOLERANCE
        )
        return self.sample.has_joint_limits and limits_met

    def _check_solution(self, command: Command, tick: int) -> None:
        solution = command.solution
        assert solution is not None
        self.statuses[solution.status] += 1
        self.rows = max(self.rows, solution.program.rows)
        slack = np.concatenate([np.zeros(0), *solution.slack])
        self.counts["nonzero_slack"] += bool(np.abs(slack).max(initial=0.0) > SLACK_TOLERANCE)
        if not np.isfinite(slack).all():
            self.faults.append(f"the slack at tick {tick} is not finite")
        try:
            text = solution.explain()
        except Exception as error:
            self.faults.append(f"explain() at tick {tick}: {type(error).__name__} in {innermost_location(error)}")
            return
        if not isinstance(text, str) or not text.strip():
            self.faults.append(f"explain() at tick {tick} returns no text")


@cache
def _robot(name: str) -> Robot:
    return load_robot(name)


def _command_arrays(command: Command) -> list[Array]:
    return [part for part in (command.velocity, command.acceleration, command.torque) if part is not None]
