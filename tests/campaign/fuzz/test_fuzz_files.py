"""Damaged files: readers give a result or one clear line, and the judge sees it when they do not."""

from pathlib import Path

import pytest

from poise.campaign.kinds import fuzz_files as formats
from poise.campaign.kinds.fuzz_files import FORMATS, WAYS, FuzzFiles, mutated
from poise.errors import PoiseError, UsageError

KIND = FuzzFiles()


def reason(form: str, way: str, seed: int) -> str:
    return KIND.perform({"format": form, "mutation": way}, seed).reason


@pytest.mark.parametrize("form", FORMATS)
def test_a_sound_file_is_read_by_every_reader(form: str) -> None:
    outcome = KIND.perform({"format": form, "mutation": "none"}, 0)
    assert outcome.reason == ""
    assert outcome.values["results"] == outcome.values["readers"] == len(FORMATS[form].readers)


@pytest.mark.parametrize("form", FORMATS)
def test_a_damaged_file_is_read_or_refused_in_one_clear_line(form: str) -> None:
    failed = {(way, seed): why for way in WAYS for seed in range(2) if (why := reason(form, way, seed))}
    assert failed == {}


@pytest.mark.parametrize("form", FORMATS)
def test_a_seed_makes_the_same_file_and_the_same_row_each_time(form: str) -> None:
    for way in ("bits", "structure", "words"):
        assert mutated(form, way, 7) == mutated(form, way, 7) != mutated(form, way, 8)
        rows = [KIND.perform({"format": form, "mutation": way}, 7) for _ in range(2)]
        assert dict(rows[0].values) == dict(rows[1].values)


#: What a reader may do wrong, and what is to be said of it.
BROKEN = {
    "traceback": (ZeroDivisionError("by nothing"), "read_bvh: ZeroDivisionError in no file of ours: by nothing"),
    "silence": (PoiseError(""), "read_bvh: PoiseError that says too little: ''"),
    "a word": (PoiseError("oops"), "read_bvh: PoiseError that says too little: 'oops'"),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_reader_is_caught_and_named(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    error, words = BROKEN[fault]

    def reader(path: Path) -> None:
        raise error

    broken = formats.Format("skeleton.bvh", {"read_bvh": reader}, {})
    monkeypatch.setitem(FORMATS, "bvh", broken)
    assert reason("bvh", "none", 0) == words


def test_an_error_inside_the_package_is_told_with_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("poise.human.files.bvh_reader._hierarchy", lambda path, lines: ([], "not a number"))
    assert "TypeError in human/files/bvh_reader.py:" in reason("bvh", "none", 0)


def test_a_reader_that_refuses_a_sound_file_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def reader(path: Path) -> None:
        raise PoiseError(f"{path}: this reader takes no file whatever")

    monkeypatch.setitem(FORMATS, "bvh", formats.Format("skeleton.bvh", {"read_bvh": reader}, {}))
    assert reason("bvh", "none", 0).startswith("a sound file is refused: skeleton.bvh: this reader")
    assert reason("bvh", "bits", 0) == ""


def test_the_file_of_a_run_can_be_kept(tmp_path: Path) -> None:
    outcome = KIND.perform({"format": "trc", "mutation": "bits"}, 3)
    assert outcome.suffix == ".trc"
    assert outcome.save is not None
    outcome.save(tmp_path / "kept.trc")
    assert (tmp_path / "kept.trc").read_bytes() == mutated("trc", "bits", 3)


@pytest.mark.parametrize("given", [{"format": "bvq"}, {"format": "bvh", "mutation": "bit"}, {"colour": "red"}, {}])
def test_parameters_that_make_no_sense_are_refused(given: dict[str, str]) -> None:
    with pytest.raises(UsageError, match=r"there (is no|are)"):
        KIND.read(given, Path())
