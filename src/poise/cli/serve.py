"""Command ``poise serve``: simulate a robot for a controller in another process."""

from __future__ import annotations

import argparse

from poise.cli.options import print_status, seconds_argument
from poise.parsing import PLANT_ADDRESS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``poise serve`` to a parser."""
    parser.add_argument(
        "--robot",
        default="g1",
        metavar="NAME|FILE",
        help="robot to simulate, see 'poise robots', or a URDF file (default g1)",
    )
    parser.add_argument(
        "--actuators",
        default="torque",
        choices=("torque", "servos"),
        help="torque motors or position servos (default torque)",
    )
    parser.add_argument(
        "--address",
        default=PLANT_ADDRESS,
        help=f"address to listen on; port 0: any free port (default {PLANT_ADDRESS})",
    )
    parser.add_argument(
        "--bind",
        metavar="HOST",
        help="network interface to listen on, for clients on other machines; there is no authentication",
    )
    parser.add_argument(
        "--realtime", action="store_true", help="simulate in real time instead of in lock-step with the client"
    )
    parser.add_argument(
        "--seconds", type=seconds_argument, metavar="S", help="stop after this time in s (default: at Ctrl-C)"
    )
    parser.set_defaults(action=_serve)


def _serve(options: argparse.Namespace) -> int:
    from poise.plants import MujocoPlant, PlantServer, PositionServos, TorqueMotors, address_at_host, check_address
    from poise.robots import load_robot

    address = check_address(options.address, allow_remote=options.bind is not None)
    if options.bind is not None:
        address = address_at_host(address, options.bind)
    actuators = PositionServos() if options.actuators == "servos" else TorqueMotors()
    plant = MujocoPlant(load_robot(options.robot), actuators=actuators)
    with PlantServer(plant, address, realtime=options.realtime, allow_remote=options.bind is not None) as server:
        mode = "in real time" if options.realtime else "in lock-step"
        print(
            f"{plant.robot.name} ({options.actuators}) is served at {server.address} {mode}; press Ctrl-C to stop",
            flush=True,
        )
        try:
            server.serve(options.seconds)
        finally:
            counts = ", ".join(f"{name} {count}" for name, count in sorted(server.counts.items()))
            print_status(f"poise: stopped at simulation time {plant.time:.2f} s: {counts or 'no client connected'}")
    return 0
