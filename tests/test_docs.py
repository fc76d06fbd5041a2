"""Links between the pages lead somewhere, and what the pages list is what there is."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import poise
from poise import constraints, tasks
from poise.robots import description

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def anchors(page: Path) -> set[str]:
    """Names under which the headings of a page can be linked."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_relative_links_resolve(page: Path) -> None:
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", prose):
        if "://" in link or link.startswith("mailto:"):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{link} leads nowhere"
        assert not anchor or anchor in anchors(target), f"{path or page.name} has no heading '#{anchor}'"


@pytest.mark.parametrize("room", [tasks, constraints])
def test_every_task_and_constraint_stands_on_its_page(room: object) -> None:
    page = (ROOT / "docs/tasks.md").read_text()
    bases = {tasks.Task, tasks.MotionTask, tasks.FrameTask, constraints.JointLimit}
    public = [getattr(room, name) for name in room.__all__]  # type: ignore[attr-defined]
    for thing in public:
        if inspect.isclass(thing) and issubclass(thing, tasks.Task) and thing not in bases:
            assert f"`{thing.__name__}" in page, f"docs/tasks.md does not tell of {thing.__name__}"


def test_every_key_of_a_description_stands_on_its_page() -> None:
    page = (ROOT / "docs/robots.md").read_text()
    keys = re.findall(r"^ {4}\[?(\w+)[^\n]*(?:=|\])", description.__doc__ or "", flags=re.MULTILINE)
    assert len(keys) > 15
    for key in keys:
        assert re.search(rf"`\[?{key}\b", page), f"docs/robots.md does not tell of {key}"


def test_every_channel_stands_on_its_page() -> None:
    page = (ROOT / "docs/recording.md").read_text()
    robot = poise.load_robot(ROOT / "examples/biped.urdf")
    start = poise.State(robot, robot.rest)
    hierarchy = poise.Hierarchy(levels=[poise.Level("LEVEL", [tasks.Posture(np.zeros(16), name="TASK")])])
    for order in (poise.VELOCITY, poise.ACCELERATION):
        recording = poise.record(poise.KinematicController(hierarchy, order=order), poise.IdealPlant(start), 0.01)
        for name in recording.channels:
            if "always" not in name:
                assert f"`{name}`" in page, f"docs/recording.md does not tell of {name}"
