"""Trials with known torques: the sample walk with its exact motion, on plates that measure all forces."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

import poise
from poise.human import ForcePlate, Trial, sample_trial
from poise.human.sample_trials import MARGIN
from poise.human.synthetic_walk import synthesize_walk
from poise.robots import Robot


@dataclass(frozen=True, eq=False)
class KnownMotion:
    """A motion that is known without fitting."""

    robot: Robot
    trial: Trial
    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    notes: tuple[str, ...] = ()

    def on(self, *plates: ForcePlate) -> KnownMotion:
        """Return the same motion on other plates."""
        return replace(self, trial=self.trial.replace(plates=plates))


@cache
def known_motion() -> KnownMotion:
    """Return two strides of an average man."""
    walk, _ = sample_trial(noise=0.0, cycles=2)
    robot = poise.load_robot("human", height=1.77, mass=75.0, sex="male")
    motion = synthesize_walk(robot)
    q, v, a = motion.at(walk.time - MARGIN * motion.period)
    return KnownMotion(robot, walk, walk.time, q, v, a)
