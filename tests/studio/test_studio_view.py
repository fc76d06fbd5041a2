"""The view of the studio in a real browser: every scene opens and shows its robot."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from test_studio import current_frame, folder, hub, open_scene, server

from open_studio import chromium, open_page
from poise.studio import Hub, Server
from poise.studio.scenes import all_scenes
from waiting import wait_until

pytestmark = [
    pytest.mark.needs_models,
    pytest.mark.timeout(600),
]

__all__ = ["folder", "hub", "server"]  # fixtures

#: Folder for screenshots; those of the documentation are made by docs/pictures/screenshots.py.
PICTURES = os.environ.get("POISE_SCREENSHOTS", "")


@pytest.fixture(scope="module")
def page(server: Server) -> Iterator[Any]:
    """The shell with the view in it, which takes ten seconds to start without a graphics card."""
    # Software draws small views faster.
    size: dict[str, int] = {"width": 1440, "height": 900} if PICTURES else {"width": 1024, "height": 640}
    with chromium(with_3d=True) as browser, open_page(browser, server, viser=True, viewport=size) as page:
        page.frame_locator("#view").locator("canvas").last.wait_for()
        yield page
        assert page.errors == []


def take_screenshot(page: Any, name: str) -> np.ndarray:
    """Save a screenshot of the page, if enabled."""
    data = page.screenshot()
    if PICTURES:
        Path(PICTURES).mkdir(parents=True, exist_ok=True)
        (Path(PICTURES) / f"{name}.png").write_bytes(data)
    return np.asarray(Image.open(io.BytesIO(data)).convert("L"), dtype=float)


@pytest.mark.parametrize("title", [each.title for each in all_scenes()])
def test_a_scene_opens_and_shows_the_robot(page: Any, hub: Hub, title: str) -> None:
    open_scene(page, hub, title)

    def drawn() -> bool:
        """Darker and lighter parts in the middle of the view, where the robot stands."""
        picture = take_screenshot(page, title.split()[0].lower())
        box = page.locator("#view").bounding_box()
        x, y = int(box["x"] + 0.4 * box["width"]), int(box["y"] + 0.25 * box["height"])
        middle = picture[y : y + int(0.5 * box["height"]), x : x + int(0.2 * box["width"])]
        return bool(middle.std() > 20.0)

    wait_until(drawn)
    inner = next(frame for frame in page.frames if "/viser/" in frame.url)
    assert inner.locator("[data-floating-window]").locator("visible=true").count() == 0, "viser's own panel"
    if PICTURES:
        pose(page, hub, title)
        take_screenshot(page, f"studio_{title.split()[0].lower()}")
    assert page.errors == []


def test_dark_pages_have_a_dark_view(page: Any) -> None:
    def brightness() -> float:
        box = page.locator("#view").bounding_box()
        picture = take_screenshot(page, "dark")
        x, y = int(box["x"]), int(box["y"])
        return float(np.median(picture[y : y + int(box["height"]), x : x + int(box["width"])]))

    wait_until(lambda: brightness() > 150)
    page.emulate_media(color_scheme="dark")
    wait_until(lambda: brightness() < 100)
    page.emulate_media(color_scheme="light")


def pose(page: Any, hub: Hub, title: str) -> None:
    """Bring the scene into a state for a screenshot."""
    if title == "Walk":
        page.get_by_label("style", exact=True).select_option("proud")
        page.get_by_role("switch", name="walk").click()
    elif title == "Reach":
        page.get_by_label("show", exact=True).select_option("physics beside kinematic")
        wait_until(lambda: current_frame(hub)["time"] < 1.0)
        x, y, z = hub._latest_view.drag_handles["right hand"]  # type: ignore[union-attr]
        hub._on_drag("right hand", (x + 0.15, y - 0.1, z + 0.35))
    elif title == "Stand & squat":
        page.get_by_role("switch", name="squat").click()
    wait_until(lambda: current_frame(hub)["time"] > 6.0)
