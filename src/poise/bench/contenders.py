"""Who takes part: our solvers, and the protocol that the others follow too."""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from poise.bench.quadratic import level_weights
from poise.solvers import Lexicographic, Program, Solution, Weighted
from poise.solvers.rows import Array

#: The contenders that the bars speak of.
STRICT, KERNEL, REFERENCE = "strict", "strict (kernel)", "daqp weighted"


@dataclass(frozen=True)
class Answer:
    """What a contender says.

    Attributes:
        x: its point.
        ok: whether the contender itself is content.
        counters: what it did, if it counts.
    """

    x: Array
    ok: bool
    counters: Mapping[str, int] = field(default_factory=dict)


class Contender(Protocol):
    """A solver under measurement.

    Only `solve` is timed. `prepare` brings the program into the form the solver wants, `read` interprets what
    it returned; both happen outside. Between two calls of `reset` a contender may use what it remembers.
    """

    name: str
    #: Whether it minimises in strict order, so that its cost of each level can be compared.
    strict: bool

    def prepare(self, program: Program) -> Any: ...

    def reset(self) -> None: ...

    def solve(self, prepared: Any) -> Any: ...

    def read(self, outcome: Any) -> Answer: ...


class StrictCall:
    """`Lexicographic.solve` as a user calls it, on a Program whose rows are stacked already."""

    name, strict = STRICT, True

    def __init__(self) -> None:
        _compiled_kernel()
        self.reset()

    def prepare(self, program: Program) -> Program:
        stacked = program.A, program.lower, program.upper, program.weight  # computed once, then remembered
        assert all(part.flags.c_contiguous for part in stacked)
        return program

    def reset(self) -> None:
        solver = Lexicographic()
        self.solve = solver.solve

    def read(self, outcome: Solution) -> Answer:
        return Answer(outcome.x, outcome.status == "optimal", outcome.counters)


class StrictKernel:
    """The compiled kernel alone, without the Solution around it."""

    name, strict = KERNEL, True

    def __init__(self) -> None:
        self._kernel_class = _compiled_kernel()
        self.reset()

    def prepare(self, program: Program) -> tuple[Any, ...]:
        rows = program.A, program.lower, program.upper, program.weight
        results = np.empty(program.variables), np.empty(program.rows), np.empty(program.rows, dtype=np.int8)
        return (*rows, program.level_begin, [0.0] * len(program), math.inf, True, *results)

    def reset(self) -> None:
        self._kernel = self._kernel_class()
        self._call = self._kernel.solve

    def solve(self, prepared: tuple[Any, ...]) -> tuple[str, Array]:
        return self._call(*prepared), prepared[-3]

    def read(self, outcome: tuple[str, Array]) -> Answer:
        status, x = outcome
        return Answer(x.copy(), status == "optimal", self._kernel.counters())


class WeightedCall:
    """`Weighted.solve` as a user calls it: builds the quadratic program, then daqp."""

    name, strict = "weighted", False

    def __init__(self, levels: int) -> None:
        self._weights = level_weights(levels).tolist() or None
        self.reset()

    def prepare(self, program: Program) -> Program:
        return program

    def reset(self) -> None:
        self.solve = Weighted(self._weights).solve

    def read(self, outcome: Solution) -> Answer:
        return Answer(outcome.x, outcome.status == "optimal")


def contenders(levels: int) -> tuple[list[Contender], dict[str, str]]:
    """All contenders for programs with this many levels, and why those that are missing are.

    The first that can be measured comes first; the order says nothing about the order of the run.
    """
    from poise.bench import others

    makers: dict[str, Any] = {
        STRICT: StrictCall,
        KERNEL: StrictKernel,
        WeightedCall.name: lambda: WeightedCall(levels),
        REFERENCE: others.DaqpWeighted,
        others.DaqpHierarchical.name: others.DaqpHierarchical,
        others.Quadprog.name: others.Quadprog,
        others.Proxqp.name: others.Proxqp,
    }
    present: list[Contender] = []
    missing: dict[str, str] = {}
    for name, make in makers.items():
        try:
            present.append(make())
        except ImportError as error:
            missing[name] = str(error)
    return present, missing


def _compiled_kernel() -> Any:
    try:
        return importlib.import_module("poise.solvers._kernel").Kernel
    except ImportError:
        raise ImportError("the compiled kernel is not built; install a C++17 compiler and reinstall poise") from None
