"""Print the line coverage of every package, from the JSON report of coverage.py.

python tests/coverage_packages.py build/coverage/coverage.json
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path


def packages(report: Path) -> dict[str, tuple[int, int]]:
    """Statements and statements that ran, by package: a folder or a module of ``src/poise``."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for name, file in json.loads(report.read_text())["files"].items():
        parts = Path(name).parts
        package = parts[len(parts) - parts[::-1].index("poise")].removesuffix(".py")
        counts[package][0] += file["summary"]["num_statements"]
        counts[package][1] += file["summary"]["covered_lines"]
    return {package: (counts[package][0], counts[package][1]) for package in sorted(counts)}


def table(counts: dict[str, tuple[int, int]]) -> str:
    """One line per package, then the total."""
    total = (sum(count for count, _ in counts.values()), sum(covered for _, covered in counts.values()))
    lines = [f"{'package':16} {'statements':>10} {'missed':>8} {'coverage':>9}"]
    for package, (count, covered) in [*counts.items(), ("all", total)]:
        lines.append(f"{package:16} {count:10} {count - covered:8} {100 * covered / max(count, 1):8.1f}%")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(packages(Path(sys.argv[1]))))
