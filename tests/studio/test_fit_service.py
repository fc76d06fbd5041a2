"""Fits of the scene Human in their own process: valid and invalid files, timeouts and cancellation."""

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
from poise.studio import Hub
from poise.studio.fit_data import MANUAL, VARIANTS, FitRequest, UploadedFile
from poise.studio.fit_service import BUTTONS, FitProcess, FitService
from poise.studio.fit_worker import fit_and_reproduce
from poise.studio.scenes import find_scene
from robot_states import installed_robot
from shared_data import require_data
from waiting import wait_until

#: Damaged files and files that are no trials, if available.


def process_ended(number: int | None) -> bool:
    """Return whether the process with this id has ended."""
    try:
        os.kill(number or 0, 0)
    except ProcessLookupError:
        return True
    return False


# -- one job, with functions of this file that run in another process ------------------------------


def sleep_forever(connection: Connection, request: Any) -> None:
    connection.send(("progress", "sleeps", 0.5))
    time.sleep(600.0)


def abort_process(connection: Connection, request: Any) -> None:
    os.abort()


def refuse_request(connection: Connection, request: Any) -> None:
    connection.send(("refused", f"'{request}' is nothing"))


def test_an_error_in_the_process_is_the_error_of_its_job() -> None:
    ended: list[FitProcess] = []
    fit_process = FitProcess("it", ended.append, refuse_request)
    assert fit_process.wait() == "'it' is nothing"
    assert ended == [fit_process]
    assert fit_process.result is None
    assert process_ended(fit_process.pid)


def test_a_job_that_takes_too_long_is_ended() -> None:
    for timeout in (2.0, 4.0, 8.0, 16.0, 32.0, 64.0):  # independent of the start time of a process
        fit_process = FitProcess(None, lambda fit_process: None, sleep_forever, timeout=timeout)
        assert f"stopped after {timeout:g} s" in fit_process.wait()
        if fit_process.activity == "sleeps":
            break
    assert (fit_process.activity, fit_process.progress) == ("sleeps", 0.5)
    assert not fit_process.running
    assert process_ended(fit_process.pid)


def test_a_cancelled_job_ends_at_once() -> None:
    fit_process = FitProcess(None, lambda fit_process: None, sleep_forever)
    assert not process_ended(fit_process.pid)
    fit_process.cancel()
    assert "cancelled" in fit_process.wait()
    assert process_ended(fit_process.pid)


def test_a_crashed_process_is_an_error_in_one_line() -> None:
    error = FitProcess(None, lambda fit_process: None, abort_process).wait()
    assert "crashed" in error
    assert "\n" not in error


# -- results ---------------------------------------------------------------------------------------------------------


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


def test_a_result_has_the_angles_of_fit_and_reproduction(files: dict[str, bytes], tmp_path: Path) -> None:
    for name in ("walk", "static"):
        (tmp_path / f"{name}.trc").write_bytes(files[name])
    progress: list[tuple[str, float]] = []
    request = FitRequest(
        UploadedFile(tmp_path / "walk.trc", "my walk.trc"),
        UploadedFile(tmp_path / "static.trc", "me.trc"),
        1.68,
        61.0,
        "female",
    )
    result = fit_and_reproduce(request, lambda words, share: progress.append((words, share)))
    assert [share for _, share in progress] == sorted(share for _, share in progress)
    assert {words for words, _ in progress} == {
        "reading the file",
        "fitting the body",
        "tracking the markers",
        "reproducing the gait",
    }
    assert (result.shape.height, result.shape.mass, result.shape.sex) == (1.68, 61.0, "female")
    assert "'my walk.trc', with 'me.trc'" in result.summary[0]
    assert result.markers.shape[1] + result.unknown_markers.shape[1] == len(
        human.read_trial(tmp_path / "walk.trc").labels
    )
    assert result.heading == pytest.approx([1.0, 0.0, 0.0], abs=0.05)

    fitted = human.fitting.fit(  # type: ignore[attr-defined]
        human.read_trial(tmp_path / "walk.trc"),
        human.read_trial(tmp_path / "static.trc"),
        height=1.68,
        mass=61.0,
        sex="female",
    )
    page = result.as_json()
    assert len(page["curves"]) == 6
    assert [row["side"] for row in page["rows"]] == ["right"] * 6 + ["left"] * 6
    for variant in (gait.BEST, gait.PAPER, gait.TWO_PHASES):
        measures = gait.measure_reproduction(gait.reproduce(fitted, variant=variant))
        ranges, differences = zip(*(row["variants"][variant.name] for row in page["rows"]), strict=True)
        assert ranges == pytest.approx(measures.ranges, abs=0.06)
        assert differences == pytest.approx(measures.differences, abs=0.06)
        knee = next(curve for curve in page["curves"] if curve["title"] == "right knee")
        assert knee["variants"][variant.name] == pytest.approx(measures.curves[:, 3], abs=0.06)
        assert knee["measured"] == pytest.approx(measures.reference_curves[:, 3], abs=0.06)
        assert knee["norm"] == pytest.approx(np.degrees(normative_band("right_knee_flexion").mean), abs=0.06)


def test_the_controls_offer_the_computed_variants() -> None:
    assert set(VARIANTS) <= {variant.name for variant in gait.VARIANTS}
    controls = {control.name: control for control in find_scene("human")(installed_robot("human")).controls()}
    assert controls["variant"].options == VARIANTS  # type: ignore[attr-defined]
    assert all(controls[name].kind == "button" for name in BUTTONS)


