"""Robots without arms, hands, head or waist run every motion that they can; the others fail with one clear line."""

from __future__ import annotations

from pathlib import Path

import pytest

from poise.errors import PoiseError
from poise.recording import load_recording
from poise.report import save_page
from poise.robots import load_robot
from poise.runs import MOTIONS, Reach, Walk
from poise.studio.scene_runner import SceneRunner
from poise.studio.scenes import all_scenes
from reduced_robots import REDUCTIONS, reduced_robot

#: Robots without a right hand, which cannot reach.
HANDLESS = ("no_arms", "no_hands", "legs_only")
#: Robots that run in every test run: together they lack all parts that the others lack.
FIRST_ROBOTS = ("no_hands", "legs_only")
ROBOTS = [pytest.param(name, marks=() if name in FIRST_ROBOTS else pytest.mark.slow) for name in REDUCTIONS]
CASES = [
    pytest.param(
        robot,
        name,
        mode,
        plant,
        id=f"{robot}-{name}-{mode}-{plant}",
        marks=() if robot in FIRST_ROBOTS else pytest.mark.slow,
    )
    for robot in REDUCTIONS
    for name, motion in MOTIONS.items()
    for mode, plant in motion.available
    if not (name == "reach" and robot in HANDLESS)
]


def test_the_robots_lack_the_parts_in_their_names() -> None:
    robots = {name: load_robot(reduced_robot(name)) for name in REDUCTIONS}
    assert [name for name, robot in robots.items() if not robot.hands] == list(HANDLESS)
    assert [name for name, robot in robots.items() if robot.head is None] == ["no_head", "legs_only"]
    assert len(robots["one_hand"].hands) == 1
    assert len(robots["legs_only"].joints) == 12
    assert len(robots["locked_arms"].joints) == len(robots["no_arms"].joints)


@pytest.mark.parametrize(("robot", "name", "mode", "plant"), CASES)
def test_it_runs_every_motion_in_every_mode(robot: str, name: str, mode: str, plant: str) -> None:
    motion = MOTIONS[name](robot=str(reduced_robot(robot)), mode=mode, plant=plant, seconds=0.1)
    recording, result = motion.run()
    assert result["fell"] is False
    assert result["nonfinite_commands"] == 0
    assert motion.row(recording, result)["fell"] is False


@pytest.mark.parametrize("robot", ROBOTS)
def test_it_walks_in_a_style_that_moves_arms_and_head(robot: str) -> None:
    result = Walk(robot=str(reduced_robot(robot)), mode="torque", style="sad", steps=2).run().result
    assert result["reason"] is None
    assert result["steps"] == 2


@pytest.mark.parametrize("robot", HANDLESS)
def test_a_reach_without_a_hand_is_refused_in_one_line(robot: str) -> None:
    with pytest.raises(PoiseError, match=f"{robot} declares no right hand") as caught:
        Reach(robot=str(reduced_robot(robot))).run()
    assert "\n" not in str(caught.value)


def test_the_walk_of_legs_has_a_report(tmp_path: Path) -> None:
    path = tmp_path / "legs.poise"
    Walk(robot=str(reduced_robot("legs_only")), mode="torque", steps=2).run(path)
    save_page(tmp_path / "legs.html", {"legs": load_recording(path)})
    assert "legs_only" in (tmp_path / "legs.html").read_text()


@pytest.mark.parametrize("robot", ROBOTS)
def test_it_moves_in_every_scene_of_the_studio(robot: str) -> None:
    for scene in all_scenes():
        runner = SceneRunner(scene(load_robot(reduced_robot(robot))))
        for _ in range(20):
            runner.step()
        assert runner.scene.controls()
        runner.scene.status_lines(), runner.scene.plans()
        runner.reset()
        assert not runner.fall_reason
