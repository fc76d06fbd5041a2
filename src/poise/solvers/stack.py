"""Preallocated memory for programs of constant shape, filled with new numbers at every tick."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poise.arrays import Array
from poise.solvers.program import Program, Rows


class BlockShape(NamedTuple):
    """Name, unit and labels of a block of rows, and whether they are single unknowns.

    Attributes:
        name, unit, labels: as in `Rows`; there is one label per row.
        unknowns: if each row is a single unknown (limits of joints, a posture): the index of the unknown of each row.
            These rows have no line in A. None for general rows.
    """

    name: str
    unit: str
    labels: tuple[str, ...]
    unknowns: Sequence[int] | None = None


@dataclass(frozen=True, eq=False)
class Block:
    """The rows of one task inside a stack: views of its memory, with name, unit and labels.

    Attributes:
        level: index of the level.
        name, unit, labels: as in `Rows`.
        rows: slice of the rows among all rows of the stack.
        A: view to write to, one line per row; no lines for rows that are single unknowns.
        lower, upper, weight: views to write to.
    """

    level: int
    name: str
    unit: str
    labels: tuple[str, ...]
    rows: slice
    A: Array
    lower: Array
    upper: Array
    weight: Array


class Stack:
    """All rows of a program in one contiguous array, written in place at every tick.

    A control loop solves programs of the same shape with new numbers. Building `Rows` with their checks takes longer
    than solving; here the shape is fixed once, writers fill the blocks, and `program()` returns a copy for the solver
    that is not written to again. Rows that are single unknowns take no memory in A, so that all of it fits into the
    fastest cache.

    Args:
        levels: per level its name and the shapes of its blocks.
        variables: number of unknowns.
        extra_columns: number of additional values per row to store with the program; solvers ignore them.

    Attributes:
        A: view to write to, one line for each row that is not a single unknown.
        unknowns: per row the index of its single unknown, or -1.
        lower, upper, weight: views to write to, one value per row.
        damping, singularity_damping: likewise, one per level; see `Program`.
        center: likewise, one per unknown.
        extra_columns: likewise, one line per column.
        blocks: the rows of each task.

    >>> stack = Stack([("reach", [BlockShape("hand", "m", ("x", "y"))])], variables=2)
    >>> stack.blocks[0].A[:] = np.eye(2)
    >>> Lexicographic().solve(stack.program()).x
    """

    def __init__(
        self, levels: Sequence[tuple[str, Sequence[BlockShape]]], variables: int, extra_columns: int = 0
    ) -> None:
        shapes = [(k, shape) for k, (_, group) in enumerate(levels) for shape in group]
        counts = [sum(len(shape.labels) for shape in group) for _, group in levels]
        self.names = tuple(name for name, _ in levels)
        self.variables = variables
        self.level_begin: list[int] = [0, *np.cumsum(counts, dtype=int).tolist()]
        unknowns = [-1 if s.unknowns is None else s.unknowns[i] for _, s in shapes for i in range(len(s.labels))]
        rows, dense_rows = len(unknowns), unknowns.count(-1)
        sizes = [dense_rows * variables, rows, rows, rows, len(levels), len(levels), variables, extra_columns * rows]
        offsets = np.cumsum([0, *sizes]).tolist()
        self._memory = np.zeros(offsets[-1])
        matrix, self.lower, self.upper, self.weight, self.damping, self.singularity_damping, self.center, extra = (
            self._memory[a:b] for a, b in pairwise(offsets)
        )
        self.extra_columns = extra.reshape(extra_columns, rows)
        self.weight[:] = 1.0
        self.blocks: list[Block] = []
        self.A = A = matrix.reshape(dense_rows, variables)
        self.unknowns = unknowns
        begin = line = 0
        for k, shape in shapes:
            span = slice(begin, begin + len(shape.labels))
            end = line if shape.unknowns is not None else line + len(shape.labels)
            arrays = (A[line:end], self.lower[span], self.upper[span], self.weight[span])
            self.blocks.append(Block(k, shape.name, shape.unit, tuple(shape.labels), span, *arrays))
            begin, line = span.stop, end
        shared = {
            "names": self.names,
            "variables": variables,
            "level_begin": self.level_begin,
            "structure": (self.level_begin, variables, unknowns),
            "_blocks": self.blocks,
            "_offsets": offsets,
            "_unknowns": np.array(unknowns, dtype=int),
            "_is_dense": np.array(unknowns, dtype=int) < 0,
        }
        # A subclass with the attributes of this shape, so that making a program costs little more than a copy.
        self._program: type[StackProgram] = type("StackProgram", (StackProgram,), shared)

    def program(self) -> StackProgram:
        """Return the current content of the stack as an independent program."""
        program = object.__new__(self._program)
        program.memory = self._memory.copy()
        return program


class StackProgram(Program):
    """A program made by a `Stack`: it shares the shape of the stack and has its own copy of the numbers."""

    memory: Array
    _offsets: list[int]
    _unknowns: NDArray[np.int64]
    _is_dense: NDArray[np.bool_]

    @cached_property
    def A(self) -> Array:
        """All rows, level by level, m x n."""
        dense_rows, unknowns = self._is_dense, self._unknowns
        A = np.zeros((len(unknowns), self.variables))
        A[dense_rows] = self._dense_rows
        A[~dense_rows, unknowns[~dense_rows]] = 1.0
        return A

    @property
    def _dense_rows(self) -> Array:
        return self.memory[: self._offsets[1]].reshape(-1, self.variables)

    @property
    def extra_columns(self) -> Array:
        """Additional columns of the stack, one line per column and one value per row."""
        return self.memory[self._offsets[-2] :].reshape(-1, self.rows)

    def values(self, x: Array) -> Array:
        values = x[self._unknowns]  # arbitrary for dense rows, which the next line sets
        values[self._is_dense] = self._dense_rows @ x
        return values

    def _part(self, index: int) -> Array:
        return self.memory[self._offsets[index] : self._offsets[index + 1]]


def rows_of_block(block: Block, program: Program) -> Rows:
    """Return the rows of a block in a program as `Rows`, without repeating their checks."""
    rows = object.__new__(Rows)
    span = block.rows
    rows.A, rows.lower, rows.upper, rows.weight = (
        program.A[span],
        program.lower[span],
        program.upper[span],
        program.weight[span],
    )
    rows.name, rows.unit, rows.labels = block.name, block.unit, block.labels
    return rows
