"""Fit service of the scene Human: take marker files from pages, fit each in a process of its own.

    page  -- file -->  Desk  -- Order -->  a process: read, fit, reproduce  -- Exhibit -->  GaitPlayback  -->  view

>>> desk = Desk(say, show, values)
>>> desk.upload("trial", "walk.c3d", data)
''
"""

from __future__ import annotations

import contextlib
import multiprocessing
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from poise.studio.fit_data import GIVEN, Exhibit, File, Order
from poise.studio.player import GaitPlayback

# -- Job: one fit that is under way in its own process ---------------------------------------------------------------


#: Seconds that reading, fitting and reproducing may take: three times what the largest file needs.
LONGEST = 240.0
#: Seconds in which a process that was killed is gone.
PARTING = 5.0


class Job:
    """Starts a process and listens to it, from a thread of its own.

    Args:
        order: what is to be made.
        done: told when it has ended, whatever the reason, from that thread.
        work: what the process does; `poise.studio.fit_worker.work`.
        longest: s that it may take.

    Attributes:
        words, share: what it is doing, and how much of all is done (0 to 1).
        exhibit: what came of it; None until then.
        error: why nothing came of it, in one line; "" else.
        stopped: whether it was given up.
    """

    def __init__(
        self,
        order: Any,
        done: Callable[[Job], None],
        work: Callable[[Connection, Any], None] | None = None,
        longest: float = LONGEST,
    ) -> None:
        self.words, self.share = "begins", 0.0
        self.exhibit: Exhibit | None = None
        self.error, self.stopped = "", False
        self._done, self._longest = done, longest
        self._over = threading.Event()
        context = multiprocessing.get_context("spawn")
        self._wire, theirs = context.Pipe(duplex=False)
        self._process = context.Process(target=work or _work, args=(theirs, order), daemon=True, name="poise fit")
        self._process.start()
        theirs.close()
        threading.Thread(target=self._listen, daemon=True, name="studio fit").start()

    def stop(self) -> None:
        """Gives it up; it will have ended soon."""
        self.stopped = True
        self._process.kill()

    def wait(self) -> str:
        """Returns when it has ended: "" or what went wrong, in one line."""
        self._over.wait()
        return self.error

    @property
    def running(self) -> bool:
        return not self._over.is_set()

    @property
    def number(self) -> int | None:
        """Of the process, as the system counts."""
        return self._process.pid

    def _listen(self) -> None:
        end = time.monotonic() + self._longest
        try:
            while self.exhibit is None and not self.error:
                if not self._wire.poll(max(end - time.monotonic(), 0.0)):
                    self.error = f"it took longer than {self._longest:g} s and was given up; cut it to some strides"
                    break
                self._hear(*self._wire.recv())
        except (EOFError, OSError):
            self._process.join(PARTING)
            code = self._process.exitcode
            self.error = f"the file could not be read: its reader broke down (exit {code}); it may be damaged"
        finally:
            self._process.kill()
            self._process.join(PARTING)
            self._wire.close()
        if self.stopped:
            self.exhibit, self.error = None, "it was given up for something else"
        self._done(self)
        self._over.set()

    def _hear(self, what: str, *told: Any) -> None:
        match what:
            case "progress":
                self.words, self.share = told
            case "done":
                self.exhibit = told[0]
            case "refused":
                self.error = told[0]


def _work(wire: Connection, order: Any) -> None:
    from poise.studio.fit_worker import work  # here: it brings much along, and pages are served by others

    work(wire, order)


# -- Desk ------------------------------------------------------------------------------------------------------------


#: How names of files with trials end.
ENDINGS = (".c3d", ".trc")
#: Letters of a file's name that are shown.
LETTERS = 60
#: Buttons of the scene that are pressed here.
BUTTONS = ("sample", "again", "forget")


