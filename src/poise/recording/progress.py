"""Bar: shows who waits at a terminal how far a motion is."""

from __future__ import annotations

import sys
import time
from typing import TextIO

#: A run that ends sooner than this (s) shows nothing: it would only flicker.
PATIENCE = 1.0
#: The bar is drawn anew every so often (s), which costs the loop nothing and looks steady.
REFRESH = 0.1
#: Characters of the bar, and of the whole line, which fits a terminal of 80.
BAR, LINE = 30, 79


class Bar:
    """A progress bar on standard error: how far, how long still. Silent unless a person looks at it for a while.

    Call it with the time of the motion so far (s), then `close` it, which leaves the line clean for what follows.

    Args:
        what: is going on, such as ``"reach on g1"``.
        total: seconds of motion in all.
        stream: where to, if not standard error; silent unless it is a terminal.
        patience: seconds until it appears.
        unit: of the total, if it is not seconds.

    >>> with Bar("reach on g1", 10.0) as bar:
    ...     poise.record(controller, plant, 10.0, progress=bar)
    """

    def __init__(
        self,
        what: str,
        total: float,
        stream: TextIO | None = None,
        patience: float = PATIENCE,
        unit: str = "s",
    ) -> None:
        self.what, self.total, self.unit = what, total, unit
        self._stream = sys.stderr if stream is None else stream
        self._shown = _is_terminal(self._stream)
        self._begin = time.monotonic()
        self._next = self._begin + patience
        self._drawn = False

    def __call__(self, done: float) -> None:
        if not self._shown or (now := time.monotonic()) < self._next:
            return
        self._next = now + REFRESH
        share = min(max(done / self.total, 0.0), 1.0) if self.total > 0.0 else 1.0
        spent = now - self._begin
        left = f"{spent / share - spent:.0f} s left" if share > 0.02 else ""  # sooner it is a guess
        end = f" [{'#' * int(BAR * share):<{BAR}}] {done:.1f} of {self.total:.1f} {self.unit}  {left}"
        self._print(f"{self.what[: max(LINE - len(end), 0)]}{end}"[:LINE])

    def close(self) -> None:
        """Leaves the line clean for what follows."""
        if self._drawn:
            self._print("", "\r")
            self._drawn = False

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _print(self, text: str, end: str = "") -> None:
        try:
            print(f"\r{text:<{LINE}}", end=end, file=self._stream, flush=True)
            self._drawn = True
        except (OSError, ValueError):  # the terminal is gone; the motion goes on
            self._shown = False


def _is_terminal(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False
