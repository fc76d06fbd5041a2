"""The engine of one machine: worker processes, each with one thread and a guard."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

from poise.campaign.guard import Done, Guard, Orders
from poise.campaign.plan import Run

Answer = tuple[Run, Done]


def on_this_machine(runs: Iterable[Run], orders: Orders, workers: int, scratch: Path) -> Iterator[Answer]:
    """Runs as they are done, in any order. Who stops asking stops the workers.

    Args:
        runs: to do.
        orders: for the workers.
        workers: how many.
        scratch: a folder for their files.
    """
    todo: queue.SimpleQueue[Run] = queue.SimpleQueue()
    total = 0
    for run in runs:
        todo.put(run)
        total += 1
    done: queue.SimpleQueue[Answer | BaseException] = queue.SimpleQueue()
    guards = [Guard(orders, scratch, f"worker {k + 1}") for k in range(max(1, min(workers, total)))]
    threads = [threading.Thread(target=_work, args=(guard, todo, done), daemon=True) for guard in guards]
    for thread in threads:
        thread.start()
    try:
        for _ in range(total):
            answer = done.get()
            if isinstance(answer, BaseException):
                raise answer
            yield answer
    finally:
        for guard in guards:
            guard.close()
        for thread in threads:
            thread.join()


def _work(guard: Guard, todo: queue.SimpleQueue[Run], done: queue.SimpleQueue[Answer | BaseException]) -> None:
    """One worker, until nothing is left to do."""
    try:
        while True:
            run = todo.get_nowait()
            done.put((run, guard.perform(run)))
    except queue.Empty:
        guard.close()
    except BaseException as error:  # it is raised again where somebody waits
        done.put(error)
