"""Level and Hierarchy: what matters, in order of importance."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from poise.errors import HierarchyError
from poise.robots import Robot
from poise.state import Snapshot
from poise.tasks import MotionTask, Task


@dataclass(frozen=True, eq=False)
class Level:
    """Tasks that matter equally, under a name. Inside a level their weights decide, between levels the order.

    Args:
        name: a word of your own; levels are known by it.
        tasks: one, or several.
        damping: adds ``damping² |x|²`` to what the level minimises. A level that can only be met by wild motion, near a
            singularity or against its superiors, then rather waits: motion is worth at most error / damping. Zero is
            exact; 0.05 to 0.2 (in metres or radians of error rate per rad/s) calms a gaze or a stretched arm.

    >>> Level("feet", [tasks.HoldPose(foot, at=start) for foot in robot.feet])
    """

    name: str
    tasks: tuple[Task, ...] = ()
    damping: float = 0.0

    def __init__(self, name: str, tasks: Iterable[Task] | Task = (), damping: float = 0.0) -> None:
        if not isinstance(name, str) or not name:
            raise HierarchyError(f"a level is named {name!r}; expected a word, like 'balance'")
        group = tuple(tasks) if isinstance(tasks, Iterable) else (tasks,)
        for task in group:
            if not isinstance(task, Task):
                raise HierarchyError(f"level '{name}' holds {task!r}; expected tasks and constraints")
        if not (isinstance(damping, (int, float)) and 0.0 <= damping < float("inf")):
            raise HierarchyError(f"level '{name}' has damping {damping!r}; expected a number, zero or more")
        object.__setattr__(self, "damping", float(damping))
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "tasks", group)


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A motion: what must hold, then levels in order of importance.

    `always` is the level above all others. If it contradicts itself the solver keeps as much of it as it can and says
    so, like for any other level. Hierarchies never change: the methods below return new ones, and a controller that
    is handed a new one passes over to it smoothly.

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
        seen: set[str] = {"always"}
        for level in self.levels:
            if not isinstance(level, Level):
                raise HierarchyError(f"levels holds {level!r}; expected poise.Level(name, [task, ...])")
            if level.name in seen:
                raise HierarchyError(f"two levels are called '{level.name}'; give each its own name")
            seen.add(level.name)
        if not self.tasks:
            raise HierarchyError("the hierarchy has no task; give it constraints in always= or tasks in levels=")
        self._one_robot()

    def __call__(self, snapshot: Snapshot) -> Hierarchy:
        """A hierarchy is the behavior that never changes."""
        return self

    @property
    def tasks(self) -> tuple[Task, ...]:
        """All tasks, those of `always` first."""
        return self.always + tuple(task for level in self.levels for task in level.tasks)

    @property
    def robot_name(self) -> str | None:
        """The robot it is made for, if a task says so."""
        return next(iter(_robots(self.tasks)), None)

    def groups(self) -> list[tuple[str, tuple[Task, ...]]]:
        """Names and tasks of the levels of the program, `always` first."""
        return [("always", self.always), *((level.name, level.tasks) for level in self.levels)]

    def damping(self) -> tuple[float, ...]:
        """Of the levels of the program, `always` first."""
        return (0.0, *(level.damping for level in self.levels))

    # -- other hierarchies -----------------------------------------------------------------------------------------

    def level(self, name: str) -> Level:
        """The level of that name."""
        return self.levels[self._index(name)]

    def with_level(self, level: Level, before: str | None = None) -> Hierarchy:
        """With one more level, above the one named or as the last."""
        at = len(self.levels) if before is None else self._index(before)
        return Hierarchy(self.always, (*self.levels[:at], level, *self.levels[at:]))

    def without(self, name: str) -> Hierarchy:
        """Without the level of that name."""
        at = self._index(name)
        return Hierarchy(self.always, self.levels[:at] + self.levels[at + 1 :])

    def with_tasks(self, name: str, tasks: Iterable[Task] | Task) -> Hierarchy:
        """With other tasks in the level of that name."""
        at = self._index(name)
        return Hierarchy(
            self.always, (*self.levels[:at], Level(name, tasks, self.levels[at].damping), *self.levels[at + 1 :])
        )

    def reordered(self, names: Sequence[str]) -> Hierarchy:
        """With the same levels in another order."""
        order = [str(name) for name in names]
        if sorted(order) != sorted(level.name for level in self.levels):
            known = ", ".join(level.name for level in self.levels)
            raise HierarchyError(f"the order {', '.join(order)} does not name each level once; there are {known}")
        return Hierarchy(self.always, [self.level(name) for name in order])

    def common_levels(self, other: Hierarchy) -> int:
        """How many of the first levels are the same, task for task; -1 when `always` is not."""
        if not _same(self.always, other.always):
            return -1
        count = 0
        for ours, theirs in zip(self.levels, other.levels, strict=False):
            if not _same(ours.tasks, theirs.tasks) or ours.damping != theirs.damping:
                break
            count += 1
        return count

    # -- words -----------------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        lines = [("", "level", "task", "unit", "wants", "weight")]
        for k, (name, tasks) in enumerate(self.groups()):
            for i, task in enumerate(tasks):
                number, word = ("", "") if i else ("-" if k == 0 else str(k), name)
                lines.append((number, word, task.name, task.unit, wants(task), _weight(task)))
            if not tasks:
                lines.append(("-" if k == 0 else str(k), name, "(nothing)", "", "", ""))
        widths = [max(len(line[i]) for line in lines) for i in range(6)]
        return "\n".join("  ".join(w.ljust(n) for w, n in zip(line, widths, strict=True)).rstrip() for line in lines)

    def __repr__(self) -> str:
        return f"Hierarchy({len(self.always)} always, levels {', '.join(level.name for level in self.levels)})"

    def replace(self, **changes: object) -> Hierarchy:
        """With another `always` or other `levels`."""
        return replace(self, **changes)  # type: ignore[arg-type]

    def _index(self, name: str) -> int:
        names = [level.name for level in self.levels]
        if name not in names:
            near = difflib.get_close_matches(str(name), names, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(names) or 'none'}"
            raise HierarchyError(f"no level is called '{name}'; {hint}")
        return names.index(name)

    def _one_robot(self) -> None:
        robots = _robots(self.tasks)
        if len(robots) > 1:
            (first, a), (second, b) = list(robots.items())[:2]
            raise HierarchyError(f"'{a}' is made for {first}, '{b}' for {second}; a hierarchy moves one robot")


class Behavior(Protocol):
    """A hierarchy as a function of what is the case; a plain `Hierarchy` is the constant one.

    It is called at every tick. As long as it returns the same hierarchy, nothing is built anew; when it returns
    another one, the controller passes over smoothly.
    """

    def __call__(self, snapshot: Snapshot) -> Hierarchy: ...


def wants(task: Task) -> str:
    """What a task asks for, in a word: zero error, an interval, a rate or a limit."""
    if not isinstance(task, MotionTask):
        return "limits"
    if task.within is not None:
        return "interval"
    return "rate" if task.wants_rate else "equality"


def _weight(task: Task) -> str:
    import numpy as np

    weight = np.unique(np.asarray(task.weight))
    return f"{weight[0]:g}" if len(weight) == 1 else f"{weight[0]:g} to {weight[-1]:g}"


def _robots(tasks: Sequence[Task]) -> dict[str, str]:
    """Robots that the tasks speak of, each with one of its tasks."""
    found: dict[str, str] = {}
    for task in tasks:
        robot = getattr(task, "robot", None)
        names = [frame.robot_name for frame in task.frames()]
        for name in [*names, *([robot.name] if isinstance(robot, Robot) else [])]:
            found.setdefault(name, task.name)
    return found


def _same(ours: Sequence[Task], theirs: Sequence[Task]) -> bool:
    return len(ours) == len(theirs) and all(a is b for a, b in zip(ours, theirs, strict=True))
