"""What every solver under measurement has in common.

Each is used in the fastest way we know of. Arrays are contiguous and ready before the clock starts, so the cost of
building a Hessian from the rows is left out: a gift to the quadratic programs, since strict priorities work on the rows
themselves. A contender that fails starts afresh at the next step instead of from what it remembers.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from poise.solvers import Array, Program

#: The contenders that the bars speak of.
STRICT, KERNEL, REFERENCE = "strict", "strict (kernel)", "daqp weighted"


@dataclass(frozen=True)
class Answer:
    """What a contender says.

    Attributes:
        x: its point.
        ok: whether the contender itself is content.
        counters: what it did, if it counts.
    """

    x: Array
    ok: bool
    counters: Mapping[str, int] = field(default_factory=dict)


class Contender(Protocol):
    """A solver under measurement.

    Only `solve` is timed. `prepare` brings the program into the form the solver wants, `read` interprets what
    it returned; both happen outside. Between two calls of `reset` a contender may use what it remembers.
    """

    name: str
    #: Whether it minimises in strict order, so that its cost of each level can be compared.
    strict: bool

    def prepare(self, program: Program) -> Any: ...

    def reset(self) -> None: ...

    def solve(self, prepared: Any) -> Any: ...

    def read(self, outcome: Any) -> Answer: ...


def package(name: str) -> Any:
    """Another package, or an ImportError that says how to get it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ImportError(f"'{name}' is not installed; pip install poise[bench]") from None
