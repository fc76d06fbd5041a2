"""Take the screenshots of the studio in this folder: one per scene, Stand on servos and Navigate on stairs.

    python docs/pictures/screenshots.py [NAME ...]

A studio runs in this process, a headless Chromium shows its page, and commands of the page bring each scene to the
moment that the picture shows. There the simulation is paused, so the picture is the same on a busy machine, except for
the times of control steps. Names: walk, stand, stand_servos, navigate, navigate_stairs, reach, human. All take some
minutes; a machine without a graphics card renders in software. Needs Chromium, playwright, pillow and psutil.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from poise.studio import Hub, Server

FOLDER = Path(__file__).parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = (
    "--no-sandbox --disable-dev-shm-usage --use-angle=swiftshader --enable-unsafe-swiftshader --ignore-gpu-blocklist"
)
#: Size of the page (pixels).
SIZE = {"width": 1440, "height": 900}
#: Background of the view: one color instead of a gradient, which would take most of the colors of the picture.
BACKGROUND = "#e3e8ed"
#: Longest wait for a moment of a scene (s); software rendering slows the simulation down.
PATIENCE = 300.0
#: Niceness of the browser, whose software rendering would else slow the simulation down.
BROWSER_NICENESS = 15
#: Time between two pictures of a paused page that have to be equal before one of them is taken (ms).
SETTLING_TIME = 2000
#: Slow motion, in which a page that renders in software receives enough frames for its plots.
TIME_SCALE = 0.25
#: Share of late control steps above which the user is told that the machine was busy.
MAX_LATE_SHARE = 0.01


class Studio:
    """A scene of the studio and its page in a browser."""

    def __init__(self, hub: Hub, page: Page) -> None:
        self.hub, self.page = hub, page
        #: Message of keys that are held, see `OperatorInput.from_page`; {}: none.
        self.held: dict[str, Any] = {}

    @property
    def frame(self) -> dict[str, Any]:
        """Latest data of the simulation; empty before the first frame."""
        return self.hub.frame() or {}

    def wait(self, what: str, condition: Callable[[], Any]) -> None:
        """Wait until a condition holds, while the page runs."""
        begin = time.monotonic()
        while not condition():
            if time.monotonic() - begin > PATIENCE:
                sys.exit(f"screenshots: waited {PATIENCE:g} s for {what}")
            # A page that renders in software may be too slow to send these before their timeout.
            self.hub.handle_command("keep_alive", None)
            if self.held:
                self.hub.handle_command("operator_input", self.held)
            self.page.wait_for_timeout(20)

    def wait_time(self, seconds: float) -> None:
        """Wait until the simulated time passes `seconds`."""
        self.wait(f"simulated time {seconds:g} s", lambda: self.frame.get("time", 0.0) > seconds)

    def set(self, control: str, value: Any) -> None:
        """Use a control of the scene."""
        self.hub.handle_command("control", [control, value])

    def wait_swing(self) -> None:
        """Wait until a foot is in the air for some time."""
        self.wait("a step", lambda: self.frame["phase"] in ("left support", "right support"))
        self.wait_time(self.frame["time"] + 0.1)

    def save(self, name: str) -> None:
        """Pause the simulation, wait until the page has drawn it, and write the picture."""
        self.hub.handle_command("play", False)
        self.hub.handle_command("time_scale", 1)
        self.held = {}
        self.wait("the pause", lambda: not self.frame["playing"] and self.frame["time_scale"] == 1.0)
        timing = self.frame["timing"]
        if timing["late"] > MAX_LATE_SHARE * timing["steps"]:
            print(f"screenshots: {name}: {timing['late']} of {timing['steps']} control steps were late: a busy machine")
        for button in self.page.locator(".message button").all():
            button.click()
        view = next(frame for frame in self.page.frames if "/viser/" in frame.url)
        view.add_style_tag(content=f"canvas[data-engine] {{ background: {BACKGROUND} !important; }}")
        image = Image.open(io.BytesIO(self._settled_screenshot())).convert("RGB")
        # 256 colors make the file a quarter as large. Maximum coverage keeps the rare ones, of legends and marks.
        small = image.quantize(256, Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE)
        small.save(FOLDER / f"studio_{name}.png", optimize=True)

    def _settled_screenshot(self) -> bytes:
        """Return a picture that no longer changes."""
        begin, before, picture = time.monotonic(), b"", self.page.screenshot()
        while picture != before:
            if time.monotonic() - begin > PATIENCE:
                sys.exit(f"screenshots: the page still changes after {PATIENCE:g} s of pause")
            self.page.wait_for_timeout(SETTLING_TIME)
            before, picture = picture, self.page.screenshot()
        return picture


def set_priorities(simulation: int | None) -> None:
    """Give the simulation process real-time priority, if the user has the right to do so, and the browser a low one."""
    with suppress(AttributeError, OSError):  # not on every system
        if simulation is not None:
            os.sched_setscheduler(simulation, os.SCHED_FIFO, os.sched_param(1))
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if "chrom" in process.name():
                process.nice(BROWSER_NICENESS)


@contextmanager
def studio(scene: str, robot: str) -> Iterator[Studio]:
    """Open a scene; its robot is on the screen and its simulation runs."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as api:
        hub = Hub(robot, Path(folder), scene)
        server = Server(hub, "127.0.0.1", 0)
        hub.start()
        server.start()
        path = next(filter(None, map(shutil.which, BROWSERS)), None)
        browser = api.chromium.launch(executable_path=path, args=ARGUMENTS.split())
        try:
            page = browser.new_page(viewport=SIZE)
            page.set_default_timeout(1e3 * PATIENCE)
            page.goto(server.url)
            page.frame_locator("#view").locator("canvas").last.wait_for()
            set_priorities(hub._simulation.pid)
            opened = Studio(hub, page)
            opened.wait("the first frame", lambda: opened.frame and hub.hello()["controls"])
            hub.handle_command("time_scale", TIME_SCALE)
            hub.handle_command("reset", None)  # without the late steps of the start
            opened.wait("the reset", lambda: opened.frame["time"] < 1.0)
            yield opened
        finally:
            browser.close()
            server.stop()
            hub.stop()


