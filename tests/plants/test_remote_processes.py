"""Server and client in two processes: pauses, invalid messages, and the command `poise serve`."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import poise
from command_line import error_line
from plant_servers import ANSWER_TIMEOUT, RawClient, serve_process
from poise.behaviors import Stand
from poise.control import Controller
from poise.plants import RemotePlant, steps
from poise.plants.remote.protocol import MAX_MESSAGE_SIZE
from robot_states import installed_robot, not_none
from waiting import wait_for_exit, wait_until

#: A controller that stands G1 for some seconds; it prints the start and the final result.
CLIENT = """
import json, sys, poise
from poise.behaviors import Stand
from poise.plants import steps
from poise.plants.remote import RemotePlant
robot = poise.load_robot("g1")
controller = poise.TorqueController(Stand(robot))
with RemotePlant(sys.argv[1], robot) as plant:
    list(steps(controller, plant, 0.5))
    print("begun", flush=True)
    ticks = 0
    while plant.counts["server: command timeout"] < 2 and ticks < 20000:
        list(steps(controller, plant, 0.1)); ticks += 50
    before = plant.counts["server: command"]
    list(steps(controller, plant, 0.5))
    print(json.dumps({"fall": plant.fall, "counts": plant.counts, "went_on": plant.counts["server: command"] - before}))
"""


def controller_for(actuators: str) -> Controller:
    kind = poise.KinematicController if actuators == "servos" else poise.TorqueController
    return kind(Stand(installed_robot("g1")))


@pytest.mark.parametrize("clock", [[], ["--realtime"]], ids=["lock-step", "realtime"])
@pytest.mark.parametrize("actuators", ["torque", "servos"])
def test_g1_stands_with_a_controller_in_another_process(actuators: str, clock: list[str]) -> None:
    with (
        serve_process("--actuators", actuators, *clock) as (_, address),
        RemotePlant(
            address, installed_robot("g1"), timeout=0.2 if clock else ANSWER_TIMEOUT, connect_timeout=ANSWER_TIMEOUT
        ) as plant,
    ):
        recording = poise.record(controller_for(actuators), plant, 1.0)
        assert not plant.fallen
        assert clock or plant.counts == {"server: command": recording.samples}
        assert np.linalg.norm(plant.state().center_of_mass - not_none(plant.start).center_of_mass) < 0.02


@pytest.mark.skipif(sys.platform == "win32", reason="processes are stopped by a signal")
def test_a_client_stopped_for_half_a_second_continues_with_a_standing_robot() -> None:
    with serve_process("--realtime") as (_, address):
        command = [sys.executable, "-c", CLIENT, address]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as client:
            try:
                assert client.stdout is not None
                assert client.stdout.readline() == "begun\n"
                client.send_signal(signal.SIGSTOP)
                time.sleep(0.5)
                client.send_signal(signal.SIGCONT)
                result = json.loads(client.stdout.readline())
            finally:
                client.kill()
    assert result["fall"] == ""
    assert result["counts"]["server: command timeout"] >= 2  # before the client connected, and while it was stopped
    assert result["went_on"] > 0


@pytest.mark.skipif(sys.platform == "win32", reason="processes are stopped by a signal")
def test_while_a_server_is_stopped_the_loop_continues_and_afterwards_the_robot() -> None:
    controller = controller_for("torque")
    with (
        serve_process("--realtime") as (server, address),
        RemotePlant(address, installed_robot("g1"), connect_timeout=ANSWER_TIMEOUT) as plant,
    ):
        list(steps(controller, plant, 0.3))
        server.send_signal(signal.SIGSTOP)
        wait_until(lambda: (list(steps(controller, plant, 0.01)), plant.counts["no state"] > 3)[1])
        stopped = plant.state().time
        server.send_signal(signal.SIGCONT)
        wait_until(lambda: (list(steps(controller, plant, 0.1)), plant.state().time > stopped + 0.5)[1])
        assert not plant.fallen


def test_malformed_messages_of_a_third_socket_are_counted_and_the_robot_stands() -> None:
    controller = controller_for("torque")
    with (
        serve_process("--realtime") as (_, address),
        RemotePlant(address, installed_robot("g1"), connect_timeout=ANSWER_TIMEOUT) as plant,
        RawClient(address) as stranger,
    ):
        for _ in range(20):
            for rubbish in (b"rubbish", b"\x80", bytes(MAX_MESSAGE_SIZE + 1)):
                stranger.send(rubbish)
            list(steps(controller, plant, 0.02))
        wait_until(lambda: (list(steps(controller, plant, 0.02)), plant.counts["server: oversized message"] == 20)[1])
        wait_until(lambda: (list(steps(controller, plant, 0.02)), plant.counts["server: malformed message"] == 40)[1])
        assert not plant.fallen


def test_serving_ends_after_its_seconds_or_with_ctrl_c() -> None:
    with serve_process("--robot", "nao", "--seconds", "0.1") as (server, _):
        output, errors = wait_for_exit(server)
        assert (server.returncode, output, errors.count("\n")) == (0, "", 1)
        assert "no client connected" in errors
    for clock in ([], ["--realtime"]):
        with serve_process("--robot", "nao", *clock) as (server, _):
            server.send_signal(signal.SIGINT)
            _, errors = wait_for_exit(server)
            assert server.returncode == 130
            assert "Traceback" not in errors


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--robot", "nobody"], "nobody"),
        (["--robot", "nao", "--address", "nowhere"], "is not an address"),
        (["--robot", "nao", "--address", "tcp://0.0.0.0:0"], "--bind 0.0.0.0"),
        (["--robot", "nao", "--bind", "no host"], "is not an address"),
        (["--robot", "nao", "--bind", "192.0.2.1"], "cannot listen at"),
        (["--actuators", "magic"], "magic"),
        (["--seconds", "0"], "not a time"),
        (["--seconds", "nan"], "not a time"),
    ],
)
def test_invalid_arguments_of_serve_are_refused_in_one_line(
    capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert words in error_line(capsys, "serve", *arguments)


def test_the_bind_option_listens_to_other_machines(capsys: pytest.CaptureFixture[str]) -> None:
    from poise import cli

    arguments = ["--robot", "nao", "--address", "tcp://127.0.0.1:0", "--bind", "0.0.0.0", "--seconds", "0.01"]
    assert cli.main(["serve", *arguments]) == 0
    assert "served at tcp://0.0.0.0:" in capsys.readouterr().out
