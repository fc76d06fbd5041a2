"""``poise human``: from marker files to bodies, gaits and torques."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from poise.cli.options import check_writable, count_argument, integer_argument, positive_argument, print_status
from poise.errors import UsageError
from poise.extras import require
from poise.files import writable_path
from poise.recording import ProgressBar, load_recording

if TYPE_CHECKING:
    from poise.analysis import RecordingComparison
    from poise.human import Fit, FitBatch, FitOptions, GaitStudy

FAILED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(title="what to do", metavar="WHAT", required=True)
    fit = commands.add_parser(
        "fit", help="a body and its motion from a C3D, TRC or BVH file, or a table from a folder of them"
    )
    fit.add_argument("trial", type=Path, metavar="TRIAL", help="a C3D, TRC or BVH file, or a folder")
    _add_subject_options(fit)
    fit.add_argument("--out", type=Path, metavar="FILE.poise", help="where to record (of a folder: FILE.csv)")
    fit.add_argument("--mot", type=Path, metavar="FILE.mot", help="where to write the angles for OpenSim")
    fit.add_argument("--reference", type=Path, metavar="FILE.mot", help="angles of other software to compare with")
    fit.set_defaults(action=_fit)
    gait = commands.add_parser(
        "gait", help="reproduce walks from a few tasks and compare: ranges of motion, statistics"
    )
    gait.add_argument("trials", nargs="+", type=Path, metavar="TRIAL", help="C3D, TRC or BVH files, or folders of them")
    _add_subject_options(gait)
    gait.add_argument("--out", type=Path, metavar="DIR", help="folder for the page, tables and recordings")
    gait.add_argument("--dynamics", action="store_true", help="with torques and contact forces, and in physics, too")
    gait.set_defaults(action=_gait)
    torques = commands.add_parser("torques", help="joint torques from markers and force plates")
    torques.add_argument("trial", type=Path, metavar="TRIAL", help="a C3D file with force plates")
    _add_subject_options(torques)
    torques.add_argument("--out", type=Path, metavar="FILE.poise", help="where to record")
    torques.add_argument("--against", type=Path, metavar="RECORDING", help="a robot's walk to compare with")
    torques.add_argument("--report", type=Path, metavar="FILE.html", help="where to write a page about them")
    torques.set_defaults(action=_torques)
    compare = commands.add_parser("compare", help="two recordings of one task, phase by phase: postures and torques")
    compare.add_argument("recordings", nargs=2, type=Path, metavar="RECORDING", help=".poise files")
    compare.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    compare.set_defaults(action=_compare)
    sample = commands.add_parser("sample", help="a made-up walk with markers, noise and force plates, to try things on")
    sample.add_argument("out", type=Path, metavar="DIR", help="folder for walk.c3d, walk.trc, static.c3d, ...")
    sample.add_argument("--height", type=positive_argument, default=1.77, metavar="M", help="default 1.77")
    sample.add_argument("--mass", type=positive_argument, default=75.0, metavar="KG", help="default 75")
    sample.add_argument("--sex", choices=("male", "female"), default="male", help="default male")
    sample.add_argument("--marker-set", default="skin49", metavar="NAME", help="default skin49")
    sample.add_argument("--noise", type=float, default=0.002, metavar="M", help="of the markers (default 0.002)")
    sample.add_argument("--cycles", type=count_argument, default=3, metavar="N", help="default 3")
    sample.add_argument("--seed", type=integer_argument, default=0, metavar="N", help="default 0")
    sample.set_defaults(action=_sample)


def _add_subject_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--static", type=Path, metavar="TRIAL", help="the person standing (default: such a file beside the trial)"
    )
    parser.add_argument(
        "--height", type=positive_argument, metavar="M", help="default: as the file says, else as markers do"
    )
    parser.add_argument(
        "--mass", type=positive_argument, metavar="KG", help="default: as the file says, else 22.5 kg/m²"
    )
    parser.add_argument("--sex", choices=("male", "female"), help="whose tables of the body (default male)")
    parser.add_argument(
        "--marker-set",
        metavar="NAME|FILE.toml",
        help="plug_in_gait, opensim41, skin49, skeleton, or a file (default: best)",
    )
    parser.add_argument(
        "--cutoff", type=positive_argument, default=6.0, metavar="HZ", help="of the low-pass filter (default 6)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a summary")


def _check_output(path: Path | None) -> None:
    """Looked at before anything starts: whether a file can be written there."""
    if path is not None and path.suffix == ".poise":
        check_writable(path)
    elif path is not None:
        writable_path(path, UsageError)


def _fit_trials(options: argparse.Namespace, paths: list[Path], title: str) -> FitBatch:
    """Fit all trials of files and folders, with a progress bar."""
    from poise.human import find_trials, fit_trials

    _check_trials(options, paths)
    trials = find_trials(paths, options.static)
    with ProgressBar(title, float(len(trials)), unit="trials") as bar:
        return fit_trials(trials, progress=bar, **_fit_options(options))


def _fit_trial(options: argparse.Namespace) -> Fit:
    """Fit one trial, with a progress bar; what is wrong with it is an error of the command."""
    from poise.human import fit_trial

    _check_trials(options, [options.trial])
    with ProgressBar(f"fitting {options.trial.name}", 1.0, unit="trials") as bar:
        return fit_trial(options.trial, options.static, progress=bar, **_fit_options(options))


def _check_trials(options: argparse.Namespace, paths: list[Path]) -> None:
    for path in [*paths, *([options.static] if options.static else [])]:
        if not path.exists():
            raise UsageError(f"'{path}': there is no such file; give a C3D or TRC file, or a folder of them")


def _fit_options(options: argparse.Namespace) -> FitOptions:
    return {
        "height": options.height,
        "mass": options.mass,
        "sex": options.sex,
        "marker_set": options.marker_set,
        "cutoff": options.cutoff,
    }


def _print_result(result: Fit | FitBatch | GaitStudy | RecordingComparison, options: argparse.Namespace) -> None:
    print(json.dumps(result.summary()) if options.json else result.text())


def _fit(options: argparse.Namespace) -> int:
    if options.trial.is_dir():
        return _fit_folder(options)
    for path in (options.out, options.mot):
        _check_output(path)
    reference = None
    if options.reference is not None:
        from poise.human import read_motion

        reference = read_motion(options.reference)
    fit = _fit_trial(options)
    recording = fit.recording()
    if options.out is not None:
        recording.save(options.out)
    if options.mot is not None:
        from poise import exports

        exports.save(recording, options.mot, "mot")
    if options.json:
        print(json.dumps(fit.summary(reference)))
    else:
        print(fit.text(reference), *filter(None, (options.out, options.mot)), sep="\n")
    return 0


def _fit_folder(options: argparse.Namespace) -> int:
    """One row for each trial of a folder."""
    if options.mot is not None:
        raise UsageError("--mot is for one trial; give a file instead of a folder")
    _check_output(options.out)
    batch = _fit_trials(options, [options.trial], f"fitting {options.trial.name}")
    if options.out is not None:
        batch.save(options.out)
    _print_result(batch, options)
    return 0 if batch.fits else FAILED


def _gait(options: argparse.Namespace) -> int:
    from poise.human import study_gait

    if options.out is not None and options.out.exists() and not options.out.is_dir():
        raise UsageError(f"--out '{options.out}' is a file; give a folder")
    if options.out is not None:
        require("matplotlib", "PIL")  # now, and not when all walks are reproduced
    batch = _fit_trials(options, options.trials, "fitting")
    with ProgressBar("reproducing", float(len(batch)), unit="trials") as bar:
        study = study_gait(batch, dynamics=options.dynamics, progress=bar)
    files: list[Path] = []
    if options.out is not None and study.trials:
        from poise.report import save_study_page

        files = [*study.save(options.out), save_study_page(options.out / "report.html", study)]
    _print_result(study, options)
    if files and not options.json:
        print(*files, sep="\n")
    return 0 if study.trials else FAILED


def _torques(options: argparse.Namespace) -> int:
    from poise.human import compare_walks, compute_torques

    for path in (options.out, options.report):
        _check_output(path)
    if options.report is not None:
        require("matplotlib", "PIL")
    fit = _fit_trial(options)
    robot_walk = None if options.against is None else load_recording(options.against)
    torques = compute_torques(fit)
    summary, lines = torques.summary(), [torques.text()]
    if robot_walk is not None:
        comparison = compare_walks(torques, robot_walk)
        summary["comparison"] = comparison.summary()
        lines += ["", comparison.text()]
    if options.out is not None:
        torques.recording().save(options.out)
        lines.append(str(options.out))
    if options.report is not None:
        from poise.report import save_torques_page

        save_torques_page(options.report, torques, {} if robot_walk is None else {options.against.stem: robot_walk})
        lines.append(str(options.report))
    print(json.dumps(summary) if options.json else "\n".join(lines))
    return 0


def _compare(options: argparse.Namespace) -> int:
    from poise.analysis import compare_recordings

    one, two = options.recordings
    _print_result(compare_recordings(load_recording(one), load_recording(two), names=(one.stem, two.stem)), options)
    return 0


def _sample(options: argparse.Namespace) -> int:
    from poise.human import sample_trial, write_sample

    if not 0.0 <= options.noise <= 0.1:
        raise UsageError(f"--noise {options.noise:g}: expected metres from 0 to 0.1")
    require("ezc3d")
    names = ("height", "mass", "sex", "marker_set", "noise", "cycles", "seed")
    walk, static = sample_trial(**{name: getattr(options, name) for name in names})
    for path in write_sample(options.out, walk, static):
        print(path)
    print_status("poise: a made-up walk, not a measured one; try 'poise human fit' on it")
    return 0
