"""Rooms and doors: who may import what, in the order of docs/architecture.md."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src/poise"
FILES = sorted(path.relative_to(SOURCE) for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")
LINES = re.findall(r"^ {4}(\w.*\|.*)$", (ROOT / "docs/architecture.md").read_text(), flags=re.MULTILINE)
ROOMS = [*re.findall(r"\w+", " ".join(LINES)), "__main__"]


@cache
def imports(path: Path) -> tuple[tuple[str, str], ...]:
    """(module, name) of everything that a file imports from poise, wherever the import stands; name "": a module."""
    package = ["poise", *path.parts[:-1]]
    found: list[tuple[str, str]] = []
    for node in ast.walk(ast.parse((SOURCE / path).read_text())):
        if isinstance(node, ast.Import):
            found += [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else []
            module = ".".join([*base, *filter(None, [node.module])])
            found += [(module, alias.name) for alias in node.names]
    return tuple((module, name) for module, name in found if module.split(".")[0] == "poise")


def room_of(module: str, name: str) -> str:
    """The room that an import is from; "" is the front door, poise itself."""
    parts = [*module.split(".")[1:], name]
    return parts[0] if parts[0] in ROOMS else ""


def test_the_rooms_are_read_from_the_page() -> None:
    assert (ROOMS[0], ROOMS[-2], len(ROOMS)) == ("arrays", "cli", len(set(ROOMS)))


@pytest.mark.parametrize("path", FILES, ids=str)
def test_a_room_imports_only_from_rooms_to_its_left(path: Path) -> None:
    room = path.parts[0].removesuffix(".py")
    assert room in ROOMS, f"give '{room}' its place among the rooms of docs/architecture.md"
    allowed = {*ROOMS[: ROOMS.index(room) + 1], *([""] if room in ("cli", "__main__") else [])}
    assert {room_of(*each) for each in imports(path)} <= allowed


@pytest.mark.parametrize("path", FILES, ids=str)
def test_a_room_is_entered_through_its_door(path: Path) -> None:
    room = path.parts[0].removesuffix(".py")
    bypassing = [module for module, _ in imports(path) if module.count(".") > 1 and module.split(".")[1] != room]
    assert not bypassing, "import from the room's __init__, and export there what other rooms need"
