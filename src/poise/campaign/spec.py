"""Spec of a campaign, read from a TOML file.

title = "Pushes while G1 walks"
kind = "walk"                    # or reach, stand, squat, navigate, "human fit", "human gait", ...
seeds = 5                        # seeds 0 to 4, or a list; for everything random, parameters included
min_success_rate = 0.9           # below this success rate the campaign fails

[fixed]                          # parameters of all runs
robot = "g1"
steps = 10

[[cases]]                        # a set of parameters that belong together; every case runs
style = "neutral"

[grid]                           # every combination runs
push.size = [40, 60, 80]
push.direction = [0, 90, 180, 270]

[random]                         # drawn from each seed
friction = { uniform = [0.5, 0.9] }

[limits]
seconds = 120                    # a run that takes longer is killed
memory_mb = 4000                 # a run that needs more is killed

[keep]
recordings = "failures"          # or "all", "none"
max_recordings = 100             # keep those of the worst runs only (default: all)

[short]                          # changes for --size short: the same keys, each replaces the one above
seeds = 1

Keys of earlier versions are accepted too, see `poise.campaign.former_keys`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from poise.campaign.former_keys import FORMER_KINDS, FORMER_PARAMETERS, rename_spec_keys
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
from poise.parsing import is_number, parse_toml, rename_former_keys

SPEC_KEYS = ("title", "kind", "seeds", "min_success_rate", "fixed", "cases", "grid", "random", "limits", "keep")
#: Sizes of a campaign: all runs, the runs of `make evidence`, and those that every change has to pass.
SIZES = ("full", "short", "check")
RECORDING_POLICIES = ("failures", "all", "none")
#: Smallest and largest memory limit (MB): an idle worker has some 200 MB, and no machine has more than the largest.
MIN_MEMORY_MB, MAX_MEMORY_MB = 300.0, 1e8


@dataclass(frozen=True)
class RunLimits:
    """Limits of one run.

    Attributes:
        seconds: time limit (s).
        memory_mb: limit of resident memory (MB).
    """

    seconds: float = 300.0
    memory_mb: float = 4000.0


@dataclass(frozen=True, eq=False)
class Spec:
    """Plan of a campaign; `Spec.load` reads one from a file.

    Attributes:
        title: title of the campaign.
        kind: kind of its runs.
        seeds: seeds with which each combination of parameters runs.
        fixed, cases, grid, random: parameters, see the module.
        min_success_rate: success rate below which the campaign fails; None: it fails if no run succeeds.
        limits: limits of one run.
        recording_policy: recordings to keep: ``"failures"``, ``"all"`` or ``"none"``.
        max_recordings: largest number of recordings to keep, those of the worst runs; None: all.
        size: size of the campaign, one of `SIZES`.
        text: text of the file.
        spec_folder: folder of the file; relative paths in the spec start there.
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
        """Read a spec from a TOML file.

        Args:
            path: file to read.
            size: size of the campaign, one of `SIZES`.

        Raises:
            SpecError: with a one-line message, if the file is not a valid spec.
        """
        try:
            text = Path(path).read_bytes().decode("utf-8-sig")
        except OSError as error:
            raise SpecError(f"'{path}' cannot be read: {error.strerror or error}", path=str(path)) from None
        except UnicodeDecodeError as error:
            raise SpecError(f"'{path}' is not a TOML file: {error}", path=str(path)) from None
        return cls.parse(text, str(path), size)

    @classmethod
    def parse(cls, text: str, path: str, size: str = "full") -> Spec:
        """Parse the text of a spec; `path` names it in errors, and relative paths in the spec start at its folder."""
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
        """All runs, in order; `SpecError` if a run is invalid."""
        try:
            return plan_runs(self.kind, self.seeds, self.fixed, self.cases, self.grid, self.random, self.spec_folder)
        except UsageError as error:
            raise SpecError(str(error)) from None

    @cached_property
    def parameters(self) -> dict[str, Column]:
        """Columns of the parameters of all runs, by name."""
        names = list(dict.fromkeys(name for run in self.runs for name in run.parameters))
        return {name: infer_column(run.parameters.get(name) for run in self.runs) for name in names}

    @property
    def columns(self) -> dict[str, Column]:
        """All columns of the results table, by name."""
        return {**RUN_COLUMNS, **self.parameters, **self.kind.columns}

    @cached_property
    def plan_digest(self) -> str:
        """Digest of the plan and of the files that it reads; equal for equal campaigns."""
        runs = [[run.seed, dict(run.parameters)] for run in self.runs]
        input_files = sorted({path for run in self.runs for path in self.kind.files(run.parameters)})
        digest_parts = [self.kind.name, runs, self.recording_policy, self.limits.seconds, self.limits.memory_mb]
        digest_parts += [] if self.max_recordings is None else [self.max_recordings]
        digest_parts += [hashlib.sha256(Path(path).read_bytes()).hexdigest() for path in input_files]
        return hashlib.sha256(json.dumps(digest_parts, sort_keys=True).encode()).hexdigest()[:16]


