"""Plants served in real time: they advance with the clock and hold without commands."""

from __future__ import annotations

import time

import numpy as np
import pytest

from plant_servers import ANSWER_TIMEOUT, RawClient, SwingController, forward_command, hello, serve_plant
from poise.control import Command, Controller
from poise.plants import IdealPlant, MujocoPlant, PositionServos, RemotePlant, steps
from poise.plants.remote.plant_server import CommandTimeoutHold
from poise.plants.remote.protocol import command_message
from poise.robots import State
from robot_states import installed_robot, not_none
from simulated_robots import StandingController, biped
from waiting import wait_until


def is_at_rest(state: State) -> bool:
    return not state.v.any()


def test_without_commands_the_robot_holds_and_it_continues_with_the_next_command() -> None:
    robot = biped()
    with serve_plant(IdealPlant(robot.stance("standing")), realtime=True) as server:
        wait_until(lambda: server.timed_out)  # no client yet
        with RemotePlant(server.address, robot) as remote:
            assert remote.realtime
            for _ in range(2):
                held = server.counts["command timeout"]
                wait_until(
                    lambda: (list(steps(ConstantVelocityController(), remote, 0.05)), not is_at_rest(remote.state()))[1]
                )
                assert not server.timed_out
                wait_until(
                    lambda held=held: server.counts["command timeout"] > held and is_at_rest(server.plant.state())  # type: ignore[misc]
                )
                place = server.plant.state()
                wait_until(lambda place=place: server.plant.state().time > place.time + 0.1)  # type: ignore[misc]
                assert server.plant.state().q.tobytes() == place.q.tobytes()
            list(steps(ConstantVelocityController(), remote, 0.05))
            assert remote.counts["server: command timeout"] >= 3


class ConstantVelocityController(Controller):
    period = 0.005

    def step(self, state: State) -> Command:
        return forward_command(state.robot, self.period)


def test_a_client_that_leaves_is_not_waited_for() -> None:
    robot = biped()
    with serve_plant(IdealPlant(robot.stance("standing")), realtime=True, timeout=ANSWER_TIMEOUT) as server:
        with RemotePlant(server.address, robot) as remote:
            wait_until(
                lambda: (list(steps(ConstantVelocityController(), remote, 0.02)), not is_at_rest(remote.state()))[1]
            )
        wait_until(lambda: server.timed_out and is_at_rest(server.plant.state()))


@pytest.mark.parametrize("actuators", ["torque", "servos"])
def test_without_any_client_a_robot_in_physics_stays_up(actuators: str) -> None:
    robot = installed_robot("g1")
    settings = {"actuators": PositionServos()} if actuators == "servos" else {}
    plant = MujocoPlant(robot, **settings)  # type: ignore[arg-type]
    hold = CommandTimeoutHold(robot, 0.002)
    for _ in range(750):
        command = hold.command(plant.state(), "hold: nobody")
        assert np.isfinite(not_none(command.torque)).all()
        plant.apply(command)
        plant.advance()
    assert not plant.fallen
    assert np.abs(plant.state().v).max() < 0.02
    assert np.linalg.norm(plant.state().center_of_mass - plant.start.center_of_mass) < 0.01


def test_a_hold_has_torques_only_if_commands_had_them_and_within_the_limits() -> None:
    robot = biped()
    hold, state = CommandTimeoutHold(robot, 0.002), robot.stance("standing")
    hold.release(forward_command(robot))
    assert hold.command(state, "").torque is None
    falling = state.replace(v=np.full(robot.model.nv, 1e3))
    hold.release(StandingController(state).step(state))
    torque = hold.command(falling, "").torque
    assert torque is not None
    assert (np.abs(torque) <= robot.limits.torque).all()


def test_a_hold_takes_in_a_foot_that_comes_down_later() -> None:
    robot = biped()
    hold, state = CommandTimeoutHold(robot, 0.002), robot.stance("standing")
    hold.command(state.replace(contacts=robot.feet[:1]), "")
    assert hold._hold is not None
    assert [contact.frame for contact in hold._hold.forces.contacts] == [robot.feet[0]]
    hold.command(state, "")
    assert tuple(contact.frame for contact in hold._hold.forces.contacts) == robot.feet


def test_a_loop_runs_at_the_rate_of_the_robot_clock() -> None:
    robot = biped()
    with serve_plant(IdealPlant(robot.stance("standing")), realtime=True, period=0.002) as server:
        with RemotePlant(server.address, robot, timeout=ANSWER_TIMEOUT) as remote:
            begin = time.monotonic()
            times = np.array([step.state.time for step in steps(SwingController(robot, period=0.005), remote, 0.5)])
            # The clock of the robot is never ahead of real time by more than it catches up.
            assert times[-1] - times[0] <= time.monotonic() - begin + 0.1
        # Never less than 5 ms on average, though states come every 2 ms; more where the machine was busy.
        assert (np.diff(times) > 0.003).all()
        assert times[-1] - times[0] >= 99 * 0.005 - 0.002
        assert remote.counts["no state"] == 0


def test_a_command_for_an_outdated_state_is_not_applied() -> None:
    robot = biped()
    with (
        serve_plant(IdealPlant(robot.stance("standing")), realtime=True) as server,
        RawClient(server.address) as client,
    ):
        welcome = client.request(hello(robot))
        wait_until(lambda: server.plant.state().time > welcome["state"]["time"] + 0.3)
        head = {
            "kind": "command",
            "session": welcome["session"],
            "notes_received": 0,
            **command_message(forward_command(robot)),
        }
        client.send({**head, "sequence": 1, "state_sequence": welcome["sequence"]})
        wait_until(lambda: server.counts["late command"] == 1)
        assert server.counts["command"] == 0
        client.send({**head, "sequence": 2, "state_sequence": server._sequence})
        wait_until(lambda: server.counts["command"] == 1)
        client.send({**head, "sequence": 2, "state_sequence": server._sequence})
        wait_until(lambda: server.counts["late command"] == 2)


def test_when_the_server_ends_the_loop_continues_and_connects_to_a_new_server() -> None:
    robot = biped()
    with serve_plant(IdealPlant(robot.stance("standing")), realtime=True) as server:
        address = server.address
        remote = RemotePlant(address, robot, timeout=0.05)
        list(steps(ConstantVelocityController(), remote, 0.1))
    before = remote.state()
    list(steps(ConstantVelocityController(), remote, 0.1))
    assert remote.counts["no state"] > 0
    assert remote.state().time <= before.time + 0.1
    with remote, serve_plant(IdealPlant(robot.stance("standing")), address, realtime=True) as server:
        wait_until(lambda: (list(steps(ConstantVelocityController(), remote, 0.05)), server.counts["command"] > 5)[1])
        assert remote.connected
