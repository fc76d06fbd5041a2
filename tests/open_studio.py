"""Studio server with a fake hub, and a headless browser, for the tests of the page."""

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
#: Without a graphics card the 3D view takes a whole core, so only the tests that need it enable it.
NO_GPU = "--disable-gpu --disable-software-rasterizer"
SOFTWARE_GPU = "--use-angle=swiftshader --enable-unsafe-swiftshader --ignore-gpu-blocklist"
#: Timeout of the browser's own waits (s); software rendering on a busy machine draws one or two frames per second.
PATIENCE = 180.0


def find_browser() -> str | None:
    """Return the path of the browser; None if there is none."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


@contextmanager
def chromium(with_3d: bool = False) -> Iterator[Any]:
    """Start a browser; skip the test if there is none, or fail on CI.

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
    """Start a real server with a fake hub."""
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
    """Open the page and wait for its connection; errors of the page are collected in `page.errors`.

    Args:
        viser: whether to load viser's client, which takes seconds to start; False: an empty page instead.
        before: script that runs before the scripts of the page.
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
    finally:  # an open page would continue to send commands
        context.close()


@contextmanager
def running_hub(robot: str, folder: Path) -> Iterator[Hub]:
    """Start a hub and wait for the first frame of its simulation of a standing robot."""
    hub = Hub(robot, folder, "stand")
    hub.start()
    wait_until(hub.frame)
    yield hub
    hub.stop()
