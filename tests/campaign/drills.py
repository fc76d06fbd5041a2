"""Specs of quick campaigns (fault drills), and readers of their tables."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet

from poise.campaign import Spec
from waiting import run_to_end

POISE = [sys.executable, "-m", "poise"]


def write_spec(text: str, folder: Path, name: str = "drill.toml") -> Path:
    """Write the text of a spec to a file and return its path."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def drill_spec(actions: str = '["nothing"]', seeds: int = 3, more: str = "") -> str:
    """Return the text of a spec of fault drills."""
    return f'title = "drill"\nkind = "fault drill"\nseeds = {seeds}\n{more}\n[grid]\naction = {actions}\n'


def parse_spec(text: str) -> Spec:
    return Spec.parse(text, "made_up.toml")


def results_table(folder: Path) -> pyarrow.Table:
    return pyarrow.parquet.read_table(folder / "results.parquet")


def result_rows(folder: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = results_table(folder).to_pylist()
    return rows


def campaign_command(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run ``poise campaign`` in a process until it ends."""
    command = [*POISE, "campaign", *map(str, arguments)]
    return run_to_end(command, **options)
