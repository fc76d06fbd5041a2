"""Summary of a recording: met and violated levels, saturated rows, and computing times."""

import numpy as np
import pytest
from recorded_steps import JOINTS, NV, POSTURE, REACH, ROBOT, FakeErrors, Motion

from poise.recording import Channel, Recording, record_steps
from robot_states import not_none


def errors(reach: float, posture: float) -> FakeErrors:
    return FakeErrors((REACH, POSTURE), (np.array([reach, 0.0, 0.0]), np.full(len(JOINTS), posture)))


def test_the_residual_of_a_level_is_the_size_of_all_its_errors() -> None:
    tasks = (REACH, ("reach", "gaze", "rad", ("u", "v")))
    rows = [(np.array([3.0, 0.0, 0.0]), np.array([0.0, 4.0])), (np.zeros(3), np.zeros(2))]
    motion = Motion(tasks=tasks)
    steps = [motion.step(i, errors=FakeErrors(tasks, row)) for i, row in enumerate(rows)]
    recording = record_steps(steps, ROBOT)
    assert recording.levels()["reach"] == {"rms": pytest.approx(np.sqrt(12.5)), "max": 5.0, "unit": "m, rad"}
    level = recording.residuals()[1]
    assert (level.name, level.final) == ("reach", 0.0)
    assert [(task.name, task.max, task.unit) for task in level.tasks] == [("left_hand", 3.0, "m"), ("gaze", 4.0, "rad")]


def test_the_residual_of_a_level_counts_only_samples_with_that_level() -> None:
    without, with_reach = Motion(tasks=(POSTURE,)), Motion()
    steps = [without.step(0), with_reach.step(1, errors=errors(2.0, 0.0)), without.step(2)]
    level = record_steps(steps, ROBOT).levels()["reach"]
    assert level == {"rms": 2.0, "max": 2.0, "unit": "m"}


def test_without_errors_of_tasks_the_slack_is_the_residual() -> None:
    recording = record_steps([Motion().step(0, errors=None)], ROBOT)
    assert list(recording.levels()) == ["always", "reach", "posture"]
    assert recording.levels()["reach"] == {"rms": pytest.approx(1.0), "max": pytest.approx(1.0), "unit": "m/s"}


def test_saturated_rows_are_listed_with_their_share_and_longest_time() -> None:
    motion = Motion()
    steps = [motion.step(i) for i in range(100)]
    for i, step in enumerate(steps):
        if i % 50 >= 12:
            step.command.solution.sides[step.command.solution.sides == 1] = 0
    recording = record_steps(steps, ROBOT)
    first = recording.saturations()[0]
    assert (first.level, first.row, first.side) == ("always", "joint speed[left_knee_joint]", "upper")
    assert first.share == pytest.approx(0.24)
    assert first.longest == pytest.approx(12 * 0.005)
    assert "joint speed[left_knee_joint] (always): upper bound 24 % of the time, for 0.06 s at longest" in (
        recording.summary()
    )


def test_the_summary_names_levels_tasks_limits_times_and_fallbacks() -> None:
    motion = Motion()
    steps = [motion.step(i, errors=errors(0.125, 0.5)) for i in range(10)]
    steps[4] = motion.step(4, solution=None, errors=None, fallback="hold: no solution")
    steps[6].state.q[7] = 0.75
    steps[7].state.q[10] = 0.5  # a sliding joint, beyond its range
    text = record_steps(steps, ROBOT, provenance={"controller": {"name": "KinematicController"}}).summary()
    lines = text.splitlines()
    assert lines[0].startswith("figure, KinematicController: 0.05 s, 10 samples every 5 ms (poise ")
    assert lines[1].split() == ["level,", "task", "rms", "max", "final", "unit", "slack"]
    assert lines[3].split() == ["reach", "0.125", "0.125", "0.125", "m", "1", "m/s"]
    assert lines[4].split() == ["left_hand", "0.125", "0.125", "0.125", "m"]
    assert "tightest limit: neck_slide_joint goes 0.4 m beyond its upper limit, at 0.035 s" in lines
    assert any(line.startswith("control: median 0.20") and "slowest 0.209 ms (at 0.045 s)" in line for line in lines)
    assert any(line.startswith("iterations: median ") and line.endswith("; optimal 9") for line in lines)
    assert lines[-2:] == ["fallbacks: hold 1 time (first at 0.020 s: hold: no solution)", "non-finite commands: 0"]


