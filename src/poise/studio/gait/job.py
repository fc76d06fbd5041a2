"""Job: one fit that is under way in its own process, with a limit to its time."""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from poise.studio.gait.exhibit import Exhibit

#: Seconds that reading, fitting and reproducing may take: three times what the largest file needs.
LONGEST = 240.0
#: Seconds in which a process that was killed is gone.
PARTING = 5.0


class Job:
    """Starts a process and listens to it, from a thread of its own.

    Args:
        order: what is to be made.
        done: told when it has ended, whatever the reason, from that thread.
        work: what the process does; `poise.studio.gait.worker.work`.
        longest: s that it may take.

    Attributes:
        words, share: what it is doing, and how much of all is done (0 to 1).
        exhibit: what came of it; None until then.
        error: why nothing came of it, in one line; "" else.
        stopped: whether it was given up.
    """

    def __init__(
        self,
        order: Any,
        done: Callable[[Job], None],
        work: Callable[[Connection, Any], None] | None = None,
        longest: float = LONGEST,
    ) -> None:
        self.words, self.share = "begins", 0.0
        self.exhibit: Exhibit | None = None
        self.error, self.stopped = "", False
        self._done, self._longest = done, longest
        self._over = threading.Event()
        context = multiprocessing.get_context("spawn")
        self._wire, theirs = context.Pipe(duplex=False)
        self._process = context.Process(target=work or _work, args=(theirs, order), daemon=True, name="poise fit")
        self._process.start()
        theirs.close()
        threading.Thread(target=self._listen, daemon=True, name="studio fit").start()

    def stop(self) -> None:
        """Gives it up; it will have ended soon."""
        self.stopped = True
        self._process.kill()

    def wait(self) -> str:
        """Returns when it has ended: "" or what went wrong, in one line."""
        self._over.wait()
        return self.error

    @property
    def running(self) -> bool:
        return not self._over.is_set()

    @property
    def number(self) -> int | None:
        """Of the process, as the system counts."""
        return self._process.pid

    def _listen(self) -> None:
        end = time.monotonic() + self._longest
        try:
            while self.exhibit is None and not self.error:
                if not self._wire.poll(max(end - time.monotonic(), 0.0)):
                    self.error = f"it took longer than {self._longest:g} s and was given up; cut it to some strides"
                    break
                self._hear(*self._wire.recv())
        except (EOFError, OSError):
            self._process.join(PARTING)
            code = self._process.exitcode
            self.error = f"the file could not be read: its reader broke down (exit {code}); it may be damaged"
        finally:
            self._process.kill()
            self._process.join(PARTING)
            self._wire.close()
        if self.stopped:
            self.exhibit, self.error = None, "it was given up for something else"
        self._done(self)
        self._over.set()

    def _hear(self, what: str, *told: Any) -> None:
        match what:
            case "progress":
                self.words, self.share = told
            case "done":
                self.exhibit = told[0]
            case "refused":
                self.error = told[0]


def _work(wire: Connection, order: Any) -> None:
    from poise.studio.gait.worker import work  # here: it brings much along, and pages are served by others

    work(wire, order)
