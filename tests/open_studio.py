"""Studio server with a fake hub, and a headless browser, for the tests of the page."""

from __future__ import annotations

import atexit
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
#: Pretends that the browser can draw in three dimensions, for pages whose view is an empty page.
FAKE_WEBGL = """
const getContext = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
  return kind.startsWith("webgl") ? {} : getContext.call(this, kind, ...more);
};
"""
#: Gamepads that a test moves: `pads[0].axes[1] = -1`.
PADS = """
window.pads = [];
navigator.getGamepads = () => [...window.pads, ...Array(4)].slice(0, 4);
window.pad = (mapping, axes) => ({ id: "Pad (Vendor: 1)", mapping, connected: true, axes: Array(axes).fill(0),
    buttons: Array.from({ length: 17 }, () => ({ value: 0, pressed: false })) });
"""
#: Timeout of the browser's own waits (s); software rendering on a busy machine draws one or two frames per second.
PATIENCE = 180.0


def find_browser() -> str | None:
    """Return the path of the browser; None if there is none."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class _Browsers:
    """Browsers of this process: each is started once, as that takes seconds, and closed with the process."""

    def __init__(self) -> None:
        self._api: Any = None
        self._started: dict[bool, Any] = {}

    def get(self, with_3d: bool) -> Any:
        if with_3d not in self._started:
            self._started[with_3d] = self._launch(with_3d)
        return self._started[with_3d]

    def _launch(self, with_3d: bool) -> Any:
        path = find_browser()
        if path is None and "CI" not in os.environ:
            pytest.skip("no Chromium is installed: apt-get install chromium")
        playwright = pytest.importorskip(
            "playwright.sync_api", reason="playwright is not installed: pip install playwright"
        )
        if self._api is None:
            self._api = playwright.sync_playwright().start()
            atexit.register(self.close)
        arguments = f"{SETTINGS} {SOFTWARE_GPU if with_3d else NO_GPU}".split()
        return self._api.chromium.launch(executable_path=path, args=arguments)

    def close(self) -> None:
        for browser in self._started.values():
            browser.close()
        self._started.clear()
        self._api.stop()


_browsers = _Browsers()


@contextmanager
def chromium(with_3d: bool = False) -> Iterator[Any]:
    """Return a browser, which other tests of this process share; skip the test if there is none, or fail on CI.

    Args:
        with_3d: whether it draws in three dimensions, as viser does.
    """
    yield _browsers.get(with_3d)


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
    page.errors, page.address = [], server.url
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.on("console", lambda message: message.type == "error" and page.errors.append(message.text))
    if not viser:
        page.add_init_script(FAKE_WEBGL)
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


def begin_again(page: Any, hub: FakeHub) -> None:
    """Load a page again, with the hub as it was at first: much cheaper than another server and another page."""
    hub.reset()
    if page.url != "about:blank":
        page.evaluate("localStorage.clear()")
    page.goto(page.address)
    page.get_by_role("tab", name="Walk").wait_for()
    page.errors.clear()
    hub.commands.clear()


@contextmanager
def running_hub(robot: str, folder: Path) -> Iterator[Hub]:
    """Start a hub and wait for the first frame of its simulation of a standing robot."""
    hub = Hub(robot, folder, "stand")
    hub.start()
    wait_until(hub.frame)
    yield hub
    hub.stop()
