"""Kinds of runs that a campaign can execute, by their names in specs.

>>> find_run_kind("walk").columns["distance_m"].unit
'm'
"""

from __future__ import annotations

from collections.abc import Callable

from poise.campaign.kinds.kind import Column, RunKind, RunOutput, Value
from poise.errors import UsageError, suggestion

__all__ = ["RUN_KINDS", "Column", "RunKind", "RunOutput", "Value", "find_run_kind"]


def _motion_runs(name: str) -> RunKind:
    from poise.campaign.kinds.motion_runs import MotionRuns

    return MotionRuns(name)


def _walk_quality(_: str) -> RunKind:
    from poise.campaign.kinds.motion_runs import WalkQuality

    return WalkQuality()


def _human_trials(name: str) -> RunKind:
    from poise.campaign.kinds.human_trials import HumanTrials

    return HumanTrials(name)


def _fault_drill(_: str) -> RunKind:
    from poise.campaign.kinds.kind import FaultDrill

    return FaultDrill()


def _solver_programs(_: str) -> RunKind:
    from poise.campaign.kinds.solver_programs import SolverPrograms

    return SolverPrograms()


def _fuzz_runs(name: str) -> RunKind:
    from poise.campaign.kinds.fuzz_controllers import FuzzControllers
    from poise.campaign.kinds.fuzz_files import FuzzFiles

    return FuzzFiles() if name.endswith("files") else FuzzControllers()


#: Function that returns the kind of run, by its name in specs.
RUN_KINDS: dict[str, Callable[[str], RunKind]] = {
    **dict.fromkeys(("reach", "stand", "squat", "walk", "navigate"), _motion_runs),
    "walk quality": _walk_quality,
    **dict.fromkeys(("human fit", "human gait"), _human_trials),
    "solver programs": _solver_programs,
    **dict.fromkeys(("fuzz controllers", "fuzz files"), _fuzz_runs),
    "fault drill": _fault_drill,
}


def find_run_kind(name: str) -> RunKind:
    """Return the kind of run with this name in specs; `UsageError` if there is none."""
    if name not in RUN_KINDS:
        raise UsageError(f"there is no kind of runs '{name}'; {suggestion(name, RUN_KINDS)}")
    return RUN_KINDS[name](name)
