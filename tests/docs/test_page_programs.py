"""Every block of code on a page runs: programs, what they print, files, and lines of a shell."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import threading
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from page_blocks import LANGUAGES, PAGES, ROOT, Block, blocks, commands, everything

import poise
from poise import cli
from poise.human import load_marker_set
from poise.plans.style import Style
from poise.plants import MujocoPlant
from poise.plants.remote import PlantServer
from poise.robots.catalogue import models_folder
from test_readme import ALIKE, DRIFT, lasting, numbers, words

#: Robots whose models are in a package that may not be installed.
NEED_MODELS = re.compile(r'"(g1|talos|romeo|icub)"|--robot (g1|talos|romeo|icub)')
#: Pages whose commands are run as well as parsed.
FOLLOWED = ("docs/tutorial.md", "docs/adding/robot.md", "docs/adding/style.md")
#: Commands that are only parsed on those: they go on until somebody ends them, or are about the machine itself.
ENDLESS = ("studio", "serve")
ADDRESS = "tcp://127.0.0.1:5560"
#: What the last program of a page prints where the page leaves that to its reader.
LAST = {"README.md": "still standing {}\n"}

PROGRAMS = [page for page in PAGES if any(block.language in ("python", "toml") for block in blocks(page))]


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def a_style(path: Path) -> None:
    Style.load(path)


def a_robot(path: Path) -> None:
    poise.load_robot(path.with_suffix(".urdf"))


def a_marker_set(path: Path) -> None:
    load_marker_set(path)


def a_campaign(path: Path) -> None:
    spec = pytest.importorskip("poise.campaign.spec")
    assert spec.Spec.load(path).runs


#: A key that only such a file has, and its reader; whatever has none of them is a style.
READERS: dict[str, Callable[[Path], None]] = {"behavior": a_campaign, "markers": a_marker_set, "feet": a_robot}


def reader(text: str) -> Callable[[Path], None]:
    """Who reads a TOML block."""
    keys = tomllib.loads(text)
    return next((READERS[key] for key in READERS if key in keys), a_style)


@contextlib.contextmanager
def served(text: str) -> Iterator[str]:
    """A program that expects a robot at a socket is given one, at a free port."""
    if ADDRESS not in text:
        yield text
        return
    with PlantServer(MujocoPlant(poise.load_robot("g1")), "tcp://127.0.0.1:0") as server:
        thread = threading.Thread(target=server.serve)
        thread.start()
        try:
            yield text.replace(ADDRESS, server.address)
        finally:
            server.stop()
            thread.join()


def compare(printed: str, promised: str, where: str) -> None:
    """Two texts say the same: words alike, numbers as near as builds and machines let them be."""
    printed, promised = lasting(printed), lasting(promised)
    assert words(printed) == words(promised), f"{where} promises\n{promised}\nand prints\n{printed}"
    for found, said in zip(numbers(printed), numbers(promised), strict=True):
        assert max(abs(found), abs(said)) < DRIFT or found == pytest.approx(said, rel=ALIKE), (
            f"{where}: {found}, not {said}"
        )


def obey(block: Block) -> str:
    """Runs the commands of a block, and returns what they print."""
    printed = io.StringIO()
    for line in commands(block):
        if line[0] == "poise" and line[1] not in ENDLESS:
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()) as complaints:
                status = cli.main(line[1:])
            assert status == 0, f"{block.name}: {' '.join(line)}: {complaints.getvalue()}"
    return printed.getvalue()


@pytest.mark.parametrize("page", PROGRAMS, ids=name_of)
def test_the_programs_of_a_page_run_and_print_what_stands_below_them(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = page.read_text()
    if models_folder() is None and NEED_MODELS.search(text):
        pytest.skip("the package example-robot-data is not installed")
    (tmp_path / "my").mkdir()
    shutil.copy(ROOT / "examples/biped.urdf", tmp_path / "my/robot.urdf")
    monkeypatch.chdir(tmp_path)
    space: dict[str, Any] = {"__name__": "__main__"}
    printed = ran = last = ""
    for block in blocks(page):
        if block.language == "python":
            with served(block.text) as program, contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(program, block.name, "exec"), space)
            printed = ran = out.getvalue()
        elif block.language == "toml":
            named = re.match(r"# (\S+\.toml)\n", block.text)
            file = tmp_path / (named[1] if named else f"block{block.line}.toml")
            file.write_text(block.text)
            reader(block.text)(file)
        elif block.language == "text":
            compare(printed, block.text, block.name)
        elif block.language == "sh" and name_of(page) in FOLLOWED:
            printed = obey(block)
        if ran and (said := re.search(r"\AIt prints `(.*)`\.", after(text, block))):
            compare(ran, said[1], block.name)
        ran, last = "", ran or last
    assert last == LAST.get(name_of(page), last)


def after(text: str, block: Block) -> str:
    """What a page says right behind a block."""
    rest = "\n".join(text.splitlines()[block.line + block.text.count("\n") + 1 :])
    return rest.lstrip("\n")


def test_every_block_of_every_page_has_somebody_who_runs_it() -> None:
    for block in everything():
        if block.language == "display":
            code = re.search(
                r"^(import|from|def|class|for|poise|make|pip) |\bpoise\.|^\w+ = \w+\(", block.text, flags=re.M
            )
            assert not code, f"{block.name} is code that nobody runs: fence it as ```python or ```sh"
        else:
            assert block.language in LANGUAGES, f"{block.name}: nobody runs a block of '{block.language}'"


def test_what_is_printed_stands_below_what_prints_it() -> None:
    for page in PAGES:
        found = blocks(page)
        below = [after(page.read_text(), block) for block in found if block.language == "python"]
        assert sum(text.startswith("It prints `") for text in below) == page.read_text().count("It prints `")
        for number, block in enumerate(found):
            if block.language == "text":
                assert found[number - 1].language in ("python", "sh"), f"{block.name} is printed by nothing"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_commands_of_a_page_can_be_given(page: Path) -> None:
    for block in blocks(page):
        if block.language != "sh":
            continue
        for line in commands(block):
            check(line, block)


def check(line: list[str], block: Block) -> None:
    """A command exists, with all its options."""
    while any(word in line for word in ("|", ">")):  # the first of a chain; the others below
        at = min(line.index(word) for word in ("|", ">") if word in line)
        if line[at] == "|":
            check(line[at + 1 :], block)
        line = line[:at]
    where = f"{block.name}: {' '.join(line)}"
    match line[0]:
        case "poise":
            cli._parsers()[0].parse_args(cli._joined(line[1:]))
        case "python":
            assert (ROOT / line[1]).is_file(), f"{where}: there is no such program"
        case "make":
            assert re.search(rf"^{line[1]}:", (ROOT / "Makefile").read_text(), flags=re.M), f"{where}: no such target"
        case "pip":
            extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
            for extra in re.findall(r"\[([\w,]+)\]", " ".join(line)):
                assert set(extra.split(",")) <= set(extras), f"{where}: no such extra"
        case _:
            raise AssertionError(f"{where}: nobody knows this command")
