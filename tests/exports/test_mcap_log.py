"""MCAP export: the reader of the package mcap finds the recorded values."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pinocchio
import pytest
from mcap.reader import make_reader
from random_motions import biped, random_recording

from poise import exports
from poise.exports.mcap_log import nearest_samples
from poise.recording import ABSENT_CODE, Channel, Recording
from poise.robots import Robot

Messages = dict[str, list[tuple[int, dict[str, Any]]]]


def reject_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def read_log(path: Path) -> tuple[Messages, dict[str, dict[str, Any]], dict[str, str]]:
    """Messages by topic with their times (ns), schemas by topic, and the names of the schemas."""
    messages: Messages = defaultdict(list)
    schemas, names = {}, {}
    with open(path, "rb") as file:
        for schema, channel, message in make_reader(file).iter_messages():
            assert schema is not None
            assert (schema.encoding, channel.message_encoding) == ("jsonschema", "json")
            messages[channel.topic].append((message.log_time, json.loads(message.data, parse_constant=reject_constant)))
            schemas[channel.topic], names[channel.topic] = json.loads(schema.data), schema.name
    return messages, schemas, names


@pytest.fixture(scope="module")
def robot() -> Robot:
    return biped()


@pytest.fixture(scope="module")
def motion(robot: Robot) -> Recording:
    """With a channel that is absent at times, codes and texts."""
    error = np.column_stack([np.linspace(0, 1, 40), np.full(40, np.nan)])
    error[:10] = np.nan
    sides = np.tile(np.array([[-1, 2]], dtype=np.int8), (40, 1))
    sides[5] = ABSENT_CODE
    more = {
        "error": Channel("error/reach/hand", "m", error, ("x", '100% "y"'), "error/reach/position of hand"),
        "active": Channel("active/reach", "", sides, ("x", "y")),
        "phase": Channel("phase", "", np.array(['le "ft"'] * 40, dtype=object)),
        "time": Channel("solver/milliseconds", "ms", np.linspace(0.1, 0.2, 40)),
    }
    return random_recording(robot, 40, seed=2, **more)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def log(motion: Recording, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return exports.save(motion, tmp_path_factory.mktemp("logs") / "m.mcap")


def test_every_channel_is_a_topic_with_a_message_per_sample(log: Path, motion: Recording) -> None:
    messages, _, _ = read_log(log)
    labels = [channel.label for key, channel in motion.channels.items() if key != "time"]
    assert messages.keys() == {"/tf", "/joint_states", *(f"/{label}" for label in labels)}
    for label in labels:
        times = [time for time, _ in messages[f"/{label}"]]
        assert np.abs(1e-9 * np.array(times) - motion.time).max() < 1e-9


def test_numbers_are_those_of_the_recording(log: Path, motion: Recording) -> None:
    messages, schemas, _ = read_log(log)
    for name in ("q", "v", "command/torque"):
        found = np.array([list(values.values()) for _, values in messages[f"/{name}"]])
        assert np.abs(found - motion[name]).max() < 1e-8 * np.abs(motion[name]).max()
        assert tuple(schemas[f"/{name}"]["properties"]) == motion.labels[name]
    found = np.array([values["value"] for _, values in messages["/solver/milliseconds"]])
    assert np.abs(found - motion["solver/milliseconds"]).max() < 1e-8
    assert schemas["/solver/milliseconds"]["properties"]["value"] == {"type": "number", "description": "ms"}


def test_missing_values_are_left_out(log: Path) -> None:
    messages, _, _ = read_log(log)
    errors = [values for _, values in messages["/error/reach/position of hand"]]
    assert errors[:10] == [{}] * 10
    assert errors[39] == {"x": 1.0}
    sides = [values for _, values in messages["/active/reach"]]
    assert (sides[4], sides[5]) == ({"x": -1, "y": 2}, {})
    assert messages["/phase"][0][1] == {"value": 'le "ft"'}


def test_poses_of_links_are_those_of_pinocchio(log: Path, motion: Recording, robot: Robot) -> None:
    messages, _, names = read_log(log)
    assert names["/tf"] == "foxglove.FrameTransforms"
    data, links = robot.model.createData(), {f.name for f in robot.model.frames if f.type == pinocchio.FrameType.BODY}
    assert len(messages["/tf"]) == 24  # 0.4 s at 60 Hz
    for time, message in messages["/tf"]:
        sample = round(time / 1e7)
        pinocchio.framesForwardKinematics(robot.model, data, motion["q"][sample])
        assert {pose["child_frame_id"] for pose in message["transforms"]} == links
        for pose in message["transforms"]:
            stamp = pose["timestamp"]
            assert (pose["parent_frame_id"], 10**9 * stamp["sec"] + stamp["nsec"]) == ("world", time)
            meant = data.oMf[robot.model.getFrameId(pose["child_frame_id"])]
            found = pinocchio.XYZQUATToSE3(np.array([*pose["translation"].values(), *pose["rotation"].values()]))
            assert np.abs(found.homogeneous - meant.homogeneous).max() < 1e-12


def test_joint_states_have_position_velocity_and_effort(log: Path, motion: Recording) -> None:
    messages, _, names = read_log(log)
    assert names["/joint_states"] == "foxglove.JointStates"
    for i, (_, message) in enumerate(messages["/joint_states"]):
        for joint in message["joints"]:
            name = joint["name"]
            assert joint["position"] == pytest.approx(motion[f"q/{name}"][i], abs=1e-15)
            assert joint["velocity"] == motion[f"v/{name}"][i]
            assert joint["effort"] == motion[f"command/torque/{name}"][i]


def test_messages_conform_to_their_schemas(log: Path) -> None:
    messages, schemas, _ = read_log(log)

    def fits(value: Any, schema: dict[str, Any]) -> bool:
        kinds = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float)}
        if not isinstance(value, kinds[schema["type"]]):  # type: ignore[arg-type]
            return False
        if schema["type"] == "object":
            return all(key in schema["properties"] and fits(v, schema["properties"][key]) for key, v in value.items())
        return all(fits(item, schema["items"]) for item in value) if schema["type"] == "array" else True

    for topic, found in messages.items():
        assert all(fits(message, schemas[topic]) for _, message in found), topic


def test_the_provenance_is_in_the_log(log: Path) -> None:
    with open(log, "rb") as file:
        facts = next(iter(make_reader(file).iter_metadata()))
    assert (facts.name, facts.metadata["robot"]) == ("poise", "biped")


@pytest.mark.parametrize("rate", [15.0, 50.0, 99.0, 400.0])
def test_with_a_rate_the_nearest_samples_are_taken(motion: Recording, rate: float) -> None:
    whole = exports.Trajectory.of(motion)
    found = nearest_samples(whole, rate)
    ticks = whole.resample(rate).time
    assert set(found.tolist()) <= {int(i) for t in ticks for i in np.flatnonzero(
        np.abs(whole.time - t) <= np.abs(whole.time - t).min() + 1e-9)}  # fmt: skip
    assert all(np.abs(whole.time[found] - t).min() <= 0.005 + 1e-9 for t in ticks)


def test_a_rate_makes_a_log_smaller(motion: Recording, tmp_path: Path) -> None:
    messages, _, _ = read_log(exports.save(motion, tmp_path / "m.mcap", rate=10.0))
    assert [len(found) for found in messages.values()] == [4] * len(messages)
