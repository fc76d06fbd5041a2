"""Runs the campaigns of this folder and writes what they found to a page.

    python campaigns/evidence.py                           # the short ones, to docs/evidence.md: `make evidence`
    python campaigns/evidence.py --size check --only walk  # what every change has to pass
    python campaigns/evidence.py --size full --out nights  # all of it: hours

Tables and recordings go to --out, where an interrupted evidence goes on. Status 1 when a campaign is below its floor.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from poise.campaign import Results, Spec, run_campaign, survival, survival_by
from poise.recording import Bar

HERE = Path(__file__).parent
#: What a style is seen by, of the measures of a walk.
LOOKS = (
    "forward",
    "relative_step_length",
    "cadence",
    "double_support",
    "chest_pitch",
    "gaze_pitch",
    "arm_swing",
    "sway",
)
#: Reasons that are named for each campaign.
NAMED = 3
HEAD = """# Evidence

What Poise survives, in MuJoCo, and what its readers and its solver do with anything that is thrown at them. Every
figure comes from a campaign of the folder `campaigns`; `make evidence` runs their short version and writes this page.
The whole of each runs with the command that stands below its title, and [campaigns](campaigns.md) says how.

A walk survives when it makes its steps without a fall and its divergent component is near its plan in the last second;
other behaviors as `poise run` judges them. Intervals are Wilson's, of 95 %. Among reasons, # is a number that differs.
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", default="short", choices=("full", "short", "check"))
    parser.add_argument("--only", default="", help="words of names, separated by commas")
    parser.add_argument("--out", type=Path, default=Path("build/evidence"))
    parser.add_argument("--page", type=Path, help="default: docs/evidence.md for all short ones, else none")
    parser.add_argument("--workers", type=int)
    options = parser.parse_args()
    words = [word for word in options.only.split(",") if word]
    every = sorted(HERE.glob("*.toml"))
    paths = [path for path in every if not words or any(word in path.stem for word in words)]
    found = [(path, *_ran(path, options)) for path in paths]
    page = options.page or (HERE.parent / "docs/evidence.md" if options.size == "short" and paths == every else None)
    if page is not None:
        page.write_text(text_of(found, options.size), encoding="utf-8")
        print(page)
    low = [spec.title for _, spec, results in found if _below(spec, results)]
    for title in low:
        print(f"below its floor: {title}")
    return 1 if low else 0


def _ran(path: Path, options: argparse.Namespace) -> tuple[Spec, Results]:
    spec = Spec.load(path, options.size)
    with Bar(spec.title, float(len(spec.runs)), unit="runs", counted=True, lines=True) as bar:
        out = options.out / options.size / f"{path.stem}-{spec.plan}"  # a spec that was changed begins anew
        out.parent.mkdir(parents=True, exist_ok=True)
        results = run_campaign(spec, out, options.workers, progress=lambda done, failed: bar(float(done)))
    floor = "" if spec.floor is None else f", floor {spec.floor:g}"
    rate = results.facts.get("runs_per_second") or 0.0
    print(f"{path.stem:18} {survival(results)}{floor}, {rate:.2f} runs/s", file=sys.stderr, flush=True)
    return spec, results


def _below(spec: Spec, results: Results) -> bool:
    return spec.floor is not None and survival(results).value < spec.floor


def text_of(found: Iterable[tuple[Path, Spec, Results]], size: str) -> str:
    """The page."""
    listed = list(found)
    facts = listed[0][2].facts
    versions = ", ".join(f"{name} {number}" for name, number in {"poise": facts["poise"], **facts["versions"]}.items())
    lines = [
        HEAD,
        f"Written {datetime.now(UTC):%Y-%m-%d}, size *{size}*, {versions},",
        f"Python {facts['python']}, on {facts['machine']}.",
        "",
        "| campaign | runs | seeds | survived | floor |",
        "|---|---|---|---|---|",
    ]
    for _, spec, results in listed:
        anchor = re.sub(r"[^\w\- ]", "", spec.title.lower()).replace(" ", "-")
        floor = "" if spec.floor is None else f"{spec.floor:g}"
        seeds = f"{min(spec.seeds)} to {max(spec.seeds)}" if len(spec.seeds) > 1 else str(spec.seeds[0])
        lines.append(f"| [{spec.title}](#{anchor}) | {len(results)} | {seeds} | {survival(results)} | {floor} |")
    for path, spec, results in listed:
        lines += ["", *_section(path, spec, results, size)]
    return "\n".join(lines) + "\n"


def _section(path: Path, spec: Spec, results: Results, size: str) -> list[str]:
    name = path.stem
    lines = [f"## {spec.title}", "", f"    poise campaign campaigns/{name}.toml --out {name}", ""]
    asked = list(dict.fromkeys(name for case in spec.cases for name in case)) + list(spec.grid)
    varied = [name for name in asked if name in results.varied]
    if spec.fixed:
        fixed = ", ".join(f"{name} {value}" for name, value in spec.fixed.items())
        lines += [f"All with {fixed}." + _drawn(spec), ""]
    if varied:
        lines += [*_table(results, varied), ""]
    if "style" in results.varied and f"measure.{LOOKS[0]}" in results.columns:
        lines += [*_looks(results), ""]
    reasons = Counter(re.sub(r"-?\d+(\.\d+)?", "#", str(reason)) for reason in results["reason"] if reason)
    if reasons:
        told = "; ".join(f"{count} x {reason}" for reason, count in reasons.most_common(NAMED))
        lines.append(f"Failures: {told}.")
    else:
        lines.append("No failures.")
    return lines


def _drawn(spec: Spec) -> str:
    if not spec.random:
        return ""
    told = [f"{name} {each.name} {list(each.values)}" for name, each in spec.random.items()]
    return f" Drawn by each seed: {', '.join(told)}."


def _table(results: Results, varied: list[str]) -> list[str]:
    """Survived of tried: all parameters but the last from line to line, the last from column to column."""
    *before, last = varied
    values = results.varied[last]
    cells = survival_by(results, *varied)
    heads = list(dict.fromkeys(key[:-1] for key in cells))
    lines = [
        f"| {', '.join([*before, last])} | {' | '.join(_word(value) for value in values)} |",
        "|" + "---|" * (1 + len(values)),
    ]
    for head in heads:
        told = [cells.get((*head, value)) for value in values]
        shown = " | ".join("" if each is None else f"{each.count}/{each.of}" for each in told)
        lines.append(f"| {', '.join(_word(part) for part in head) or 'survived'} | {shown} |")
    return lines


def _looks(results: Results) -> list[str]:
    """Means of some measures over the walks of a style that survived."""
    names = [f"measure.{name}" for name in LOOKS]
    units = [f" ({results.columns[name].unit})" if results.columns[name].unit else "" for name in names]
    titles = [
        f"{name.removeprefix('measure.').replace('_', ' ')}{unit}" for name, unit in zip(names, units, strict=True)
    ]
    lines = [f"| style | {' | '.join(titles)} |", "|" + "---|" * (1 + len(names))]
    chosen = np.array([bool(each) for each in results["succeeded"]])
    styles = np.array(results["style"])
    columns = {name: np.array(results[name], dtype=float) for name in names}
    for style in dict.fromkeys(results["style"]):
        these = chosen & (styles == style)
        means = [float(np.nanmean(columns[name][these])) if these.any() else np.nan for name in names]
        lines.append(f"| {style} | {' | '.join(f'{mean:.3g}' for mean in means)} |")
    return lines


def _word(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    raise SystemExit(main())
