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

from poise.campaign.kinds import find_run_kind
from poise.campaign.kinds.kind import Column, RunKind, Value
from poise.campaign.storage import RUN_COLUMNS, infer_column
from poise.campaign.sweep import (
    MAX_RUNS,
    Distribution,
    PlannedRun,
    is_distribution,
    parse_grid_values,
    parse_value,
    plan_runs,
)
from poise.errors import SpecError, UsageError, suggestion
from poise.parsing import is_number, parse_toml

SPEC_KEYS = ("title", "behavior", "seeds", "floor", "fixed", "cases", "grid", "random", "limits", "keep")
#: Sizes of a campaign beside the whole: what `make evidence` runs, and what every change has to pass.
SIZES = ("full", "short", "check")
RECORDING_POLICIES = ("failures", "all", "none")
#: A worker with nothing to do has some 200 MB; no machine has as much as the other.
MIN_MEMORY_MB, MAX_MEMORY_MB = 300.0, 1e8


@dataclass(frozen=True)
class RunLimits:
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
        min_success_rate: share of runs that is to succeed; None: any.
        limits: of one run.
        recording_policy: which are kept: of ``"failures"``, ``"all"`` or ``"none"``.
        max_recordings: how many of these, the worst; None: all.
        size: which part of the file this is, of `SIZES`.
        text: of the file.
        spec_folder: folder of the file, from which it names others.
    """

    title: str
    kind: RunKind
    seeds: tuple[int, ...] = (0,)
    fixed: Mapping[str, Value] = field(default_factory=dict)
    cases: tuple[Mapping[str, Value], ...] = ()
    grid: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    random: Mapping[str, Distribution] = field(default_factory=dict)
    min_success_rate: float | None = None
    limits: RunLimits = RunLimits()
    recording_policy: str = "failures"
    max_recordings: int | None = None
    size: str = "full"
    text: str = ""
    spec_folder: Path = Path()

    @classmethod
    def load(cls, path: str | Path, size: str = "full") -> Spec:
        """Reads a spec; SpecError, in one line, if it cannot be run."""
        try:
            text = Path(path).read_bytes().decode("utf-8-sig")
        except OSError as error:
            raise SpecError(f"'{path}' cannot be read: {error.strerror or error}", path=str(path)) from None
        except UnicodeDecodeError as error:
            raise SpecError(f"'{path}' is not a TOML file: {error}", path=str(path)) from None
        return cls.parse(text, str(path), size)

    @classmethod
    def parse(cls, text: str, path: str, size: str = "full") -> Spec:
        """What the text of a file of that path says."""
        try:
            data = parse_toml(text.encode("utf-8"))
        except ValueError as error:
            raise SpecError(f"'{path}' is not a TOML file: {error}", path=path) from None
        try:
            return _build_spec(_select_size(data, size), size, text, path)
        except SpecError:
            raise
        except UsageError as error:
            raise SpecError(f"{path}: {error}", path=path) from None

    @cached_property
    def runs(self) -> tuple[PlannedRun, ...]:
        """All runs, in order; SpecError if there is one that makes no sense."""
        try:
            return plan_runs(self.kind, self.seeds, self.fixed, self.cases, self.grid, self.random, self.spec_folder)
        except UsageError as error:
            raise SpecError(str(error)) from None

    @cached_property
    def parameters(self) -> dict[str, Column]:
        """What the parameters are, of all runs."""
        names = list(dict.fromkeys(name for run in self.runs for name in run.parameters))
        return {name: infer_column(run.parameters.get(name) for run in self.runs) for name in names}

    @property
    def columns(self) -> dict[str, Column]:
        """All columns of the table."""
        return {**RUN_COLUMNS, **self.parameters, **self.kind.columns}

    @cached_property
    def plan_digest(self) -> str:
        """A digest of what is run, files that it reads included: the same for the same campaign."""
        runs = [[run.seed, dict(run.parameters)] for run in self.runs]
        input_files = sorted({path for run in self.runs for path in self.kind.files(run.parameters)})
        digest_parts = [self.kind.name, runs, self.recording_policy, self.limits.seconds, self.limits.memory_mb]
        digest_parts += [] if self.max_recordings is None else [self.max_recordings]
        digest_parts += [hashlib.sha256(Path(path).read_bytes()).hexdigest() for path in input_files]
        return hashlib.sha256(json.dumps(digest_parts, sort_keys=True).encode()).hexdigest()[:16]


def _select_size(data: dict[str, Any], size: str) -> dict[str, Any]:
    """The keys of one size: those of its table instead of those of the whole; tables within are merged."""
    parts = SIZES[1:]
    for key in data:
        if key not in (*SPEC_KEYS, *parts):
            raise UsageError(f"there is no key '{key}' in a spec; {suggestion(key, (*SPEC_KEYS, *parts))}")
    for part in parts:
        if not isinstance(data.get(part, {}), dict):
            raise UsageError(f"{part}: expected a table with what is different")
        for key in data.get(part, {}):
            if key not in SPEC_KEYS:
                known = ", ".join(SPEC_KEYS)
                raise UsageError(f"there is no key '{key}' in a spec, so not in its [{part}]; there are {known}")
    selected = {key: value for key, value in data.items() if key not in parts}
    for key, value in data.get(size, {}).items():
        merged = isinstance(value, dict) and isinstance(selected.get(key), dict)
        selected[key] = {**_flatten(selected[key]), **_flatten(value)} if merged else value
    return selected


def _build_spec(data: Mapping[str, Any], size: str, text: str, path: str) -> Spec:
    behavior = data.get("behavior")
    if not isinstance(behavior, str):
        raise UsageError('behavior is missing; give what is to run, like behavior = "walk"')
    tables = {name: _subtable(data, name) for name in ("fixed", "grid", "random", "limits", "keep")}
    cases = data.get("cases", [])
    if not isinstance(cases, list) or not all(isinstance(case, dict) for case in cases):
        raise UsageError("cases: expected tables, each [[cases]]")
    return Spec(
        title=str(data.get("title", Path(path).stem)),
        kind=find_run_kind(behavior),
        seeds=_parse_seeds(data.get("seeds", 1)),
        fixed={name: parse_value(name, value) for name, value in _flatten(tables["fixed"]).items()},
        cases=tuple({name: parse_value(name, value) for name, value in _flatten(case).items()} for case in cases),
        grid={
            name: tuple(parse_value(name, value) for value in parse_grid_values(name, values))
            for name, values in _flatten(tables["grid"]).items()
        },
        random={name: Distribution.parse(name, value) for name, value in _flatten(tables["random"]).items()},
        min_success_rate=_parse_floor(data.get("floor")),
        limits=RunLimits(**_parse_limits("limits", tables["limits"], ("seconds", "memory_mb"))),
        recording_policy=_parse_recording_policy(tables["keep"]),
        max_recordings=_parse_max_recordings(tables["keep"]),
        size=size,
        text=text,
        spec_folder=Path(path).absolute().parent,
    )


def _subtable(data: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = data.get(name, {})
    if not isinstance(value, dict):
        raise UsageError(f"{name}: {value!r}; expected a table, [{name}]")
    return value


def _flatten(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Tables within tables as names with dots; names as on the command line, with ``_`` for ``-``."""
    flat: dict[str, Any] = {}
    for key, value in table.items():
        name = prefix + key.replace("-", "_")
        is_table = isinstance(value, dict) and not is_distribution(value)
        for each, item in _flatten(value, f"{name}.").items() if is_table else [(name, value)]:
            if each in flat:
                raise UsageError(f"'{each}' is given twice; give it once")
            flat[each] = item
    return flat


