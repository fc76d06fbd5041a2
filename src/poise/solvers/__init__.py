"""Solvers of hierarchical least squares with strict priorities and inequality constraints.

A `Program` is a list of levels, the most important first, of `Rows` ``lower <= A x <= upper``. Its solution is the x
that violates level 0 least, among those the one that violates level 1 least, and so on ([Saab2012] eq. 2); the shortest
x of all that are equally good is chosen. The four solvers share one method, ``solve(program) -> Solution``, which never
raises:

- `Lexicographic`: exact, compiled and warm started; the one to use.
- `Cascade`: the same solution, slower, in numpy; the reference for tests.
- `NullSpace`: the same solution in closed form, for equalities only.
- `Weighted`: another solution, with weights instead of strict priorities below level 0.

`Solution.explain` reports which rows are violated, by how much, and which rows prevent them from being met;
`certificate` verifies that a solution is optimal, independently of the solver. This package does not depend on robots.

>>> box = Rows.bounds([-1, -1], [0.5, 0.5], name="box")
>>> reach = Rows([[1, 1]], 2, 2, name="reach", unit="m")
>>> Lexicographic().solve(Program([box, reach])).x
array([0.5, 0.5])
"""

from poise.cpu import variant_path

__path__ = variant_path(__path__)

from poise.solvers.cascade import Cascade
from poise.solvers.lexicographic import Lexicographic, NullSpace
from poise.solvers.optimality import Certificate, Obstacle, certificate, negligible_slack, obstacles
from poise.solvers.program import UNBOUNDED, Program, Rows
from poise.solvers.solution import EQUALITY, INSIDE, LOWER, UPPER, Solution, Solver, negligible
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
    "Obstacle",
    "Program",
    "Rows",
    "Solution",
    "Solver",
    "Stack",
    "StackProgram",
    "Weighted",
    "certificate",
    "negligible",
    "negligible_slack",
    "obstacles",
]
