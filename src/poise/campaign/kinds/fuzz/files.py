"""Fuzz files: a file with something wrong in it, through every reader that takes it."""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np

from poise.campaign.kinds.fuzz.bases import base
from poise.campaign.kinds.fuzz.formats import FORMATS, quietly
from poise.campaign.kinds.fuzz.judging import brief, judged
from poise.campaign.kinds.fuzz.mutations import MUTATIONS
from poise.campaign.kinds.fuzz.structures import structure
from poise.campaign.kinds.kind import Column, Kind, Outcome, Value, check_word, filled_in

#: What can be done to a file; "none" is nothing, and then every reader must read it.
WAYS = (*MUTATIONS, "structure", "none")


class FuzzFiles(Kind):
    """Parameters: ``format``, one of `FORMATS`, and ``mutation``, one of `WAYS`.

    A run makes a file, hands it to every reader of its format and touches what comes out. It succeeds if each reader
    gives a result or a PoiseError of one clear line; a crash, a hang and too much memory are for the campaign to see.
    """

    name = "fuzz files"
    columns: Mapping[str, Column] = {
        "bytes": Column("count", "", "size of the file"),
        "readers": Column("count", "", "readers that were given it"),
        "results": Column("count", "", "of these, how many made something of it"),
        "refusals": Column("count", "", "of these, how many refused it in one clear line"),
        "message": Column("text", "", "of the first that refused it"),
    }

    def read(self, given: Mapping[str, Value], base: Path) -> dict[str, Value]:
        parameters = filled_in(self.name, given, {"format": None, "mutation": None})
        check_word("format", parameters["format"], FORMATS)
        check_word("mutation", parameters["mutation"], WAYS)
        return parameters

    def perform(self, parameters: Mapping[str, Value], seed: int, along: Path | None = None) -> Outcome:
        form, way = str(parameters["format"]), str(parameters["mutation"])
        data = mutated(form, way, seed)
        faults, messages, results = [], [], 0
        with tempfile.TemporaryDirectory() as folder:
            for name, reader in FORMATS[form].readers.items():
                verdict = judged(partial(quietly, reader, written(form, data, Path(folder))))
                results += verdict.result
                if not verdict.result:
                    messages.append(_placeless(verdict.message, folder))
                if verdict.fault:
                    faults.append(_placeless(f"{name}: {verdict.fault}", folder))
        if way == "none" and results < len(FORMATS[form].readers) and not faults:
            faults.append(f"a sound file is refused: {messages[0]}")
        values: dict[str, Value] = {
            "bytes": len(data),
            "readers": len(FORMATS[form].readers),
            "results": results,
            "refusals": len(messages) - len(faults),
            "message": messages[0] if messages else None,
        }
        return Outcome(values, "; ".join(faults), partial(_save, data), FORMATS[form].suffix)


def mutated(form: str, way: str, seed: int) -> bytes:
    """The file of a seed."""
    random = np.random.default_rng([seed, zlib.crc32(form.encode()), zlib.crc32(way.encode())])
    if way == "structure":
        return structure(form, random)
    return MUTATIONS[way](random, base(form)) if way in MUTATIONS else base(form)


def written(form: str, data: bytes, folder: Path) -> Path:
    """The file in a folder, with all that must lie beside it."""
    for name, text in FORMATS[form].beside.items():
        (folder / name).write_text(text, encoding="utf-8")
    path = folder / FORMATS[form].file
    path.write_bytes(data)
    return path


def _placeless(message: str, folder: str) -> str:
    """A message without the folder of this run, which is another each time."""
    return brief(message.replace(f"{folder}/", "").replace(folder, ""), 300)


def _save(data: bytes, path: Path) -> None:
    path.write_bytes(data)
