"""Composition of behaviors: further levels, placed by name among those of a behavior, also while it runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from typing import NamedTuple
from weakref import WeakKeyDictionary

import pinocchio

from poise.arrays import Array
from poise.errors import HierarchyError, suggestion
from poise.hierarchy.hierarchy import RAMP, Behavior, BehaviorLike, Hierarchy, Level, NamedPhase, Transition
from poise.robots import State
from poise.state import SensorReadings, Snapshot
from poise.tasks import Task

#: Number of composed hierarchies that are kept for reuse: more than a walk with a reach sequence alternates between.
MAX_COMPOSED = 32


@dataclass(frozen=True)
class _Joined:
    """Levels of another behavior, by name; those that its present hierarchy lacks are left out."""

    behavior: Behavior
    names: tuple[str, ...]

    def levels(self, hierarchy: Hierarchy | None) -> Iterator[Level]:
        present = {level.name: level for level in hierarchy.levels} if hierarchy else {}
        return (present[name] for name in self.names if name in present)


@dataclass
class _Place:
    """Entries directly below or above one level of the base behavior, the most important first."""

    base_level: str
    below: bool
    entries: list[Level | _Joined] = field(default_factory=list)


class _Sources(NamedTuple):
    """What a composed hierarchy was made of: a hierarchy of the base, and one of each joined behavior."""

    base: Hierarchy
    joined: tuple[Hierarchy | None, ...]


class _Composed(NamedTuple):
    """A composed hierarchy, and the names of the added levels that have no place in it."""

    hierarchy: Hierarchy
    missing: str


class ComposedBehavior(Behavior):
    """A behavior with further levels among its own; `Behavior.with_levels` and `with_behavior` return one.

    A level that is placed below another one never degrades it: below "balance", no wish can cost the balance. Levels
    may be added, removed and replaced while the behavior runs. The command then passes over to the new hierarchy within
    `transition_time` seconds, with the levels above the first difference exact. Targets are moved through
    `poise.tasks.LiveTarget` or `FeedForwardTarget`, without a change of the hierarchy.

    All members of the base behavior (phases, duration, sensor feedback) are kept. Keep the base itself to steer it.

    Args:
        base: behavior that is extended.
        transition_time: duration of a transition after a change of the added levels (s).

    Attributes:
        base: the same.

    >>> walk = Walk(robot, style="proud")
    >>> composed = walk.with_levels(below="swing", levels=[Level("gaze", [tasks.Gaze(robot.gaze, (3, 0, 1))])])
    >>> composed.add_level(Level("cup", [upright_cup]), below="gaze")
    """

    def __init__(self, base: BehaviorLike, transition_time: float = RAMP) -> None:
        if not (isinstance(transition_time, (int, float)) and 0.0 <= transition_time < math.inf):
            raise HierarchyError(f"transition_time is {transition_time!r}; expected seconds, zero or more")
        self.base = Behavior.adapt(base)
        self._transition_time = float(transition_time)
        self._places: list[_Place] = []
        self._constraints: tuple[Task, ...] = ()
        self._composed: dict[_Sources, _Composed] = {}
        self._sources: WeakKeyDictionary[Hierarchy, _Sources] = WeakKeyDictionary()
        self._missing = ""

    # -- changes ---------------------------------------------------------------------------------------------------

    @property
    def added_levels(self) -> tuple[str, ...]:
        """Names of the added levels, in the order in which they were placed."""
        return tuple(name for place in self._places for entry in place.entries for name in _names(entry))

    def add_levels(self, levels: Iterable[Level] | Level, below: str | None = None, above: str | None = None) -> None:
        """Add levels, the most important first, directly below or above the level of a name.

        Args:
            levels: levels with new names.
            below, above: one of the two: name of a level of the base, or of an added one; neither: directly below the
                `essential_level` of the base.
        """
        group = [levels] if isinstance(levels, Level) else list(levels)
        for level in group:
            if not isinstance(level, Level):
                raise HierarchyError(f"levels contains {level!r}; expected poise.Level(name, [task, ...])")
        self._insert(group, below, above)

    add_level = add_levels

    def add_behavior(
        self, behavior: BehaviorLike, levels: Sequence[str], below: str | None = None, above: str | None = None
    ) -> None:
        """Add levels of another behavior, which runs beside the base; arguments as in `add_levels`.

        Args:
            behavior: the other behavior. Its `always` and its other levels are not used.
            levels: names of its levels, the most important first.
            below, above: as in `add_levels`.
        """
        names = tuple(str(name) for name in levels)
        joined = _Joined(Behavior.adapt(behavior), names)
        known = {level.name for hierarchy in _announced(joined.behavior) for level in hierarchy.levels}
        for name in names:
            if known and name not in known:
                raise HierarchyError(f"the joined behavior has no level '{name}'; {suggestion(name, sorted(known))}")
        self._insert([joined], below, above)

    def add_constraints(self, constraints: Iterable[Task] | Task) -> None:
        """Add constraints to `always`, above all levels, also above the balance: use them for limits only.

        >>> composed.add_constraints(constraints.JointSpeed(robot, arm_joints))
        """
        before, self._constraints = self._constraints, (*self._constraints, *Level("always", constraints).tasks)
        self._forget()
        try:
            self.hierarchies  # noqa: B018  composes all that are known
        except HierarchyError:
            self._constraints = before
            self._forget()
            raise

    def remove_level(self, name: str) -> None:
        """Remove an added level."""
        place, index = self._find(name)
        entry = place.entries[index]
        rest = tuple(other for other in _names(entry) if other != name)
        others = [_Joined(entry.behavior, rest)] if isinstance(entry, _Joined) and rest else []
        self._change(place, [*place.entries[:index], *others, *place.entries[index + 1 :]])

    def replace_level(self, level: Level) -> None:
        """Replace the added level of the same name, which keeps its place."""
        place, index = self._find(level.name)
        if isinstance(place.entries[index], _Joined):
            raise HierarchyError(f"level '{level.name}' belongs to a joined behavior; remove it first")
        self._change(place, [*place.entries[:index], level, *place.entries[index + 1 :]])

    def _insert(self, entries: Sequence[Level | _Joined], below: str | None, above: str | None) -> None:
        if below is not None and above is not None:
            raise HierarchyError(f"levels are placed below '{below}' and above '{above}'; expected one of the two")
        if below is None and above is None:
            below = self.base.essential_level or None
        anchor, is_below = (below, True) if below is not None else (above, False)
        known = [level.name for hierarchy in _announced(self.base) for level in hierarchy.levels]
        if anchor is None:
            there = f"; there are {', '.join(dict.fromkeys(known))}" if known else ""
            raise HierarchyError(f"the levels have no place; give below= or above= the name of a level{there}")
        if anchor in self.added_levels:
            place, index = self._find(anchor)
            index += is_below
        elif known and anchor not in known:
            names = list(dict.fromkeys([*known, *self.added_levels]))
            raise HierarchyError(f"there is no level '{anchor}'; {suggestion(anchor, names)}")
        else:
            place = self._place_at(anchor, is_below)
            index = 0 if is_below else len(place.entries)
        self._change(place, [*place.entries[:index], *entries, *place.entries[index:]])

    def _change(self, place: _Place, entries: list[Level | _Joined]) -> None:
        """Set the entries of a place; if a composed hierarchy is not valid, nothing changes."""
        before, place.entries = place.entries, entries
        self._forget()
        try:
            self.hierarchies  # noqa: B018  composes all that are known
        except HierarchyError:
            place.entries = before
            self._forget()
            raise

    def _place_at(self, base_level: str, below: bool) -> _Place:
        for place in self._places:
            if place.base_level == base_level and place.below == below:
                return place
        self._places.append(_Place(base_level, below))
        return self._places[-1]

    def _find(self, name: str) -> tuple[_Place, int]:
        for place in self._places:
            for index, entry in enumerate(place.entries):
                if name in _names(entry):
                    return place, index
        added = self.added_levels
        hint = suggestion(name, list(added)) if added else "no level was added"
        raise HierarchyError(f"there is no added level '{name}'; {hint}")

    def _joined(self) -> list[_Joined]:
        return [entry for place in self._places for entry in place.entries if isinstance(entry, _Joined)]

    def _forget(self) -> None:
        self._composed.clear()

    # -- hierarchies -----------------------------------------------------------------------------------------------

    def __call__(self, snapshot: Snapshot) -> Hierarchy:
        composed = self._compose(
            _Sources(self.base(snapshot), tuple(each.behavior(snapshot) for each in self._joined()))
        )
        self._missing = composed.missing
        return composed.hierarchy

    def _compose(self, sources: _Sources) -> _Composed:
        """Return the hierarchy made of these sources, the same object as long as nothing changes."""
        if sources in self._composed:
            return self._composed[sources]
        of_joined = dict(zip(map(id, self._joined()), sources.joined, strict=True))
        levels: list[Level] = []
        for level in sources.base.levels:
            before, after = (self._levels_at(level.name, below, of_joined) for below in (False, True))
            levels += [*before, level, *after]
        present = {level.name for level in sources.base.levels}
        missing = [
            name
            for place in self._places
            if place.base_level not in present
            for entry in place.entries
            for name in _names(entry)
        ]
        composed = _Composed(Hierarchy(self._always(sources.base), levels), ", ".join(missing))
        while len(self._composed) >= MAX_COMPOSED:
            del self._composed[next(iter(self._composed))]
        self._composed[sources], self._sources[composed.hierarchy] = composed, sources
        return composed

    def _always(self, base: Hierarchy) -> tuple[Task, ...]:
        """Return the constraints of a composed hierarchy: those of the base and the added ones."""
        return (*base.always, *self._constraints)

    def _levels_at(self, base_level: str, below: bool, of_joined: Mapping[int, Hierarchy | None]) -> list[Level]:
        levels: list[Level] = []
        for place in self._places:
            if (place.base_level, place.below) == (base_level, below):
                for entry in place.entries:
                    levels += entry.levels(of_joined[id(entry)]) if isinstance(entry, _Joined) else [entry]
        return levels

    @property
    def hierarchies(self) -> tuple[Hierarchy, ...]:  # type: ignore[override]  # they change with the added levels
        """Composed hierarchies of the combinations that base and joined behaviors announce."""
        joined = [_announced(each.behavior) or (None,) for each in self._joined()]
        combinations = (_Sources(base, others) for others in product(*joined) for base in _announced(self.base))
        return tuple(self._compose(sources).hierarchy for sources in islice(combinations, MAX_COMPOSED))

    def transition(self, previous: Hierarchy, following: Hierarchy) -> Transition:
        before, after = self._sources.get(previous), self._sources.get(following)
        if before is None or after is None:
            return super().transition(previous, following)
        of_base = Transition(0.0, len(after.base.levels))
        if before.base is not after.base:
            of_base = self.base.transition(before.base, after.base)
        at_once = after.base.levels[: of_base.exact_levels] if of_base.seconds > 0.0 else after.base.levels
        names, base_levels = {level.name for level in before.base.levels}, set(map(id, at_once))
        exact = 0
        for old, new in zip(previous.levels, following.levels, strict=False):
            if old is not new and not (old.name == new.name in names and id(new) in base_levels):
                break
            exact += 1
        changes = exact < max(len(previous.levels), len(following.levels))
        seconds = [of_base.seconds, *(each.behavior.ramp for each in self._joined()), self._transition_time]
        return Transition(max(seconds), exact) if changes else of_base

    @property
    def weights(self) -> tuple[float, ...] | None:  # type: ignore[override]  # they change with the added levels
        """Weights of the base for a weighted solver; an added level has the geometric mean of its neighbors."""
        announced = _announced(self.base)
        if self.base.weights is None or not announced:
            return None
        known = dict(zip((level.name for level in announced[0].levels), self.base.weights, strict=False))
        names = [level.name for level in self.hierarchies[0].levels]
        weights: list[float] = []
        for i, name in enumerate(names):
            neighbors = [*weights[-1:], *[known[other] for other in names[i:] if other in known][:1]]
            weights.append(known.get(name) or math.prod(neighbors) ** (1.0 / len(neighbors)))
        return tuple(weights)

    # -- members of the base ---------------------------------------------------------------------------------------

    @property
    def ramp(self) -> float:  # type: ignore[override]
        """Transition time between hierarchies of the base (s)."""
        return self.base.ramp

    @property
    def lost_after(self) -> float:  # type: ignore[override]
        """As of the base (s)."""
        return self.base.lost_after

    @property
    def seconds(self) -> float:  # type: ignore[override]
        """Duration of the base (s)."""
        return self.base.seconds

    @property
    def start(self) -> State | None:  # type: ignore[override]
        """Initial state of the base."""
        return self.base.start

    @property
    def essential_level(self) -> str:  # type: ignore[override]
        """As of the base."""
        return self.base.essential_level

    @property
    def offset(self) -> Array | None:  # type: ignore[override]
        """As of the base (rad, m)."""
        return self.base.offset

    @property
    def fallback(self) -> str:  # type: ignore[override]
        """Reason of the base for degraded operation, or the added levels that have no place in its present phase."""
        if self._missing and not self.base.fallback:
            return f"no place for level {self._missing}"
        return self.base.fallback

    def phase(self, time: float) -> NamedPhase | None:
        """Return the phase of the base at a time (s)."""
        return self.base.phase(time)

    def observe(self, real: Snapshot, reference: Snapshot, readings: SensorReadings | None) -> pinocchio.SE3 | None:
        """Update the feedback of the base under position servos."""
        return self.base.observe(real, reference, readings)


def _names(entry: Level | _Joined) -> tuple[str, ...]:
    return entry.names if isinstance(entry, _Joined) else (entry.name,)


def _announced(behavior: Behavior) -> tuple[Hierarchy, ...]:
    """Return the hierarchies that a behavior will return, as far as they are known."""
    return (behavior,) if isinstance(behavior, Hierarchy) else tuple(behavior.hierarchies)
