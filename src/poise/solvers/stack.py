"""Stack: the memory of a program whose numbers are new at every tick and whose shape is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from poise.solvers.program import Program
from poise.solvers.rows import Array, Rows


@dataclass(frozen=True, eq=False)
class Block:
    """The rows of one task inside a stack: views of its memory, and what to call them.

    Attributes:
        level: index of the level.
        name, unit, labels: as in `Rows`; there is one label per row.
        rows: where the rows stand among all rows of the stack.
        A, lower, upper, weight: views to write to.
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
    copy that nobody writes to any more.

    Args:
        levels: per level its name and the (name, unit, labels) of its blocks.
        variables: number of unknowns.

    >>> stack = Stack([("reach", [("hand", "m", ("x", "y"))])], variables=2)
    >>> stack.blocks[0].A[:] = np.eye(2)
    >>> Lexicographic().solve(stack.program()).x
    """

    def __init__(
        self, levels: Sequence[tuple[str, Sequence[tuple[str, str, Sequence[str]]]]], variables: int
    ) -> None:
        counts = [sum(len(labels) for _, _, labels in blocks) for _, blocks in levels]
        self.names = tuple(name for name, _ in levels)
        self.variables = variables
        self.level_begin: list[int] = [0, *np.cumsum(counts, dtype=int).tolist()]
        rows = self.level_begin[-1]
        self._memory = np.zeros(rows * (variables + 3))
        self._cuts = tuple(rows * (variables + i) for i in range(3))
        self.A, self.lower, self.upper, self.weight = self._views(self._memory)
        self.weight[:] = 1.0
        self.blocks: list[Block] = []
        begin = 0
        for k, (_, blocks) in enumerate(levels):
            for name, unit, labels in blocks:
                at = slice(begin, begin + len(labels))
                begin = at.stop
                arrays = (self.A[at], self.lower[at], self.upper[at], self.weight[at])
                self.blocks.append(Block(k, name, unit, tuple(labels), at, *arrays))

    def program(self) -> Program:
        """What the stack holds now, as a program of its own."""
        program = object.__new__(Program)
        A, lower, upper, weight = self._views(self._memory.copy())
        program.__dict__.update(
            names=self.names,
            variables=self.variables,
            level_begin=self.level_begin,
            A=A,
            lower=lower,
            upper=upper,
            weight=weight,
            _blocks=self.blocks,
        )
        return program

    def _views(self, memory: Array) -> tuple[Array, Array, Array, Array]:
        a, b, c = self._cuts
        return memory[:a].reshape(-1, self.variables), memory[a:b], memory[b:c], memory[c:]


def rows_of(block: Block, program: Program) -> Rows:
    """The rows of a block as they stand in a program, not checked again."""
    rows = object.__new__(Rows)
    at = block.rows
    rows.A, rows.lower, rows.upper, rows.weight = program.A[at], program.lower[at], program.upper[at], program.weight[at]
    rows.name, rows.unit, rows.labels = block.name, block.unit, block.labels
    return rows
