"""Scripts that make the pictures of the documentation: what they import exists. They take too long to be run here."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

SCRIPTS = sorted((Path(__file__).parents[2] / "docs/pictures").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_names_that_a_script_imports_from_poise_exist(script: Path) -> None:
    imports = [
        (node.module, alias.name)
        for node in ast.walk(ast.parse(script.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "poise"
        for alias in node.names
    ]
    assert imports
    for module, name in imports:
        assert hasattr(import_module(module), name), f"{script.name} imports {name} from {module}"
