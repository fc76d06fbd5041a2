"""Draws the pictures of this folder anew: the library robots standing, on one foot, and the reach of [Saab2012].

Run it from anywhere: ``python docs/pictures/draw.py``. It takes half a minute and needs EGL or OSMesa.
"""

from pathlib import Path

import poise
from poise.behaviors import Reach, one_foot_stance
from poise.report import save_picture

FOLDER = Path(__file__).parent
ROBOTS = {name: poise.load_robot(name) for name in ("g1", "talos", "romeo", "icub")}


def reach(robot: poise.Robot) -> None:
    """The start and the end of each phase, with the points marked."""
    behavior = Reach(robot)
    plant = poise.IdealPlant(behavior.start)
    states = [step.state for step in poise.steps(poise.KinematicController(behavior), plant, behavior.seconds)]
    ends = {phase.name: min(states, key=lambda s: abs(s.time - phase.end)) for phase in behavior.phases}
    save_picture(
        FOLDER / f"reach_{robot.name}.png",
        [behavior.start, *ends.values()],
        width=1020,
        height=290,
        labels=["start", *ends],
        marks=[{}, *({phase.name: phase.point} for phase in behavior.phases)],
    )


if __name__ == "__main__":
    standing = [robot.stance("standing") for robot in ROBOTS.values()]
    save_picture(FOLDER / "standing.png", standing, width=1000, height=360, labels=list(ROBOTS))
    for robot in ROBOTS.values():
        save_picture(FOLDER / f"standing_{robot.name}.png", robot.stance("standing"), width=560, height=480)
        save_picture(FOLDER / f"one_foot_{robot.name}.png", one_foot_stance(robot), width=560, height=480)
    for name in ("g1", "talos"):
        reach(ROBOTS[name])
