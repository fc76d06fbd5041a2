"""Sample trials: what a laboratory would have measured of a person who walks as the norms say."""

from __future__ import annotations

import functools
import math
from dataclasses import replace

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.human.errors import TrialError
from poise.human.markers import load_marker_set
from poise.human.sample.motion import PeriodicMotion
from poise.human.sample.places import places, positions, worn
from poise.human.sample.plates import events, plates_under
from poise.human.sample.walk import sample_walk
from poise.human.trial import Plate, Subject, Trial
from poise.robots import Robot, State, load_robot
from poise.robots.human import BodyShape
from poise.robots.parts import SIDES

Array = NDArray[np.float64]

#: How much is walked before the first and after the last whole cycle, shares of the stride: filters settle in 0.3 s.
MARGIN = 0.28
#: Length of a static trial, s, and how the arms are held in it (rad): off the body, so that no marker is hidden.
STANDING = 1.0
ARMS = {"shoulder_adduction": -0.5, "elbow_flexion": 0.15, "forearm_pronation": 1.40}
#: Most cycles, and what a camera can do (Hz); and the largest noise (m) that still is a measurement.
MOST, RATES, LOUDEST = 100, (10.0, 2000.0), 0.1


def sample_motion(robot: Robot, cycles: int = 3, rate: float = 100.0) -> tuple[Array, Array]:
    """Times (n, s) and configurations (n, 43) of a walk with whole cycles of the right foot, and a margin at both ends.

    It is the motion behind `sample_trial`: coordinates without noise, to judge a fit by.

    >>> time, q = sample_motion(poise.load_robot("human", height=1.77, mass=75.0, sex="male"))
    """
    motion = replace(sample_walk(robot), start=-MARGIN)
    time = _times(cycles, rate, motion.period)
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
    """A walk and a static trial of a synthetic person.

    Args:
        height, mass, sex: of the body, m, kg, "male" or "female".
        marker_set: name or path, see `load_marker_set`.
        noise: standard deviation of each coordinate of each marker, m; cameras have 0.2 mm, skin several.
        cycles: whole gait cycles of the right foot.
        rate: frames a second.
        seed: of the noise.
        plates: whether force plates lie under the steps. Their forces are those of the motion: inverse dynamics with
            the same body leaves no residual.

    Events are those that the walk was made with: contacts, not what a rule finds in markers.

    >>> walk, static = sample_trial(marker_set="plug_in_gait", seed=3)
    """
    if not 0.0 <= noise <= LOUDEST:
        raise TrialError(f"sample: noise is {noise!r}; expected 0 to {LOUDEST:g} m", element="noise")
    markers = load_marker_set(marker_set)
    shape, motion = BodyShape.of(height, mass, sex), _walker(height, mass, sex)
    robot = motion.robot
    time = _times(cycles, rate, motion.period)
    random = np.random.default_rng(seed)
    note = (
        f"Synthetic: norm curves of adults on a body of {height:g} m and {mass:g} kg, marker noise {1e3 * noise:g} mm."
    )

    def seen(q: Array, clock: Array, static: bool) -> Trial:
        own = worn(markers, static=static)
        where = positions(robot, q, places(own, shape))
        return Trial(
            path="sample static" if static else "sample walk",
            rate=rate,
            time=clock,
            labels=tuple(marker.label for marker in own),
            positions=where + random.normal(0.0, noise, where.shape),
            subject=Subject(f"sample {seed}", mass, height, sex),
            notes=(note,),
        )

    walk = seen(motion.at(time)[0], time, static=False)
    still = np.arange(round(STANDING * rate) + 1) / rate
    static = seen(np.tile(_standing(robot), (len(still), 1)), still, static=True)
    under: tuple[Plate, ...] = plates_under(motion, time) if plates else ()
    return walk.replace(events=events(motion, float(time[-1])), plates=under), static


@functools.lru_cache(maxsize=8)
def _walker(height: float, mass: float, sex: str) -> PeriodicMotion:
    """One body may be asked for with many markers and noises: its walk is found once."""
    return replace(sample_walk(load_robot("human", height=height, mass=mass, sex=sex)), start=-MARGIN)


def _times(cycles: int, rate: float, period: float) -> Array:
    if not isinstance(cycles, int) or isinstance(cycles, bool) or not 1 <= cycles <= MOST:
        raise TrialError(f"sample: cycles is {cycles!r}; expected a whole number from 1 to {MOST}", element="cycles")
    low, high = RATES
    if not low <= rate <= high:
        raise TrialError(f"sample: rate is {rate!r}; expected {low:g} to {high:g} Hz", element="rate")
    return np.arange(math.floor((cycles + 2.0 * MARGIN) * period * rate) + 1) / rate


def _standing(robot: Robot) -> Array:
    """Upright with straight legs on the ground, arms a little off the body."""
    q = pinocchio.neutral(robot.model)
    for side in SIDES:
        for joint, angle in ARMS.items():
            q[robot.joint(f"{side}_{joint}").q] = angle
    q[2] = -float(State(robot, q).pose(robot.foot("right")).translation[2])
    return np.asarray(q)
