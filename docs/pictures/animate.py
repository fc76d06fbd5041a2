"""Render docs/pictures/poise.webp, the animation of the README: G1 walks proud, is pushed, and reaches.

    python docs/pictures/animate.py

Two motions, simulated with torques in MuJoCo and rendered off screen (EGL or OSMesa): a walk in the style "proud" with
a push from behind, then a reach with the left hand. Takes about a minute.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from scipy.ndimage import gaussian_filter1d

import poise
from poise import constraints, runs, tasks
from poise.rendering import Camera, OffscreenRenderer, Overlays

FILE = Path(__file__).with_name("poise.webp")
#: Frames per second, and the size of a frame (pixels).
RATE, SIZE = 15, (560, 420)
#: The push of the walk: force (N), duration and time (s).
PUSH, PUSH_DURATION, PUSH_TIME = 60.0, 0.1, 4.0
#: Target of the left hand (m).
TARGET = (0.45, 0.20, 1.10)
#: Largest size of the file (bytes).
MAX_BYTES = 3_000_000


def walk(robot: poise.Robot) -> list[tuple[poise.State, str]]:
    """Simulate the walk; return its states, each with a caption."""
    motion = runs.Walk(robot=robot.name, style="proud", steps=9, push=f"{PUSH:g},0,0,{PUSH_DURATION:g}@{PUSH_TIME:g}")
    recording, result = motion.run()
    if result["reason"]:
        sys.exit(f"the walk failed: {result['reason']}")
    frames = []
    for time in np.arange(0.6, recording.time[-1], 1.0 / RATE):
        pushed = PUSH_TIME <= time < PUSH_TIME + 0.6
        caption = f"pushed with {PUSH:g} N" if pushed else "poise run walk --style proud"
        frames.append((recording.state(int(np.searchsorted(recording.time, time)), robot), caption))
    return frames


def reach(robot: poise.Robot) -> list[tuple[poise.State, str]]:
    """Simulate the first program of the README with torques in MuJoCo; return its states, each with a caption."""
    start = robot.stance("standing")
    smooth = tasks.MinimumJerk(duration=2.0)
    hierarchy = poise.Hierarchy(
        always=[constraints.JointRange(robot)],
        levels=[
            poise.Level("feet", [tasks.HoldPose(foot, at=start) for foot in robot.feet]),
            poise.Level("balance", [tasks.CenterOfMass(target=start.support_center, axes="xy")]),
            poise.Level("reach", [tasks.Position(robot.hand("left"), target=TARGET, dynamics=smooth)]),
            poise.Level("posture", [tasks.Posture(target=start)]),
        ],
    )
    plant = poise.MujocoPlant(start)
    recording = poise.record(poise.TorqueController(hierarchy), plant, seconds=3.0)
    if plant.fall:
        sys.exit(f"the reach failed: {plant.fall}")
    times = np.arange(0.0, recording.time[-1], 1.0 / RATE)
    states = [recording.state(int(np.searchsorted(recording.time, time)), robot) for time in times]
    return [(state, "feet > balance > reach > posture") for state in states]


def render(robot: poise.Robot, frames: list[tuple[poise.State, str]], overlays: Overlays) -> list[Image.Image]:
    """Render a motion; the camera follows the path of the robot, smoothed over half a second."""
    path = gaussian_filter1d(np.array([state.q[:2] for state, _ in frames]), 0.5 * RATE, axis=0, mode="nearest")
    font = ImageFont.load_default(18.0)
    images = []
    with OffscreenRenderer(robot, *SIZE) as renderer:
        for (state, caption), (x, y) in zip(frames, path, strict=True):
            camera = Camera(direction=(0.6, -1.0, 0.25), target=(x, y, 0.6), distance=3.0)
            image = Image.fromarray(np.ascontiguousarray(renderer.draw([state], camera, overlays)))
            ImageDraw.Draw(image).text((16, SIZE[1] - 36), caption, fill=(40, 44, 52), font=font)
            images.append(image)
    return images


def main() -> None:
    robot = poise.load_robot("g1")
    target = Overlays(marks={"target": np.array(TARGET)})
    images = [*render(robot, walk(robot), Overlays()), *render(robot, reach(robot), target)]
    images[0].save(
        FILE, save_all=True, append_images=images[1:], duration=round(1000 / RATE), loop=0, quality=70, method=6
    )
    print(f"{FILE.name}: {len(images)} frames, {FILE.stat().st_size / 1e6:.2f} MB")
    if FILE.stat().st_size > MAX_BYTES:
        sys.exit(f"{FILE.name} is larger than {MAX_BYTES / 1e6:g} MB; lower RATE, SIZE or quality")


if __name__ == "__main__":
    main()