def _parse_seeds(value: Any) -> tuple[int, ...]:
    seeds_list = (
        list(range(value)) if isinstance(value, int) and not isinstance(value, bool) and value <= MAX_RUNS else value
    )
    is_valid = isinstance(seeds_list, list) and all(type(seed) is int and 0 <= seed < 2**63 for seed in seeds_list)
    if not is_valid or not seeds_list or len(set(seeds_list)) < len(seeds_list):
        raise UsageError(f"seeds: {value!r}; expected how many, 1 to {MAX_RUNS}, or a list of different whole numbers")
    return tuple(seeds_list)


def _parse_floor(value: Any) -> float | None:
    if value is None:
        return None
    if not is_number(value) or not 0.0 <= value <= 1.0:
        raise UsageError(f"floor: {value!r}; expected a share from 0 to 1")
    return float(value)


def _parse_limits(table: str, limits: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, float]:
    for name, value in limits.items():
        if name not in names:
            raise UsageError(f"there is no {table}.{name}; there are {', '.join(names)}")
        if not is_number(value) or not value > 0:
            raise UsageError(f"{table}.{name}: {value!r}; expected a positive number")
        if name == "memory_mb" and not MIN_MEMORY_MB <= value <= MAX_MEMORY_MB:
            raise UsageError(f"{table}.{name}: {value!r}; expected from {MIN_MEMORY_MB:g} to {MAX_MEMORY_MB:g} MB")
    return {name: float(value) for name, value in limits.items()}


def _parse_recording_policy(keep: Mapping[str, Any]) -> str:
    for name in keep:
        if name not in ("recordings", "most"):
            raise UsageError(f"there is no keep.{name}; there are recordings, most")
    value = keep.get("recordings", "failures")
    if value not in RECORDING_POLICIES:
        raise UsageError(f"keep.recordings: {value!r}; expected {', '.join(RECORDING_POLICIES)}")
    return str(value)


def _parse_max_recordings(keep: Mapping[str, Any]) -> int | None:
    value = keep.get("most")
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise UsageError(f"keep.most: {value!r}; expected how many recordings to keep at most, 1 or more")
    return value
