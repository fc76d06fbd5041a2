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

from poise.campaign.folder import CampaignFolder, open_folder
from poise.campaign.results import Results
from poise.campaign.spec import Spec
from poise.campaign.supervisor import RunResult, Supervisor, WorkerSettings
from poise.campaign.sweep import PlannedRun
from poise.errors import SpecError
from poise.extras import load

FinishedRun = tuple[PlannedRun, RunResult]


def run_local(
    runs: Iterable[PlannedRun], settings: WorkerSettings, workers: int, scratch: Path
) -> Iterator[FinishedRun]:
    """Runs as they are done, in any order. Who stops asking stops the workers.

    Args:
        runs: to do.
        settings: for the workers.
        workers: how many.
        scratch: a folder for their files.
    """
    todo: queue.SimpleQueue[PlannedRun] = queue.SimpleQueue()
    total = 0
    for run in runs:
        todo.put(run)
        total += 1
    finished: queue.SimpleQueue[FinishedRun | BaseException] = queue.SimpleQueue()
    supervisors = [Supervisor(settings, scratch, f"worker {k + 1}") for k in range(max(1, min(workers, total)))]
    threads = [
        threading.Thread(target=_run_queue, args=(supervisor, todo, finished), daemon=True)
        for supervisor in supervisors
    ]
    for thread in threads:
        thread.start()
    try:
        for _ in range(total):
            answer = finished.get()
            if isinstance(answer, BaseException):
                raise answer
            yield answer
    finally:
        for supervisor in supervisors:
            supervisor.close()
        for thread in threads:
            thread.join()


