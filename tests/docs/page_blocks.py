"""Code blocks of all documentation pages, for the tests that run them."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), ROOT / "benchmarks/README.md", *(ROOT / "docs").rglob("*.md")])
#: First words of shell commands. An indented block is a shell block if all its lines begin with one of them.
COMMANDS = ("poise", "python", "make", "pip", "echo")
#: Languages of fenced blocks: programs, files, output of programs, and shell commands.
LANGUAGES = ("python", "toml", "text", "json", "sh")


@dataclass(frozen=True)
class Block:
    """A code block of a page: its position, language and text."""

    page: Path
    line: int
    language: str
    text: str

    @property
    def name(self) -> str:
        return f"{self.page.relative_to(ROOT).as_posix()}:{self.line}"


def blocks(page: Path) -> list[Block]:
    """Return all blocks of a page, in order; indented blocks are ``sh`` or, like equations, ``display``."""
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
    """Return whether a line is an empty line inside an indented block."""
    return not lines[number].strip() and number + 1 < len(lines) and lines[number + 1].startswith("    ")


def is_shell(text: str) -> bool:
    """Return whether all lines of an indented block are commands."""
    return all(line.split()[0] in COMMANDS for line in text.splitlines() if line.strip())


def commands(block: Block) -> list[list[str]]:
    """Return the commands of a shell block, each as a list of words, without comments."""
    lines = block.text.replace("\\\n", " ").splitlines()
    found = [shlex.split(line, comments=True) for line in lines]
    return [words for words in found if words]


def everything() -> list[Block]:
    """Return the blocks of all pages."""
    return [block for page in PAGES for block in blocks(page)]
