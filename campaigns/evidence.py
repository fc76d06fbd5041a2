"""Run the campaigns of this folder and write a page with their results.

    python campaigns/evidence.py                           # short campaigns, to docs/evidence.md: `make evidence`
    python campaigns/evidence.py --size check --only walk  # the runs that every change has to pass
    python campaigns/evidence.py --size full --out nights  # all runs: hours

Tables and recordings are written to --out; repeat the command to continue after an interruption. The exit status is 1
if the success rate of a campaign is below its minimum.
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
#: Measures of a walk that distinguish styles.
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
#: Largest number of reasons for failure listed for each campaign.
MAX_REASONS = 3
PAGE_HEADER = """# Evidence

Success rates of motions with disturbances in MuJoCo, and of file readers, controllers and the solver with random input.
Every figure comes from a campaign in the folder `campaigns`; `make evidence` runs the short version of each campaign
and writes this page. The command below each title runs the full campaign; see [campaigns](campaigns.md).

A walk succeeds if the robot makes all its steps without a fall and the divergent component of motion (DCM) is close to
its plan in the last second. In the campaign on the quality of walks, a warning about a figure of quality is a failure,
too. Other motions succeed by the criteria of `poise run`. Intervals are 95 % Wilson intervals. In the reasons of
failures, of which a run may have several, # stands for a number.
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--size", default="short", choices=("full", "short", "check"), help="size of the campaigns (default short)"
    )
    parser.add_argument(
        "--only", default="", help="run only campaigns whose names contain one of these words, by commas"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("build/evidence"), help="folder for results (default build/evidence)"
    )
    parser.add_argument(
        "--page", type=Path, help="page to write (default: docs/evidence.md for all short campaigns, otherwise none)"
    )
    parser.add_argument("--workers", type=int, help="number of worker processes (default: one per core)")
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
    failed_titles = [spec.title for _, spec, results in campaigns if _is_below_minimum(spec, results)]
    for title in failed_titles:
        print(f"below the minimum success rate: {title}")
    return 1 if failed_titles else 0


def _run_spec(path: Path, options: argparse.Namespace) -> tuple[Spec, Results]:
    spec = Spec.load(path, options.size)
    with ProgressBar(spec.title, float(len(spec.runs)), unit="runs", count_items=True, log_lines=True) as bar:
        out = options.out / options.size / f"{path.stem}-{spec.plan_digest}"  # a changed spec starts again
        out.parent.mkdir(parents=True, exist_ok=True)
        results = run_campaign(spec, out, options.workers, progress=lambda done, failed: bar(float(done)))
    minimum = "" if spec.min_success_rate is None else f", minimum {spec.min_success_rate:g}"
    rate = results.facts.get("runs_per_second") or 0.0
    print(f"{path.stem:18} {success_rate(results)}{minimum}, {rate:.2f} runs/s", file=sys.stderr, flush=True)
    return spec, results


def _is_below_minimum(spec: Spec, results: Results) -> bool:
    return spec.min_success_rate is not None and success_rate(results).value < spec.min_success_rate


def page_text(campaigns: Iterable[tuple[Path, Spec, Results]], size: str) -> str:
    """Return the text of the page in Markdown."""
    all_campaigns = list(campaigns)
    facts = all_campaigns[0][2].facts
    versions = ", ".join(f"{name} {number}" for name, number in {"poise": facts["poise"], **facts["versions"]}.items())
    lines = [
        PAGE_HEADER,
        f"Written {datetime.now(UTC):%Y-%m-%d}, size *{size}*, {versions},",
        f"Python {facts['python']}, on {facts['machine']}.",
        "",
        "| campaign | runs | seeds | succeeded | minimum success rate |",
        "|---|---|---|---|---|",
    ]
    for _, spec, results in all_campaigns:
        anchor = re.sub(r"[^\w\- ]", "", spec.title.lower()).replace(" ", "-")
        minimum = "" if spec.min_success_rate is None else f"{spec.min_success_rate:g}"
        seeds = f"{min(spec.seeds)} to {max(spec.seeds)}" if len(spec.seeds) > 1 else str(spec.seeds[0])
        lines.append(f"| [{spec.title}](#{anchor}) | {len(results)} | {seeds} | {success_rate(results)} | {minimum} |")
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
        lines += [f"Fixed parameters: {fixed}." + _distributions_text(spec), ""]
    if varied_names:
        lines += [*_success_table(results, varied_names), ""]
    if "style" in results.varied_parameters and f"measure.{STYLE_MEASURES[0]}" in results.columns:
        lines += [*_style_table(results), ""]
    reasons = Counter(
        re.sub(r"[-+]?\d+(\.\d+)?", "#", part)
        for reason in results["reason"]
        if reason
        for part in str(reason).split("; ")
    )
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
    return f" Random parameters: {', '.join(texts)}."


def _success_table(results: Results, varied_names: list[str]) -> list[str]:
    """Return a table of successful and all runs: the last parameter varies over columns, all others over lines."""
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
        lines.append(f"| {', '.join(_format_value(part) for part in head) or 'succeeded'} | {row_text} |")
    return lines


def _style_table(results: Results) -> list[str]:
    """Return a table of the means of some measures over the successful walks of each style."""
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
        lines.append(f"| {style} | {' | '.join('' if np.isnan(mean) else f'{mean:.3g}' for mean in means)} |")
    return lines


def _format_value(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    raise SystemExit(main())
