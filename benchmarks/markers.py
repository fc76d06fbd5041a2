"""Measure the speed of marker tracking: milliseconds per frame on one thread, relative to a fixed reference workload.

    python benchmarks/markers.py [TRIAL [STATIC]] [--rounds N]

Wall times mean little on a busy machine. So times are processor times, and each round measures the trial and then a
fixed reference workload: a hundred Jacobians of the body with 42 degrees of freedom and a hundred solutions of 42
equations. `python -m benchmarks.peers opensim` measures
OpenSim on the same body. Without a trial the sample walk is used.
"""

import argparse
import statistics
import time
from pathlib import Path

import numpy as np
import pinocchio
from threadpoolctl import threadpool_limits

import poise
from poise import human
from poise.human import fit, match_markers, sample_trial
from poise.human.fitting.calibration import MarkerTrajectories
from poise.human.fitting.marker_tracking import MarkerTracker

REPETITIONS = 100


def reference_work() -> float:
    """Run the reference workload and return its time (ms)."""
    robot = poise.load_robot("human")
    data, q = robot.model.createData(), robot.stance("standing").q
    rng = np.random.default_rng(0)
    A = rng.normal(size=(42, 42)) + 42.0 * np.eye(42)
    b = rng.normal(size=42)
    begin = time.process_time()
    for _ in range(REPETITIONS):
        pinocchio.computeJointJacobians(robot.model, data, q)
        np.linalg.solve(A, b)
    return 1e3 * (time.process_time() - begin)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trial", nargs="?", type=Path)
    parser.add_argument("static", nargs="?", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if options.trial is None:
        walk, static = sample_trial()
    else:
        walk = human.read_trial(options.trial)
        static = human.read_trial(options.static) if options.static else None
    with threadpool_limits(1):
        begin = time.process_time()
        result = fit(walk, static)
        fit_s = time.process_time() - begin
        markers = MarkerTrajectories.of(
            result.trial, match_markers(walk).markers, result.marker_placement.labels
        ).positions
        tracker = MarkerTracker(
            result.robot,
            result.marker_placement.body_points(result.robot),
            result.marker_placement.weights,
            result.tracking.q[0],
        )
        frames, reference = [], []
        for _ in range(options.rounds):
            reference.append(reference_work())
            begin = time.process_time()
            tracked = tracker.track(markers, result.tracking.q[0])
            frames.append(1e3 * (time.process_time() - begin) / len(markers))
    ratios = [a / b for a, b in zip(frames, reference, strict=True)]
    print(
        f"{len(markers)} frames, {markers.shape[1]} markers, {1e3 * result.rms:.1f} mm rms, {fit_s:.1f} s with the body"
    )
    print(f"{'round':>5} {'ms/frame':>9} {'reference ms':>13} {'ratio':>6}")
    for k, (a, b, ratio) in enumerate(zip(frames, reference, ratios, strict=True)):
        print(f"{k + 1:>5} {a:>9.2f} {b:>13.2f} {ratio:>6.2f}")
    print(f"median {statistics.median(frames):.2f} ms a frame, {np.mean(tracked.iterations):.1f} iterations,")
    print(f"{statistics.median(ratios):.2f} times the reference workload")


if __name__ == "__main__":
    main()
