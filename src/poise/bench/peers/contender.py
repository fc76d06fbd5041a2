"""Who takes part: ours in this process, each peer in its own."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from poise.errors import PoiseError

#: The name of ours; the others are compared with it.
OURS = "poise"


class Contender(Protocol):
    """One way of solving the problem of `poise.bench.peers.problem`, step after step.

    Attributes:
        name: what the table calls it.
        version: of itself and of what makes its speed.
    """

    name: str
    version: str

    def go(self, steps: int) -> tuple[list[float], dict[str, float]]:
        """The next steps along the trajectory; step n = 1, 2, ... since the start aims at ``problem.offset(n)``.

        Returns:
            Microseconds of each whole step (kinematics of q, target, rows of all tasks and limits, solution, next q),
            and the errors after the last one, with the keys of ``problem.ALLOWED``, in m and rad.
        """


@runtime_checkable
class Divisible(Protocol):
    """A contender that can say where its time goes."""

    def parts(self, steps: int) -> dict[str, list[float]]:
        """The next steps, and the microseconds that each part of them took, by name."""


@runtime_checkable
class Answering(Protocol):
    """A contender that keeps what it answered.

    Attributes:
        answers: by step.
    """

    answers: dict[int, Any]


class PeerError(PoiseError):
    """A peer cannot take part or cannot go on; the message is the reason, on one line."""
