"""The scene Human in a real browser: files, the view, curves and tables.

With POISE_SCREENSHOTS the view is opened too, and screenshots of the page are saved in that folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from open_studio import chromium, open_page, running_hub
from poise import human
from poise.human import sample_trial
from poise.studio import Hub, Server
from shared_data import require_data
from waiting import wait_until

pytestmark = [pytest.mark.timeout(600)]

#: Folder for screenshots; those of the documentation are made by docs/pictures/screenshots.py.
PICTURES = os.environ.get("POISE_SCREENSHOTS", "")
#: Number of blue pixels in the six plots: lines of the reproduction; all others are gray, black or red.
INK = """() => [...document.querySelectorAll("#gait-plots canvas")].map((canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let blue = 0;
    for (let i = 0; i < data.length; i += 4) blue += data[i + 3] > 99 && data[i + 2] - data[i] > 60;
    return blue;
})"""


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    with running_hub("g1", tmp_path_factory.mktemp("output")) as hub:
        yield hub


@pytest.fixture(scope="module")
def page(hub: Hub) -> Iterator[Any]:
    server = Server(hub, "127.0.0.1", 0)
    server.start()
    with chromium(with_3d=bool(PICTURES)) as browser, open_page(browser, server, viser=bool(PICTURES)) as page:
        page.set_default_timeout(180_000)  # fits have a low priority, and wait on a busy machine
        page.get_by_role("tab", name="Human").click()
        wait_until(lambda: hub.hello()["scene"] == "human" and hub.hello()["controls"])
        if PICTURES:
            page.frame_locator("#view").locator("canvas").last.wait_for()
        yield page
        assert page.errors == []
    server.stop()


@pytest.fixture(scope="module")
def trc_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trial written by Poise."""
    walk, _ = sample_trial(1.68, 61.0, "female", cycles=2)
    path = tmp_path_factory.mktemp("trials") / "my walk.trc"
    human.write_trc(walk, path)
    return path


def take_screenshot(page: Any, name: str) -> None:
    """Save a screenshot of the page, if enabled."""
    if PICTURES:
        Path(PICTURES).mkdir(parents=True, exist_ok=True)
        page.wait_for_timeout(3000)
        page.screenshot(path=str(Path(PICTURES) / f"studio_{name}.png"))


def load_file(page: Any, label: str, file: Any) -> None:
    page.get_by_label(label, exact=True).set_input_files(file)


def read_angle_table(page: Any) -> dict[str, list[float]]:
    """Measured, reproduced and difference (degrees) by rotation, as the page shows them."""
    rows = page.locator("#gait-ranges tr").all_inner_texts()
    found, side = {}, ""
    for row in rows:
        title, *numbers = row.split("\t")
        if numbers:
            found[f"{side} {title}"] = [float(number.replace("\u2212", "-")) for number in numbers]
        else:
            side = title
    return found


def pause_at(page: Any, hub: Hub, share: float) -> None:
    """Stops at a share of the gait cycle."""
    if wait_until(hub.frame)["playing"]:
        page.get_by_role("button", name="Pause", exact=True).click()
        page.get_by_role("button", name="Play", exact=True).wait_for()
    slider = page.get_by_label("Time of the replay in seconds")
    slider.fill(f"{share * float(slider.get_attribute('max')):.2f}")
    wait_until(lambda: abs(wait_until(hub.frame)["cycle_share"] - share) < 0.01)


def test_the_sample_walks_beside_its_reproduction(page: Any, hub: Hub) -> None:
    assert hub.hello()["robots"] == ["human"], "the scene is not for robots"
    page.locator("#status-lines").get_by_text("No trial loaded").wait_for()
    page.get_by_role("button", name="take the sample").click()
    page.locator("#jobs progress").wait_for()
    page.locator("#status-lines").get_by_text("sample walk").wait_for()
    page.locator("#jobs").wait_for(state="hidden")
    ranges = wait_until(lambda: read_angle_table(page))
    assert len(ranges) == 12
    for measured, reproduced, difference in ranges.values():
        assert reproduced - measured == pytest.approx(difference, abs=0.11)
        assert abs(difference) < 5.0
    wait_until(lambda: min(page.evaluate(INK)) > 50)
    wait_until(lambda: set(hub.viewer._figures) == {"robot", "ghost"})
    balls = wait_until(lambda: hub.viewer._marker_spheres and hub.viewer._marker_spheres._balls["known"])
    assert sum(ball.visible for ball in balls) == 49
    pause_at(page, hub, 0.72)
    take_screenshot(page, "human")

    page.get_by_label("reproduced as").select_option("two phases")
    wait_until(lambda: read_angle_table(page)["right knee flexion"][2] < -30.0)  # its swing knee stays straight
    page.get_by_label("distance of the ghost as a number").fill("0")
    page.get_by_label("distance of the ghost as a number").press("Enter")
    wait_until(lambda: wait_until(hub.frame)["values"]["ghost_offset"] == 0.0)
    take_screenshot(page, "human_two_phases")
    view_frame = hub._current_view()
    assert view_frame is not None
    assert view_frame.poses["ghost"][1, :3] == pytest.approx(view_frame.poses["robot"][1, :3], abs=0.05)
    page.get_by_role("button", name="Play", exact=True).click()
    before = wait_until(hub.frame)["cycle_share"]
    wait_until(lambda: wait_until(hub.frame)["cycle_share"] != before)


