"""Campaigns and runs that are killed, crash, hang or need too much memory: every run has exactly one row."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pyarrow.parquet
import pytest
from drills import POISE, campaign_command, drill_spec, parse_spec, result_rows, results_table, write_spec

from poise.campaign import Results, Spec, run_campaign
from poise.campaign.folder import open_folder
from poise.campaign.storage import Journal, read_journal
from poise.cli import main
from poise.errors import SpecError
from waiting import enable_ctrl_c, wait_for_exit, wait_until

SLEEPERS = drill_spec('["sleep"]', 40, "[fixed]\nseconds = 0.05\nx = 1.5")


def start_campaign(spec: Path, out: Path) -> subprocess.Popen[bytes]:
    command = [*POISE, "campaign", str(spec), "--out", str(out), "--workers", "2"]
    null = subprocess.DEVNULL
    return subprocess.Popen(command, stdout=null, stderr=null, preexec_fn=enable_ctrl_c)


def wait_for_runs(out: Path, count: int) -> None:
    """Wait until a number of runs are finished."""

    def done() -> float:
        return len(read_journal(out / "journal.jsonl"))

    wait_until(lambda: done() >= count, f"{count} runs", done, pause=0.005)


def all_ended(processes: list[psutil.Process]) -> bool:
    return not any(each.is_running() for each in processes)


def test_a_campaign_killed_repeatedly_loses_and_repeats_no_run(tmp_path: Path) -> None:
    spec, out = write_spec(SLEEPERS, tmp_path), tmp_path / "out"
    finished: dict[int, str] = {}
    for count in (1, 20):
        process = start_campaign(spec, out)
        wait_for_runs(out, count)
        workers = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGKILL)
        process.wait()
        lines = {entry["run"]: json.dumps(entry) for entry in read_journal(out / "journal.jsonl")}
        assert count <= len(lines) < 40
        assert {run: lines[run] for run in finished} == finished  # finished runs do not change
        finished = lines
        assert len(workers) >= 1
        wait_until(partial(all_ended, workers), "the end of all workers")
    result = campaign_command(spec, "--out", out, "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["runs"] == 40
    assert [row["run"] for row in result_rows(out)] == list(range(40))
    assert Results.load(out).costs["attempts"].to_pylist() == [1] * 40
    assert not (out / "journal.jsonl").exists()
    whole = tmp_path / "whole"
    run_campaign(parse_spec(SLEEPERS), whole, workers=1)
    assert results_table(whole).equals(results_table(out))


@pytest.mark.parametrize("first", ["mkdir", "flock", "json"])
def test_a_campaign_killed_before_its_first_run_starts_again(
    first: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For any files that the folder already contains."""
    import fcntl

    from poise.campaign import folder

    class SimulatedKill(BaseException):
        pass

    def raise_kill(*_: object, **__: Any) -> None:
        raise SimulatedKill

    spec, out = parse_spec(drill_spec()), tmp_path / "out"
    with monkeypatch.context() as patch:
        if first == "mkdir":
            patch.setattr(folder, "_lock_folder", raise_kill)
        elif first == "flock":
            patch.setattr(fcntl, "flock", raise_kill)
        else:
            patch.setattr(folder, "write_json", raise_kill)
        with pytest.raises(SimulatedKill):
            run_campaign(spec, out, workers=1)
    assert out.is_dir()
    assert len(run_campaign(spec, out, workers=1)) == 3


def test_a_finished_campaign_is_not_run_again(tmp_path: Path) -> None:
    spec, out = parse_spec(drill_spec()), tmp_path / "out"
    before, after = run_campaign(spec, out, workers=1), run_campaign(spec, out, workers=1)
    assert after.costs.equals(before.costs)
    assert after.table.equals(before.table)
    for other in ({"workers": 2}, {"ray": "local"}):
        assert run_campaign(spec, out, **other).facts == before.facts  # not run again


