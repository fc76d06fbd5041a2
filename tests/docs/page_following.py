"""Follow a documentation page from top to bottom: write its files, run its programs and commands."""

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
from page_blocks import ROOT, Block, blocks, commands

import poise
from poise import cli
from poise.human import load_marker_set
from poise.plans import Style
from poise.plants import MujocoPlant, PlantServer
from poise.shield import BalanceShield, ShieldServer
from shared_data import require_models
from test_readme import ALIKE, DRIFT, numbers, without_volatile_values, words

#: Pages whose commands run in every test run; those of the other pages take minutes.
FOLLOWED = (
    "docs/quickstart.md",
    "docs/tutorials/researcher.md",
    "docs/adding/robot.md",
    "docs/adding/style.md",
)
#: Pages whose programs read files that its commands write: both run in `make slow` only.
COMMANDS_FIRST = (
    "docs/tutorials/animator.md",
    "docs/tutorials/biomechanist.md",
    "docs/tutorials/campaign.md",
)
#: Robots whose models are in a package that may not be installed.
NEED_MODELS = re.compile(r'"(g1|talos|romeo|icub)"|--robot (g1|talos|romeo|icub)')
#: Commands that run until they are stopped.
ENDLESS = ("studio", "serve", "shield")
#: Options added to a command so that it ends within minutes.
SHORTENED = {"campaign": ("--size", "check")}
ADDRESS = "tcp://127.0.0.1:5560"
#: Calls of a client that expects a shield.
SHIELD_CLIENT = "Client()"


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def needs_models(page: Path) -> None:
    """Skip the test of a page about robots that are not installed."""
    if NEED_MODELS.search(page.read_text()):
        require_models()


def follow_page(page: Path, folder: Path, execute: bool) -> str:
    """Follow a page in an empty folder, which is the current one.

    Args:
        execute: whether to run the commands as well.

    Returns:
        Output of the last program.
    """
    text = page.read_text()
    (folder / "my").mkdir()
    shutil.copy(ROOT / "examples/biped.urdf", folder / "my/robot.urdf")
    for name in ("campaigns", "examples"):
        (folder / name).symlink_to(ROOT / name)
    files = {block: folder / file_name(block) for block in blocks(page) if block.language == "toml"}
    for block, file in files.items():
        file.write_text(block.text)
    space: dict[str, Any] = {"__name__": "__main__"}
    printed: str | None = None
    output = last = ""
    for block in blocks(page):
        if block.language == "python":
            with serve_robot(block.text) as program, contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(program, block.name, "exec"), space)
            printed = output = out.getvalue()
        elif block.language == "toml":
            reader(block.text)(files[block])
        elif block.language == "text" and printed is not None:
            compare(printed, block.text, block.name)
        elif block.language == "sh":
            printed = run_commands(block, folder) if execute else None
        if output and (match := re.search(r"\AIt prints `(.*)`\.", text_after(text, block))):
            compare(output, match[1], block.name)
        output, last = "", output or last
    return last


def file_name(block: Block) -> str:
    """Return the name of a file shown on a page, from its first line."""
    named = re.match(r"# (\S+\.toml)\n", block.text)
    return named[1] if named else f"block{block.line}.toml"


def text_after(text: str, block: Block) -> str:
    """Return the text right after a block."""
    rest = "\n".join(text.splitlines()[block.line + block.text.count("\n") + 1 :])
    return rest.lstrip("\n")


def run_commands(block: Block, folder: Path) -> str:
    """Run the commands of a block and return their output.

    Skipped are commands that change the installation (make, pip), benchmarks, and commands that do not end.
    """
    printed = io.StringIO()
    for line in commands(block):
        at = line.index(">") if ">" in line else len(line)
        words, file = line[:at], "".join(line[at + 1 :])
        out = io.StringIO()
        if words[0] == "echo":
            out.write(" ".join(words[1:]))
        elif is_runnable(words):
            arguments = [*words[1:], *SHORTENED.get(words[1], ())]
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()) as complaints:
                status = cli.main(arguments)
            assert status == 0, f"{block.name}: {' '.join(line)}: {complaints.getvalue()}"
        if file:
            (folder / file).write_text(out.getvalue())
        else:
            printed.write(out.getvalue())
    return printed.getvalue()


def is_runnable(words: list[str]) -> bool:
    """Return whether `run_commands` runs a command; words in capitals are placeholders."""
    left_open = any(word.split(".")[0].isupper() for word in words if word.isidentifier() or "." in word)
    return words[0] == "poise" and words[1] not in ENDLESS and not left_open


def compare(printed: str, promised: str, where: str) -> None:
    """Assert that two texts have the same words, and numbers equal up to differences between builds and machines."""
    printed, promised = without_volatile_values(printed), without_volatile_values(promised)
    assert words(printed) == words(promised), f"{where} promises\n{promised}\nand prints\n{printed}"
    for found, expected in zip(numbers(printed), numbers(promised), strict=True):
        assert max(abs(found), abs(expected)) < DRIFT or found == pytest.approx(expected, rel=ALIKE), (
            f"{where}: {found}, not {expected}"
        )


def check_style(path: Path) -> None:
    Style.load(path)


def check_robot(path: Path) -> None:
    poise.load_robot(path.with_suffix(".urdf"))


def check_marker_set(path: Path) -> None:
    load_marker_set(path)


def check_campaign(path: Path) -> None:
    spec = pytest.importorskip("poise.campaign.spec")
    assert spec.Spec.load(path).runs


#: Readers of TOML files by a key that only that kind of file has; a file with none of these keys is a style.
READERS: dict[str, Callable[[Path], None]] = {"kind": check_campaign, "markers": check_marker_set, "feet": check_robot}


def reader(text: str) -> Callable[[Path], None]:
    """Return the reader of a TOML block."""
    keys = tomllib.loads(text)
    return next((READERS[key] for key in READERS if key in keys), check_style)


@contextlib.contextmanager
def serve_robot(text: str) -> Iterator[str]:
    """Serve a robot, or a shield, at a free port for a program that expects one at a socket."""
    if SHIELD_CLIENT in text:
        with shielded_robot() as address:
            yield text.replace(SHIELD_CLIENT, f"Client({address!r}, timeout=60.0)")
        return
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


@contextlib.contextmanager
def shielded_robot() -> Iterator[str]:
    """Shield a simulated robot at a free port, and yield its address."""
    robot = poise.load_robot("g1")
    shield, stopped = BalanceShield(robot, "walk"), threading.Event()
    assert shield.start is not None
    with ShieldServer(shield, MujocoPlant(shield.start), port=0) as server:

        def run() -> None:
            for _ in server.steps():
                if stopped.is_set():
                    return

        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield server.address
        finally:
            stopped.set()
            thread.join()
