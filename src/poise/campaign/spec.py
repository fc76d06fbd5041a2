"""Spec: what a campaign is to do, from a TOML file.

title = "Pushes while G1 walks"
behavior = "walk"                # or reach, stand, squat, navigate, "human fit", "human gait", ...
seeds = 5                        # 0 to 4; or a list; of all that is random, parameters included
floor = 0.9                      # at least this share of the runs is to succeed

[fixed]                          # parameters that all runs share
robot = "g1"
steps = 10

[[cases]]                        # parameters that go together; every case runs
style = "neutral"

[grid]                           # every combination runs
push.size = [40, 60, 80]
push.direction = [0, 90, 180, 270]

[random]                         # drawn anew by each seed
friction = { uniform = [0.5, 0.9] }

[limits]
seconds = 120                    # a run that takes longer is stopped
memory_mb = 4000                 # a run that needs more is stopped

[keep]
recordings = "failures"          # or "all", "none"
most = 100                       # of the worst; without it all are kept

[short]                          # what --size short runs instead: the same keys, replaced one by one
seeds = 1
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from poise.campaign.kinds import kind_named
from poise.campaign.kinds.kind import Column, Kind, Value
from poise.campaign.storage import FIRST, column_of
from poise.campaign.sweep import MOST, Distribution, Run, checked_value, checked_values, is_distribution, planned
from poise.errors import SpecError, UsageError, suggestion
from poise.parsing import is_number, parse_toml

KEYS = ("title", "behavior", "seeds", "floor", "fixed", "cases", "grid", "random", "limits", "keep")
#: Sizes of a campaign beside the whole: what `make evidence` runs, and what every change has to pass.
SIZES = ("full", "short", "check")
RECORDINGS = ("failures", "all", "none")
#: A worker with nothing to do has some 200 MB; no machine has as much as the other.
LEAST_MEMORY, MOST_MEMORY = 300.0, 1e8


@dataclass(frozen=True)
class Limits:
    """What one run may take: seconds, and megabytes of resident memory."""

    seconds: float = 300.0
    memory_mb: float = 4000.0


@dataclass(frozen=True, eq=False)
class Spec:
    """A campaign as planned; `Spec.load` reads one.

    Attributes:
        title: of it.
        kind: of its runs.
        seeds: of each combination of parameters.
        fixed, cases, grid, random: parameters, see the module.
        floor: share of runs that is to succeed; None: any.
        limits: of one run.
        recordings: which are kept: of ``"failures"``, ``"all"`` or ``"none"``.
        most: how many of these, the worst; None: all.
        size: which part of the file this is, of `SIZES`.
        text: of the file.
        base: folder of the file, from which it names others.
    """

    title: str
    kind: Kind
    seeds: tuple[int, ...] = (0,)
    fixed: Mapping[str, Value] = field(default_factory=dict)
    cases: tuple[Mapping[str, Value], ...] = ()
    grid: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    random: Mapping[str, Distribution] = field(default_factory=dict)
    floor: float | None = None
    limits: Limits = Limits()
    recordings: str = "failures"
    most: int | None = None
    size: str = "full"
    text: str = ""
    base: Path = Path()

    @classmethod
    def load(cls, path: str | Path, size: str = "full") -> Spec:
        """Reads a spec; SpecError, in one line, if it cannot be run."""
        try:
            text = Path(path).read_bytes().decode("utf-8-sig")
        except OSError as error:
            raise SpecError(f"'{path}' cannot be read: {error.strerror or error}", path=str(path)) from None
        except UnicodeDecodeError as error:
            raise SpecError(f"'{path}' is not a TOML file: {error}", path=str(path)) from None
        return cls.parsed(text, str(path), size)

    @classmethod
    def parsed(cls, text: str, path: str, size: str = "full") -> Spec:
        """What the text of a file of that path says."""
        try:
            data = parse_toml(text.encode("utf-8"))
        except ValueError as error:
            raise SpecError(f"'{path}' is not a TOML file: {error}", path=path) from None
        try:
            return _spec(_sized(data, size), size, text, path)
        except SpecError:
            raise
        except UsageError as error:
            raise SpecError(f"{path}: {error}", path=path) from None

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """All runs, in order; SpecError if there is one that makes no sense."""
        try:
            return planned(self.kind, self.seeds, self.fixed, self.cases, self.grid, self.random, self.base)
        except UsageError as error:
            raise SpecError(str(error)) from None

    @cached_property
    def parameters(self) -> dict[str, Column]:
        """What the parameters are, of all runs."""
        names = list(dict.fromkeys(name for run in self.runs for name in run.parameters))
        return {name: column_of(run.parameters.get(name) for run in self.runs) for name in names}

    @property
    def columns(self) -> dict[str, Column]:
        """All columns of the table."""
        return {**FIRST, **self.parameters, **self.kind.columns}

    @cached_property
    def plan(self) -> str:
        """A digest of what is run, files that it reads included: the same for the same campaign."""
        runs = [[run.seed, dict(run.parameters)] for run in self.runs]
        read = sorted({path for run in self.runs for path in self.kind.files(run.parameters)})
        kept = [self.kind.name, runs, self.recordings, self.limits.seconds, self.limits.memory_mb]
        kept += [] if self.most is None else [self.most]
        kept += [hashlib.sha256(Path(path).read_bytes()).hexdigest() for path in read]
        return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()[:16]


def _sized(data: dict[str, Any], size: str) -> dict[str, Any]:
    """The keys of one size: those of its table instead of those of the whole; tables within are merged."""
    parts = SIZES[1:]
    for key in data:
        if key not in (*KEYS, *parts):
            raise UsageError(f"there is no key '{key}' in a spec; {suggestion(key, (*KEYS, *parts))}")
    for part in parts:
        if not isinstance(data.get(part, {}), dict):
            raise UsageError(f"{part}: expected a table with what is different")
        for key in data.get(part, {}):
            if key not in KEYS:
                known = ", ".join(KEYS)
                raise UsageError(f"there is no key '{key}' in a spec, so not in its [{part}]; there are {known}")
    whole = {key: value for key, value in data.items() if key not in parts}
    for key, value in data.get(size, {}).items():
        merged = isinstance(value, dict) and isinstance(whole.get(key), dict)
        whole[key] = {**_flat(whole[key]), **_flat(value)} if merged else value
    return whole


def _spec(data: Mapping[str, Any], size: str, text: str, path: str) -> Spec:
    behavior = data.get("behavior")
    if not isinstance(behavior, str):
        raise UsageError('behavior is missing; give what is to run, like behavior = "walk"')
    tables = {name: _table(data, name) for name in ("fixed", "grid", "random", "limits", "keep")}
    cases = data.get("cases", [])
    if not isinstance(cases, list) or not all(isinstance(case, dict) for case in cases):
        raise UsageError("cases: expected tables, each [[cases]]")
    return Spec(
        title=str(data.get("title", Path(path).stem)),
        kind=kind_named(behavior),
        seeds=_seeds(data.get("seeds", 1)),
        fixed={name: checked_value(name, value) for name, value in _flat(tables["fixed"]).items()},
        cases=tuple({name: checked_value(name, value) for name, value in _flat(case).items()} for case in cases),
        grid={
            name: tuple(checked_value(name, value) for value in checked_values(name, values))
            for name, values in _flat(tables["grid"]).items()
        },
        random={name: Distribution.read(name, given) for name, given in _flat(tables["random"]).items()},
        floor=_floor(data.get("floor")),
        limits=Limits(**_numbers("limits", tables["limits"], ("seconds", "memory_mb"))),
        recordings=_recordings(tables["keep"]),
        most=_most(tables["keep"]),
        size=size,
        text=text,
        base=Path(path).absolute().parent,
    )


def _table(data: Mapping[str, Any], name: str) -> dict[str, Any]:
    given = data.get(name, {})
    if not isinstance(given, dict):
        raise UsageError(f"{name}: {given!r}; expected a table, [{name}]")
    return given


def _flat(table: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Tables within tables as names with dots; names as on the command line, with ``_`` for ``-``."""
    found: dict[str, Any] = {}
    for key, value in table.items():
        name = before + key.replace("-", "_")
        whole = isinstance(value, dict) and not is_distribution(value)
        for each, its in _flat(value, f"{name}.").items() if whole else [(name, value)]:
            if each in found:
                raise UsageError(f"'{each}' is given twice; give it once")
            found[each] = its
    return found


