"""``poise human``: from marker files to bodies, gaits and torques."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poise.cli.options import check_writable, count, positive, say, whole
from poise.errors import PoiseError, UsageError
from poise.files import json_ready, writable_path
from poise.recording import Bar

if TYPE_CHECKING:
    from poise.human import Failure, Fit, Job

FAILED = 1


def add(commands: Any, name: str) -> None:
    parser = commands.add_parser(name, help="bodies, gaits and torques of people, from marker files")
    kinds = parser.add_subparsers(title="what to do", metavar="WHAT", required=True)
    fit = kinds.add_parser(
        "fit", help="a body and its motion from a C3D, TRC or BVH file, or a table from a folder of them"
    )
    fit.add_argument("trial", type=Path, metavar="TRIAL", help="a C3D, TRC or BVH file, or a folder")
    _person(fit)
    fit.add_argument("--out", type=Path, metavar="FILE.poise", help="where to record (of a folder: FILE.csv)")
    fit.add_argument("--mot", type=Path, metavar="FILE.mot", help="where to write the angles for OpenSim")
    fit.add_argument("--reference", type=Path, metavar="FILE.mot", help="angles of other software to compare with")
    fit.set_defaults(action=_fit)
    gait = kinds.add_parser("gait", help="reproduce walks from a few tasks and compare: ranges of motion, statistics")
    gait.add_argument("trials", nargs="+", type=Path, metavar="TRIAL", help="C3D, TRC or BVH files, or folders of them")
    _person(gait)
    gait.add_argument("--out", type=Path, metavar="DIR", help="folder for the page, tables and recordings")
    gait.add_argument("--dynamics", action="store_true", help="with torques and contact forces, and in physics, too")
    gait.set_defaults(action=_gait)
    torques = kinds.add_parser("torques", help="joint torques from markers and force plates")
    torques.add_argument("trial", type=Path, metavar="TRIAL", help="a C3D file with force plates")
    _person(torques)
    torques.add_argument("--out", type=Path, metavar="FILE.poise", help="where to record")
    torques.add_argument("--against", type=Path, metavar="RECORDING", help="a robot's walk to compare with")
    torques.add_argument("--report", type=Path, metavar="FILE.html", help="where to write a page about them")
    torques.set_defaults(action=_torques)
    compare = kinds.add_parser("compare", help="two recordings of one task, phase by phase: postures and torques")
    compare.add_argument("recordings", nargs=2, type=Path, metavar="RECORDING", help=".poise files")
    compare.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    compare.set_defaults(action=_compare)
    sample = kinds.add_parser("sample", help="a made-up walk with markers, noise and force plates, to try things on")
    sample.add_argument("out", type=Path, metavar="DIR", help="folder for walk.c3d, walk.trc, static.c3d, ...")
    sample.add_argument("--height", type=positive, default=1.77, metavar="M", help="default 1.77")
    sample.add_argument("--mass", type=positive, default=75.0, metavar="KG", help="default 75")
    sample.add_argument("--sex", choices=("male", "female"), default="male", help="default male")
    sample.add_argument("--marker-set", default="skin49", metavar="NAME", help="default skin49")
    sample.add_argument("--noise", type=float, default=0.002, metavar="M", help="of the markers (default 0.002)")
    sample.add_argument("--cycles", type=count, default=3, metavar="N", help="default 3")
    sample.add_argument("--seed", type=whole, default=0, metavar="N", help="default 0")
    sample.set_defaults(action=_sample)


def _person(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--static", type=Path, metavar="TRIAL", help="the person standing (default: such a file beside the trial)"
    )
    parser.add_argument("--height", type=positive, metavar="M", help="default: as the file says, else as markers do")
    parser.add_argument("--mass", type=positive, metavar="KG", help="default: as the file says, else 22.5 kg/m²")
    parser.add_argument("--sex", choices=("male", "female"), help="whose tables of the body (default male)")
    parser.add_argument(
        "--marker-set",
        metavar="NAME|FILE.toml",
        help="plug_in_gait, opensim41, skin49, skeleton, or a file (default: best)",
    )
    parser.add_argument("--cutoff", type=positive, default=6.0, metavar="HZ", help="of the low-pass filter (default 6)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a summary")


def _place(path: Path | None) -> None:
    """Looked at before anything starts: whether a file can be written there."""
    if path is not None and path.suffix == ".poise":
        check_writable(path)
    elif path is not None:
        writable_path(path, UsageError)


def _found(options: argparse.Namespace, paths: list[Path], what: str) -> list[tuple[Job, Fit | Failure]]:
    """All trials, fitted, with a bar for who waits."""
    from poise.human import fits, jobs

    for path in [*paths, *([options.static] if options.static else [])]:
        if not path.exists():
            raise UsageError(f"'{path}': there is no such file; give a C3D or TRC file, or a folder of them")
    wanted = jobs(paths, options.static)
    with Bar(what, float(len(wanted)), unit="trials") as bar:
        given = {name: getattr(options, name) for name in ("height", "mass", "sex", "marker_set", "cutoff")}
        return list(fits(wanted, **given, progress=bar))


def _one(options: argparse.Namespace) -> tuple[Job, Fit]:
    """One trial; what is wrong with it is an error of the command."""
    from poise.human import Failure

    job, found = _found(options, [options.trial], f"fitting {options.trial.name}")[0]
    if isinstance(found, Failure):
        raise PoiseError(found.reason)
    return job, found


def _fit(options: argparse.Namespace) -> int:
    if options.trial.is_dir():
        return _table(options)
    from poise.cli.human_results import fit_facts, fit_text

    for path in (options.out, options.mot):
        _place(path)
    motion = None
    if options.reference is not None:
        from poise.human import read_motion

        motion = read_motion(options.reference)
    job, found = _one(options)
    recording = found.recording()
    if options.out is not None:
        recording.save(options.out)
    if options.mot is not None:
        from poise import exports

        exports.save(recording, options.mot, "mot")
    if options.json:
        print(json.dumps(json_ready(fit_facts(job, found, motion))))
    else:
        print(fit_text(job, found, motion))
        for path in filter(None, (options.out, options.mot)):
            print(path)
    return 0


def _table(options: argparse.Namespace) -> int:
    """One row for each trial of a folder."""
    from poise.cli.human_results import failure_facts, fit_facts, rows_text, write_rows
    from poise.human import Failure

    if options.mot is not None:
        raise UsageError("--mot is for one trial; give a file instead of a folder")
    _place(options.out)
    found = _found(options, [options.trial], f"fitting {options.trial.name}")
    rows = [failure_facts(job, it) if isinstance(it, Failure) else fit_facts(job, it) for job, it in found]
    if options.out is not None:
        write_rows(options.out, rows)
    print(json.dumps(json_ready({"trials": rows})) if options.json else rows_text(rows))
    return FAILED if all("reason" in row for row in rows) else 0


def _gait(options: argparse.Namespace) -> int:
    from poise.cli.human_results import gait_run

    if options.out is not None and options.out.exists() and not options.out.is_dir():
        raise UsageError(f"--out '{options.out}' is a file; give a folder")
    found = _found(options, options.trials, "fitting")
    status, facts, text = gait_run(found, options.out, options.dynamics)
    print(json.dumps(json_ready(facts)) if options.json else text)
    return status


def _torques(options: argparse.Namespace) -> int:
    from poise.cli.human_results import torques_run

    for path in (options.out, options.report):
        _place(path)
    job, found = _one(options)
    facts, text = torques_run(job, found, options.out, options.report, options.against)
    print(json.dumps(json_ready(facts)) if options.json else text)
    return 0


def _compare(options: argparse.Namespace) -> int:
    from poise.analysis import compare_recordings
    from poise.cli.human_results import same_task_facts, same_task_text
    from poise.recording import load_recording

    one, two = options.recordings
    found = compare_recordings(load_recording(one), load_recording(two))
    facts = same_task_facts(found, (one.stem, two.stem))
    print(json.dumps(json_ready(facts)) if options.json else same_task_text(facts))
    return 0


def _sample(options: argparse.Namespace) -> int:
    from poise.human import sample_trial, write_sample

    if not 0.0 <= options.noise <= 0.1:
        raise UsageError(f"--noise {options.noise:g}: expected metres from 0 to 0.1")
    names = ("height", "mass", "sex", "marker_set", "noise", "cycles", "seed")
    walk, static = sample_trial(**{name: getattr(options, name) for name in names})
    for path in write_sample(options.out, walk, static):
        print(path)
    say("poise: a made-up walk, not a measured one; try 'poise human fit' on it")
    return 0
