"""Messages of remote plants: lossless round trips, and refusal of malformed messages."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.control import Command
from poise.plants import IdealPlant, MujocoPlant, PositionServos, Sensors
from poise.plants.remote.protocol import (
    MAX_MESSAGE_SIZE,
    MalformedError,
    Report,
    StateDecoder,
    command_message,
    decode,
    decode_command,
    decode_report,
    encode,
    report_message,
    resample_command,
)
from robot_states import not_none
from simulated_robots import biped

VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**63), 2**64 - 1), st.floats(), st.text(), st.binary()),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(), inner, max_size=4)),
    max_leaves=10,
)


def round_trip(message: dict[str, Any]) -> dict[str, Any]:
    return decode([encode({"kind": "any", **message})])


@given(st.integers(0, 2**32 - 1), st.sets(st.sampled_from(["acceleration", "torque", "position"])))
def test_a_command_arrives_to_the_last_bit(seed: int, present: set[str]) -> None:
    robot, random = biped(), np.random.default_rng(seed)
    sizes = {"velocity": robot.model.nv, "acceleration": robot.model.nv}
    given = {
        name: random.normal(size=sizes.get(name, len(robot.joints))) if name in present | {"velocity"} else None
        for name in ("velocity", "acceleration", "torque", "position")
    }
    command = Command(**given, period=0.002, fallback="hold: why", phase="reach")  # type: ignore[arg-type]
    arrived = decode_command(round_trip(command_message(command)), robot)
    for name, values in given.items():
        there = getattr(arrived, name)
        assert there is None if values is None else there.tobytes() == values.tobytes()
    assert (arrived.period, arrived.fallback, arrived.phase) == (0.002, "hold: why", "reach")


@pytest.mark.parametrize("step", [0.001, 0.002, 0.005, 0.01])
def test_in_shorter_steps_servos_reach_their_targets_at_the_end_of_the_period(step: float) -> None:
    robot, random = biped(), np.random.default_rng(5)
    plant = MujocoPlant(robot, actuators=PositionServos(), period=0.001)
    rates = np.concatenate([np.zeros(6), random.normal(0.0, 0.1, len(robot.joints))])
    goal = plant.start.q[7:] + 0.005 * rates[6:]
    plant.apply(resample_command(Command(rates, None, None, 0.005, position=goal), step))
    for _ in range(round(0.01 / step)):
        plant.advance()
    assert plant.time == pytest.approx(0.01)
    assert plant._drive._target == pytest.approx(goal + 0.005 * rates[6:], abs=1e-12)  # type: ignore[union-attr]  # 5 ms beyond the goal


def test_a_report_arrives_to_the_last_bit_and_is_small() -> None:
    robot = biped()
    for plant in (
        IdealPlant(robot.stance("standing")),
        MujocoPlant(robot),
        MujocoPlant(robot, sensors=Sensors(noise=0.1)),
    ):
        message = report_message(plant, 0)
        assert len(encode(message)) < MAX_MESSAGE_SIZE / 10
        head = {"sequence": 3, "last_command": 2, "server_counts": {"command": 2}, "timed_out": False}
        report = decode_report(round_trip({**message, **head}), StateDecoder(robot))
        state = plant.state()
        assert report.state.q.tobytes() == state.q.tobytes()
        assert report.state.v.tobytes() == state.v.tobytes()
        assert report.state.contacts == state.contacts
        if report.readings is None:
            assert isinstance(plant, IdealPlant)
            continue
        there = plant.readings()
        assert report.readings.truth.q.tobytes() == not_none(there).truth.q.tobytes()
        for name in ("orientation", "angular_velocity", "acceleration"):
            assert np.array_equal(getattr(report.readings.imu, name), getattr(not_none(there).imu, name))
        assert all(np.array_equal(report.readings.cells[foot], cells) for foot, cells in not_none(there).cells.items())
        assert np.array_equal(report.readings.forces.wrenches, not_none(there).forces.wrenches)


@given(st.lists(st.binary(max_size=200), max_size=3))
def test_bytes_that_are_no_message_are_malformed_and_nothing_worse(frames: list[bytes]) -> None:
    with suppress(MalformedError):
        assert isinstance(decode(frames)["kind"], str)


@given(VALUES.filter(lambda value: not isinstance(value, dict)))
def test_values_that_are_no_message_are_malformed_and_nothing_worse(value: object) -> None:
    with pytest.raises(MalformedError):
        decode([msgpack.packb(value)])


@given(st.data())
def test_a_message_with_any_changed_entry_is_read_or_malformed(data: st.DataObject) -> None:
    robot = biped()
    plant = MujocoPlant(robot) if data.draw(st.booleans()) else IdealPlant(robot.stance("standing"))
    command = command_message(Command(np.zeros(robot.model.nv), None, np.zeros(len(robot.joints)), 0.002))
    report = {**report_message(plant, 0), "sequence": 3, "last_command": 2, "server_counts": {}, "timed_out": False}
    for message, read in (
        (command, lambda m: decode_command(m, robot)),
        (report, lambda m: decode_report(m, StateDecoder(robot))),
    ):
        changed = dict(message)
        place = changed
        while True:
            name = data.draw(st.sampled_from(sorted(place)))
            if not isinstance(place[name], dict) or not place[name] or data.draw(st.booleans()):
                break
            place[name] = place = dict(place[name])
        place[name] = data.draw(VALUES)
        with suppress(MalformedError):
            assert isinstance(read(round_trip(changed)), Command | Report)
