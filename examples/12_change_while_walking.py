"""12 Changing while walking: change style, speed and heading during a walk, then stop."""

import poise
from poise.behaviors import Walk
from poise.plans import STYLES

walk = Walk(poise.load_robot("g1"), style="neutral", steps=100)
plant = poise.MujocoPlant(walk.start)
controller = poise.TorqueController(walk)


def walk_for(label: str, seconds: float) -> None:
    """Walk for some seconds and print the progress."""
    *_, last = poise.steps(controller, plant, seconds)
    x, y, _ = last.state.center_of_mass
    print(f"{label:<14} {walk.phase().steps:2d} steps, {plant.fall or walk.phase().name} at {x:.2f}, {y:.2f} m")


walk_for("neutral", 3.0)
walk.style = STYLES["neutral"].blend(STYLES["sad"], 0.7)
walk_for(walk.style.name, 1.5)
walk.speed = (0.3, 0.0, 0.3)  # m/s forward, m/s left, rad/s to the left
walk_for("turn left", 2.0)
walk.stop()
walk_for("stop", 2.0)
