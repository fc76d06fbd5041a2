"""Local workers and Ray give the same results."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path

import psutil
import pytest
from drills import POISE, drill_spec, parse_spec, result_rows, results_table, write_spec

from poise.campaign import Results, run_campaign
from poise.errors import SpecError
from waiting import wait_for_exit, wait_until

needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="the package ray is not installed")

WALKS = """
kind = "walk"
seeds = 2
[fixed]
robot = "g1"
steps = 1
seconds = 1.2
[grid]
push.size = [0, 400]
[random]
friction = { uniform = [0.5, 0.9] }
push.time = { uniform = [0.2, 0.4] }
noise = { choice = [0.0, 0.01] }
"""


@pytest.fixture(scope="module")
def one_worker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("walks") / "out"
    run_campaign(parse_spec(WALKS), out, workers=1)
    return out


@pytest.mark.needs_models
def test_the_number_of_workers_changes_no_bit(one_worker: Path, tmp_path: Path) -> None:
    run_campaign(parse_spec(WALKS), tmp_path / "out", workers=2)
    assert results_table(tmp_path / "out").equals(results_table(one_worker))
    outcomes = {row["outcome"] for row in result_rows(one_worker)}
    assert outcomes == {"succeeded", "failed"}, "both kinds are to be compared"


@pytest.mark.needs_models
@needs_ray
def test_ray_changes_no_bit_and_collects_the_recordings(one_worker: Path, tmp_path: Path) -> None:
    run_campaign(parse_spec(WALKS), tmp_path / "out", ray="local")
    ours, theirs = results_table(one_worker), results_table(tmp_path / "out")
    assert theirs.schema.equals(ours.schema, check_metadata=True)
    assert theirs.equals(ours)
    recordings = [row["recording"] for row in result_rows(tmp_path / "out") if row["recording"]]
    assert recordings
    assert all((tmp_path / "out" / path).stat().st_size > 1000 for path in recordings)


@pytest.mark.needs_models
def test_the_command_of_a_row_reproduces_the_row(one_worker: Path) -> None:
    row = next(row for row in result_rows(one_worker) if row["outcome"] == "failed")
    words = [*POISE, *str(row["command"]).split()[1:], "--json"]
    result = json.loads(subprocess.run(words, capture_output=True, text=True, check=False).stdout)
    assert result["reason"] == row["reason"]
    assert result["distance_m"] == row["distance_m"]
    assert result["worst_tilt_deg"] == row["worst_tilt_deg"]


@pytest.mark.needs_models
def test_a_failure_keeps_its_recording(one_worker: Path) -> None:
    import poise

    row = next(row for row in result_rows(one_worker) if row["outcome"] == "failed")
    recording = poise.load_recording(one_worker / str(row["recording"]))
    assert recording.duration == pytest.approx(row["motion_seconds"])
    assert [row["recording"] for row in result_rows(one_worker) if row["outcome"] == "succeeded"] == [None] * sum(
        row["succeeded"] for row in result_rows(one_worker)
    )


@needs_ray
@pytest.mark.slow
def test_errors_have_the_same_messages_on_ray(tmp_path: Path) -> None:
    actions = '["nothing", "raise", "crash", "hang"]'
    spec = parse_spec(drill_spec(actions, 1, "[limits]\nseconds = 5"))
    run_campaign(spec, tmp_path / "here", workers=2)
    run_campaign(spec, tmp_path / "there", ray="local")
    assert results_table(tmp_path / "there").equals(results_table(tmp_path / "here"))


@needs_ray
@pytest.mark.slow
def test_a_worker_of_ray_that_is_killed_is_replaced_and_its_run_begun_again(tmp_path: Path) -> None:
    text = drill_spec('["sleep"]', 6, "[fixed]\nseconds = 1.0")
    command = [*POISE, "campaign", str(write_spec(text, tmp_path)), "--out", str(tmp_path / "out"), "--ray", "local"]
    temporary = tmp_path / "temporary"  # a separate folder: other processes have files in the default one
    temporary.mkdir()
    folders = {"TMPDIR": str(temporary), "RAY_TMPDIR": tempfile.gettempdir()}  # sockets of Ray need a short path
    process = subprocess.Popen(
        [*command, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **folders}
    )

    def busy_ray_worker() -> int | None:
        """A worker of Ray whose run has begun."""
        for each in psutil.Process(process.pid).children(recursive=True):
            try:
                works = any("poise.campaign.worker" in word for child in each.children() for word in child.cmdline())
                if works and each.cmdline()[:1] and each.cmdline()[0].startswith("ray::"):
                    return each.pid
            except psutil.Error:  # ended meanwhile
                continue
        return None

    os.kill(wait_until(busy_ray_worker, "a run on Ray", pause=0.05), signal.SIGKILL)
    printed, errors = wait_for_exit(process)
    assert process.returncode == 0, errors
    assert json.loads(printed)["outcomes"] == {"succeeded": 6}  # messages of Ray are not part of our output
    assert list(temporary.iterdir()) == []
    assert not (tmp_path / "out/.work").exists()
    assert [row["outcome"] for row in result_rows(tmp_path / "out")] == ["succeeded"] * 6


@needs_ray
def test_an_address_without_ray_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"there is no Ray at '127\.0\.0\.1:1'") as error:
        run_campaign(parse_spec(drill_spec()), tmp_path / "out", ray="127.0.0.1:1")
    assert "\n" not in str(error.value)


def test_the_memory_of_each_worker_is_reported(tmp_path: Path) -> None:
    run_campaign(parse_spec(drill_spec(seeds=4)), tmp_path / "out", workers=2)
    memory = Results.load(tmp_path / "out").facts["worker_memory_mb"]
    assert set(memory) <= {"worker 1", "worker 2"}
    assert all(20.0 < value < 2000.0 for value in memory.values())