def _seeds(given: Any) -> tuple[int, ...]:
    listed = list(range(given)) if isinstance(given, int) and not isinstance(given, bool) and given <= MOST else given
    proper = isinstance(listed, list) and all(type(seed) is int and 0 <= seed < 2**63 for seed in listed)
    if not proper or not listed or len(set(listed)) < len(listed):
        raise UsageError(f"seeds: {given!r}; expected how many, 1 to {MOST}, or a list of different whole numbers")
    return tuple(listed)


def _floor(given: Any) -> float | None:
    if given is None:
        return None
    if not is_number(given) or not 0.0 <= given <= 1.0:
        raise UsageError(f"floor: {given!r}; expected a share from 0 to 1")
    return float(given)


def _numbers(table: str, given: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, float]:
    for name, value in given.items():
        if name not in names:
            raise UsageError(f"there is no {table}.{name}; there are {', '.join(names)}")
        if not is_number(value) or not value > 0:
            raise UsageError(f"{table}.{name}: {value!r}; expected a positive number")
        if name == "memory_mb" and not LEAST_MEMORY <= value <= MOST_MEMORY:
            raise UsageError(f"{table}.{name}: {value!r}; expected from {LEAST_MEMORY:g} to {MOST_MEMORY:g} MB")
    return {name: float(value) for name, value in given.items()}


def _recordings(keep: Mapping[str, Any]) -> str:
    for name in keep:
        if name not in ("recordings", "most"):
            raise UsageError(f"there is no keep.{name}; there are recordings, most")
    given = keep.get("recordings", "failures")
    if given not in RECORDINGS:
        raise UsageError(f"keep.recordings: {given!r}; expected {', '.join(RECORDINGS)}")
    return str(given)


def _most(keep: Mapping[str, Any]) -> int | None:
    given = keep.get("most")
    if given is not None and (isinstance(given, bool) or not isinstance(given, int) or given < 1):
        raise UsageError(f"keep.most: {given!r}; expected how many recordings to keep at most, 1 or more")
    return given
