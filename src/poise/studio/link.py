"""Link: the simulation in its own process, and what happens when that dies."""

from __future__ import annotations

import multiprocessing
import queue
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from poise.studio.simulation.process import Begin, main

#: Who crashes so often within so many seconds is not started again.
CRASHES, WITHIN = 3, 30.0
#: Seconds that a simulation is given to end by itself.
ENDING = 2.0

Heard = Callable[..., None]
Outbox = queue.SimpleQueue[tuple[str, Any] | None]


class Link:
    """A wire to the process of the simulation.

    Args:
        heard: called from a thread of its own with each thing that the simulation says: a word and what belongs to it.
            When the process has gone, whatever the reason, it hears "gone".
    """

    def __init__(self, heard: Heard) -> None:
        self._heard = heard
        self._context = multiprocessing.get_context("spawn")
        self._process: Any = None
        self._outbox: Outbox = queue.SimpleQueue()

    def start(self, begin: Begin) -> None:
        """Begins a simulation; one that runs is ended before."""
        self.stop()
        ours, theirs = self._context.Pipe()
        self._process = self._context.Process(target=main, args=(theirs, begin), daemon=True, name="poise simulation")
        self._process.start()
        theirs.close()
        outbox: Outbox = queue.SimpleQueue()
        self._outbox = outbox
        threading.Thread(target=self._write, args=(ours, outbox), daemon=True).start()
        threading.Thread(target=self._read, args=(ours, outbox, self._process), daemon=True).start()

    def send(self, name: str, value: Any = None) -> None:
        """Tells the simulation something; returns at once."""
        self._outbox.put((name, value))

    def stop(self) -> None:
        """Ends the simulation; what it records is closed properly."""
        process, self._process = self._process, None
        if process is None:
            return
        self._outbox.put(("end", None))
        self._outbox.put(None)
        process.join(ENDING)
        if process.is_alive():
            process.kill()
            process.join(ENDING)

    @property
    def number(self) -> int | None:
        """Of the process, as the system counts."""
        return None if self._process is None else self._process.pid

    def _write(self, wire: Connection, outbox: Outbox) -> None:
        while (entry := outbox.get()) is not None:
            try:
                wire.send(entry)
            except (OSError, ValueError):
                return

    def _read(self, wire: Connection, outbox: Outbox, process: Any) -> None:
        outbox.put(("next", None))
        try:
            while True:
                entry = wire.recv()
                if entry[0] == "picture":
                    outbox.put(("next", None))  # only now may the next one be sent: the latest wins
                if process is self._process:  # else another one has begun
                    self._heard(*entry)
        except (EOFError, OSError):
            pass
        outbox.put(None)
        if process is self._process:  # nobody asked it to end
            process.join(ENDING)
            self._heard("gone", process.exitcode)
