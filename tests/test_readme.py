"""The programs on the pages run unchanged and print the output below them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

#: Values that depend on the machine and the time: times, dates, versions, the time of the minimum of a flat curve,
#: counts of iterations.
MOMENTARY = (
    r"\d+ iterations?, \S+ ms",
    r"\d{4}-\d\d-\d\dT\S+",
    r"(?<=\(poise )\S+",
    r"(?m)^(control|solver|iterations): .*$",
    r"at \S+ s$",
)
NUMBER = r"-?\d+(?:\.\d+)?(?:e[-+]\d+)?"
#: Numbers below this, a third of a millimeter, are drift and rounding and differ between builds; others agree to 5 %.
DRIFT, ALIKE = 3e-4, 0.05


def blocks(text: str, language: str) -> list[str]:
    """The fenced blocks in this language."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def block(text: str, language: str) -> str:
    """The first fenced block in this language."""
    return blocks(text, language)[0]


def without_volatile_values(text: str) -> str:
    """A text without values that depend on machine and time."""
    for pattern in MOMENTARY:
        text = re.sub(pattern, "...", text, flags=re.MULTILINE)
    return text


def words(text: str) -> list[str]:
    """All words but the numbers; column widths depend on the numbers."""
    return re.sub(NUMBER, "#", text).split()


def numbers(text: str) -> list[float]:
    return [float(number) for number in re.findall(NUMBER, text)]


def test_the_first_programs_are_short(root: Path) -> None:
    for page, most in (("README.md", 12), ("docs/solver.md", 17)):
        assert len(block((root / page).read_text(), "python").splitlines()) <= most


def test_the_readme_is_short(root: Path) -> None:
    assert len((root / "README.md").read_text().split()) <= 1200


@pytest.mark.needs_models
def test_the_program_of_the_readme_is_the_first_example(root: Path) -> None:
    program = block((root / "README.md").read_text(), "python")
    assert (root / "examples/01_reach_with_the_left_hand.py").read_text().endswith(f"\n\n{program}")