def _select_size(data: dict[str, Any], size: str) -> dict[str, Any]:
    """Return the keys of a spec for one size: keys in the table of the size replace the others; tables are merged."""
    parts = SIZES[1:]
    data = rename_spec_keys(data, parts)
    for key in data:
        if key not in (*SPEC_KEYS, *parts):
            raise UsageError(f"there is no key '{key}' in a spec; {suggestion(key, (*SPEC_KEYS, *parts))}")
    for part in parts:
        if not isinstance(data.get(part, {}), dict):
            raise UsageError(f"{part}: expected a table with the keys that differ")
        for key in data.get(part, {}):
            if key not in SPEC_KEYS:
                raise UsageError(f"there is no key '{key}' in [{part}] of a spec; {suggestion(key, SPEC_KEYS)}")
    selected = {key: value for key, value in data.items() if key not in parts}
    for key, value in data.get(size, {}).items():
        merged = isinstance(value, dict) and isinstance(selected.get(key), dict)
        selected[key] = {**_flatten(selected[key]), **_flatten(value)} if merged else value
    return selected


def _build_spec(data: Mapping[str, Any], size: str, text: str, path: str) -> Spec:
    kind = data.get("kind")
    if not isinstance(kind, str):
        raise UsageError('kind is missing; give the kind of runs, like kind = "walk"')
    kind = FORMER_KINDS.get(kind, kind)
    tables = {name: _subtable(data, name) for name in ("fixed", "grid", "random", "limits", "keep")}
    cases = data.get("cases", [])
    if not isinstance(cases, list) or not all(isinstance(case, dict) for case in cases):
        raise UsageError("cases: expected one [[cases]] table per case")
    return Spec(
        title=str(data.get("title", Path(path).stem)),
        kind=find_run_kind(kind),
        seeds=_parse_seeds(data.get("seeds", 1)),
        fixed={name: parse_value(name, value) for name, value in _parameters(tables["fixed"], kind).items()},
        cases=tuple(
            {name: parse_value(name, value) for name, value in _parameters(each, kind).items()} for each in cases
        ),
        grid={
            name: tuple(parse_value(name, value) for value in parse_grid_values(name, values))
            for name, values in _parameters(tables["grid"], kind).items()
        },
        random={name: Distribution.parse(name, value) for name, value in _parameters(tables["random"], kind).items()},
        min_success_rate=_parse_success_rate(data.get("min_success_rate")),
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


def _parameters(table: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Return the parameters of runs in a table, by their current names with dots."""
    return rename_former_keys(_flatten(table), FORMER_PARAMETERS.get(kind, {}))


def _flatten(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Flatten nested tables to names with dots, with ``_`` for the ``-`` of command line names."""
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
        raise UsageError(f"seeds: {value!r}; expected a number of seeds, 1 to {MAX_RUNS}, or a list of distinct seeds")
    return tuple(seeds_list)


def _parse_success_rate(value: Any) -> float | None:
    if value is None:
        return None
    if not is_number(value) or not 0.0 <= value <= 1.0:
        raise UsageError(f"min_success_rate: {value!r}; expected a success rate from 0 to 1")
    return float(value)


def _parse_limits(table: str, limits: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, float]:
    for name, value in limits.items():
        if name not in names:
            raise UsageError(f"there is no {table}.{name}; {suggestion(name, names)}")
        if not is_number(value) or not value > 0:
            raise UsageError(f"{table}.{name}: {value!r}; expected a positive number")
        if name == "memory_mb" and not MIN_MEMORY_MB <= value <= MAX_MEMORY_MB:
            raise UsageError(f"{table}.{name}: {value!r}; expected {MIN_MEMORY_MB:g} to {MAX_MEMORY_MB:g} MB")
    return {name: float(value) for name, value in limits.items()}


#: Keys of the table [keep].
KEEP_KEYS = ("recordings", "max_recordings")


def _parse_recording_policy(keep: Mapping[str, Any]) -> str:
    for name in keep:
        if name not in KEEP_KEYS:
            raise UsageError(f"there is no keep.{name}; {suggestion(name, KEEP_KEYS)}")
    value = keep.get("recordings", "failures")
    if value not in RECORDING_POLICIES:
        raise UsageError(f"keep.recordings: {value!r}; {suggestion(value, RECORDING_POLICIES)}")
    return str(value)


def _parse_max_recordings(keep: Mapping[str, Any]) -> int | None:
    value = keep.get("max_recordings")
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise UsageError(f"keep.max_recordings: {value!r}; expected a whole number, 1 or more")
    return value
