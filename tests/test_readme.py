"""The program printed in the README runs as it stands and prints what stands below it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path


def block(text: str, language: str) -> str:
    """The only fenced block in this language."""
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    return str(found)


def without_timing(text: str) -> str:
    return re.sub(r"\d+ iterations?, \S+ ms", "...", text)


def test_the_program_of_the_readme_prints_what_the_readme_says(root: Path) -> None:
    readme = (root / "README.md").read_text()
    program = block(readme, "python")
    assert len(program.splitlines()) <= 15
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert without_timing(result.stdout) == without_timing(block(readme, "text"))
