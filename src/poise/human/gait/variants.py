"""Variants: which key postures, by which law, with or without the angular momentum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from poise.analysis.gait_error import GaitError
from poise.human.gait.keys import KeyKind

Law = Literal["pd_per_phase", "pd", "time_to_go", "minimum_jerk", "track", "interpolation"]


@dataclass(frozen=True)
class Variant:
    """A way to reproduce a gait.

    Attributes:
        name: for tables.
        keys: the key postures, see `poise.human.gait.keys`.
        law: how the posture goes from key to key:
            "pd_per_phase": to the next key, with ``w = gain / duration of the phase``;
            "pd": the same with one ``w = gain`` (1/s);
            "time_to_go": so as to be there in time; no gain;
            "minimum_jerk": along the path of least jerk through all keys, deviations decay with the gain (1/s);
            "track": along the reference itself, without keys: what the tasks do to a posture that is known throughout;
            "interpolation": along the path of least jerk, and no task at all.
        gain: see there.
        order: what is known at a key besides the posture. 0: nothing, it is passed at rest; 1: the velocity of the
            reference; 2: its acceleration as well. For laws that aim at a time: "time_to_go" (which knows no more than
            velocities), "minimum_jerk" and "interpolation".
        momentum: whether the angular momentum is a task, between center of mass and posture.

    >>> Variant("eight", keys="four", law="pd_per_phase", gain=8.0)
    """

    name: str
    keys: KeyKind = "four"
    law: Law = "pd_per_phase"
    gain: float = 6.0
    order: int = 0
    momentum: bool = False

    def __post_init__(self) -> None:
        if self.keys not in get_args(KeyKind):
            raise GaitError(f"{self.name}: keys {self.keys!r}; expected one of {', '.join(get_args(KeyKind))}")
        if self.law not in get_args(Law):
            raise GaitError(f"{self.name}: law {self.law!r}; expected one of {', '.join(get_args(Law))}")
        if self.order not in (0, 1, 2):
            raise GaitError(f"{self.name}: order {self.order!r}; expected 0, 1 or 2")
        if not 0.0 < self.gain < 200.0:  # 1/s: what a period of 5 ms can follow
            raise GaitError(f"{self.name}: gain {self.gain!r}; expected a number above 0 and below 200")


#: The paper's: postures at the end of the four phases. It does not say its gains; c = 6 brings an error to 1.7 % of
#: itself within a phase (c = 3, 4, 6, 10 gave mean differences of 8.7, 7.6, 6.1, 5.2 degrees on 7 people).
PAPER = Variant("paper", keys="four", law="pd_per_phase", gain=6.0)
#: Its ablation, in which the swing knee stays straight.
TWO_PHASES = Variant("two phases", keys="two", law="pd_per_phase", gain=6.0)
#: Better: two postures more, passed in motion, along the smoothest path; and angular momentum. Chosen on 8 cycles of 2
#: people, where ranges of motion differ by 4.5 degrees at most (by 5.7 without the accelerations at the keys). On what
#: was not used for the choice, 7 cycles of 2 more people and 18 of sample bodies with 3 mm of noise, it is 4.9. What is
#: missed is the long way from knee peak to strike. The gain does not matter from 12 to 40.
BEST = Variant("best", keys="six", law="minimum_jerk", gain=25.0, order=2, momentum=True)
#: The same with a posture more on that way: 1.6 degrees at most on the 8 cycles, 1.3 on sample bodies.
EIGHT = Variant("best, eight keys", keys="eight", law="minimum_jerk", gain=25.0, order=2, momentum=True)
#: Baselines without any task, through the same keys: ranges of motion alone do not tell them from the above.
FOUR_KEYS = Variant("interpolation, four keys", keys="four", law="interpolation")
SIX_KEYS = Variant("interpolation, six keys", keys="six", law="interpolation", order=2)
#: A check: nothing is left to the posture, so nothing may be lost.
TRACK = Variant("track", law="track", gain=25.0, momentum=True)

#: What a study compares.
VARIANTS = (PAPER, TWO_PHASES, BEST, EIGHT, FOUR_KEYS, SIX_KEYS)