def test_a_static_trial_is_shown_without_a_gait(files: dict[str, bytes], tmp_path: Path) -> None:
    (tmp_path / "a.trc").write_bytes(files["static"])
    result = fit_and_reproduce(FitRequest(UploadedFile(tmp_path / "a.trc", "a.trc")), lambda words, share: None)
    assert result.cycle is None
    assert result.reproductions == {}
    assert "no gait cycle is reproduced" in result.summary[-1]
    assert result.as_json()["rows"] == []


# -- fit service -----------------------------------------------------------------------------------------------------


class ServiceLog:
    """A fit service that records its messages and results."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.messages: list[tuple[str, str]] = []
        self.shown: list[Any] = []
        self.service = FitService(lambda *line: self.messages.append(line), self.shown.append, lambda: self.values)

    def wait_until(self, condition: Callable[[], Any]) -> None:
        wait_until(condition, progress=lambda: self.service._fit_process and self.service._fit_process.progress)


@pytest.fixture(scope="module")
def log() -> Iterator[ServiceLog]:
    log = ServiceLog()
    yield log
    log.service.close()


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("noise.c3d", bytes(np.random.default_rng(0).integers(0, 256, 9000, dtype=np.uint8)), "C3D"),
        ("noise.trc", bytes(np.random.default_rng(1).integers(0, 256, 9000, dtype=np.uint8)), "text"),
        ("empty.trc", b"", "is empty"),
        ("holiday.jpg", b"x", "expected a file that ends in .c3d or .trc"),
        ("../../etc/passwd.trc", b"PathFileType\t4\n", "TRC"),
        ("line\nfeed.trc", b"PathFileType\t4\n", "TRC"),
    ],
)
def test_a_file_that_is_no_trial_is_refused_in_one_line(log: ServiceLog, name: str, data: bytes, expected: str) -> None:
    error = log.service.upload("trial", name, data)
    assert expected in error
    assert "\n" not in error
    assert name.replace("\n", "?") in error
    assert str(log.service._folder) not in error
    assert log.service.jobs() == []
    assert list(log.service._folder.iterdir()) == []


def test_damaged_trials_are_refused_in_one_line(log: ServiceLog) -> None:
    for path in sorted(require_data("mocap/malformed").iterdir()):
        error = log.service.upload("trial", path.name, path.read_bytes())
        assert error.startswith(f"'{path.name}'")
        assert "\n" not in error


def test_a_trial_without_a_pelvis_is_refused_and_the_one_before_stays(log: ServiceLog, files: dict[str, bytes]) -> None:
    assert log.service.upload("trial", "walk.trc", files["walk"]) == ""
    assert log.shown[-1] is log.service.player
    assert log.service.result_data()["title"] == "walk.trc"
    error = log.service.upload("trial", "bare.trc", files["bare"])
    assert error.startswith("'bare.trc'")
    assert "pelvis" in error
    assert log.service.result_data()["title"] == "walk.trc"
    assert log.service.upload("static", "me.trc", files["static"]) == "", "of the trial that is still loaded"
    assert "'walk.trc', with 'me.trc'" in log.service.player.result.summary[0]
    assert len(list(log.service._folder.iterdir())) == 2


def test_a_new_fit_ends_the_one_before(files: dict[str, bytes]) -> None:
    log, answers = ServiceLog(), []
    waiting = threading.Thread(target=lambda: answers.append(log.service.upload("trial", "walk.trc", files["walk"])))
    waiting.start()
    log.wait_until(lambda: log.service._fit_process is not None)
    first = log.service._fit_process
    log.values = {"subject_source": MANUAL, "height": 1.6, "mass": 50.0, "sex": "female"}
    log.service.handle_button("sample")
    wait_until(lambda: answers, "the answer to the first upload")
    waiting.join()
    assert "cancelled" in answers[0]
    assert first is not None
    assert process_ended(first.pid)
    log.wait_until(lambda: log.shown)
    assert log.messages == []
    assert log.service.result_data()["title"] == "sample walk"
    assert log.service.player is not None
    assert (log.service.player.robot.mass, log.service.player.result.shape.sex) == (pytest.approx(50.0), "female")  # type: ignore[comparison-overlap]
    log.service.handle_button("refit")
    last = log.service._fit_process
    folder = log.service._folder
    log.service.close()
    assert last is not None
    assert process_ended(last.pid), "the fit ends with the scene"
    assert not folder.exists()
    assert len(log.shown) == 1
    assert "closed" in log.service.upload("trial", "walk.trc", files["walk"])


def test_unavailable_buttons_report_the_reason() -> None:
    log = ServiceLog()
    log.service.handle_button("refit")
    log.service.handle_button("refit_without_static")
    assert [kind for kind, _ in log.messages] == ["error", "info"]
    assert log.service._fit_process is None
    log.service.close()


def test_the_page_says_that_a_trial_is_being_fitted_not_that_there_is_none(tmp_path: Path) -> None:
    class Fitting:
        def jobs(self) -> list[dict[str, Any]]:
            return [{"name": "fit", "activity": "tracking the markers", "progress": 0.6, "seconds": 3.0}]

    hub = Hub("human", tmp_path, "human")
    try:
        hub._latest_frame = {"status_lines": ["No trial loaded: load one, or take the sample."]}
        assert (hub.frame() or {})["status_lines"] == ["No trial loaded: load one, or take the sample."]
        hub._fit_service = Fitting()  # type: ignore[assignment]
        assert (hub.frame() or {})["status_lines"] == ["The trial is being fitted: tracking the markers."]
    finally:
        hub._fit_service = None
        hub.stop()
