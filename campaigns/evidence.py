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

from poise.campaign import Results, Spec, run_campaign, success_rate, success_rate_by
from poise.recording import ProgressBar

HERE = Path(__file__).parent
#: What a style is seen by, of the measures of a walk.
STYLE_MEASURES = (
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
MAX_REASONS = 3
PAGE_HEADER = """# Evidence

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
    all_specs = sorted(HERE.glob("*.toml"))
    paths = [path for path in all_specs if not words or any(word in path.stem for word in words)]
    campaigns = [(path, *_run_spec(path, options)) for path in paths]
    page = options.page or (
        HERE.parent / "docs/evidence.md" if options.size == "short" and paths == all_specs else None
    )
    if page is not None:
        page.write_text(page_text(campaigns, options.size), encoding="utf-8")
        print(page)
    failed_titles = [spec.title for _, spec, results in campaigns if _is_below_floor(spec, results)]
    for title in failed_titles:
        print(f"below its floor: {title}")
    return 1 if failed_titles else 0


def _run_spec(path: Path, options: argparse.Namespace) -> tuple[Spec, Results]:
    spec = Spec.load(path, options.size)
    with ProgressBar(spec.title, float(len(spec.runs)), unit="runs", count_items=True, log_lines=True) as bar:
        out = options.out / options.size / f"{path.stem}-{spec.plan_digest}"  # a spec that was changed begins anew
        out.parent.mkdir(parents=True, exist_ok=True)
        results = run_campaign(spec, out, options.workers, progress=lambda done, failed: bar(float(done)))
    floor = "" if spec.min_success_rate is None else f", floor {spec.min_success_rate:g}"
    rate = results.facts.get("runs_per_second") or 0.0
    print(f"{path.stem:18} {success_rate(results)}{floor}, {rate:.2f} runs/s", file=sys.stderr, flush=True)
    return spec, results


def _is_below_floor(spec: Spec, results: Results) -> bool:
    return spec.min_success_rate is not None and success_rate(results).value < spec.min_success_rate


def page_text(campaigns: Iterable[tuple[Path, Spec, Results]], size: str) -> str:
    """The page."""
    all_campaigns = list(campaigns)
    facts = all_campaigns[0][2].facts
    versions = ", ".join(f"{name} {number}" for name, number in {"poise": facts["poise"], **facts["versions"]}.items())
    lines = [
        PAGE_HEADER,
        f"Written {datetime.now(UTC):%Y-%m-%d}, size *{size}*, {versions},",
        f"Python {facts['python']}, on {facts['machine']}.",
        "",
        "| campaign | runs | seeds | survived | floor |",
        "|---|---|---|---|---|",
    ]
    for _, spec, results in all_campaigns:
        anchor = re.sub(r"[^\w\- ]", "", spec.title.lower()).replace(" ", "-")
        floor = "" if spec.min_success_rate is None else f"{spec.min_success_rate:g}"
        seeds = f"{min(spec.seeds)} to {max(spec.seeds)}" if len(spec.seeds) > 1 else str(spec.seeds[0])
        lines.append(f"| [{spec.title}](#{anchor}) | {len(results)} | {seeds} | {success_rate(results)} | {floor} |")
    for path, spec, results in all_campaigns:
        lines += ["", *_section(path, spec, results, size)]
    return "\n".join(lines) + "\n"


def _section(path: Path, spec: Spec, results: Results, size: str) -> list[str]:
    name = path.stem
    lines = [f"## {spec.title}", "", f"    poise campaign campaigns/{name}.toml --out {name}", ""]
    parameter_names = list(dict.fromkeys(name for case in spec.cases for name in case)) + list(spec.grid)
    varied_names = [name for name in parameter_names if name in results.varied_parameters]
    if spec.fixed:
        fixed = ", ".join(f"{name} {value}" for name, value in spec.fixed.items())
        lines += [f"All with {fixed}." + _distributions_text(spec), ""]
    if varied_names:
        lines += [*_success_table(results, varied_names), ""]
    if "style" in results.varied_parameters and f"measure.{STYLE_MEASURES[0]}" in results.columns:
        lines += [*_style_table(results), ""]
    reasons = Counter(re.sub(r"-?\d+(\.\d+)?", "#", str(reason)) for reason in results["reason"] if reason)
    if reasons:
        reason_texts = "; ".join(f"{count} x {reason}" for reason, count in reasons.most_common(MAX_REASONS))
        lines.append(f"Failures: {reason_texts}.")
    else:
        lines.append("No failures.")
    return lines


def _distributions_text(spec: Spec) -> str:
    if not spec.random:
        return ""
    texts = [f"{name} {each.name} {list(each.values)}" for name, each in spec.random.items()]
    return f" Drawn by each seed: {', '.join(texts)}."


def _success_table(results: Results, varied_names: list[str]) -> list[str]:
    """Survived of tried: all parameters but the last from line to line, the last from column to column."""
    *row_names, column_name = varied_names
    values = results.varied_parameters[column_name]
    cells = success_rate_by(results, *varied_names)
    heads = list(dict.fromkeys(key[:-1] for key in cells))
    lines = [
        f"| {', '.join([*row_names, column_name])} | {' | '.join(_format_value(value) for value in values)} |",
        "|" + "---|" * (1 + len(values)),
    ]
    for head in heads:
        row_cells = [cells.get((*head, value)) for value in values]
        row_text = " | ".join("" if each is None else f"{each.count}/{each.total}" for each in row_cells)
        lines.append(f"| {', '.join(_format_value(part) for part in head) or 'survived'} | {row_text} |")
    return lines


def _style_table(results: Results) -> list[str]:
    """Means of some measures over the walks of a style that survived."""
    names = [f"measure.{name}" for name in STYLE_MEASURES]
    units = [f" ({results.columns[name].unit})" if results.columns[name].unit else "" for name in names]
    titles = [
        f"{name.removeprefix('measure.').replace('_', ' ')}{unit}" for name, unit in zip(names, units, strict=True)
    ]
    lines = [f"| style | {' | '.join(titles)} |", "|" + "---|" * (1 + len(names))]
    succeeded = np.array([bool(each) for each in results["succeeded"]])
    styles = np.array(results["style"])
    columns = {name: np.array(results[name], dtype=float) for name in names}
    for style in dict.fromkeys(results["style"]):
        selected = succeeded & (styles == style)
        means = [float(np.nanmean(columns[name][selected])) if selected.any() else np.nan for name in names]
        lines.append(f"| {style} | {' | '.join(f'{mean:.3g}' for mean in means)} |")
    return lines


def _format_value(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    raise SystemExit(main())
