"""Run a campaign: the missing runs of a folder, in worker processes on this machine or as tasks of Ray.

A Ray worker does not do a run itself: it has a guard with a worker process of its own, as on one machine, so that a
run that crashes, hangs or takes too much memory ends in the same words on both. What happens to Ray's workers and
machines is Ray's: a task whose worker is killed is begun again elsewhere. Files come back through Ray's object store,
so the machines need not share a disk; files that a spec names have to be there on all of them.
"""

from __future__ import annotations

import atexit
import os
import platform
import queue
import shutil
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

from poise.campaign.folder import Folder, opened
from poise.campaign.results import Results
from poise.campaign.spec import Spec
from poise.campaign.supervisor import Done, Guard, Orders
from poise.campaign.sweep import Run
from poise.errors import SpecError
from poise.extras import load

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


# -- Running a campaign ----------------------------------------------------------------------------------------------


#: Told how many runs are done, and how many of these failed.
Progress = Callable[[int, int], object]


def run_campaign(
    spec: Spec,
    out: str | Path,
    workers: int | None = None,
    ray: str | None = None,
    progress: Progress | None = None,
) -> Results:
    """Does what is left to do of a campaign; killed at any moment, the same call goes on where it was.

    Args:
        spec: what to run.
        out: folder of the campaign: new, empty, or that of this campaign.
        workers: processes on this machine; None: one for each core.
        ray: address of a Ray cluster to run on instead, or ``"local"``.
        progress: told how far it is.

    >>> results = run_campaign(Spec.load("campaigns/pushes.toml", "short"), "pushes")
    >>> results.survival
    """
    # Not every system says which processors are ours.
    count = workers or len(os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1))
    engine: dict[str, Any] = {"engine": "local", "workers": count} if ray is None else {"engine": "ray", "address": ray}
    say = progress or (lambda done, failed: None)
    with opened(Path(out), spec, engine) as folder:
        missing = folder.missing
        failed = sum(not entry["row"]["succeeded"] for entry in folder.journal.entries.values())
        say(folder.begun_with, failed)
        try:
            with closing(_answers(spec, missing, folder, count, ray)) as answers:
                for run, done in answers:
                    entry = folder.add(run, done)
                    failed += not entry["row"]["succeeded"]
                    say(len(folder.journal.entries), failed)
        except BaseException:
            folder.write()
            raise
        folder.finish()
    return Results.load(out)


def _answers(spec: Spec, runs: list[Run], folder: Folder, workers: int, ray: str | None) -> Generator[tuple[Run, Done]]:
    orders = Orders(spec.kind.name, spec.limits.seconds, spec.limits.memory_mb, spec.recordings)
    if runs and ray is None:
        yield from on_this_machine(runs, orders, workers, folder.scratch)
    elif runs and ray is not None:
        yield from on_ray(runs, orders, ray, folder.scratch)


# -- The engine of a cluster -----------------------------------------------------------------------------------------


#: How often Ray begins a task again whose worker or machine is gone.
RETRIES = 3
#: Tasks that wait at Ray for each core: enough that none idles, few enough that the driver stays small.
WAITING = 3
#: How long an address may take to answer, s.
KNOCK = 5.0

_guards: dict[Orders, Guard] = {}


def on_ray(runs: Iterable[Run], orders: Orders, address: str, scratch: Path) -> Iterator[Answer]:
    """Runs as they are done, in any order.

    Args:
        runs: to do.
        orders: for the workers.
        address: of a cluster, as Ray takes it; ``"local"``: one of its own on this machine.
        scratch: a folder for the files that come back.
    """
    ray = _connected(address)
    # A Ray of this machine may use our folder, which is tidied up whatever happens; elsewhere there is no such folder.
    place = str(scratch) if address == "local" else ""
    with redirect_stdout(sys.stderr):  # Ray tells of lost workers on standard output, which is not its own
        yield from _ray_answers(ray, runs, orders, place, scratch)


def _ray_answers(ray: Any, runs: Iterable[Run], orders: Orders, place: str, scratch: Path) -> Iterator[Answer]:
    try:
        perform = ray.remote(num_cpus=1, max_retries=RETRIES)(_perform)
        most = max(1, int(ray.cluster_resources().get("CPU", 1))) * WAITING
        waiting: dict[Any, Run] = {}
        for run in runs:
            waiting[perform.remote(run, orders, place)] = run
            if len(waiting) >= most:
                yield from _answered(ray, waiting, scratch)
        while waiting:
            yield from _answered(ray, waiting, scratch)
    finally:
        ray.shutdown()


def _answered(ray: Any, waiting: dict[Any, Run], scratch: Path) -> Iterator[Answer]:
    ready, _ = ray.wait(list(waiting), num_returns=1)
    for reference in ready:
        run = waiting.pop(reference)
        try:
            done, data = ray.get(reference)
        except ray.exceptions.RayTaskError as error:  # a guard that could not work
            raise SpecError(f"a worker of Ray cannot work: {' '.join(str(error.cause).split())[:300]}") from None
        except ray.exceptions.RayError as error:
            done, data = Done("crashed", f"its worker was lost {RETRIES + 1} times", log=str(error)), None
        if data is not None and done.file is not None:
            file = scratch / Path(done.file).name
            file.write_bytes(data)
            done = replace(done, file=str(file))
        yield run, done


def _perform(run: Run, orders: Orders, place: str) -> tuple[Done, bytes | None]:
    """In a worker of Ray: a run, and the file that it leaves. Files in between go to a folder, or to one of its own."""
    guard = _guards.get(orders)
    if guard is None:
        scratch = Path(place or tempfile.mkdtemp(prefix="poise-"))
        guard = _guards[orders] = Guard(orders, scratch, f"{platform.node()} {os.getpid()}")
        atexit.register(guard.close)
        if not place:
            atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    done = guard.perform(run)
    if done.file is None:
        return done, None
    path = Path(done.file)
    data = path.read_bytes()
    path.unlink()
    return done, data


def _connected(address: str) -> Any:
    ray = _ray()
    local = address == "local"
    own: dict[str, Any] = {"num_cpus": os.cpu_count(), "include_dashboard": False} if local else {}
    try:
        _knock(address)
        ray.init(address=address, log_to_driver=False, logging_level="ERROR", **own)
    except (ray.exceptions.RayError, ValueError, RuntimeError, OSError) as error:
        why = " ".join(str(error).split())[:200]
        raise SpecError(f"there is no Ray at '{address}' ({why}); give its address, or 'local'") from None
    return ray


def _knock(address: str) -> None:
    """OSError if nobody is there: Ray itself would wait for minutes."""
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if colon and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), KNOCK).close()


def _ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nobody is told
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # what Ray will do from its next version on
    return load("ray")
