"""Base class `Motion`: parameters of a motion, and how it is built, run and judged.

Command line, campaigns, studio and Python calls are derived from the fields of its subclasses.
"""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from os import PathLike
from typing import Any, ClassVar, NamedTuple

from poise.analysis import QUALITY_FIGURES
from poise.control import Controller, KinematicController, PositionController, TorqueController
from poise.errors import UsageError, suggestion
from poise.hierarchy import Behavior
from poise.parameters import Parameter, check_parameters, current_settings, parameter, parameters, settings_from
from poise.parsing import parse_integer, parse_seconds
from poise.plants import IdealPlant, Plant
from poise.recording import Progress, Recording
from poise.robots import Robot, State, describe_robot, library_names, load_robot
from poise.runs.execution import CompletedRun, Result, execute, finish_result, store_result, summarize
from poise.runs.world import NOISE, World
from poise.solvers import Lexicographic, NullSpace, Solver, Weighted

MODES, PLANTS = ("kinematic", "torque", "position"), ("ideal", "mujoco")
SOLVERS = ("strict", "weighted", "null-space")


class ResultColumn(NamedTuple):
    """A column of a campaign's table, filled from the result of a run.

    Attributes:
        type: ``"number"``, ``"count"``, ``"flag"`` or ``"text"``.
        unit: unit of a number; "" if it has none.
        about: short description.
        path: path of the value in the result, like ``"walk.speed.0"``.
    """

    type: str
    unit: str
    about: str
    path: str = ""


#: Columns of all motions in the table of a campaign.
COMMON_COLUMNS = {
    "motion_seconds": ResultColumn("number", "s", "duration of the recording, which ends 0.5 s after a fall"),
    "steps_made": ResultColumn("count", "", "completed footsteps", "steps"),
    "fallback_steps": ResultColumn("count", "", "control steps with a fallback command"),
    "levels_rms": ResultColumn("number", "", "largest root mean square error of a level"),
    "fell": ResultColumn("flag", "", "whether the robot fell", "fell"),
    "distance_m": ResultColumn("number", "m", "distance traveled", "distance_m"),
    "heading_rad": ResultColumn("number", "rad", "change of heading, positive to the left", "heading_rad"),
    "worst_tilt_deg": ResultColumn("number", "deg", "largest tilt of the trunk", "worst_tilt_deg"),
    "zmp_margin_m": ResultColumn("number", "m", "smallest ZMP margin inside the support polygon", "zmp_margin_m"),
    "nonfinite_commands": ResultColumn("count", "", "commands that are not finite", "nonfinite_commands"),
    **{
        f"quality.{name}": ResultColumn("number", figure.unit, figure.description, f"quality.{name}")
        for name, figure in QUALITY_FIGURES.items()
        if figure.reproducible
    },
}


@dataclass
class Setup:
    """Behavior, controller and plant of a run, ready to execute.

    Attributes:
        behavior: behavior that provides the hierarchy of tasks.
        controller: controller that runs the behavior.
        plant: ideal, simulated or remote robot.
        seconds: duration of the behavior (s).
        provenance: facts about the behavior for the recording.
        updates: called after every step; returns facts that became known in it.
        finished: called after every step; True ends the run.
    """

    behavior: Any
    controller: Controller
    plant: Plant
    seconds: float
    provenance: dict[str, Any] = field(default_factory=dict)
    updates: Callable[[], dict[str, Any]] = dict
    finished: Callable[[], bool] = lambda: False


class MotionRun(NamedTuple):
    """Recording of a motion, and the result that ``poise run --json`` prints, which is also in its provenance."""

    recording: Recording
    result: Result


