"""Helpers for the tests of plant servers: servers in threads and processes, raw clients, simple controllers."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import zmq

from poise.control import Command, Controller
from poise.plants import Plant, PlantServer
from poise.plants.remote.protocol import PROTOCOL, decode, encode
from poise.robots import Robot, State
from waiting import enable_ctrl_c

#: Address with any free port.
FREE_ADDRESS = "tcp://127.0.0.1:0"
#: Timeout for expected answers (s), longer than any machine is busy.
ANSWER_TIMEOUT = 60.0


@contextmanager
def serve_plant(plant: Plant, address: str = FREE_ADDRESS, **settings: Any) -> Iterator[Any]:
    """Run a plant server in a thread."""
    with PlantServer(plant, address, **settings) as server:
        thread = threading.Thread(target=server.serve)
        thread.start()
        try:
            yield server
        finally:
            server.stop()
            thread.join()


@contextmanager
def serve_process(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run ``poise serve`` in a process, and yield it with its address."""
    command = [sys.executable, "-m", "poise", "serve", "--address", FREE_ADDRESS, *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, preexec_fn=enable_ctrl_c) as server:
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            yield server, line.split(" is served at ")[1].split()[0]
        finally:
            server.kill()


class RawClient:
    """Socket that sends arbitrary messages to a server."""

    def __init__(self, address: str) -> None:
        self.socket: Any = zmq.Context.instance().socket(zmq.DEALER)
        self.socket.setsockopt(zmq.LINGER, 0)
        self.socket.connect(address)

    def __enter__(self) -> RawClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close(linger=0)

    def send(self, message: dict[str, Any] | bytes) -> None:
        self.socket.send(message if isinstance(message, bytes) else encode(message))

    def request(self, message: dict[str, Any] | bytes) -> dict[str, Any]:
        """Send a message and return the answer."""
        self.send(message)
        assert self.socket.poll(1000 * ANSWER_TIMEOUT), "no answer"
        return decode(self.socket.recv_multipart())

    def is_silent(self) -> bool:
        """Return whether no message has arrived."""
        return not self.socket.poll(0)


def hello(robot: Robot, token: bytes = bytes(16), **changes: Any) -> dict[str, Any]:
    joints = [joint.name for joint in robot.joints]
    return {"kind": "hello", "protocol": PROTOCOL, "robot": robot.name, "joints": joints, "token": token, **changes}


class SwingController(Controller):
    """Controller that swings the joints by velocities as a function of time alone."""

    def __init__(self, robot: Robot, period: float = 0.005, speed: float = 0.2) -> None:
        self.period, self.speed, self.joints = period, speed, len(robot.joints)

    def step(self, state: State) -> Command:
        joints = self.speed * np.cos(3.0 * state.time + np.arange(self.joints))
        return Command(np.concatenate([np.zeros(6), joints]), None, None, self.period)


def forward_command(robot: Robot, period: float = 0.005) -> Command:
    """Return a command that moves the base forward at 1 m/s."""
    return Command(np.concatenate([[1.0], np.zeros(robot.model.nv - 1)]), None, None, period)
