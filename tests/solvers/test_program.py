"""Invalid rows and programs raise an error at construction that names them."""

from typing import Any

import numpy as np
import pytest

from poise.errors import PoiseError, RowsError
from poise.solvers import Program, Rows


def message(*arguments: object, **keywords: Any) -> str:
    with pytest.raises(RowsError) as caught:
        Rows(*arguments, **keywords)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_matrix_that_is_not_finite_is_refused_and_the_row_is_named(bad: float) -> None:
    with pytest.raises(RowsError) as caught:
        Rows([[1.0, 0.0], [0.0, bad]], 0, 1, name="feet", labels=["left", "right"])
    assert "feet[right]" in str(caught.value)
    assert "feet[left]" not in str(caught.value)
    assert (caught.value.rows, caught.value.indices) == ("feet", (1,))


@pytest.mark.parametrize("side", ["lower", "upper"])
def test_a_bound_that_is_nan_is_refused_and_the_row_is_named(side: str) -> None:
    bounds = {"lower": [0.0, 0.0, 0.0], "upper": [1.0, 1.0, 1.0]}
    bounds[side][2] = np.nan
    assert "limits[2]" in message(np.eye(3), **bounds, name="limits")


def test_crossed_bounds_are_refused_and_shown() -> None:
    text = message(np.eye(2), [0.0, 3.0], [1.0, 2.0], name="limits", labels=["hip", "knee"])
    assert "limits[knee]" in text
    assert "lower 3" in text
    assert "upper 2" in text


@pytest.mark.parametrize(("lower", "upper"), [(np.inf, np.inf), (-np.inf, -np.inf), (1e20, 1e20), (-1e21, -1e20)])
def test_a_bound_at_the_wrong_infinity_is_refused(lower: float, upper: float) -> None:
    assert "infinite" in message([[1.0]], lower, upper, name="limits")


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_a_weight_is_a_finite_number_that_is_not_negative(weight: float) -> None:
    assert "weight" in message(np.eye(2), 0, 1, weight=[1.0, weight], name="reach")


def test_only_the_first_offending_rows_are_listed() -> None:
    text = message(np.eye(9), 1.0, 0.0, name="limits")
    assert text.count("limits[") == 5
    assert "..." in text


@pytest.mark.parametrize("column", ["lower", "upper", "weight"])
def test_a_column_of_the_wrong_length_is_refused(column: str) -> None:
    columns = {"lower": 0.0, "upper": 1.0, "weight": 1.0, column: [1.0, 1.0]}
    text = message(np.eye(3), **columns, name="reach")
    assert column in text
    assert "3 values" in text


def test_labels_are_one_per_row() -> None:
    assert "2 labels were given for 3 rows" in message(np.eye(3), 0, 1, labels=["a", "b"])


def test_a_matrix_of_three_dimensions_or_of_texts_is_refused() -> None:
    assert "3 dimensions" in message(np.zeros((1, 2, 3)), 0, 1)
    assert "not an array of numbers" in message([["a", "b"]], 0, 1)
    assert "not an array of numbers" in message([[1.0, 2.0], [3.0]], 0, 1)


def test_bounds_of_different_lengths_are_refused() -> None:
    with pytest.raises(RowsError, match="limits"):
        Rows.bounds([0, 0, 0], [1, 1], name="limits")


def test_every_error_of_rows_is_an_error_of_poise_and_a_value_error() -> None:
    assert issubclass(RowsError, PoiseError)
    assert issubclass(RowsError, ValueError)


def test_a_single_row_may_be_given_as_a_vector() -> None:
    rows = Rows([1.0, 2.0, 3.0], 0, 1)
    assert (len(rows), rows.variables) == (1, 3)


def test_scalars_stand_for_all_rows() -> None:
    rows = Rows(np.eye(3), -1, 2, weight=5)
    assert rows.lower.tolist() == [-1, -1, -1]
    assert rows.upper.tolist() == [2, 2, 2]
    assert rows.weight.tolist() == [5, 5, 5]


def test_rows_copy_their_bounds() -> None:
    lower = np.zeros(2)
    rows = Rows(np.eye(2), lower, 1.0)
    lower[:] = 7.0
    assert rows.lower.tolist() == [0.0, 0.0]


def test_a_row_is_called_by_its_label_or_number_and_alone_by_its_name() -> None:
    assert Rows(np.eye(2), 0, 1, name="limits", labels=["hip", "knee"]).label(1) == "limits[knee]"
    assert Rows(np.eye(2), 0, 1, name="limits").label(1) == "limits[1]"
    assert Rows([1.0, 0.0], 0, 1, name="balance").label(0) == "balance"
    assert Rows(np.eye(2), 0, 1).label(0) == "rows[0]"


def test_simple_bounds_are_rows_of_the_identity() -> None:
    rows = Rows.bounds([-1, -2], [1, 2], name="limits")
    assert np.array_equal(rows.A, np.eye(2))
    assert rows.upper.tolist() == [1, 2]


def test_all_rows_of_a_program_have_the_same_variables() -> None:
    with pytest.raises(RowsError, match="'reach' of level 1 have 3 variables"):
        Program([Rows(np.eye(2), 0, 1, name="limits"), Rows(np.eye(3), 0, 1, name="reach")])
    with pytest.raises(RowsError, match="the program has 4"):
        Program([Rows(np.eye(2), 0, 1, name="limits")], variables=4)


def test_a_program_holds_nothing_but_rows() -> None:
    with pytest.raises(RowsError, match="level 1 contains a ndarray"):
        Program([Rows(np.eye(2), 0, 1), [np.eye(2)]])  # type: ignore[list-item]


def test_rows_alone_are_no_program() -> None:
    with pytest.raises(RowsError, match=r"levels is Rows.*; expected a list of levels, e\.g\. Program\(\[rows\]\)"):
        Program(Rows([1.0, 0.0], 0.0, 1.0))  # type: ignore[arg-type]


def test_names_are_one_per_level() -> None:
    with pytest.raises(RowsError, match="1 names were given for 2 levels"):
        Program([[], []], names=["only"])


def test_a_program_stacks_its_levels_in_order() -> None:
    first, second, third = Rows(np.eye(2), 0, 1), Rows([1.0, 2.0], 3, 4, weight=5), Rows([[3.0, 4.0]], -1, 1)
    program = Program([[first, second], [], third])
    assert program.level_begin == [0, 3, 3, 4]
    assert program.A.tolist() == [[1, 0], [0, 1], [1, 2], [3, 4]]
    assert program.lower.tolist() == [0, 0, 3, -1]
    assert program.upper.tolist() == [1, 1, 4, 1]
    assert program.weight.tolist() == [1, 1, 5, 1]
    assert program.block(2) == (0, second, 0)
    assert program.block(3) == (2, third, 0)
    assert [len(part) for part in program.split(np.arange(4.0))] == [3, 0, 1]


def test_a_program_may_be_empty() -> None:
    assert (len(Program([])), Program([]).variables, Program([]).rows) == (0, 0, 0)
    assert Program([[], []], variables=3).A.shape == (0, 3)


def test_slack_is_the_distance_to_the_interval_and_cost_its_weighted_square() -> None:
    program = Program([Rows(np.eye(3), [0, 0, -np.inf], [1, 1, 1], weight=[1, 2, 3])])
    x = np.array([-2.0, 0.5, 4.0])
    assert program.slack(x).tolist() == [-2.0, 0.0, 3.0]
    assert program.costs(x).tolist() == [1 * 4.0 + 3 * 9.0]
