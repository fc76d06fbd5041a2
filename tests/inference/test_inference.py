"""A stack of tasks is found again in its motion: tasks, gains, targets, and the order of those in conflict."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import poise
from poise import inference, tasks
from poise.errors import PoiseError
from poise.inference import InferredStack
from poise.recording import Recording

pytestmark = pytest.mark.needs_models
SECONDS = 2.5
HAND, GAZE = (0.30, 0.28, 0.90), (1.2, 0.5, 0.8)


@cache
def motion(target: tuple[float, float, float] = HAND) -> Recording:
    """G1 moves its left hand, looks at a point, and goes back to another posture."""
    robot = poise.load_robot("g1")
    start = robot.stance("standing")
    q = np.array(start.q)
    q[7:] += np.random.default_rng(5).uniform(-0.15, 0.15, len(q) - 7)
    levels = [
        poise.Level("feet", [tasks.HoldPose(foot, at=start) for foot in robot.feet]),
        poise.Level("hand", tasks.Position(robot.hand("left"), target, dynamics=tasks.Decay(3.0))),
        poise.Level("gaze", tasks.Gaze(robot.gaze, GAZE, dynamics=tasks.Decay(2.0))),
        poise.Level("posture", tasks.Posture(q, dynamics=tasks.Decay(1.2))),
    ]
    return poise.record(poise.KinematicController(poise.Hierarchy(levels=levels)), poise.IdealPlant(start), SECONDS)


@cache
def inferred(noise: float = 0.0) -> InferredStack:
    recording = motion()
    if noise == 0.0:
        return inference.infer(recording)
    random, q = np.random.default_rng(1), np.array(recording["q"])
    q[:, :3] += random.normal(0.0, 1e-3 * noise, (len(q), 3))
    q[:, 7:] += random.normal(0.0, np.radians(0.2) * noise, q[:, 7:].shape)
    assert recording.robot is not None
    segment = inference.infer_segment(recording.robot, np.array(recording.time), q, 0.0, SECONDS)
    assert segment is not None
    return InferredStack("g1", (segment,))


@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_tasks_gains_and_targets_are_found(noise: float) -> None:
    (segment,) = inferred(noise).segments
    assert segment.contacts == ("left foot", "right foot")
    levels = {task.name: task for task in segment.levels}
    assert sorted(levels) == ["gaze", "left hand position", "posture"]
    for name, gain in {"left hand position": 3.0, "gaze": 2.0, "posture": 1.2}.items():
        assert levels[name].gain == pytest.approx(gain, rel=0.1)
    np.testing.assert_allclose(levels["left hand position"].target, HAND, atol=0.005)
    assert segment.levels[-1].name == "posture"
    assert segment.explained > 0.95


def test_the_higher_of_two_tasks_in_conflict_stands_above() -> None:
    """G1 has no neck: it can turn its chest, or look at a point, but not both."""
    robot = poise.load_robot("g1")
    start = robot.stance("standing")
    assert robot.chest is not None
    q = np.array(start.q)
    q[7:] += np.random.default_rng(8).uniform(-0.2, 0.2, len(q) - 7)
    levels = [
        poise.Level("feet", [tasks.HoldPose(foot, at=start) for foot in robot.feet]),
        poise.Level("gaze", tasks.Gaze(robot.gaze, (1.5, 0.4, 1.0), dynamics=tasks.Decay(1.5))),
        poise.Level("chest orientation", tasks.Orientation(robot.chest, np.eye(3), dynamics=tasks.Decay(2.0))),
        poise.Level("posture", tasks.Posture(q, dynamics=tasks.Decay(1.0))),
    ]
    controller = poise.KinematicController(poise.Hierarchy(levels=levels))
    recording = poise.record(controller, poise.IdealPlant(start), SECONDS)
    (segment,) = inference.infer(recording).segments
    names = [task.name for task in segment.levels if task.name in ("chest orientation", "gaze")]
    assert names == ["gaze", "chest orientation"]


def test_a_moved_target_is_predicted() -> None:
    """The stack with a target 10 cm away moves the hand as the true stack does with that target."""
    new = (HAND[0], HAND[1] + 0.05, HAND[2] + 0.09)
    truth = motion(new)
    robot = truth.robot
    assert robot is not None
    behavior = inferred().retargeted("left hand position", new).behavior(robot)
    assert behavior.start is not None
    again = poise.record(poise.KinematicController(behavior), poise.IdealPlant(behavior.start), SECONDS)
    for k in (100, 200, 300, 499):
        hands = [each.state(k, robot).pose(robot.hand("left")).translation for each in (truth, again)]
        assert np.linalg.norm(hands[0] - hands[1]) < 0.02


def test_a_stack_is_the_same_after_a_file(tmp_path: Path) -> None:
    stack = inferred()
    stack.save(tmp_path / "stack.toml")
    loaded = InferredStack.load(tmp_path / "stack.toml")
    for task, again in zip(stack.segments[0].levels, loaded.segments[0].levels, strict=True):
        assert (task.name, task.kind, task.part, task.joints) == (again.name, again.kind, again.part, again.joints)
        np.testing.assert_allclose(task.target, again.target, atol=1e-6)


def test_the_stack_runs_on_another_robot() -> None:
    robot = poise.load_robot("talos")
    behavior = inferred().behavior(robot)
    assert behavior.start is not None
    recording = poise.record(poise.KinematicController(behavior), poise.IdealPlant(behavior.start), 1.0)
    assert recording.fallbacks() == {}
    assert max(float(np.abs(recording[key]).max()) for key in recording if key.startswith("error/contact")) < 1e-2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "format"),
        ("format = 1", "no segments"),
        ("format = 1\n[[segments]]\nbegin = 1\nend = 0", "after its begin"),
        ('format = 1\n[[segments]]\nend = 1\n[[segments.levels]]\ntask = "Juggle"', "one of Position"),
        ('format = 1\n[[segments]]\nend = 1\n[[segments.levels]]\ntask = "Gaze"\ntarget = [1]', "expected 3"),
        ('format = 1\n[[segments]]\nend = 1\n[[segments.levels]]\ntask = "Gaze"\ntarget = [1, 2, nan]', "finite"),
        ("format = [", "not valid TOML"),
    ],
)
def test_bad_files_are_refused_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "stack.toml").write_text(text)
    with pytest.raises(PoiseError, match=message) as refusal:
        InferredStack.load(tmp_path / "stack.toml")
    assert "\n" not in str(refusal.value)


def test_a_robot_at_rest_has_no_stack() -> None:
    robot = poise.load_robot("g1")
    start = robot.stance("standing")
    hierarchy = poise.Hierarchy(levels=[poise.Level("posture", tasks.Posture(start))])
    recording = poise.record(poise.KinematicController(hierarchy), poise.IdealPlant(start), 1.0)
    with pytest.raises(PoiseError, match="does not move"):
        inference.infer(recording)
