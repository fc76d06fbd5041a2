"""Small valid files of every format, generated reproducibly: the input of the mutations."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

from poise.control import ControlStep, KinematicController
from poise.hierarchy import Hierarchy, Level
from poise.human import ForcePlate, GaitEvent, OpenSimMotion, Subject, Trial, write_c3d, write_motion, write_trc
from poise.plans import Style
from poise.plants import IdealPlant
from poise.recording import Channel, Recording, record_steps
from poise.robots import Robot, load_robot
from poise.tasks import Posture

_LIMIT_XML = '<limit lower="-1.5" upper="1.5" effort="50" velocity="8"/>'
_INERTIAL_XML = (
    '<inertial><origin xyz="0 0 -0.1" rpy="0 0 0"/><mass value="{mass}"/>'
    '<inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial>'
)
_SHAPES_XML = (
    '<visual><origin xyz="0 0 -0.1"/><geometry><box size="0.1 0.1 0.2"/></geometry>'
    '<material name="grey"/></visual>'
    '<collision><geometry><cylinder radius="0.05" length="0.2"/></geometry></collision>'
    '<collision><geometry><sphere radius="0.06"/></geometry></collision>'
)
_LEG_JOINTS = (
    ("hip", "1 0 0", "0 {y} 0"),
    ("thigh", "0 1 0", "0 0 0"),
    ("shank", "0 1 0", "0 0 -0.4"),
    ("ankle", "0 1 0", "0 0 -0.4"),
    ("foot", "1 0 0", "0 0 0"),
)

#: Arguments of `load_robot` for the parts that the URDF below does not define.
ROBOT_PARTS = {
    "feet": {"frame": "{side}_foot", "position": [0.0, 0.0, -0.05], "sole": [-0.08, 0.12, -0.04, 0.05]},
    "hands": {"left": {"frame": "arm", "position": [0.0, 0.2, 0.0]}},
    "gaze": {"frame": "head", "axis": [2.0, 0.0, 0.0]},
    "chest": "pelvis",
    "stances": {
        "standing": {
            "joints": {"{side}_thigh_joint": -0.3, "{side}_shank_joint": 0.6, "{side}_ankle_joint": -0.3},
        },
    },
}
ROBOT_TOML = """\
name = "fuzzed"
urdf = "robot.urdf"
packages = ["meshes"]
source = "made for a campaign"
height = 1.2
mass = 30.0
locked = ["finger_joint"]
repair_inertias = true
armature_per_torque = 2e-4
chest = "pelvis"
rest_stance = "standing"

[feet]
frame = "{side}_foot"
sole = [-0.08, 0.12, -0.04, 0.05]
position = [0.0, 0.0, -0.05]
rotation = [0.0, 0.0, 0.0]

[hands.left]
frame = "arm"
position = [0.0, 0.2, 0.0]

[gaze]
frame = "head"
axis = [2.0, 0.0, 0.0]

[armature]
"{side}_shank_joint" = 0.025

[limits.velocity]
"*" = 10.0

[limits.lower]
"{side}_shank_joint" = [-0.2, -0.3]

[servos]
position_controlled = true
saturation_error = 0.02
zmp_balance.proportional = 0.3

[stances.standing]
balanced = true
joints."{side}_thigh_joint" = -0.3
joints."{side}_shank_joint" = 0.6
joints."{side}_ankle_joint" = -0.3

[stances.straight]
balanced = false
"""
MARKER_SET_TOML = """\
name = "my_lab"
description = "what it is"

[markers]
SACR = "sacrum"
"{S}ASI" = "{side}_asis"
"{S}THI" = { segment = "{side}_thigh", weight = 0.5 }
"{S}TOE" = { landmark = "{side}_toe_end", weight = 2.0 }

[optional]
"{S}KNM" = "{side}_medial_knee"
"{S}ANK" = { segment = "{side}_shank" }
"""
CAMPAIGN_TOML = """\
title = "Walks"
kind = "walk"
seeds = 2
min_success_rate = 0.5

[fixed]
robot = "g1"
steps = 4

[[cases]]
style = "neutral"

[[cases]]
style = "proud"

[grid]
friction = [0.4, 0.7]
push.size = [40, 60.5]

[random]
mass_error = { uniform = [-5.0, 5.0] }
noise = { choice = [0.0, 1.0] }

