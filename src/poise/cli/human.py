"""Command ``poise human``: body models, gait analysis and joint torques from marker files."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from poise.cli.options import (
    PAGE_SUFFIXES,
    check_writable,
    count_argument,
    integer_argument,
    positive_argument,
    print_status,
)
from poise.errors import UsageError
from poise.extras import require
from poise.files import check_folder
from poise.recording import ProgressBar, load_recording

if TYPE_CHECKING:
    from poise.analysis import RecordingComparison
    from poise.human import Fit, FitBatch, FitOptions, FitQuality, GaitStudy

FAILED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``poise human`` to a parser."""
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    fit = commands.add_parser("fit", help="fit a body model and its motion to a C3D, TRC or BVH file, or to a folder")
    fit.add_argument("trial", type=Path, metavar="TRIAL", help="C3D, TRC or BVH file, or a folder of them")
    _add_subject_options(fit)
    fit.add_argument(
        "--out", type=Path, metavar="FILE.poise", help="record to this file (for a folder: table FILE.csv)"
    )
    fit.add_argument("--mot", type=Path, metavar="FILE.mot", help="write the joint angles to this OpenSim file")
    fit.add_argument(
        "--reference", type=Path, metavar="FILE.mot", help="compare with these joint angles of other software"
    )
    fit.set_defaults(action=_fit)
    gait = commands.add_parser("gait", help="reproduce walks with a few tasks and compare ranges of motion")
    gait.add_argument("trials", nargs="+", type=Path, metavar="TRIAL", help="C3D, TRC or BVH files, or folders of them")
    _add_subject_options(gait)
    gait.add_argument("--out", type=Path, metavar="DIR", help="write the report, tables and recordings to this folder")
    gait.add_argument(
        "--dynamics", action="store_true", help="also reproduce with torques and contact forces, and in simulation"
    )
    gait.set_defaults(action=_gait)
    torques = commands.add_parser("torques", help="compute joint torques from markers and force plates")
    torques.add_argument(
        "trial", type=Path, metavar="TRIAL", help="C3D file with force plates, or TRC file with --forces"
    )
    _add_subject_options(torques)
    torques.add_argument("--out", type=Path, metavar="FILE.poise", help="record to this file")
    torques.add_argument("--compare-with", type=Path, metavar="RECORDING", help="compare with this walk of a robot")
    torques.add_argument("--report", type=Path, metavar="FILE.html", help="write a report about the torques")
    torques.set_defaults(action=_torques)
    subject = commands.add_parser("subject", help="calibrate a person once with a static trial, for all trials")
    subject.add_argument(
        "trial", type=Path, metavar="STATIC", help="static calibration trial: C3D or TRC file of the person standing"
    )
    _add_body_options(subject)
    subject.add_argument(
        "--out", type=Path, required=True, metavar="FILE.toml", help="write the person to this file, for --subject"
    )
    subject.set_defaults(action=_subject)
    markers = commands.add_parser("markers", help="propose landmarks for the labels of a trial, and write a marker set")
    markers.add_argument("trial", type=Path, metavar="TRIAL", help="C3D, TRC or BVH file, best of a person who walks")
    markers.add_argument("--out", type=Path, metavar="FILE.toml", help="write the marker set, for --marker-set")
    markers.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    markers.set_defaults(action=_markers)
    compare = commands.add_parser("compare", help="compare postures and torques of two recordings, phase by phase")
    compare.add_argument("recordings", nargs=2, type=Path, metavar="RECORDING", help="recordings to compare (.poise)")
    compare.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    compare.set_defaults(action=_compare)
    sample = commands.add_parser("sample", help="write a synthetic walk with markers, noise and force plates")
    sample.add_argument("out", type=Path, metavar="DIR", help="folder for walk.c3d, walk.trc, static.c3d, ...")
    sample.add_argument(
        "--height", type=positive_argument, default=1.77, metavar="M", help="body height in m (default 1.77)"
    )
    sample.add_argument("--mass", type=positive_argument, default=75.0, metavar="KG", help="body mass (default 75)")
    sample.add_argument("--sex", choices=("male", "female"), default="male", help="body tables to use (default male)")
    sample.add_argument("--marker-set", default="skin49", metavar="NAME", help="marker set (default skin49)")
    sample.add_argument(
        "--noise", type=float, default=0.002, metavar="M", help="marker noise in m, 0 to 0.1 (default 0.002)"
    )
    sample.add_argument(
        "--cycles", type=count_argument, default=3, metavar="N", help="number of gait cycles (default 3)"
    )
    sample.add_argument("--seed", type=integer_argument, default=0, metavar="N", help="random seed (default 0)")
    sample.set_defaults(action=_sample)


