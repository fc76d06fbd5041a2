"""Check an installed Poise: the solvers answer, with the compiled kernel, and import numpy alone.

    python tests/wheel_check.py

It prints the variant of the native modules. `tests/test_wheel.py` runs it in empty environments, as does the build of
the wheels of a release.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np

warnings.simplefilter("error")  # a solver that finds no kernel warns

from poise import cpu  # noqa: E402
from poise.solvers import Lexicographic, NullSpace, Program, Rows  # noqa: E402

#: Packages that `poise.solvers` must not import.
OTHERS = ("pinocchio", "coal", "scipy", "daqp", "mujoco", "pyarrow")


def main() -> None:
    box = Rows.bounds([-1, -1], [0.5, 0.5], name="box")
    total = Rows([[1, 1]], 2, 2, name="total")
    solution = Lexicographic().solve(Program([box, total]))
    assert (solution.status, solution.solver) == ("optimal", "lexicographic"), solution
    assert np.abs(solution.x - 0.5).max() < 1e-12, solution.x
    assert abs(float(solution.slack[1][0]) + 1.0) < 1e-12, solution.slack

    # x + y = 2, then x = 0.5 and 2 y = 3, which the first level leaves room for.
    equalities = Program([Rows([[1, 1]], 2, 2), [Rows([[1, 0]], 0.5, 0.5), Rows([[0, 2]], 3, 3)]])
    for x in (Lexicographic().solve(equalities).x, NullSpace().solve(equalities).x):
        assert np.abs(x - [0.5, 1.5]).max() < 1e-12, x

    # Larger programs of equalities with a violated last level; the oracle is the recursion with pseudo-inverses.
    random = np.random.default_rng(0)
    for _ in range(20):
        levels = [(random.normal(size=(rows, 40)), random.normal(size=rows)) for rows in (12, 17, 23)]
        expected, free = np.zeros(40), np.eye(40)
        for A, b in levels:
            expected = expected + np.linalg.pinv(A @ free, rcond=1e-9) @ (b - A @ expected)
            free = free - np.linalg.pinv(A @ free, rcond=1e-9) @ (A @ free)
        program = Program([Rows(A, b, b) for A, b in levels])
        for solver in (Lexicographic(), NullSpace()):
            assert np.abs(solver.solve(program).x - expected).max() < 1e-8

    loaded = [name for name in OTHERS if name in sys.modules]
    assert not loaded, f"importing poise.solvers imports {', '.join(loaded)}"
    print(cpu.variant())


if __name__ == "__main__":
    main()
