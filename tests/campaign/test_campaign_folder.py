"""Recordings stored by a campaign: those of failed and crashed runs, up to the given number."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import threading
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from drills import POISE, drill_spec, parse_spec, result_rows, results_table, write_spec

import poise
from poise.campaign import Results, kinds, run_campaign
from poise.campaign.folder import open_folder
from poise.campaign.supervisor import RunResult
from poise.errors import SpecError
from waiting import wait_for_exit, wait_until

ENDLESS = """
kind = "stand"
[fixed]
robot = "nao"
seconds = 36000
[limits]
seconds = {limit}
"""


def wait_for_recording(out: Path, size: int) -> None:
    """Wait until a run has recorded a number of bytes."""

    def scratch_size() -> float:
        return max([path.stat().st_size for path in out.glob(".work/*.poise")], default=0)

    wait_until(lambda: scratch_size() > size, f"{size} bytes of a recording", scratch_size)


def check_partial_recording(out: Path, outcome: str) -> None:
    (row,) = result_rows(out)
    assert row["outcome"] == outcome
    left = poise.load_recording(out / str(row["recording"]), poise.load_robot("nao"))
    assert not left.complete
    assert left.duration > 0.2
    assert left.state(left.samples - 1).center_of_mass[2] > 0.1


def test_a_crashed_run_leaves_a_partial_recording(tmp_path: Path) -> None:
    spec, out = write_spec(ENDLESS.format(limit=300), tmp_path), tmp_path / "out"
    command = [*POISE, "campaign", str(spec), "--out", str(out), "--workers", "1"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for_recording(out, 1_000_000)
    (worker,) = psutil.Process(process.pid).children()
    os.kill(worker.pid, signal.SIGABRT)
    wait_for_exit(process)
    assert process.returncode == 1
    check_partial_recording(out, "crashed")


def test_a_timed_out_run_leaves_a_partial_recording(tmp_path: Path) -> None:
    for limit in (4, 8, 16, 32, 64):  # independent of the loading time of the robot
        out = tmp_path / f"{limit}"
        run_campaign(parse_spec(ENDLESS.format(limit=limit)), out, workers=1)
        (row,) = result_rows(out)
        assert (row["outcome"], row["reason"]) == ("timeout", f"took longer than {limit} s")
        if row["recording"] and poise.load_recording(out / str(row["recording"])).duration > 0.2:
            break
    check_partial_recording(out, "timeout")


def test_a_successful_run_leaves_no_recording_unless_all_are_stored(tmp_path: Path) -> None:
    text = 'kind = "stand"\n[fixed]\nrobot = "nao"\nseconds = 0.1\n[keep]\nrecordings = "{}"'
    for keep, recording in (("failures", None), ("none", None), ("all", "recordings/000000.poise")):
        out = tmp_path / keep
        run_campaign(parse_spec(text.format(keep)), out, workers=1)
        (row,) = result_rows(out)
        assert (row["outcome"], row["recording"]) == ("succeeded", recording)
        assert [str(path.relative_to(out)) for path in (out / "recordings").iterdir()] == (
            [recording] if recording else []
        )
        assert not (out / ".work").exists()
    assert poise.load_recording(tmp_path / "all/recordings/000000.poise").complete


def test_a_recording_that_cannot_be_written_does_not_fail_the_motion(tmp_path: Path) -> None:
    kind = kinds.find_run_kind("stand")
    parameters = kind.check_parameters({"robot": "nao", "seconds": 0.1}, tmp_path)
    here = kind.run(parameters, 3, tmp_path / "along.poise")
    nowhere = kind.run(parameters, 3, tmp_path / "there is no such folder/along.poise")
    assert nowhere.reason == here.reason == ""
    assert nowhere.values == here.values


@pytest.mark.parametrize("order", list(itertools.permutations(range(4)))[::5])
def test_the_worst_failures_are_stored_in_any_order_of_completion(order: tuple[int, ...], tmp_path: Path) -> None:
    text = 'kind = "walk"\nseeds = 4\n[fixed]\nrobot = "nao"\n[keep]\nmax_recordings = 2\n'
    moved = [2.0, None, 0.5, 1.0]
    with open_folder(tmp_path / "out", parse_spec(text), {}) as folder:
        for k in order:
            file = folder.scratch / f"{k}.poise"
            file.write_text("a recording")
            folder.add(folder.spec.runs[k], RunResult("failed", "fell", {"motion_seconds": moved[k]}, file=str(file)))
            stored = {row["run"] for row in Results.load(tmp_path / "out").table.to_pylist() if row["recording"]}
            assert {int(path.stem) for path in (tmp_path / "out/recordings").iterdir()} == stored
        folder.finish()
    assert [bool(row["recording"]) for row in result_rows(tmp_path / "out")] == [False, False, True, True]


def test_the_stored_recordings_do_not_depend_on_workers_or_interruptions(tmp_path: Path) -> None:
    spec = parse_spec(drill_spec(seeds=12, more="[keep]\nrecordings = 'all'\nmax_recordings = 3"))
    one = run_campaign(spec, tmp_path / "one", workers=1)
    two = run_campaign(spec, tmp_path / "two", workers=2)
    assert two.table.equals(one.table)
    stopped, enough = tmp_path / "stopped", threading.Event()

    def stop(done: int, failed: int) -> None:
        if done == 7 and not enough.is_set():
            enough.set()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_campaign(spec, stopped, workers=2, progress=stop)
    run_campaign(spec, stopped, workers=2)
    assert results_table(stopped).equals(one.table)
    for out in ("one", "two", "stopped"):
        assert sorted(path.stem for path in (tmp_path / out / "recordings").iterdir()) == ["000000", "000001", "000002"]


def test_another_number_of_stored_recordings_is_another_campaign() -> None:
    spec = parse_spec(drill_spec())
    assert replace(spec, max_recordings=5).plan_digest != spec.plan_digest


@pytest.mark.parametrize("value", ["0", "-3", "1.5", "true", '"many"'])
def test_an_invalid_number_of_recordings_is_refused(value: str) -> None:
    with pytest.raises(SpecError, match=r"keep\.max_recordings: .* 1 or more"):
        parse_spec(drill_spec(more=f"[keep]\nmax_recordings = {value}"))
