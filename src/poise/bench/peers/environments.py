"""Environments of peers: each needs other versions of the same packages, so each gets its own, once.

They are kept in the user's cache, in ``poise/peers/PEER-VERSION-pythonX.Y``, or in the folder that the environment
variable POISE_PEERS names. What is there is complete: an environment is built beside its place and moved into it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from poise.bench.peers.contender import PeerError

#: Longest time in s for one command; a slow connection needs minutes for MuJoCo.
PATIENCE = 1800.0
#: Variables that would lead the python of one environment into another, or hide a script's own folder from it.
_LEAKING = ("PYTHONPATH", "PYTHONHOME", "PYTHONSAFEPATH", "VIRTUAL_ENV")


@dataclass(frozen=True)
class Environment:
    """A virtual environment with pinned packages.

    Attributes:
        name: of the peer.
        requirements: what pip installs, the peer itself first.
    """

    name: str
    requirements: tuple[str, ...]

    @property
    def folder_name(self) -> str:
        """Its name in the cache: of all pinned packages, since another solver is another environment."""
        pins = "-".join(requirement.replace("==", "-") for requirement in self.requirements)
        return f"{pins}-python{sys.version_info.major}.{sys.version_info.minor}"

    def python(self, cache: Path, progress: Callable[[str], None]) -> Path:
        """Its interpreter; builds the environment if it is not there.

        Raises:
            PeerError: it cannot be built, e.g. without a network, or where there is no wheel.
        """
        folder = cache / self.folder_name
        if not interpreter(folder).exists():  # also if it is a link to a python that is gone
            self._build(folder, progress)
        return interpreter(folder)

    def _build(self, folder: Path, progress: Callable[[str], None]) -> None:
        progress(f"{self.name}: building its environment in {folder}")
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            site = Path(tempfile.mkdtemp(prefix=".building-", dir=folder.parent))
        except OSError as error:
            raise PeerError(f"no environment in '{folder.parent}': {error.strerror or error}") from None
        try:
            command([sys.executable, "-m", "venv", str(site)], f"no virtual environment for {self.name}")
            progress(f"{self.name}: installing {', '.join(self.requirements)}")
            install = [str(interpreter(site)), "-m", "pip", "install", "--only-binary=:all:", "--retries=2", "--quiet"]
            command([*install, *self.requirements], f"cannot install {self.name}")
            shutil.rmtree(folder, ignore_errors=True)
            site.rename(folder)
        except OSError as error:
            if not interpreter(folder).exists():  # or else somebody else built it meanwhile
                raise PeerError(f"no environment in '{folder}': {error.strerror or error}") from None
        finally:
            shutil.rmtree(site, ignore_errors=True)


def cache_folder() -> Path:
    """Where environments are kept."""
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
    """The python of a virtual environment."""
    return folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def variables() -> dict[str, str]:
    """Environment variables for the python of a peer. One thread: at this size more do not help, and disturb others."""
    kept = {name: value for name, value in os.environ.items() if name not in _LEAKING}
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {**kept, **threads, "PYTHONNOUSERSITE": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def command(words: Sequence[str], complaint: str, patience: float = PATIENCE) -> None:
    """Runs a command silently; PeerError with its last complaint if it fails."""
    try:
        done = subprocess.run(words, env=variables(), capture_output=True, text=True, timeout=patience)
    except subprocess.TimeoutExpired:
        raise PeerError(f"{complaint}: nothing after {patience:g} s") from None
    except OSError as error:
        raise PeerError(f"{complaint}: {error.strerror or error}") from None
    if done.returncode != 0:
        raise PeerError(f"{complaint}: {last_complaint(done.stderr + done.stdout) or f'exit {done.returncode}'}")


def last_complaint(text: str) -> str:
    """The line that says what went wrong: the last one with "error" in it, or else the last one."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line.lower()]
    return (telling or lines or [""])[-1].removeprefix("ERROR: ")
