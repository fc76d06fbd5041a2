"""Atomic writes, CSV tables, JSON values, and checks of output paths."""

from __future__ import annotations

import csv
import json
import math
import os
from pathlib import Path

import numpy as np
import pytest

from poise.errors import PoiseError
from poise.files import atomic_write, atomic_write_text, failure_reason, json_ready, writable_path, write_csv


@pytest.mark.parametrize("raised", [KeyboardInterrupt, ValueError, SystemExit, OSError])
def test_an_interrupted_write_leaves_the_previous_file(tmp_path: Path, raised: type[BaseException]) -> None:
    place = tmp_path / "m.csv"
    place.write_text("before")

    def interrupted() -> None:
        with atomic_write(place) as file:
            file.write_text("half")
            raise raised

    with pytest.raises(raised):
        interrupted()
    assert [path.name for path in tmp_path.iterdir()] == ["m.csv"]
    assert place.read_text() == "before"


def test_a_file_is_on_the_disk_before_it_takes_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls, place, synced, replaced = [], tmp_path / "m.csv", os.fsync, os.replace
    place.write_text("before")
    monkeypatch.setattr(os, "fsync", lambda number: (calls.append(place.read_text()), synced(number)))  # type: ignore[func-returns-value]
    monkeypatch.setattr(os, "replace", lambda *paths: (calls.append("replace"), replaced(*paths)))  # type: ignore[func-returns-value]
    atomic_write_text(place, "after")
    assert calls == ["before", "replace"]
    assert place.read_text() == "after"
    with atomic_write(place, durable=False) as file:
        file.write_text("quick")
    assert calls == ["before", "replace", "replace"]


def test_the_temporary_file_stands_in_the_same_folder_and_ends_likewise(tmp_path: Path) -> None:
    with atomic_write(tmp_path / "m.csv") as file:
        file.write_text("x")
        assert (file.parent, file.suffix) == (tmp_path.resolve(), ".csv")
    with atomic_write(tmp_path / "m.csv", temporary=".m.part") as file:
        assert file.name == ".m.part"
        file.write_text("y")
    assert [path.name for path in tmp_path.iterdir()] == ["m.csv"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "m.txt").symlink_to(tmp_path / "there/m.txt")
    atomic_write_text(tmp_path / "m.txt", "new")
    assert (tmp_path / "m.txt").is_symlink()
    assert (tmp_path / "there/m.txt").read_text() == "new"


def test_an_invalid_path_is_refused_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(KeyError) as caught:
        writable_path(tmp_path, KeyError, "--out", "walk.html")
    assert caught.value.args == (f"--out '{tmp_path}' is a folder; give a file, like {tmp_path / 'walk.html'}",)
    with pytest.raises(KeyError) as caught:
        writable_path(tmp_path / "none/a.html", KeyError)
    assert caught.value.args == (
        f"'{tmp_path / 'none/a.html'}': there is no folder '{tmp_path / 'none'}'; create it first",
    )
    assert writable_path(tmp_path / "a.html", KeyError) == tmp_path.resolve() / "a.html"


def test_the_error_of_the_system_is_one_line() -> None:
    assert failure_reason(OSError(28, "anything")) == os.strerror(28)
    assert failure_reason(OSError("two\nlines")) == "two lines"


def test_json_has_null_for_numbers_that_are_not_finite() -> None:
    values = {
        "a": [float("nan"), -1.5, np.float32(0.5)],
        "b": (np.inf, True, None),
        "c": {"d": np.array([[1, 2]])},
        "e": "x",
    }
    text = json.dumps(json_ready(values), allow_nan=False)
    assert json.loads(text) == {"a": [None, -1.5, 0.5], "b": [None, True, None], "c": {"d": [[1, 2]]}, "e": "x"}


def test_values_are_those_of_strict_json() -> None:
    values = {"a": np.float64(0.5), "b": (np.int64(3), math.nan, -math.inf), "c": {"d": np.bool_(True), "e": None}}
    assert json.loads(json.dumps(json_ready(values), allow_nan=False)) == {
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
