"""Runs that solve random programs, or programs of a robot, and check the optimality of the solutions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import numpy as np

from poise import constraints, tasks
from poise.arrays import Array
from poise.campaign.kinds.kind import Column, RunKind, RunOutput, Value, check_choice, with_defaults
from poise.control import KinematicController, TorqueController
from poise.hierarchy import Hierarchy, Level
from poise.robots import Robot, State, load_robot
from poise.solvers import Cascade, Lexicographic, Program, Rows, Solution, certificate

MATRIX_KINDS = ("plain", "scaled", "deficient", "singular", "duplicated", "dependent", "sparse", "unit")


def _matrix(rng: np.random.Generator, kind: str, m: int, n: int, above: Array) -> Array:
    """Return m random rows of n columns; `above` are the rows of higher levels.

    Depending on `kind` they are plain, rank deficient, nearly singular, duplicated, dependent on `above`, sparse, or
    rows of the identity.
    """
    A = rng.standard_normal((m, n))
    if kind == "deficient" and m > 1:
        rank = int(rng.integers(1, m))
        A = rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n))
    elif kind == "singular" and m > 1:
        U, _, V = np.linalg.svd(A, full_matrices=False)
        A = U @ np.diag(np.geomspace(1.0, 10.0 ** -rng.uniform(2, 10), min(m, n))) @ V
    elif kind == "duplicated" and m > 1:
        A[m // 2 :] = A[: m - m // 2] * rng.choice([-1.0, 1.0])
    elif kind == "dependent" and len(above):
        A = rng.standard_normal((m, len(above))) @ above / np.sqrt(len(above))
    elif kind == "sparse":
        A *= rng.random((m, n)) < 0.3
    elif kind == "unit":
        A = np.eye(n)[rng.integers(0, n, m)]
    return A


def random_program(seed: int, levels: tuple[int, int] = (2, 7), variables: tuple[int, int] = (5, 60)) -> Program:
    """Return a random program of mixed equalities, inequalities and bounds; it depends on the arguments alone.

    Args:
        seed: random seed.
        levels: smallest and largest number of levels.
        variables: smallest and largest number of variables.
    """
    rng = np.random.default_rng(seed)
    n = int(rng.integers(variables[0], variables[1] + 1))
    depth = int(rng.integers(levels[0], levels[1] + 1))
    stack: list[Rows | list[Rows]] = []
    above = np.zeros((0, n))
    feasible = rng.standard_normal(n)
    if rng.random() < 0.4:
        width = rng.uniform(0.05, 2.0, n)
        bounds = Rows.bounds(-width, width, name="bounds")
        stack.append(bounds)
    while len(stack) < depth:
        if rng.random() < 0.03:
            stack.append([])
            continue
        m = int(rng.integers(1, max(2, min(n + 5, int(2 + 1.5 * n / depth) + 2))))
        matrix_kind = str(rng.choice(MATRIX_KINDS))
        A = _matrix(rng, matrix_kind, m, n, above)
        center = A @ feasible if rng.random() < 0.5 else 2.0 * rng.standard_normal(m)
        lower, upper = center.copy(), center.copy()
        kind = rng.choice(["equality", "upper", "interval", "mixed"])
        if kind != "equality":
            loose = rng.random(m) < (0.5 if kind == "mixed" else 1.1)
            if kind == "upper":
                lower[loose] = -np.inf
                upper[loose] += rng.uniform(-0.5, 0.5, loose.sum())
            else:
                lower[loose] -= rng.uniform(0.0, 1.0, loose.sum())
                upper[loose] += rng.uniform(0.0, 1.0, loose.sum())
        if matrix_kind == "scaled" or (matrix_kind != "singular" and rng.random() < 0.3):
            scale = 10.0 ** rng.uniform(-3, 3, m)
            A, lower, upper = A * scale[:, None], lower * scale, upper * scale
        weight = rng.uniform(0.1, 10.0, m) if rng.random() < 0.3 else 1.0
        rows = Rows(A, lower, upper, weight, name=f"rows {len(stack)}")
        stack.append(rows)
        above = np.vstack([above, rows.A / np.maximum(np.linalg.norm(rows.A, axis=1, keepdims=True), 1e-12)])
    return Program(stack, variables=n)


SMALL_PROGRAM_KINDS = ["plain", "integers", "duplicated", "scaled", "rank one", "weighted", "touching"]


def small_program(kind: str, seed: int) -> Program:
    """Return a random program with up to 6 variables, 3 levels and 8 inequalities, mixed with equalities.

    Args:
        kind: one of `SMALL_PROGRAM_KINDS`.
        seed: random seed.
    """
    rng = np.random.default_rng([SMALL_PROGRAM_KINDS.index(kind), seed])
    n, inequalities_left = int(rng.integers(1, 7)), 8
    levels: list[Rows | list[Rows]] = []
    for _ in range(int(rng.integers(1, 4))):
        m = int(rng.integers(0, 5))
        A = rng.standard_normal((m, n))
        if kind == "integers":
            A = np.round(A)
        elif kind == "duplicated" and m > 1:
            A[-1] = A[0] * rng.choice([-2.0, 1.0, 0.5])
        elif kind == "scaled":
            A *= 10.0 ** rng.uniform(-3, 3, (m, 1))
        elif kind == "rank one":
            A = rng.standard_normal((m, 1)) @ rng.standard_normal((1, n))
        size = np.linalg.norm(A, axis=1)
        lower = np.zeros(m) if kind == "touching" else rng.standard_normal(m) * size
        upper = lower.copy()
        for i in range(m):
            side = int(rng.integers(0, 4)) if inequalities_left else 0
            inequalities_left -= side > 0
            if side == 1:
                lower[i] = -np.inf
            elif side == 2:
                upper[i] = rng.choice([np.inf, 1e20])
            elif side == 3:
                upper[i] += size[i] * rng.uniform(0.01, 1.0) + 1e-3
        weight = rng.choice([0.0, 0.1, 1.0, 10.0], m) if kind == "weighted" else np.ones(m)
        levels.append(Rows(A, lower, upper, weight) if m else [])
    return Program(levels, variables=n)


# -- Solver programs -------------------------------------------------------------------------------------------------


#: Largest residual of the certificate of a solution that counts as optimal, and the same for nearly dependent rows,
#: for which double precision does not determine which row is violated.
CERTIFICATE_TOLERANCE, NEARLY_DEPENDENT_TOLERANCE = 1e-8, 1e-4
#: Smallest singular value, relative to the largest, of the rows of a level below which they are nearly dependent.
DEPENDENCE_RATIO = 1e-6
#: Norm of a solution above which rows count as nearly dependent: the numbers of the programs are of order one.
LARGE_SOLUTION_NORM = 1e4
#: Largest difference of slacks between two solvers that agree, per length of a row and relative to the size of x.
AGREEMENT_TOLERANCE = 1e-6
#: Largest number of rows for which the reference solver, which is slow, solves the program as well.
REFERENCE_MAX_ROWS = 60


class SolverPrograms(RunKind):
    """Runs that solve a generated program and verify the solution.

    Parameters: ``generator``, one of `GENERATORS`; ``solver``, one of `SOLVERS`.

    A run solves the program of its seed, cold and then warm-started, and verifies optimality with a certificate that is
    independent of the solver. Small programs are solved by the reference solver as well. The run succeeds if all
    solutions agree, or if the reference has a different solution that is verified as well (column ``ambiguous``).
    """

    name = "solver programs"
    columns: Mapping[str, Column] = {
        "levels": Column("count", "", "levels of the program"),
        "variables": Column("count", "", "variables of the program"),
        "rows": Column("count", "", "rows of the program"),
        "active_rows": Column("count", "", "rows at or beyond a bound in the solution"),
        "status": Column("text", "", "status of the solver"),
        "iterations": Column("count", "", "active set iterations, cold start"),
        "warm_iterations": Column("count", "", "active set iterations, warm start from the solution"),
        "worst_residual": Column("number", "", "largest residual of the certificate, over all levels"),
        "reference_gap": Column("number", "", "largest slack difference from the reference; empty for large programs"),
        "nearly_dependent": Column("flag", "", "whether rows of a level are nearly dependent"),
        "ambiguous": Column(
            "flag",
            "",
            "whether the reference has a different solution, and both are verified: the row scales of a level differ "
            "so much, or active rows are so nearly dependent, that double precision does not determine the active set",
        ),
    }

    def check_parameters(self, values: Mapping[str, Value], spec_folder: Path) -> dict[str, Value]:
        parameters = with_defaults(self.name, values, {"generator": "random", "solver": "strict"})
        check_choice("generator", parameters["generator"], GENERATORS)
        check_choice("solver", parameters["solver"], SOLVERS)
        return parameters

    def run(self, parameters: Mapping[str, Value], seed: int, recording_path: Path | None = None) -> RunOutput:
        program = GENERATORS[str(parameters["generator"])](seed)
        solver = SOLVERS[str(parameters["solver"])]()
        cold, warm = solver.solve(program), solver.solve(program)
        ill_conditioned = nearly_dependent(program) or bool(np.linalg.norm(cold.x) > LARGE_SOLUTION_NORM)
        gap, reference_residual = _reference_gap(program, cold)
        faults = [
            fault
            for name, answer in (("cold", cold), ("warm", warm))
            for fault in _answer_faults(name, answer, ill_conditioned)
        ]
        disagrees = gap is not None and gap > AGREEMENT_TOLERANCE and not ill_conditioned
        if disagrees and reference_residual > CERTIFICATE_TOLERANCE:
            faults.append(f"slack differs by {gap:.3g} from that of the reference")
        residual = certificate(program, cold).residual if np.isfinite(cold.x).all() else np.nan
        values: dict[str, Value] = {
            "levels": len(program),
            "variables": program.variables,
            "rows": program.rows,
            "active_rows": int(np.count_nonzero(cold.sides)),
            "status": cold.status,
            "iterations": int(cold.iterations),
            "warm_iterations": int(warm.iterations),
            "worst_residual": float(residual),
            "reference_gap": gap,
            "nearly_dependent": ill_conditioned,
            "ambiguous": disagrees and not faults,
        }
        times = {"milliseconds": cold.milliseconds, "warm_milliseconds": warm.milliseconds}
        return RunOutput(values, "; ".join(faults), times=times)


def nearly_dependent(program: Program) -> bool:
    """Return whether a level has rows that nearly depend on others of the same level and of those above."""
    size = np.linalg.norm(program.A, axis=1, keepdims=True)
    unit = program.A / np.where(size > 0.0, size, 1.0)
    for k in range(len(program)):
        values = np.linalg.svd(unit[: program.slice(k).stop], compute_uv=False)
        top = float(values.max(initial=0.0))
        if ((values < DEPENDENCE_RATIO * top) & (values > 1e-14 * top)).any():
            return True
    return False


def _answer_faults(name: str, answer: Solution, ill_conditioned: bool) -> list[str]:
    """Return the faults of a solution as sentences: not finite, wrong status, not optimal; empty if there are none."""
    if not np.isfinite(answer.x).all():
        return [f"the {name} solution is not finite"]
    if answer.status != "optimal":
        return [f"the {name} solution has status '{answer.status}'; expected 'optimal'"]
    residual = certificate(answer.program, answer).residual
    if not residual <= (NEARLY_DEPENDENT_TOLERANCE if ill_conditioned else CERTIFICATE_TOLERANCE):
        return [f"the {name} solution is not optimal: residual {residual:.3g}"]
    return []


def _reference_gap(program: Program, answer: Solution) -> tuple[float | None, float]:
    """Return the largest slack difference from the reference solution, and the residual of that solution.

    The difference is None for large programs, which the reference does not solve.
    """
    if program.rows > REFERENCE_MAX_ROWS or not np.isfinite(answer.x).all():
        return None, 0.0
    reference = Cascade().solve(program)
    size = np.maximum(np.linalg.norm(program.A, axis=1), 1e-12) * (1.0 + float(np.linalg.norm(reference.x)))
    difference = np.abs(program.slack(reference.x) - program.slack(answer.x)) / size
    gap = float(difference[program.weight > 0.0].max(initial=0.0))
    return gap, certificate(program, reference).residual if gap > AGREEMENT_TOLERANCE else 0.0


# -- programs of a robot -----------------------------------------------------------------------------------------------


@cache
def _robot() -> Robot:
    return load_robot("g1")


def _random_state_and_hierarchy(seed: int) -> tuple[State, Hierarchy]:
    """Return a moving robot near standing, and a hierarchy that cannot be met completely."""
    random, robot = np.random.default_rng(seed), _robot()
    start = robot.stance("standing")
    q, low, high = np.array(start.q), robot.limits.lower, robot.limits.upper
    places = [joint.q for joint in robot.joints]
    q[places] = np.clip(q[places] + random.normal(0.0, 0.3, len(places)), low + 1e-3, high - 1e-3)
    state = State(robot, q, 0.3 * random.normal(size=robot.model.nv), contacts=robot.feet)
    hand = robot.hands[int(random.integers(len(robot.hands)))]
    place = start.pose(hand).translation + random.normal(0.0, 0.4, 3)
    center = start.center_of_mass + random.normal(0.0, 0.05, 3)
    levels = [
        Level("feet", [constraints.RigidContact(foot) for foot in robot.feet]),
        Level("balance", [tasks.CenterOfMass(center, tolerance=float(random.uniform(0.0, 0.02)))]),
        Level("reach", [tasks.Position(hand, place)]),
        Level("look", [tasks.Gaze(robot.gaze, place)]),
        Level("posture", [tasks.Posture(start)]),
    ]
    shuffled = [levels[0], *(levels[1 + int(i)] for i in random.permutation(3)), levels[4]]
    return state, Hierarchy([constraints.JointRange(robot), constraints.JointSpeed(robot)], shuffled)


def _inverse_kinematics_program(seed: int) -> Program:
    state, hierarchy = _random_state_and_hierarchy(seed)
    return _program_of(KinematicController(hierarchy, ramp=0.0).step(state).solution)


def _inverse_dynamics_program(seed: int) -> Program:
    state, hierarchy = _random_state_and_hierarchy(seed)
    return _program_of(TorqueController(hierarchy, ramp=0.0).step(state).solution)


def _program_of(solution: Solution | None) -> Program:
    """Return the program of a solution without the damping near singularities, with which it is not optimal."""
    assert solution is not None, "a robot near standing has a solution"
    return Program(solution.program.levels, variables=solution.program.variables)


#: Generators of programs from a seed: random, small with every degeneracy, inverse kinematics and dynamics of G1.
GENERATORS: dict[str, Callable[[int], Program]] = {
    "random": random_program,
    "small": lambda seed: small_program(
        SMALL_PROGRAM_KINDS[seed % len(SMALL_PROGRAM_KINDS)], seed // len(SMALL_PROGRAM_KINDS)
    ),
    "ik": _inverse_kinematics_program,
    "id": _inverse_dynamics_program,
}
SOLVERS: dict[str, Callable[[], Lexicographic | Cascade]] = {"strict": Lexicographic, "cascade": Cascade}
