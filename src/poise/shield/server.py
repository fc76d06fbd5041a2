"""`ShieldServer`: the control loop of a shield, in real time, with its gateway in another process."""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from multiprocessing.connection import Connection
from typing import Any

from poise.control import Controller, ControlStep, TorqueController
from poise.parsing import is_loopback
from poise.plants import Plant, PlantError, RemotePlant, control_step
from poise.robots import Frame, limbs
from poise.shield.answers import ShieldReport, SolutionRows, WishReporter
from poise.shield.balance_shield import BalanceShield
from poise.shield.gateway import GatewayOptions, ReportMessage, main
from poise.shield.wishes import Wish
from poise.solvers import Solution

#: Default port of ZeroMQ; the web socket has the next one.
SHIELD_PORT = 5570
#: Time between two reports to the gateway, and between two of them with the rows of the solver (s).
REPORT_INTERVAL, ROWS_INTERVAL = 0.04, 0.1
#: Longest wait for the gateway to listen, on a machine that is busy, and for its end (s).
START_TIMEOUT, STOP_TIMEOUT = 60.0, 2.0
#: Lag behind the clock (s) that is caught up; if it is larger, the lost time is skipped.
MAX_LAG = 0.1


class ShieldServer:
    """Runs a shield on a plant and serves its clients: ZeroMQ with msgpack, and web sockets with JSON.

    Clients are received, checked and answered in a process of their own (`poise.shield.gateway`), so that nothing they
    send delays the control loop. Programs that create a server need ``if __name__ == "__main__":``.

    Args:
        shield: the behavior.
        plant: a simulated robot, or a `RemotePlant` for the driver of a real one.
        controller: None: a `TorqueController` that estimates loads in the hands.
        host: where to listen.
        port, web_port: for ZeroMQ and for web sockets; 0: any free port; `web_port` None: the one after `port`.
        allow_remote: must be True for a host that other machines can reach. Connections are not encrypted, and every
            client that reaches the ports can move the arms and steer the robot.

    Attributes:
        address, web_address: where it listens.
        wishes: number of wishes that were taken.
        counts: number of control steps that were late.

    >>> with ShieldServer(BalanceShield(robot), poise.MujocoPlant(robot)) as server:
    ...     for step in server.steps(seconds=60.0):
    ...         print(step.state.time, server.report)
    """

    def __init__(
        self,
        shield: BalanceShield,
        plant: Plant,
        controller: Controller | None = None,
        *,
        host: str = "127.0.0.1",
        port: int = SHIELD_PORT,
        web_port: int | None = None,
        allow_remote: bool = False,
    ) -> None:
        if not allow_remote and not is_loopback(host):
            raise PlantError(
                f"'{host}' can be reached from other machines, which could then move the robot; "
                f"to allow this, use allow_remote=True or 'poise shield --bind {host}'",
                "host",
            )
        for name, value in (("port", port), ("web_port", web_port or 0)):
            if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 65536:
                raise PlantError(f"{name} is {value!r}; expected a whole number from 0 to 65535", name)
        self.shield, self.plant = shield, Plant.adapt(plant)
        self.controller = TorqueController(shield, estimate_loads=True) if controller is None else controller
        self.wishes, self.counts = 0, Counter[str]()
        self.report = ShieldReport(0.0)
        self._reporter = WishReporter(shield)
        self._next_report = self._next_rows = 0.0
        arms = {joint: limb.name for limb in limbs(shield.robot) for joint in limb.joints}
        web = (port + 1 if 0 < port < 65535 else 0) if web_port is None else web_port
        options = GatewayOptions(
            host=host,
            port=port,
            web_port=web,
            joints={name: arms[name] for name in shield.joints.names},
            sides=tuple(shield.hands),
            silence=shield.settings.silence,
            any_origin=not is_loopback(host),
        )
        self._link = GatewayLink(options, self._take)
        self.address, self.web_address = self._link.addresses

    def steps(self, seconds: float = float("inf")) -> Iterator[ControlStep]:
        """Run the control loop in real time for a number of seconds; yield each control step."""
        controller, plant = self.controller, self.plant
        if plant.start is not None:
            controller.prepare(plant.start)
        waits = isinstance(plant, RemotePlant) and plant.realtime  # its `advance` follows the clock of the robot
        begin, due = plant.time, time.monotonic()
        while plant.time - begin < seconds - 0.5 * controller.period:
            step = control_step(controller, plant)
            self._publish(step)
            yield step
            if not waits:
                due = self._wait(due + controller.period)

    def close(self) -> None:
        """End the gateway; its clients get no more answers."""
        self._link.close()

    def __enter__(self) -> ShieldServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _take(self, wish: Wish) -> None:
        self.wishes += 1
        self.shield.wish(wish)

    def _publish(self, step: ControlStep) -> None:
        """Send a report to the gateway if it is time for one."""
        now = time.monotonic()
        if now < self._next_report:
            return
        self._next_report = now + REPORT_INTERVAL
        self.report = report = self._reporter.report(step, self._loads())
        with_rows = bool(report.held) and now >= self._next_rows
        if with_rows:
            self._next_rows = now + ROWS_INTERVAL
        self._link.publish(report, step.command.solution if with_rows else None)

    def _loads(self) -> Mapping[Frame, float]:
        """Return the loads that the controller knows or estimates (kg)."""
        return self.controller.loads if isinstance(self.controller, TorqueController) else {}

    def _wait(self, due: float) -> float:
        """Sleep until the next step is due; return when it was (s, monotonic clock)."""
        now = time.monotonic()
        if now < due:
            time.sleep(due - now)
        elif now - due > MAX_LAG:
            self.counts["late step"] += 1
            return now
        return due


