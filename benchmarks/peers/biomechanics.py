"""Compare inverse kinematics and inverse dynamics of people with OpenSim, on the same body, trials and run.

Poise fits a body to each trial. OpenSim gets this body as a model (`poise export --to osim`), the same markers, gaps
filled, with the same weights, and the forces on the feet. Both solve every frame from the markers alone; angles are
compared before any filter. Then OpenSim computes the joint moments of the filtered motion. Times are processor times.

    python -m benchmarks.peers opensim                     # the synthetic sample
    python -m benchmarks.peers opensim walk.c3d walk.trc   # files, with the static trial beside them
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.peers.processes import OPENSIM, PeerError, Worker, start_peers
from poise import exports, human
from poise.exports.opensim_files import configurations, coordinate_name
from poise.human import Fit, Torques
from poise.human.fitting.calibration import MarkerTrajectories
from poise.human.fitting.marker_tracking import MarkerTracker
from poise.human.trial import Trial, TrialError

#: Longest time for an answer (s): a frame takes OpenSim some 40 ms.
PATIENCE = 900.0
#: Frames at both ends that are left out of the comparison of moments: splines differ there.
ENDS = 10
#: Joints of legs, whose angles are determined by markers; those of the arms depend on few.
COMPARED = ("hip_flexion", "hip_adduction", "hip_rotation", "knee_flexion", "ankle_dorsiflexion")


def run(trials: Sequence[Path] = (), progress: Callable[[str], None] = lambda message: None) -> dict[str, Any]:
    """Compare on trials, or on the synthetic sample; return plain values, with the reason if OpenSim is missing."""

    def launch(peer: Any, python: Path) -> Worker:
        return Worker(peer.name, [python, peer.script], timeout=PATIENCE)

    with start_peers([OPENSIM], launch, progress=progress) as (workers, skipped):
        if not workers:
            return {"opensim": None, "skipped": skipped, "trials": []}
        results = []
        for fit in _fits(trials, progress):
            progress(f"opensim: {fit.name}, {len(fit.time)} frames")
            results.append(compare(fit, workers[0]))
        return {"opensim": workers[0].version, "skipped": {}, "trials": results}


def _fits(trials: Sequence[Path], progress: Callable[[str], None]) -> list[Fit]:
    if not trials:
        walk, static = human.sample_trial()
        return [human.fit(walk, static)]
    fits = []
    for path in trials:
        progress(f"fitting {path.name}")
        fits.append(human.fit_trial(path))
    return fits


def compare(fit: Fit, worker: Worker) -> dict[str, Any]:
    """Return errors, times and differences of one trial."""
    placement = fit.marker_placement
    markers = MarkerTrajectories.of(fit.trial, dict(fit.markers), placement.labels).positions
    seen = np.isfinite(markers).all(axis=2).any(axis=0)
    with threadpool_limits(1):
        tracker = MarkerTracker(fit.robot, placement.body_points(fit.robot), placement.weights, fit.q[0])
        begin = time.process_time()
        tracked = tracker.track(markers, fit.q[0])
        ours_ms = 1e3 * (time.process_time() - begin) / len(markers)
    result: dict[str, Any] = {
        "trial": fit.name, "frames": len(markers), "markers": int(seen.sum()),
        "poise": {"ms": ours_ms, "rms_mm": 1e3 * float(np.sqrt(np.nanmean(tracked.errors**2)))},
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        labels = tuple(label.replace(" ", "_") for label in placement.labels)
        exports.save(fit.recording(), folder / "body.osim")
        human.write_trc(Trial("markers", fit.trial.rate, fit.trial.time, labels, markers), folder / "markers.trc")
        weights = dict(zip(labels, placement.weights.tolist(), strict=True))
        answer = worker.request(
            {"ik": {"model": str(folder / "body.osim"), "markers": str(folder / "markers.trc"), "weights": weights,
                    "out": str(folder / "ik.mot")}}
        )  # fmt: skip
        motion = human.read_motion(folder / "ik.mot")
        result["opensim"] = {
            "ms": 1e3 * answer["seconds"] / answer["frames"],
            "rms_mm": 1e3 * _rms_of(motion, fit, markers),
        }
        result["angles_deg"] = _angle_differences(fit, tracked.q, motion)
        result["moments"] = _moments(fit, worker, folder)
    return result


def _rms_of(motion: human.OpenSimMotion, fit: Fit, markers: np.ndarray) -> float:
    """Return the distance of the markers from the body in the postures of OpenSim, rms, m."""
    points = fit.marker_placement.body_points(fit.robot)
    squared = []
    for row, positions in zip(configurations(fit.robot, motion), markers, strict=False):
        squared.append(np.sum((points.positions(row) - positions) ** 2, axis=1))
    return float(np.sqrt(np.nanmean(squared)))


def _angle_differences(fit: Fit, q: np.ndarray, motion: human.OpenSimMotion) -> dict[str, float]:
    """Return the rms difference of leg angles (degrees), the worse of both sides."""
    found: dict[str, float] = {}
    for joint in COMPARED:
        for side in ("left", "right"):
            ours = np.degrees(q[:, fit.robot.joint(f"{side}_{joint}").q])
            theirs = motion.column(coordinate_name(f"{side}_{joint}"))
            count = min(len(ours), len(theirs))
            difference = float(np.sqrt(np.mean((ours[:count] - theirs[:count]) ** 2)))
            found[joint] = max(found.get(joint, 0.0), difference)
    return found


def _moments(fit: Fit, worker: Worker, folder: Path) -> dict[str, Any] | None:
    """Return the agreement of the leg moments, the worse of both sides, and times per frame; None without plates."""
    try:
        begin = time.process_time()
        torques: Torques = human.compute_torques(fit)
        seconds = time.process_time() - begin
    except TrialError:
        return None
    recording = torques.recording()
    for kind, name in (("osim", "person.osim"), ("opensim", "motion.mot"), ("grf", "forces.mot")):
        exports.save(recording, folder / name, kind)
    answer = worker.request(
        {"id": {"model": str(folder / "person.osim"), "motion": str(folder / "motion.mot"),
                "forces": str(folder / "forces.mot"), "out": str(folder / "moments.sto")}}
    )  # fmt: skip
    reference = human.read_motion(folder / "moments.sto")
    inner = slice(ENDS, -ENDS)
    correlation, error = 1.0, 0.0
    for joint in COMPARED:
        for side in ("left", "right"):
            ours = torques.joint_torque(f"{side}_{joint}", include_unknown=True)[inner]
            column = reference.column(f"{coordinate_name(f'{side}_{joint}')}_moment")
            theirs = np.interp(torques.time, reference.time, column)[inner]
            correlation = min(correlation, float(np.corrcoef(ours, theirs)[0, 1]))
            error = max(error, float(np.sqrt(np.mean((ours - theirs) ** 2))))
    return {
        "least_correlation": correlation, "largest_rmse_n_m": error,
        "poise_ms": 1e3 * seconds / len(fit.time), "opensim_ms": 1e3 * answer["seconds"] / answer["frames"],
    }  # fmt: skip


def table(result: Mapping[str, Any]) -> str:
    """Return the table of a result."""
    if result["opensim"] is None:
        return f"OpenSim left out: {'; '.join(result['skipped'].values())}"
    lines = [
        f"OpenSim {result['opensim']} on the body that Poise fitted: markers (rms, ms a frame), legs",
        f"  {'trial':30} {'frames':>6} {'poise':>16} {'opensim':>16} {'angles differ':>14} {'moments r':>10} "
        f"{'rmse N m':>9}",
    ]
    for row in result["trials"]:
        ours, theirs = (f"{row[who]['rms_mm']:.1f} mm {row[who]['ms']:.1f} ms" for who in ("poise", "opensim"))
        moments = row["moments"]
        dynamics = "no plates" if moments is None else f"{moments['least_correlation']:.4f}"
        error = "" if moments is None else f"{moments['largest_rmse_n_m']:.2f}"
        angle = f"{max(row['angles_deg'].values()):.1f} deg"
        lines.append(
            f"  {row['trial'][:30]:30} {row['frames']:>6} {ours:>16} {theirs:>16} {angle:>14} {dynamics:>10} {error:>9}"
        )
    return "\n".join(lines)


__all__ = ["PeerError", "compare", "run", "table"]