def test_every_failure_of_a_run_is_one_row_with_its_reason(tmp_path: Path) -> None:
    actions = ["nothing", "fail", "raise", "crash", "exit", "memory", "chatter"]
    text = drill_spec(json.dumps(actions), 1, "[limits]\nseconds = 240\nmemory_mb = 900\n[keep]\nrecordings = 'all'")
    run_campaign(parse_spec(text), tmp_path / "out", workers=2)
    found = {row["action"]: row for row in result_rows(tmp_path / "out")}
    assert list(found) == actions
    expected = {
        "nothing": ("succeeded", None),
        "chatter": ("succeeded", None),
        "fail": ("failed", "the drill fails on purpose"),
        "crash": ("crashed", "its process died of signal 6 (SIGABRT)"),
        "exit": ("crashed", "its process ended with status 3"),
        "memory": ("memory", "needed more than 900 MB of memory"),
    }
    for action, (outcome, reason) in expected.items():
        assert (found[action]["outcome"], found[action]["reason"]) == (outcome, reason)
    assert found["raise"]["outcome"] == "error"
    assert found["raise"]["reason"].startswith(
        "ZeroDivisionError: the drill raises on purpose (poise/campaign/kinds/kind.py:"
    )
    assert "Abort" in (tmp_path / "out/crashes.log").read_text()
    recorded_actions = [row["action"] for row in found.values() if row["recording"]]
    assert recorded_actions == ["nothing", "chatter"]
    assert all((tmp_path / "out" / str(found[action]["recording"])).is_file() for action in recorded_actions)


def test_runs_that_hang_are_ended_and_the_next_one_begins(tmp_path: Path) -> None:
    text = drill_spec('["hang"]', 2, "[limits]\nseconds = 1\n[keep]\nrecordings = 'all'")
    run_campaign(parse_spec(text), tmp_path / "out", workers=1)
    outcomes = [(row["outcome"], row["reason"], row["recording"]) for row in result_rows(tmp_path / "out")]
    assert outcomes == [("timeout", "took longer than 1 s", None)] * 2


def test_a_run_is_repeated_if_its_worker_is_killed_from_outside(tmp_path: Path) -> None:
    text = drill_spec('["sleep"]', 1, "[fixed]\nseconds = 2.0")
    process = start_campaign(write_spec(text, tmp_path), tmp_path / "out")
    used: list[tuple[int, float]] = []  # a worker that sleeps uses no time

    def sleeping_worker() -> int | None:
        for child in psutil.Process(process.pid).children():
            used.append((child.pid, sum(child.cpu_times()[:2])))
        return used[-1][0] if len(used) > 8 and used[-1][1] > 0.1 and len(set(used[-8:])) == 1 else None

    os.kill(wait_until(sleeping_worker, "a worker that sleeps", pause=0.05), signal.SIGKILL)
    wait_for_exit(process)
    assert process.returncode == 0
    assert result_rows(tmp_path / "out")[0]["outcome"] == "succeeded"
    assert Results.load(tmp_path / "out").costs["attempts"].to_pylist() in ([1], [2])  # 1: it had only just started


def test_ctrl_c_preserves_finished_runs_and_the_same_command_continues(tmp_path: Path) -> None:
    spec, out = write_spec(SLEEPERS, tmp_path), tmp_path / "out"
    process = start_campaign(spec, out)
    wait_for_runs(out, 3)
    process.send_signal(signal.SIGINT)
    wait_for_exit(process)
    assert process.returncode == 130
    partial = Results.load(out)
    assert 3 <= len(partial) < 40
    assert partial.planned_runs == 40
    assert not partial.finished
    assert campaign_command(spec, "--out", out).returncode == 0
    assert Results.load(out).finished


def test_files_in_the_working_folder_are_not_imported_as_modules(tmp_path: Path) -> None:
    (tmp_path / "random.py").write_text("print('not a random number')\nraise SystemExit('mine')\n")
    command = [
        sys.executable,
        "-P",
        "-m",
        "poise",
        "campaign",
        str(write_spec(drill_spec(), tmp_path)),
        "--out",
        "out",
        "--json",
    ]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["runs"] == 3


def test_a_file_name_that_is_not_utf_8_gives_one_ordinary_row(tmp_path: Path) -> None:
    (tmp_path / "trials").mkdir()
    (Path(os.fsdecode(os.fsencode(tmp_path / "trials") + b"/b\xffd.c3d"))).write_bytes(b"nothing")
    text = 'kind = "human fit"\n[fixed]\nfolder = "trials"\n'
    run_campaign(Spec.parse(text, str(tmp_path / "people.toml")), tmp_path / "out", workers=1)
    (row,) = result_rows(tmp_path / "out")
    assert row["outcome"] == "failed"
    assert row["trial"].endswith("b\\udcffd.c3d")


def test_a_closed_standard_output_does_not_fail_a_run(tmp_path: Path) -> None:
    command = [*POISE, "campaign", str(write_spec(drill_spec(), tmp_path)), "--out", str(tmp_path / "out")]
    result = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", *command], stderr=subprocess.PIPE, check=False)
    assert result.returncode == 0
    assert b"Traceback" not in result.stderr


