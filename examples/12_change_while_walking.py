"""12 Changing while walking: style, speed and heading on the fly, and a stop, while the walk goes on."""

import poise
from poise.behaviors import Walk
from poise.plans import STYLES

walk = Walk(poise.load_robot("g1"), style="neutral", steps=100)
plant = poise.MujocoPlant(walk.start)
controller = poise.TorqueController(walk)


def go_on(what: str, seconds: float) -> None:
    """Walks for a while and tells of it."""
    *_, last = poise.steps(controller, plant, seconds)
    x, y, _ = last.state.center_of_mass
    print(f"{what:<14} {walk.phase().steps:2d} steps, {plant.fall or walk.phase().name} at {x:.2f}, {y:.2f} m")


go_on("as it is", 3.0)
walk.style = STYLES["neutral"].mixed(STYLES["sad"], 0.7)
go_on(walk.style.name, 1.5)
walk.speed = (0.3, 0.0, 0.3)  # m/s ahead, m/s to the left, rad/s to the left
go_on("a bend", 2.0)
walk.stop()
go_on("stop", 2.0)
