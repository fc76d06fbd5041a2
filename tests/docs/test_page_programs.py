"""Every program on a page runs and prints the output below it; every file on a page is read."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from page_blocks import LANGUAGES, PAGES, blocks, everything
from page_following import COMMANDS_FIRST, FOLLOWED, follow_page, name_of, needs_models, text_after

#: Output of the last program of a page, where the page does not show it.
LAST = {"README.md": "walked 4 steps\n"}
PROGRAMS = [
    page
    for page in PAGES
    if name_of(page) not in COMMANDS_FIRST and any(block.language in ("python", "toml") for block in blocks(page))
]


@pytest.mark.parametrize("page", PROGRAMS, ids=name_of)
def test_the_programs_of_a_page_run_and_print_the_output_below_them(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs_models(page)
    monkeypatch.chdir(tmp_path)
    last = follow_page(page, tmp_path, execute=name_of(page) in FOLLOWED)
    assert last == LAST.get(name_of(page), last)


def test_every_block_of_every_page_has_a_runner() -> None:
    for block in everything():
        if block.language == "display":
            code = re.search(
                r"^(import|from|def|class|for|poise|make|pip) |\bpoise\.|^\w+ = \w+\(", block.text, flags=re.M
            )
            assert not code, f"{block.name} is code that is not run: fence it as ```python or ```sh"
        else:
            assert block.language in LANGUAGES, f"{block.name}: no runner for blocks of '{block.language}'"
        if block.language == "json":
            json.loads(block.text)


def test_every_output_block_follows_its_program() -> None:
    for page in PAGES:
        found = blocks(page)
        below = [text_after(page.read_text(), block) for block in found if block.language == "python"]
        assert sum(text.startswith("It prints `") for text in below) == page.read_text().count("It prints `")
        for number, block in enumerate(found):
            if block.language == "text":
                assert found[number - 1].language in ("python", "sh"), f"{block.name} has no program that prints it"
