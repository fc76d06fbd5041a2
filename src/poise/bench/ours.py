"""Our solvers, as a user calls them, and the kernel alone."""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np

from poise.bench.contender import KERNEL, STRICT, Answer
from poise.bench.quadratic import level_weights
from poise.solvers import Array, Lexicographic, Program, Solution, Weighted


class StrictCall:
    """`Lexicographic.solve` as a user calls it, on a Program whose rows are stacked already."""

    name, strict = STRICT, True

    def __init__(self) -> None:
        _compiled_kernel()
        self.reset()

    def prepare(self, program: Program) -> Program:
        _ = program.A, program.lower, program.upper, program.weight  # stacked now, remembered by the program
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
        self._module = _compiled_kernel()
        self._structure: tuple[list[int], int, Any] | None = None
        self.reset()

    def prepare(self, program: Program) -> tuple[Any, ...]:
        if program.structure != self._structure:
            self._structure = program.structure
            self.reset()
        return (program.memory, math.inf, True, np.empty(program.variables), np.empty(program.rows, dtype=np.int8))

    def reset(self) -> None:
        kernel = self._module.Kernel()
        if self._structure is not None:
            levels, variables, columns = self._structure
            kernel.layout(levels, variables, [0.0] * (len(levels) - 1), columns)
        self._call = kernel.solve

    def solve(self, prepared: tuple[Any, ...]) -> tuple[tuple[int, ...], Array]:
        return self._call(*prepared), prepared[-2]

    def read(self, outcome: tuple[tuple[int, ...], Array]) -> Answer:
        (status, *counts, _), x = outcome
        counters = dict(zip(self._module.counters, counts, strict=True))
        return Answer(x.copy(), self._module.statuses[status] == "optimal", counters)


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


def _compiled_kernel() -> Any:
    try:
        return importlib.import_module("poise.solvers._kernel")
    except ImportError:
        raise ImportError("the compiled kernel is not built; install a C++17 compiler and reinstall poise") from None
