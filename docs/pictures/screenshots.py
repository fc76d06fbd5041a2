"""Take the screenshots of the studio in this folder: one per scene, Stand on servos and Navigate on stairs.

    python docs/pictures/screenshots.py [NAME ...]

A studio runs in this process, a headless Chromium shows its page, and commands of the page bring each scene to the
moment that the picture shows. Names: walk, stand, stand_servos, navigate, navigate_stairs, reach, human. All take some
minutes; a machine without a graphics card renders in software. Needs Chromium, playwright, pillow and psutil.
"""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
#: Background of the view: one colour instead of a gradient, which would take most of the colours of the picture.
BACKGROUND = "#e3e8ed"
#: Longest wait for a moment of a scene (s); software rendering slows the simulation down.
PATIENCE = 300.0
#: Niceness of the browser, whose software rendering would else slow the simulation down.
BROWSER_NICENESS = 15
#: Smallest real-time factor of a picture of a running simulation, and largest share of late control steps in it.
MIN_FACTOR, MAX_LATE_SHARE = 0.95, 0.01


class Studio:
    """A scene of the studio and its page in a browser."""

    def __init__(self, hub: Hub, page: Page) -> None:
        self.hub, self.page = hub, page

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
            self.hub.handle_command("keep_alive", None)  # a page that renders in software may be too slow to send it
            self.page.wait_for_timeout(20)

    def wait_time(self, seconds: float) -> None:
        """Wait until the simulated time passes `seconds`."""
        self.wait(f"simulated time {seconds:g} s", lambda: self.frame.get("time", 0.0) > seconds)

    def set(self, control: str, value: Any) -> None:
        """Use a control of the scene."""
        self.hub.handle_command("control", [control, value])

    def wait_swing(self) -> None:
        """Wait in slow motion until a foot is in the air for some time."""
        self.hub.handle_command("time_scale", 0.25)
        self.wait("a step", lambda: self.frame["phase"] in ("left support", "right support"))
        self.wait_time(self.frame["time"] + 0.1)

    @property
    def keeps_real_time(self) -> bool:
        """Whether the simulation runs in real time, and hardly any of its last control steps was late."""
        timing = self.frame["timing"]
        is_fast = self.frame["real_time_factor"] > MIN_FACTOR * self.frame["time_scale"]
        return is_fast and timing["late"] <= MAX_LATE_SHARE * timing["steps"]

    def save(self, name: str, running: bool = False) -> None:
        """Write the picture: of a paused simulation, or of one that runs in real time with a foot in the air.

        A machine that is too slow or too busy for real time gives no picture of a running simulation.
        """
        for button in self.page.locator(".message button").all():
            button.click()
        view = next(frame for frame in self.page.frames if "/viser/" in frame.url)
        view.add_style_tag(content=f"canvas[data-engine] {{ background: {BACKGROUND} !important; }}")
        if running:
            supports = ("left support", "right support")
            self.wait("real time", lambda: self.keeps_real_time and self.frame["phase"] in supports)
        else:
            self.hub.handle_command("play", False)
            self.hub.handle_command("time_scale", 1)
            self.wait("the pause", lambda: not self.frame["playing"])
            self.page.wait_for_timeout(4000)  # until the view has drawn the last pose
        image = Image.open(io.BytesIO(self.page.screenshot())).convert("RGB")
        # 200 colours are enough for a page of few colours, and make the file a third as large.
        small = image.quantize(200, Image.Quantize.MEDIANCUT, kmeans=1, dither=Image.Dither.NONE)
        small.save(FOLDER / f"studio_{name}.png", optimize=True)


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
            for process in psutil.Process().children(recursive=True):
                if "chrom" in process.name():
                    process.nice(BROWSER_NICENESS)
            opened = Studio(hub, page)
            opened.wait("the first frame", lambda: opened.frame and hub.hello()["controls"])
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
        opened.save("walk", running=True)


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
        opened.hub.handle_command("time_scale", 0.25)
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
        guide_forward(opened, 9.0)
        opened.save("navigate_stairs")


def guide_forward(opened: Studio, seconds: float) -> None:
    """Hold the key W until a step after `seconds` of simulated time."""
    opened.page.locator("#guidance-move").focus()
    opened.page.keyboard.down("w")
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
