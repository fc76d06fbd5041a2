"""Fits of the scene Human in their own process: good and bad files, and what happens to those that take too long."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from poise import human
from poise.analysis import normative_band
from poise.human import gait, sample_trial
from poise.studio.fit_data import GIVEN, VARIANTS, File, Order
from poise.studio.fit_service import BUTTONS, Desk, Job
from poise.studio.fit_worker import made
from poise.studio.scenes import scene
from robot_states import robot_of
from shared_data import needed
from waiting import until

#: Files that are no trials, or damaged ones, where there are any.


def gone(number: int | None) -> bool:
    """Whether no process has this number any more."""
    try:
        os.kill(number or 0, 0)
    except ProcessLookupError:
        return True
    return False


# -- one job, with work that a test has made up: these functions run in another process ------------------------------


def sleeps(wire: Connection, order: Any) -> None:
    wire.send(("progress", "sleeps", 0.5))
    time.sleep(600.0)


def dies(wire: Connection, order: Any) -> None:
    os.abort()


def refuses(wire: Connection, order: Any) -> None:
    wire.send(("refused", f"'{order}' is nothing"))


def test_what_a_process_refuses_is_the_error_of_its_job() -> None:
    ended: list[Job] = []
    job = Job("it", ended.append, refuses)
    assert job.wait() == "'it' is nothing"
    assert ended == [job]
    assert job.exhibit is None
    assert gone(job.number)


def test_a_job_that_takes_too_long_is_ended() -> None:
    for longest in (2.0, 4.0, 8.0, 16.0, 32.0, 64.0):  # however long a process takes to begin
        job = Job(None, lambda job: None, sleeps, longest=longest)
        assert f"longer than {longest:g} s" in job.wait()
        if job.words == "sleeps":
            break
    assert (job.words, job.share) == ("sleeps", 0.5)
    assert not job.running
    assert gone(job.number)


def test_a_job_that_is_given_up_is_ended_at_once() -> None:
    job = Job(None, lambda job: None, sleeps)
    assert not gone(job.number)
    job.stop()
    assert "given up" in job.wait()
    assert gone(job.number)


def test_a_reader_that_breaks_down_is_an_error_in_one_line() -> None:
    error = Job(None, lambda job: None, dies).wait()
    assert "broke down" in error
    assert "\n" not in error


# -- what is made ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """A walk, the same person standing, and the walk without the pelvis, as TRC files."""
    folder = tmp_path_factory.mktemp("trials")
    walk, static = sample_trial(1.68, 61.0, "female", cycles=2)
    legs = [k for k, label in enumerate(walk.labels) if "ASIS" not in label.upper() and "PSIS" not in label.upper()]
    bare = walk.replace(labels=tuple(walk.labels[k] for k in legs), positions=walk.positions[:, legs])
    assert len(legs) == len(walk.labels) - 4
    for name, trial in {"walk": walk, "static": static, "bare": bare}.items():
        human.write_trc(trial, folder / name)
    return {name: (folder / name).read_bytes() for name in ("walk", "static", "bare")}


def test_an_exhibit_has_the_angles_of_fit_and_reproduction(files: dict[str, bytes], tmp_path: Path) -> None:
    for name in ("walk", "static"):
        (tmp_path / f"{name}.trc").write_bytes(files[name])
    told: list[tuple[str, float]] = []
    order = Order(
        File(tmp_path / "walk.trc", "my walk.trc"), File(tmp_path / "static.trc", "me.trc"), 1.68, 61.0, "female"
    )
    exhibit = made(order, lambda words, share: told.append((words, share)))
    assert [share for _, share in told] == sorted(share for _, share in told)
    assert {"reads", "fits the body", "follows the markers", "reproduces the gait"} == {words for words, _ in told}
    assert (exhibit.shape.height, exhibit.shape.mass, exhibit.shape.sex) == (1.68, 61.0, "female")
    assert "'my walk.trc', with 'me.trc'" in exhibit.words[0]
    assert exhibit.markers.shape[1] + exhibit.others.shape[1] == len(human.read_trial(tmp_path / "walk.trc").labels)
    assert exhibit.heading == pytest.approx([1.0, 0.0, 0.0], abs=0.05)

    fitted = human.fitting.fit(  # type: ignore[attr-defined]
        human.read_trial(tmp_path / "walk.trc"),
        human.read_trial(tmp_path / "static.trc"),
        height=1.68,
        mass=61.0,
        sex="female",
    )
    page = exhibit.as_json()
    assert len(page["curves"]) == 6
    assert [row["side"] for row in page["rows"]] == ["right"] * 6 + ["left"] * 6
    for variant in (gait.BEST, gait.PAPER, gait.TWO_PHASES):
        measures = gait.measured(gait.reproduce(fitted, variant=variant))
        ranges, differences = zip(*(row["variants"][variant.name] for row in page["rows"]), strict=True)
        assert ranges == pytest.approx(measures.ranges, abs=0.06)
        assert differences == pytest.approx(measures.differences, abs=0.06)
        knee = next(curve for curve in page["curves"] if curve["title"] == "right knee")
        assert knee["variants"][variant.name] == pytest.approx(measures.curves[:, 3], abs=0.06)
        assert knee["measured"] == pytest.approx(measures.reference_curves[:, 3], abs=0.06)
        assert knee["norm"] == pytest.approx(np.degrees(normative_band("right_knee_flexion").mean), abs=0.06)


def test_what_can_be_chosen_is_what_is_made() -> None:
    assert set(VARIANTS) <= {variant.name for variant in gait.VARIANTS}
    controls = {control.name: control for control in scene("human")(robot_of("human")).controls()}
    assert controls["variant"].options == VARIANTS  # type: ignore[attr-defined]
    assert all(controls[name].kind == "button" for name in BUTTONS)


def test_somebody_who_stands_is_shown_without_a_gait(files: dict[str, bytes], tmp_path: Path) -> None:
    (tmp_path / "a.trc").write_bytes(files["static"])
    exhibit = made(Order(File(tmp_path / "a.trc", "a.trc")), lambda words, share: None)
    assert exhibit.cycle is None
    assert exhibit.reproduced == {}
    assert "nothing is reproduced" in exhibit.words[-1]
    assert exhibit.as_json()["rows"] == []


# -- the desk --------------------------------------------------------------------------------------------------------


class Heard:
    """A desk, and what it said and showed."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.said: list[tuple[str, str]] = []
        self.shown: list[Any] = []
        self.desk = Desk(lambda *line: self.said.append(line), self.shown.append, lambda: self.values)

    def until(self, condition: Callable[[], Any]) -> None:
        until(condition, progress=lambda: self.desk._job and self.desk._job.share)