class _MotionMeta(ABCMeta):
    """Metaclass that accepts the fields of `World` as arguments of a motion: ``Walk(push="100,0,0,0.1@1")``."""

    def __call__(cls, **arguments: Any) -> Any:
        world_fields = {name: arguments.pop(name) for name in list(arguments) if name in World.__dataclass_fields__}
        if world_fields:
            arguments["world"] = replace(arguments.get("world") or World(), **world_fields)
        known = {each.name for each in fields(cls)}  # type: ignore[arg-type]
        unknown = [name for name in arguments if name not in known]
        if unknown:
            hint = suggestion(unknown[0], parameters(cls))
            raise UsageError(f"{cls.name} has no parameter '{unknown[0]}'; {hint}")  # type: ignore[attr-defined]
        return super().__call__(**arguments)


@dataclass(frozen=True, kw_only=True)
class Motion(metaclass=_MotionMeta):
    """Abstract motion of one robot in one world: its parameters, how it is built, and how its recording is judged.

    Subclasses declare their parameters as fields (`poise.parameters.parameter`), build the behavior, controller and
    plant in `build`, and evaluate the recording in `judge`. Command line options, campaign parameters, controls of the
    studio and Python arguments are derived from the fields.

    Attributes:
        name: name of the motion on the command line and in campaign specs.
        summary: one line of help.
        available: supported pairs of mode and plant; the first is the default.
        quality_kind: kind of motion whose bounds of quality apply: ``"walk"``, ``"stand"`` or ``"any"``.
        can_carry: whether the robot can hold a box in both hands during the motion.
        columns: columns of its results in campaigns, in addition to `COMMON_COLUMNS`.
        prefixed_settings: further dataclasses that `settings` changes, by prefix, like ``{"style.": Style}``.
        file_parameters: parameters whose value may be a file; each with a function that returns the values that are
            names, not files.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    available: ClassVar[tuple[tuple[str, str], ...]]
    quality_kind: ClassVar[str] = "any"
    can_carry: ClassVar[bool] = False
    columns: ClassVar[Mapping[str, ResultColumn]] = {}
    prefixed_settings: ClassVar[Mapping[str, type]] = {}
    file_parameters: ClassVar[Mapping[str, Callable[[], list[str]]]] = {"robot": lambda: list(library_names())}

    robot: str = parameter("g1", "library robot (see 'poise robots') or URDF file", metavar="NAME|FILE")
    mode: str = parameter("", "control mode (default: depends on motion, plant and robot)", choices=MODES, kind="text")
    plant: str = parameter(
        "", "ideal plant, or simulation in MuJoCo (default: depends on motion and mode)", choices=PLANTS, kind="text"
    )
    solver: str = parameter("strict", "solver of the hierarchy", choices=SOLVERS, kind="text")
    seconds: float | None = parameter(
        None,
        "duration in s (default: until the motion ends)",
        kind="number",
        above=0.0,
        metavar="S",
        parser=parse_seconds,
    )
    budget: float | None = parameter(
        None,
        "processor time of the strict solver per control step in s (default: half of the step; 0: no limit, "
        "so that the run does not depend on the machine)",
        kind="number",
        low=0.0,
        metavar="S",
    )
    seed: int = parameter(0, "random seed", low=0, metavar="N", parser=parse_integer)
    settings: Mapping[str, Any] = field(default_factory=dict)
    world: World = field(default_factory=World)

    def __post_init__(self) -> None:
        self._choose_mode()
        if self.world.noise is None:
            noise = NOISE if self.zmp_regulated else 0.0
            object.__setattr__(self, "world", replace(self.world, noise=noise))
        object.__setattr__(self, "settings", self._current_settings())
        check_parameters(self, self.name, UsageError)
        self._check_solver()
        if self.plant == "ideal" and self.world.disturbances:
            first = self.world.first_disturbance
            raise UsageError(f"an ideal plant does not support --{first}; give --plant mujoco --mode torque")
        if self.world.carried_mass and not self.can_carry:
            raise UsageError(f"'{self.name}' does not carry a box; leave --carried-mass out, or stand, squat or walk")
        self.check()

    # -- interface for subclasses ----------------------------------------------------------------------------------

    @abstractmethod
    def build(self, robot: Robot | None = None) -> Setup:
        """Build behavior, controller and plant.

        Args:
            robot: loaded robot to use; None: load the one that the field `robot` names.
        """

    @abstractmethod
    def judge(self, setup: Setup, run: CompletedRun, result: Result) -> list[str]:
        """Add the keys of this motion to `result` and return the reasons for failure; an empty list is success."""

    @classmethod
    @abstractmethod
    def settings_types(cls) -> Mapping[str, type]:
        """Return the dataclass whose fields `settings` changes (``--set NAME=VALUE``), by mode; "": all other modes."""

    @property
    def settings_type(self) -> type:
        """Dataclass whose fields `settings` changes in this mode."""
        known = self.settings_types()
        return known[self.mode] if self.mode in known else known[""]

    @property
    def usual_seconds(self) -> float:
        """Estimated duration for progress bars, before the motion is built (s)."""
        return 5.0

    @property
    def zmp_regulated(self) -> bool:
        """Whether the robot balances on position servos by ZMP regulation from its force cells ([Galdeano2014])."""
        return False

    def check(self) -> None:
        """Raise `UsageError` for parameters that are incompatible."""

    def check_names(self) -> None:
        """Raise `PoiseError` for a robot, setting, style or file that does not exist, before anything is loaded."""
        _check_robot(self.robot)
        self.resolved_settings()

    def provenance(self) -> dict[str, Any]:
        """Return facts about this motion for the recording."""
        return {}

    # -- running ---------------------------------------------------------------------------------------------------

    def run(self, path: str | PathLike[str] | None = None, progress: Progress | None = None) -> MotionRun:
        """Run the motion and judge it; `result["reason"]` is the reason for failure, None if it succeeded.

        Args:
            path: ``.poise`` file to record to; None: in memory only.
            progress: called with the time of the motion after each step (s).
        """
        setup = self.build()
        try:
            completed = execute(self, setup, path, progress)
        finally:
            setup.plant.close()
        result = summarize(self, completed)
        judged = finish_result(result, self.judge(setup, completed, result), self.quality_kind)
        return MotionRun(store_result(completed.recording, judged, path), judged)

    def load(self) -> Robot:
        """Load the robot. Library robots are loaded once and cached."""
        return library_robot(self.robot) if self.robot in library_names() else load_robot(self.robot)

    def resolved_settings(self) -> Any:
        """Return the settings of the behavior, with the changes in `settings` applied."""
        return settings_from(self.settings_type, self.settings, self._prefixed_names())

    def _prefixed_names(self) -> list[str]:
        """Return the names of the settings that have a prefix, like ``style.step_length``."""
        return [prefix + name for prefix, each in self.prefixed_settings.items() for name in parameters(each)]

    def controller(self, behavior: Behavior, weights: Any = None, **options: Any) -> Controller:
        """Return the controller for the mode and solver of this motion.

        Args:
            behavior: behavior to control.
            weights: weights of the levels, for the weighted solver.
            options: further arguments of the controller.
        """
        solver: Solver | None = None  # strict, with the default budget
        if self.solver == "weighted":
            solver = Weighted(weights)
        elif self.budget is not None:
            solver = Lexicographic(self.budget or None)
        if self.mode == "kinematic":
            return KinematicController(behavior, solver, **options)
        if self.mode == "position":
            return PositionController(behavior, NullSpace() if self.solver == "null-space" else solver, **options)
        world = self.world
        estimated = bool(world.carried_mass) and world.carried_knowledge == "estimated"
        settings = {"delay": world.assumed_delay_seconds, "estimate_loads": estimated, **options}
        controller = TorqueController(behavior, solver, **settings)
        if behavior.start is not None:
            controller.loads = world.announced_loads(behavior.start.robot)
        return controller

    def build_plant(self, start: State) -> Plant:
        """Return the ideal or simulated plant of a motion without servos."""
        return IdealPlant(start) if self.plant == "ideal" else self.world.plant(start, seed=self.seed)

    def row(self, recording: Recording, result: Result) -> dict[str, Any]:
        """Return a row of a campaign's table: values by the names in `COMMON_COLUMNS` and `columns`."""
        errors = [each["rms"] for each in (result["levels"] or {}).values() if each["rms"] is not None]
        values = {name: _value_at(result, column.path) for name, column in {**COMMON_COLUMNS, **self.columns}.items()}
        return {
            **values,
            "motion_seconds": float(recording.duration),
            "fallback_steps": sum((result["fallbacks"] or {}).values()),
            "levels_rms": max(errors, default=None),
        }

    def _current_settings(self) -> dict[str, Any]:
        """Return the settings by today's names: campaigns and commands of earlier versions have former ones."""
        parts: dict[str, dict[str, Any]] = {prefix: {} for prefix in ("", *self.prefixed_settings)}
        for name, value in self.settings.items():
            prefix = next((each for each in self.prefixed_settings if name.startswith(each)), "")
            parts[prefix][name.removeprefix(prefix)] = value
        types = {"": self.settings_type, **self.prefixed_settings}
        renamed = {prefix: current_settings(types[prefix], part) for prefix, part in parts.items()}
        return {prefix + name: value for prefix, part in renamed.items() for name, value in part.items()}

    # -- checks ----------------------------------------------------------------------------------------------------

    def _available_modes(self) -> tuple[tuple[str, str], ...]:
        return self.available

    def _choose_mode(self) -> None:
        """Set mode and plant to the first available pair that matches those given."""
        available = self._available_modes()
        matching = [(mode, plant) for mode, plant in available if self.mode in ("", mode) and self.plant in ("", plant)]
        if not matching:
            known = " or ".join(f"--mode {mode} --plant {plant}" for mode, plant in available)
            requested = {"mode": self.mode, "plant": self.plant}
            options = " ".join(f"--{name} {value}" for name, value in requested.items() if value)
            raise UsageError(f"'{self.name}' does not run with {options}; it runs with {known}")
        object.__setattr__(self, "mode", matching[0][0])
        object.__setattr__(self, "plant", matching[0][1])

    def _check_solver(self) -> None:
        if self.solver not in SOLVERS:
            raise UsageError(f"there is no solver '{self.solver}'; {suggestion(self.solver, SOLVERS)}")
        matching = ("strict", "null-space") if self.zmp_regulated else ("strict", "weighted")
        if self.solver not in matching:
            what = f"'{self.name}' with --mode {self.mode}"
            raise UsageError(f"{what} does not run with --solver {self.solver}; expected {' or '.join(matching)}")


def motion_parameters(cls: type[Motion]) -> dict[str, Parameter]:
    """Return all parameters of a motion by option name: its own first, then the common ones and those of the world."""
    declared = {each.option: each for each in parameters(cls).values()}
    common = {field.name for field in fields(Motion)} | set(World.__dataclass_fields__)
    own = {option: each for option, each in declared.items() if each.name not in common}
    return {**own, **declared}


@cache
def library_robot(name: str) -> Robot:
    """Load a library robot, cached: robots are immutable, and fitting their capsules takes seconds."""
    return load_robot(name)


@cache
def _check_robot(name: str) -> None:
    """Raise `PoiseError` if the robot does not exist."""
    describe_robot(name)


def _value_at(result: Result, path: str) -> Any:
    """Return the value at a path in a result, like ``"walk.speed.0"`` or ``"reach_errors_m.max"``; None if absent."""
    value: Any = result if path else None
    for key in path.split(".") if path else ():
        if isinstance(value, list):
            value = max(value, default=None) if key == "max" else value[int(key)]
        else:
            value = value.get(key) if isinstance(value, dict) else None
    return value
