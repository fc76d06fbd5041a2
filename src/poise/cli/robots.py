"""``poise robots``: which robots there are."""

from __future__ import annotations

import argparse
import json

from poise.robots import listing, table


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.set_defaults(action=_robots)


def _robots(options: argparse.Namespace) -> int:
    found = listing()
    print(json.dumps({"robots": found}) if options.json else table(found))
    return 0
