"""A peer in its own process, which answers line by line."""

from __future__ import annotations

import json
import queue
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from poise.bench.peers.contender import PeerError
from poise.bench.peers.environments import last_complaint, variables


class Worker:
    """A contender behind a pipe; `poise.bench.peers.workers.serve` is the other end.

    Attributes:
        name, version: see `Contender`.
        start: what shows that all have the same robot: its mass in kg, places at the start in m.

    >>> with Worker("placo", [python, script, urdf]) as placo:  # doctest: +SKIP
    ...     microseconds, errors = placo.go(100)
    """

    def __init__(self, name: str, command: Sequence[str | Path], patience: float = 120.0) -> None:
        """Starts the process and waits for its greeting.

        Args:
            name: what the table calls it.
            command: what to run.
            patience: longest time in s that any answer may take.

        Raises:
            PeerError: it did not start.
        """
        self.name, self._patience = name, patience
        self._complaints = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115 (closed by close)
        try:
            self._process = subprocess.Popen(
                [str(word) for word in command],
                env=variables(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._complaints,
                text=True,
            )
        except OSError as error:
            self._complaints.close()
            raise PeerError(f"{name} does not start: {error.strerror or error}") from None
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()
        try:
            greeting = self._answer()
            self.version: str = greeting["version"]
            self.start: dict[str, Any] = greeting["start"]
        except BaseException:
            self.close()
            raise

    def go(self, steps: int) -> tuple[list[float], dict[str, float]]:
        """See `Contender`; PeerError if the peer has died or fallen silent."""
        answer = self.ask({"go": steps})
        return answer["microseconds"], answer["errors"]

    def parts(self, steps: int) -> dict[str, list[float]]:
        """See `Divisible`."""
        parts: dict[str, list[float]] = self.ask({"parts": steps})["parts"]
        return parts

    def ask(self, question: dict[str, int]) -> dict[str, Any]:
        """The answer to a question; PeerError if there is none."""
        if self._complaints.closed:
            raise PeerError(f"{self.name} has been closed")
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
        except OSError:  # the answer will be that it has ended, and why
            pass
        return self._answer()

    def close(self) -> None:
        """Ends the process; safe to repeat."""
        if self._complaints.closed:
            return
        try:
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process.wait(timeout=2.0)
        except (OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        self._complaints.close()

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self._lines.put(line)
        self._lines.put("")  # it has ended

    def _answer(self) -> dict[str, Any]:
        try:
            line = self._lines.get(timeout=self._patience)
        except queue.Empty:
            raise PeerError(f"{self.name} did not answer for {self._patience:g} s") from None
        if not line:
            self._complaints.seek(0)
            why = last_complaint(self._complaints.read()) or f"exit {self._process.wait()}"
            raise PeerError(f"{self.name} stopped: {why}")
        try:
            answer: dict[str, Any] = json.loads(line)
        except ValueError:
            raise PeerError(f"{self.name} answered '{line.strip()[:60]}' instead of JSON") from None
        return answer
