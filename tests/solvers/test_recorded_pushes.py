"""Programs of robots that are pushed to their limits, recorded by `benchmarks/solvers/recording.py`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.solvers.workloads import Workload, recorded_workloads
from poise.arrays import Array
from poise.solvers import Lexicographic, Program, certificate

PUSHES = recorded_workloads(Path(__file__).parents[2] / "benchmarks/solvers/pushes")
each_push = pytest.mark.parametrize("workload", PUSHES, ids=lambda workload: workload.name)
#: Iterations that no recorded program needs after the one before it, and without. With the dual method alone it was up
#: to 568.
MAX_WARM_ITERATIONS, MAX_COLD_ITERATIONS = 150, 200


def test_the_folder_holds_pushes_of_two_robots() -> None:
    assert {workload.name.partition("_")[0] for workload in PUSHES} == {"g1", "talos"}


@each_push
def test_a_push_is_solved_within_a_bounded_number_of_iterations(workload: Workload) -> None:
    warm = Lexicographic()
    for program in workload.programs:
        for solver, most in (warm, MAX_WARM_ITERATIONS), (Lexicographic(), MAX_COLD_ITERATIONS):
            solution = solver.solve(program)
            assert solution.status == "optimal"
            assert solution.iterations <= most


@each_push
def test_a_push_has_the_same_solution_from_a_cold_and_from_a_warm_start(workload: Workload) -> None:
    """The balance of the standing Talos is nearly singular: points far apart differ by 1e-8 in its cost."""
    warm = Lexicographic()
    for program in workload.programs:
        before, cold = warm.solve(program).x, Lexicographic().solve(program).x
        if not workload.name.startswith("talos_stand"):
            assert relative_difference(before, cold) <= 1e-8
        elif relative_difference(before, cold) > 1e-8:
            assert program.costs(before)[:4] == pytest.approx(program.costs(cold)[:4], rel=1e-5, abs=1e-8)


def relative_difference(first: Array, second: Array) -> float:
    return float(np.abs(first - second).max() / (1.0 + np.abs(first).max()))


@each_push
@pytest.mark.parametrize("every", [8, pytest.param(1, marks=pytest.mark.slow)])
def test_a_push_without_damping_is_certified(workload: Workload, every: int) -> None:
    """Each is solved from where the one before ended, as in a control loop."""
    solver = Lexicographic()
    for step, recorded in enumerate(workload.programs):
        program = Program(recorded.levels, variables=recorded.variables, center=recorded.center)
        solution = solver.solve(program)
        if step % every == every // 2:
            assert certificate(program, solution).residual <= 1e-8
