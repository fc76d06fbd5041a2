"""Worker process of the fit service: read, fit and reproduce a trial, with limits on memory and CPU time."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from poise import human
from poise.analysis import walking_direction
from poise.errors import GaitError, PoiseError
from poise.human import Fit, fit, gait, sample_trial
from poise.studio.fit_data import VARIANTS, FitRequest, GaitResult, ReproducedCycle

Progress = Callable[[str, float], None]

#: Stages of `fit`: text, and progress at the start and the end of the stage.
FIT_STAGES = {"body": ("fitting the body", 0.1, 0.5), "frames": ("tracking the markers", 0.5, 0.85)}
#: Progress at which the reproduction starts.
REPRODUCTION_START = 0.85


def fit_and_reproduce(request: FitRequest, progress: Progress) -> GaitResult:
    """Read a trial, fit a body to it and reproduce one gait cycle.

    Args:
        request: files and subject.
        progress: called with the current activity and the completed share (0 to 1).

    Raises:
        PoiseError: the trial cannot be read or fitted; the message is one line for the user. A trial without a gait
            cycle is no error: the result then has no reproductions.

    >>> fit_and_reproduce(FitRequest(), print).title
    'sample walk'
    """

    def report_fit_progress(stage: str, share: float) -> None:
        activity, begin, end = FIT_STAGES.get(stage, (stage, 0.1, REPRODUCTION_START))
        progress(activity, begin + share * (end - begin))

    progress("generating the sample" if request.trial is None else "reading the file", 0.0)
    try:
        trial, static = _load_trials(request)
        fitted = fit(
            trial, static, height=request.height, mass=request.mass, sex=request.sex, progress=report_fit_progress
        )
    except PoiseError as error:
        text = request.with_user_names(str(error))
        raise PoiseError(text if text.startswith("'") else f"'{request.title}': {text}") from None
    return _gait_result(fitted, request, progress)


def _load_trials(request: FitRequest) -> tuple[human.Trial, human.Trial | None]:
    if request.trial is not None:
        return human.read_trial(request.trial.path), request.static and human.read_trial(request.static.path)
    return sample_trial(request.height or 1.77, request.mass or 75.0, request.sex or "male")


def _gait_result(fitted: Fit, request: FitRequest, progress: Progress) -> GaitResult:
    trial = fitted.trial
    is_known = np.array([label in fitted.marker_placement.labels for label in trial.labels], dtype=bool)
    static = "" if request.static is None else f", with '{request.static.name}'"
    summary = [
        f"'{request.title}'{static}: {len(fitted.time)} frames at {trial.rate:g} Hz, "
        f"{is_known.sum()} of {len(is_known)} markers used",
        f"marker residual {1e3 * fitted.rms:.1f} mm (rms); body height {fitted.shape.height:.2f} m, mass "
        f"{fitted.shape.mass:.1f} kg",
        f"verdict: {request.with_user_names(str(fitted.quality))}",
    ]
    q, heading = fitted.q, np.array([1.0, 0.0, 0.0])
    measures: dict[str, gait.ReproductionQuality] = {}
    try:
        reference = gait.ReferenceWalk.from_fit(fitted)
        q = reference.q  # moved to a fixed floor if the trial was measured on a treadmill
        heading = walking_direction(q[:, :3], reference.foot_point("heel"), reference.foot_point("first_metatarsal"))
        walk = human.reproduce_walk(
            fitted,
            variants=[gait.find_variant(name) for name in VARIANTS],
            reference=reference,
            progress=lambda count: progress(
                "reproducing the gait", REPRODUCTION_START + (1.0 - REPRODUCTION_START) * count / len(VARIANTS)
            ),
        )
        measures = dict(zip(VARIANTS, walk.qualities, strict=True))
    except GaitError as error:
        summary.append(f"no gait cycle is reproduced: {error}")
    shift = (q[:, :3] - fitted.q[:, :3])[:, np.newaxis]
    first_measures = measures.get(VARIANTS[0])
    return GaitResult(
        request.title,
        fitted.shape,
        fitted.time,
        q,
        trial.positions[:, is_known] + shift,
        trial.positions[:, ~is_known] + shift,
        heading,
        None if first_measures is None else first_measures.reproduction.cycle,
        None if first_measures is None else first_measures.reference_curves,
        {name: _reproduced_cycle(each) for name, each in measures.items()},
        tuple(summary),
        tuple(request.with_user_names(note) for note in fitted.notes),
        fitted.quality,
    )


def _reproduced_cycle(measures: gait.ReproductionQuality) -> ReproducedCycle:
    joint, difference = measures.worst_joint
    summary = (
        f"Ranges of motion differ by {np.abs(measures.differences).mean():.1f}° on average, by "
        f"{abs(difference):.1f}° at worst ({joint.replace('_', ' ')}); angles by "
        f"{measures.errors.mean():.1f}° rms over the cycle.",
        f"Position errors (rms): heels {measures.heel_error:.1f} mm, center of mass "
        f"{measures.center_of_mass_error:.1f} mm.",
        f"The ZMP is inside the support polygon for {measures.zmp_inside:.0%} of the cycle; measured: "
        f"{measures.reference_zmp_inside:.0%}.",
    )
    return ReproducedCycle(measures.reproduction.time, measures.reproduction.q, measures.curves, summary)


# -- Worker ----------------------------------------------------------------------------------------------------------


#: Limits of memory (bytes) and CPU time (s). The largest file, 26 000 frames as TRC, takes 0.9 GB and 80 s. The parent
#: process enforces a time limit as well, but may have exited.
MEMORY_LIMIT, CPU_TIME_LIMIT = 4 << 30, 600


def run_fit(connection: Connection, request: FitRequest) -> None:
    """Run a fit and send messages: ("progress", activity, share), then ("done", result) or ("refused", one line)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent process, which stops this one
    limit_resources()
    result: tuple[str, Any]
    try:
        result = (
            "done",
            fit_and_reproduce(request, lambda activity, share: connection.send(("progress", activity, share))),
        )
    except PoiseError as error:
        result = "refused", one_line(str(error))
    except MemoryError:
        result = "refused", f"'{request.title}' needs too much memory; cut it to a few strides"
    except Exception as error:  # a damaged file can raise anything in its reader; the user gets one line
        result = "refused", one_line(f"'{request.title}' cannot be used ({type(error).__name__}: {error})")
    with contextlib.suppress(OSError):  # the parent process has closed the connection
        connection.send(result)


def limit_resources() -> None:
    """Limit the memory and the CPU time of this process. Its priority is not lowered: the user waits for the fit."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (CPU_TIME_LIMIT, CPU_TIME_LIMIT))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def one_line(text: str) -> str:
    """Return `text` on one line, cut to 400 characters."""
    return " ".join(text.split())[:400]
