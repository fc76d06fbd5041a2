"""What campaigns do: one module a kind of run.

>>> kind_named("walk").columns["distance_m"].unit
'm'
"""

from __future__ import annotations

from collections.abc import Callable

from poise.campaign.kinds.kind import Column, Kind, Outcome, Value
from poise.errors import UsageError, suggestion

__all__ = ["KINDS", "Column", "Kind", "Outcome", "Value", "kind_named"]


def _motion(name: str) -> Kind:
    from poise.campaign.kinds.motion_runs import MotionRuns

    return MotionRuns(name)


def _people(name: str) -> Kind:
    from poise.campaign.kinds.human_trials import People

    return People(name)


def _drill(_: str) -> Kind:
    from poise.campaign.kinds.kind import Drill

    return Drill()


def _programs(_: str) -> Kind:
    from poise.campaign.kinds.solver_programs import SolverPrograms

    return SolverPrograms()


def _fuzz(name: str) -> Kind:
    from poise.campaign.kinds.fuzz_controllers import FuzzControllers
    from poise.campaign.kinds.fuzz_files import FuzzFiles

    return FuzzFiles() if name.endswith("files") else FuzzControllers()


#: Names in specs, and what makes their kinds.
KINDS: dict[str, Callable[[str], Kind]] = {
    **dict.fromkeys(("reach", "stand", "squat", "walk", "navigate"), _motion),
    **dict.fromkeys(("human fit", "human gait"), _people),
    "solver programs": _programs,
    **dict.fromkeys(("fuzz controllers", "fuzz files"), _fuzz),
    "drill": _drill,
}


def kind_named(name: str) -> Kind:
    """The kind of runs that a spec calls so."""
    if name not in KINDS:
        raise UsageError(f"there is no behavior '{name}'; {suggestion(name, KINDS)}")
    return KINDS[name](name)