def test_a_file_is_loaded_and_a_bad_one_is_refused_in_one_line_during_the_walk(
    page: Any, hub: Hub, trc_file: Path
) -> None:
    load_file(page, "load a trial", trc_file)
    page.locator(".message").get_by_text("'my walk.trc' is loaded").wait_for()
    page.locator("#status-lines").get_by_text("49 of 49 markers used").wait_for()
    assert hub.hello()["gait"]["title"] == "my walk.trc"
    page.locator("#replay-file").get_by_text("my walk.trc", exact=True).wait_for()
    page.locator(".message button").first.click()
    for name, data in {"noise.c3d": os.urandom(5000), "empty.trc": b"", "walk.pdf": b"%PDF"}.items():
        load_file(page, "load a trial", {"name": name, "mimeType": "application/octet-stream", "buffer": data})
        page.locator(".message.error").get_by_text(name).wait_for()
        assert page.locator(".message").count() == 1
        page.locator(".message button").click()
    assert hub.hello()["gait"]["title"] == "my walk.trc"
    before = wait_until(hub.frame)["time"]
    wait_until(lambda: wait_until(hub.frame)["time"] != before)

    page.get_by_label("play", exact=True).select_option("whole trial")
    wait_until(lambda: wait_until(hub.frame)["replay"]["duration"] > 2.0)
    page.get_by_role("button", name="Back to live").click()
    page.locator("#status-lines").get_by_text("No trial loaded").wait_for()
    page.get_by_role("button", name="Reset").click()  # it is shown again
    page.locator("#status-lines").get_by_text("my walk.trc").wait_for()


@pytest.mark.slow
def test_a_real_trial_is_fitted_with_its_static_trial(page: Any, hub: Hub) -> None:
    load_file(page, "load a trial", require_data("mocap/pig_one/PiG_Motion-FlatFoot-One.c3d"))
    page.locator("#status-lines").get_by_text("35 of 35 markers used").wait_for()
    load_file(page, "load a static trial", require_data("mocap/pig_one/PiG_Calibration-FlatFoot-One.c3d"))
    page.locator("#status-lines").get_by_text("with 'PiG_Calibration-FlatFoot-One.c3d'").wait_for()
    page.get_by_label("reproduced as").select_option("best")
    wait_until(lambda: read_angle_table(page) and max(abs(row[2]) for row in read_angle_table(page).values()) < 6.0)
    page.get_by_label("play", exact=True).select_option("gait cycle")
    wait_until(lambda: wait_until(hub.frame)["replay"]["duration"] < 2.0)
    pause_at(page, hub, 0.3)
    take_screenshot(page, "human_c3d")


def test_a_fit_can_be_cancelled_and_ends_with_its_scene(page: Any, hub: Hub) -> None:
    before = hub.hello()["gait"]["title"]
    page.get_by_role("button", name="take the sample").click()
    page.get_by_role("button", name="Cancel fit").click()
    page.locator(".message").get_by_text("the fit was cancelled").wait_for()
    page.locator("#jobs").wait_for(state="hidden")
    assert hub.hello()["gait"]["title"] == before
    page.get_by_role("button", name="take the sample").click()
    job = wait_until(
        lambda: (
            hub._fit_service
            and hub._fit_service._fit_process
            and hub._fit_service._fit_process.running
            and hub._fit_service._fit_process
        )
    )
    page.get_by_role("tab", name="Stand & squat").click()
    wait_until(lambda: not job.running)
    assert job.cancelled
    wait_until(lambda: hub.hello()["scene"] == "stand" and hub.hello()["controls"])
    assert hub.hello()["robot"] == "g1"
    page.locator("#gait-panel").wait_for(state="hidden")
    page.get_by_role("region", name="Hierarchy").wait_for()
    page.locator("#plot-balance").wait_for()
    assert page.locator("#gait-plots").is_hidden()
