"""The output folder: it lists its own files only, and exports appear when they are complete."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import poise
from poise import exports
from poise.errors import PoiseError
from poise.robots import library_names
from poise.studio.output_folder import OutputError, OutputFolder
from waiting import wait_until


class MessageLog(list[tuple[str, str]]):
    def __call__(self, kind: str, text: str) -> None:
        self.append((kind, text))


@pytest.fixture
def output(tmp_path: Path) -> Iterator[OutputFolder]:
    output = OutputFolder(tmp_path / "out")
    yield output
    output.stop()


@pytest.fixture(scope="module")
def walk_recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short recording of a library robot that needs no other package."""
    assert "nao" in library_names()
    robot = poise.load_robot("nao")
    start = robot.stance("standing")
    hierarchy = poise.Hierarchy(levels=[poise.Level("posture", [poise.tasks.Posture(target=start)])])
    file = tmp_path_factory.mktemp("walks") / "w.poise"
    poise.record(poise.KinematicController(hierarchy), poise.IdealPlant(start), seconds=0.1).save(file)
    return file


def write_file(output: OutputFolder, name: str, data: bytes = b"x") -> Path:
    (output.folder / name).write_bytes(data)
    return output.folder / name


def test_the_folder_is_made_and_its_files_are_listed_the_newest_first(output: OutputFolder) -> None:
    for age, name in enumerate(["new.poise", "middle.csv", "old.mp4", "older-report.html", "oldest.html"]):
        file = write_file(output, name, b"12345")
        os.utime(file, (1e9 - age, 1e9 - age))
    found = output.files()
    assert [file["name"] for file in found] == [
        "new.poise",
        "middle.csv",
        "old.mp4",
        "older-report.html",
        "oldest.html",
    ]
    assert [file["kind"] for file in found] == ["recording", "csv", "mp4", "report", "html"]
    assert {file["bytes"] for file in found} == {5}
    assert found[0]["time"] == "2001-09-09T01:46:40+00:00"


def test_only_plain_files_of_the_folder_are_reachable(output: OutputFolder, tmp_path: Path) -> None:
    write_file(output, "walk.poise")
    write_file(output, ".hidden.poise")
    write_file(output, "notes.txt")
    write_file(output, ".poise")
    (tmp_path / "secret.csv").write_text("secret")
    (output.folder / "link.csv").symlink_to(tmp_path / "secret.csv")
    (output.folder / "inside.csv").symlink_to(output.folder / "walk.poise")
    (output.folder / "folder.csv").mkdir()
    write_file(output, "folder.csv/deep.csv")
    assert [file["name"] for file in output.files()] == ["walk.poise"]
    assert output.path("walk.poise") == output.folder / "walk.poise"
    for name in (
        "../secret.csv", "..", ".", "", "/etc/passwd", "walk.poise/", "./walk.poise", "folder.csv/deep.csv", "link.csv",
        "inside.csv", ".hidden.poise", "notes.txt", ".poise", "folder.csv", "walk.poise\0", "WALK.POISE",
        "..\\secret.csv", str(output.folder / "walk.poise"), "%2e%2e/secret.csv", "none.poise", "x" * 10_000,
        None, 7, ["walk.poise"],
    ):  # fmt: skip
        with pytest.raises(OutputError, match="is not in the output folder") as caught:
            output.path(name)  # type: ignore[arg-type]
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 250


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for place in ("file", "file/below"):
        with pytest.raises(OutputError, match="cannot be used"):
            OutputFolder(tmp_path / place)
    assert issubclass(OutputError, PoiseError)


def test_new_file_names_are_unique(output: OutputFolder) -> None:
    write_file(output, "walk-g1-1.poise")
    (output.folder / "walk-g1-2.poise").symlink_to("nowhere")
    assert [output.new_path("walk-g1", ".poise").name for _ in range(2)] == ["walk-g1-3.poise", "walk-g1-4.poise"]
    assert output.new_path("../../etc/x y", ".toml").name == "etc-x-y-1.toml"
    assert output.new_path("...", ".poise").parent == output.folder
    for suffix in ("", "poise", "./x", ".a/b", ".."):
        with pytest.raises(OutputError, match="not a file suffix"):
            output.new_path("walk", suffix)


def test_the_revision_grows_only_with_changes_of_the_files(output: OutputFolder) -> None:
    revisions = [output.revision, output.revision]
    write_file(output, "a.poise")
    revisions += [output.revision, output.revision]
    with open(output.folder / "a.poise", "ab") as file:  # it is being written
        file.write(b"more")
    revisions += [output.revision]
    os.utime(output.folder / "a.poise", (1e9, 1e9))  # it has ended
    revisions += [output.revision, output.revision]
    (output.folder / "a.poise").unlink()
    revisions += [output.revision]
    assert np.diff(revisions).tolist() == [0, 1, 0, 0, 1, 0, 1]


