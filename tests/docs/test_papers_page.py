"""The page of the papers lists every numbered equation, with code and tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/papers.md").read_text()
#: How many equations each paper numbers.
EQUATIONS = {"Saab2012": 9, "Sugihara2008": 7, "Dalibard2012": 15, "Galdeano2014": 20, "Boukheddimi2019": 9}


def section(paper: str) -> str:
    return TEXT.split(f"\n## {paper}\n")[1].split("\n## ")[0]


@pytest.mark.parametrize("paper", EQUATIONS)
def test_every_numbered_equation_of_a_paper_has_its_row(paper: str) -> None:
    listed: set[int] = set()
    for row in re.findall(r"^\| (\(\d.*?) \|", section(paper), flags=re.M):
        numbers = [int(number) for number in re.findall(r"\((\d+)\)", row)]
        listed |= set(range(numbers[0], numbers[-1] + 1) if " to " in row else numbers)
    assert listed == set(range(1, EQUATIONS[paper] + 1))


@pytest.mark.parametrize("paper", EQUATIONS)
def test_every_row_names_code_and_a_test_that_exist(paper: str) -> None:
    rows = [row for row in section(paper).splitlines() if row.startswith("| ") and not row.startswith("| equation")]
    assert len(rows) > 9
    for row in rows:
        content, code, tests = row.split(" | ")[1:]
        assert content
        places = re.findall(r"\[`(\w+)`\]\(\.\./(\S+?)\)", code)
        checks = re.findall(r"\[([\w ]+)\]\(\.\./(tests/\S+?)\)", tests)
        assert places, row
        assert checks, row
        for name, path in places:
            text = (ROOT / path).read_text()
            known = path.endswith(".toml") or re.search(rf"^(class |def )?{name}\b", text, flags=re.M)
            assert known, f"{path} has no '{name}'"
        for name, path in checks:
            function = f"def test_{name.replace(' ', '_')}("
            assert function in (ROOT / path).read_text(), f"{path} has no '{function}'"
