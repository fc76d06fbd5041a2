"""Imports between packages follow the order of docs/architecture.md and go through __init__."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src/poise"
FILES = sorted(path.relative_to(SOURCE) for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")
LINES = re.findall(r"^ {4}(\w.*\|.*)$", (ROOT / "docs/architecture.md").read_text(), flags=re.MULTILINE)
PACKAGES = [*re.findall(r"\w+", " ".join(LINES)), "__main__"]


@cache
def imports(path: Path) -> tuple[tuple[str, str], ...]:
    """(module, name) of everything that a file imports from poise, at any place; name "": a module."""
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


def package_of(module: str, name: str) -> str:
    """Return the package that an import is from; "" is poise itself."""
    parts = [*module.split(".")[1:], name]
    return parts[0] if parts[0] in PACKAGES else ""


def test_the_packages_are_read_from_the_page() -> None:
    assert (PACKAGES[0], PACKAGES[-2], len(PACKAGES)) == ("arrays", "cli", len(set(PACKAGES)))


@pytest.mark.parametrize("path", FILES, ids=str)
def test_a_package_imports_only_from_packages_to_its_left(path: Path) -> None:
    package = path.parts[0].removesuffix(".py")
    assert package in PACKAGES, f"add '{package}' to the packages of docs/architecture.md"
    allowed = {*PACKAGES[: PACKAGES.index(package) + 1], *([""] if package in ("cli", "__main__") else [])}
    assert {package_of(*each) for each in imports(path)} <= allowed


@pytest.mark.parametrize("path", FILES, ids=str)
def test_other_packages_are_imported_through_their_init(path: Path) -> None:
    package = path.parts[0].removesuffix(".py")
    bypassing = [module for module, _ in imports(path) if module.count(".") > 1 and module.split(".")[1] != package]
    assert not bypassing, "import from the __init__ of the package, and export there the names that others need"
