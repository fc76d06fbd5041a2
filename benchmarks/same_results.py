"""Compare motions of two versions of Poise: recordings, results and gait studies of two folders, number by number.

    python benchmarks/same_results.py record BEFORE --poise OLD/.venv/bin/poise     # with the first version
    python benchmarks/same_results.py record AFTER                                  # with the second version
    python benchmarks/same_results.py compare BEFORE AFTER

`record` runs a walk, two reaches, two navigations, a squat on servos and a stand, and a gait study of the trials that
are given with --trials. `compare` prints the largest difference of every file, relative to the size of its channel, and
ends with status 1 if one exceeds --tolerance. Times of computation are left out.
"""

from __future__ import annotations

import argparse
import json
import math
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from poise import Recording, load_recording

MOTIONS = {
    "walk": "walk --robot g1 --style proud --steps 10 --push 40,10,0,0.1@3 --seed 3",
    "reach": "reach --robot talos",
    "reach_torque": "reach --robot g1 --mode torque --plant mujoco --profile minimum-jerk",
    "navigate": "navigate --robot g1 --random --seconds 12 --seed 3",
    "navigate_servo": "navigate --robot mighty --random --seconds 8 --seed 2",
    "squat": "squat --robot hoap3 --mode position",
    "stand": "stand --robot g1 --push 100,0,0,0.1@0.5 --seconds 3",
}
#: Computation times, which differ from run to run.
TIMES = ("control_ms", "realtime_factor", "milliseconds", "seconds_per_frame", "ms_per_frame", "overrun_ticks")
#: End of the warning about steps that took too long, whose number differs from run to run.
OVERRUN_WARNING = "took longer than the control period"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    record = commands.add_parser("record", help="run the motions into a folder")
    record.add_argument("folder", type=Path)
    record.add_argument("--poise", default="poise", help="the command to run (default: poise)")
    record.add_argument("--trials", nargs="*", default=[], metavar="FILE", help="trials of a gait study")
    compare = commands.add_parser("compare", help="compare two folders")
    compare.add_argument("before", type=Path)
    compare.add_argument("after", type=Path)
    compare.add_argument("--tolerance", type=float, default=1e-9, help="largest relative difference (default 1e-9)")
    options = parser.parse_args()
    if options.command == "record":
        return run_motions(options.folder, options.poise, options.trials)
    return compare_folders(options.before, options.after, options.tolerance)


def run_motions(folder: Path, poise: str, trials: list[str]) -> int:
    """Run all motions with a command into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, words in MOTIONS.items():
        output = ["--out", str(folder / f"{name}.poise"), "--json"]
        process = subprocess.run(
            [poise, "run", *shlex.split(words), *output], capture_output=True, text=True, check=False
        )
        (folder / f"{name}.json").write_text(process.stdout)
        print(f"{name}: exit status {process.returncode}")
    if trials:
        gait_command = [poise, "human", "gait", *trials, "--out", str(folder / "study"), "--json"]
        process = subprocess.run(gait_command, capture_output=True, text=True, check=False)
        (folder / "gait.json").write_text(process.stdout)
        print(f"gait study: exit status {process.returncode}")
    return 0


def compare_folders(before: Path, after: Path, tolerance: float) -> int:
    """Print the largest difference of every file that both folders have."""
    failed = False
    for path in sorted(before.glob("*.poise")):
        if not (after / path.name).exists():
            continue
        worst, channel, count = compare_recordings(load_recording(path), load_recording(after / path.name))
        failed |= worst > tolerance
        print(f"{path.name:24} {count:4d} channels, largest relative difference {worst:.2e} {channel}")
    for path in sorted(before.glob("*.json")):
        if not (after / path.name).exists():
            continue
        all_differences = list(differences(json.loads(path.read_text()), json.loads((after / path.name).read_text())))
        worst, where = max(all_differences, default=(0.0, ""))
        failed |= worst > tolerance
        print(f"{path.name:24} {len(all_differences):4d} values,   largest relative difference {worst:.2e} {where}")
    return int(failed)


def compare_recordings(before: Recording, after: Recording) -> tuple[float, str, int]:
    """Return the largest relative difference of a channel, its name, and the number of compared channels."""
    worst, where, count = 0.0, "", 0
    for name in before.channels:
        if any(word in name for word in TIMES):
            continue
        count += 1
        if name not in after:
            return math.inf, f"({name} is missing)", count
        a, b = before[name], after[name]
        if a.shape != b.shape:
            return math.inf, f"({name}: shape {a.shape} and {b.shape})", count
        if a.dtype.kind not in "fiub":
            difference = 0.0 if (a == b).all() else math.inf
        else:
            size = max(float(np.nanmax(np.abs(a), initial=0.0)), 1e-12)
            same = np.isnan(a.astype(float)) & np.isnan(b.astype(float))
            gap = np.where(same, 0.0, np.abs(a.astype(float) - b.astype(float)))
            difference = math.inf if np.isnan(gap).any() else float(gap.max(initial=0.0)) / size
        if difference > worst:
            worst, where = difference, f"({name})"
    return worst, where, count


def differences(before: Any, after: Any, path: str = "") -> Any:
    """Yield relative differences of all numbers of two JSON values with their paths; infinite if types differ."""
    if any(path.endswith(word) or f"{word}." in path for word in TIMES):
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after}):
            if key not in before or key not in after:
                yield math.inf, f"({path}.{key} is in one of them only)"
            else:
                yield from differences(before[key], after[key], f"{path}.{key}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for i, (a, b) in enumerate(zip(before, after, strict=True)):
            yield from differences(a, b, f"{path}.{i}")
    elif isinstance(before, (int, float)) and isinstance(after, (int, float)):
        yield abs(before - after) / max(abs(before), 1e-9), f"({path})"
    elif not (str(before).endswith(OVERRUN_WARNING) and str(after).endswith(OVERRUN_WARNING)):
        yield (0.0 if before == after else math.inf), f"({path}: {before!r} and {after!r})"


if __name__ == "__main__":
    sys.exit(main())
