"""Which variant of the native modules is imported."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from poise import cpu
from poise.errors import PoiseError
from waiting import run_to_end

ALL = ("baseline", "avx2", "avx512")


def test_the_fastest_variant_that_the_processor_supports_is_chosen() -> None:
    assert cpu.choose("", ALL, ("baseline",)) == "baseline"
    assert cpu.choose("", ALL, ("baseline", "avx2")) == "avx2"
    assert cpu.choose("", ALL, ALL) == "avx512"
    assert cpu.choose("", ("baseline",), ALL) == "baseline"
    assert cpu.choose("", ("native",), ("baseline",)) == "native"


@pytest.mark.parametrize("name", ALL)
def test_a_variant_can_be_requested(name: str) -> None:
    assert cpu.choose(name, ALL, ALL) == name


def test_a_variant_that_cannot_run_is_an_error_that_names_the_others() -> None:
    with pytest.raises(PoiseError, match="'avx512', which this processor does not support; expected 'baseline' or 'av"):
        cpu.choose("avx512", ALL, ALL[:2])
    with pytest.raises(PoiseError, match="POISE_CPU is 'sse'; this installation of poise has 'baseline' or 'avx2' or"):
        cpu.choose("sse", ALL, ALL)
    with pytest.raises(PoiseError, match="this installation of poise has 'native'"):
        cpu.choose("baseline", ("native",), ALL)


@pytest.mark.parametrize(
    ("name", "folders"),
    [
        ("", ["a", "b"]),
        ("native", ["a", "b"]),
        ("baseline", ["a", "b"]),
        ("avx2", [os.path.join("a", "_avx2"), os.path.join("b", "_avx2"), "a", "b"]),
    ],
)
def test_modules_of_a_variant_are_found_before_those_of_the_baseline(
    name: str, folders: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cpu, "variant", lambda: name)
    assert cpu.variant_path(["a", "b"]) == folders


def test_all_native_modules_are_of_one_variant() -> None:
    if not cpu.variant():
        pytest.skip("the native modules were built before there were variants")
    from poise.plans.segment import _segment
    from poise.solvers import _kernel  # type: ignore[attr-defined]
    from poise.state import _motion

    variants = {Path(str(module.__file__)).parent.name for module in (_kernel, _motion, _segment)}
    assert variants in ({f"_{cpu.variant()}"}, {"solvers", "state", "segment"})


def test_an_unknown_variant_is_an_error_at_import_in_one_line() -> None:
    if not cpu.variant():
        pytest.skip("the native modules were built before there were variants")
    result = run_to_end([sys.executable, "-c", "import poise.solvers"], env={**os.environ, cpu.VARIABLE: "mmx"})
    assert result.returncode == 1
    assert "POISE_CPU is 'mmx'; this installation of poise has" in result.stderr.splitlines()[-1]
