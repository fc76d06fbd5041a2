"""From a recorded motion to its stack of tasks: segments in time, a search in each, and the result as data."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from poise.arrays import Array
from poise.inference.candidates import Candidate, PostureCandidate
from poise.inference.inferred_stack import InferredSegment, InferredStack, InferredTask, part_name
from poise.inference.motion_samples import (
    InferenceError,
    MotionSamples,
    estimate_noise,
    gaussian_smoothing,
    tangent_coordinates,
)
from poise.inference.stack_model import Projection
from poise.inference.stack_search import StackFit, StackSearch
from poise.recording import Recording, robot_from_provenance
from poise.robots import Robot

#: Width (s) of the kernel that smooths the speed, by which segments are found.
SPEED_SMOOTHING = 0.05
#: A new stack sets the body in motion: the speed rises by this share of its largest value.
SPEED_RISE = 0.15
#: Shortest segment (s) in which a stack can be inferred.
SHORTEST = 0.6
#: Largest samples of a motion per second that are used: more say nothing new about tasks.
LARGEST_RATE = 250.0

Progress = Callable[[float], None]


def infer(recording: Recording, robot: Robot | None = None, progress: Progress | None = None) -> InferredStack:
    """Infer the stack of tasks behind a recorded motion, from its configurations over time alone.

    The motion is divided into segments, in each of which candidate tasks on all named parts of the body are tested:
    which quantities are held, which approach a target with a constant gain, which of them only follow from others, and
    in which order they give way to each other. The smallest stack that explains the velocities is the result.

    Args:
        recording: a motion with the channel "q".
        robot: the robot that moved; None: that of the recording.
        progress: called with the time (s) up to which the motion is analysed.

    Raises:
        InferenceError: the motion is too short or does not move.
    """
    robot = recording.robot if robot is None else robot
    if robot is None:
        loaded = robot_from_provenance(recording.provenance)
        if isinstance(loaded, str):
            raise InferenceError(
                f"the robot of the motion cannot be loaded: {loaded}; give robot=poise.load_robot(...)"
            )
        robot = loaded
    time, q = np.asarray(recording.time), np.asarray(recording["q"], dtype=np.float64)
    if not np.isfinite(q).all():
        raise InferenceError("the motion has configurations that are not finite; give an interval without gaps")
    if len(time) > 1:
        step = max(1, round(1.0 / (LARGEST_RATE * float(np.median(np.diff(time))))))
        time, q = time[::step], q[::step]
    coordinates = tangent_coordinates(robot, q)
    if len(time) < 2 or np.ptp(coordinates, axis=0).max() < 1e-3 + 10 * estimate_noise(coordinates).max():
        raise InferenceError("the robot does not move; a stack shows only in a motion")
    segments = []
    for begin, end in segment_times(time, coordinates):
        segment = infer_segment(robot, time, q, begin, end)
        if segment is not None:
            segments.append(segment)
        if progress is not None:
            progress(end)
    if not segments:
        raise InferenceError("no segment of the motion is long enough; give 1 s or more of motion toward targets")
    source = str(recording.provenance.get("robot") or robot.name)
    return InferredStack(source, tuple(segments), start=tuple(float(x) for x in q[0]))


def segment_times(time: Array, coordinates: Array) -> list[tuple[float, float]]:
    """Return begin and end (s) of the segments: each begins where the body is slowest before its speed rises."""
    _, rates = gaussian_smoothing(time, coordinates, SPEED_SMOOTHING)
    noise = estimate_noise(coordinates)
    period = float(np.median(np.diff(time)))
    speed_noise = float(np.linalg.norm(noise) * np.sqrt(period / (4 * np.sqrt(np.pi) * SPEED_SMOOTHING**3)))
    speed = np.sqrt(np.maximum(np.einsum("ti,ti->t", rates, rates) - speed_noise**2, 0.0))
    rise = max(SPEED_RISE * float(speed.max()), 2.0 * speed_noise)
    begins = [time[0]]
    low = 0
    risen = False
    for i in range(len(time)):
        if speed[i] < speed[low]:
            low = i
        elif not risen and speed[i] > speed[low] + rise:
            if time[low] > begins[-1] + SHORTEST:
                begins.append(time[low])
            risen = True
        if risen and (
            i + 1 == len(time) or speed[i] < speed[low] + 0.5 * rise or speed[i] < 0.7 * speed[low : i + 1].max()
        ):
            low, risen = i, False
    ends = [*begins[1:], time[-1]]
    pairs = list(zip(begins, ends, strict=True))
    if len(pairs) > 1 and pairs[-1][1] - pairs[-1][0] < SHORTEST:
        pairs[-2:] = [(pairs[-2][0], pairs[-1][1])]
    return [(float(begin), float(end)) for begin, end in pairs]


def infer_segment(robot: Robot, time: Array, q: Array, begin: float, end: float) -> InferredSegment | None:
    """Infer the stack of one segment; None if the segment is too short for its noise."""
    try:
        samples = MotionSamples.of(robot, time, q, begin, end)
    except InferenceError:
        return None
    search = StackSearch(samples)
    fit = search.run()
    contacts = tuple(dict.fromkeys(part_name(robot, candidate.part) for candidate in search.contacts))
    total = max(search.residual(search.top), 1e-12)
    levels = _levels(search, fit, total)
    return InferredSegment(begin, end, contacts, tuple(levels), max(0.0, 1.0 - fit.residual / total))


def _levels(search: StackSearch, fit: StackFit, total: float) -> list[InferredTask]:
    """Return the levels below the contacts, with the share of the motion that each explains."""
    samples, projection = search.samples, Projection.of(search.samples)
    levels: list[InferredTask] = []
    names: dict[str, int] = {}
    before = total
    for place, task in enumerate(fit.tasks):
        projection = projection.below(samples, task)
        left = search.residual(projection)
        candidate = task.candidate
        if candidate not in search.contacts:
            name = level_name(samples.robot, candidate)
            names[name] = names.get(name, 0) + 1
            settings = dict(candidate.settings)
            if "reference" in settings:
                settings["reference"] = part_name(samples.robot, settings["reference"])
            levels.append(
                InferredTask(
                    name=name if names[name] == 1 else f"{name} {names[name]}",
                    kind=candidate.kind,
                    part=part_name(samples.robot, candidate.part) if candidate.part else "",
                    target=tuple(float(x) for x in np.ravel(task.target)),
                    gain=task.gain,
                    held=task.held,
                    settings=settings,
                    joints=candidate.joints if isinstance(candidate, PostureCandidate) else (),
                    share=(before - left) / total,
                    order_known=place + 1 < len(fit.tasks) and search.order_shows(fit, place),
                )
            )
        before = left
    return levels


def level_name(robot: Robot, candidate: Candidate) -> str:
    """Return the name of the level of a candidate: "left hand position", "center of mass xy", "posture"."""
    words = {
        "Position": "position",
        "Orientation": "orientation",
        "Direction": "upright",
        "Gaze": "",
        "CenterOfMass": "center of mass",
        "RelativePosition": "position relative to chest",
        "Posture": "posture",
    }
    axes = str(candidate.settings.get("axes", "xyz"))
    part = part_name(robot, candidate.part) if candidate.part else ""
    return " ".join(filter(None, [part, words[candidate.kind], "" if axes == "xyz" else axes]))