def _add_subject_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--static",
        type=Path,
        metavar="TRIAL",
        help="static calibration trial (default: auto-detected beside the trial)",
    )
    parser.add_argument(
        "--forces",
        type=Path,
        metavar="FILE.mot",
        help="ground forces of the trial (default: auto-detected beside a TRC file)",
    )
    parser.add_argument(
        "--subject", type=Path, metavar="FILE.toml", help="person calibrated by 'poise human subject', without --static"
    )
    parser.add_argument(
        "--cutoff",
        type=positive_argument,
        default=6.0,
        metavar="HZ",
        help="cutoff frequency of the low-pass filter (default 6)",
    )
    _add_body_options(parser)


def _add_body_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--height",
        type=positive_argument,
        metavar="M",
        help="body height in m (default: from the file, else from the markers)",
    )
    parser.add_argument(
        "--mass",
        type=positive_argument,
        metavar="KG",
        help="body mass (default: from the file, else a body mass index of 22.5 kg/m²)",
    )
    parser.add_argument("--sex", choices=("male", "female"), help="body tables to use (default male)")
    parser.add_argument(
        "--marker-set",
        metavar="NAME|FILE.toml",
        help="plug_in_gait, cgm2, helen_hayes, opensim41, rajagopal, opencap, opencap_augmented, skin49, halpe26, "
        "skeleton, or a file (default: best match)",
    )
    parser.add_argument(
        "--fix",
        choices=("labels", "mirror", "unit"),
        help="correct the files: exchange labels of left and right, mirror the coordinates, or scale them",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a summary")


def _fit_trials(options: argparse.Namespace, paths: list[Path], title: str) -> FitBatch:
    """Fit all trials in files and folders, with a progress bar."""
    from poise.human import find_trials, fit_trials

    _check_trials(options, paths)
    trials = find_trials(paths, options.static)
    if options.forces is not None:
        if len(trials) != 1:
            raise UsageError(f"--forces is for one trial, but there are {len(trials)}; name the files like the trials")
        trials = [replace(trials[0], forces=options.forces)]
    with ProgressBar(title, float(len(trials)), unit="trials") as bar:
        return fit_trials(trials, progress=bar, **_fit_options(options))


def _fit_trial(options: argparse.Namespace) -> Fit:
    """Fit one trial, with a progress bar. Errors of the trial end the command."""
    from poise.human import fit_trial

    _check_trials(options, [options.trial])
    if options.trial.is_dir():
        raise UsageError(f"'{options.trial}' is a folder; give one file")
    with ProgressBar(f"fitting {options.trial.name}", 1.0, unit="trials") as bar:
        return fit_trial(options.trial, options.static, forces=options.forces, progress=bar, **_fit_options(options))


def _check_trials(options: argparse.Namespace, paths: list[Path]) -> None:
    given = [name for name in ("static", "height", "sex", "marker_set") if getattr(options, name) is not None]
    if options.subject is not None and given:
        names = " and ".join(f"--{name.replace('_', '-')}" for name in given)
        raise UsageError(f"--subject determines {names}; give either the subject or these")
    if options.subject is not None and not options.subject.is_file():
        raise UsageError(f"--subject '{options.subject}': there is no such file; 'poise human subject' writes it")
    if options.static is not None and not options.static.is_file():
        what = "is a folder" if options.static.is_dir() else "does not exist"
        raise UsageError(f"--static '{options.static}' {what}; give a C3D or TRC file")
    for path in [*paths, *([options.forces] if options.forces else [])]:
        if not path.exists():
            raise UsageError(f"'{path}': there is no such file; give a C3D or TRC file, or a folder of them")


def _fit_options(options: argparse.Namespace) -> FitOptions:
    return {
        "height": options.height,
        "mass": options.mass,
        "sex": options.sex,
        "marker_set": options.marker_set,
        "cutoff": options.cutoff,
        "fix": options.fix,
        "subject": options.subject,
    }


def _print_result(result: Fit | FitBatch | GaitStudy | RecordingComparison, options: argparse.Namespace) -> None:
    print(json.dumps(result.summary()) if options.json else result.text())


def _written(*paths: Path | None) -> list[str]:
    """Return a line about each file that was written."""
    return [f"written to {path}" for path in paths if path is not None]


def _fit(options: argparse.Namespace) -> int:
    if options.trial.is_dir():
        return _fit_folder(options)
    check_writable(options.out)
    check_writable(options.mot, (".mot",), "--mot")
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
        print(fit.text(reference), *_written(options.out, options.mot), sep="\n")
    return _exit_status(fit.quality)


def _fit_folder(options: argparse.Namespace) -> int:
    """Fit all trials in a folder and write a table with one row per trial."""
    if options.mot is not None:
        raise UsageError("--mot is for one trial; give a file instead of a folder")
    check_writable(options.out, (".csv",))
    batch = _fit_trials(options, [options.trial], f"fitting {options.trial.name}")
    if options.out is not None:
        batch.save(options.out)
    _print_result(batch, options)
    return 0 if batch.fits and len(batch.usable_fits) == len(batch.fits) else FAILED


def _exit_status(quality: FitQuality) -> int:
    """Return 1 if a result is unusable; its text or summary says why."""
    if quality.usable:
        return 0
    print_status(f"poise: unusable: {quality.failures[0]}")
    return FAILED


def _gait(options: argparse.Namespace) -> int:
    from poise.human import study_gait

    if options.out is not None:
        check_folder(options.out, UsageError, "--out")
        require("matplotlib", "PIL")  # fail now rather than after all walks are reproduced
    batch = _fit_trials(options, options.trials, "fitting")
    with ProgressBar("reproducing", float(len(batch)), unit="trials") as bar:
        study = study_gait(batch, dynamics=options.dynamics, progress=bar)
    files: list[Path] = []
    if options.out is not None and study.trials:
        from poise.report import save_study_page

        files = [*study.save(options.out), save_study_page(options.out / "report.html", study)]
    _print_result(study, options)
    if files and not options.json:
        print(*_written(*files), sep="\n")
    return 0 if study.trials else FAILED


def _torques(options: argparse.Namespace) -> int:
    from poise.human import compare_walks, compute_torques

    check_writable(options.out)
    check_writable(options.report, PAGE_SUFFIXES, "--report")
    if options.report is not None:
        require("matplotlib", "PIL")
    fit = _fit_trial(options)
    robot_walk = None if options.compare_with is None else load_recording(options.compare_with)
    torques = compute_torques(fit)
    summary, lines = torques.summary(), [torques.text()]
    if robot_walk is not None:
        comparison = compare_walks(torques, robot_walk)
        summary["comparison"] = comparison.summary()
        lines += ["", comparison.text()]
    if options.out is not None:
        torques.recording().save(options.out)
    if options.report is not None:
        from poise.report import save_torques_page

        save_torques_page(
            options.report, torques, {} if robot_walk is None else {options.compare_with.stem: robot_walk}
        )
    lines += _written(options.out, options.report)
    print(json.dumps(summary) if options.json else "\n".join(lines))
    return _exit_status(torques.quality)


def _subject(options: argparse.Namespace) -> int:
    from poise.human import calibrate_subject

    if not options.trial.is_file():
        raise UsageError(f"'{options.trial}': there is no such file; give the static trial of a person")
    check_writable(options.out, (".toml",))
    names = ("height", "mass", "sex", "marker_set", "fix")
    with ProgressBar(f"calibrating {options.trial.name}", 1.0, unit="trials") as bar:
        subject = calibrate_subject(options.trial, progress=bar, **{name: getattr(options, name) for name in names})
    subject.save(options.out)
    if options.json:
        print(json.dumps(subject.summary()))
    else:
        print(subject.text(), *_written(options.out), sep="\n")
    return 0


def _markers(options: argparse.Namespace) -> int:
    from poise.human import propose_markers, read_trial

    check_writable(options.out, (".toml",))
    mapping = propose_markers(read_trial(options.trial))
    if options.out is not None:
        mapping.save(options.out)
    if options.json:
        print(json.dumps(mapping.summary()))
    else:
        print(mapping.text(), *_written(options.out), sep="\n")
    return 0 if mapping.usable else FAILED


def _compare(options: argparse.Namespace) -> int:
    from poise.analysis import compare_recordings

    one, two = options.recordings
    _print_result(compare_recordings(load_recording(one), load_recording(two), names=(one.stem, two.stem)), options)
    return 0


def _sample(options: argparse.Namespace) -> int:
    from poise.human import sample_trial, write_sample

    if not 0.0 <= options.noise <= 0.1:
        raise UsageError(f"--noise {options.noise:g}: expected meters from 0 to 0.1")
    check_folder(options.out, UsageError)
    require("ezc3d")
    names = ("height", "mass", "sex", "marker_set", "noise", "cycles", "seed")
    walk, static = sample_trial(**{name: getattr(options, name) for name in names})
    for path in write_sample(options.out, walk, static):
        print(path)
    print_status("poise: this walk is synthetic, not measured; try 'poise human fit' on it")
    return 0
