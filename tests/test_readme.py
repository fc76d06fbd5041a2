"""The programs printed on the pages run as they stand and print what stands below them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from poise.robots.catalogue import models_folder

needs_models = pytest.mark.skipif(models_folder() is None, reason="the package example-robot-data is not installed")

#: What a run tells about the machine and the moment: times, dates, when a flat curve was lowest, counts of iterations.
MOMENTARY = (r"\d+ iterations?, \S+ ms", r"\d{4}-\d\d-\d\dT\S+", r"(?m)^(control|solver|iterations): .*$", r"at \S+ s$")
NUMBER = r"-?\d+(?:\.\d+)?(?:e[-+]\d+)?"
#: Numbers below this, a tenth of a millimetre, are drift and rounding, which builds differ in; others agree to a fifth.
DRIFT, ALIKE = 1e-4, 0.2


def blocks(text: str, language: str) -> list[str]:
    """The fenced blocks in this language."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def block(text: str, language: str) -> str:
    """The first of them."""
    return blocks(text, language)[0]


def lasting(text: str) -> str:
    """A text without what is momentary."""
    for pattern in MOMENTARY:
        text = re.sub(pattern, "...", text, flags=re.MULTILINE)
    return text


def words(text: str) -> list[str]:
    """All but the numbers; how wide columns are follows from these."""
    return re.sub(NUMBER, "#", text).split()


def numbers(text: str) -> list[float]:
    return [float(number) for number in re.findall(NUMBER, text)]


@pytest.mark.parametrize("page", [pytest.param("README.md", marks=needs_models), "docs/solver.md"])
def test_the_program_of_a_page_prints_what_the_page_says(page: str, root: Path) -> None:
    text = (root / page).read_text()
    program = block(text, "python")
    assert len(program.splitlines()) <= 17
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    printed, promised = lasting(result.stdout), lasting(block(text, "text"))
    assert words(printed) == words(promised)
    for found, said in zip(numbers(printed), numbers(promised), strict=True):
        assert max(abs(found), abs(said)) < DRIFT or found == pytest.approx(said, rel=ALIKE)


@needs_models
def test_the_program_of_the_readme_is_the_first_example(root: Path) -> None:
    program = block((root / "README.md").read_text(), "python")
    assert (root / "examples/01_reach_with_the_left_hand.py").read_text().endswith(f"\n\n{program}")


@needs_models
def test_the_program_in_physics_still_stands(root: Path, tmp_path: Path) -> None:
    _, program = blocks((root / "README.md").read_text(), "python")
    command = [sys.executable, "-c", program]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stdout == "still standing {}\n"
    assert (tmp_path / "stand.poise").is_file()