class Desk:
    """What works for the scene Human in the process of the pages.

    Files are copied into a folder of its own, under names of its own, and read in a process of their own; one fit at a
    time, and a new one ends the one before.

    Args:
        say: tells pages something: "info" or "error", and a line.
        show: puts what came of a trial on the stage.
        values: of the controls, as they are now.
    """

    def __init__(
        self,
        say: Callable[[str, str], None],
        show: Callable[[GaitPlayback], None],
        values: Callable[[], Mapping[str, Any]],
    ) -> None:
        self._say, self._show, self._values = say, show, values
        self._folder = Path(tempfile.mkdtemp(prefix="poise-"))
        self._lock = threading.RLock()
        self._count = 0
        self._files: dict[str, File] = {}  # by control
        self._job: Job | None = None
        self._closed = False
        self.playback: GaitPlayback | None = None

    # -- what pages ask for ----------------------------------------------------------------------------------------

    def upload(self, control: str, name: str, data: bytes) -> str:
        """Takes a file, "trial" or "static"; returns when it is fitted, or with one line on why it is not."""
        shown = "".join(letter if letter.isprintable() else "?" for letter in name)[:LETTERS]
        ending = Path(name).suffix.lower()
        if control not in ("trial", "static"):
            return f"nothing here takes a file as '{control}'; reload the page"
        if ending not in ENDINGS:
            return f"'{shown}' is no trial; expected a file that ends in {' or '.join(ENDINGS)}"
        if not data:
            return f"'{shown}' is empty; choose a file with markers"
        with self._lock:
            if self._closed:
                return "the scene has been left; come back and load it again"
            self._count += 1
            path = self._folder / f"{control}-{self._count}{ending}"
            try:
                path.write_bytes(data)
            except OSError as full:
                return f"'{shown}' cannot be stored: {full.strerror or full}; make room on the disk"
            before, self._files = self._files, {**self._files, control: File(path, shown)}
            if "trial" not in self._files:
                self._say("info", "the static trial counts when a trial of a motion comes")
                return ""
            job = self._begin()
        error = job.wait()
        with self._lock:
            if error and self._files.get(control) == File(path, shown):
                self._files = before
            self._tidy()
        return error

    def _tidy(self) -> None:
        """Copies that are not needed any more."""
        needed = {file.path for file in self._files.values()}
        for path in () if self._closed else list(self._folder.iterdir()):
            if path not in needed:
                path.unlink(missing_ok=True)

    def press(self, button: str) -> None:
        """One of `BUTTONS`."""
        with self._lock:
            match button:
                case "sample":
                    self._files = {}
                case "again" if self.playback is None and "trial" not in self._files:
                    self._say("error", "there is nothing to fit yet; load a trial, or take the sample")
                    return
                case "forget" if self._files.pop("static", None) is None or "trial" not in self._files:
                    self._say("info", "there is no static trial any more")
                    return
            if not self._closed:
                self._begin(alone=True)

    def _begin(self, alone: bool = False) -> Job:
        """Starts a fit, and ends one that is under way.

        Args:
            alone: nobody waits for it: what goes wrong is told to all.
        """
        if self._job is not None:
            self._job.stop()
        values = self._values()
        given = {name: values.get(name) for name in ("height", "mass", "sex")} if values.get("person") == GIVEN else {}
        order = Order(self._files.get("trial"), self._files.get("static"), **given)
        self._job = Job(order, lambda job: self._made(job, alone))
        return self._job

    def _made(self, job: Job, alone: bool) -> None:
        if job.exhibit is None:
            if alone and not job.stopped:
                self._say("error", job.error)
            return
        playback = GaitPlayback(job.exhibit, self._values)
        with self._lock:
            if self._closed or job is not self._job:
                return
            self.playback = playback
        self._show(playback)

    # -- what pages are told ---------------------------------------------------------------------------------------

    def hello(self) -> dict[str, Any]:
        """Curves and tables; "title" is "" before there are any."""
        return {"title": ""} if self.playback is None else self.playback.exhibit.as_json()

    def frame(self) -> dict[str, Any]:
        """What is being done, and how much of it is done (0 to 1); "" if nothing is."""
        job = self._job
        return {"busy": job.words if job is not None and job.running else "", "done": 0.0 if job is None else job.share}

    def close(self) -> None:
        """Ends what is under way, and forgets all files."""
        with self._lock:
            self._closed = True
            job = self._job
        if job is not None:
            job.stop()
            job.wait()
        with contextlib.suppress(OSError):
            shutil.rmtree(self._folder)
