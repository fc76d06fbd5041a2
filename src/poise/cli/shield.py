"""Command ``poise shield``: keep a robot balanced while other programs wish where its arms, gaze and feet go."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poise.cli.options import (
    check_writable,
    print_status,
    push_argument,
    report_interruption,
    seconds_argument,
    setting_argument,
)

if TYPE_CHECKING:
    from poise.control import ControlStep
    from poise.plants import Plant
    from poise.recording import Recorder, Recording
    from poise.shield import ShieldServer

FAILED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``poise shield`` to a parser."""
    from poise.parameters import parameters
    from poise.shield import MODES, SHIELD_PORT, ShieldSettings

    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "--robot", default="g1", metavar="NAME|FILE", help="robot, see 'poise robots', or a URDF file (default g1)"
    )
    parser.add_argument(
        "--mode", default="walk", choices=MODES, help="stand, or walk while a velocity is wished (default walk)"
    )
    parser.add_argument(
        "--port",
        type=int,
        default=SHIELD_PORT,
        metavar="P",
        help=f"port for ZeroMQ and msgpack, with web sockets and JSON at the next one; 0: any (default {SHIELD_PORT})",
    )
    parser.add_argument(
        "--bind",
        default="127.0.0.1",
        metavar="HOST",
        help="network interface to listen on, for clients on other machines; there is no authentication",
    )
    parser.add_argument(
        "--plant",
        metavar="ADDRESS",
        help="robot served at this address, like tcp://127.0.0.1:5560, e.g. by its driver (default: simulate it)",
    )
    parser.add_argument(
        "--push", type=push_argument, action="append", default=[], metavar="FX,FY,FZ,DURATION@TIME", dest="pushes",
        help="push at the base of the simulated robot, in N and s; repeatable",
    )  # fmt: skip
    parser.add_argument(
        "--seconds", type=seconds_argument, metavar="S", help="stop after this time in s (default: at Ctrl-C)"
    )
    parser.add_argument(
        "--set",
        type=setting_argument,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="settings",
        help="change a setting listed below; repeatable",
    )
    parser.add_argument("--view", action="store_true", help="show the robot in the browser")
    parser.add_argument("--out", type=Path, metavar="FILE.poise", help="record to this file")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a summary")
    lines = (f"  {name:<22} {each.help}" for name, each in parameters(ShieldSettings).items())
    parser.epilog = "\n".join(["settings (--set NAME=VALUE):", *lines])
    parser.set_defaults(action=_shield)


def _shield(options: argparse.Namespace) -> int:
    check_writable(options.out)
    from poise.parameters import settings_from
    from poise.plants import MujocoPlant, Push, RemotePlant
    from poise.recording import Recorder, RecordingInterrupted, record_into
    from poise.robots import load_robot
    from poise.shield import BalanceShield, ShieldServer, ShieldSettings

    settings = settings_from(ShieldSettings, dict(options.settings))
    robot = load_robot(options.robot)
    with ExitStack() as stack:
        plant: Plant
        if options.plant:
            plant = RemotePlant(options.plant, robot)
        else:
            plant = MujocoPlant(robot, pushes=[Push.parse(text) for text in options.pushes])
        stack.enter_context(plant)
        shield = BalanceShield(robot, options.mode, settings, plant.start)
        loopback = options.bind == "127.0.0.1"
        server = stack.enter_context(
            ShieldServer(shield, plant, host=options.bind, port=options.port, allow_remote=not loopback)
        )
        print_status(
            f"{robot.name} is shielded at {server.address} (msgpack) and {server.web_address} (JSON), "
            f"mode {options.mode}; press Ctrl-C to stop"
        )
        facts = {"behavior": "shield", "mode": options.mode, "settings": dict(options.settings)}
        recorder = Recorder(robot, options.out, facts)
        steps = _until_end(server, recorder, options.seconds, options.view)
        try:
            recording = record_into(steps, recorder, None)
        except RecordingInterrupted as interrupt:
            _print_summary(server, interrupt.recording, options)
            report_interruption(interrupt, options.out)
            raise
        return _print_summary(server, recording, options)


def _until_end(server: ShieldServer, recorder: Recorder, seconds: float | None, show: bool) -> Iterator[ControlStep]:
    """Yield the control steps until the time is over, or half a second after a fall."""
    from poise.runs import SECONDS_AFTER_FALL
    from poise.viewer import view

    with ExitStack() as stack:
        shown = None
        if show:
            plant, controller = server.plant, server.controller
            shown = stack.enter_context(view(plant.state(), controller=controller, ground=plant.environment, speed=0.0))
        end = float("inf")
        for step in server.steps(float("inf") if seconds is None else seconds):
            recorder.note_fall(server.plant, step.state.time)
            if shown is not None:
                shown(step)
            yield step
            if server.plant.fallen:
                end = min(end, step.state.time + SECONDS_AFTER_FALL)
            if step.state.time >= end:
                return


def _print_summary(server: ShieldServer, recording: Recording, options: argparse.Namespace) -> int:
    """Print what happened; return the exit status."""
    plant = server.plant
    result: dict[str, Any] = {
        "behavior": "shield",
        "robot": server.shield.robot.name,
        "mode": options.mode,
        "seconds": recording.duration,
        "fell": plant.fallen,
        "reason": plant.fall or None,
        "wishes": server.wishes,
        "late_steps": server.counts["late step"],
        "control_ms": recording.milliseconds("control") if recording.samples else None,
        "fallbacks": recording.fallbacks() if recording.samples else {},
        "nonfinite_commands": recording.nonfinite_commands() if recording.samples else 0,
    }
    if options.json:
        from poise.files import json_ready

        print(json.dumps(json_ready(result)))
    else:
        verdict = result["reason"] or f"{result['robot']} kept its balance for {result['seconds']:.2f} s"
        print(f"{verdict}\n  wishes taken  {result['wishes']}")
        if options.out is not None:
            print(f"written to {options.out}")
    return FAILED if result["fell"] else 0