[limits]
seconds = 120
memory_mb = 4000

[keep]
recordings = "failures"

[short]
seeds = 1
[check]
seeds = [3]
"""
_ROTATION_CHANNELS = "CHANNELS 3 Zrotation Xrotation Yrotation"


def urdf_text() -> str:
    """Return the URDF of a biped with an arm, a mimic finger joint and a head: twelve joints, simple shapes."""
    links = ['<material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>', _link("pelvis", 10.0)]
    for side, y in (("left", 0.1), ("right", -0.1)):
        parent = "pelvis"
        for part, axis, at in _LEG_JOINTS:
            name = f"{side}_{part}"
            links += [_link(name, 1.5), _joint(f"{name}_joint", parent, name, axis, at.format(y=y))]
            parent = name
    links += [_link("arm", 1.0), _joint("arm_joint", "pelvis", "arm", "0 1 0", "0 0.2 0.3")]
    mimic = '<mimic joint="arm_joint" multiplier="0.5" offset="0"/>'
    links += [_link("finger", 0.2), _joint("finger_joint", "arm", "finger", "0 0 1", "0 0 -0.3", mimic)]
    links += ['<link name="head"/>', _joint("neck", "pelvis", "head", "0 0 1", "0.05 0 0.6", kind="fixed")]
    return '<?xml version="1.0"?>\n<robot name="fuzzed">\n' + "\n".join(links) + "\n</robot>\n"


def small_robot(folder: Path) -> Robot:
    """Load the robot of `urdf_text` with the parts of `ROBOT_PARTS`; its file is written to `folder`."""
    path = folder / "robot.urdf"
    path.write_text(urdf_text(), encoding="utf-8")
    return load_robot(path, **ROBOT_PARTS)


def trial() -> Trial:
    """Return a trial with twelve markers over twenty frames, a force plate and events: the smallest valid trial."""
    labels = ("LASI", "RASI", "SACR", "LKNE", "RKNE", "LANK", "RANK", "LHEE", "RHEE", "LTOE", "RTOE", "C7")
    n = 20
    wave = np.sin(0.3 * np.arange(n))[:, None] * np.linspace(0.0, 0.05, len(labels))
    heights = np.array([1.0, 1.0, 1.02, 0.5, 0.5, 0.1, 0.1, 0.04, 0.04, 0.05, 0.05, 1.45])
    sides = np.array([0.12, -0.12, 0.0, 0.1, -0.1, 0.1, -0.1, 0.1, -0.1, 0.1, -0.1, 0.0])
    x = 0.01 * np.arange(n)[:, None] + wave
    positions = np.stack([x, np.tile(sides, (n, 1)), heights + 0.1 * wave], axis=2)
    positions[5:8, 3] = np.nan
    corners = np.array([[0.0, 0.0, 0.0], [0.4, 0.0, 0.0], [0.4, 0.6, 0.0], [0.0, 0.6, 0.0]])
    force = np.tile([3.0, -2.0, 700.0], (n, 1))
    plate = ForcePlate("plate 1", corners, force, np.tile([0.2, 0.3, 0.0], (n, 1)), np.tile([0.0, 0.0, 2.0], (n, 1)))
    events = (GaitEvent(0.02, "left", "initial_contact"), GaitEvent(0.12, "right", "toe_off"))
    subject = Subject("somebody", 70.0, 1.75, "male")
    return Trial("made", 100.0, np.arange(n) / 100.0, labels, positions, events, (plate,), subject)


@cache
def valid_file(format_name: str) -> bytes:
    """Return the valid file of a format; generated once per process."""
    with tempfile.TemporaryDirectory() as folder:
        return VALID_FILES[format_name](Path(folder))


def _link(name: str, mass: float) -> str:
    return f'<link name="{name}">{_INERTIAL_XML.format(mass=mass)}{_SHAPES_XML}</link>'


def _joint(
    name: str, parent: str, child: str, axis: str, at: str, more: str = _LIMIT_XML, kind: str = "revolute"
) -> str:
    limit = more if _LIMIT_XML in more else _LIMIT_XML + more
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return (
        f'<joint name="{name}" type="{kind}">{ends}<origin xyz="{at}" rpy="0 0 0"/><axis xyz="{axis}"/>{limit}</joint>'
    )


def _c3d(folder: Path) -> bytes:
    return write_c3d(trial(), folder / "trial.c3d").read_bytes()


def _trc(folder: Path) -> bytes:
    return write_trc(trial(), folder / "trial.trc").read_bytes()


def _mot(folder: Path) -> bytes:
    time = 0.01 * np.arange(12, dtype=np.float64)
    columns = np.column_stack([30.0 * np.sin(10.0 * time), 60.0 * time, np.full(12, 0.95)])
    motion = OpenSimMotion(("hip_flexion_r", "knee_angle_r", "pelvis_ty"), time, columns)
    return write_motion(motion, folder / "motion.mot").read_bytes()


def _bvh(folder: Path) -> bytes:
    """Return a BVH file with hips, two legs and a spine, in cm, y up."""
    moves = "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation"
    lines = ["HIERARCHY", "ROOT Hips", "{", "OFFSET 0.0 0.0 0.0", moves]
    for side, x in (("Left", 9.0), ("Right", -9.0)):
        lines += [f"JOINT {side}UpLeg", "{", f"OFFSET {x} 0.0 0.0", _ROTATION_CHANNELS]
        lines += [f"JOINT {side}Leg", "{", "OFFSET 0.0 -42.0 0.0", _ROTATION_CHANNELS]
        lines += [f"JOINT {side}Foot", "{", "OFFSET 0.0 -40.0 0.0", _ROTATION_CHANNELS]
        lines += ["End Site", "{", "OFFSET 0.0 -5.0 12.0", "}", "}", "}", "}"]
    lines += [
        "JOINT Spine",
        "{",
        "OFFSET 0.0 45.0 0.0",
        _ROTATION_CHANNELS,
        "End Site",
        "{",
        "OFFSET 0 25.5 0",
        "}",
        "}",
        "}",
    ]
    lines += ["MOTION", "Frames: 6", "Frame Time: 0.008333"]
    lines += [" ".join(f"{number:.4f}" for number in row) for row in 10.0 * np.sin(np.arange(6 * 27)).reshape(6, 27)]
    return "\n".join([*lines, ""]).encode()


def _poise(folder: Path) -> bytes:
    """Return a recording of a few steps of `small_robot`, without computation times, which are not reproducible."""
    robot = small_robot(folder)
    start = robot.stance("standing")
    controller = KinematicController(Hierarchy(levels=[Level("posture", [Posture(start)])]))
    plant, steps = IdealPlant(start), []
    for _ in range(6):
        state = plant.state()
        command = controller.step(state)
        plant.apply(command)
        plant.advance()
        steps.append(ControlStep(state, command, 0.1))
    recording = record_steps(steps, robot)
    channels = [
        Channel(name, channel.unit, np.zeros(len(channel))) if name.endswith("milliseconds") else channel
        for name, channel in recording.channels.items()
    ]
    facts = {"poise": "0", "robot": "fuzzed", "source": "made for a campaign", "controller": {"period": 0.005}}
    Recording(channels, facts).save(folder / "motion.poise")
    return (folder / "motion.poise").read_bytes()


def _script(folder: Path) -> bytes:
    entries = [
        {"time": 0, "mode": "trunk", "input": [1, 0, 0, 0, 0, 0]},
        {"time": 1.5, "mode": "left hand", "input": [0.5, -0.25, 0, 0, 0, 1], "lift": 0.7},
        {"time": 4.0, "mode": "right foot", "input": [0, 0, 0, 0, 0, 0]},
    ]
    return json.dumps(entries, indent=1).encode()


def _encode_text(text: str) -> Callable[[Path], bytes]:
    return lambda folder: text.encode()


#: Functions that generate the valid file of each format in a given folder.
VALID_FILES: dict[str, Callable[[Path], bytes]] = {
    "urdf": _encode_text(urdf_text()),
    "robot_toml": _encode_text(ROBOT_TOML),
    "c3d": _c3d,
    "trc": _trc,
    "mot": _mot,
    "bvh": _bvh,
    "poise": _poise,
    "style": _encode_text(Style(name="mine", rest_posture={"left_elbow": 0.5, "right_elbow": 0.5}).to_toml()),
    "script": _script,
    "marker_set": _encode_text(MARKER_SET_TOML),
    "campaign": _encode_text(CAMPAIGN_TOML),
}
