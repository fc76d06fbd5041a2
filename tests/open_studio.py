"""A studio without a simulation, and a browser without a window to look at it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fake_hub import FakeHub
from poise.studio import Hub, Server
from waiting import wait_until

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SETTINGS = (
    "--headless=new --no-sandbox --disable-dev-shm-usage --disable-background-networking --disable-component-update "
    "--disable-sync --no-first-run --disable-quic --disable-default-apps --metrics-recording-only "
    "--disable-features=OptimizationHints,MediaRouter,Translate"
)
#: Without a graphics card the view in three dimensions takes a core for itself, whatever is shown: who needs it, asks.
NO_GPU = "--disable-gpu --disable-software-rasterizer"
SOFTWARE_GPU = "--use-angle=swiftshader --enable-unsafe-swiftshader --ignore-gpu-blocklist"
#: Seconds that the browser's own waits last; software rendering on a busy machine draws a picture or two a second.
PATIENCE = 180.0


def find_browser() -> str | None:
    """The browser; None if there is none."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


@contextmanager
def chromium(with_3d: bool = False) -> Iterator[Any]:
    """A browser; the tests that need it are skipped where there is none, and fail there on CI.

    Args:
        with_3d: whether it draws in three dimensions, as viser does.
    """
    path = find_browser()
    if path is None and "CI" not in os.environ:
        pytest.skip("no Chromium is installed: apt-get install chromium")
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install playwright"
    )
    with playwright.sync_playwright() as api:
        browser = api.chromium.launch(
            executable_path=path, args=f"{SETTINGS} {SOFTWARE_GPU if with_3d else NO_GPU}".split()
        )
        yield browser
        browser.close()


@contextmanager
def studio(folder: Path, port: int = 0) -> Iterator[tuple[FakeHub, Server]]:
    """A hub that is a fake and a server that is not."""
    hub = FakeHub(folder)
    hub.show_frame(1)
    server = Server(hub, "127.0.0.1", port)
    server.start()
    try:
        yield hub, server
    finally:
        server.stop()


@contextmanager
def open_page(browser: Any, server: Server, viser: bool = False, before: str = "", **settings: Any) -> Iterator[Any]:
    """The page, connected; everything that goes wrong in it is collected in `page.errors`.

    Args:
        viser: False: an empty page stands in for viser's client, which takes seconds to start.
        before: a script that runs before the page's own.
    """
    context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, **settings})
    page = context.new_page()
    page.set_default_timeout(1000 * PATIENCE)
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.on("console", lambda said: said.type == "error" and page.errors.append(said.text))
    if not viser:
        empty = "<!doctype html><title>viser</title><input aria-label='field'><button>inner</button>"
        page.route("**/viser/**", lambda route: route.fulfill(body=empty, content_type="text/html"))
    if before:
        page.add_init_script(before)
    try:
        page.goto(server.url)
        page.get_by_role("tab", name="Walk").wait_for()
        yield page
    finally:  # a page that stays would go on driving
        context.close()


@contextmanager
def running_hub(robot: str, folder: Path) -> Iterator[Hub]:
    """A studio's hub whose simulation of a standing robot has sent its first frame."""
    hub = Hub(robot, folder, "stand")
    hub.start()
    wait_until(hub.frame)
    yield hub
    hub.stop()
