"""Damaged files: readers return a result or one clear line, and other outcomes are detected."""

from pathlib import Path

import pytest

from poise.campaign.kinds import fuzz_files
from poise.campaign.kinds.fuzz_files import FORMATS, MUTATION_NAMES, FuzzFiles, mutated_file
from poise.errors import PoiseError, UsageError

KIND = FuzzFiles()


def failure_reason(format_name: str, mutation: str, seed: int) -> str:
    return KIND.run({"format": format_name, "mutation": mutation}, seed).reason


@pytest.mark.parametrize("format_name", FORMATS)
def test_a_sound_file_is_read_by_every_reader(format_name: str) -> None:
    outcome = KIND.run({"format": format_name, "mutation": "none"}, 0)
    assert outcome.reason == ""
    assert outcome.values["results"] == outcome.values["readers"] == len(FORMATS[format_name].readers)


@pytest.mark.parametrize("format_name", FORMATS)
def test_a_damaged_file_is_read_or_refused_in_one_clear_line(format_name: str) -> None:
    failed = {
        (mutation, seed): why
        for mutation in MUTATION_NAMES
        for seed in range(2)
        if (why := failure_reason(format_name, mutation, seed))
    }
    assert failed == {}


@pytest.mark.parametrize("format_name", FORMATS)
def test_a_seed_makes_the_same_file_and_the_same_row_each_time(format_name: str) -> None:
    for mutation in ("bits", "structure", "words"):
        assert (
            mutated_file(format_name, mutation, 7)
            == mutated_file(format_name, mutation, 7)
            != mutated_file(format_name, mutation, 8)
        )
        rows = [KIND.run({"format": format_name, "mutation": mutation}, 7) for _ in range(2)]
        assert dict(rows[0].values) == dict(rows[1].values)


#: Failures of a reader, and the expected reason.
BROKEN = {
    "traceback": (ZeroDivisionError("by nothing"), "read_bvh: ZeroDivisionError in no file of Poise: by nothing"),
    "silence": (PoiseError(""), "read_bvh: PoiseError that says too little: ''"),
    "a word": (PoiseError("oops"), "read_bvh: PoiseError that says too little: 'oops'"),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_reader_is_caught_and_named(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    error, words = BROKEN[fault]

    def reader(path: Path) -> None:
        raise error

    broken_format = fuzz_files.FuzzFormat("skeleton.bvh", {"read_bvh": reader}, {})
    monkeypatch.setitem(FORMATS, "bvh", broken_format)
    assert failure_reason("bvh", "none", 0) == words


def test_an_internal_error_is_reported_with_its_location(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("poise.human.files.bvh_reader._parse_hierarchy", lambda path, lines: ([], "not a number"))
    assert "TypeError in human/files/bvh_reader.py:" in failure_reason("bvh", "none", 0)


def test_a_reader_that_refuses_a_sound_file_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def reader(path: Path) -> None:
        raise PoiseError(f"{path}: this reader takes no file whatever")

    monkeypatch.setitem(FORMATS, "bvh", fuzz_files.FuzzFormat("skeleton.bvh", {"read_bvh": reader}, {}))
    assert failure_reason("bvh", "none", 0).startswith("a valid file is rejected: skeleton.bvh: this reader")
    assert failure_reason("bvh", "bits", 0) == ""


def test_the_file_of_a_run_can_be_saved(tmp_path: Path) -> None:
    outcome = KIND.run({"format": "trc", "mutation": "bits"}, 3)
    assert outcome.suffix == ".trc"
    assert outcome.save is not None
    outcome.save(tmp_path / "kept.trc")
    assert (tmp_path / "kept.trc").read_bytes() == mutated_file("trc", "bits", 3)


@pytest.mark.parametrize("parameters", [{"format": "bvq"}, {"format": "bvh", "mutation": "bit"}, {"color": "red"}, {}])
def test_invalid_parameters_are_refused(parameters: dict[str, str]) -> None:
    with pytest.raises(UsageError, match=r"there (is no|are)"):
        KIND.check_parameters(parameters, Path())
