"""Stack: the memory of a program whose numbers are new at every tick and whose shape is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

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
        notes: how many more values per row to keep with the program; solvers do not look at them.

    Attributes:
        A, lower, upper, weight: views to write to, one line per row.
        damping, caution: likewise, one per level; see `Program`.
        columns: for rows that will ever have one entry only, its column; -1 for others. Solvers skip reading them.

    >>> stack = Stack([("reach", [("hand", "m", ("x", "y"))])], variables=2)
    >>> stack.blocks[0].A[:] = np.eye(2)
    >>> Lexicographic().solve(stack.program()).x
    """

    def __init__(self, levels: Sequence[tuple[str, Sequence[tuple[str, str, Sequence[str]]]]], variables: int, notes: int = 0) -> None:
        counts = [sum(len(labels) for _, _, labels in blocks) for _, blocks in levels]
        self.names = tuple(name for name, _ in levels)
        self.variables = variables
        self.level_begin: list[int] = [0, *np.cumsum(counts, dtype=int).tolist()]
        rows = self.level_begin[-1]
        used = rows * (variables + 3) + 2 * len(levels)
        self._memory = np.zeros(used + notes * rows)
        self._used = slice(0, used)
        self.notes = self._memory[used:].reshape(notes, rows)
        self.columns = np.full(rows, -1, dtype=np.int32)
        self.A = self._memory[: rows * variables].reshape(rows, variables)
        cuts = [rows * (variables + i) for i in range(4)]
        self.lower, self.upper, self.weight = (self._memory[a:b] for a, b in pairwise(cuts))
        self.damping, self.caution = self._memory[cuts[-1] : used].reshape(2, -1)
        self.weight[:] = 1.0
        self._program: type[StackProgram] | None = None
        self.blocks: list[Block] = []
        begin = 0
        for k, (_, blocks) in enumerate(levels):
            for name, unit, labels in blocks:
                at = slice(begin, begin + len(labels))
                begin = at.stop
                arrays = (self.A[at], self.lower[at], self.upper[at], self.weight[at])
                self.blocks.append(Block(k, name, unit, tuple(labels), at, *arrays))

    def program(self) -> StackProgram:
        """What the stack holds now, as a program of its own."""
        if self._program is None:
            self._program = self._kind()
        program = object.__new__(self._program)
        program.everything = everything = self._memory.copy()
        program.memory = everything[self._used]
        return program

    def _kind(self) -> type[StackProgram]:
        """A class of programs that share the shape of this stack, so that making one is little more than a copy."""
        shared = {
            "names": self.names,
            "variables": self.variables,
            "level_begin": self.level_begin,
            "structure": (self.level_begin, self.variables, self.columns.tolist()),
            "_blocks": self.blocks,
            "_notes": self.notes.shape,
        }
        return type("StackProgram", (StackProgram,), shared)


class StackProgram(Program):
    """A program made by a `Stack`: the shape is the stack's, the numbers are its own."""

    everything: Array
    _notes: tuple[int, int]

    @property
    def notes(self) -> Array:
        """What the stack kept besides, one line per note and one value per row."""
        size = self._notes[0] * self._notes[1]
        return self.everything[len(self.everything) - size :].reshape(self._notes)


def rows_of(block: Block, program: Program) -> Rows:
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
