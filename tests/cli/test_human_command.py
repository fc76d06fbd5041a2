"""``poise human``: written files, output, and refusal of bad input."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import poise
from command_line import error_line
from poise import cli, human
from poise.human import sample_trial, write_sample

Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module", autouse=True)
def without_graphics() -> Iterator[None]:
    """Disable pictures, which take seconds; pictures of reports have their own tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MUJOCO_GL", "off")
        yield


@pytest.fixture(scope="module")
def sample_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sample walk with its static trial."""
    place = tmp_path_factory.mktemp("people")
    assert cli.main(["human", "sample", str(place), "--cycles", "2", "--seed", "3"]) == 0
    return place


def run_json(capsys: Captured, *arguments: object, status: int = 0) -> dict[str, Any]:
    assert cli.main(["human", *map(str, arguments), "--json"]) == status
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_a_sample_is_written_in_both_file_formats_and_read_back_unchanged(tmp_path: Path) -> None:
    walk, static = sample_trial(cycles=1)
    write_sample(tmp_path / "new", walk, static)
    for name in ("walk.c3d", "walk.trc"):
        again = human.read_trial(tmp_path / "new" / name)
        assert again.labels == walk.labels
        assert again.positions == pytest.approx(walk.positions, abs=1e-6)
    c3d = human.read_trial(tmp_path / "new" / "walk.c3d")
    assert [(round(e.time, 3), e.side, e.kind) for e in c3d.events] == [
        (round(e.time, 3), e.side, e.kind) for e in walk.events
    ]
    assert (c3d.subject.mass, c3d.subject.height) == (75.0, pytest.approx(1.77))  # type: ignore[comparison-overlap]
    for read, original in zip(c3d.plates, walk.plates, strict=True):
        loaded = original.force[:, 2] > 21.0  # forces below 20 N are set to zero
        assert read.force[loaded] == pytest.approx(original.force[loaded], abs=1e-2)
        assert read.center_of_pressure[loaded] == pytest.approx(original.center_of_pressure[loaded], abs=1e-5)
        assert read.free_moment[loaded] == pytest.approx(original.free_moment[loaded], abs=1e-3)


def test_fit_finds_the_static_trial_and_writes_the_requested_files(
    sample_folder: Path, tmp_path: Path, capsys: Captured
) -> None:
    out, mot = tmp_path / "fit.poise", tmp_path / "fit.mot"
    facts = run_json(capsys, "fit", sample_folder / "walk.c3d", "--out", out, "--mot", mot)
    assert facts["static"] == "static.c3d"
    assert facts["marker_set"] == "skin49"
    assert facts["marker_rms_mm"] < 12.0
    assert facts == human.fit_trial(sample_folder / "walk.c3d").summary(), "equal to the result of the Python API"
    assert poise.load_recording(out)["markers/distance"].shape[1] == 49
    motion = human.read_motion(mot)
    assert motion.in_degrees
    again = run_json(capsys, "fit", sample_folder / "walk.c3d", "--reference", mot)
    assert {row["joint"] for row in again["reference_angles"]} >= {"left_knee_flexion", "right_hip_flexion"}
    assert max(row["rms"] for row in again["reference_angles"]) < 0.01


def test_fit_prints_a_readable_summary(sample_folder: Path, capsys: Captured) -> None:
    assert cli.main(["human", "fit", str(sample_folder / "walk.trc")]) == 0
    text = capsys.readouterr().out
    assert "mm rms" in text
    assert "torsion" in text
    assert "6 Hz" in text


def test_a_folder_is_a_table_with_a_row_for_each_file(sample_folder: Path, tmp_path: Path, capsys: Captured) -> None:
    place = tmp_path / "many"
    place.mkdir()
    for name in ("walk.c3d", "static.c3d"):
        (place / name).write_bytes((sample_folder / name).read_bytes())
    (place / "bad.trc").write_text("nothing of the kind")
    table = tmp_path / "table.csv"
    facts = run_json(capsys, "fit", place, "--out", table)
    rows = {row["trial"]: row for row in facts["trials"]}
    assert set(rows) == {"walk.c3d", "bad.trc"}
    assert "bad.trc" in rows["bad.trc"]["reason"]
    with table.open(newline="") as stream:
        written = {row["trial"]: row for row in csv.DictReader(stream)}
    assert float(written["walk.c3d"]["marker_rms_mm"]) == pytest.approx(rows["walk.c3d"]["marker_rms_mm"], rel=1e-4)
    assert written["bad.trc"]["reason"]
    only = tmp_path / "only"
    only.mkdir()
    (only / "bad.trc").write_text("nothing of the kind")
    run_json(capsys, "fit", only, status=1)


def test_gait_reproduces_compares_and_writes_a_page(sample_folder: Path, tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / "study"
    facts = run_json(capsys, "gait", sample_folder / "walk.c3d", "--out", out, "--dynamics")
    best = facts["variants"]["best"]
    assert abs(best["worst_difference"]) < 5.0
    assert best["zmp_inside"]["worst"] > 0.8
    assert facts["variants"]["two phases"]["ranges_of_motion"]["right_knee_flexion"]["difference"] < -20.0
    assert facts["trials"][0]["walk"]["speed"] == pytest.approx(1.0, abs=0.2)
    names = {path.name for path in out.iterdir()}
    assert {"report.html", "study.json", "trials.csv", "walk_measured.poise", "walk_reproduced.poise"} <= names
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "equivalent" in page
    assert "Simulation with torques and contact forces" in page
    assert {"walk_torques.poise", "walk_physics.poise"} <= names
    moved = facts["trials"][0]["dynamics"]
    assert moved["fallbacks"] == {}
    assert moved["physics_distance_m"] > 0.8
    assert moved["friction_used"] <= moved["friction_limit"] + 1e-6


def test_gait_without_a_walk_fails_with_the_reason(tmp_path: Path, capsys: Captured) -> None:
    _, static = sample_trial(cycles=1)
    write_sample(tmp_path, static, static)
    facts = run_json(capsys, "gait", tmp_path / "walk.trc", status=1)
    assert "reason" in facts["trials"][0]


def test_torques_are_those_of_the_plates(sample_folder: Path, tmp_path: Path, capsys: Captured) -> None:
    out, page = tmp_path / "torques.poise", tmp_path / "torques.html"
    facts = run_json(capsys, "torques", sample_folder / "walk.c3d", "--out", out, "--report", page)
    assert facts["frames_known"] > 100
    assert 0.8 < facts["moments_per_kg"]["right ankle plantarflexor"]["largest"] < 2.0
    assert max(facts["residual_rms"]["force_n"]) < 60.0
    assert "torque" in " ".join(poise.load_recording(out).channels)
    assert page.stat().st_size > 10_000
    itself = run_json(capsys, "torques", sample_folder / "walk.c3d", "--compare-with", out)["comparison"]
    assert itself["rows"]["ankle dorsiflexion"]["correlation"] > 0.98
    assert itself["effort_overlap"] > 0.9


def test_two_reaches_of_the_human_are_compared_phase_by_phase(tmp_path: Path, capsys: Captured) -> None:
    files = []
    for mode in ("kinematic", "torque"):
        files.append(tmp_path / f"{mode}.poise")
        words = [
            "run",
            "reach",
            "--robot",
            "human",
            "--mode",
            mode,
            "--plant",
            "ideal",
            "--out",
            str(files[-1]),
            "--json",
        ]
        assert cli.main(words) == 0
        facts = json.loads(capsys.readouterr().out)
        assert max(facts["reach_errors_m"]) < 0.005
    facts = run_json(capsys, "compare", *files)
    assert {row["quantity"] for row in facts["phase_ends"]} >= {"left foot height"}
    assert all(value < 0.5 for value in facts["posture_distance_rad"].values())


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["fit", "nowhere.c3d"], "no such file"),
        (["fit"], "TRIAL"),
        (["fot", "x.c3d"], "fot"),
        (["fit", "x.c3d", "--height", "tall"], "tall"),
        (["fit", "x.c3d", "--sex", "robot"], "sex"),
        (["sample", "somewhere", "--noise", "7"], "noise"),
    ],
)
def test_bad_arguments_are_refused_in_one_line(words: list[str], expected: str, capsys: Captured) -> None:
    assert expected in error_line(capsys, "human", *words)


def test_bad_files_are_refused_in_one_line(sample_folder: Path, tmp_path: Path, capsys: Captured) -> None:
    noise = tmp_path / "noise.c3d"
    noise.write_bytes(bytes(range(256)) * 20)
    assert "noise.c3d" in error_line(capsys, "human", "fit", noise)
    walk = sample_folder / "walk.trc"
    assert "no folder" in error_line(capsys, "human", "fit", walk, "--out", tmp_path / "no" / "where.poise")
    assert "marker set" in error_line(capsys, "human", "fit", walk, "--marker-set", "plugin")
    assert "--mot" in error_line(capsys, "human", "fit", sample_folder, "--mot", tmp_path / "x.mot")
    alone = tmp_path / "alone.trc"
    alone.write_bytes(walk.read_bytes())
    assert "no force plates" in error_line(capsys, "human", "torques", alone)
    assert "no ground forces" in error_line(capsys, "human", "torques", walk, "--forces", walk)
    text = tmp_path / "list.txt"
    text.write_text("a")
    assert "folder" in error_line(capsys, "human", "gait", walk, "--out", text)
    assert "folder" in error_line(capsys, "human", "sample", text)
