"""``poise campaign``: many runs at once, from a spec to one table."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poise.cli.options import count, say
from poise.recording import Bar

if TYPE_CHECKING:
    from poise.campaign import Results, Spec

BELOW = 1
#: Parameters with more values than this are not listed value by value; the report has them.
LISTED = 12


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", type=Path, metavar="SPEC.toml", help="what to run; see docs/campaigns.md")
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder of the campaign; one begun goes on"
    )
    engine = parser.add_mutually_exclusive_group()
    engine.add_argument("--workers", type=count, metavar="N", help="processes (default: one for each core)")
    engine.add_argument("--ray", metavar="ADDRESS", help="of a Ray cluster, or 'local' (extra poise[ray])")
    parser.add_argument(
        "--size", default="full", choices=("full", "short", "check"), help="which part of the spec (default full)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a summary")
    parser.set_defaults(action=_run)


def _run(options: argparse.Namespace) -> int:
    from poise.campaign import Spec, run_campaign, survival  # here, so that other commands start fast

    spec = Spec.load(options.spec, options.size)
    with Bar(spec.title, float(len(spec.runs)), unit="runs", counted=True, lines=True) as bar:

        def progress(done: int, failed: int) -> None:
            bar(float(done), f"{failed} failed" if failed else "")

        try:
            results = run_campaign(spec, options.out, options.workers, options.ray, progress)
        except KeyboardInterrupt:
            bar.close()
            say(f"poise: interrupted; what is done is in '{options.out}', and the same command goes on from there")
            raise
    facts = _facts(results)
    below = spec.floor is not None and survival(results).value < spec.floor
    none = spec.floor is None and not results.outcomes.get("succeeded")
    reason = f"survival is below the floor of {spec.floor:g}" if below else "no run succeeded" if none else None
    if options.json:
        print(json.dumps({**facts, "reason": reason}))
    else:
        print(_text(results, spec))
        print(f"failed: {reason}" if reason else "done")
    return BELOW if reason else 0


def _facts(results: Results) -> dict[str, Any]:
    from poise.campaign import survival

    share = survival(results)
    names = (
        "title",
        "behavior",
        "size",
        "engine",
        "workers",
        "seconds",
        "runs_per_second",
        "worker_memory_mb",
        "floor",
    )
    return {
        **{name: results.facts.get(name) for name in names},
        "out": str(results.folder),
        "results": str(results.folder / "results.parquet"),
        "planned": results.planned,
        "runs": len(results),
        "survival": results.survival,
        "survival_interval": [share.low, share.high],
        "outcomes": results.outcomes,
        "recordings": sum(file is not None for file in results["recording"]),
    }


def _text(results: Results, spec: Spec) -> str:
    from poise.campaign import survival, survival_by

    facts = results.facts
    lines = [f"{facts['title']}: {len(results)} runs of '{facts['behavior']}', {survival(results)} succeeded"]
    for name, values in results.varied.items():
        if len(values) <= LISTED and name not in spec.random:
            cells = survival_by(results, name)
            told = [f"{_short(value)} {cells[(value,)].count}/{cells[(value,)].of}" for value in values]
            lines.append(f"  {name}: {', '.join(told)}")
    lines += [f"  {count} {name}" for name, count in results.outcomes.items() if name != "succeeded"]
    reasons = [str(reason) for reason in results["reason"] if reason]
    lines += [f"  e.g. {reason}" for reason in list(dict.fromkeys(reasons))[:3]]
    memory = [value for value in facts.get("worker_memory_mb", {}).values() if value]
    if memory:
        rate = f"{facts['runs_per_second']:.2f} runs/s, " if facts.get("runs_per_second") else ""
        lines.append(f"  {rate}{len(memory)} workers, at most {max(memory):.0f} MB each")
    kept = [results.folder / str(file) for file in results["recording"] if file]
    if kept:
        size = sum(path.stat().st_size for path in kept if path.exists())
        lines.append(f"  {len(kept)} recordings kept, {1e-6 * size:.0f} MB")
    lines.append(f"  {results.folder / 'results.parquet'}; to look at: poise report {results.folder} --out report.html")
    return "\n".join(lines)


def _short(value: object) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return Path(value).name if isinstance(value, str) and os.sep in value else str(value)
