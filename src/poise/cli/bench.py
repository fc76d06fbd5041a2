"""``poise bench``: our solvers and others, in one interleaved run."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from pathlib import Path

from poise.cli.options import count, say
from poise.errors import UsageError


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--peers", action="store_true", help="also measure other packages in environments of their own")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder with recorded sequences (*.npz)")
    parser.add_argument("--repeat", type=count, default=5, metavar="N", help="runs over each sequence (default 5)")
    parser.set_defaults(action=_bench)


def _bench(options: argparse.Namespace) -> int:
    if options.data is not None and not options.data.is_dir():
        raise UsageError(f"there is no folder '{options.data}'; give --data a folder with recorded sequences (*.npz)")
    from poise import bench  # here, because it needs packages that nothing else does

    with contextlib.redirect_stdout(sys.stderr):
        result = bench.run(data=options.data, repeat=options.repeat, peers=options.peers, progress=say)
    print(json.dumps(result) if options.json else bench.table(result))
    return 0
