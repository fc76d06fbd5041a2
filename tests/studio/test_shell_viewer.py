"""The 3D view: viser itself, through the studio's server."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from open_studio import chromium, open_page, studio
from waiting import wait_until

viser = pytest.importorskip("viser")
pytestmark = pytest.mark.slow  # test_studio_view.py has robots instead of a box


@pytest.fixture
def viser_with_box() -> Iterator[Any]:
    """viser with a red box in the middle."""
    server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
    server.scene.add_box("/box", dimensions=(1.0, 1.0, 1.0), color=(220, 30, 30))
    yield server
    server.stop()


def test_viser_shows_its_scene_inside_the_page_without_its_panel(viser_with_box: Any, tmp_path: Path) -> None:
    with chromium(with_3d=True) as browser, studio(tmp_path) as (hub, server):
        hub.viewer_port = viser_with_box.get_port()
        with open_page(browser, server, viser=True) as page:

            def red() -> float:
                """Share of the view that is red."""
                picture = Image.open(io.BytesIO(page.locator("#view").screenshot())).convert("RGB")
                r, g, b = np.moveaxis(np.asarray(picture, dtype=float), -1, 0)
                return float(np.mean((r > 120) & (g < 0.7 * r) & (b < 0.7 * r)))

            wait_until(lambda: red() > 0.005)
            inner = next(frame for frame in page.frames if "/viser/" in frame.url)
            assert inner.locator("[data-floating-window]").is_hidden()
            viser_with_box.scene.remove_by_name("/box")
            wait_until(lambda: red() == 0.0)
            assert page.errors == []
