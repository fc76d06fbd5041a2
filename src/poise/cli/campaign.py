"""Command ``poise campaign``: execute the runs of a spec file in parallel and print a summary."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poise.cli.options import count_argument, print_status
from poise.recording import ProgressBar

if TYPE_CHECKING:
    from poise.campaign import Results, Spec

FAILED = 1
#: Largest number of values of a parameter for which the summary lists every value. The report lists all of them.
MAX_LISTED_VALUES = 12


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``poise campaign`` to a parser."""
    parser.add_argument("spec", type=Path, metavar="SPEC.toml", help="spec of the campaign; see docs/campaigns.md")
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="DIR",
        help="write results to this folder; continue the campaign if it is there already",
    )
    engine = parser.add_mutually_exclusive_group()
    engine.add_argument(
        "--workers", type=count_argument, metavar="N", help="number of worker processes (default: one per core)"
    )
    engine.add_argument(
        "--ray", metavar="ADDRESS", help="run on the Ray cluster at this address, or 'local' (needs poise[ray])"
    )
    parser.add_argument(
        "--size", default="full", choices=("full", "short", "check"), help="size of the campaign (default full)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a summary")
    parser.set_defaults(action=_run)


def _run(options: argparse.Namespace) -> int:
    from poise.campaign import Spec, run_campaign, success_rate  # imported late so that other commands start fast

    spec = Spec.load(options.spec, options.size)
    with ProgressBar(spec.title, float(len(spec.runs)), unit="runs", count_items=True, log_lines=True) as bar:

        def progress(completed: int, failed: int) -> None:
            bar(float(completed), f"{failed} failed" if failed else "")

        try:
            results = run_campaign(spec, options.out, options.workers, options.ray, progress)
        except KeyboardInterrupt:
            bar.close()
            print_status(f"poise: interrupted; finished runs are in '{options.out}', repeat the command to continue")
            raise
    summary = _summary(results)
    is_below_minimum = spec.min_success_rate is not None and success_rate(results).value < spec.min_success_rate
    none_succeeded = spec.min_success_rate is None and not results.outcomes.get("succeeded")
    reason = (
        f"the success rate is below the minimum of {spec.min_success_rate:g}"
        if is_below_minimum
        else "no run succeeded"
        if none_succeeded
        else None
    )
    if options.json:
        print(json.dumps({**summary, "reason": reason}))
    else:
        print(_summary_text(results, spec))
        print(f"failed: {reason}" if reason else "done")
    return FAILED if reason else 0


def _summary(results: Results) -> dict[str, Any]:
    from poise.campaign import success_rate

    rate = success_rate(results)
    names = (
        "title",
        "kind",
        "size",
        "engine",
        "workers",
        "seconds",
        "runs_per_second",
        "worker_memory_mb",
        "min_success_rate",
    )
    return {
        **{name: results.facts.get(name) for name in names},
        "out": str(results.folder),
        "results": str(results.folder / "results.parquet"),
        "planned_runs": results.planned_runs,
        "runs": len(results),
        "success_rate": results.success_rate,
        "success_rate_interval": [rate.low, rate.high],
        "outcomes": results.outcomes,
        "recordings": sum(file is not None for file in results["recording"]),
    }


def _summary_text(results: Results, spec: Spec) -> str:
    from poise.campaign import success_rate, success_rate_by

    facts = results.facts
    lines = [f"{facts['title']}: {len(results)} runs of '{facts['kind']}', {success_rate(results)} succeeded"]
    for name, values in results.varied_parameters.items():
        if len(values) <= MAX_LISTED_VALUES and name not in spec.random:
            cells = success_rate_by(results, name)
            entries = [f"{_format_value(value)} {cells[(value,)].count}/{cells[(value,)].total}" for value in values]
            lines.append(f"  {name}: {', '.join(entries)}")
    lines += [f"  {count} {name}" for name, count in results.outcomes.items() if name != "succeeded"]
    reasons = [str(reason) for reason in results["reason"] if reason]
    lines += [f"  e.g. {reason}" for reason in list(dict.fromkeys(reasons))[:3]]
    memory = [value for value in facts.get("worker_memory_mb", {}).values() if value]
    if memory:
        rate = f"{facts['runs_per_second']:.2f} runs/s, " if facts.get("runs_per_second") else ""
        lines.append(f"  {rate}{len(memory)} workers, at most {max(memory):.0f} MB each")
    recordings = [results.folder / str(file) for file in results["recording"] if file]
    if recordings:
        size = sum(path.stat().st_size for path in recordings if path.exists())
        lines.append(f"  {len(recordings)} recordings, {1e-6 * size:.0f} MB")
    lines.append(f"  {results.folder / 'results.parquet'}; to view: poise report {results.folder} --out report.html")
    return "\n".join(lines)


def _format_value(value: object) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return Path(value).name if isinstance(value, str) and os.sep in value else str(value)
