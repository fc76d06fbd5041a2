"""Results as JSON values, CSV tables and files that appear whole or not at all."""

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest

from poise.errors import PoiseError
from poise.files import json_ready, write_csv


def test_values_are_those_of_strict_json() -> None:
    given = {"a": np.float64(0.5), "b": (np.int64(3), math.nan, -math.inf), "c": {"d": np.bool_(True), "e": None}}
    assert json.loads(json.dumps(json_ready(given), allow_nan=False)) == {
        "a": 0.5,
        "b": [3, None, None],
        "c": {"d": True, "e": None},
    }


def test_a_table_has_its_columns_in_order_and_empty_cells_where_nothing_is_known(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "t.csv", [{"b": 1.23456789, "a": "x", "z": 1}, {"a": None}], ("a", "b"))
    with path.open(newline="") as stream:
        assert list(csv.reader(stream)) == [["a", "b"], ["x", "1.23457"], ["", ""]]


def test_a_place_that_cannot_be_written_is_an_error_of_one_line(tmp_path: Path) -> None:
    with pytest.raises(PoiseError, match=r"cannot be written: No such file") as failure:
        write_csv(tmp_path / "none" / "t.csv", [], ("a",))
    assert "\n" not in str(failure.value)
