"""Time stamps brought to even steps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from poise.human.errors import refused

Array = NDArray[np.float64]

#: Share by which the rate of a header may differ from that of the time stamps before these are believed instead:
#: stamps are often rounded to ms, which is 2 % of a step at 200 Hz but nothing over a whole file.
TRUSTED = 0.02
#: Frames that may be put in between, per frame of the file: beyond this the stamps are not those of one recording.
HOLES = 10


def evenly(path: Path, stamps: Array, said: float | None) -> tuple[float, NDArray[np.int_], str]:
    """Frames a second, the place of each row among even frames (some may be left out between), and a remark.

    Args:
        path: for errors.
        stamps: time of each row, s; NaN where there is none.
        said: the rate that the header gives (Hz), None if none.
    """
    said = said if said is not None and said > 0.0 else None
    count = len(stamps)
    if count == 1 or not np.isfinite(stamps).all():
        if said is None:
            raise refused(path, "no rate and no time stamps; expected a positive rate in the header", "rate")
        return said, np.arange(count), "" if count == 1 else "Rows without time stamps: even steps taken."
    steps = np.diff(stamps)
    if (steps <= 0.0).any():
        row = int(np.argmax(steps <= 0.0)) + 2
        raise refused(
            path, f"time does not increase at row {row}: {stamps[row - 1]:g} s after {stamps[row - 2]:g} s", "time"
        )
    # The mean is exact but for rows left out, the median but for rounding.
    middle = float(np.median(steps))
    usual = steps[steps < 1.5 * middle]
    measured = 1.0 / float(usual.mean())
    note = ""
    rate = said if said is not None else measured
    if said is None:
        note = f"No rate in the header: {measured:.6g} Hz by the time stamps."
    elif abs(measured / said - 1.0) > TRUSTED:
        rate = measured
        note = f"The header says {said:g} Hz, the time stamps {measured:.6g} Hz: the latter taken."
    places = np.round((stamps - stamps[0]) * rate).astype(int)
    if places[-1] > HOLES * count:
        raise refused(
            path, f"{count} rows over {stamps[-1] - stamps[0]:.4g} s at {rate:g} Hz; not one recording", "time"
        )
    if (np.diff(places) < 1).any():
        return rate, np.arange(count), f"{note} Uneven time stamps taken as even steps.".strip()
    left_out = int(places[-1] + 1 - count)
    if left_out:
        note = f"{note} {left_out} frames left out between rows are gaps.".strip()
    return rate, places, note
