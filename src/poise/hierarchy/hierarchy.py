"""Hierarchies of tasks with strict priorities, and behaviors that choose them over time.

- `Level`: tasks of equal priority. `Hierarchy`: constraints and levels, the most important first.
- `Behavior`: returns the hierarchy for each tick; a `Hierarchy` is the constant behavior.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.errors import HierarchyError, PoiseError, suggestion
from poise.interface import Interface
from poise.robots import Robot, State
from poise.state import SensorReadings, Snapshot
from poise.tasks import MotionTask, Task

if TYPE_CHECKING:
    from poise.hierarchy.composition import ComposedBehavior


@dataclass(frozen=True, eq=False)
class Level:
    """A named group of tasks of equal priority.

    Inside a level the weights of the tasks decide; a lower level never degrades a higher one.

    Args:
        name: unique name of the level, e.g. "balance".
        tasks: one task, or several.
        damping: adds ``damping² |x|²`` to the cost of the level, with x the joint velocities (or accelerations). It
            keeps x small where the level could only be met by very fast motion: near a singularity, or in conflict
            with higher levels. There |x| is at most the desired error rate divided by ``2 damping``. Unit: that of the
            error per rad. Zero: exact; 0.05 to 0.2 is suitable for a gaze or a stretched arm.

    >>> Level("feet", [tasks.HoldPose(foot, at=start) for foot in robot.feet])
    """

    name: str
    tasks: tuple[Task, ...] = ()
    damping: float = 0.0

    def __init__(self, name: str, tasks: Iterable[Task] | Task = (), damping: float = 0.0) -> None:
        if not isinstance(name, str) or not name:
            raise HierarchyError(f"level name is {name!r}; expected a non-empty string, e.g. 'balance'")
        group = tuple(tasks) if isinstance(tasks, Iterable) else (tasks,)
        for task in group:
            if not isinstance(task, Task):
                raise HierarchyError(f"level '{name}' contains {task!r}; expected tasks and constraints")
        if not (isinstance(damping, (int, float)) and 0.0 <= damping < float("inf")):
            raise HierarchyError(f"level '{name}' has damping {damping!r}; expected a number, zero or more")
        object.__setattr__(self, "damping", float(damping))
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "tasks", group)


#: Default transition time of the command from one hierarchy to the next (s).
RAMP = 0.2
#: Default time after which a planned contact that is not measured counts as lost (s).
LOST_AFTER = 0.05


class NamedPhase(Protocol):
    """A phase of a motion. Each behavior has its own class of phases; all of them have a name."""

    @property
    def name(self) -> str:
        """Label in the recording."""


class Transition(NamedTuple):
    """How the command passes over from one hierarchy to another.

    Attributes:
        seconds: duration (s); 0: at once.
        exact_levels: number of leading levels of the new hierarchy that apply at once and exactly.
    """

    seconds: float
    exact_levels: int


class Behavior(Interface):
    """A hierarchy as a function of the current snapshot; a `Hierarchy` is the constant behavior.

    The controller calls it at every tick. While it returns the same hierarchy, the controller reuses its program; when
    it returns another one, the command changes over to it smoothly, within `ramp` seconds. Only `__call__` is required;
    controllers and runs use only the members below. A plain function is accepted as a behavior, too: controllers wrap
    it in a `FunctionBehavior`.

    Attributes:
        ramp: transition time of the command from one hierarchy to the next (s).
        lost_after: time after which a planned contact that is not measured counts as lost (s); infinite: never.
        seconds: duration of the motion (s); infinite: no end.
        start: initial state, at rest; None: any.
        weights: one per level of the hierarchies, for the solver `Weighted`; None: the solver's default.
        hierarchies: all hierarchies that the behavior will return, if known: a controller binds them before the first
            tick.
        offset: added to the commanded joint positions (nv - 6; rad, m) to compensate compliant servos; None: zero.
        fallback: reason for degraded operation, copied to `Command.fallback`; empty: none.
        essential_level: name of the lowest level that keeps the robot from falling; `with_levels` places other levels
            directly below it by default. Empty: none.

    >>> class Waving(poise.Behavior):
    ...     def __init__(self, low: Hierarchy, high: Hierarchy) -> None:
    ...         self.hierarchies = (low, high)
    ...     def __call__(self, snapshot: Snapshot) -> Hierarchy:
    ...         return self.hierarchies[int(snapshot.time) % 2]
    """

    ramp: float = RAMP
    lost_after: float = LOST_AFTER
    seconds: float = math.inf
    start: State | None = None
    weights: Sequence[float] | None = None
    hierarchies: Sequence[Hierarchy] = ()
    offset: Array | None = None
    fallback: str = ""
    essential_level: str = ""

    @abstractmethod
    def __call__(self, snapshot: Snapshot) -> Hierarchy:
        """Return the hierarchy for this tick."""

    def phase(self, time: float) -> NamedPhase | None:
        """Return the phase at a time (s), or None. Its name is copied to `Command.phase`."""
        return None

    def transition(self, previous: Hierarchy, following: Hierarchy) -> Transition:
        """Return how the command passes over from one hierarchy of this behavior to another."""
        return Transition(self.ramp, previous.replace(always=following.always).common_levels(following))

    def observe(self, real: Snapshot, reference: Snapshot, readings: SensorReadings | None) -> pinocchio.SE3 | None:
        """Update the feedback under position servos; a `PositionController` calls this before each tick.

        Args:
            real, reference: the measured body, and the reference body, whose joint positions are commanded.
            readings: sensor readings; None: the plant has no sensors.

        Returns:
            Displacement of the reference body in the world, in the ground plane: new pose = displacement * old pose.
            None: no displacement.
        """
        return None

    def with_levels(
        self, levels: Iterable[Level] | Level, below: str | None = None, above: str | None = None
    ) -> ComposedBehavior:
        """Return a behavior with further levels, which may be added, removed and replaced while it runs.

        Args:
            levels: levels with new names, the most important first.
            below, above: name of the level directly below or above which they are placed; neither: directly below
                `essential_level`.

        >>> gaze = Level("gaze", [tasks.Gaze(robot.gaze, (3.0, 0.0, 1.2))])
        >>> controller = poise.TorqueController(Walk(robot).with_levels(gaze))
        """
        from poise.hierarchy.composition import ComposedBehavior  # which derives from this class

        composed = ComposedBehavior(self)
        composed.add_levels(levels, below, above)
        return composed

    def with_behavior(
        self, behavior: BehaviorLike, levels: Sequence[str], below: str | None = None, above: str | None = None
    ) -> ComposedBehavior:
        """Return a behavior with levels of another one, which runs beside it; see `ComposedBehavior.add_behavior`."""
        from poise.hierarchy.composition import ComposedBehavior

        composed = ComposedBehavior(self)
        composed.add_behavior(behavior, levels, below, above)
        return composed

    @classmethod
    def adapt(cls, candidate: Any) -> Behavior:
        """Return the object itself if it is a behavior, else a `FunctionBehavior` around a function or other callable.

        Raises:
            PoiseError: the object is not callable.
        """
        if isinstance(candidate, Behavior):
            return candidate
        if not callable(candidate):
            raise PoiseError(f"behavior is {candidate!r}; expected a Hierarchy or a function that returns one")
        return FunctionBehavior._adapter(candidate)(candidate)


class FunctionBehavior(Behavior):
    """A function of the snapshot as a behavior, with the default of every other member.

    Args:
        function: called at every tick; returns a Hierarchy.

    >>> FunctionBehavior(lambda snapshot: standing if snapshot.time < 1.0 else reaching)
    """

    def __init__(self, function: Callable[[Snapshot], Hierarchy]) -> None:
        self._function = function

    @property
    def function(self) -> Callable[[Snapshot], Hierarchy]:
        """The wrapped function."""
        return self._function

    def __call__(self, snapshot: Snapshot) -> Hierarchy:
        return self._function(snapshot)


#: Types that controllers accept as a behavior.
BehaviorLike = Behavior | Callable[[Snapshot], "Hierarchy"]


@dataclass(frozen=True, eq=False)
class Hierarchy(Behavior):
    """A motion: constraints that always hold, then levels of tasks in order of priority.

    `always` is the level above all others. If its constraints contradict each other, the solver minimizes their
    violation and reports it, as for any other level. Hierarchies are immutable: the methods below return new ones, and
    a controller that gets a new one changes over to it smoothly.

    Args:
        always: constraints, e.g. ``[constraints.JointRange(robot), constraints.JointSpeed(robot)]``.
        levels: the most important first.

    >>> print(Hierarchy(always=[constraints.JointRange(robot)], levels=[Level("posture", [tasks.Posture(start)])]))
    """

    always: tuple[Task, ...] = ()
    levels: tuple[Level, ...] = ()

    def __init__(self, always: Iterable[Task] | Task = (), levels: Iterable[Level] | Level = ()) -> None:
        object.__setattr__(self, "always", Level("always", always).tasks)
        object.__setattr__(self, "levels", tuple(levels) if isinstance(levels, Iterable) else (levels,))
        names: set[str] = {"always"}
        for level in self.levels:
            if not isinstance(level, Level):
                raise HierarchyError(f"levels contains {level!r}; expected poise.Level(name, [task, ...])")
            if level.name in names:
                raise HierarchyError(f"two levels are named '{level.name}'; give each level a unique name")
            names.add(level.name)
        if not self.tasks:
            raise HierarchyError("the hierarchy has no task; give it constraints in always= or tasks in levels=")
        self._check_one_robot()

    def __call__(self, snapshot: Snapshot) -> Hierarchy:
        """Return the hierarchy itself: as a behavior, it is constant."""
        return self

    @property
    def hierarchies(self) -> Sequence[Hierarchy]:  # type: ignore[override]  # a constant behavior announces itself
        """The hierarchy itself."""
        return (self,)

    @property
    def tasks(self) -> tuple[Task, ...]:
        """All tasks, those of `always` first."""
        return self.always + tuple(task for level in self.levels for task in level.tasks)

    @property
    def robot_name(self) -> str | None:
        """Name of the robot that the tasks refer to; None if no task refers to a robot."""
        return next(iter(_robots_of_tasks(self.tasks)), None)

    def groups(self) -> list[tuple[str, tuple[Task, ...]]]:
        """Return names and tasks of the levels of the program, `always` first."""
        return [("always", self.always), *((level.name, level.tasks) for level in self.levels)]

    def damping(self) -> tuple[float, ...]:
        """Return the damping of each level of the program, `always` first."""
        return (0.0, *(level.damping for level in self.levels))

    # -- modified copies -------------------------------------------------------------------------------------------

    def level(self, name: str) -> Level:
        """Return the level of that name."""
        return self.levels[self._level_index(name)]

    def with_level(self, level: Level, before: str | None = None) -> Hierarchy:
        """Return a copy with one more level, above the level named `before` or as the last."""
        index = len(self.levels) if before is None else self._level_index(before)
        return Hierarchy(self.always, (*self.levels[:index], level, *self.levels[index:]))

    def without_level(self, name: str) -> Hierarchy:
        """Return a copy without the level of that name."""
        index = self._level_index(name)
        return Hierarchy(self.always, self.levels[:index] + self.levels[index + 1 :])

    def with_tasks(self, name: str, tasks: Iterable[Task] | Task) -> Hierarchy:
        """Return a copy with other tasks in the level of that name; its damping stays."""
        index = self._level_index(name)
        level = Level(name, tasks, self.levels[index].damping)
        return Hierarchy(self.always, (*self.levels[:index], level, *self.levels[index + 1 :]))

    def reorder(self, names: Sequence[str]) -> Hierarchy:
        """Return a copy with the same levels in another order."""
        order = [str(name) for name in names]
        if sorted(order) != sorted(level.name for level in self.levels):
            level_names = ", ".join(level.name for level in self.levels)
            raise HierarchyError(f"the order {', '.join(order)} does not name each level once; there are {level_names}")
        return Hierarchy(self.always, [self.level(name) for name in order])

    def common_levels(self, other: Hierarchy) -> int:
        """Return the number of leading levels that have the same tasks and damping; -1 if `always` differs."""
        if not _same_tasks(self.always, other.always):
            return -1
        count = 0
        for a, b in zip(self.levels, other.levels, strict=False):
            if not _same_tasks(a.tasks, b.tasks) or a.damping != b.damping:
                break
            count += 1
        return count

    # -- text ------------------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        lines = [("", "level", "task", "unit", "kind", "weight")]
        for k, (name, tasks) in enumerate(self.groups()):
            for i, task in enumerate(tasks):
                number, word = ("", "") if i else ("-" if k == 0 else str(k), name)
                lines.append((number, word, task.name, task.unit, task_kind(task), _weight_text(task)))
            if not tasks:
                lines.append(("-" if k == 0 else str(k), name, "(none)", "", "", ""))
        widths = [max(len(line[i]) for line in lines) for i in range(6)]
        return "\n".join("  ".join(w.ljust(n) for w, n in zip(line, widths, strict=True)).rstrip() for line in lines)

    def __repr__(self) -> str:
        return f"Hierarchy({len(self.always)} always, levels {', '.join(level.name for level in self.levels)})"

    def replace(self, **changes: object) -> Hierarchy:
        """Return a copy with another `always` or other `levels`."""
        return replace(self, **changes)  # type: ignore[arg-type]

    def _level_index(self, name: str) -> int:
        names = [level.name for level in self.levels]
        if name not in names:
            raise HierarchyError(f"there is no level '{name}'; {suggestion(name, names)}")
        return names.index(name)

    def _check_one_robot(self) -> None:
        robots = _robots_of_tasks(self.tasks)
        if len(robots) > 1:
            (first, a), (second, b) = list(robots.items())[:2]
            raise HierarchyError(f"task '{a}' is for {first}, task '{b}' for {second}; build all tasks for one robot")


def task_kind(task: Task) -> str:
    """Return the kind of a task, for tables.

    Returns:
        "equality": the error vanishes; "interval": the error stays inside a tolerance; "rate": a task on velocities
        only; "limits": a constraint that writes its bounds itself, such as joint limits and force constraints.
    """
    if not isinstance(task, MotionTask):
        return "limits"
    if task.tolerance is not None:
        return "interval"
    return "rate" if task.velocity_only else "equality"


def _weight_text(task: Task) -> str:

    weight = np.unique(np.asarray(task.weight))
    return f"{weight[0]:g}" if len(weight) == 1 else f"{weight[0]:g} to {weight[-1]:g}"


def _robots_of_tasks(tasks: Sequence[Task]) -> dict[str, str]:
    """Return the names of the robots that the tasks refer to, each with the name of its first task."""
    robots: dict[str, str] = {}
    for task in tasks:
        names = [frame.robot_name for frame in task.frames()]
        for name in [*names, *([task.robot.name] if isinstance(task.robot, Robot) else [])]:
            robots.setdefault(name, task.name)
    return robots


def _same_tasks(first: Sequence[Task], second: Sequence[Task]) -> bool:
    return len(first) == len(second) and all(a is b for a, b in zip(first, second, strict=True))
