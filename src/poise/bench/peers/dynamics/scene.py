"""A motion as the peers receive it: a URDF without shapes and one JSON file, which need no Poise to be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pinocchio

from poise.bench.peers.dynamics import problem
from poise.bench.peers.dynamics.motion import Followed, Motion
from poise.bench.peers.robot import bare_urdf
from poise.robots import Frame, Robot

#: Names of the links that are added to the URDF: soles at their middle with z up, and the hand.
SOLES, HAND = ("bench_left_sole", "bench_right_sole"), "bench_hand"


def write_scene(motion: Motion, folder: Path) -> Path:
    """Writes ``NAME.urdf`` and ``NAME.json`` of a motion into a folder; returns the path of the second.

    The JSON has the path of the URDF, names of frames, limits, states and targets: lines of numbers, one per step.
    """
    robot, start = motion.robot, motion.start
    urdf, file = folder / f"{robot.name}.urdf", folder / f"{robot.name}.json"
    hand, chest = robot.hand(problem.SIDE), robot.chest
    assert chest is not None
    middles = [pinocchio.SE3(np.eye(3), foot.sole.center) for foot in robot.feet]
    added = [(name, foot, middle) for name, foot, middle in zip(SOLES, robot.feet, middles, strict=True)]
    urdf.write_text(_urdf(robot, [*added, (HAND, hand, pinocchio.SE3.Identity())]), encoding="utf-8")
    limits = robot.limits
    scene: dict[str, Any] = {
        "urdf": str(urdf),
        "joints": [joint.name for joint in robot.joints],
        "armature": [robot.model.armature[joint.v] for joint in robot.joints],
        "limits": {
            "lower": limits.lower,
            "upper": limits.upper,
            "velocity": limits.velocity,
            "acceleration": limits.acceleration,
            "torque": limits.torque,
        },
        "soles": [
            {"frame": name, "corners": foot.corners - foot.sole.center}
            for name, foot in zip(SOLES, robot.feet, strict=True)
        ],
        "hand": {"frame": HAND, "rotation": [state.pose(hand).rotation for state in motion.states]},
        "chest": {"frame": chest.name, "rotation": start.pose(chest).rotation},
        "posture": start.q[7:],
        "q": motion.q,
        "v": motion.v,
        "sway": _lines(motion.sway),
        "reach": _lines(motion.reach),
    }
    file.write_text(json.dumps(scene, default=np.ndarray.tolist), encoding="utf-8")
    return file


def _lines(target: Followed) -> dict[str, Any]:
    return {"value": target.value, "rate": target.rate, "acceleration": target.acceleration}


def _urdf(robot: Robot, frames: list[tuple[str, Frame, pinocchio.SE3]]) -> str:
    """The URDF without shapes, with frames as links, and with the joints fixed that the robot does not use."""
    root = ElementTree.fromstring(bare_urdf(robot._shapes.path))
    used = {joint.name for joint in robot.joints}
    child_of = {}
    for joint in root.iter("joint"):
        link = joint.find("child")
        assert link is not None
        child_of[joint.get("name")] = link.get("link", "")
        if joint.get("name") not in used:
            joint.set("type", "fixed")
    for name, frame, frame_from_link in frames:
        body = child_of[robot.model.names[frame.joint]]  # it has its origin where its joint is
        pose = robot.model.frames[frame.index].placement * frame_from_link
        ElementTree.SubElement(root, "link", name=name)
        joint = ElementTree.SubElement(root, "joint", name=f"{name}_joint", type="fixed")
        ElementTree.SubElement(joint, "parent", link=body)
        ElementTree.SubElement(joint, "child", link=name)
        place = {"xyz": pose.translation, "rpy": pinocchio.rpy.matrixToRpy(pose.rotation)}
        words = {key: " ".join(repr(float(x)) for x in values) for key, values in place.items()}
        ElementTree.SubElement(joint, "origin", words)
    return ElementTree.tostring(root, encoding="unicode")
