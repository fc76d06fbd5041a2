"""Stack: the memory of a program whose numbers are new at every tick and whose shape is not."""

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
    """What a block of rows is called, and how its rows look.

    Attributes:
        name, unit, labels: as in `Rows`; there is one label per row.
        unknowns: for rows that are single unknowns, for good (limits of joints, a posture), which ones; they then have
            no line in A. None for rows with entries of their own.
    """

    name: str
    unit: str
    labels: tuple[str, ...]
    unknowns: Sequence[int] | None = None


@dataclass(frozen=True, eq=False)
class Block:
    """The rows of one task inside a stack: views of its memory, and what to call them.

    Attributes:
        level: index of the level.
        name, unit, labels: as in `Rows`.
        rows: where the rows stand among all rows of the stack.
        A: view to write to, one line per row; without lines for rows that are single unknowns.
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
    """All rows of a program in one piece of memory, written in place at every tick.

    A control loop asks the same questions again and again with new numbers. Building `Rows` with their checks costs
    more than solving; here the shape is fixed once, writers fill the blocks, and `program()` hands the solver a
    copy that nobody writes to any more. Rows that are single unknowns take no memory in A, which keeps all of it in
    the fastest cache.

    Args:
        levels: per level its name and the shapes of its blocks.
        variables: number of unknowns.
        extra_columns: how many more values per row to keep with the program; solvers do not look at them.

    Attributes:
        A: view to write to, one line for each row that is no single unknown.
        unknowns: per row the unknown that it is, or -1.
        lower, upper, weight: views to write to, one value per row.
        damping, singularity_damping: likewise, one per level; see `Program`.
        center: likewise, one per unknown.
        extra_columns: likewise, one line per column.
        blocks: the parts of it that belong to one task.

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
            at = slice(begin, begin + len(shape.labels))
            end = line if shape.unknowns is not None else line + len(shape.labels)
            arrays = (A[line:end], self.lower[at], self.upper[at], self.weight[at])
            self.blocks.append(Block(k, shape.name, shape.unit, tuple(shape.labels), at, *arrays))
            begin, line = at.stop, end
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
        # A class of programs that share this shape, so that making one is little more than a copy.
        self._program: type[StackProgram] = type("StackProgram", (StackProgram,), shared)

    def program(self) -> StackProgram:
        """What the stack holds now, as a program of its own."""
        program = object.__new__(self._program)
        program.memory = self._memory.copy()
        return program


class StackProgram(Program):
    """A program made by a `Stack`: the shape is the stack's, the numbers are its own."""

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
        """What the stack kept besides, one line per note and one value per row."""
        return self.memory[self._offsets[-2] :].reshape(-1, self.rows)

    def values(self, x: Array) -> Array:
        values = x[self._unknowns]  # any where it is none: the next line has those
        values[self._is_dense] = self._dense_rows @ x
        return values

    def _part(self, index: int) -> Array:
        return self.memory[self._offsets[index] : self._offsets[index + 1]]


def rows_of_block(block: Block, program: Program) -> Rows:
    """The rows of a block as they stand in a program, not checked again."""
    rows = object.__new__(Rows)
    at = block.rows
    rows.A, rows.lower, rows.upper, rows.weight = (
        program.A[at],
        program.lower[at],
        program.upper[at],
        program.weight[at],
    )
    rows.name, rows.unit, rows.labels = block.name, block.unit, block.labels
    return rows
