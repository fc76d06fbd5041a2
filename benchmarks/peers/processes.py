"""Peers in their own virtual environments and processes.

Each peer needs other versions of the same packages, so each has its own virtual environment, which is built once. They
are in the user's cache, in ``poise/peers/PEER-VERSION-pythonX.Y``, or in the folder that the environment variable
POISE_PEERS names. An environment is built beside its final path and then moved, so it is always complete. A worker
script (`benchmarks/peers/workers`) runs in it and answers requests line by line.
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from poise.errors import PoiseError, UsageError

AnyWorker = TypeVar("AnyWorker", bound="Worker")

#: Timeout of one command (s); over a slow connection MuJoCo takes minutes.
TIMEOUT = 1800.0
#: Environment variables that would make the interpreter of one environment use packages of another, or remove the
#: folder of a script from its path.
_LEAKING = ("PYTHONPATH", "PYTHONHOME", "PYTHONSAFEPATH", "VIRTUAL_ENV")


@dataclass(frozen=True)
class Environment:
    """A virtual environment with pinned packages.

    Attributes:
        name: name of the peer.
        requirements: pinned requirements for pip, the peer itself first.
    """

    name: str
    requirements: tuple[str, ...]

    @property
    def folder_name(self) -> str:
        """Name of the folder in the cache, made from all pinned packages."""
        pins = "-".join(requirement.replace("==", "-") for requirement in self.requirements)
        return f"{pins}-python{sys.version_info.major}.{sys.version_info.minor}"

    def python(self, cache: Path, progress: Callable[[str], None]) -> Path:
        """Return the interpreter of the environment; build the environment if it does not exist.

        Raises:
            PeerError: if it cannot be built, e.g. without a network or without a wheel for this platform.
        """
        folder = cache / self.folder_name
        if not interpreter(folder).exists():  # also true of a link to a removed interpreter
            self._build(folder, progress)
        return interpreter(folder)

    @staticmethod
    def pip_words(python: Path) -> list[str]:
        """Return the first words of a command that installs packages."""
        return [str(python), "-m", "pip", "install", "--only-binary=:all:", "--retries=2", "--quiet"]

    def install_words(self, python: Path) -> list[list[str]]:
        """Return the commands that install the packages."""
        return [[*self.pip_words(python), *self.requirements]]

    def _build(self, folder: Path, progress: Callable[[str], None]) -> None:
        progress(f"{self.name}: building its environment in {folder}")
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            site = Path(tempfile.mkdtemp(prefix=".building-", dir=folder.parent))
        except OSError as error:
            raise PeerError(f"no environment in '{folder.parent}': {error.strerror or error}") from None
        try:
            run_command([sys.executable, "-m", "venv", str(site)], f"no virtual environment for {self.name}")
            progress(f"{self.name}: installing {', '.join(self.requirements)}")
            for words in self.install_words(interpreter(site)):
                run_command(words, f"cannot install {self.name}")
            shutil.rmtree(folder, ignore_errors=True)
            site.rename(folder)
        except OSError as error:
            if not interpreter(folder).exists():  # otherwise another process has built it meanwhile
                raise PeerError(f"no environment in '{folder}': {error.strerror or error}") from None
        finally:
            shutil.rmtree(site, ignore_errors=True)


def cache_folder() -> Path:
    """Return the folder of the environments."""
    named = os.environ.get("POISE_PEERS")
    if named:
        return Path(named).expanduser().absolute()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData/Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library/Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "poise" / "peers"


def interpreter(folder: Path) -> Path:
    """Return the path of the Python interpreter of a virtual environment."""
    return folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def process_variables() -> dict[str, str]:
    """Return the environment variables of the process of a peer; one thread per library, as the problems are small."""
    inherited = {name: value for name, value in os.environ.items() if name not in _LEAKING}
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {**inherited, **threads, "PYTHONNOUSERSITE": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def run_command(words: Sequence[str], complaint: str, timeout: float = TIMEOUT) -> None:
    """Run a command silently; raise `PeerError` with its last error line if it fails."""
    try:
        result = subprocess.run(words, env=process_variables(), capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise PeerError(f"{complaint}: nothing after {timeout:g} s") from None
    except OSError as error:
        raise PeerError(f"{complaint}: {error.strerror or error}") from None
    if result.returncode != 0:
        raise PeerError(f"{complaint}: {error_line(result.stderr + result.stdout) or f'exit {result.returncode}'}")


def error_line(text: str) -> str:
    """Return the last line that contains "error", else the last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or [""])[-1].removeprefix("ERROR: ")


class PeerError(PoiseError):
    """A peer cannot start or continue; the message is the reason, in one line."""


