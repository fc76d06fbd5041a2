"""05 The reach of [Saab2012]: on one foot, the right hand moves to five points and the left hand holds a cup."""

import tempfile
from pathlib import Path

import poise

robot = poise.load_robot("g1")
reach = poise.behaviors.Reach(robot, profile="minimum-jerk")
for phase, hierarchy in zip(reach.phases, reach.hierarchies, strict=True):
    print(f"{phase.begin:g} s, {phase.name}: " + " > ".join(level.name for level in hierarchy.levels))
recording = poise.record(poise.KinematicController(reach), poise.IdealPlant(reach.start), reach.seconds)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "reach.poise"
    recording.save(path)
    loaded = poise.load_recording(path, robot)
    print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB, {loaded.samples} samples of {len(loaded)} channels")
for level in loaded.residuals():
    for task in level.tasks:
        print(f"{level.name:<12} {task.name:<24} at most {task.max:8.2g}, in the end {task.final:8.2g} {task.unit}")
