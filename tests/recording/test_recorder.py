"""Recorder: every value of every step is stored under its name, also when tasks change."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded_steps import JOINTS, NV, PERIOD, POSTURE, REACH, ROBOT, FakeErrors, Motion, identical

from poise.errors import RecordingError
from poise.recording import ABSENT_CODE, CoordinateLabels, Recorder, Recording, load_recording, record_steps
from poise.solvers import EQUALITY, UPPER


def test_every_number_of_every_step_is_recorded() -> None:
    steps = list(Motion(torque=True).steps(150))
    recording = record_steps(steps, ROBOT)
    assert np.array_equal(recording.time, [step.state.time for step in steps])
    assert np.array_equal(recording["q"], [step.state.q for step in steps])
    assert np.array_equal(recording["v"], [step.state.v for step in steps])
    assert np.array_equal(recording["center_of_mass"], [step.state.center_of_mass for step in steps])
    assert np.array_equal(recording["command/velocity"], [step.command.velocity for step in steps])
    assert np.array_equal(recording["command/torque"], [step.command.torque for step in steps])
    assert np.array_equal(recording["control/milliseconds"], [step.milliseconds for step in steps])
    for i in range(2):
        name = ("reach/left_hand", "posture/posture")[i]
        rows = np.array([step.command.errors.values(i) for step in steps])
        assert np.array_equal(recording[f"error/{name}"], rows)
        assert np.array_equal(recording[f"error_norm/{name}"], np.linalg.norm(rows, axis=1))
    solutions = [step.command.solution for step in steps]
    for k, level in enumerate(("always", "reach", "posture")):
        assert np.array_equal(recording[f"slack/{level}"], [abs(s.slack[k]).max() for s in solutions])
        assert np.array_equal(recording[f"active/{level}"], [s.active[k] for s in solutions])
        counts = [np.sum(abs(s.active[k]) == 1) for s in solutions]
        assert np.array_equal(recording[f"active_count/{level}"], counts)
    assert np.array_equal(recording["solver/iterations"], [s.iterations for s in solutions])
    assert np.array_equal(recording["solver/milliseconds"], [s.milliseconds for s in solutions])
    assert set(recording["solver/status"]) == {"optimal"}
    assert set(recording["contacts"]) == {"left_sole, right_sole"}


def test_channels_carry_the_names_of_joints_and_rows_and_their_units() -> None:
    recording = record_steps(Motion(torque=True).steps(2), ROBOT)
    assert recording.labels["q"][7:] == JOINTS
    assert recording.units["q/left_knee_joint"] == "rad"
    assert recording.units["q/neck_slide_joint"] == "m"
    assert recording.units["v/neck_slide_joint"] == "m/s"
    assert recording.labels["command/torque"] == JOINTS
    assert recording.units["command/torque/neck_slide_joint"] == "N"
    assert recording.units["slack/reach"] == "m/s"
    assert recording["active/always/joint speed[left_knee_joint]"].tolist() == [UPPER, UPPER]
    assert recording["active/reach/left_hand[x]"].tolist() == [EQUALITY, EQUALITY]


def test_torques_of_all_of_v_name_the_base_too() -> None:
    labels, units = CoordinateLabels.of(ROBOT).effort_labels(NV)
    assert (len(labels), labels[6:]) == (NV, JOINTS)
    assert units == ("N", "N", "N", "N m", "N m", "N m", "N m", "N m", "N m", "N")


def test_the_nearest_joint_limit_is_named_with_its_margin() -> None:
    step = Motion().step(0)
    step.state.q[7:] = [0.0, -0.97, 0.0, 0.05]
    recording = record_steps([step], ROBOT)
    assert recording["joint_limit/margin"] == pytest.approx(0.03)
    assert recording["joint_limit/nearest"].tolist() == ["right_knee_joint lower"]


def changing_hierarchy() -> tuple[list, Recording]:
    """Posture alone, then reach above it, then posture alone again."""
    motion = Motion(tasks=(POSTURE,))
    steps: list[Any] = []
    for start, tasks in ((0, (POSTURE,)), (30, (REACH, POSTURE)), (70, (POSTURE,))):
        motion.tasks = tasks
        steps += motion.steps(start=start, count=40)
    return steps, record_steps(steps, ROBOT)


def test_a_task_is_nan_while_it_is_absent() -> None:
    steps, recording = changing_hierarchy()
    inside = np.zeros(120, dtype=bool)
    inside[40:80] = True
    for name in ("error/reach/left_hand", "error_norm/reach/left_hand", "slack/reach", "active_count/reach"):
        assert np.isnan(recording[name][~inside]).all()
        assert np.isfinite(recording[name][inside]).all()
    assert (recording["active/reach"][~inside] == ABSENT_CODE).all()
    posture = [step.command.errors.values(len(step.command.errors.tasks) - 1) for step in steps]
    assert np.array_equal(recording["error/posture/posture"], posture)


def test_the_file_of_a_changing_hierarchy_is_the_same_recording(tmp_path: Path) -> None:
    steps, in_memory = changing_hierarchy()
    recording = record_steps(steps, ROBOT, tmp_path / "a.poise", provenance={"date": in_memory.provenance["date"]})
    assert identical(recording, in_memory)
    assert identical(load_recording(tmp_path / "a.poise"), recording)


def test_a_hierarchy_that_changes_at_every_step_is_recorded_too(tmp_path: Path) -> None:
    one, two = Motion(tasks=(REACH,)), Motion(tasks=(POSTURE,))
    steps = [(one, two)[i % 2].step(i) for i in range(20)]
    recording = record_steps(steps, ROBOT, tmp_path / "a.poise")
    assert np.isnan(recording["error_norm/reach/left_hand"]).tolist() == [False, True] * 10
    assert identical(load_recording(tmp_path / "a.poise"), recording)


def test_a_fallback_without_a_solution_is_counted_and_has_no_solver_values() -> None:
    motion = Motion()
    steps = list(motion.steps(5))
    steps[2] = motion.step(2, solution=None, errors=None, fallback="hold")
    recording = record_steps(steps, ROBOT)
    assert recording.fallbacks() == {"hold": 1}
    assert np.isnan(recording["slack/reach"]).tolist() == [False, False, True, False, False]
    assert np.isnan(recording["error_norm/reach/left_hand"]).tolist() == [False, False, True, False, False]
    assert (recording["active/always"][2] == ABSENT_CODE).all()
    assert recording["solver/status"].tolist() == ["optimal", "optimal", "", "optimal", "optimal"]


def test_a_solution_and_torques_may_come_later() -> None:
    motion = Motion()
    steps = [motion.step(0, solution=None, errors=None), motion.step(1), motion.step(2, torque=np.ones(len(JOINTS)))]
    recording = record_steps([*steps, motion.step(3)], ROBOT)
    assert np.isnan(recording["slack/always"]).tolist() == [True, False, False, False]
    assert np.isnan(recording["command/torque/left_knee_joint"]).tolist() == [True, True, False, True]
    assert recording.nonfinite_commands() == 0


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_command_that_is_not_finite_is_counted(bad: float) -> None:
    motion = Motion()
    steps = [motion.step(0), motion.step(1, velocity=np.full(NV, bad)), motion.step(2, torque=np.array([0, 0, 0, bad]))]
    recording = record_steps(steps, ROBOT)
    assert recording.nonfinite_commands() == 2
    assert recording["command/nonfinite"].tolist() == [0, NV, 1]


def test_a_state_that_is_not_finite_is_recorded_as_it_is() -> None:
    step = Motion().step(0)
    step.state.q[7:9] = [np.nan, np.inf]
    step.state.v[:] = -np.inf
    with np.errstate(all="raise"):
        recording = record_steps([step, Motion().step(1)], ROBOT)
    assert np.array_equal(recording["q"][0], step.state.q, equal_nan=True)
    assert "non-finite commands: 0" in recording.summary()


def test_tasks_of_the_same_name_are_numbered() -> None:
    recording = record_steps([Motion(tasks=(REACH, REACH)).step(0)], ROBOT)
    assert "error/reach/left_hand" in recording.channels
    assert recording.channels["error/reach/left_hand_2"].label == "error/reach/left_hand (2)"
    assert "left_hand[x] (2)" in recording.labels["active/reach"]


def test_a_slash_in_the_name_of_a_level_does_not_end_it() -> None:
    recording = record_steps([Motion(tasks=(("feet/hands", "a/b", "m", ("x",)),)).step(0)], ROBOT)
    assert recording["error/feet_hands/a_b"].shape == (1, 1)
    assert recording.channels["error/feet_hands/a_b"].label == "error/feet|hands/a/b"
    assert list(recording.levels()) == ["always", "feet|hands"]


def test_tasks_without_labels_or_rows_are_recorded_by_number_or_not_at_all() -> None:
    errors = FakeErrors((("reach", "hand", "m", ()), ("reach", "nothing", "m", ())), (np.ones(2), np.zeros(0)))
    recording = record_steps([Motion().step(0, errors=errors)], ROBOT)
    assert recording.labels["error/reach/hand"] == ("0", "1")
    assert "error/reach/nothing" not in recording


def test_the_errors_of_each_task_stand_in_its_channel() -> None:
    steps = list(Motion().steps(5))
    recording = record_steps(steps, ROBOT)
    for i, name in enumerate(("error/reach/left_hand", "error/posture/posture")):
        assert np.array_equal(recording[name], [step.command.errors.values(i) for step in steps])


def test_no_steps_make_an_empty_recording(tmp_path: Path) -> None:
    assert record_steps([], ROBOT, tmp_path / "a.poise").samples == 0
    assert load_recording(tmp_path / "a.poise").samples == 0


def test_finishing_twice_gives_the_same_and_ends_the_recorder() -> None:
    recorder = Recorder(ROBOT)
    recorder(Motion().step(0))
    assert recorder.samples == 1
    assert recorder.finish() is recorder.finish()
    assert recorder.samples == 1
    with pytest.raises(RecordingError, match="create a new one"):
        recorder(Motion().step(1))


def test_the_provenance_has_version_date_robot_machine_and_given_facts() -> None:
    facts = record_steps([], ROBOT, provenance={"seed": 7, "command_line": "poise run reach"}).provenance
    assert facts["robot"] == "figure"
    assert facts["source"] == "made up for tests"
    assert facts["seed"] == 7
    assert facts["outcome"] == "finished"
    assert {"poise", "date", "platform", "command_line"} <= set(facts)


@pytest.mark.parametrize("period", [0.001, 0.002, PERIOD, 0.02, 0.24, 0.4])
def test_the_file_is_never_more_than_a_quarter_of_a_second_behind(tmp_path: Path, period: float) -> None:
    path = tmp_path / "a.poise"
    recorder = Recorder(ROBOT, path)
    motion = Motion()
    step = motion.step(0)
    for i in range(int(1.5 / period)):
        object.__setattr__(step.state, "time", i * period)
        recorder(step)
        if i > 1 and (period > 0.01 or i % 7 == 0):
            partial = load_recording(path, partial=True)
            assert i * period - (partial.time[-1] if partial.samples else -period) <= 0.25 + 1e-9


def test_a_clock_that_is_set_back_is_recorded_as_it_is() -> None:
    motion = Motion()
    steps = [*motion.steps(10), *motion.steps(10)]
    assert record_steps(steps, ROBOT).time.tolist() == [step.state.time for step in steps]