def _run_queue(
    supervisor: Supervisor,
    todo: queue.SimpleQueue[PlannedRun],
    finished: queue.SimpleQueue[FinishedRun | BaseException],
) -> None:
    """One worker, until nothing is left to do."""
    try:
        while True:
            run = todo.get_nowait()
            finished.put((run, supervisor.run(run)))
    except queue.Empty:
        supervisor.close()
    except BaseException as error:  # it is raised again where somebody waits
        finished.put(error)


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
    >>> results.success_rate
    """
    # Not every system says which processors are ours.
    count = workers or len(os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1))
    engine: dict[str, Any] = {"engine": "local", "workers": count} if ray is None else {"engine": "ray", "address": ray}
    report = progress or (lambda done, failed: None)
    with open_folder(Path(out), spec, engine) as folder:
        missing = folder.missing_runs
        failed = sum(not entry["row"]["succeeded"] for entry in folder.journal.entries.values())
        report(folder.initial_count, failed)
        try:
            with closing(_run_missing(spec, missing, folder, count, ray)) as answers:
                for run, result in answers:
                    entry = folder.add(run, result)
                    failed += not entry["row"]["succeeded"]
                    report(len(folder.journal.entries), failed)
        except BaseException:
            folder.write_tables()
            raise
        folder.finish()
    return Results.load(out)


def _run_missing(
    spec: Spec, runs: list[PlannedRun], folder: CampaignFolder, workers: int, ray: str | None
) -> Generator[tuple[PlannedRun, RunResult]]:
    settings = WorkerSettings(spec.kind.name, spec.limits.seconds, spec.limits.memory_mb, spec.recording_policy)
    if runs and ray is None:
        yield from run_local(runs, settings, workers, folder.scratch)
    elif runs and ray is not None:
        yield from run_on_ray(runs, settings, ray, folder.scratch)


# -- The engine of a cluster -----------------------------------------------------------------------------------------


#: How often Ray begins a task again whose worker or machine is gone.
MAX_RETRIES = 3
#: Tasks that wait at Ray for each core: enough that none idles, few enough that the driver stays small.
PENDING_PER_CORE = 3
#: How long an address may take to answer, s.
CONNECT_TIMEOUT = 5.0

_supervisors: dict[WorkerSettings, Supervisor] = {}


def run_on_ray(
    runs: Iterable[PlannedRun], settings: WorkerSettings, address: str, scratch: Path
) -> Iterator[FinishedRun]:
    """Runs as they are done, in any order.

    Args:
        runs: to do.
        settings: for the workers.
        address: of a cluster, as Ray takes it; ``"local"``: one of its own on this machine.
        scratch: a folder for the files that come back.
    """
    ray = _connect_to_ray(address)
    # A Ray of this machine may use our folder, which is tidied up whatever happens; elsewhere there is no such folder.
    shared_scratch = str(scratch) if address == "local" else ""
    with redirect_stdout(sys.stderr):  # Ray tells of lost workers on standard output, which is not its own
        yield from _submit_to_ray(ray, runs, settings, shared_scratch, scratch)


def _submit_to_ray(
    ray: Any, runs: Iterable[PlannedRun], settings: WorkerSettings, shared_scratch: str, scratch: Path
) -> Iterator[FinishedRun]:
    try:
        remote_run = ray.remote(num_cpus=1, max_retries=MAX_RETRIES)(_run_in_ray_worker)
        max_pending = max(1, int(ray.cluster_resources().get("CPU", 1))) * PENDING_PER_CORE
        pending: dict[Any, PlannedRun] = {}
        for run in runs:
            pending[remote_run.remote(run, settings, shared_scratch)] = run
            if len(pending) >= max_pending:
                yield from _collect_ready(ray, pending, scratch)
        while pending:
            yield from _collect_ready(ray, pending, scratch)
    finally:
        ray.shutdown()


def _collect_ready(ray: Any, pending: dict[Any, PlannedRun], scratch: Path) -> Iterator[FinishedRun]:
    ready, _ = ray.wait(list(pending), num_returns=1)
    for reference in ready:
        run = pending.pop(reference)
        try:
            result, data = ray.get(reference)
        except ray.exceptions.RayTaskError as error:  # a guard that could not work
            raise SpecError(f"a worker of Ray cannot work: {' '.join(str(error.cause).split())[:300]}") from None
        except ray.exceptions.RayError as error:
            result, data = RunResult("crashed", f"its worker was lost {MAX_RETRIES + 1} times", log=str(error)), None
        if data is not None and result.file is not None:
            file = scratch / Path(result.file).name
            file.write_bytes(data)
            result = replace(result, file=str(file))
        yield run, result


def _run_in_ray_worker(
    run: PlannedRun, settings: WorkerSettings, shared_scratch: str
) -> tuple[RunResult, bytes | None]:
    """In a worker of Ray: a run, and the file that it leaves. Files in between go to a folder, or to one of its own."""
    supervisor = _supervisors.get(settings)
    if supervisor is None:
        scratch = Path(shared_scratch or tempfile.mkdtemp(prefix="poise-"))
        supervisor = _supervisors[settings] = Supervisor(settings, scratch, f"{platform.node()} {os.getpid()}")
        atexit.register(supervisor.close)
        if not shared_scratch:
            atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    result = supervisor.run(run)
    if result.file is None:
        return result, None
    path = Path(result.file)
    data = path.read_bytes()
    path.unlink()
    return result, data


def _connect_to_ray(address: str) -> Any:
    ray = _import_ray()
    local = address == "local"
    local_options: dict[str, Any] = {"num_cpus": os.cpu_count(), "include_dashboard": False} if local else {}
    try:
        _check_reachable(address)
        ray.init(address=address, log_to_driver=False, logging_level="ERROR", **local_options)
    except (ray.exceptions.RayError, ValueError, RuntimeError, OSError) as error:
        reason = " ".join(str(error).split())[:200]
        raise SpecError(f"there is no Ray at '{address}' ({reason}); give its address, or 'local'") from None
    return ray


def _check_reachable(address: str) -> None:
    """OSError if nobody is there: Ray itself would wait for minutes."""
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if colon and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_TIMEOUT).close()


def _import_ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nobody is told
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # what Ray will do from its next version on
    return load("ray")
