"""The glossary defines each term once, and a synonym leads to one entry only."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

TEXT = (Path(__file__).parents[2] / "docs/glossary.md").read_text()
ENTRIES = dict(re.findall(r"^### (.+)\n\n(.*?)(?=\n#|\Z)", TEXT, flags=re.M | re.S))


def synonyms(entry: str) -> list[str]:
    """Synonyms of an entry, without parts in brackets."""
    line = re.match(r"\*Also: (.+?)\.\*", entry)
    parts = re.split(r"[,;:]", re.sub(r"\(.*?\)", "", line[1])) if line else []
    return [part.strip().lower() for part in parts if part.strip()]


def test_every_term_is_defined_once() -> None:
    headings = re.findall(r"^### (.+)$", TEXT, flags=re.M)
    assert len(headings) > 60
    assert [term for term, count in Counter(map(str.lower, headings)).items() if count > 1] == []
    for term, entry in ENTRIES.items():
        assert re.sub(r"\A\*Also: .*?\.\*", "", entry, flags=re.S).strip(), f"'{term}' has no definition"


def test_a_synonym_belongs_to_one_entry_and_is_no_term_itself() -> None:
    terms = {term.lower() for term in ENTRIES}
    owners = Counter(name for entry in ENTRIES.values() for name in synonyms(entry))
    assert [name for name, count in owners.items() if count > 1] == []
    assert sorted(terms & set(owners)) == []
