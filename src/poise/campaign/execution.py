"""Execution of a campaign: do the missing runs of a folder, in worker processes on this machine or as Ray tasks.

A Ray worker does not execute a run itself. It has a `Supervisor` with its own worker process, as on one machine, so
that a run that crashes, hangs or needs too much memory has the same outcome on both engines. Ray handles the loss of
its workers and machines: a task whose worker is killed starts again elsewhere. Files come back through Ray's object
store, so the machines need not share a disk; files that a spec names must exist on all machines.
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
    """Execute runs in worker processes and yield each when it is finished, in any order.

    Closing the generator stops the workers.

    Args:
        runs: runs to execute.
        settings: settings of the workers.
        workers: number of worker processes.
        scratch: folder for files of unfinished runs.
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
    """Execute runs from a queue with one worker until the queue is empty."""
    try:
        while True:
            run = todo.get_nowait()
            finished.put((run, supervisor.run(run)))
    except queue.Empty:
        supervisor.close()
    except BaseException as error:  # raised again in `run_local`, which waits for results
        finished.put(error)


# -- Running a campaign ----------------------------------------------------------------------------------------------


#: Called with the number of finished runs and the number of failed ones among them.
Progress = Callable[[int, int], object]


def run_campaign(
    spec: Spec,
    out: str | Path,
    workers: int | None = None,
    ray: str | None = None,
    progress: Progress | None = None,
) -> Results:
    """Execute the missing runs of a campaign. If it is interrupted or killed, the same call continues it.

    Args:
        spec: spec of the campaign.
        out: folder of the campaign: new, empty, or with earlier results of the same campaign.
        workers: number of processes on this machine; None: one per core.
        ray: address of a Ray cluster to run on instead, or ``"local"``.
        progress: called after each run with the numbers of finished and of failed runs.

    Raises:
        SpecError: if the folder holds something else or is in use, or if Ray cannot be reached.

    >>> results = run_campaign(Spec.load("campaigns/pushes.toml", "short"), "pushes")
    >>> results.success_rate
    """
    # Not every operating system reports which cores the process may use.
    count = workers or len(os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1))
    engine: dict[str, Any] = {"engine": "local", "workers": count} if ray is None else {"engine": "ray", "address": ray}
    report = progress or (lambda completed, failed: None)
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


# -- Ray engine ------------------------------------------------------------------------------------------------------


#: Number of times Ray restarts a task whose worker or machine is lost.
MAX_RETRIES = 3
#: Tasks submitted to Ray per core: enough that no core idles, few enough that the driver stays small.
PENDING_PER_CORE = 3
#: Timeout of the connection to an address (s).
CONNECT_TIMEOUT = 5.0

_supervisors: dict[WorkerSettings, Supervisor] = {}


def run_on_ray(
    runs: Iterable[PlannedRun], settings: WorkerSettings, address: str, scratch: Path
) -> Iterator[FinishedRun]:
    """Execute runs on Ray and yield each when it is finished, in any order.

    Args:
        runs: runs to execute.
        settings: settings of the workers.
        address: address of a cluster, as Ray takes it; ``"local"``: start Ray on this machine.
        scratch: folder for the files that come back.
    """
    ray = _connect_to_ray(address)
    # Ray on this machine can use the scratch folder, which is always removed; other machines do not have it.
    shared_scratch = str(scratch) if address == "local" else ""
    with redirect_stdout(sys.stderr):  # Ray reports lost workers on standard output, which is for results
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
        except ray.exceptions.RayTaskError as error:  # the supervisor failed, not the run
            raise SpecError(f"a Ray worker cannot execute runs: {' '.join(str(error.cause).split())[:300]}") from None
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
    """Execute a run in a Ray worker.

    Args:
        run: run to execute.
        settings: settings of the worker process.
        shared_scratch: folder for files of unfinished runs; "": use a temporary folder.

    Returns:
        The result, and the content of the output file of the run, if any.
    """
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
        raise SpecError(
            f"there is no Ray at '{address}' ({reason}); give the address of a cluster, or 'local'"
        ) from None
    return ray


def _check_reachable(address: str) -> None:
    """Raise `OSError` if nothing listens at the address: Ray itself would wait for minutes."""
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if colon and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_TIMEOUT).close()


def _import_ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no telemetry
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # the default from Ray's next version on
    return load("ray")
