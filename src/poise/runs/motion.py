"""Motion: the definition of one motion, from which command line, campaigns, studio and Python calls are derived."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from os import PathLike
from typing import Any, ClassVar, NamedTuple

from poise.control import Controller, KinematicController, PositionController, TorqueController
from poise.errors import UsageError, suggestion
from poise.hierarchy import Behavior
from poise.parameters import Parameter, check_parameters, parameter, parameters, settings_from
from poise.parsing import parse_integer, parse_seconds
from poise.plants import Plant
from poise.recording import Progress, Recording
from poise.robots import Robot, describe_robot, library_names, load_robot
from poise.runs.execution import CompletedRun, Result, execute, finish_result, summarize
from poise.runs.world import NOISE, World
from poise.solvers import NullSpace, Weighted

MODES, PLANTS = ("kinematic", "torque", "position"), ("ideal", "mujoco")
SOLVERS = ("strict", "weighted", "null-space")


class ResultColumn(NamedTuple):
    """A column that campaigns write of a result.

    Attributes:
        type: ``"number"``, ``"count"``, ``"flag"`` or ``"text"``.
        unit: of a number; "" if it has none.
        about: one sentence fragment.
        path: where it stands in the result, like ``"walk.speed.0"``.
    """

    type: str
    unit: str
    about: str
    path: str = ""


#: What campaigns write of every motion.
COMMON_COLUMNS = {
    "seconds_moved": ResultColumn("number", "s", "how long it moved: until its end, or half a second beyond a fall"),
    "steps_made": ResultColumn("count", "", "steps that were made", "steps"),
    "fallback_steps": ResultColumn("count", "", "control steps in which a fallback took over"),
    "levels_rms": ResultColumn("number", "", "largest root mean square error of a level"),
    "fell": ResultColumn("flag", "", "whether the robot fell", "fell"),
    "distance_m": ResultColumn("number", "m", "how far it came", "distance_m"),
    "heading_rad": ResultColumn("number", "rad", "how far it turned to the left", "heading_rad"),
    "worst_tilt_deg": ResultColumn("number", "deg", "how far the trunk leaned at worst", "worst_tilt_deg"),
    "zmp_margin_m": ResultColumn("number", "m", "how far the ZMP was inside the soles, at worst", "zmp_margin_m"),
    "nonfinite_commands": ResultColumn("count", "", "commands that were not finite", "nonfinite_commands"),
}


@dataclass
class Setup:
    """What moves: a behavior, the controller that runs it, and the plant.

    Attributes:
        behavior, controller, plant: of the run.
        seconds: how long the behavior takes.
        provenance: facts about the behavior for the recording.
        updates: asked after every step for facts that are known only then.
        finished: asked after every step whether there is nothing left to do.
    """

    behavior: Any
    controller: Controller
    plant: Plant
    seconds: float
    provenance: dict[str, Any] = field(default_factory=dict)
    updates: Callable[[], dict[str, Any]] = dict
    finished: Callable[[], bool] = lambda: False


class MotionRun(NamedTuple):
    """A motion that was run: its recording, and the result that ``poise run --json`` prints."""

    recording: Recording
    result: Result


class _MotionMeta(ABCMeta):
    """Lets fields of the world be given as arguments of a motion: ``Walk(push="100,0,0,0.1@1")``."""

    def __call__(cls, **given: Any) -> Any:
        world_fields = {name: given.pop(name) for name in list(given) if name in World.__dataclass_fields__}
        if world_fields:
            given["world"] = replace(given.get("world") or World(), **world_fields)
        known = {each.name for each in fields(cls)}  # type: ignore[arg-type]
        unknown = [name for name in given if name not in known]
        if unknown:
            hint = suggestion(unknown[0], parameters(cls))
            raise UsageError(f"{cls.name} has no parameter '{unknown[0]}'; {hint}")  # type: ignore[attr-defined]
        return super().__call__(**given)


@dataclass(frozen=True, kw_only=True)
class Motion(metaclass=_MotionMeta):
    """One motion of one robot in one world: parameters, how it is built, and how its recording is judged.

    Subclasses declare their own parameters as fields (`poise.parameters.parameter`), `build` what moves and `judge` the
    recording. Command line options, campaign parameters, controls of the studio and Python arguments follow from the
    fields.

    Attributes:
        name: of the motion on the command line and in campaign specs.
        summary: one line of help.
        available: pairs of mode and plant that it runs with; the first is the default.
        columns: what campaigns write of its results, beside `COMMON_COLUMNS`.
        prefixed_settings: more dataclasses that `settings` changes, by prefix, like ``{"style.": Style}``.
        file_parameters: parameters that may name a file, with the names that are no files.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    available: ClassVar[tuple[tuple[str, str], ...]]
    columns: ClassVar[Mapping[str, ResultColumn]] = {}
    prefixed_settings: ClassVar[Mapping[str, type]] = {}
    file_parameters: ClassVar[Mapping[str, Callable[[], list[str]]]] = {"robot": lambda: list(library_names())}

    robot: str = parameter("g1", "name of a library robot (see 'poise robots'), or a URDF", metavar="NAME|FILE")
    mode: str = parameter("", "control mode", choices=MODES, kind="text")
    plant: str = parameter("", "plant: ideal, or simulated in MuJoCo", choices=PLANTS, kind="text")
    solver: str = parameter("strict", "solver of the hierarchy", choices=SOLVERS, kind="text")
    seconds: float | None = parameter(
        None,
        "duration in s (default: as long as the motion takes)",
        kind="number",
        above=0.0,
        metavar="S",
        parser=parse_seconds,
    )
    seed: int = parameter(0, "seed of everything random", low=0, metavar="N", parser=parse_integer)
    settings: Mapping[str, Any] = field(default_factory=dict)
    world: World = field(default_factory=World)

    def __post_init__(self) -> None:
        self._choose_mode()
        if self.world.noise is None:
            noise = NOISE if self.zmp_regulated else 0.0
            object.__setattr__(self, "world", replace(self.world, noise=noise))
        check_parameters(self, self.name, UsageError)
        self._check_solver()
        if self.plant == "ideal" and self.world.disturbances:
            first = next(iter(self.world.disturbances))
            raise UsageError(f"an ideal plant knows no {first}; give --plant mujoco --mode torque")
        if self.world.carry and not self.zmp_regulated:
            raise UsageError("a box is carried on position servos; give --mode position to stand, squat or walk")
        self.check()

    # -- what a motion says of itself ------------------------------------------------------------------------------

    @abstractmethod
    def build(self, robot: Robot | None = None) -> Setup:
        """Behavior, controller and plant, ready to run.

        Args:
            robot: in place of the one that `robot` names, if it is loaded already.
        """

    @abstractmethod
    def judge(self, setup: Setup, run: CompletedRun, result: Result) -> list[str]:
        """Add the motion's own keys to a result; return the reasons why it failed, none if it succeeded."""

    @classmethod
    @abstractmethod
    def settings_types(cls) -> Mapping[str, type]:
        """The dataclasses whose fields `settings` changes by name (``--set NAME=VALUE``), by mode; "": any mode."""

    @property
    def settings_type(self) -> type:
        """The dataclass whose fields `settings` changes in this mode."""
        known = self.settings_types()
        return known[self.mode] if self.mode in known else known[""]

    @property
    def usual_seconds(self) -> float:
        """About how long it takes, for progress bars, before anything is built (s)."""
        return 5.0

    @property
    def zmp_regulated(self) -> bool:
        """Whether a body on position servos balances by its force cells ([Galdeano2014])."""
        return False

    def check(self) -> None:
        """UsageError for parameters that do not go together."""

    def check_names(self) -> None:
        """PoiseError for a robot, a setting, a style or a file that does not exist, before anything is loaded."""
        _check_robot(self.robot)
        self.resolved_settings()

    def provenance(self) -> dict[str, Any]:
        """Facts of the motion's own for the recording."""
        return {}

    # -- running ---------------------------------------------------------------------------------------------------

    def run(self, path: str | PathLike[str] | None = None, progress: Progress | None = None) -> MotionRun:
        """Run and judge it; `result["reason"]` says what failed, if anything did.

        Args:
            path: a ``.poise`` file to record to.
            progress: called with the time of the motion after each step (s).
        """
        setup = self.build()
        try:
            completed = execute(self, setup, path, progress)
        finally:
            setup.plant.close()
        result = summarize(self, completed)
        return MotionRun(completed.recording, finish_result(result, self.judge(setup, completed, result)))

    def load(self) -> Robot:
        """The robot; those of the library are loaded once."""
        return library_robot(self.robot) if self.robot in library_names() else load_robot(self.robot)

    def resolved_settings(self) -> Any:
        """The settings of the behavior, with those changed that were given."""
        return settings_from(self.settings_type, self.settings)

    def controller(self, behavior: Behavior, weights: Any = None, **options: Any) -> Controller:
        """The controller of the mode.

        Args:
            weights: of the levels, for the weighted solver.
            options: of the controller.
        """
        solver = Weighted(weights) if self.solver == "weighted" else None
        if self.mode == "kinematic":
            options.setdefault("ramp", behavior.ramp)
            return KinematicController(behavior, solver, **options)
        if self.mode == "position":
            return PositionController(behavior, NullSpace() if self.solver == "null-space" else solver, **options)
        return TorqueController(behavior, solver, **options)

    def row(self, recording: Recording, result: Result) -> dict[str, Any]:
        """A result as campaigns write it: values by the names of `COMMON_COLUMNS` and `columns`."""
        errors = [each["rms"] for each in (result["levels"] or {}).values() if each["rms"] is not None]
        found = {name: _value_at(result, column.path) for name, column in {**COMMON_COLUMNS, **self.columns}.items()}
        return {
            **found,
            "seconds_moved": float(recording.duration),
            "fallback_steps": sum((result["fallbacks"] or {}).values()),
            "levels_rms": max(errors, default=None),
        }

    # -- checks ----------------------------------------------------------------------------------------------------

    def _available_modes(self) -> tuple[tuple[str, str], ...]:
        return self.available

    def _choose_mode(self) -> None:
        """Mode and plant follow from each other where only one is given."""
        available = self._available_modes()
        matching = [(mode, plant) for mode, plant in available if self.mode in ("", mode) and self.plant in ("", plant)]
        if not matching:
            known = " or ".join(f"--mode {mode} --plant {plant}" for mode, plant in available)
            given = {"mode": self.mode, "plant": self.plant}
            words = " ".join(f"--{name} {value}" for name, value in given.items() if value)
            raise UsageError(f"'{self.name}' does not run with {words}; it runs with {known}")
        object.__setattr__(self, "mode", matching[0][0])
        object.__setattr__(self, "plant", matching[0][1])

    def _check_solver(self) -> None:
        if self.solver not in SOLVERS:
            raise UsageError(f"there is no solver '{self.solver}'; expected {', '.join(SOLVERS)}")
        matching = ("strict", "null-space") if self.zmp_regulated else ("strict", "weighted")
        if self.solver not in matching:
            what = f"'{self.name}' with --mode {self.mode}"
            raise UsageError(f"{what} does not run with --solver {self.solver}; expected {' or '.join(matching)}")


def motion_parameters(cls: type[Motion]) -> dict[str, Parameter]:
    """All parameters of a motion by option name: its own first, then those of every motion and of the world."""
    declared = {each.option: each for each in parameters(cls).values()}
    common = {field.name for field in fields(Motion)} | set(World.__dataclass_fields__)
    own = {option: each for option, each in declared.items() if each.name not in common}
    return {**own, **declared}


@cache
def library_robot(name: str) -> Robot:
    """A robot of the library, loaded once: robots never change, and fitting their capsules takes seconds."""
    return load_robot(name)


@cache
def _check_robot(name: str) -> None:
    """PoiseError for a robot that there is not."""
    describe_robot(name)


def _value_at(result: Result, path: str) -> Any:
    """The value at a path in a result, like ``"walk.speed.0"``; None where there is none."""
    value: Any = result if path else None
    for key in path.split(".") if path else ():
        if isinstance(value, list):
            value = max(value, default=None) if key == "max" else value[int(key)]
        else:
            value = value.get(key) if isinstance(value, dict) else None
    return value
