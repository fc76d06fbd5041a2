"""Running a campaign: the missing runs of a folder, on this machine or on Ray."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import closing
from pathlib import Path
from typing import Any

from poise.campaign.folder import Folder, opened
from poise.campaign.guard import Done, Orders
from poise.campaign.local import on_this_machine
from poise.campaign.plan import Run
from poise.campaign.results import Results
from poise.campaign.spec import Spec

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
        from poise.campaign.cluster import on_ray

        yield from on_ray(runs, orders, ray, folder.scratch)
