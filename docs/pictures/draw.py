"""Draw the pictures of this folder: robots standing and on one foot, the reach of [Saab2012] and its torques, walks in
several styles, the stairs and door of [Sugihara2008], a robot on position servos, and a human gait.

    python docs/pictures/draw.py [NAME ...]

Names: gait, servos, torques, standing, reach, door, styles. All take some minutes and need EGL or OSMesa.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import matplotlib
import numpy as np
from PIL import Image, ImageDraw, ImageFont

import poise
from poise import runs
from poise.behaviors import Reach, ZmpBalance, one_foot_stance, regulation_settings
from poise.behaviors import standing_reference as standing_on
from poise.plans import SquatReference
from poise.plants import CarriedBox, EnvironmentGeometry, PositionServos, Push
from poise.rendering import Camera, OffscreenRenderer, Overlays, picture, recorded_environment, save_picture
from poise.robots import leg_length

FOLDER = Path(__file__).parent
ROBOTS = {name: poise.load_robot(name) for name in ("g1", "talos", "romeo", "icub", "nao", "mighty", "hoap3")}
#: Neutral, and the styles of [Dalibard2012] section VI.
STYLES = ("neutral", "relaxed", "cautious", "proud", "sad")
#: A state, the camera that looks at it, and the environment of the robot.
Frame = tuple[poise.State, Camera, EnvironmentGeometry]


def reach(robot: poise.Robot) -> None:
    """Draw the start and the end of each phase, with the targets."""
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


def torque_peaks(name: str) -> None:
    """Plot the torques of the support leg (N m) and their largest rate (N m/s): exponential decay, and minimum jerk."""
    matplotlib.use("Agg")
    from matplotlib import pyplot

    robot = ROBOTS[name]
    leg = [i for i, joint in enumerate(robot.joints) if joint.index in robot.model.supports[robot.foot("right").joint]]
    figure, axes = pyplot.subplots(2, 2, figsize=(10, 4.6), sharex=True, sharey="row", layout="constrained")
    titles = {
        "exponential": "exponential decay, tasks switch at once",
        "minimum-jerk": "minimum jerk, ramped insertion",
    }
    for column, (profile, title) in enumerate(titles.items()):
        recording, _ = runs.Reach(robot=name, mode="torque", plant="mujoco", profile=profile).run()
        torque, time = recording["command/torque"], recording.time
        rate = np.abs(np.diff(torque, axis=0)).max(axis=1) / recording.period
        effort = float(np.sqrt(np.mean(torque**2)))
        torque_axes, rate_axes = axes[:, column]
        for i in leg:
            torque_axes.plot(time, torque[:, i], linewidth=1.0, label=robot.joints[i].name.removeprefix("right_"))
        rate_axes.semilogy(time[1:], np.maximum(rate, 1.0), linewidth=0.8, color="black")
        torque_axes.set_title(f"{title}\nrms {effort:.2f} N m, peak rate {rate.max():.0f} N m/s", fontsize=9)
        rate_axes.set_xlabel("time (s)")
        for panel in (torque_axes, rate_axes):
            for begin in (2.0, 6.0):
                panel.axvspan(begin, begin + 2.0, color="0.93", zorder=0)
            panel.set_xlim(0.0, 10.0)
    axes[0, 0].set_ylabel("torque of the right leg (N m)")
    axes[1, 0].set_ylabel("largest torque rate (N m/s)")
    axes[0, 0].set_ylim(-85.0, 60.0)
    axes[0, 1].legend(fontsize=7, ncols=3, loc="lower center")
    figure.savefig(FOLDER / "torque_peaks.png", dpi=100)


def stride(name: str, style: str, frames: int) -> list[poise.State]:
    """Return states of one stride in the middle of a walk, equally spaced in time, moved so that the center of mass is
    above the origin.
    """
    robot = ROBOTS[name]
    recording, result = runs.Walk(robot=name, style=style, steps=8).run()
    if result["reason"]:
        print(f"{name}, {style}: {result['reason']}", file=sys.stderr)
    support = recording["phase"] == "right support"
    lifts = np.flatnonzero(support[1:] & ~support[:-1]) + 1
    begin, end = lifts[len(lifts) // 2 - 1 : len(lifts) // 2 + 1]
    states = [recording.state(int(i), robot) for i in np.linspace(begin, end, frames, endpoint=False).round()]
    offsets = [np.array([*state.center_of_mass[:2], *np.zeros(robot.model.nq - 2)]) for state in states]
    return [state.replace(q=state.q - offset) for state, offset in zip(states, offsets, strict=True)]


def styles(name: str, frames: int = 6, panel: tuple[int, int] = (184, 340), margin: int = 96) -> None:
    """Draw a strip per style, all at one scale, with the name of the style."""
    width, height = panel
    states = [state for style in STYLES for state in stride(name, style, frames)]
    side = Camera(direction=(0.35, -1.0, 0.15))
    image = picture(states, width=len(states) * width, height=height, camera=side)
    image = image[height // 20 : -height // 25]  # crop empty space above and below
    image[:, ::width] = image[:, 1::width] = 255  # separate the frames
    high = len(image) + 6  # and the strips
    page = Image.new("RGB", (margin + frames * width, len(STYLES) * high), "white")
    pen, font = ImageDraw.Draw(page), ImageFont.load_default(20.0)
    for i, style in enumerate(STYLES):
        strip = image[:, i * frames * width : (i + 1) * frames * width]
        page.paste(Image.fromarray(strip), (margin, i * high))
        pen.text((8, (i + 0.5) * high), style, fill=(40, 44, 52), font=font, anchor="lm")
    # 128 colors are enough for gray robots on a light ground, and make the file a third as large.
    page.quantize(128, dither=Image.Dither.NONE).save(FOLDER / f"styles_{name}.png", optimize=True)


def standing() -> None:
    """Draw all robots in one picture, and each alone on both feet and on one foot."""
    states = [robot.stance("standing") for robot in ROBOTS.values()]
    save_picture(FOLDER / "standing.png", states, width=1160, height=360, labels=list(ROBOTS))
    for robot in ROBOTS.values():
        save_picture(FOLDER / f"standing_{robot.name}.png", robot.stance("standing"), width=560, height=480)
        save_picture(FOLDER / f"one_foot_{robot.name}.png", one_foot_stance(robot), width=560, height=480)


def film_strip(renderer: OffscreenRenderer, frames: Sequence[Frame], file: str) -> None:
    """Save frames side by side: each a state, its camera, and the environment of the robot."""
    images = [renderer.draw([state], camera, Overlays(), environment) for state, camera, environment in frames]
    strip = Image.fromarray(np.hstack(images))
    strip.quantize(256, Image.Quantize.MEDIANCUT, kmeans=1).save(FOLDER / file, optimize=True)


def door(name: str, size: tuple[int, int] = (250, 330)) -> None:
    """Draw seven moments of the guided walk down the stairs to the door."""
    robot = ROBOTS[name]
    recording, _ = runs.Navigate(robot=name, scenario=True).run()
    environment, length = recorded_environment(recording, robot), leg_length(robot)
    frames = []
    for share in (0.02, 0.2, 0.38, 0.5, 0.68, 0.85, 1.0):
        state = recording.state(round(share * (recording.samples - 1)), robot)
        x, y, z = state.center_of_mass + np.array([0.1, 0.0, -0.1]) * length
        frames.append(
            (state, Camera(direction=(-0.36, -0.90, 0.3), target=(x, y, z), distance=5.6 * length), environment)
        )
    with OffscreenRenderer(robot, *size) as renderer:
        film_strip(renderer, frames, f"door_{name}.png")


def servos(name: str = "hoap3", size: tuple[int, int] = (200, 290)) -> None:
    """Draw a robot on position servos: standing, pushed from behind, squatting, and squatting with a box."""
    robot, frames = ROBOTS[name], []
    stiff = {"stiffness": 1.0, "momentum_recovery_gain": 0.0, "proportional": 0.05, "derivative": 0.0}
    scenes = ((None, (0.0, 2.9, 3.35), {}), (2.0, (4.0, 5.0), {}), (2.0, (0.0, 5.0), stiff))
    camera = Camera(direction=(0.8, -0.56, 0.22), target=(0.03, 0.0, 0.29), distance=1.62)
    for squat, times, numbers in scenes:
        start = robot.stance("carrying" if numbers else "standing")
        reference = None if squat is None else SquatReference(*standing_on(start), 0.05, 0.5, squat, 4.0)
        body = ZmpBalance(robot, reference, regulation_settings(robot, **numbers), start, carries=bool(numbers))
        plant = poise.MujocoPlant(
            start,
            actuators=PositionServos(stiffness_scale=body.settings.stiffness),
            pushes=[Push((34, 0, 0), duration=0.1, time=3.0)] if squat is None else [],
            carried_box=CarriedBox.of_mass_fraction(robot, 0.1) if numbers else None,
        )
        shown = {round(1e3 * time) for time in times}
        controller = poise.PositionController(body, period=0.001)
        for k, _ in enumerate(poise.steps(controller, plant, max(times) + 0.001)):
            if k in shown:
                frames.append((plant.truth(), camera, plant.environment))
    with OffscreenRenderer(robot, *size) as renderer:
        film_strip(renderer, frames, f"servos_{name}.png")


def gait(size: tuple[int, int] = (160, 250), margin: int = 96) -> None:
    """Draw the sample walk, top to bottom: fitted to markers, reproduced from six, four and two key postures."""
    from poise import human
    from poise.human import gait, sample_trial

    reference = gait.ReferenceWalk.from_fit(human.fit(*sample_trial()))
    cycle = reference.cycle()
    shares = (0.02, 0.17, 0.33, 0.52, 0.7, 0.85)
    times = [cycle.initial_contact + share * cycle.duration for share in shares]
    rows = {"measured": [reference.sample(time)[0] for time in times]}
    for title, variant in (("six keys", gait.BEST), ("four keys", gait.PAPER), ("two phases", gait.TWO_PHASES)):
        reproduction = gait.reproduce(reference, cycle, variant)
        rows[title] = [reproduction.q[int(np.argmin(np.abs(reproduction.time - time)))] for time in times]
    side = Camera(direction=(0.3, -1.0, 0.12))
    strips = [
        picture(
            [poise.State(reference.robot, np.array([0.0, 0.0, *q[2:]])) for q in row],
            len(times) * size[0],
            size[1],
            side,
        )
        for row in rows.values()
    ]
    page = Image.new("RGB", (margin + strips[0].shape[1], sum(len(strip) + 6 for strip in strips)), "white")
    for i, (title, strip) in enumerate(zip(rows, strips, strict=True)):
        page.paste(Image.fromarray(strip), (margin, i * (len(strip) + 6)))
        ImageDraw.Draw(page).text(
            (6, i * (len(strip) + 6) + len(strip) // 2), title, "black", ImageFont.load_default(15)
        )
    page.quantize(256, Image.Quantize.MEDIANCUT, kmeans=1).save(FOLDER / "gait_human.png", optimize=True)


if __name__ == "__main__":
    drawn = {
        "gait": gait,
        "servos": servos,
        "torques": lambda: torque_peaks("g1"),
        "standing": standing,
        "reach": lambda: [reach(ROBOTS[name]) for name in ("g1", "talos")],
        "door": lambda: [door(name) for name in ("mighty", "g1")],
        "styles": lambda: [styles(name) for name in ("g1", "talos")],
    }
    for word in sys.argv[1:] or drawn:
        drawn[word]()
