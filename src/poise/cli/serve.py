"""``poise serve``: a simulated robot for a controller in another process."""

from __future__ import annotations

import argparse

from poise.cli.options import say, seconds

#: As in `poise.plants.remote`, which is not imported just to print help.
ADDRESS = "tcp://127.0.0.1:5560"


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--robot", default="g1", metavar="NAME|FILE", help="see 'poise robots', or a URDF (default g1)")
    parser.add_argument(
        "--actuators", default="torque", choices=("torque", "servos"), help="motors or position servos (default torque)"
    )
    parser.add_argument("--address", default=ADDRESS, help=f"where to listen; port 0 for any (default {ADDRESS})")
    parser.add_argument(
        "--bind", metavar="HOST", help="listen for other machines too; whoever reaches it moves the robot"
    )
    parser.add_argument("--realtime", action="store_true", help="move by the clock, not step by step")
    parser.add_argument("--seconds", type=seconds, metavar="S", help="to serve (default: until Ctrl-C)")
    parser.set_defaults(action=_serve)


def _serve(options: argparse.Namespace) -> int:
    from poise.plants import MujocoPlant, PlantServer, PositionServos, TorqueMotors, address_at_host, checked_address
    from poise.robots import load_robot

    address = checked_address(options.address, anywhere=options.bind is not None)
    if options.bind is not None:
        address = address_at_host(address, options.bind)
    actuators = PositionServos() if options.actuators == "servos" else TorqueMotors()
    plant = MujocoPlant(load_robot(options.robot), actuators=actuators)
    with PlantServer(plant, address, realtime=options.realtime, beyond_loopback=options.bind is not None) as server:
        how = "in real time" if options.realtime else "in lock-step"
        print(
            f"{plant.robot.name} ({options.actuators}) is served at {server.address} {how}; Ctrl-C ends it", flush=True
        )
        try:
            server.serve(options.seconds)
        finally:
            counts = ", ".join(f"{name} {count}" for name, count in sorted(server.counts.items()))
            say(f"poise: served until {plant.time:.2f} s of motion: {counts or 'nobody came'}")
    return 0
