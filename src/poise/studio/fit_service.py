"""Fit service of the scene Human: receive marker files from pages and fit each in a separate process.

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

# -- FitProcess: one fit in a separate process ----------------------------------------------------------------------


#: Time limit for reading, fitting and reproducing (s): three times what the largest file needs.
TIMEOUT = 240.0
#: Longest wait for a killed process to end (s).
STOP_TIMEOUT = 5.0


class FitProcess:
    """Worker process of one fit, and a thread that receives its messages.

    Args:
        request: input of the fit, passed to `work`.
        on_done: called with this object from that thread when the process has ended, for any reason.
        work: function that the process runs; None: `poise.studio.fit_worker.run_fit`.
        timeout: time limit (s).

    Attributes:
        activity, progress: current activity as text, and the completed share of the whole (0 to 1).
        result: result of the fit; None before it is complete, or if it failed.
        error: reason of a failure, one line; "" if there is none.
        cancelled: whether `cancel` was called.
    """

    def __init__(
        self,
        request: Any,
        on_done: Callable[[FitProcess], None],
        work: Callable[[Connection, Any], None] | None = None,
        timeout: float = TIMEOUT,
    ) -> None:
        self.activity, self.progress = "starting", 0.0
        self.result: GaitResult | None = None
        self.error, self.cancelled = "", False
        self._on_done, self._timeout, self._start_time = on_done, timeout, time.monotonic()
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
        """Kill the process; `on_done` is called soon afterwards."""
        self.cancelled = True
        self._process.kill()

    def wait(self) -> str:
        """Block until the process has ended; return "" or the reason of its failure, in one line."""
        self._finished.wait()
        return self.error

    @property
    def running(self) -> bool:
        return not self._finished.is_set()

    @property
    def seconds(self) -> float:
        """Time since the start (s)."""
        return time.monotonic() - self._start_time

    @property
    def pid(self) -> int | None:
        """Process identifier."""
        return self._process.pid

    def _listen(self) -> None:
        end = time.monotonic() + self._timeout
        try:
            while self.result is None and not self.error:
                if not self._connection.poll(max(end - time.monotonic(), 0.0)):
                    self.error = f"the fit was stopped after {self._timeout:g} s; cut the trial to a few strides"
                    break
                self._handle_message(*self._connection.recv())
        except (EOFError, OSError):
            self._process.join(STOP_TIMEOUT)
            code = self._process.exitcode
            self.error = f"the fit process crashed (exit {code}); the file may be damaged: load another one"
        finally:
            self._process.kill()
            self._process.join(STOP_TIMEOUT)
            self._connection.close()
        if self.cancelled:
            self.result, self.error = None, "the fit was cancelled"
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
    from poise.studio.fit_worker import (
        run_fit,
    )  # here: its imports are large, and the server process needs none of them

    run_fit(connection, request)


# -- FitService ------------------------------------------------------------------------------------------------------


#: File suffixes of trials.
TRIAL_SUFFIXES = (".c3d", ".trc")
#: Longest file name that is shown (characters).
MAX_SHOWN_LENGTH = 60
#: Name of the fit among the jobs that pages show.
FIT_JOB = "fit"
#: Buttons of the scene that the fit service handles, rather than the simulation.
BUTTONS = ("sample", "refit", "refit_without_static")


class FitService:
    """Fits uploaded trials for the scene Human; it lives in the server process.

    Files are copied into a temporary folder under generated names and are read in a worker process. One fit runs at a
    time; a new fit cancels the previous one.

    Args:
        post_message: shows a message on all pages; its arguments are "info" or "error", and the text.
        show_result: shows the player of a new result.
        control_values: returns the current values of the controls.

    Attributes:
        player: player of the latest result; None before there is one.
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

    # -- requests of pages -----------------------------------------------------------------------------------------

    def upload(self, control: str, name: str, data: bytes) -> str:
        """Receive a trial and fit it; block until the fit has ended.

        Args:
            control: "trial" or "static".
            name: file name that the user gave.
            data: content of the file.

        Returns:
            "" on success, else one line that says what is wrong.
        """
        shown_name = "".join(letter if letter.isprintable() else "?" for letter in name)[:MAX_SHOWN_LENGTH]
        suffix = Path(name).suffix.lower()
        if control not in ("trial", "static"):
            return f"this scene has no upload '{control}'; reload the page"
        if suffix not in TRIAL_SUFFIXES:
            return f"'{shown_name}' is not a marker file; expected a file that ends in {' or '.join(TRIAL_SUFFIXES)}"
        if not data:
            return f"'{shown_name}' is empty; choose a file with markers"
        with self._lock:
            if self._closed:
                return "the scene was closed; open it and load the file again"
            self._count += 1
            path = self._folder / f"{control}-{self._count}{suffix}"
            try:
                path.write_bytes(data)
            except OSError as write_error:
                return f"'{shown_name}' cannot be stored: {write_error.strerror or write_error}; free disk space"
            previous, self._files = self._files, {**self._files, control: UploadedFile(path, shown_name)}
            if "trial" not in self._files:
                self._post_message("info", "the static trial will be used with the next motion trial")
                return ""
            fit_process = self._start_fit()
        error = fit_process.wait()
        with self._lock:
            if error and self._files.get(control) == UploadedFile(path, shown_name):
                self._files = previous
            self._remove_unused_files()
        return error

    def _remove_unused_files(self) -> None:
        """Delete copies that no fit needs any more."""
        needed = {file.path for file in self._files.values()}
        for path in () if self._closed else list(self._folder.iterdir()):
            if path not in needed:
                path.unlink(missing_ok=True)

    def handle_button(self, button: str) -> None:
        """Handle a press of one of `BUTTONS`."""
        with self._lock:
            match button:
                case "sample":
                    self._files = {}
                case "refit" if self.player is None and "trial" not in self._files:
                    self._post_message("error", "no trial to fit; load a trial, or take the sample")
                    return
                case "refit_without_static" if self._files.pop("static", None) is None or "trial" not in self._files:
                    self._post_message("info", "no static trial is in use")
                    return
            if not self._closed:
                self._start_fit(report_errors=True)

    def _start_fit(self, report_errors: bool = False) -> FitProcess:
        """Start a fit, and cancel the one that is running.

        Args:
            report_errors: whether to show an error on all pages, as no upload waits for the result.
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
            with self._lock:
                replaced = self._closed or fit_process is not self._fit_process
            if report_errors and not replaced:
                self._post_message("info" if fit_process.cancelled else "error", fit_process.error)
            return
        player = GaitPlayer(fit_process.result, self._control_values)
        with self._lock:
            if self._closed or fit_process is not self._fit_process:
                return
            self.player = player
        self._show_result(player)

    # -- data for pages --------------------------------------------------------------------------------------------

    def result_data(self) -> dict[str, Any]:
        """Return the curves and tables of `GaitResult.as_json`; "title" is "" before there is a result."""
        return {"title": ""} if self.player is None else self.player.result.as_json()

    def jobs(self) -> list[dict[str, Any]]:
        """Return the state of a running fit: "name", "activity", "progress" (0 to 1) and "seconds" since the start."""
        fit_process = self._fit_process
        if fit_process is None or not fit_process.running:
            return []
        return [
            {
                "name": FIT_JOB,
                "activity": fit_process.activity,
                "progress": fit_process.progress,
                "seconds": round(fit_process.seconds, 1),
            }
        ]

    def cancel_fit(self) -> None:
        """Cancel the running fit; the previous result stays."""
        fit_process = self._fit_process
        if fit_process is not None and fit_process.running:
            fit_process.cancel()

    def close(self) -> None:
        """Cancel the running fit and delete all files."""
        with self._lock:
            self._closed = True
            fit_process = self._fit_process
        if fit_process is not None:
            fit_process.cancel()
            fit_process.wait()
        with contextlib.suppress(OSError):
            shutil.rmtree(self._folder)