class GatewayLink:
    """Starts the gateway process, and exchanges wishes and reports with it, in threads that wait for their pipe.

    Args:
        options: of the gateway.
        on_wish: called with each wish.

    Attributes:
        addresses: where it listens.
    """

    def __init__(self, options: GatewayOptions, on_wish: Any) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, other = context.Pipe()
        self._process = context.Process(target=main, args=(other, options), daemon=True, name="poise shield gateway")
        self._process.start()
        other.close()
        try:
            self.addresses: tuple[str, str] = self._first_message(self._connection)
        except BaseException:
            self.close()
            raise
        self._on_wish = on_wish
        self._pending: tuple[ShieldReport, Solution | None] | None = None
        self._has_report = threading.Event()
        self._closed = False
        for work in (self._write, self._read):
            threading.Thread(target=work, daemon=True).start()

    def publish(self, report: ShieldReport, solution: Solution | None) -> None:
        """Send a report as soon as the last one is sent; a newer one replaces it. Never waits."""
        self._pending = (report, solution)
        self._has_report.set()

    def close(self) -> None:
        """End the process."""
        self._closed = True
        process = self._process
        if process.pid is None or not process.is_alive():
            return
        if hasattr(self, "_has_report"):
            self._has_report.set()
        process.terminate()
        process.join(STOP_TIMEOUT)
        if process.is_alive():
            process.kill()
            process.join(STOP_TIMEOUT)

    def _first_message(self, connection: Connection) -> tuple[str, str]:
        try:
            if not connection.poll(START_TIMEOUT):
                raise PlantError(f"the gateway did not start within {START_TIMEOUT:g} s; try again")
            kind, *rest = connection.recv()
        except (EOFError, OSError):
            raise PlantError("the gateway ended at once; see the messages above") from None
        if kind != "ready":
            raise PlantError(str(rest[0]))
        return rest[0], rest[1]

    def _write(self) -> None:
        while not self._closed:
            self._has_report.wait()
            self._has_report.clear()
            pending, self._pending = self._pending, None
            if pending is None:
                continue
            report, solution = pending
            rows = None if solution is None else SolutionRows.of(solution)
            try:
                self._connection.send(ReportMessage(report.message(), report.held, rows))
            except (OSError, ValueError):
                return

    def _read(self) -> None:
        try:
            while True:
                self._on_wish(self._connection.recv()[1])
        except (EOFError, OSError):
            return
