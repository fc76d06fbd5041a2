"""The peers: which versions, which script, and how to get them all running."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from poise.bench.peers.contender import PeerError
from poise.bench.peers.environments import Environment, cache_folder
from poise.bench.peers.robot import bare_urdf, original
from poise.bench.peers.worker import Worker
from poise.errors import UsageError

AnyWorker = TypeVar("AnyWorker", bound=Worker)


@dataclass(frozen=True)
class Peer:
    """Another package that solves the problem.

    Attributes:
        name: what the table calls it.
        environment: where it runs.
        feet: ``"soft"``, a heavy cost, or ``"hard"``, equality constraints of the quadratic program.
        floating: whether it needs a floating joint under the base in the description of the robot.
        dynamics: whether it solves the problem of inverse dynamics, not that of kinematics.
    """

    name: str
    environment: Environment
    feet: str = "soft"
    floating: bool = False
    dynamics: bool = False

    @property
    def script(self) -> Path:
        kind = "_dynamics" if self.dynamics else ""
        return Path(__file__).parent / "workers" / f"{self.environment.name}{kind}_worker.py"


_PINK = Environment("pink", ("pin-pink==4.4.0", "pin==4.1.0", "qpsolvers==4.13.0", "daqp==0.10.3"))
_MINK = Environment("mink", ("mink==1.3.0", "mujoco==4.0.0", "qpsolvers==4.13.0", "daqp==0.10.3"))
_PLACO = Environment("placo", ("placo==0.10.2", "pin==3.8.0"))
#: Of its dependencies, those that this version was built with: newer ones have other names for the same libraries.
_TSID = Environment("tsid", ("tsid==1.7.1", "pin==3.4.0", "cmeel-urdfdom==4.0.1", "cmeel-tinyxml2==10.0.0"))

#: Each in its fastest way; the bars are for these.
PEERS = (Peer("pink", _PINK), Peer("mink", _MINK, floating=True), Peer("placo", _PLACO))
#: With the feet as constraints: closer to strict priorities, and slower.
HARD_FEET = (
    Peer("pink, hard feet", _PINK, "hard"),
    Peer("mink, hard feet", _MINK, "hard", floating=True),
    Peer("placo, hard feet", _PLACO, "hard"),
)
#: Inverse dynamics, contacts as constraints.
DYNAMICS = (Peer("tsid", _TSID, "hard", dynamics=True), Peer("placo", _PLACO, "hard", dynamics=True))


@contextmanager
def running(
    peers: Sequence[Peer] = PEERS,
    speed: float | None = None,
    cache: Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> Iterator[tuple[list[Worker], dict[str, str]]]:
    """Peers that are ready to go, and why those that are missing are. Ends their processes at the end.

    Args:
        peers: who is wanted.
        speed: limit of all joint speeds in rad/s, e.g. ``problem.TIGHT_SPEED``; None: the robot's own, never reached.
        cache: where environments are kept; None: see `cache_folder`.
        progress: told in one line what happens next; None: writes to standard error.

    >>> with running() as (contenders, skipped):  # doctest: +SKIP
    ...     result = measure([ours, *contenders], skipped=skipped)
    """
    with tempfile.TemporaryDirectory(prefix="poise-peers-") as folder:

        def launch(peer: Peer, python: Path) -> Worker:
            urdf = Path(folder) / ("floating.urdf" if peer.floating else "robot.urdf")
            if not urdf.exists():
                urdf.write_text(bare_urdf(original(), peer.floating, speed), encoding="utf-8")
            return Worker(peer.name, [python, peer.script, urdf, peer.feet])

        with launched(peers, launch, cache, progress) as (workers, skipped):
            yield workers, skipped


@contextmanager
def launched(
    peers: Sequence[Peer],
    launch: Callable[[Peer, Path], AnyWorker],
    cache: Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> Iterator[tuple[list[AnyWorker], dict[str, str]]]:
    """Peers in their environments, each started by `launch(peer, python)`, and why those that are missing are."""
    tell = progress or _tell
    skipped: dict[str, str] = {}
    workers: list[AnyWorker] = []
    with ExitStack() as stack:
        for peer in peers:
            try:
                python = peer.environment.python(cache or cache_folder(), tell)
                worker = _started(peer, python, launch)
                stack.callback(worker.close)
            except (PeerError, UsageError) as error:
                skipped[peer.name] = " ".join(str(error).split())
                tell(f"left out: {peer.name} ({skipped[peer.name]})")
            else:
                workers.append(worker)
        yield workers, skipped


def _started(peer: Peer, python: Path, launch: Callable[[Peer, Path], AnyWorker]) -> AnyWorker:
    try:
        return launch(peer, python)
    except PeerError as error:
        raise PeerError(f"{error}; to build its environment again, delete '{python.parents[1]}'") from None


def _tell(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
