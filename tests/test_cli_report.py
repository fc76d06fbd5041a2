"""``poise report``: written pages, output, and refusal of bad input."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from command_line import error_line, record_bend
from poise import cli
from poise.campaign import COST_COLUMNS, FACTS_FILE, RECORDINGS_FOLDER, Column
from poise.campaign.results import RESULTS_FILE
from poise.campaign.storage import RUN_COLUMNS, build_table, write_json, write_table


@pytest.fixture(autouse=True)
def without_graphics(monkeypatch: pytest.MonkeyPatch) -> None:
    """Disable pictures, which take seconds and are tested elsewhere."""
    monkeypatch.setenv("MUJOCO_GL", "off")


@pytest.fixture(scope="module")
def recording_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record_bend(tmp_path_factory.mktemp("runs"))


def test_it_writes_a_page_and_prints_its_name(recording_path: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    command = [sys.executable, "-m", "poise", "report", str(recording_path), "--out", str(out)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith(f"{out}: 1 recording, 0.")
    assert result.stderr == ""  # the progress bar is for terminals
    text = out.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert "biped, 16 joints" in text  # its model was found at the path in the recording


def test_recordings_of_one_name_are_distinguished_by_their_folders(
    recording_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("slow", "fast"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "bend.poise").write_bytes(recording_path.read_bytes())
    out = tmp_path / "r.html"
    files = [tmp_path / "slow/bend.poise", tmp_path / "fast/bend.poise", recording_path, recording_path]
    assert cli.main(["report", *map(str, files), "--out", str(out)]) == 0
    assert "4 recordings" in capsys.readouterr().out
    text = out.read_text(encoding="utf-8")
    folder = recording_path.parent.name
    assert f"slow/bend, fast/bend, {folder}/bend and {folder}/bend (2)" in text


def test_a_file_that_was_cut_off_is_reported_on_the_page(
    recording_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = recording_path.read_bytes()
    cut, stub = tmp_path / "cut.poise", tmp_path / "stub.poise"
    cut.write_bytes(data[: int(0.8 * len(data))])
    stub.write_bytes(data[:2500])
    out = tmp_path / "r.html"
    assert cli.main(["report", str(cut), str(stub), "--out", str(out)]) == 0
    text = out.read_text(encoding="utf-8")
    assert "cut: The file is truncated: this is its intact part" in text
    assert "stub: The file is truncated before its first sample." in text


def test_bad_input_is_named_in_one_line(
    recording_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "r.html"
    other = tmp_path / "other.poise"
    other.write_text("no recording")
    (tmp_path / "empty.poise").write_bytes(b"")
    assert "does not exist" in error_line(capsys, "report", tmp_path / "missing.poise", "--out", out)
    assert "is not a Poise recording" in error_line(capsys, "report", recording_path, other, "--out", out)
    assert "is empty" in error_line(capsys, "report", tmp_path / "empty.poise", "--out", out)
    assert "is a directory" in error_line(capsys, "report", tmp_path, "--out", out)
    assert "is a folder" in error_line(capsys, "report", recording_path, "--out", tmp_path)
    assert "there is no folder" in error_line(capsys, "report", recording_path, "--out", tmp_path / "none/r.html")
    assert "is one of the recordings" in error_line(capsys, "report", recording_path, "--out", recording_path)
    assert "required: --out" in error_line(capsys, "report", recording_path)
    assert "RECORDING" in error_line(capsys, "report", "--out", out)
    assert not out.exists()


def campaign(folder: Path, recording_path: Path) -> Path:
    """A campaign of four runs: a success, and failures with a stored, a damaged and a missing recording."""
    (folder / RECORDINGS_FOLDER).mkdir(parents=True)
    (folder / RECORDINGS_FOLDER / "kept.poise").write_bytes(recording_path.read_bytes())
    (folder / RECORDINGS_FOLDER / "broken.poise").write_text("no recording")
    files = ["", *(f"{RECORDINGS_FOLDER}/{name}.poise" for name in ("kept", "broken", "gone"))]
    parameters = {"friction": Column("number", "", "")}
    rows = [
        {"run": k, "seed": k, "outcome": "failed" if file else "succeeded", "succeeded": not file, "recording": file,
         "reason": "fell" if file else "", "friction": 0.1 * k} for k, file in enumerate(files)
    ]  # fmt: skip
    write_table(folder / RESULTS_FILE, build_table(rows, {**RUN_COLUMNS, **parameters}))
    facts = {"title": "Four", "planned": 5, "parameters": parameters, "columns": {}, "costs": COST_COLUMNS}
    write_json(folder / FACTS_FILE, facts)
    return folder


def test_a_campaign_becomes_a_page_with_replays_beside_it(
    recording_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, out = campaign(tmp_path / "runs", recording_path), tmp_path / "page.html"
    assert cli.main(["report", str(folder), "--out", str(out)]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith(f"{out}: 4 of 5 runs, 0.")
    assert printed.out.endswith("1 replay beside it\n")
    assert "replay 1 of 3: run 1" in printed.err
    text = out.read_text(encoding="utf-8")
    assert 'href="page_replays/000001.html"' in text
    assert 'href="runs/recordings/kept.poise"' in text
    assert (tmp_path / "page_replays/000001.html").is_file()
    assert "no replay: " in text
    assert "recording not found" in text
    assert cli.main(["report", str(folder / RESULTS_FILE), "--out", str(out)]) == 0


def test_a_campaign_stands_alone_on_its_page(
    recording_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, out = campaign(tmp_path / "runs", recording_path), tmp_path / "page.html"
    assert "recordings and a campaign" in error_line(capsys, "report", recording_path, folder, "--out", out)
    assert "several campaigns" in error_line(capsys, "report", folder, folder, "--out", out)
    assert "not that of a campaign" in error_line(capsys, "report", tmp_path, "--out", out)
    assert not out.exists()
