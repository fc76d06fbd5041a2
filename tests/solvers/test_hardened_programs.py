"""Programs with tightened limits and contradictory levels are solved to the certificate."""

from __future__ import annotations

import pytest

from benchmarks.solvers.hardened import HARDENINGS, hardened_workloads, large_contradiction
from benchmarks.solvers.workloads import Workload, generated_workloads
from poise.solvers import Lexicographic, certificate

KINEMATICS = generated_workloads(steps=12)[:1]


@pytest.mark.parametrize("workload", hardened_workloads(KINEMATICS), ids=lambda workload: workload.name)
def test_a_hardened_sequence_is_certified(workload: Workload) -> None:
    solver = Lexicographic()
    for program in workload.programs:
        solution = solver.solve(program)
        assert solution.status == "optimal"
        assert certificate(program, solution).residual <= 1e-8


def test_there_is_a_sequence_for_every_hardening() -> None:
    assert len(hardened_workloads(KINEMATICS)) == len(HARDENINGS)


@pytest.mark.parametrize("kind", ["equality", "upper", "interval", "mixed"])
@pytest.mark.parametrize("rows", [200, pytest.param(2000, marks=pytest.mark.slow)])
def test_a_large_contradiction_is_certified(kind: str, rows: int) -> None:
    """A few dozen iterations, not one for every row: all violated rows enter the fit at once."""
    program = large_contradiction(rows, 50 if rows == 2000 else 20, kind)
    solution = Lexicographic().solve(program)
    assert solution.status == "optimal"
    assert solution.iterations <= 100
    assert certificate(program, solution).residual <= 1e-8
