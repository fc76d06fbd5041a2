"""Command ``poise robots``: list the robots that can be loaded."""

from __future__ import annotations

import argparse
import json

from poise.robots import format_listing, listing


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``poise robots`` to a parser."""
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.set_defaults(action=_robots)


def _robots(options: argparse.Namespace) -> int:
    robots = listing()
    print(json.dumps({"robots": robots}) if options.json else format_listing(robots))
    return 0
