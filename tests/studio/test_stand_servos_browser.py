"""Stand & squat on position servos as its users meet it: the real simulation in a real browser.

With POISE_SCREENSHOTS the view is there too, and pictures of the page are kept in that folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from open_studio import chromium, running, shell

from poise.studio import Hub, Server
from waiting import until

pytestmark = [pytest.mark.timeout(600)]

#: Where screenshots go, for people to look at; docs show some of them.
PICTURES = os.environ.get("POISE_SCREENSHOTS", "")
#: Numbers of a legend, as the page shows them: left, then right.
LEGEND = "name => [...document.querySelectorAll(`#legend-sole-${name} b`)].map((each) => Number(each.textContent))"
#: How many pixels of a plot are in colour: lines of the feet, for all else is grey.
INK = """name => {
    const canvas = document.getElementById(`plot-sole-${name}`);
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let coloured = 0;
    for (let i = 0; i < data.length; i += 4) coloured += data[i + 3] > 99 && Math.abs(data[i] - data[i + 2]) > 60;
    return coloured;
}"""


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    with running("hoap3", tmp_path_factory.mktemp("output")) as hub:
        yield hub


@pytest.fixture(scope="module")
def page(hub: Hub) -> Iterator[Any]:
    server = Server(hub, "127.0.0.1", 0)
    server.start()
    with chromium(solid=bool(PICTURES)) as browser, shell(browser, server, viser=bool(PICTURES)) as page:
        if PICTURES:
            page.frame_locator("#view").locator("canvas").last.wait_for()
        yield page
        assert page.wrongs == []
    server.stop()


def now(hub: Hub) -> dict[str, Any]:
    return until(hub.frame)


def under(hub: Hub) -> dict[str, Any]:
    """What the page is told of the soles."""
    return now(hub)["plots"]["soles"]


def set_number(page: Any, label: str, value: float) -> None:
    page.get_by_label(f"{label} as a number").fill(f"{value:g}")
    page.get_by_label(f"{label} as a number").press("Enter")


def shot(page: Any, hub: Hub, name: str) -> None:
    """A picture of the page, if somebody wants one; time stands still until the view has drawn it."""
    if PICTURES:
        Path(PICTURES).mkdir(parents=True, exist_ok=True)
        hub.do("play", False)
        until(lambda: not now(hub)["playing"])
        page.wait_for_timeout(1500)
        page.screenshot(path=str(Path(PICTURES) / f"studio_{name}.png"))
        hub.do("play", True)


def test_hoap3_on_servos_is_pushed_and_squats_and_the_plots_tell_what_its_soles_feel(page: Any, hub: Hub) -> None:
    page.locator("#words").get_by_text("stands on position servos").wait_for()
    until(lambda: now(hub)["time"] > 1.5)
    assert page.get_by_role("switch", name="ZMP regulation").is_checked()
    for name in ("force", "x", "y"):
        assert page.locator(f"#plot-sole-{name}").is_visible()
        until(lambda name=name: page.evaluate(INK, name) > 50)  # type: ignore[misc]
    loads = page.evaluate(LEGEND, "force")
    assert sum(loads) == pytest.approx(9.81 * hub._loaded("hoap3").mass, rel=0.1), "the cells bear its weight"
    assert under(hub)["edges"] == [0.0505, 0.033]

    set_number(page, "force", 22.0)
    until(lambda: now(hub)["values"]["push.size"] == 22.0)
    rested = max(map(abs, page.evaluate(LEGEND, "x")))
    page.get_by_label("Slow motion").select_option("0.25")  # lest a busy machine misses it
    page.get_by_role("button", name="push", exact=True).click()
    until(lambda: max(map(abs, page.evaluate(LEGEND, "x"))) > rested + 10.0)  # mm: towards the toes
    shot(page, hub, "stand_servos")
    assert hub._scenery.underfoot.zmps.shape == (2, 3)  # type: ignore[union-attr]
    page.get_by_label("Slow motion").select_option("1")
    assert not now(hub)["fell"]
    until(lambda: max(abs(x) for x in under(hub)["x"].values()) < 0.008)

    high = hub._scenery.center[2]  # type: ignore[union-attr,index]
    page.get_by_role("switch", name="squat").click()
    page.locator("#words").get_by_text("squats on position servos").wait_for()
    until(lambda: hub._scenery.center[2] < high - 0.02)  # type: ignore[union-attr,index]
    shot(page, hub, "squat_servos")
    page.get_by_role("switch", name="squat").click()
    page.locator("#words").get_by_text("stands on position servos").wait_for()
    assert not now(hub)["fell"]


def test_the_regulation_is_switched_on_the_page_without_a_new_beginning(page: Any, hub: Hub) -> None:
    before = now(hub)["time"]
    switch = page.get_by_role("switch", name="ZMP regulation")
    switch.click()
    page.locator("#words").get_by_text("no ZMP regulation").wait_for()
    switch.click()
    page.locator("#words").get_by_text("the ZMP is regulated").wait_for()
    assert now(hub)["time"] > before, "it went on standing"
    assert not now(hub)["fell"]


def test_with_torque_motors_the_plots_of_the_soles_make_room(page: Any, hub: Hub) -> None:
    page.get_by_label("joints are driven by").select_option("torque motors")
    page.locator("#words").get_by_text("stands on its ankles").wait_for()
    page.locator("#plot-sole-x").wait_for(state="hidden")
    assert page.locator("#plot-forces").is_visible()
    assert hub._scenery.underfoot is None  # type: ignore[union-attr]
    page.get_by_label("joints are driven by").select_option("as built")
    page.locator("#plot-sole-x").wait_for(state="visible")
    page.locator("#plot-forces").wait_for(state="hidden")
