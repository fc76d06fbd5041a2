"""Strict priorities: least squares in lexicographic order.

A `Program` is a list of levels, the most important first, of `Rows` ``lower <= A x <= upper``. Its answer is the x that
violates level 0 least, among those the one that violates level 1 least, and so on ([Saab2012] eq. 2); what freedom is
left goes to the shortest x. The four solvers share one call, ``solve(program) -> Solution``, which never raises:

- `Lexicographic`: the exact answer, compiled and warm started; use this one.
- `Cascade`: the same answer, slowly, in numpy; the reference.
- `NullSpace`: the same answer in closed form, for equalities only.
- `Weighted`: another answer, in which weights stand for priorities below level 0.

`Solution.explain` says what is violated, by how much and what stands in the way; `certificate` proves an answer optimal
without trusting the solver. Nothing in here knows of robots.

>>> box = Rows.bounds([-1, -1], [0.5, 0.5], name="box")
>>> reach = Rows([[1, 1]], 2, 2, name="reach", unit="m")
>>> Lexicographic().solve(Program([box, reach])).x
array([0.5, 0.5])
"""

from poise.cpu import variant_path

__path__ = variant_path(__path__)

from poise.solvers.cascade import Cascade
from poise.solvers.lexicographic import Lexicographic, NullSpace
from poise.solvers.optimality import Certificate, certificate
from poise.solvers.program import UNBOUNDED, Program, Rows
from poise.solvers.solution import EQUALITY, INSIDE, LOWER, UPPER, Solution, Solver
from poise.solvers.stack import Block, BlockShape, Stack, StackProgram
from poise.solvers.weighted import Weighted

__all__ = [
    "EQUALITY",
    "INSIDE",
    "LOWER",
    "UNBOUNDED",
    "UPPER",
    "Block",
    "BlockShape",
    "Cascade",
    "Certificate",
    "Lexicographic",
    "NullSpace",
    "Program",
    "Rows",
    "Solution",
    "Solver",
    "Stack",
    "StackProgram",
    "Weighted",
    "certificate",
]
