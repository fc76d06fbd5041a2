"""``poise serve``: a simulated robot for a controller in another process."""

from __future__ import annotations

import argparse

from poise.cli.options import print_status, seconds_argument

#: As in `poise.plants.remote`, which is not imported just to print help.
ADDRESS = "tcp://127.0.0.1:5560"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--robot", default="g1", metavar="NAME|FILE", help="see 'poise robots', or a URDF (default g1)")
    parser.add_argument(
        "--actuators", default="torque", choices=("torque", "servos"), help="motors or position servos (default torque)"
    )
    parser.add_argument("--address", default=ADDRESS, help=f"where to listen; port 0 for any (default {ADDRESS})")
    parser.add_argument(
        "--bind", metavar="HOST", help="listen for other machines too; whoever reaches it moves the robot"
    )
    parser.add_argument("--realtime", action="store_true", help="move by the clock, not step by step")
    parser.add_argument("--seconds", type=seconds_argument, metavar="S", help="to serve (default: until Ctrl-C)")
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
            f"{plant.robot.name} ({options.actuators}) is served at {server.address} {mode}; Ctrl-C ends it", flush=True
        )
        try:
            server.serve(options.seconds)
        finally:
            counts = ", ".join(f"{name} {count}" for name, count in sorted(server.counts.items()))
            print_status(f"poise: served until {plant.time:.2f} s of motion: {counts or 'nobody came'}")
    return 0
