"""Print the line coverage of every room, from the JSON report of coverage.py.

python tests/coverage_rooms.py build/coverage/coverage.json
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path


def rooms(report: Path) -> dict[str, tuple[int, int]]:
    """Statements and statements that ran, by room: a folder or a module of ``src/poise``."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for name, file in json.loads(report.read_text())["files"].items():
        parts = Path(name).parts
        room = parts[len(parts) - parts[::-1].index("poise")].removesuffix(".py")
        counts[room][0] += file["summary"]["num_statements"]
        counts[room][1] += file["summary"]["covered_lines"]
    return {room: (counts[room][0], counts[room][1]) for room in sorted(counts)}


def table(counts: dict[str, tuple[int, int]]) -> str:
    """One line per room, then the total."""
    total = (sum(count for count, _ in counts.values()), sum(ran for _, ran in counts.values()))
    lines = [f"{'room':16} {'statements':>10} {'missed':>8} {'coverage':>9}"]
    for room, (count, ran) in [*counts.items(), ("all", total)]:
        lines.append(f"{room:16} {count:10} {count - ran:8} {100 * ran / max(count, 1):8.1f}%")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(rooms(Path(sys.argv[1]))))
