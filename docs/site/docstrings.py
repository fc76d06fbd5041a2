"""Griffe extension: conversion of docstrings and ``#:`` comments to Markdown for the reference."""

from __future__ import annotations

import ast
import re
import textwrap
from typing import Any

import griffe

#: An interpreter session, until the next empty line.
SESSION = re.compile(r"^( *)>>> .*(?:\n(?! *$).*)*", flags=re.MULTILINE)
#: A citation of a paper.
PAPER = re.compile(r"(?<!`)\[(Saab2012|Sugihara2008|Dalibard2012|Galdeano2014|Boukheddimi2019)\](?![(`])")


class MarkdownDocstrings(griffe.Extension):
    """Convert ``::`` to ``:``, interpreter sessions to code blocks, and ``#:`` comments to docstrings."""

    def on_instance(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = to_markdown(obj.docstring.value)

    def on_module_members(self, *, node: Any, mod: griffe.Module, **kwargs: Any) -> None:
        """Add the attributes of assignments such as ``LOWER, UPPER = -1, 1``, each with the comment above the line."""
        for line in getattr(node, "body", []):
            if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Tuple):
                values = line.value.elts if isinstance(line.value, ast.Tuple) else []
                for place, name in enumerate(line.targets[0].elts):
                    if isinstance(name, ast.Name) and name.id not in mod.members:
                        value = ast.unparse(values[place]) if values else ast.unparse(line.value)
                        attribute = griffe.Attribute(name.id, value=value, lineno=line.lineno, parent=mod)
                        mod.set_member(name.id, attribute)
                        self.on_attribute_instance(attr=attribute)

    def on_attribute_instance(self, *, attr: griffe.Attribute, **kwargs: Any) -> None:
        if attr.docstring is None and attr.lineno is not None:
            text = comment(attr)
            if text:
                attr.docstring = griffe.Docstring(to_markdown(text), parent=attr)


def to_markdown(text: str) -> str:
    """Return a docstring as Markdown."""
    text = SESSION.sub(fenced, text)
    text = PAPER.sub(lambda name: f"[\\[{name[1]}\\]](../papers.html#{name[1].lower()})", text)
    return re.sub(r"::$", ":", text, flags=re.MULTILINE)


def fenced(session: re.Match[str]) -> str:
    """Return an interpreter session as a code block without prompts."""
    indent = session[1]
    lines = [re.sub(r"^(>>>|\.\.\.) ?", "", line) for line in textwrap.dedent(session[0]).splitlines()]
    return "\n".join(f"{indent}{line}".rstrip() for line in ["```python", *lines, "```"])


def comment(attribute: griffe.Attribute) -> str:
    """Return the ``#:`` comment above an attribute."""
    lines = attribute.module.filepath.read_text().splitlines()  # type: ignore[union-attr]
    number = (attribute.lineno or 1) - 2
    found: list[str] = []
    while number >= 0 and lines[number].strip().startswith("#:"):
        found.insert(0, lines[number].strip().removeprefix("#:").strip())
        number -= 1
    return " ".join(found)
