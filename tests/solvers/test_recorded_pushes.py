"""Programs of robots that are pushed to their limits, recorded by `benchmarks/solvers/recording.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.solvers.workloads import Workload, recorded_workloads
from poise.solvers import Lexicographic, Program, certificate

PUSHES = recorded_workloads(Path(__file__).parents[2] / "benchmarks/solvers/pushes")
each_push = pytest.mark.parametrize("workload", PUSHES, ids=lambda workload: workload.name)
#: Iterations that no recorded program needs. With the dual method alone it was up to 568.
MAX_ITERATIONS = 300


def test_the_folder_holds_pushes_of_two_robots() -> None:
    assert {workload.name.partition("_")[0] for workload in PUSHES} == {"g1", "talos"}


@each_push
def test_a_push_is_solved_within_a_bounded_number_of_iterations(workload: Workload) -> None:
    warm = Lexicographic()
    for program in workload.programs:
        for solver in (warm, Lexicographic()):
            solution = solver.solve(program)
            assert solution.status == "optimal"
            assert solution.iterations <= MAX_ITERATIONS


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
