"""explain: violated rows, their violation, and the rows that prevent them from being met."""

import numpy as np
import pytest

from poise.solvers import Cascade, NullSpace, Program, Rows, Solution, Weighted
from poise.solvers.optimality import explain

JOINTS = ["shoulder", "elbow", "wrist"]


def arm_program(reach: float = 2.0) -> Program:
    return Program(
        [
            Rows.bounds([-1, -1, -1], [0.5, 0.2, 1], name="limits", unit="rad", labels=JOINTS),
            Rows([1.0, 0.0, 1.0], 0.1, 0.1, name="balance", unit="m", labels=["y"]),
            Rows([1.0, 1.0, 0.0], reach, reach, name="reach", unit="m", labels=["x"]),
        ],
        names=["always", "balance", "hand"],
    )


def line_with(text: str, start: str) -> str:
    (found,) = [part.strip() for part in text.splitlines() if part.strip().startswith(start)]
    return found


def obstacles(text: str, row: str) -> str:
    return line_with(text, row).split("in the way: ")[1]


def test_a_violated_row_is_explained_with_amount_unit_value_and_goal() -> None:
    text = explain(Cascade().solve(arm_program()))
    assert line_with(text, "reach[x]").startswith("reach[x] (level 2) misses by +1.3 m: at 0.7 m, wanted 2 m; ")


def test_the_limits_that_stop_a_reach_are_named_and_nothing_else() -> None:
    listed = obstacles(explain(Cascade().solve(arm_program())), "reach[x]")
    assert "limits[shoulder] (upper bound, level 0)" in listed
    assert "limits[elbow] (upper bound, level 0)" in listed
    assert "wrist" not in listed
    assert "balance" not in listed


def test_a_limit_on_the_other_side_is_no_obstacle() -> None:
    # Both limits are saturated; only the upper one of x resists moving x up.
    program = Program(
        [
            Rows.bounds([-9, 1], [1, 9], name="limits", labels=["x", "y"]),
            Rows([[1.0, 0.0], [0.0, 1.0]], [3, 1], [3, 1], name="goal", labels=["x", "y"]),
            Rows([1.0, 1.0], 9, 9, name="sum"),
        ]
    )
    text = explain(Cascade().solve(program))
    assert obstacles(text, "goal[x]") == "limits[x] (upper bound, level 0)"
    assert "limits[y] (level 0): at its lower bound, 1" in text


def test_a_higher_equality_is_an_obstacle_in_both_directions() -> None:
    for goal in (-5, 5):
        program = Program([Rows([2.0, 0.0], 0, 0, name="hold"), Rows([1.0, 0.0], goal, goal, name="go")])
        assert obstacles(explain(Cascade().solve(program)), "go") == "hold (level 0)"


def test_rows_of_one_level_that_share_a_conflict_name_each_other() -> None:
    program = Program([Rows([[1.0, 0.0], [1.0, 0.0]], [0, 1], [0, 1], name="pull", labels=["left", "right"])])
    text = explain(Cascade().solve(program))
    assert obstacles(text, "pull[left]") == "pull[right] (level 0)"
    assert obstacles(text, "pull[right]") == "pull[left] (level 0)"


def test_lower_levels_are_never_obstacles() -> None:
    program = Program([*arm_program().levels, Rows(np.eye(3), -0.3, -0.3, name="posture")])
    for solver in (Cascade(), Weighted()):
        assert "posture" not in obstacles(explain(solver.solve(program)), "reach[x]")


def test_the_obstacles_resist_the_violated_row() -> None:
    """Without the rows in the way, the violation shrinks; without any other saturated row, it stays."""
    box = Rows.bounds([-1] * 4, [1] * 4, name="limits", labels=list("abcd"))
    goal = Rows([1.0, 2.0, 0.0, 0.0], 9, 9, name="goal")
    side = Rows([0.0, 0.0, 1.0, 1.0], 5, 5, name="side")
    listed = obstacles(explain(Cascade().solve(Program([box, goal, side]))), "goal")
    assert {part.split(" ")[0] for part in listed.split("), ")} == {"limits[a]", "limits[b]"}
    violation = []
    for released in ([], [0, 1], [2, 3]):
        high = np.ones(4)
        high[released] = 99.0
        violation.append(abs(Cascade().solve(Program([Rows.bounds([-1] * 4, high), goal, side])).slack[1][0]))
    assert violation[0] == pytest.approx(6.0)
    assert violation[1] < 1e-9
    assert violation[2] == pytest.approx(6.0)


def test_an_inequality_is_explained_with_the_violated_bound() -> None:
    program = Program([Rows([1.0], 2, 2, name="hold"), Rows([1.0], -1, 1, name="range", unit="rad")])
    assert "misses by -1 rad: at 2 rad, wanted at most 1 rad" in explain(Cascade().solve(program))
    program = Program([Rows([1.0], -2, -2, name="hold"), Rows([1.0], -1, 1, name="range", unit="rad")])
    assert "misses by +1 rad: at -2 rad, wanted at least -1 rad" in explain(Cascade().solve(program))