def walk() -> None:
    """G1 walks in the style "proud"."""
    with studio("walk", "g1") as opened:
        opened.set("preset", "proud")
        opened.set("walking", True)
        opened.wait_time(12.0)  # the plots are full
        opened.wait_swing()
        opened.save("walk")


def stand() -> None:
    """G1 squats with torque motors."""
    with studio("stand", "g1") as opened:
        opened.set("depth", 0.2)
        opened.set("squatting", True)
        opened.wait_time(opened.frame["time"] + 5.0)  # the third squat, at half a squat a second
        opened.save("stand")


def stand_servos() -> None:
    """HOAP-3 on position servos, just after a push."""
    with studio("stand", "hoap3") as opened:
        opened.wait_time(6.0)
        opened.set("push.force", 22.0)
        opened.set("push", None)
        opened.wait_time(opened.frame["time"] + 0.3)
        opened.save("stand_servos")


def navigate() -> None:
    """The trunk of mighty is guided forward, until a foot is in the air."""
    with studio("navigate", "mighty") as opened:
        guide_forward(opened, 5.0)
        opened.save("navigate")


def navigate_stairs() -> None:
    """mighty is guided down the stairs."""
    with studio("navigate", "mighty") as opened:
        opened.set("world", "stairs and door")
        opened.wait("the stairs", lambda: (opened.frame.get("guidance") or {}).get("has_target"))
        guide_forward(opened, 4.0)
        opened.save("navigate_stairs")


def guide_forward(opened: Studio, seconds: float) -> None:
    """Hold the key W until a step after `seconds` of simulated time."""
    opened.held = {"keys": ["KeyW"]}
    opened.wait_time(seconds)
    opened.wait_swing()


def reach() -> None:
    """The right hand of G1 follows its target upward; the kinematic robot stands beside the simulated one."""
    with studio("reach", "g1") as opened:
        opened.set("display", "physics beside kinematic")
        opened.wait_time(1.0)
        opened.hub.handle_command("move_handle", ("right hand", (0.40, -0.40, 1.05)))
        opened.wait_time(5.0)
        opened.save("reach")


def human() -> None:
    """The sample walk and its reproduction, in the swing phase."""
    with studio("human", "g1") as opened:
        opened.set("sample", None)
        opened.wait("the fit", lambda: opened.hub.hello()["gait"])
        slider = opened.page.get_by_label("Time of the replay in seconds")
        slider.wait_for()
        opened.hub.handle_command("play", False)
        slider.fill(f"{0.72 * float(slider.get_attribute('max') or 1.0):.2f}")
        opened.save("human")


PICTURES = {
    function.__name__: function for function in (walk, stand, stand_servos, navigate, navigate_stairs, reach, human)
}

if __name__ == "__main__":
    names = sys.argv[1:] or list(PICTURES)
    unknown = sorted(set(names) - set(PICTURES))
    if unknown:
        sys.exit(f"screenshots: unknown picture {unknown[0]!r}; expected some of {', '.join(PICTURES)}")
    for name in names:
        PICTURES[name]()
