"""RandomStick: any command at any time."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from poise.errors import UsageError
from poise.plans.guidance.stick import AXES, MODES, Mode, Stick

#: Modes are drawn for so many slots at once, so that no time is far from where drawing begins.
BLOCK = 64
#: Longest that a mode is kept, in slots.
LONGEST = 7
#: Of the slots in which a foot is guided, the share in which it is lifted.
LIFTED = 0.35
#: What tells the numbers of axes from those of modes.
_AXES, _MODES = 0, 1
#: No motion lasts longer (s), thirty years; whole slots are then still told apart.
_LATEST = 1e9


class RandomStick:
    """A hand that does not care: a new stick every slot, in a new mode every one to seven slots.

    What it says is a function of seed and time alone. In a slot the six axes are, with probability `uniform`, drawn
    uniformly from -1 to 1, else each is -1 or 1 (bang-bang). While a foot is guided it is lifted in 35 % of the slots;
    in the others it is moved as it is or put down, in equal shares. The lift is uniform.

    Args:
        seed: a whole number, zero or more.
        slot: how long a stick is held (s); 0.5 is the usual length of a motion segment.
        uniform: share of the slots that are not bang-bang.
        modes: to choose from.

    >>> RandomStick(seed=7).read(12.3) == RandomStick(seed=7).read(12.4)
    True
    """

    def __init__(self, seed: int = 0, slot: float = 0.5, uniform: float = 0.7, modes: tuple[Mode, ...] = MODES) -> None:
        if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
            raise UsageError(f"seed is {seed!r}; expected a whole number, zero or more")
        if not (isinstance(slot, (int, float)) and math.isfinite(slot) and slot > 0.0):
            raise UsageError(f"slot is {slot!r}; expected positive seconds")
        if not (isinstance(uniform, (int, float)) and 0.0 <= uniform <= 1.0):
            raise UsageError(f"uniform is {uniform!r}; expected a share from 0 to 1")
        if not modes or any(mode not in MODES for mode in modes):
            raise UsageError(f"modes is {modes!r}; expected some of {', '.join(MODES)}")
        self.seed, self.slot, self.uniform, self.modes = seed, float(slot), float(uniform), tuple(modes)

    def read(self, time: float) -> Stick:
        """The stick of the slot that a time (s) lies in."""
        time = min(max(time, 0.0), _LATEST) if not math.isnan(time) else 0.0
        return _drawn(self.seed, int(time // self.slot), self.uniform, self.modes)


@lru_cache(maxsize=256)  # a loop asks the same slot many times
def _drawn(seed: int, slot: int, uniform: float, modes: tuple[Mode, ...]) -> Stick:
    random = np.random.default_rng([seed, _AXES, slot])
    mode = _modes(seed, slot // BLOCK, modes)[slot % BLOCK]
    axes = random.uniform(-1.0, 1.0, len(AXES))
    if random.random() >= uniform:
        axes = np.where(axes < 0.0, -1.0, 1.0)
    chance, lift = random.random(2)
    if mode.endswith("foot"):
        up = abs(axes[AXES.index("up")])
        lands = -up if chance < 0.5 * (1.0 + LIFTED) else 0.0
        axes[AXES.index("up")] = up if chance < LIFTED else lands
    return Stick(mode, tuple(axes.tolist()), float(lift))


@lru_cache(maxsize=256)
def _modes(seed: int, block: int, modes: tuple[Mode, ...]) -> tuple[Mode, ...]:
    """The modes of a block of slots."""
    random = np.random.default_rng([seed, _MODES, block])
    found: list[Mode] = []
    while len(found) < BLOCK:
        found += [modes[int(random.integers(len(modes)))]] * int(random.integers(1, LONGEST + 1))
    return tuple(found[:BLOCK])