@pytest.fixture(scope="module")
def heard() -> Iterator[Heard]:
    heard = Heard()
    yield heard
    heard.desk.close()


@pytest.mark.parametrize(
    ("name", "data", "complaint"),
    [
        ("noise.c3d", bytes(np.random.default_rng(0).integers(0, 256, 9000, dtype=np.uint8)), "C3D"),
        ("noise.trc", bytes(np.random.default_rng(1).integers(0, 256, 9000, dtype=np.uint8)), "text"),
        ("empty.trc", b"", "is empty"),
        ("holiday.jpg", b"x", "expected a file that ends in .c3d or .trc"),
        ("../../etc/passwd.trc", b"PathFileType\t4\n", "TRC"),
        ("line\nfeed.trc", b"PathFileType\t4\n", "TRC"),
    ],
)
def test_a_file_that_is_no_trial_is_refused_in_one_line(heard: Heard, name: str, data: bytes, complaint: str) -> None:
    error = heard.desk.upload("trial", name, data)
    assert complaint in error
    assert "\n" not in error
    assert name.replace("\n", "?") in error
    assert str(heard.desk._folder) not in error
    assert not heard.desk.frame()["busy"]
    assert list(heard.desk._folder.iterdir()) == []


def test_damaged_trials_are_refused_in_one_line(heard: Heard) -> None:
    for path in sorted(needed("mocap/malformed").iterdir()):
        error = heard.desk.upload("trial", path.name, path.read_bytes())
        assert error.startswith(f"'{path.name}'")
        assert "\n" not in error


def test_a_trial_without_a_pelvis_is_refused_and_the_one_before_stays(heard: Heard, files: dict[str, bytes]) -> None:
    assert heard.desk.upload("trial", "walk.trc", files["walk"]) == ""
    assert heard.shown[-1] is heard.desk.playback
    assert heard.desk.hello()["title"] == "walk.trc"
    error = heard.desk.upload("trial", "bare.trc", files["bare"])
    assert error.startswith("'bare.trc'")
    assert "pelvis" in error
    assert heard.desk.hello()["title"] == "walk.trc"
    assert heard.desk.upload("static", "me.trc", files["static"]) == "", "for the trial that is still there"
    assert "'walk.trc', with 'me.trc'" in heard.desk.playback.exhibit.words[0]
    assert len(list(heard.desk._folder.iterdir())) == 2


def test_a_new_fit_ends_the_one_before(files: dict[str, bytes]) -> None:
    heard, answers = Heard(), []
    waiting = threading.Thread(target=lambda: answers.append(heard.desk.upload("trial", "walk.trc", files["walk"])))
    waiting.start()
    heard.until(lambda: heard.desk._job is not None)
    first = heard.desk._job
    heard.values = {"person": GIVEN, "height": 1.6, "mass": 50.0, "sex": "female"}
    heard.desk.press("sample")
    until(lambda: answers, "the answer to the first upload")
    waiting.join()
    assert "given up" in answers[0]
    assert first is not None
    assert gone(first.number)
    heard.until(lambda: heard.shown)
    assert heard.said == []
    assert heard.desk.hello()["title"] == "sample walk"
    assert heard.desk.playback is not None
    assert (heard.desk.playback.robot.mass, heard.desk.playback.exhibit.shape.sex) == (pytest.approx(50.0), "female")  # type: ignore[comparison-overlap]
    heard.desk.press("again")
    last = heard.desk._job
    folder = heard.desk._folder
    heard.desk.close()
    assert last is not None
    assert gone(last.number), "who leaves the scene does not leave it behind"
    assert not folder.exists()
    assert len(heard.shown) == 1
    assert "left" in heard.desk.upload("trial", "walk.trc", files["walk"])


def test_buttons_say_what_they_cannot_do() -> None:
    heard = Heard()
    heard.desk.press("again")
    heard.desk.press("forget")
    assert [kind for kind, _ in heard.said] == ["error", "info"]
    assert heard.desk._job is None
    heard.desk.close()
