"""The blocks of code of all pages, and who runs which: nothing on a page is code that nobody has run."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), ROOT / "benchmarks/README.md", *(ROOT / "docs").rglob("*.md")])
#: What a line of a shell begins with. A block that is not fenced is one of a shell if all its lines do.
COMMANDS = ("poise", "python", "make", "pip", "echo")
#: Fenced blocks: programs, files, what a program prints, lines of a shell, and what is only to be looked at.
LANGUAGES = ("python", "toml", "text", "sh")


@dataclass(frozen=True)
class Block:
    """A block of a page: where it begins, in which language it is, and what it says."""

    page: Path
    line: int
    language: str
    text: str

    @property
    def name(self) -> str:
        return f"{self.page.relative_to(ROOT).as_posix()}:{self.line}"


def blocks(page: Path) -> list[Block]:
    """All blocks of a page, in order; those that are only indented are ``sh`` or, as equations are, ``display``."""
    found: list[Block] = []
    lines = page.read_text().splitlines()
    number = 0
    while number < len(lines):
        fence = re.match(r"^(`{3,})(.*)$", lines[number])
        begin = number
        if fence:
            number += 1
            while not lines[number].startswith(fence[1]):
                number += 1
            text = "\n".join(lines[begin + 1 : number]) + "\n"
            found.append(Block(page, begin + 1, fence[2].strip(), text))
        elif lines[number].startswith("    ") and (number == 0 or not lines[number - 1].strip()):
            while number + 1 < len(lines) and (lines[number + 1].startswith("    ") or blank_inside(lines, number + 1)):
                number += 1
            text = "\n".join(line[4:] for line in lines[begin : number + 1]) + "\n"
            found.append(Block(page, begin + 1, "sh" if is_shell(text) else "display", text))
        number += 1
    return found


def blank_inside(lines: list[str], number: int) -> bool:
    """Whether this is an empty line with more of an indented block behind it."""
    return not lines[number].strip() and number + 1 < len(lines) and lines[number + 1].startswith("    ")


def is_shell(text: str) -> bool:
    """Whether all lines of an indented block are commands."""
    return all(line.split()[0] in COMMANDS for line in text.splitlines() if line.strip())


def commands(block: Block) -> list[list[str]]:
    """The commands of a block of a shell, each as its words; comments are none of them."""
    lines = block.text.replace("\\\n", " ").splitlines()
    found = [shlex.split(line, comments=True) for line in lines]
    return [words for words in found if words]


def everything() -> list[Block]:
    """The blocks of all pages."""
    return [block for page in PAGES for block in blocks(page)]
