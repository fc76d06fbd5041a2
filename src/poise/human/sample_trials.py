"""Sample trials: markers with noise, gait events and force plates of a synthetic walk, written as C3D and TRC.

The total ground reaction force F, with its zero-moment point p, follows from the motion. In single support it acts on
the stance foot. In double support it is transferred linearly in time from the trailing foot (1) to the leading foot
(2): with w the share of the leading foot, from 0 to 1, the force F_i on each foot and its centre of pressure p_i are

    F_1 = (1 - w) F,  F_2 = w F,  p_i = c_i + d,  d = p - (1 - w) c_1 - w c_2

where c_1 is p at initial contact of the leading foot and c_2 is p at toe-off of the trailing one. Both centres of
pressure are then continuous, and both wrenches add up to the total.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pinocchio

from poise.analysis import GaitEvent
from poise.arrays import Array
from poise.errors import PoiseError
from poise.files import make_folder
from poise.human.files.c3d_writer import write_c3d
from poise.human.files.ground_forces import write_ground_forces
from poise.human.files.trc_files import write_trc
from poise.human.markers import Marker, MarkerSet, load_marker_set
from poise.human.synthetic_walk import TOE_OFF, PeriodicMotion, ground_wrench, synthesize_walk
from poise.human.trial import ForcePlate, Subject, Trial, TrialError
from poise.robots import SIDES, BodyShape, Robot, Side, State, landmarks, load_robot, side_sign

#: Positions of successive markers anywhere on a segment: share of its length, and angle around it (degrees, from
#: lateral to anterior); spread out as in a laboratory.
SEGMENT_PLACEMENTS = ((0.50, 0.0), (0.65, 100.0), (0.35, -100.0), (0.80, 60.0), (0.25, 160.0))
#: Radius of segments as a share of their length: thigh 8 cm, shank 5 cm, upper arm 4 cm.
SEGMENT_RADIUS = {"thigh": 0.18, "shank": 0.12, "upper_arm": 0.16, "forearm": 0.13, "torso": 0.30, "foot": 0.20}
#: Landmarks that have markers in a static trial even if the marker set has none there while walking.
STATIC_JOINTS = ("_knee", "_ankle")


def worn_markers(marker_set: MarkerSet, *, static: bool) -> list[Marker]:
    """Return the markers on the subject: those of the set; in a static trial also optional ones on knees and ankles, if
    the set has none there.
    """
    always = [marker for label, marker in marker_set.markers.items() if label not in marker_set.optional]
    landmarks_worn = {marker.landmark for marker in always}
    if not static or any(str(landmark).endswith(STATIC_JOINTS) for landmark in landmarks_worn):
        return always
    optional = [marker_set.markers[label] for label in marker_set.markers if label in marker_set.optional]
    return [*always, *(marker for marker in optional if str(marker.landmark).endswith(STATIC_JOINTS))]


def marker_locations(markers: Sequence[Marker], shape: BodyShape) -> list[tuple[str, Array]]:
    """Return the link of each marker and its position there, m: its landmark, or a position on its segment."""
    known, count = landmarks(shape), Counter[str]()
    locations = []
    for marker in markers:
        if marker.landmark is not None:
            locations.append(known[marker.landmark])
            continue
        locations.append((marker.segment, _segment_location(marker.segment, count[marker.segment], shape)))
        count[marker.segment] += 1
    return locations


def marker_positions(robot: Robot, q: Array, locations: Sequence[tuple[str, Array]]) -> Array:
    """Compute marker positions in the world frame, (n, markers, 3), m, at configurations (n, 43)."""
    model, data = robot.model, robot.model.createData()
    frames = [robot.frame(link).index for link, _ in locations]
    out = np.empty((len(q), len(frames), 3))
    for i, each in enumerate(q):
        pinocchio.framesForwardKinematics(model, data, each)
        for k, (frame, (_, location)) in enumerate(zip(frames, locations, strict=True)):
            out[i, k] = data.oMf[frame].act(location)
    return out


def _segment_location(segment: str, number: int, shape: BodyShape) -> Array:
    side = next((s for s in SIDES if segment.startswith(s)), None)
    kind = segment.removeprefix(f"{side}_")
    i = SIDES.index(side) if side else 0
    y = -1.0 if side is None else side_sign(side)
    pair = getattr(shape, kind, shape.head)
    length = float(pair[i] if isinstance(pair, tuple) else pair)
    along = np.array([0.0, 0.0, length if kind in ("torso", "head", "pelvis") else -length])
    outward, front = np.array([0.0, y, 0.0]), np.array([1.0, 0.0, 0.0])
    if kind in ("foot", "toes"):
        along, front = np.array([length, 0.0, -0.5 * shape.ankle_height[i]]), np.array([0.0, 0.0, 1.0])
    share, degrees = SEGMENT_PLACEMENTS[number % len(SEGMENT_PLACEMENTS)]
    if kind == "torso":
        share, degrees = share + 0.2, degrees - 120.0  # on the shoulder blade, posterior
    angle = np.radians(degrees)
    return share * along + SEGMENT_RADIUS.get(kind, 0.2) * length * (np.cos(angle) * outward + np.sin(angle) * front)


# -- Force plates ------------------------------------------------------------------------------------------------------


#: Width of a plate (m), and its length as a share of the step length, so that plates do not overlap.
PLATE_WIDTH, PLATE_LENGTH_RATIO = 0.40, 0.94


class Stance(NamedTuple):
    """One stance of a foot: side, and phases of the walk at initial contact and toe-off."""

    side: Side
    initial_contact: float
    toe_off: float


def stances(first: float, last: float) -> list[Stance]:
    """Return the stances that overlap with an interval of phases, in order of their initial contacts."""
    numbers = range(math.floor(2.0 * (first - TOE_OFF)), math.ceil(2.0 * last) + 1)
    candidates = [Stance("left" if k % 2 else "right", k / 2.0, k / 2.0 + TOE_OFF) for k in numbers]
    return [stance for stance in candidates if stance.toe_off > first and stance.initial_contact < last]


def gait_events(motion: PeriodicMotion, last: float) -> tuple[GaitEvent, ...]:
    """Return the initial contacts and toe-offs of the synthetic walk from time 0 to a last time (s)."""
    end = motion.start + last / motion.period
    events = []
    for stance in stances(motion.start, end):
        for phase, kind in ((stance.initial_contact, "initial_contact"), (stance.toe_off, "toe_off")):
            if motion.start <= phase <= end:
                events.append(GaitEvent((phase - motion.start) * motion.period, stance.side, kind))  # type: ignore[arg-type]
    return tuple(sorted(events, key=lambda event: event.time))


def force_plates(motion: PeriodicMotion, time: Array) -> tuple[ForcePlate, ...]:
    """Return one force plate per step, sampled at n times (s); at every time they carry the whole body together."""
    n = len(time)
    phase = motion.start + time / motion.period
    force, point, moment = ground_wrench(motion, time)
    all_stances = stances(float(phase[0]), float(phase[-1]))
    share = np.zeros((len(all_stances), n))
    center = np.zeros((len(all_stances), n, 2))
    for k, stance in enumerate(all_stances):
        share[k] = np.minimum(
            _ramp(phase, stance.initial_contact, TOE_OFF - 0.5),
            1.0 - _ramp(phase, stance.toe_off - (TOE_OFF - 0.5), TOE_OFF - 0.5),
        )
        share[k][(phase < stance.initial_contact) | (phase >= stance.toe_off)] = 0.0
        center[k] = point
    for (i, trailing), (j, leading) in itertools.pairwise(enumerate(all_stances)):
        double_support = (phase >= leading.initial_contact) & (phase < trailing.toe_off)
        ends = (np.array([leading.initial_contact, trailing.toe_off]) - motion.start) * motion.period
        c1, c2 = ground_wrench(motion, ends)[1]
        w = share[j][double_support][:, np.newaxis]
        share[i][double_support] = 1.0 - share[j][double_support]
        d = point[double_support] - (1.0 - w) * c1 - w * c2
        center[i][double_support], center[j][double_support] = c1 + d, c2 + d
    plates = []
    for k, stance in enumerate(all_stances):
        loaded = share[k] > 0.0
        pressure_center = np.where(loaded[:, np.newaxis], np.column_stack([center[k], np.zeros(n)]), 0.0)
        free_moment = np.column_stack([np.zeros((n, 2)), share[k] * moment])
        plates.append(
            ForcePlate(
                f"plate {k + 1}",
                _corners(motion, stance),
                share[k][:, np.newaxis] * force,
                pressure_center,
                free_moment,
            )
        )
    return tuple(plates)


def _ramp(phase: Array, begin: float, length: float) -> Array:
    return np.clip((phase - begin) / length, 0.0, 1.0)


def _corners(motion: PeriodicMotion, stance: Stance) -> Array:
    """Return the corners of a plate around the ZMP at mid-stance of the step, (4, 3), m."""
    middle = (stance.initial_contact + stance.toe_off) / 2.0
    x, y = ground_wrench(replace(motion, start=0.0), np.array([middle * motion.period]))[1][0]
    half = PLATE_LENGTH_RATIO * motion.stride / 4.0
    signs = [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)]
    return np.array([[x + a * half, y + b * PLATE_WIDTH / 2.0, 0.0] for a, b in signs])


# -- Sample trials ---------------------------------------------------------------------------------------------------


#: Walking before the first and after the last complete cycle, as a share of the stride: filters settle in 0.3 s.
MARGIN = 0.28
#: Duration of a static trial, s, and its arm angles (rad): away from the body, so that no marker is hidden.
STATIC_SECONDS = 1.0
STATIC_ARM_ANGLES = {"shoulder_adduction": -0.5, "elbow_flexion": 0.15, "forearm_pronation": 1.40}
#: Largest number of cycles, range of frame rates (Hz), and largest marker noise (m).
MAX_CYCLES, RATE_RANGE, MAX_NOISE = 100, (10.0, 2000.0), 0.1


def sample_motion(robot: Robot, cycles: int = 3, rate: float = 100.0) -> tuple[Array, Array]:
    """Return times (n, s) and configurations (n, 43) of a walk with complete right cycles and a margin at both ends.

    This is the noise-free motion behind `sample_trial`, the ground truth to evaluate a fit.

    >>> time, q = sample_motion(poise.load_robot("human", height=1.77, mass=75.0, sex="male"))
    """
    motion = replace(synthesize_walk(robot), start=-MARGIN)
    time = _sample_times(cycles, rate, motion.period)
    return time, motion.at(time)[0]


def sample_trial(
    height: float = 1.77,
    mass: float = 75.0,
    sex: str = "male",
    marker_set: str = "skin49",
    noise: float = 0.002,
    cycles: int = 3,
    rate: float = 100.0,
    seed: int = 0,
    plates: bool = True,
) -> tuple[Trial, Trial]:
    """Make a walk and a static trial of a synthetic subject.

    Events are those of the synthetic walk itself, not detected from markers.

    Args:
        height, mass, sex: of the subject, m, kg, "male" or "female".
        marker_set: name or path, see `load_marker_set`.
        noise: standard deviation of each marker coordinate, m; cameras have 0.2 mm, soft tissue artefacts several mm.
        cycles: complete gait cycles of the right foot.
        rate: frame rate, Hz.
        seed: of the noise.
        plates: whether force plates are under the steps. Their forces are consistent with the motion: inverse dynamics
            with the same model leaves no residual.

    >>> walk, static = sample_trial(marker_set="plug_in_gait", seed=3)
    """
    if not 0.0 <= noise <= MAX_NOISE:
        raise TrialError(f"sample: noise is {noise!r}; expected 0 to {MAX_NOISE:g} m", element="noise")
    markers = load_marker_set(marker_set)
    shape, motion = BodyShape.of(height, mass, sex), _cached_walk(height, mass, sex)
    robot = motion.robot
    time = _sample_times(cycles, rate, motion.period)
    random = np.random.default_rng(seed)
    note = f"Synthetic: normative curves, body of {height:g} m and {mass:g} kg, marker noise {1e3 * noise:g} mm."

    def make_trial(q: Array, clock: Array, static: bool) -> Trial:
        worn = worn_markers(markers, static=static)
        where = marker_positions(robot, q, marker_locations(worn, shape))
        return Trial(
            path="sample static" if static else "sample walk",
            rate=rate,
            time=clock,
            labels=tuple(marker.label for marker in worn),
            positions=where + random.normal(0.0, noise, where.shape),
            subject=Subject(f"sample {seed}", mass, height, sex),
            notes=(note,),
        )

    walk = make_trial(motion.at(time)[0], time, static=False)
    static_time = np.arange(round(STATIC_SECONDS * rate) + 1) / rate
    static = make_trial(np.tile(standing_posture(robot), (len(static_time), 1)), static_time, static=True)
    plates_under_feet: tuple[ForcePlate, ...] = force_plates(motion, time) if plates else ()
    return walk.replace(events=gait_events(motion, float(time[-1])), plates=plates_under_feet), static


@functools.lru_cache(maxsize=8)
def _cached_walk(height: float, mass: float, sex: str) -> PeriodicMotion:
    """Return the walk of a subject; cached, because it does not depend on markers and noise."""
    return replace(synthesize_walk(load_robot("human", height=height, mass=mass, sex=sex)), start=-MARGIN)


def _sample_times(cycles: int, rate: float, period: float) -> Array:
    if not isinstance(cycles, int) or isinstance(cycles, bool) or not 1 <= cycles <= MAX_CYCLES:
        raise TrialError(
            f"sample: cycles is {cycles!r}; expected a whole number from 1 to {MAX_CYCLES}", element="cycles"
        )
    low, high = RATE_RANGE
    if not low <= rate <= high:
        raise TrialError(f"sample: rate is {rate!r}; expected {low:g} to {high:g} Hz", element="rate")
    return np.arange(math.floor((cycles + 2.0 * MARGIN) * period * rate) + 1) / rate


def standing_posture(robot: Robot) -> Array:
    """Return an upright posture with straight legs on the ground, arms a little away from the body."""
    q = pinocchio.neutral(robot.model)
    for side in SIDES:
        for joint, angle in STATIC_ARM_ANGLES.items():
            q[robot.joint(f"{side}_{joint}").q] = angle
    q[2] = -float(State(robot, q).pose(robot.foot("right")).translation[2])
    return np.asarray(q)


# -- Sample trials as files ------------------------------------------------------------------------------------------


def write_sample(folder: str | PathLike[str], walk: Trial, static: Trial) -> list[Path]:
    """Write ``walk`` and ``static`` as C3D, with force plates and events, and as TRC with the forces as MOT.

    The folder is created if needed.

    >>> write_sample("lab", *sample_trial(height=1.70, mass=64.0))
    """
    folder = Path(folder)
    make_folder(folder, PoiseError)
    written = []
    for name, trial in (("walk", walk), ("static", static)):
        written.append(write_c3d(trial, folder / f"{name}.c3d"))
        write_trc(trial, folder / f"{name}.trc")
        written.append(folder / f"{name}.trc")
        if trial.plates:
            written.append(write_ground_forces(trial, folder / f"{name}_grf.mot"))
    return written
