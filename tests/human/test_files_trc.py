"""TRC: rows take precedence over the header, gaps stay gaps, and written files are read back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from marker_files import PERSON, in_axes, standing, trc_rows, write_trc

from poise import human

LABELS = list(PERSON)
MM = 1e-7  # m: the rows have five digits behind the point, of mm


def rows(frames: int = 3, gap: str = "", positions: np.ndarray | None = None) -> list[str]:
    return trc_rows(1000.0 * in_axes(standing(frames) if positions is None else positions, "y"), gap=gap)


def test_a_plain_file_is_read_in_metres_with_z_up(tmp_path: Path) -> None:
    trial = human.read_trial(write_trc(tmp_path / "t.trc", rows(), LABELS))
    assert (trial.rate, trial.labels) == (100.0, tuple(PERSON))
    np.testing.assert_allclose(trial.positions, standing(3), atol=MM)


def test_fields_padded_with_blanks_are_read(tmp_path: Path) -> None:
    header = " 100.00 \t 100.00\t       3\t  {m} \t mm \t100.00\t1\t       3"
    padded = [row.replace("\t", "\t  ") for row in rows()]
    trial = human.read_trial(write_trc(tmp_path / "t.trc", padded, [f" {label} " for label in LABELS], header))
    assert (trial.rate, trial.labels) == (100.0, tuple(PERSON))
    np.testing.assert_allclose(trial.positions, standing(3), atol=MM)


@pytest.mark.parametrize("gap", ["", "   ", "NaN", "nan", "-nan(ind)"])
def test_blanks_and_nan_are_gaps_also_at_the_end_of_a_row(gap: str, tmp_path: Path) -> None:
    X = standing(3)
    X[1, 4], X[2, -1] = np.nan, np.nan
    trial = human.read_trial(write_trc(tmp_path / "t.trc", rows(3, gap, X), LABELS))
    np.testing.assert_allclose(trial.positions, X, atol=MM)


def test_one_missing_coordinate_makes_the_whole_marker_a_gap(tmp_path: Path) -> None:
    X = standing(3)
    X[1, 4, 2] = np.nan
    trial = human.read_trial(write_trc(tmp_path / "t.trc", rows(3, "", X), LABELS))
    assert np.isnan(trial.positions[1, 4]).all()
    assert np.isnan(trial.positions).sum() == 3


def test_zeros_are_gaps(tmp_path: Path) -> None:
    X = standing(3)
    X[0, 2] = 0.0
    trial = human.read_trial(write_trc(tmp_path / "t.trc", rows(3, "", X), LABELS))
    assert np.isnan(trial.positions[0, 2]).all()
    assert np.isnan(trial.positions).sum() == 3


def test_a_header_with_more_frames_than_the_file_is_only_noted(tmp_path: Path) -> None:
    path = write_trc(tmp_path / "t.trc", rows(73), LABELS, "100\t100\t900\t{m}\tmm\t100\t1\t900")
    trial = human.read_trial(path)
    assert len(trial.time) == 73
    assert "The header says 900 frames, the file has 73." in trial.notes


@pytest.mark.parametrize(("units", "scale"), [("mm", 1e3), ("m", 1.0), ("cm", 1e2)])
def test_units_are_those_of_the_header(units: str, scale: float, tmp_path: Path) -> None:
    header = f"100\t100\t3\t{{m}}\t{units}\t100\t1\t3"
    path = write_trc(tmp_path / "t.trc", trc_rows(scale * in_axes(standing(3), "y")), LABELS, header)
    np.testing.assert_allclose(human.read_trial(path).positions, standing(3), atol=2e-5)


def test_a_mismatch_of_labels_and_columns_is_noted(tmp_path: Path) -> None:
    trial = human.read_trial(write_trc(tmp_path / "t.trc", rows(), [*LABELS, "EXTRA"]))
    assert trial.labels == tuple(PERSON)
    assert any("the last 1 have no data" in note for note in trial.notes)
    trial = human.read_trial(write_trc(tmp_path / "t.trc", rows(), LABELS[:-1]))
    assert trial.labels == tuple(PERSON)[:-1]
    assert "Points without a name left out: 1." in trial.notes


def test_rows_that_were_left_out_become_gaps(tmp_path: Path) -> None:
    lines = rows(6)
    trial = human.read_trial(write_trc(tmp_path / "t.trc", lines[:2] + lines[4:], LABELS))
    assert np.isnan(trial.positions).all(axis=(1, 2)).tolist() == [False, False, True, True, False, False]
    assert any("2 frames missing between rows are gaps" in note for note in trial.notes)


def test_a_rate_that_contradicts_the_time_stamps_is_replaced(tmp_path: Path) -> None:
    path = write_trc(tmp_path / "t.trc", rows(20), LABELS, "60\t60\t20\t{m}\tmm\t60\t1\t20")
    trial = human.read_trial(path)
    assert trial.rate == pytest.approx(100.0)
    assert any("says 60 Hz, the time stamps 100 Hz" in note for note in trial.notes)


def test_time_stamps_rounded_to_milliseconds_leave_the_rate_of_the_header(tmp_path: Path) -> None:
    lines = [row.split("\t", 2) for row in rows(30)]
    rounded = [f"{frame}\t{i / 60.0:.3f}\t{rest}" for i, (frame, _, rest) in enumerate(lines)]
    trial = human.read_trial(write_trc(tmp_path / "t.trc", rounded, LABELS, "60\t60\t30\t{m}\tmm\t60\t1\t30"))
    assert (trial.rate, len(trial.time)) == (60.0, 30)


@pytest.mark.parametrize("rate", ["0", "", "fast"])
def test_without_a_rate_the_time_stamps_give_it(rate: str, tmp_path: Path) -> None:
    path = write_trc(tmp_path / "t.trc", rows(20), LABELS, rate + "\t100\t20\t{m}\tmm\t100\t1\t20")
    assert human.read_trial(path).rate == pytest.approx(100.0)


def trial_error(path: Path, words: str) -> None:
    with pytest.raises(human.TrialError, match=words) as caught:
        human.read_trial(path)
    assert "\n" not in str(caught.value)


def test_an_invalid_file_is_refused_with_the_line_number(tmp_path: Path) -> None:
    lines = rows()
    trial_error(write_trc(tmp_path / "t.trc", [lines[0], lines[1].replace("\t", "\tabc", 3)], LABELS), "line 8: 'abc")
    trial_error(write_trc(tmp_path / "t.trc", [], LABELS), "no row of numbers")
    trial_error(write_trc(tmp_path / "t.trc", [lines[1], lines[0]], LABELS), "time does not increase")
    (tmp_path / "t.trc").write_text("PathFileType\t4\nnothing else\n")
    trial_error(tmp_path / "t.trc", "no line that begins with Frame#")


def test_rows_without_tabs_that_miss_a_number_are_refused(tmp_path: Path) -> None:
    lines = [" ".join(row.split()) for row in rows()]
    np.testing.assert_allclose(
        human.read_trial(write_trc(tmp_path / "t.trc", lines, LABELS)).positions, standing(3), atol=MM
    )
    lines[1] = lines[1].rsplit(" ", 1)[0]
    trial_error(write_trc(tmp_path / "t.trc", lines, LABELS), "no tabs to show which")


def test_a_few_rows_under_a_million_columns_are_refused_before_memory_is_taken(tmp_path: Path) -> None:
    wide = "1\t0.0" + "\t1" * 300_000
    trial_error(
        write_trc(tmp_path / "t.trc", [wide, *(f"{i}\t{i / 100}\t1" for i in range(2, 4000))], LABELS),
        "very few numbers",
    )


@pytest.mark.parametrize("up", ["y", "z", "-y"])
@pytest.mark.parametrize("units", ["mm", "m"])
def test_a_written_trial_is_read_back_unchanged(up: str, units: str, tmp_path: Path) -> None:
    X = standing(4)
    X[2, 5] = np.nan
    trial = human.Trial("made", 120.0, np.arange(4) / 120.0, tuple(PERSON), X)
    back = human.read_trial(human.write_trc(trial, tmp_path / "t.trc", units=units, up=up))
    assert (back.labels, back.rate) == (trial.labels, pytest.approx(120.0))  # type: ignore[comparison-overlap]
    np.testing.assert_allclose(back.positions, X, atol=MM)


def test_invalid_units_and_axes_are_refused(tmp_path: Path) -> None:
    trial = human.Trial("made", 100.0, np.arange(3) / 100.0, tuple(PERSON), standing(3))
    with pytest.raises(human.TrialError, match="units are 'miles'"):
        human.write_trc(trial, tmp_path / "t.trc", units="miles")
    with pytest.raises(human.TrialError, match="up is 'w'"):
        human.write_trc(trial, tmp_path / "t.trc", up="w")