def test_a_foreign_table_is_refused_in_one_line(tmp_path: Path) -> None:
    run_campaign(parse_spec(drill_spec()), tmp_path / "out", workers=1)
    pyarrow.parquet.write_table(pyarrow.table({"a": [1]}), tmp_path / "out/results.parquet")
    with pytest.raises(SpecError, match="is not the table of a campaign"):
        Results.load(tmp_path / "out")


def test_a_torn_line_of_the_journal_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        for run in range(3):
            journal.add({"run": run, "row": {"run": run}, "cost": {}})
    whole = path.read_bytes()
    for cut in range(1, len(whole) - len(whole.splitlines(keepends=True)[-1]), 7):
        path.write_bytes(whole[:-cut])
        with Journal(path) as journal:
            count = len(journal.entries)
            journal.add({"run": 7, "row": {}, "cost": {}})
        found = [entry["run"] for entry in read_journal(path)]
        assert found == [*range(count), 7]


def test_two_processes_do_not_run_one_campaign(tmp_path: Path) -> None:
    spec = parse_spec(drill_spec())
    with open_folder(tmp_path / "out", spec, {}), pytest.raises(SpecError, match="another process runs this campaign"):
        run_campaign(spec, tmp_path / "out")
    assert len(run_campaign(spec, tmp_path / "out", workers=1)) == 3  # the lock is gone with its owner


def test_a_foreign_folder_is_not_changed(tmp_path: Path) -> None:
    run_campaign(parse_spec(drill_spec()), tmp_path / "out")
    before = results_table(tmp_path / "out")
    with pytest.raises(SpecError, match="another campaign"):
        run_campaign(parse_spec(drill_spec(seeds=4)), tmp_path / "out")
    assert results_table(tmp_path / "out").equals(before)
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos/cat.png").write_bytes(b"cat")
    with pytest.raises(SpecError, match="holds other files"):
        run_campaign(parse_spec(drill_spec()), tmp_path / "photos")
    assert [path.name for path in (tmp_path / "photos").iterdir()] == ["cat.png"]
    (tmp_path / "tapes/recordings").mkdir(parents=True)
    (tmp_path / "tapes/recordings/000001.poise").write_bytes(b"mine")
    with pytest.raises(SpecError, match="holds other files"):
        run_campaign(parse_spec(drill_spec()), tmp_path / "tapes")
    with Journal(tmp_path / "out/journal.jsonl") as journal:  # of an unknown campaign
        journal.add({"run": 0, "row": {"run": 0}, "cost": {"run": 0}})
    for name in ("campaign.json", "campaign.toml", "results.parquet", "costs.parquet"):
        (tmp_path / "out" / name).unlink()
    with pytest.raises(SpecError, match="holds other files"):
        run_campaign(parse_spec(drill_spec()), tmp_path / "out")
    with pytest.raises(SpecError, match="is a file"):
        run_campaign(parse_spec(drill_spec()), tmp_path / "photos/cat.png")


@pytest.mark.parametrize(("minimum", "status"), [(0.5, 0), (0.51, 1)])
def test_a_success_rate_below_the_minimum_is_a_failure(
    minimum: float, status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = write_spec(drill_spec('["nothing", "fail"]', 2, f"min_success_rate = {minimum}"), tmp_path)
    assert main(["campaign", str(spec), "--out", str(tmp_path / "out"), "--workers", "1"]) == status
    assert ("below the minimum" in capsys.readouterr().out) == bool(status)


@pytest.mark.parametrize(("minimum", "status"), [("", 1), ("min_success_rate = 0.0", 0)])
def test_without_a_minimum_at_least_one_run_must_succeed(minimum: str, status: int, tmp_path: Path) -> None:
    spec = write_spec(drill_spec('["fail"]', 2, minimum), tmp_path)
    assert main(["campaign", str(spec), "--out", str(tmp_path / "out"), "--workers", "1"]) == status


@pytest.mark.parametrize(
    ("arguments", "evidence"),
    [
        (["missing.toml", "--out", "out"], "'missing.toml' cannot be read"),
        (["drill.toml"], "--out"),
        (["drill.toml", "--out", "out", "--workers", "0"], "'0' is invalid; expected a whole number, 1 or more"),
        (["drill.toml", "--out", "out", "--workers", "2", "--ray", "local"], "not allowed with"),
        (["drill.toml", "--out", "drill.toml"], "is a file"),
    ],
)
def test_bad_input_is_one_line_and_status_2(
    arguments: list[str],
    evidence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    write_spec(drill_spec(), tmp_path)
    assert main(["campaign", *arguments]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert evidence in output.err
    assert len(output.err.splitlines()) == 1
