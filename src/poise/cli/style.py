"""Command ``poise style``: the style of a recorded walk."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from poise.cli.options import check_writable, load_motion


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``poise style`` to a parser."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    derive = actions.add_parser(
        "from",
        help="measure the style of a recorded walk",
        description="Measure the style of a recorded walk, for 'poise run walk --style FILE.toml' on any robot.",
    )
    derive.add_argument(
        "clip", type=Path, metavar="CLIP", help="a .bvh, .c3d or .trc file of a person, or a .poise recording"
    )
    derive.add_argument("--out", type=Path, metavar="FILE.toml", help="write the style to this file")
    derive.add_argument("--robot", metavar="NAME|FILE", help="robot that walks (default: named in the recording)")
    derive.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    derive.set_defaults(action=_derive)


def _derive(options: argparse.Namespace) -> int:
    check_writable(options.out, (".toml",))
    from poise.analysis import analyze_walk, estimate_style  # imported late so that other commands start fast
    from poise.plans import PARAMETERS

    recording, robot = load_motion(options.clip, options.robot)
    estimate = estimate_style(analyze_walk(recording, robot), options.clip.stem)
    if options.out is not None:
        estimate.style.save(options.out)
    used = {name: float(getattr(estimate.style, name)) for name in estimate.measured}
    if options.json:
        limited = {name: measured for name, (measured, _) in estimate.limited.items()}
        print(json.dumps({"clip": str(options.clip), "style": used, "beyond_range": limited}))
        return 0
    print(f"style of {options.clip}")
    for name, value in used.items():
        unit = PARAMETERS[name].unit
        beyond = f"  (measured {estimate.limited[name][0]:.3g}, out of range)" if name in estimate.limited else ""
        print(f"  {name:<16} {value:>8.3f} {unit}{beyond}")
    if options.out is not None:
        print(f"written to {options.out}")
    return 0
