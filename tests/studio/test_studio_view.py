"""The view of the studio in a real browser: every scene opens and shows its robot."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from open_studio import chromium, shell
from PIL import Image
from test_studio import folder, hub, now, server, went

from poise.studio import Hub, Server
from poise.studio.scenes import scenes
from waiting import until

pytestmark = [
    pytest.mark.needs_models,
    pytest.mark.timeout(600),
]

__all__ = ["folder", "hub", "server"]  # fixtures

#: Where screenshots go, for people to look at; docs show some of them.
PICTURES = os.environ.get("POISE_SCREENSHOTS", "")


@pytest.fixture(scope="module")
def page(server: Server) -> Iterator[Any]:
    """The shell with the view in it, which takes ten seconds to start without a graphics card."""
    with chromium(solid=True) as browser, shell(browser, server, viser=True) as page:
        page.frame_locator("#view").locator("canvas").last.wait_for()
        yield page
        assert page.wrongs == []


def shot(page: Any, name: str) -> np.ndarray:
    """A picture of the page, kept if somebody wants to look at it."""
    data = page.screenshot()
    if PICTURES:
        Path(PICTURES).mkdir(parents=True, exist_ok=True)
        (Path(PICTURES) / f"{name}.png").write_bytes(data)
    return np.asarray(Image.open(io.BytesIO(data)).convert("L"), dtype=float)


@pytest.mark.parametrize("title", [each.title for each in scenes()])
def test_a_scene_opens_and_shows_the_robot(page: Any, hub: Hub, title: str) -> None:
    went(page, hub, title)

    def drawn() -> bool:
        """Darker and lighter parts in the middle of the view, where the robot stands."""
        picture = shot(page, title.split()[0].lower())
        box = page.locator("#view").bounding_box()
        x, y = int(box["x"] + 0.4 * box["width"]), int(box["y"] + 0.25 * box["height"])
        middle = picture[y : y + int(0.5 * box["height"]), x : x + int(0.2 * box["width"])]
        return bool(middle.std() > 20.0)

    until(drawn)
    if PICTURES:
        pose(page, hub, title)
        shot(page, f"studio_{title.split()[0].lower()}")
    assert page.wrongs == []


def pose(page: Any, hub: Hub, title: str) -> None:
    """Does something worth a picture."""
    if title == "Walk":
        page.get_by_label("style", exact=True).select_option("proud")
        page.get_by_role("switch", name="walk").click()
    elif title == "Reach":
        page.get_by_label("show", exact=True).select_option("physics beside kinematic")
        until(lambda: now(hub)["time"] < 1.0)
        x, y, z = hub._scenery.gizmos["right hand"]  # type: ignore[union-attr]
        hub._dragged("right hand", (x + 0.15, y - 0.1, z + 0.35))
    elif title == "Stand & squat":
        page.get_by_role("switch", name="squat").click()
    until(lambda: now(hub)["time"] > 6.0)
