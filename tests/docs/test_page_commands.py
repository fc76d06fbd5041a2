"""Every shell command on a page parses, and those of the followed pages run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from page_blocks import PAGES, ROOT, Block, blocks, commands
from page_following import FOLLOWED, follow_page, is_runnable, name_of, needs_models

from poise import cli

COMMANDED = [page for page in PAGES if any(block.language == "sh" for block in blocks(page))]
#: Pages with commands that do not run with the programs of the page.
LONG = [
    page
    for page in COMMANDED
    if name_of(page) not in FOLLOWED
    and any(is_runnable(line) for block in blocks(page) if block.language == "sh" for line in commands(block))
]
#: Programs of the benchmarks as pages start them: a file, or -m and a module.
PROGRAMS = sorted(
    {
        tuple(line[1:3] if line[1] == "-m" else line[1:2])
        for page in COMMANDED
        for block in blocks(page)
        if block.language == "sh"
        for line in commands(block)
        if line[0] == "python" and "benchmarks" in line[1] + line[2 if line[1] == "-m" else 1]
    }
)


@pytest.mark.slow
@pytest.mark.parametrize("page", LONG, ids=name_of)
def test_the_commands_of_a_page_run_one_after_the_other(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Campaigns run their smallest size; commands of pages that are not here run with the page's programs."""
    needs_models(page)
    monkeypatch.chdir(tmp_path)
    follow_page(page, tmp_path, execute=True)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda words: Path(words[-1]).stem)
def test_the_help_of_a_benchmark_is_printed_without_running_it(program: tuple[str, ...], tmp_path: Path) -> None:
    """Measurements take minutes; the help shows at once that the imports still work."""
    words = [*program[:-1], str(ROOT / program[-1]) if len(program) == 1 else program[-1]]
    result = subprocess.run(
        [sys.executable, *words, "--help"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("usage: ")
    assert "--help" in result.stdout
    assert list(tmp_path.iterdir()) == [], "the help of a program writes no file"


def test_every_benchmark_is_on_a_page() -> None:
    there = {path.relative_to(ROOT) for path in (ROOT / "benchmarks").glob("*.py")} - {Path("benchmarks/__init__.py")}
    there |= {path.relative_to(ROOT) for path in (ROOT / "benchmarks").glob("*/__main__.py")}
    assert {source(list(words)) for words in PROGRAMS} == there


@pytest.mark.parametrize("page", COMMANDED, ids=name_of)
def test_the_commands_of_a_page_parse(page: Path) -> None:
    for block in blocks(page):
        if block.language != "sh":
            continue
        for line in commands(block):
            check(line, block)


def source(words: list[str]) -> Path:
    """The file that ``python FILE`` or ``python -m MODULE`` runs, relative to the root of the repository."""
    if words[0] != "-m":
        return Path(words[0])
    module = Path(*words[1].split("."))
    return module / "__main__.py" if (ROOT / module).is_dir() else module.with_suffix(".py")


def check(line: list[str], block: Block) -> None:
    """Check that a command exists, with all its options."""
    while any(word in line for word in ("|", ">")):  # the first of a chain; the others below
        at = min(line.index(word) for word in ("|", ">") if word in line)
        if line[at] == "|":
            check(line[at + 1 :], block)
        line = line[:at]
    where = f"{block.name}: {' '.join(line)}"
    match line[0]:
        case "poise":
            cli.parse(line[1:])
        case "echo":
            pass
        case "python":
            assert (ROOT / source(line[1:])).is_file(), f"{where}: there is no such program"
        case "make":
            assert re.search(rf"^{line[1]}:", (ROOT / "Makefile").read_text(), flags=re.M), f"{where}: no such target"
        case "pip":
            extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
            for extra in re.findall(r"\[([\w,]+)\]", " ".join(line)):
                assert set(extra.split(",")) <= set(extras), f"{where}: no such extra"
        case _:
            raise AssertionError(f"{where}: nobody knows this command")
