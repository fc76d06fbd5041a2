"""Draws the pictures of this folder anew: library robots standing, on one foot, the reach of [Saab2012], its torques.

Run it from anywhere: ``python docs/pictures/draw.py``. It takes a minute and needs EGL or OSMesa.
"""

from pathlib import Path

import matplotlib
import numpy as np

import poise
from poise.behaviors import Reach, one_foot_stance
from poise.report import save_picture
from poise.runs import Request, run

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


def torque_peaks(name: str) -> None:
    """Torques of the supporting leg and their largest rate: the paper's profile, and minimum jerk with ramps."""
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
        recording, _ = run(Request("reach", robot=name, mode="torque", plant="mujoco", profile=profile))
        torque, time = recording["command/torque"], recording.time
        rate = np.abs(np.diff(torque, axis=0)).max(axis=1) / recording.period
        effort = float(np.sqrt(np.mean(torque**2)))
        above, below = axes[:, column]
        for i in leg:
            above.plot(time, torque[:, i], linewidth=1.0, label=robot.joints[i].name.removeprefix("right_"))
        below.semilogy(time[1:], np.maximum(rate, 1.0), linewidth=0.8, color="black")
        above.set_title(f"{title}\nrms {effort:.2f} N m, peak rate {rate.max():.0f} N m/s", fontsize=9)
        below.set_xlabel("time (s)")
        for panel in (above, below):
            for begin in (2.0, 6.0):
                panel.axvspan(begin, begin + 2.0, color="0.93", zorder=0)
            panel.set_xlim(0.0, 10.0)
    axes[0, 0].set_ylabel("torque of the right leg (N m)")
    axes[1, 0].set_ylabel("largest torque rate (N m/s)")
    axes[0, 0].set_ylim(-85.0, 60.0)
    axes[0, 1].legend(fontsize=7, ncols=3, loc="lower center")
    figure.savefig(FOLDER / "torque_peaks.png", dpi=100)


if __name__ == "__main__":
    torque_peaks("g1")
    standing = [robot.stance("standing") for robot in ROBOTS.values()]
    save_picture(FOLDER / "standing.png", standing, width=1000, height=360, labels=list(ROBOTS))
    for robot in ROBOTS.values():
        save_picture(FOLDER / f"standing_{robot.name}.png", robot.stance("standing"), width=560, height=480)
        save_picture(FOLDER / f"one_foot_{robot.name}.png", one_foot_stance(robot), width=560, height=480)
    for name in ("g1", "talos"):
        reach(ROBOTS[name])
