"""Every example runs unchanged and prints the expected results."""

from __future__ import annotations

import ast
import os
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))

pytestmark = pytest.mark.needs_models


@pytest.fixture
def output(
    request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> str:
    """Output of the example with this prefix, run in an empty folder."""
    (path,) = (path for path in EXAMPLES if path.name.startswith(request.param))
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path), run_name="__main__")
    assert os.listdir(tmp_path) == [], "an example leaves files behind"
    printed = capsys.readouterr()
    assert re.sub(r"^view: http://127.0.0.1:\d+\n", "", printed.err) == ""
    return printed.out


def numbers(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", text)]


def test_the_examples_are_numbered_and_titled() -> None:
    titles = [ast.get_docstring(ast.parse(path.read_text())) or "" for path in EXAMPLES]
    assert [title[:2] for title in titles] == [path.name[:2] for path in EXAMPLES]
    assert [int(title[:2]) for title in titles] == list(range(1, len(titles) + 1))
    assert all("\n" not in title for title in titles)


@pytest.mark.parametrize("output", ["01"], indirect=True)
def test_the_hand_reaches_without_moving_a_foot(output: str) -> None:
    lines = {line.split()[0]: line for line in output.splitlines()}
    final = lines["reach"].partition(" m ")[0].split()[-1]
    _, feet, _ = numbers(lines["feet"].partition(" m,")[0])
    assert final == "<0.0001"  # errors below the resolution are not printed
    assert feet < 1e-3


@pytest.mark.parametrize("output", ["02"], indirect=True)
def test_the_explanation_names_the_obstacles(output: str) -> None:
    assert "level 2 balance (2 rows): met" in output
    assert re.search(r"position of left_palm\[x\] .* misses by .* in the way: center of mass\[x\] \(level 2\)", output)
    assert "joint range[left_knee_joint] (level 0): at its lower bound" in output


@pytest.mark.parametrize("output", ["03"], indirect=True)
def test_the_wall_stops_the_hand_and_the_cup_stays_in_its_box(output: str) -> None:
    lines = output.splitlines()
    (right,) = (line for line in lines if line.startswith("right hand at"))
    (left,) = (line for line in lines if line.startswith("left hand moved by"))
    np.testing.assert_allclose(numbers(right), [0.65, -0.10, 0.70], atol=2e-3)
    assert np.abs(numbers(left)).max() <= 0.0505
    assert "(wall) at its upper bound" in output


@pytest.mark.parametrize("output", ["04"], indirect=True)
def test_only_the_highest_shelf_is_out_of_reach(output: str) -> None:
    low, middle, high = output.splitlines()[:3]
    assert low.endswith("not met: posture")
    assert middle.endswith("not met: posture")
    assert high.endswith("not met: hand, posture")


@pytest.mark.parametrize("output", ["05"], indirect=True)
def test_the_saved_reach_has_an_error_for_every_point(output: str) -> None:
    assert output.count("gaze > posture") == 3
    ends = [numbers(line)[-1] for line in output.splitlines() if line.startswith("right hand ")]
    assert len(ends) == 5
    assert max(ends) < 1e-3


@pytest.mark.parametrize("output", ["06"], indirect=True)
def test_a_custom_robot_stands_and_reaches(output: str) -> None:
    assert "Robot(biped, 16 joints" in output
    assert "feet left_sole right_sole hands left_hand right_hand" in output
    (reach,) = (line for line in output.splitlines() if line.startswith("reach"))
    assert reach.partition(" m ")[0].split()[-1] == "<0.0001"


@pytest.mark.parametrize("output", ["07"], indirect=True)
def test_a_custom_task_holds_at_both_orders(output: str) -> None:
    for line in output.splitlines():
        raised, apart = numbers(line)
        assert raised == pytest.approx(15.0, abs=0.2)
        assert apart < 5.0
    assert len(output.splitlines()) == 2


@pytest.mark.parametrize("output", ["08"], indirect=True)
def test_with_a_ramp_the_command_changes_a_tenth_as_fast(output: str) -> None:
    abrupt, smooth = output.split("ramp of 0.2 s")
    changes = [max(float(speed) for speed in re.findall(r"change of speed (\S+)", part)) for part in (abrupt, smooth)]
    assert changes[1] < 0.1 * changes[0]


@pytest.mark.parametrize("output", ["09"], indirect=True)
def test_both_orders_reach_and_keep_the_limit_on_acceleration(output: str) -> None:
    lines = output.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["velocity", "acceleration"]
    for line in lines:
        error, _, acceleration = numbers(line.replace("²", ""))
        assert error < 0.1
        assert acceleration <= 20.0 + 1e-6


@pytest.mark.parametrize("output", ["10"], indirect=True)
def test_measured_forces_at_three_contacts_are_those_planned(output: str) -> None:
    lines = output.splitlines()
    (verdict,) = (line for line in lines if "weight" in line)
    assert verdict.startswith("stands")
    assert sum(" planned " in line for line in lines) == 3
    for line in (line for line in lines if " planned " in line):
        planned, measured = (np.array(numbers(part)) for part in line.split("planned")[1].split("measured"))
        assert np.linalg.norm(planned - measured) < 0.1 * np.linalg.norm(planned)


@pytest.mark.parametrize("output", ["11"], indirect=True)
def test_a_proud_walk_leans_back_and_swings_its_arms(output: str) -> None:
    lines = {line.split()[0]: line for line in output.splitlines()}
    assert output.count("6 steps, stands at the end") == 2
    neutral, proud = numbers(lines["chest_pitch"].split("chest_pitch")[1])
    assert proud < neutral - 8.0
    neutral, proud = numbers(lines["arm_swing"].split("arm_swing")[1])
    assert proud > 2.0 * neutral


@pytest.mark.parametrize("output", ["12"], indirect=True)
def test_a_walk_that_is_changed_on_the_way_stops_standing(output: str) -> None:
    lines = output.splitlines()
    assert lines[1].startswith("neutral to sad")
    matches = [re.search(r"(\d+) steps, .* at (\S+), (\S+) m", line) for line in lines]
    steps, x, y = np.array([[float(word) for word in found.groups()] for found in matches if found]).T
    assert len(steps) == len(lines) == 4
    assert (np.diff(steps) > 0).all(), "it keeps stepping"
    assert (np.diff(x) > 0.0).all()
    assert y[-1] > y[1] + 0.05, "the bend leads to the left"
    assert "standing" in lines[-1]


@pytest.mark.parametrize("output", ["13"], indirect=True)
def test_a_robot_that_is_guided_steps_by_itself_and_reaches_the_door(output: str) -> None:
    *lines, last = output.splitlines()
    modes = ["trunk" if "trunk" in line else "left hand" for line in lines]
    assert modes == sorted(modes, reverse=True), "first the trunk, then the hand"
    assert sum("foot steps" in line for line in lines if "trunk" in line) >= 3
    assert any("foot steps" in line for line in lines if "left hand" in line), "the hand pulls the body"
    assert last.startswith("stands")
    assert numbers(last)[0] < 10


@pytest.mark.parametrize("output", ["14"], indirect=True)
def test_force_cells_keep_a_robot_on_servos_standing(output: str) -> None:
    alone, regulated = output.splitlines()
    assert "fell" in alone
    assert "stands" in regulated


@pytest.mark.parametrize("output", ["15"], indirect=True)
def test_six_keys_reproduce_a_gait_and_two_phases_leave_the_knee_straight(output: str) -> None:
    fitted, paper, two, best = output.splitlines()
    assert numbers(fitted)[1] < 12.0
    assert "knee_flexion" in two
    assert numbers(two.split(":")[1])[0] < -30.0
    assert abs(numbers(best.split(":")[1])[0]) < 5.0
    assert abs(numbers(best.split(":")[1])[0]) < abs(numbers(paper.split(":")[1])[0])


@pytest.mark.parametrize("output", ["16"], indirect=True)
def test_tasks_beside_those_of_a_walk_are_met(output: str) -> None:
    walked, *errors = output.splitlines()
    steps, _, levels = walked.partition(" steps: ")
    assert int(steps) >= 12
    assert levels == "contact > balance > swing > cup > gaze > pointing > chest > style > posture"
    assert [line.partition(":")[0] for line in errors] == ["cup", "gaze", "pointing"]
    assert max(numbers(line)[0] for line in errors) < 3.0  # degrees


def test_every_example_has_its_test() -> None:
    tested = re.findall(r'^@pytest.mark.parametrize\("output", \["(\d\d)"\]', Path(__file__).read_text(), re.MULTILINE)
    assert tested == [path.name[:2] for path in EXAMPLES]


@pytest.mark.parametrize("output", ["17"], indirect=True)
def test_the_hand_on_the_table_carries_what_the_feet_cannot(output: str) -> None:
    first, ahead, pressed = output.splitlines()
    assert first.startswith("stands")
    assert numbers(first)[0] <= 5.0
    in_front, miss = numbers(ahead)
    assert in_front > 3.0  # cm, where feet alone cannot balance
    assert miss < 5.0
    force, weight = numbers(pressed)
    assert 30.0 < force < 0.5 * weight
