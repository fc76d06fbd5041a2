"""Measure the studio: time to the first image, processor time of its processes, and the real-time factor.

    python benchmarks/studio.py                       # G1; a minute
    python benchmarks/studio.py --robot talos --clients 2

The first image is complete when the canvas of the view, in a headless Chromium with software rendering, shows a robot.
Processor time is that of the web process and of the simulation process, as fractions of one core, while the robot walks
and the view receives 30 poses per second. Chromium, which renders without a graphics card here, is not counted; it
competes for the same cores, so the results are pessimistic.
"""

from __future__ import annotations

import argparse
import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np
import psutil
from PIL import Image
from playwright.sync_api import Page, sync_playwright

CHROMIUM_FLAGS = (
    "--headless=new --no-sandbox --disable-dev-shm-usage --use-angle=swiftshader --enable-unsafe-swiftshader "
    "--ignore-gpu-blocklist --disable-background-networking --disable-component-update --disable-sync --no-first-run"
)
#: Duration of the measured walk (s).
MEASURED_SECONDS = 15.0


def robot_is_visible(page: Page) -> bool:
    """Return whether a robot is visible in the middle of the view."""
    box = page.locator("#view").bounding_box()
    if box is None:
        return False
    picture = np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("L"), dtype=float)
    x, y = int(box["x"] + 0.4 * box["width"]), int(box["y"] + 0.25 * box["height"])
    return bool(picture[y : y + int(0.5 * box["height"]), x : x + int(0.2 * box["width"])].std() > 20.0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robot", default="g1")
    parser.add_argument("--clients", type=int, default=1)
    parser.add_argument("--cold", action="store_true", help="start without cached meshes")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as api:
        environment = {**os.environ, **({"POISE_CACHE": f"{folder}/cache"} if options.cold else {})}
        browser = api.chromium.launch(executable_path=shutil.which("chromium"), args=CHROMIUM_FLAGS.split())
        begin = time.monotonic()
        command = [sys.executable, "-m", "poise", "studio", "--port", "0", "--robot", options.robot, "--out", folder]
        studio = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        try:
            assert studio.stdout is not None
            address = next(word for word in studio.stdout.readline().split() if word.startswith("http"))
            print(f"listening after      {time.monotonic() - begin:6.1f} s")
            pages = [browser.new_page(viewport={"width": 1280, "height": 800}) for _ in range(options.clients)]
            for page in pages:
                page.goto(address)
            while not robot_is_visible(pages[0]):
                time.sleep(0.1)
            print(f"first picture after  {time.monotonic() - begin:6.1f} s")
            pages[0].get_by_role("switch", name="walk").click()
            time.sleep(3.0)
            measure(studio.pid, pages[0])
        finally:
            studio.send_signal(signal.SIGINT)
            studio.wait(20)
            browser.close()
    return 0


def measure(pid: int, page: Page) -> None:
    """Print the processor time of the studio and of its simulation."""
    parent = psutil.Process(pid)
    processes = {"pages and view": parent}
    for child in parent.children():
        if "resource_tracker" not in " ".join(child.cmdline()):
            processes["simulation"] = child
    before = {name: sum(process.cpu_times()[:2]) for name, process in processes.items()}
    begin = time.monotonic()
    time.sleep(MEASURED_SECONDS)
    elapsed = time.monotonic() - begin
    for name, process in processes.items():
        share = (sum(process.cpu_times()[:2]) - before[name]) / elapsed
        print(f"{name:20} {100.0 * share:6.0f} % of a core")
    print(f"real-time factor     {page.locator('#real-time-factor').inner_text()}")


if __name__ == "__main__":
    raise SystemExit(main())
