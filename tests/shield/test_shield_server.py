"""The shield as a server: clients at both sockets, one of them hostile, and the command `poise shield`."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import websockets.exceptions
import zmq
from websockets.sync.client import connect
from websockets.typing import Origin

import poise
from command_line import error_line
from plant_servers import ANSWER_TIMEOUT
from poise.plants import IdealPlant, MujocoPlant, PlantError
from poise.shield import BalanceShield, Client, ShieldServer, WishError
from robot_states import installed_robot
from waiting import enable_ctrl_c, wait_for_exit, wait_until

ELBOW = "left_elbow_joint"


class Running:
    """A shield that runs in a thread, on an ideal robot."""

    def __init__(self, server: ShieldServer) -> None:
        self.server, self.time, self.stopped = server, 0.0, False
        self.elbow = 0.0

    def run(self) -> None:
        elbow = self.server.shield.robot.joint(ELBOW)
        for step in self.server.steps():
            assert np.isfinite(step.command.velocity).all()
            self.time, self.elbow = step.state.time, float(step.state.q[elbow.q])
            if self.stopped:
                return


@contextmanager
def running_shield(mode: Any = "stand") -> Iterator[Running]:
    robot = installed_robot("g1")
    shield = BalanceShield(robot, mode)
    assert shield.start is not None
    with ShieldServer(shield, IdealPlant(shield.start), port=0) as server:
        running = Running(server)
        thread = threading.Thread(target=running.run)
        thread.start()
        try:
            yield running
        finally:
            running.stopped = True
            thread.join()


def test_clients_at_both_sockets_move_an_arm_and_hostile_ones_do_not() -> None:
    with running_shield() as running, Client(running.server.address, timeout=ANSWER_TIMEOUT) as client:
        robot = running.server.shield.robot
        rest = float(robot.stance("standing").q[robot.joint(ELBOW).q])

        def moved() -> bool:
            answer = client.wish(joints={ELBOW: 0.9})
            return answer.accepted and abs(running.elbow - 0.9) < 0.01

        wait_until(moved, progress=lambda: running.time)
        answer = wait_until(
            lambda: (
                (reply := client.wish(joints={ELBOW: 0.9}))
                and reply.wishes.get(ELBOW, {}).get("state") == "met"
                and reply
            ),
            progress=lambda: running.time,
        )
        assert answer.wishes[ELBOW]["error"] < 0.03

        refused = client.wish(joints={ELBOW: float("nan")})
        assert not refused.accepted
        assert "expected a finite number" in refused.text
        with pytest.raises(WishError, match="cannot be sent"):
            client.wish(joints={ELBOW: object()})  # type: ignore[dict-item]

        socket: Any = zmq.Context.instance().socket(zmq.DEALER)
        socket.setsockopt(zmq.LINGER, 0)
        socket.connect(running.server.address)
        for data in (b"", b"\xff" * 100, bytes(100_000)):
            socket.send(data)
            assert socket.poll(1000 * ANSWER_TIMEOUT)
            assert b"refused" in socket.recv()
        for _ in range(2000):  # a flood
            socket.send(b"\x00")
        before = running.time
        with connect(running.server.web_address) as page:
            wait_until(lambda: running.time > before + 0.3, progress=lambda: running.time)  # the wishes have expired
            taken = running.server.wishes
            page.send(json.dumps({"joints": {ELBOW: 0.4}, "sequence": 1}))
            reply = json.loads(page.recv())
            assert (reply["kind"], reply["sequence"]) == ("answer", 1)
            page.send("{")
            assert json.loads(page.recv())["kind"] == "refused"
        wait_until(lambda: running.server.wishes > taken)
        wait_until(lambda: abs(running.elbow - rest) < 0.02, progress=lambda: running.time)  # silence
        socket.close()


def test_web_pages_of_other_origins_and_other_hosts_are_refused() -> None:
    with running_shield() as running:
        with pytest.raises(websockets.exceptions.InvalidStatus):
            connect(running.server.web_address, origin=Origin("http://evil.example"))
        with connect(running.server.web_address, origin=Origin("http://localhost:8080")) as page:
            page.send("{}")
            assert json.loads(page.recv())["kind"] == "answer"
        shield = running.server.shield
        assert shield.start is not None
        port = int(running.server.address.rpartition(":")[2])
        with pytest.raises(PlantError, match="use another port"):
            ShieldServer(shield, IdealPlant(shield.start), port=port, web_port=0)
        with pytest.raises(PlantError, match="can be reached from other machines"):
            ShieldServer(shield, IdealPlant(shield.start), host="0.0.0.0")


# -- the command -----------------------------------------------------------------------------------------------------


@contextmanager
def shield_process(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run ``poise shield`` in a process, and yield it with its address."""
    command = [sys.executable, "-m", "poise", "shield", "--port", "0", *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, preexec_fn=enable_ctrl_c) as process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            yield process, line.split(" is shielded at ")[1].split()[0]
        finally:
            process.kill()


@pytest.mark.skipif(sys.platform == "win32", reason="processes are stopped by a signal")
def test_ctrl_c_saves_the_recording_and_prints_the_summary(tmp_path: Path) -> None:
    path = tmp_path / "shield.poise"
    with shield_process("--mode", "stand", "--out", str(path), "--json") as (process, address):
        with Client(address, timeout=ANSWER_TIMEOUT) as client:
            times: list[float] = []

            def ran() -> bool:
                answer = client.wish(joints={ELBOW: 0.9})
                times.append(answer.time or 0.0)
                return times[-1] > 0.3

            wait_until(ran, progress=lambda: times[-1:])
        process.send_signal(2)
        out, error = wait_for_exit(process)
    assert process.returncode == 130, error
    result = json.loads(out)
    assert (result["behavior"], result["robot"], result["fell"]) == ("shield", "g1", False)
    assert result["wishes"] >= 1
    assert result["nonfinite_commands"] == 0
    recording = poise.load_recording(path)
    assert recording.duration >= 0.3
    assert recording.provenance["mode"] == "stand"


def test_the_driver_of_a_robot_can_stand_in_for_the_simulation() -> None:
    from plant_servers import serve_plant

    robot = installed_robot("g1")
    with serve_plant(MujocoPlant(robot)) as plant_server:
        command = [sys.executable, "-m", "poise", "shield", "--port", "0", "--plant", plant_server.address]
        finished = subprocess.run(
            [*command, "--mode", "stand", "--seconds", "0.1", "--json"], capture_output=True, text=True, check=False
        )
        assert finished.returncode == 0, finished.stderr
        assert json.loads(finished.stdout)["seconds"] == pytest.approx(0.1, abs=0.01)
        assert plant_server.counts["command"] >= 45
        assert not plant_server.plant.fallen


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--mode", "fly"], "there is no --mode 'fly'"),
        (["--bind", "nowhere..example", "--port", "0"], "cannot listen at"),
        (["--port", "70000"], "expected a whole number from 0 to 65535"),
        (["--plant", "nowhere"], "is not an address"),
        (["--set", "silence=-1"], "silence"),
        (["--out", "shield.txt"], ".poise"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    installed_robot("g1")
    assert words in error_line(capsys, "shield", *arguments)