def test_every_level_has_a_line_and_met_levels_are_marked() -> None:
    text = explain(Cascade().solve(arm_program()))
    assert line_with(text, "level 0") == "level 0 always (3 rows): met"
    assert line_with(text, "level 1") == "level 1 balance (1 row): met"
    assert line_with(text, "level 2") == "level 2 hand (1 row): 1 violated, by 1.3 m at most, 1.3 m RMS"


def test_rows_of_different_units_are_not_averaged() -> None:
    level = [Rows([1.0, 0.0], 1, 1, name="angle", unit="rad"), Rows([0.0, 1.0], 1, 1, name="height", unit="m")]
    text = explain(Cascade().solve(Program([Rows(np.eye(2), 0, 0), level])))
    assert line_with(text, "level 1") == "level 1 (2 rows): 2 violated"


def test_saturated_rows_are_listed_with_their_bound() -> None:
    text = explain(Cascade().solve(arm_program()))
    assert line_with(text, "limits[elbow]") == "limits[elbow] (level 0): at its upper bound, 0.2 rad"
    assert "limits[wrist]" not in text


def test_without_violations_no_row_is_listed() -> None:
    text = explain(Cascade().solve(arm_program(reach=0.3)))
    assert text.count(": met") == 3
    assert "violated" not in text


def test_only_the_ten_most_important_rows_are_listed() -> None:
    text = explain(Cascade().solve(Program([Rows(np.eye(30), 0, 0), Rows(np.eye(30), 1, 1, name="wish")])))
    assert text.count("misses by") == 10
    assert "... and 20 more" in text


def test_of_many_obstacles_the_largest_are_named() -> None:
    rows = Rows(np.diag(np.arange(1.0, 7.0)), 0, 0, name="hold")
    program = Program([rows, Rows([6.0, 5.0, 4.0, 3.0, 2.0, 1.0], 1, 1, name="go")])
    assert obstacles(explain(Cascade().solve(program)), "go") == (
        "hold[0] (level 0), hold[1] (level 0), hold[2] (level 0), and 3 more"
    )


def test_a_violation_caused_by_weights_alone_has_no_obstacle() -> None:
    program = Program([[], Rows([1.0], 1, 1, name="high"), Rows([1.0], 0, 0, name="low")])
    text = explain(Weighted().solve(program))
    assert obstacles(text, "high") == "no row of this or a higher level"
    assert obstacles(text, "low") == "high (level 1)"


def test_a_row_that_does_not_depend_on_x_is_marked() -> None:
    program = Program([Rows([[0.0, 0.0]], 1, 1, name="empty")])
    assert "the row does not depend on x" in explain(Cascade().solve(program))


def test_rows_of_weight_zero_are_not_listed() -> None:
    assert "violated" not in explain(Cascade().solve(Program([Rows([1.0], 1, 1, weight=0, name="off")])))


@pytest.mark.parametrize("status", ["optimal", "budget", "iterations", "relaxed", "unheard of"])
def test_the_status_is_the_first_line(status: str) -> None:
    program = arm_program()
    solution = Solution(program, np.zeros(3), status, np.zeros(5, dtype=np.int8), 1, 0.5)
    first = explain(solution).splitlines()[0]
    assert first.startswith(status)
    assert first.endswith("(by unknown, 1 iteration, 0.5 ms)")


def test_it_is_the_method_of_a_solution() -> None:
    solution = Cascade().solve(arm_program())
    assert solution.explain() == explain(solution)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("seed", range(60))
def test_any_x_of_any_program_can_be_explained(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(0, 5))
    levels = []
    for _ in range(int(rng.integers(0, 4))):
        m = int(rng.integers(0, 5))
        A = rng.choice([0.0, 1.0, -1.0, 1e-3, 1e3, 1e-200, 1e150], (m, n))
        lower = rng.choice([-np.inf, -1.0, 0.0, 1.0], m)
        levels.append(Rows(A, lower, lower.clip(-5) + rng.choice([0.0, 1.0, np.inf], m), rng.choice([0.0, 1.0], m)))
    program = Program(levels, variables=n)
    for solver in (Cascade(), Weighted(), NullSpace()):
        assert explain(solver.solve(program))
    x = rng.standard_normal(n)
    assert explain(Solution(program, x, "budget", np.zeros(program.rows, dtype=np.int8), 0, 0.0))


@pytest.mark.parametrize(
    ("unit", "invisible", "visible"),
    [("m", 5e-5, 2e-4), ("rad/s²", 5e-2, 0.2), ("rad/s", 5e-3, 2e-2), ("N", 0.05, 0.2)],
)
def test_violations_below_the_resolution_are_not_reported(unit: str, invisible: float, visible: float) -> None:
    def text(miss: float) -> str:
        rows = [Rows([1.0, 0.0], 0.0, 0.0, name="above"), Rows([1.0, 0.0], miss, miss, name="goal", unit=unit)]
        return explain(Cascade().solve(Program(rows)))

    assert "nothing gives way" in text(invisible)
    assert "violated" not in text(invisible)
    assert line_with(text(visible), "goal").startswith("goal (level 1) misses by")
    assert "nothing gives way" not in text(visible)


def test_numbers_without_a_unit_are_compared_exactly() -> None:
    rows = [Rows([1.0], 0.0, 0.0, name="above"), Rows([1.0], 1e-6, 1e-6, name="goal")]
    assert "misses by" in explain(Cascade().solve(Program(rows)))
