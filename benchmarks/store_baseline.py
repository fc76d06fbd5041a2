"""Keeps the ratios and counts of a result of `poise bench --json`, read from standard input, beside this file."""

import json
import sys
from pathlib import Path

from poise import bench

if __name__ == "__main__":
    kept = bench.ratios_and_counts(json.load(sys.stdin))
    Path(__file__).with_name("solver_baseline.json").write_text(json.dumps(kept, indent=1) + "\n")
