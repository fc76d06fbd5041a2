"""Progress bar on standard error."""

from __future__ import annotations

import sys
import time
from typing import TextIO

#: A run that ends sooner than this (s) shows nothing: it would only flicker.
PATIENCE = 1.0
#: The bar is drawn anew every so often (s), which costs the loop nothing and looks steady.
REFRESH = 0.1
#: A log gets a line every so often (s).
LOG = 30.0
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
        counted: whether whole things are counted: then it tells how many a second.
        lines: whether a stream that is no terminal, such as the log of a night's work, gets a line now and then.

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
        counted: bool = False,
        lines: bool = False,
    ) -> None:
        self.what, self.total, self.unit, self.counted = what, total, unit, counted
        self._stream = sys.stderr if stream is None else stream
        self._terminal = _is_terminal(self._stream)
        self._shown = self._terminal or lines
        self._first: float | None = None
        self._begin = time.monotonic()
        patience = patience if self._terminal else LOG
        self._next = self._begin + patience
        self._drawn = False

    def __call__(self, done: float, more: str = "") -> None:
        if self._first is None:  # what was done before it took no time now
            self._first = done
        if not self._shown or (now := time.monotonic()) < self._next:
            return
        self._next = now + (REFRESH if self._terminal else LOG)
        share = min(max(done / self.total, 0.0), 1.0) if self.total > 0.0 else 1.0
        spent, came = now - self._begin, done - self._first
        sure = came > 0.02 * (self.total - self._first)  # sooner it is a guess
        left = f"{spent / came * (self.total - done):.0f} s left" if sure else ""
        if self.counted:
            told = f"{done:.0f} of {self.total:.0f} {self.unit} {came / spent:.3g}/s  {left}  {more}"
        else:
            told = f"{done:.1f} of {self.total:.1f} {self.unit}  {left}"
        if not self._terminal:
            self._print(f"{self.what}: {told}".rstrip(), "\n", "")
            return
        end = f" [{'#' * int(BAR * share):<{BAR}}] {told}"
        self._print(f"{self.what[: max(LINE - len(end), 0)]}{end}"[:LINE])

    def close(self) -> None:
        """Leaves the line clean for what follows."""
        if self._drawn and self._terminal:
            self._print("", "\r")
            self._drawn = False

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _print(self, text: str, end: str = "", begin: str = "\r") -> None:
        line = f"{begin}{text:<{LINE}}" if begin else text
        try:
            print(line, end=end, file=self._stream, flush=True)
            self._drawn = True
        except (OSError, ValueError):  # the terminal is gone; the motion goes on
            self._shown = False


def _is_terminal(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False
