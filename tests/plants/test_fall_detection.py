"""Falls: contact with the ground, or a capture point out of reach; a low or bent posture is none."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from poise import MujocoPlant, State
from poise.plants import FlatTerrain
from poise.plants.fall_detection import FallDetector
from poise.robots import leg_length
from robot_states import installed_robot

pytestmark = pytest.mark.needs_models


#: Joint angles (rad) of an arm that points forward in the frame of the trunk.
ARMS_FORWARD = {"shoulder_pitch_joint": -1.57, "shoulder_roll_joint": 0.0, "elbow_joint": 1.57}


def g1_state(base: tuple[float, float, float], pitch: float = 0.0, **joints: float) -> State:
    """The G1 with its base at a point (m) and pitched forward (rad), its other joints as standing or as given."""
    stance = installed_robot("g1").stance("standing")
    q = np.array(stance.q)
    q[:3], q[3:7] = base, (0.0, np.sin(0.5 * pitch), 0.0, np.cos(0.5 * pitch))
    for name, angle in joints.items():
        q[stance.robot.joint(name).q] = angle
    return stance.replace(q=q)


def detected(state: State, velocity: tuple[float, float, float] = (0.0, 0.0, 0.0), **options: object) -> str:
    """The result of the detector for one state of the simulation, with a base velocity (m/s)."""
    stance = state.robot.stance("standing")
    plant = MujocoPlant(stance, **options)  # type: ignore[arg-type]
    frames = options.get("contact_frames", ())
    parts = [*state.robot.feet, *state.robot.hands]
    detector = FallDetector(stance, plant.model, FlatTerrain(), parts, frames)  # type: ignore[arg-type]
    data = mujoco.MjData(plant.model)
    (x, y, z, w), joints = state.q[3:7], {joint.name: state.q[joint.q] for joint in state.robot.joints}
    data.qpos[:7] = (*state.q[:3], w, x, y, z)
    for name, angle in joints.items():
        data.qpos[plant.model.joint(name).qposadr[0]] = angle
    data.qvel[:3] = velocity
    mujoco.mj_forward(plant.model, data)
    detector.update(data, 1.0)
    return detector.reason


def test_a_deep_crouch_above_the_feet_is_not_a_fall() -> None:
    """Base at 45 % of its height, thighs horizontal: nothing but the soles touches the ground."""
    names = [f"{side}_{joint}_joint" for side in ("left", "right") for joint in ("hip_pitch", "knee", "ankle_pitch")]
    folded = dict(zip(names, (-2.0, 2.6, -0.6) * 2, strict=True))
    standing = installed_robot("g1").stance("standing")
    height = 0.45 * float(standing.q[2])
    assert detected(g1_state((0.0, 0.0, height), **folded)) == ""


def test_a_base_bent_down_over_the_feet_is_a_fall_only_if_its_capture_point_is_out_of_reach() -> None:
    bent = g1_state((-0.1, 0.0, 0.75), pitch=1.3, left_hip_pitch_joint=-1.6, right_hip_pitch_joint=-1.6)
    assert detected(bent) == ""
    # The capture point moves by v sqrt(h / g): by a leg length at this speed.
    speed = leg_length(bent.robot) / np.sqrt(0.75 / 9.81)
    assert detected(bent, velocity=(0.5 * speed, 0.0, 0.0)) == ""
    reason = detected(bent, velocity=(1.5 * speed, 0.0, 0.0))
    assert reason.startswith("fell at 1.00 s: the base is tilted by more than 60 degrees and its capture point is ")


def test_the_trunk_on_the_ground_is_a_fall_and_is_named() -> None:
    assert detected(g1_state((0.0, 0.0, 0.1), pitch=1.5)).endswith(" touches the ground")


def test_hands_on_the_ground_are_a_fall_unless_they_are_contact_frames() -> None:
    """The G1 prone in the air, its arms down: the balls of the hands are a millimeter below the ground."""
    arms = {f"{side}_{name}": value for side in ("left", "right") for name, value in ARMS_FORWARD.items()}
    prone = g1_state((0.0, 0.0, 2.0), pitch=0.5 * np.pi, **arms)
    robot = prone.robot
    radius = float(MujocoPlant(robot).model.geom(f"{robot.hands[0].name} 0").size[0])
    height = 2.0 - min(float(prone.pose(hand).translation[2]) for hand in robot.hands) + radius - 0.001
    lowered = g1_state((0.0, 0.0, height), pitch=0.5 * np.pi, **arms)
    assert "touches the ground" in detected(lowered)
    assert "touches the ground" not in detected(lowered, contact_frames=robot.hands)