def test_errors_and_slack_below_the_resolution_are_not_listed_as_numbers() -> None:
    motion = Motion()
    steps = [motion.step(i, errors=errors(3e-5, 0.5)) for i in range(3)]
    lines = [line.split() for line in record_steps(steps, ROBOT).summary().splitlines()]
    assert next(line for line in lines if line[0] == "left_hand")[1:] == ["<0.0001", "<0.0001", "<0.0001", "m"]
    levels = {line[0]: line for line in lines if line[0] in ("always", "reach", "posture")}
    assert levels["reach"][1:5] == ["<0.0001", "<0.0001", "<0.0001", "m"]
    assert levels["posture"][1] not in ("0", "<0.0001")
    assert levels["always"][-1] == "met"
    assert levels["reach"][-2:] == ["1", "m/s"]


def timed_recording(milliseconds: list[float], controller: dict[str, float] | None = None) -> Recording:
    """Return a recording of 5 ms per sample with these computing times, from 1 s on."""
    n = len(milliseconds)
    channels = [
        Channel("time", "s", 1.0 + 0.005 * np.arange(n)),
        Channel("control/milliseconds", "ms", np.array(milliseconds)),
    ]
    return Recording(channels, {} if controller is None else {"controller": controller})


def test_the_summary_counts_late_steps_with_the_slowest_and_its_time() -> None:
    late = timed_recording([0.1, 7.0, 0.2, 31.5, np.nan, 4.9])
    found = not_none(late.overruns())
    assert (found.ticks, found.steps, found.worst_ms) == (2, 5, 31.5)
    assert found.period_ms == pytest.approx(5.0)
    assert found.worst_time_s == pytest.approx(1.015)
    sentence = "2 of 5 control steps took longer than the control period of 5 ms, the slowest 31.5 ms at 1.015 s"
    assert f"real time: {sentence}" in late.summary().splitlines()
    early = timed_recording([0.1, 0.2])
    assert "real time: all 2 control steps took less than the control period of 5 ms" in early.summary().splitlines()


def test_the_period_of_the_controller_counts_where_only_some_of_its_steps_are_recorded() -> None:
    assert not_none(timed_recording([0.1, 1.5, 0.2], {"period": 0.001}).overruns()).ticks == 1
    assert not_none(timed_recording([0.1, 1.5, 0.2], {"period": 0.002}).overruns()).ticks == 0


def test_without_computing_times_there_are_no_late_steps_to_count() -> None:
    assert Recording([Channel("time", "s", [0.0, 0.1])]).overruns() is None
    assert timed_recording([np.nan, np.nan]).overruns() is None


def test_the_summary_counts_commands_that_are_not_finite() -> None:
    steps = [Motion().step(0, velocity=np.full(NV, np.nan)), Motion().step(1)]
    assert record_steps(steps, ROBOT).summary().endswith("non-finite commands: 1")


def test_a_recording_of_something_else_has_a_summary_too() -> None:
    channels = [
        Channel("time", "s", [0.0, 0.01]),
        Channel("error/knee", "rad", [0.1, 0.2]),
        Channel("slack", "", [0, 0]),
    ]
    recording = Recording(channels)
    assert recording.levels() == {}
    assert recording.fallbacks() == {}
    assert recording.milliseconds() == {"median": None, "p99": None, "max": None}
    assert recording.summary().startswith("recording: 0.02 s, 2 samples every 10 ms")


def test_times_are_summarised_by_median_99th_percentile_and_maximum() -> None:
    recording = record_steps(Motion().steps(101), ROBOT)
    spread = recording.milliseconds()
    assert spread == {"median": pytest.approx(0.25), "p99": pytest.approx(0.299), "max": pytest.approx(0.3)}
    assert set(recording.milliseconds("solver")) == {"median", "p99", "max"}