def test_exports_appear_and_load_two_at_a_time_and_show_their_progress(
    output: OutputFolder, walk_recording: Path
) -> None:
    write_file(output, "w-1.poise", walk_recording.read_bytes())
    messages, before, most = MessageLog(), output.revision, 0
    shares: set[float | None] = set()
    for format in ("csv", "npz", "bvh", "html"):
        output.export("w-1.poise", format, messages)
    assert [job["name"] for job in output.exports()] == ["w-1.csv", "w-1.npz", "w-1.bvh", "w-1.html"]
    assert output.exports()[3]["activity"] == "w-1.html: waiting"
    output.export("w-1.poise", "bvh", messages)
    assert messages == [("error", "w-1.bvh is already being written; wait until it is complete")]
    assert output.cancel_export("w-1.html")
    assert messages[1:] == [("info", "w-1.html: export cancelled")]

    def exports_ended() -> bool:
        nonlocal most
        most = max(most, len(output._exports._running))
        shares.update(job["progress"] for job in output.exports())
        return len(messages) == 5

    wait_until(exports_ended, "the end of three exports", lambda: len(messages), pause=0.002)
    assert most == 2
    assert {kind for kind, _ in messages[2:]} == {"info"}, messages
    assert all(share is None or 0.0 <= share <= 1.0 for share in shares)
    assert shares - {None, 0.0}, "the share of a running export is known"
    assert output.exports() == []
    recording = poise.load_recording(walk_recording)
    for format in ("csv", "npz"):
        back = exports.read_trajectory(output.path(f"w-1.{format}"))
        assert np.allclose(back.q, recording["q"], atol=1e-6)
    assert output.path("w-1.bvh").read_text().startswith("HIERARCHY")
    assert output.revision > before
    assert sorted(os.listdir(output.folder)) == ["w-1.bvh", "w-1.csv", "w-1.npz", "w-1.poise"]


def test_a_report_appears(output: OutputFolder, walk_recording: Path) -> None:
    write_file(output, "w.poise", walk_recording.read_bytes())
    messages = MessageLog()
    output.export("w.poise", "report", messages)
    wait_until(lambda: messages, "the end of the report")
    assert messages[0][0] == "info", messages
    assert "<html" in output.path("w-report.html").read_text()[:200]


def test_failed_exports_are_reported_without_raising(
    output: OutputFolder, walk_recording: Path, tmp_path: Path
) -> None:
    write_file(output, "w.poise", walk_recording.read_bytes())
    write_file(output, "bad.poise", b"not a recording")
    write_file(output, "table.csv")
    (tmp_path / "outside.poise").write_bytes(walk_recording.read_bytes())
    messages = MessageLog()
    for name, format, words in (
        ("none.poise", "csv", "is not in the output folder"),
        ("../outside.poise", "csv", "is not in the output folder"),
        ("table.csv", "bvh", "not a recording"),
        ("w.poise", "exe", "unknown export format"),
        ("w.poise", None, "unknown export format"),
    ):
        output.export(name, format, messages)  # type: ignore[arg-type]
        assert messages[-1][0] == "error"
        assert words in messages[-1][1]
    output.export("bad.poise", "csv", messages)
    wait_until(lambda: len(messages) == 6, "the end of the export of no recording")
    assert messages[-1][0] == "error"
    assert "bad.csv could not be written" in messages[-1][1]
    assert "\n" not in messages[-1][1]
    assert sorted(os.listdir(output.folder)) == ["bad.poise", "table.csv", "w.poise"]


def test_exports_end_with_the_process_that_started_them(walk_recording: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "poise.studio.export_worker", str(walk_recording), str(tmp_path / "w.mp4"), "mp4"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdin is not None
    process.stdin.close()  # as the system does for a process that is killed
    wait_until(lambda: process.poll() is not None, "the end of an export that nobody waits for")
    assert process.returncode != 0
    assert os.listdir(tmp_path) == []


def running_process(output: OutputFolder) -> subprocess.Popen[str]:
    """Process of the only export, as soon as it runs."""
    wait_until(lambda: [job.process for job in output._exports._running.values() if job.process], "the export")
    (job,) = output._exports._running.values()
    assert job.process is not None
    return job.process


def test_an_export_is_cancelled_and_leaves_nothing(output: OutputFolder, walk_recording: Path) -> None:
    write_file(output, "w.poise", walk_recording.read_bytes())
    messages = MessageLog()
    output.export("w.poise", "mp4", messages)
    process = running_process(output)
    assert output.cancel_export("w.mp4")
    wait_until(lambda: messages, "the end of the export")
    assert messages == [("info", "w.mp4: export cancelled")]
    assert process.poll() is not None
    assert os.listdir(output.folder) == ["w.poise"]
    assert not output.cancel_export("w.mp4")


def test_stopping_ends_exports_that_are_under_way(walk_recording: Path, tmp_path: Path) -> None:
    output, messages = OutputFolder(tmp_path), MessageLog()
    write_file(output, "w.poise", walk_recording.read_bytes())
    output.export("w.poise", "mp4", messages)
    process = running_process(output)
    output.stop()
    assert process.poll() is not None
    output.export("w.poise", "csv", messages)
    assert messages == [("error", "the studio is closing")]
