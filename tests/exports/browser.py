"""Headless browser for the tests of exported pages."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from waiting import run_to_end

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SETTINGS = (
    "--headless=new --no-sandbox --disable-dev-shm-usage --use-angle=swiftshader --enable-unsafe-swiftshader "
    "--ignore-gpu-blocklist --disable-background-networking --disable-component-update --disable-sync --no-first-run "
    "--disable-default-apps --hide-scrollbars --enable-logging=stderr --virtual-time-budget=3000"
)


def browser() -> str:
    """Return the path of the browser; skip the test if there is none."""
    found = next((path for path in map(shutil.which, NAMES) if path), None)
    if found is None:
        pytest.skip("no Chromium is installed")
    return found


def _run_browser(arguments: list[str], profile: Path) -> tuple[str, list[str]]:
    """Run the browser and return its output and the errors of the page and its scripts."""
    command = [browser(), *SETTINGS.split(), f"--user-data-dir={profile}", *arguments]
    result = run_to_end(command)
    return result.stdout, [line for line in result.stderr.splitlines() if "CONSOLE" in line]


def screenshot(page: Path, folder: Path, fragment: str = "", size: tuple[int, int] = (640, 480)) -> np.ndarray:
    """Return a screenshot of a page (height x width x 3); the console must be empty."""
    picture = folder / "seen.png"
    window = f"--window-size={size[0]},{size[1]}"
    _, console_errors = _run_browser(
        [window, f"--screenshot={picture}", f"{page.as_uri()}{fragment}"], folder / "profile"
    )
    assert console_errors == []
    return np.asarray(Image.open(picture).convert("RGB"))


def document(page: Path, folder: Path, fragment: str = "") -> str:
    """Return the text of the page after its scripts have run."""
    text, console_errors = _run_browser(["--dump-dom", f"{page.as_uri()}{fragment}"], folder / "profile")
    assert console_errors == []
    return text
