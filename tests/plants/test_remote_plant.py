"""RemotePlant in lock-step: the motion equals that of a local plant, despite other clients."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from typing import Any

import msgpack
import numpy as np
import pytest

import poise
from plant_servers import ANSWER_TIMEOUT, FREE_ADDRESS, RawClient, SwingController, forward_command, hello, serve_plant
from poise.control import Command, Controller
from poise.plants import (
    IdealPlant,
    MujocoPlant,
    Plant,
    PlantError,
    PlantServer,
    PositionServos,
    Push,
    RemotePlant,
    Sensors,
    check_address,
    steps,
)
from poise.plants.remote.plant_server import ServerSocket
from poise.plants.remote.protocol import MAX_MESSAGE_SIZE, MAX_RECEIVED_SIZE, PROTOCOL, command_message
from poise.recording import Recording
from poise.robots import Robot, State, load_robot
from robot_states import not_none
from simulated_robots import OpenLoopTorques, StandingController, biped, torque_command
from waiting import wait_until


def check_same_motion(one: Recording, other: Recording) -> None:
    """Check that two recordings are equal to the last bit, except for computing times.

    The remote plant, the second one, does not know the torques of its servos: they are not part of the protocol.
    """
    assert "measured/torque" not in other.channels
    names = [name for name in one.channels if "milliseconds" not in name and name != "measured/torque"]
    assert [name for name in other.channels if "milliseconds" not in name] == names
    assert one.samples == other.samples
    for name in names:
        first, second = np.asarray(one[name]), np.asarray(other[name])
        same = first.tolist() == second.tolist() if first.dtype == object else first.tobytes() == second.tobytes()
        assert same, name


@pytest.fixture
def plant_server() -> Iterator[PlantServer]:
    with serve_plant(IdealPlant(biped().stance("standing"))) as server:
        yield server


def distance_moved(server: PlantServer) -> float:
    """Distance of the robot from its stance (m)."""
    return float(server.plant.state().q[0] - server.plant.robot.stance("standing").q[0])


def ideal_plant() -> tuple[Plant, Controller]:
    robot = biped()
    return IdealPlant(robot.stance("standing")), SwingController(robot)


def noisy_plant() -> tuple[Plant, Controller]:
    sensors, pushes = Sensors(noise=0.01, delay=0.004, encoder_step=1e-4), [Push((20, 0, 0), 0.1, time=0.1)]
    plant = MujocoPlant(biped(), sensors=sensors, pushes=pushes, seed=3)
    return plant, StandingController(plant.start)


def servo_plant() -> tuple[Plant, Controller]:
    return MujocoPlant(biped(), actuators=PositionServos()), SwingController(biped())


class BendingController(Controller):
    """Controller with joint angles for servos."""

    period = 0.005

    def step(self, state: State) -> Command:
        start = state.robot.stance("standing").q[7:]
        return Command(
            np.zeros(len(state.v)), None, None, self.period, position=start - 0.02 * np.sin(5.0 * state.time)
        )


def servo_plant_with_angles() -> tuple[Plant, Controller]:
    return MujocoPlant(biped(), actuators=PositionServos()), BendingController()


@pytest.mark.parametrize("make", [ideal_plant, noisy_plant, servo_plant, servo_plant_with_angles])
def test_a_motion_in_lock_step_is_that_of_the_plant_itself_to_the_last_bit(make: object) -> None:
    plant, controller = make()  # type: ignore[operator]
    expected = poise.record(controller, plant, 0.4)
    plant, controller = make()  # type: ignore[operator]
    with serve_plant(plant) as server, RemotePlant(server.address, biped(), timeout=ANSWER_TIMEOUT) as remote:
        check_same_motion(expected, poise.record(controller, remote, 0.4))
        assert remote.counts["no state"] == 0
        assert remote.time == plant.state().time


def test_foreign_messages_change_nothing_and_are_counted() -> None:
    plant, controller = noisy_plant()
    expected = poise.record(controller, plant, 0.2)
    plant, controller = noisy_plant()
    robot = biped()
    rubbish = itertools.cycle(
        [
            b"",
            b"\xc1\xff\x00 rubbish",
            msgpack.packb([1, 2]),
            msgpack.packb({"kind": "fly"}),
            msgpack.packb({"kind": 3}),
            b"\x91" * 1000,
            bytes(MAX_MESSAGE_SIZE + 1),
            msgpack.packb({"kind": "hello"}),
            msgpack.packb(hello(robot, protocol=7)),
            msgpack.packb(hello(robot, token=bytes(range(16)))),
            msgpack.packb(
                {"kind": "command", "session": bytes(16), "sequence": 1, **command_message(forward_command(robot))}
            ),
        ]
    )
    with serve_plant(plant) as server, RawClient(server.address) as stranger:
        with RemotePlant(server.address, robot, timeout=ANSWER_TIMEOUT) as remote:

            class ControllerWithForeignMessages(Controller):
                period = controller.period

                def step(self, state: State) -> Command:
                    stranger.send(next(rubbish))
                    return controller.step(state)

            check_same_motion(expected, poise.record(ControllerWithForeignMessages(), remote, 0.2))
        sent = round(0.2 / controller.period)
        counted = ("malformed message", "oversized message", "client refused", "command without a session")
        wait_until(lambda: sum(n for name, n in server.counts.items() if name.startswith(counted)) == sent)
        assert server.counts["oversized message"] == len(range(6, sent, 11))
        assert server.counts["client refused: protocol"] == len(range(8, sent, 11))
        assert server.counts["client refused: busy"] == len(range(9, sent, 11))
        assert server.counts["command without a session"] == len(range(10, sent, 11))
        assert server.counts["command"] == sent


def test_a_message_above_the_size_limit_ends_its_connection(plant_server: PlantServer) -> None:
    with (
        RemotePlant(plant_server.address, biped(), timeout=ANSWER_TIMEOUT) as remote,
        RawClient(plant_server.address) as stranger,
    ):
        stranger.send(bytes(MAX_RECEIVED_SIZE + 1))
        wait_until(
            lambda: (list(steps(SwingController(biped()), remote, 0.1)), plant_server.counts["connection ended"] == 1)[
                1
            ]
        )
        assert plant_server.counts["oversized message"] == 0
        assert plant_server.counts["command"] % 20 == 0


def test_a_command_of_an_old_session_or_without_a_session_is_not_applied(plant_server: PlantServer) -> None:
    robot = biped()
    with RawClient(plant_server.address) as first, RawClient(plant_server.address) as second:
        old = first.request(hello(robot))["session"]
        first.send({"kind": "bye", "session": old})
        answers = []
        # Each client has its own socket: the hello of the second may overtake the farewell of the first.
        token = b"2" * 16
        wait_until(lambda: answers.append(second.request(hello(robot, token=token))) or "session" in answers[-1])  # type: ignore[func-returns-value]
        new = answers[-1]["session"]
        command = {
            "kind": "command",
            "sequence": 1,
            "state_sequence": 0,
            "notes_received": 0,
            **command_message(forward_command(robot)),
        }
        assert first.request({**command, "session": old})["reason"] == "superseded"
        assert first.request({**command, "session": b"3" * 16})["reason"] == "unknown"
        assert distance_moved(plant_server) == 0.0
        assert second.request({**command, "session": new})["last_command"] == 1
        assert distance_moved(plant_server) == pytest.approx(0.005)
        assert plant_server.counts["command of an old session"] == plant_server.counts["command without a session"] == 1


def test_a_repeated_command_is_applied_once_and_an_outdated_one_never(plant_server: PlantServer) -> None:
    robot = biped()
    with RawClient(plant_server.address) as client:
        session = client.request(hello(robot))["session"]
        assert client.request(hello(robot))["session"] == session  # a hello that was sent twice
        command = {
            "kind": "command",
            "session": session,
            "state_sequence": 0,
            "notes_received": 0,
            **command_message(forward_command(robot)),
        }
        answers = [client.request({**command, "sequence": 5}) for _ in range(3)]
        assert len({answer["state"]["q"] for answer in answers}) == 1
        client.send({**command, "sequence": 4})
        assert client.request({**command, "sequence": 6})["last_command"] == 6
        assert distance_moved(plant_server) == pytest.approx(0.010)
        assert plant_server.counts["late command"] == 3


def test_a_client_continues_its_session_over_a_new_connection(plant_server: PlantServer) -> None:
    robot = biped()
    with RawClient(plant_server.address) as before, RawClient(plant_server.address) as after:
        session = before.request(hello(robot))["session"]
        command = {
            "kind": "command",
            "session": session,
            "state_sequence": 0,
            "notes_received": 0,
            **command_message(forward_command(robot)),
        }
        before.request({**command, "sequence": 1})
        assert after.request({**command, "sequence": 2})["last_command"] == 2
        assert before.is_silent()


@pytest.mark.parametrize(
    "change",
    [
        {"velocity": None},
        {"velocity": bytes(7)},
        {"velocity": np.full(biped().model.nv, np.nan).tobytes()},
        {"acceleration": bytes(8)},
        {"torque": np.full(len(biped().joints), np.inf).tobytes()},
        {"period": 0.0},
        {"period": 1e9},
        {"period": float("nan")},
        {"period": True},
        {"fallback": 3},
        {"notes_received": -1},
    ],
    ids=str,
)
def test_a_command_that_is_not_whole_and_finite_is_refused(plant_server: PlantServer, change: dict[str, Any]) -> None:
    robot = biped()
    with RawClient(plant_server.address) as client:
        session = client.request(hello(robot))["session"]
        command = {"kind": "command", "session": session, "sequence": 1, "state_sequence": 0, "notes_received": 0}
        answer = client.request({**command, **command_message(forward_command(robot)), **change})
        assert (answer["kind"], answer["reason"], answer["sequence"]) == ("refused", "malformed", 1)
        assert plant_server.plant.state().time == 0.0
        assert plant_server.counts["malformed message"] + plant_server.counts["message not finite"] == 1


def test_an_invalid_command_is_refused_and_the_state_stays(plant_server: PlantServer) -> None:
    robot = biped()
    with RemotePlant(plant_server.address, robot, timeout=ANSWER_TIMEOUT) as remote:
        remote.apply(Command(np.full(robot.model.nv, np.nan), None, None, 0.005))
        remote.advance()
        assert remote.state().time == 0.0
        assert remote.counts["command refused"] == 1
        remote.apply(forward_command(robot))
        remote.advance()
        assert remote.state().time == 0.005


def test_a_remote_plant_has_the_state_counts_and_notes_of_the_served_one() -> None:
    robot = biped()
    plant = MujocoPlant(robot)
    with serve_plant(plant) as server, RemotePlant(server.address, robot, timeout=ANSWER_TIMEOUT) as remote:
        assert not_none(remote.start).q.tobytes() == plant.start.q.tobytes()
        assert remote.state().contacts == plant.state().contacts == robot.feet
        list(steps(OpenLoopTorques(robot, lambda time: np.nan if time == 0.0 else 0.0), remote, 0.01))
        assert remote.counts["command refused"] == 5  # time stands still
        remote.apply(Command(np.zeros(robot.model.nv), None, None, 0.002))
        remote.advance()
        assert remote.counts["no torque"] == plant.counts["no torque"] == 1
        assert remote.notes == plant.notes
        list(steps(OpenLoopTorques(robot), remote, 2.0))
        assert (remote.fallen, remote.fall) == (plant.fallen, plant.fall)
        assert remote.fallen
        readings, there = remote.readings(), plant.readings()
        assert readings is not None
        assert readings.forces.names == there.forces.names
        assert readings.forces.total.tobytes() == there.forces.total.tobytes()
        assert remote.truth().q.tobytes() == plant.truth().q.tobytes()


def test_a_remote_ideal_plant_has_no_sensors(plant_server: PlantServer) -> None:
    with RemotePlant(plant_server.address, biped(), timeout=ANSWER_TIMEOUT) as remote:
        remote.advance()  # nothing was commanded
        assert remote.readings() is None
        assert remote.truth() is remote.state()
        assert (remote.fallen, remote.fall, remote.time, remote.timed_out) == (False, "", 0.0, False)
        assert remote.connected


def test_the_server_accepts_one_client_at_a_time(plant_server: PlantServer) -> None:
    with RemotePlant(plant_server.address, biped(), timeout=ANSWER_TIMEOUT) as remote:
        with pytest.raises(PlantError, match="another client commands this robot"):
            RemotePlant(plant_server.address, biped(), connect_timeout=1.0)
        list(steps(SwingController(biped()), remote, 0.01))
    with RemotePlant(plant_server.address, biped(), timeout=ANSWER_TIMEOUT) as remote:
        assert remote.state().time == 0.01


def test_a_client_with_another_robot_or_protocol_is_refused_with_the_reason(
    plant_server: PlantServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    nao = load_robot("nao")
    with pytest.raises(PlantError, match=f"has '{biped().name}', not 'nao'; load the same robot") as caught:
        RemotePlant(plant_server.address, nao)
    assert "\n" not in str(caught.value)
    monkeypatch.setattr("poise.plants.remote.remote_plant.PROTOCOL", 99)
    with pytest.raises(PlantError, match=f"uses protocol {PROTOCOL}, not 99"):
        RemotePlant(plant_server.address, biped())


def test_a_client_of_another_version_is_refused_in_one_line_with_keys_of_its_version(plant_server: PlantServer) -> None:
    """Protocol 1 read the keys reason, text and token of a refusal."""
    with RawClient(plant_server.address) as client:
        answer = client.request(hello(biped(), protocol=1))
    assert (answer["kind"], answer["reason"], answer["token"]) == ("refused", "protocol", bytes(16))
    assert answer["text"] == f"the server uses protocol {PROTOCOL}, not 1; use the same version of Poise on both sides"


def test_a_server_of_another_version_is_refused_in_one_line(plant_server: PlantServer) -> None:
    """As if the server had accepted a client of any version."""
    welcome = plant_server._server_socket.answer
    plant_server._server_socket.answer = lambda peer, message: welcome(peer, {**message, "protocol": 1})  # type: ignore[method-assign]
    with pytest.raises(PlantError) as caught:
        RemotePlant(plant_server.address, biped())
    expected = f"the server uses protocol 1, not {PROTOCOL}; use the same version of Poise on both sides"
    assert str(caught.value) == f"'{plant_server.address}': {expected}"


def test_a_robot_with_other_joints_under_the_same_name_is_refused(plant_server: PlantServer) -> None:
    with RawClient(plant_server.address) as client:
        answer = client.request(hello(biped(), joints=["knee"]))
        assert (answer["reason"], plant_server.counts["client refused: robot"]) == ("robot", 1)


def test_without_an_answering_server_the_error_is_one_line() -> None:
    with PlantServer(IdealPlant(biped().stance("standing")), FREE_ADDRESS) as server:
        address = server.address  # it listens, but does not serve
        with pytest.raises(PlantError, match=r"no answer from .* within 0\.2 s; is 'poise serve") as caught:
            RemotePlant(address, biped(), connect_timeout=0.2)
        assert "\n" not in str(caught.value)
        with pytest.raises(PlantError, match=r"cannot listen at .*use another address"):
            PlantServer(IdealPlant(biped().stance("standing")), address)


@pytest.mark.parametrize(
    "address", ["", "127.0.0.1:5560", "tcp://127.0.0.1", "tcp://127.0.0.1:99999", "tcp://a b:1", "udp://1:1", None, 3]
)
def test_an_invalid_address_is_refused(address: object) -> None:
    for make in (lambda: RemotePlant(address, biped()), lambda: PlantServer(ideal_plant()[0], address)):  # type: ignore[arg-type]
        with pytest.raises(PlantError, match="is not an address; expected tcp://HOST:PORT"):
            make()


@pytest.mark.parametrize("address", ["tcp://0.0.0.0:0", "tcp://*:0", "tcp://192.168.0.1:5560", "tcp://[::]:0"])
def test_a_server_reachable_from_other_machines_needs_permission(address: str) -> None:
    with pytest.raises(PlantError, match="allow_remote=True or 'poise serve --bind"):
        PlantServer(ideal_plant()[0], address)
    assert check_address(address) == address
    for here in ("tcp://127.0.0.1:0", "tcp://localhost:0", "tcp://127.1.2.3:0", "tcp://[::1]:0", "ipc:///tmp/robot"):
        check_address(here, allow_remote=False)


def test_a_robot_must_be_a_robot_and_limits_positive(plant_server: PlantServer) -> None:
    with pytest.raises(PlantError, match="expected a Robot"):
        RemotePlant(plant_server.address, "g1")  # type: ignore[arg-type]
    with pytest.raises(PlantError, match="timeout"):
        RemotePlant(plant_server.address, biped(), timeout=0.0)
    with pytest.raises(PlantError, match="period"):
        PlantServer(ideal_plant()[0], FREE_ADDRESS, period=-1.0)


class ForgetfulSocket(ServerSocket):
    """Socket that loses the answer to every seventh command, and sends malformed data before every fifth."""

    def answer(self, peer: bytes, message: dict[str, Any]) -> None:
        number = self._counts["command"]
        if message["kind"] == "state" and number % 7 == 0 and self._counts["late command"] < number // 7:
            return
        if message["kind"] == "state" and number % 5 == 0:
            for rubbish in (b"rubbish", bytes(MAX_MESSAGE_SIZE + 1), msgpack.packb({**message, "state": {"q": b""}})):
                self._socket.send_multipart([peer, rubbish])
        super().answer(peer, message)


def test_a_lost_answer_is_requested_again_and_malformed_answers_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("poise.plants.remote.plant_server.ServerSocket", ForgetfulSocket)
    robot = biped()
    plant = IdealPlant(robot.stance("standing"))
    with serve_plant(plant) as server, RemotePlant(server.address, robot, timeout=0.02) as remote:
        times = [step.state.time for step in steps(SwingController(robot), remote, 0.5)]
        assert times == sorted(times)
        assert remote.counts["no state"] >= 5
        assert remote.counts["malformed message"] == 2 * remote.counts["oversized message"] > 0
        assert any(note.startswith("no state: ") for note in remote.notes)
        wait_until(lambda: (remote.advance(), remote.connected)[1])  # type: ignore[func-returns-value]
        assert round(remote.state().time / 0.005) == remote.counts["server: command"]  # no command was applied twice


def test_without_a_server_the_loop_continues_with_the_last_state_without_long_waits() -> None:
    robot, limit, period = biped(), 0.1, 0.005
    with serve_plant(IdealPlant(robot.stance("standing"))) as server:
        remote = RemotePlant(server.address, robot, timeout=limit)
        list(steps(SwingController(robot), remote, 0.05))
        before = remote.state()
    waits = []
    for _ in range(10):
        begin = time.perf_counter()
        remote.apply(forward_command(robot, period))
        remote.advance()
        waits.append(time.perf_counter() - begin)
    assert remote.state() is before
    assert remote.counts["no state"] == 10
    assert not remote.connected
    assert np.median(waits[1:]) < limit  # a period, plus the delay of a busy machine
    remote.close()
    remote.apply(torque_command(robot))
    remote.advance()  # even now
    remote.close()


def test_a_client_reconnects_to_a_restarted_server() -> None:
    robot = biped()
    with serve_plant(IdealPlant(robot.stance("standing"))) as server:
        address = server.address
        remote = RemotePlant(address, robot, timeout=0.05)
        list(steps(SwingController(robot), remote, 0.1))
    list(steps(SwingController(robot), remote, 0.01))  # no server
    with remote, serve_plant(IdealPlant(robot.stance("standing")), address) as server:
        wait_until(lambda: (list(steps(SwingController(robot), remote, 0.01)), server.counts["command"] > 5)[1])
        assert remote.counts["session lost"] <= 1
        assert remote.counts["no state"] > 0
        assert remote.state().time == server.plant.state().time


def test_a_client_whose_session_was_taken_over_does_not_reconnect(plant_server: PlantServer) -> None:
    robot = biped()
    with RemotePlant(plant_server.address, robot, timeout=0.02) as first:
        plant_server._session.timeout = 0.0  # as if it had been silent for a long time
        with RemotePlant(plant_server.address, robot, timeout=ANSWER_TIMEOUT) as second:
            plant_server._session.timeout = ANSWER_TIMEOUT
            for _ in range(5):
                first.apply(forward_command(robot))
                first.advance()
            assert first.counts["session taken over"] == 1
            assert "connection ended: another client took over" in first.notes
            assert plant_server.plant.state().time == 0.0
            list(steps(SwingController(robot), second, 0.01))
            assert plant_server.plant.state().time == 0.01


def test_both_sides_need_the_same_robot_not_the_same_object(plant_server: PlantServer) -> None:
    robot: Robot = biped.__wrapped__()
    assert robot is not biped()
    with RemotePlant(plant_server.address, robot, timeout=ANSWER_TIMEOUT) as remote:
        assert remote.state().robot is robot