class Worker:
    """A contender in a worker process, connected by pipes; the process runs `workers/serve.py`.

    Attributes:
        name, version: see `benchmarks.peers.timing.StepContender`.
        start: mass (kg) and initial positions (m) of the robot in the peer, to check that all have the same robot.

    >>> with Worker("placo", [python, script, "kinematics", urdf, "soft"]) as placo:  # doctest: +SKIP
    ...     microseconds, errors = placo.run_steps(100)
    """

    def __init__(self, name: str, command: Sequence[str | Path], timeout: float = 120.0) -> None:
        """Start the process and wait for its first message.

        Args:
            name: name in the table.
            command: command line of the process.
            timeout: longest time for an answer, s.

        Raises:
            PeerError: the process did not start.
        """
        self.name, self._timeout = name, timeout
        self._stderr = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115 (closed by close)
        try:
            self._process = subprocess.Popen(
                [str(word) for word in command],
                env=process_variables(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                text=True,
            )
        except OSError as error:
            self._stderr.close()
            raise PeerError(f"{name} does not start: {error.strerror or error}") from None
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()
        try:
            greeting = self._answer()
            self.version: str = greeting["version"]
            self.start: dict[str, Any] = greeting["start"]
        except BaseException:
            self.close()
            raise

    def run_steps(self, steps: int) -> tuple[list[float], dict[str, float]]:
        """See `benchmarks.peers.timing.StepContender`; `PeerError` if the peer has ended or does not answer."""
        answer = self.request({"steps": steps})
        return answer["microseconds"], answer["errors"]

    def parts(self, steps: int) -> dict[str, list[float]]:
        """See `benchmarks.peers.timing.PartTimedContender`."""
        parts: dict[str, list[float]] = self.request({"parts": steps})["parts"]
        return parts

    def request(self, message: dict[str, Any]) -> dict[str, Any]:
        """Send a message and return the answer; `PeerError` if there is none."""
        if self._stderr.closed:
            raise PeerError(f"{self.name} has been closed")
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()
        except OSError:  # the process has ended; `_answer` reports the reason
            pass
        return self._answer()

    def close(self) -> None:
        """End the process; may be called repeatedly."""
        if self._stderr.closed:
            return
        try:
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process.wait(timeout=2.0)
        except (OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        self._stderr.close()

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self._lines.put(line)
        self._lines.put("")  # marks the end of the process

    def _answer(self) -> dict[str, Any]:
        try:
            line = self._lines.get(timeout=self._timeout)
        except queue.Empty:
            raise PeerError(f"{self.name} did not answer for {self._timeout:g} s") from None
        if not line:
            self._stderr.seek(0)
            why = error_line(self._stderr.read()) or f"exit {self._process.wait()}"
            raise PeerError(f"{self.name} stopped: {why}")
        try:
            answer: dict[str, Any] = json.loads(line)
        except ValueError:
            raise PeerError(f"{self.name} answered '{line.strip()[:60]}' instead of JSON") from None
        return answer


@dataclass(frozen=True)
class Peer:
    """Another package that solves a problem.

    Attributes:
        name: name in the table.
        environment: virtual environment in which it runs.
        feet: tasks of the feet: ``"soft"``, with a large weight, or ``"hard"``, equality constraints of the program.
        floating: whether the URDF needs a floating joint below the base.
    """

    name: str
    environment: Environment
    feet: str = "soft"
    floating: bool = False

    @property
    def script(self) -> Path:
        """Path of the worker script, which runs in the environment."""
        return Path(__file__).parent / "workers" / f"{self.environment.name}_worker.py"


_PINK = Environment("pink", ("pin-pink==4.4.0", "pin==4.1.0", "qpsolvers==4.13.0", "daqp==0.10.3"))
_MINK = Environment("mink", ("mink==1.3.0", "mujoco==4.0.0", "qpsolvers==4.13.0", "daqp==0.10.3"))
_PLACO = Environment("placo", ("placo==0.10.2", "pin==3.8.0"))
#: Its dependencies are pinned to the versions that it was built with: newer ones rename the shared libraries.
_TSID = Environment("tsid", ("tsid==1.7.1", "pin==3.4.0", "cmeel-urdfdom==4.0.1", "cmeel-tinyxml2==10.0.0"))

#: OpenSim, on people (`benchmarks.peers.biomechanics`).
OPENSIM = Peer("opensim", Environment("opensim", ("opensim==4.6",)))

#: Peers of kinematics in their fastest configuration, to which the bars apply.
PEERS = (Peer("pink", _PINK), Peer("mink", _MINK, floating=True), Peer("placo", _PLACO))
#: The same with the feet as equality constraints, which is closer to strict priorities and slower.
HARD_FEET = (
    Peer("pink, hard feet", _PINK, "hard"),
    Peer("mink, hard feet", _MINK, "hard", floating=True),
    Peer("placo, hard feet", _PLACO, "hard"),
)
#: Peers of inverse dynamics, with contacts as constraints.
DYNAMICS = (Peer("tsid", _TSID, "hard"), Peer("placo", _PLACO, "hard"))


@contextmanager
def start_peers(
    peers: Sequence[Peer],
    launch: Callable[[Peer, Path], AnyWorker],
    cache: Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> Iterator[tuple[list[AnyWorker], dict[str, str]]]:
    """Start peers in their environments by `launch(peer, python)`; yield them, and the reasons of missing ones by name.

    Their processes end with the context. `progress` is called with a one-line message before each stage; None: the
    message is written to standard error.
    """
    report = progress or _print_to_stderr
    skipped: dict[str, str] = {}
    workers: list[AnyWorker] = []
    with ExitStack() as stack:
        for peer in peers:
            try:
                python = peer.environment.python(cache or cache_folder(), report)
                worker = _start(peer, python, launch)
                stack.callback(worker.close)
            except (PeerError, UsageError) as error:
                skipped[peer.name] = " ".join(str(error).split())
                report(f"left out: {peer.name} ({skipped[peer.name]})")
            else:
                workers.append(worker)
        yield workers, skipped


def _start(peer: Peer, python: Path, launch: Callable[[Peer, Path], AnyWorker]) -> AnyWorker:
    try:
        return launch(peer, python)
    except PeerError as error:
        raise PeerError(f"{error}; to build its environment again, delete '{python.parents[1]}'") from None


def _print_to_stderr(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
