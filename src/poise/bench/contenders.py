"""Who takes part."""

from __future__ import annotations

from collections.abc import Callable

from poise.bench import daqp_contenders, others, ours
from poise.bench.contender import Contender


def contenders(levels: int) -> tuple[list[Contender], dict[str, str]]:
    """All contenders for programs with this many levels, and why those that are missing are."""
    makers: dict[str, Callable[[], Contender]] = {
        ours.StrictCall.name: ours.StrictCall,
        ours.StrictKernel.name: ours.StrictKernel,
        ours.WeightedCall.name: lambda: ours.WeightedCall(levels),
        daqp_contenders.DaqpWeighted.name: daqp_contenders.DaqpWeighted,
        daqp_contenders.DaqpHierarchical.name: daqp_contenders.DaqpHierarchical,
        others.Quadprog.name: others.Quadprog,
        others.Proxqp.name: others.Proxqp,
    }
    present: list[Contender] = []
    missing: dict[str, str] = {}
    for name, make in makers.items():
        try:
            present.append(make())
        except ImportError as error:
            missing[name] = str(error)
    return present, missing
