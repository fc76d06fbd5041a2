"""Stand & squat on position servos in a real browser with the real simulation.

With POISE_SCREENSHOTS the view is opened too, and screenshots of the page are saved in that folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from open_studio import chromium, open_page, running_hub
from poise.studio import Hub, Server
from waiting import wait_until

pytestmark = [pytest.mark.timeout(600)]

#: Folder for screenshots; those of the documentation are made by docs/pictures/screenshots.py.
PICTURES = os.environ.get("POISE_SCREENSHOTS", "")
#: Numbers of a legend, as the page shows them: left, then right.
LEGEND = "name => [...document.querySelectorAll(`#legend-sole-${name} b`)].map((each) => Number(each.textContent))"
#: Number of colored pixels of a plot: lines of the feet; all others are gray.
INK = """name => {
    const canvas = document.getElementById(`plot-sole-${name}`);
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let colored = 0;
    for (let i = 0; i < data.length; i += 4) colored += data[i + 3] > 99 && Math.abs(data[i] - data[i + 2]) > 60;
    return colored;
}"""


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    with running_hub("hoap3", tmp_path_factory.mktemp("output")) as hub:
        yield hub


@pytest.fixture(scope="module")
def page(hub: Hub) -> Iterator[Any]:
    server = Server(hub, "127.0.0.1", 0)
    server.start()
    with chromium(with_3d=bool(PICTURES)) as browser, open_page(browser, server, viser=bool(PICTURES)) as page:
        if PICTURES:
            page.frame_locator("#view").locator("canvas").last.wait_for()
        yield page
        assert page.errors == []
    server.stop()


def current_frame(hub: Hub) -> dict[str, Any]:
    return wait_until(hub.frame)


def sole_data(hub: Hub) -> dict[str, Any]:
    """Sole pressure in the last frame."""
    return current_frame(hub)["plots"]["sole_pressure"]


def set_number(page: Any, label: str, value: float) -> None:
    page.get_by_label(f"{label} as a number").fill(f"{value:g}")
    page.get_by_label(f"{label} as a number").press("Enter")


def take_screenshot(page: Any, hub: Hub, name: str) -> None:
    """Save a screenshot of the page, if enabled; the simulation is paused until the view has drawn it."""
    if PICTURES:
        Path(PICTURES).mkdir(parents=True, exist_ok=True)
        hub.handle_command("play", False)
        wait_until(lambda: not current_frame(hub)["playing"])
        page.wait_for_timeout(1500)
        page.screenshot(path=str(Path(PICTURES) / f"studio_{name}.png"))
        hub.handle_command("play", True)


def test_hoap3_on_servos_is_pushed_and_squats_and_the_plots_show_the_sole_pressure(page: Any, hub: Hub) -> None:
    page.locator("#status-lines").get_by_text("stands on position servos").wait_for()
    wait_until(lambda: current_frame(hub)["time"] > 1.5)
    assert page.get_by_role("switch", name="ZMP regulation").is_checked()
    for name in ("force", "x", "y"):
        assert page.locator(f"#plot-sole-{name}").is_visible()
        wait_until(lambda name=name: page.evaluate(INK, name) > 50)  # type: ignore[misc]
    loads = page.evaluate(LEGEND, "force")
    assert sum(loads) == pytest.approx(9.81 * hub._load_robot("hoap3").mass, rel=0.1), "the cells carry its weight"
    assert sole_data(hub)["half_size"] == [0.0505, 0.033]

    set_number(page, "force", 22.0)
    wait_until(lambda: current_frame(hub)["values"]["push.force"] == 22.0)
    rested = max(map(abs, page.evaluate(LEGEND, "x")))
    page.get_by_label("Slow motion").select_option("0.25")  # so that a busy machine does not miss it
    page.get_by_role("button", name="push", exact=True).click()
    wait_until(lambda: max(map(abs, page.evaluate(LEGEND, "x"))) > rested + 10.0)  # mm: towards the toes
    take_screenshot(page, hub, "stand_servos")
    assert hub._latest_view.sole_pressure.zmps.shape == (2, 3)  # type: ignore[union-attr]
    page.get_by_label("Slow motion").select_option("1")
    assert not current_frame(hub)["fall_reason"]
    wait_until(lambda: max(abs(x) for x in sole_data(hub)["x"].values()) < 0.008)

    high = hub._latest_view.center_of_mass[2]  # type: ignore[union-attr,index]
    page.get_by_role("switch", name="squat").click()
    page.locator("#status-lines").get_by_text("squats on position servos").wait_for()
    wait_until(lambda: hub._latest_view.center_of_mass[2] < high - 0.02)  # type: ignore[union-attr,index]
    take_screenshot(page, hub, "squat_servos")
    page.get_by_role("switch", name="squat").click()
    page.locator("#status-lines").get_by_text("stands on position servos").wait_for()
    assert not current_frame(hub)["fall_reason"]


def test_the_regulation_is_switched_on_the_page_without_a_new_beginning(page: Any, hub: Hub) -> None:
    before = current_frame(hub)["time"]
    switch = page.get_by_role("switch", name="ZMP regulation")
    switch.click()
    page.locator("#status-lines").get_by_text("no ZMP regulation").wait_for()
    switch.click()
    page.locator("#status-lines").get_by_text("the ZMP is regulated").wait_for()
    assert current_frame(hub)["time"] > before, "it kept standing"
    assert not current_frame(hub)["fall_reason"]


def test_with_torque_motors_the_plots_of_the_soles_are_hidden(page: Any, hub: Hub) -> None:
    page.get_by_label("joints are driven by").select_option("torque motors")
    page.locator("#status-lines").get_by_text("stands, balanced by the ankles").wait_for()
    page.locator("#plot-sole-x").wait_for(state="hidden")
    assert page.locator("#plot-forces").is_visible()
    assert hub._latest_view.sole_pressure is None  # type: ignore[union-attr]
    page.get_by_label("joints are driven by").select_option("as built")
    page.locator("#plot-sole-x").wait_for(state="visible")
    page.locator("#plot-forces").wait_for(state="hidden")
