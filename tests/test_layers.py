"""A room imports only from rooms to its left, in the order of docs/architecture.md."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src/poise"
FILES = sorted(path.relative_to(SOURCE) for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")
LINES = re.findall(r"^ {4}(\w.*\|.*)$", (ROOT / "docs/architecture.md").read_text(), flags=re.MULTILINE)
ROOMS = [*re.findall(r"\w+", " ".join(LINES)), "__main__"]


def imported(path: Path) -> set[str]:
    """Rooms that a file imports from, wherever the import stands; '' is the front door, poise itself."""
    package = ["poise", *path.parts[:-1]]
    names = []
    for node in ast.walk(ast.parse((SOURCE / path).read_text())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else []
            names += [".".join([*base, *filter(None, [node.module]), alias.name]) for alias in node.names]
    ours = [name.split(".")[1:] for name in names if name.split(".")[0] == "poise"]
    return {inner[0] if inner and inner[0] in ROOMS else "" for inner in ours}


def test_the_rooms_are_read_from_the_page() -> None:
    assert (ROOMS[0], ROOMS[-2], len(ROOMS)) == ("errors", "cli", len(set(ROOMS)))


@pytest.mark.parametrize("path", FILES, ids=str)
def test_a_room_imports_only_from_rooms_to_its_left(path: Path) -> None:
    room = path.parts[0].removesuffix(".py")
    assert room in ROOMS, f"give '{room}' its place among the rooms of docs/architecture.md"
    allowed = {*ROOMS[: ROOMS.index(room) + 1], *([""] if room in ("cli", "__main__") else [])}
    assert imported(path) <= allowed
