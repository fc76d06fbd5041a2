"""Fit service of the scene Human: take marker files from pages, fit each in a process of its own.

    page -- file --> FitService -- FitRequest --> process: read, fit, reproduce -- GaitResult --> GaitPlayer --> view

>>> service = FitService(post_message, show_result, control_values)
>>> service.upload("trial", "walk.c3d", data)
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

from poise.studio.fit_data import MANUAL, FitRequest, GaitResult, UploadedFile
from poise.studio.player import GaitPlayer

# -- FitProcess: one fit in a process of its own --------------------------------------------------------------------


#: Seconds that reading, fitting and reproducing may take: three times what the largest file needs.
TIMEOUT = 240.0
#: Seconds in which a process that was killed is gone.
STOP_TIMEOUT = 5.0


class FitProcess:
    """Starts a process and listens to it, from a thread of its own.

    Args:
        request: what is to be made.
        on_done: told when it has ended, whatever the reason, from that thread.
        work: what the process does; `poise.studio.fit_worker.run_fit`.
        timeout: s that it may take.

    Attributes:
        activity, progress: what it is doing, and how much of all is done (0 to 1).
        result: what came of it; None until then.
        error: why nothing came of it, in one line; "" else.
        cancelled: whether it was given up.
    """

    def __init__(
        self,
        request: Any,
        on_done: Callable[[FitProcess], None],
        work: Callable[[Connection, Any], None] | None = None,
        timeout: float = TIMEOUT,
    ) -> None:
        self.activity, self.progress = "begins", 0.0
        self.result: GaitResult | None = None
        self.error, self.cancelled = "", False
        self._on_done, self._timeout = on_done, timeout
        self._finished = threading.Event()
        context = multiprocessing.get_context("spawn")
        self._connection, child_end = context.Pipe(duplex=False)
        self._process = context.Process(
            target=work or _run_worker, args=(child_end, request), daemon=True, name="poise fit"
        )
        self._process.start()
        child_end.close()
        threading.Thread(target=self._listen, daemon=True, name="studio fit").start()

    def cancel(self) -> None:
        """Gives it up; it will have ended soon."""
        self.cancelled = True
        self._process.kill()

    def wait(self) -> str:
        """Returns when it has ended: "" or what went wrong, in one line."""
        self._finished.wait()
        return self.error

    @property
    def running(self) -> bool:
        return not self._finished.is_set()

    @property
    def pid(self) -> int | None:
        """Of the process, as the system counts."""
        return self._process.pid

    def _listen(self) -> None:
        end = time.monotonic() + self._timeout
        try:
            while self.result is None and not self.error:
                if not self._connection.poll(max(end - time.monotonic(), 0.0)):
                    self.error = f"it took longer than {self._timeout:g} s and was given up; cut it to some strides"
                    break
                self._handle_message(*self._connection.recv())
        except (EOFError, OSError):
            self._process.join(STOP_TIMEOUT)
            code = self._process.exitcode
            self.error = f"the file could not be read: its reader broke down (exit {code}); it may be damaged"
        finally:
            self._process.kill()
            self._process.join(STOP_TIMEOUT)
            self._connection.close()
        if self.cancelled:
            self.result, self.error = None, "it was given up for something else"
        self._on_done(self)
        self._finished.set()

    def _handle_message(self, kind: str, *payload: Any) -> None:
        match kind:
            case "progress":
                self.activity, self.progress = payload
            case "done":
                self.result = payload[0]
            case "refused":
                self.error = payload[0]


def _run_worker(connection: Connection, request: Any) -> None:
    from poise.studio.fit_worker import run_fit  # here: it brings much along, and pages are served by others

    run_fit(connection, request)


# -- FitService ------------------------------------------------------------------------------------------------------


#: How names of files with trials end.
TRIAL_SUFFIXES = (".c3d", ".trc")
#: Letters of a file's name that are shown.
MAX_SHOWN_LENGTH = 60
#: Buttons of the scene that are pressed here.
BUTTONS = ("sample", "refit", "refit_without_static")


class FitService:
    """What works for the scene Human in the process of the pages.

    Files are copied into a folder of its own, under names of its own, and read in a process of their own; one fit at a
    time, and a new one ends the one before.

    Args:
        post_message: tells pages something: "info" or "error", and a line.
        show_result: shows what came of a trial.
        control_values: of the controls, as they are now.
    """

    def __init__(
        self,
        post_message: Callable[[str, str], None],
        show_result: Callable[[GaitPlayer], None],
        control_values: Callable[[], Mapping[str, Any]],
    ) -> None:
        self._post_message, self._show_result, self._control_values = post_message, show_result, control_values
        self._folder = Path(tempfile.mkdtemp(prefix="poise-"))
        self._lock = threading.RLock()
        self._count = 0
        self._files: dict[str, UploadedFile] = {}  # by control
        self._fit_process: FitProcess | None = None
        self._closed = False
        self.player: GaitPlayer | None = None

    # -- what pages ask for ----------------------------------------------------------------------------------------

    def upload(self, control: str, name: str, data: bytes) -> str:
        """Takes a file, "trial" or "static"; returns when it is fitted, or with one line on why it is not."""
        shown_name = "".join(letter if letter.isprintable() else "?" for letter in name)[:MAX_SHOWN_LENGTH]
        suffix = Path(name).suffix.lower()
        if control not in ("trial", "static"):
            return f"nothing here takes a file as '{control}'; reload the page"
        if suffix not in TRIAL_SUFFIXES:
            return f"'{shown_name}' is no trial; expected a file that ends in {' or '.join(TRIAL_SUFFIXES)}"
        if not data:
            return f"'{shown_name}' is empty; choose a file with markers"
        with self._lock:
            if self._closed:
                return "the scene has been left; come back and load it again"
            self._count += 1
            path = self._folder / f"{control}-{self._count}{suffix}"
            try:
                path.write_bytes(data)
            except OSError as write_error:
                return f"'{shown_name}' cannot be stored: {write_error.strerror or write_error}; make room on the disk"
            previous, self._files = self._files, {**self._files, control: UploadedFile(path, shown_name)}
            if "trial" not in self._files:
                self._post_message("info", "the static trial counts when a trial of a motion comes")
                return ""
            fit_process = self._start_fit()
        error = fit_process.wait()
        with self._lock:
            if error and self._files.get(control) == UploadedFile(path, shown_name):
                self._files = previous
            self._remove_unused_files()
        return error

    def _remove_unused_files(self) -> None:
        """Copies that are not needed any more."""
        needed = {file.path for file in self._files.values()}
        for path in () if self._closed else list(self._folder.iterdir()):
            if path not in needed:
                path.unlink(missing_ok=True)

    def handle_button(self, button: str) -> None:
        """One of `BUTTONS`."""
        with self._lock:
            match button:
                case "sample":
                    self._files = {}
                case "refit" if self.player is None and "trial" not in self._files:
                    self._post_message("error", "there is nothing to fit yet; load a trial, or take the sample")
                    return
                case "refit_without_static" if self._files.pop("static", None) is None or "trial" not in self._files:
                    self._post_message("info", "there is no static trial any more")
                    return
            if not self._closed:
                self._start_fit(report_errors=True)

    def _start_fit(self, report_errors: bool = False) -> FitProcess:
        """Starts a fit, and ends one that is under way.

        Args:
            report_errors: nobody waits for it: what goes wrong is told to all.
        """
        if self._fit_process is not None:
            self._fit_process.cancel()
        control_values = self._control_values()
        subject = (
            {name: control_values.get(name) for name in ("height", "mass", "sex")}
            if control_values.get("subject_source") == MANUAL
            else {}
        )
        request = FitRequest(self._files.get("trial"), self._files.get("static"), **subject)
        self._fit_process = FitProcess(request, lambda fit_process: self._on_fit_done(fit_process, report_errors))
        return self._fit_process

    def _on_fit_done(self, fit_process: FitProcess, report_errors: bool) -> None:
        if fit_process.result is None:
            if report_errors and not fit_process.cancelled:
                self._post_message("error", fit_process.error)
            return
        player = GaitPlayer(fit_process.result, self._control_values)
        with self._lock:
            if self._closed or fit_process is not self._fit_process:
                return
            self.player = player
        self._show_result(player)

    # -- what pages are told ---------------------------------------------------------------------------------------

    def result_data(self) -> dict[str, Any]:
        """Curves and tables; "title" is "" before there are any."""
        return {"title": ""} if self.player is None else self.player.result.as_json()

    def progress_data(self) -> dict[str, Any]:
        """What is being done, and how much of it is done (0 to 1); "" if nothing is."""
        fit_process = self._fit_process
        return {
            "activity": fit_process.activity if fit_process is not None and fit_process.running else "",
            "progress": 0.0 if fit_process is None else fit_process.progress,
        }

    def close(self) -> None:
        """Ends what is under way, and forgets all files."""
        with self._lock:
            self._closed = True
            fit_process = self._fit_process
        if fit_process is not None:
            fit_process.cancel()
            fit_process.wait()
        with contextlib.suppress(OSError):
            shutil.rmtree(self._folder)
