"""11 Walking with style: a robot walks in a neutral and in a proud style in simulation, and both walks are compared."""

import poise
from poise import analysis
from poise.behaviors import Walk

robot = poise.load_robot("g1")
measures_by_style = {}
for style in ("neutral", "proud"):
    walk = Walk(robot, style=style, steps=6)
    plant = poise.MujocoPlant(walk.start)
    # No ramp is needed: only the feet differ between phases, and the plan is smooth.
    controller = poise.TorqueController(walk)
    recording = poise.record(controller, plant, walk.seconds)
    measures_by_style[style] = analysis.style_measures(analysis.analyze_walk(recording, robot))
    print(f"{style}: {walk.phase().steps} steps, {plant.fall or 'stands'} at the end")
print(f"{'':<20} neutral   proud")
for name in ("forward", "step_length", "cadence", "chest_pitch", "arm_swing", "angular_momentum_z"):
    neutral, proud = (getattr(measures, name) for measures in measures_by_style.values())
    print(f"{name:<20} {neutral:7.3g} {proud:7.3g} {analysis.STYLE_MEASURES[name].unit}")
