"""A wish is valid as a whole, or refused in one line."""

import math

import numpy as np
import pinocchio
import pytest

from poise.shield import Wish, WishError

JOINTS, SIDES = ("left_elbow", "right_elbow"), ("left", "right")


def test_a_full_message_is_read() -> None:
    turn = pinocchio.rpy.rpyToMatrix(0.3, -0.2, 0.5)
    quaternion = pinocchio.Quaternion(turn).coeffs().tolist()  # x, y, z, w
    message = {
        "kind": "wish",
        "sequence": 7,
        "time": 1.5,
        "joints": {"left_elbow": 1},
        "hands": {"right": {"position": [0.3, -0.2, 1.0], "orientation": quaternion, "frame": "body"}},
        "gaze": [2.0, 0.0, 1.0],
        "velocity": [0.3, 0.0, 0.1],
    }
    wish = Wish.parse(message, JOINTS, SIDES)
    assert dict(wish.joints) == {"left_elbow": 1.0}
    hand = wish.hands["right"]
    assert hand.frame == "body"
    assert hand.position.tolist() == [0.3, -0.2, 1.0]
    assert hand.rotation is not None
    np.testing.assert_allclose(hand.rotation, turn, atol=1e-12)
    assert wish.gaze is not None
    assert wish.velocity is not None
    assert (wish.gaze.tolist(), wish.velocity.tolist(), wish.time) == ([2.0, 0.0, 1.0], [0.3, 0.0, 0.1], 1.5)


def test_absent_and_null_parts_are_no_wishes() -> None:
    wish = Wish.parse({"joints": None, "gaze": None}, JOINTS, SIDES)
    assert (dict(wish.joints), dict(wish.hands), wish.gaze, wish.velocity, wish.time) == ({}, {}, None, None, None)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({"joint": {"left_elbow": 1.0}}, "did you mean 'joints'"),
        ({"joints": {"left_elbo": 1.0}}, "did you mean 'left_elbow'"),
        ({"joints": [1.0, 2.0]}, "expected a map"),
        ({"joints": {"left_elbow": math.nan}}, "expected a finite number in rad"),
        ({"joints": {"left_elbow": math.inf}}, "expected a finite number in rad"),
        ({"joints": {"left_elbow": True}}, "expected a finite number in rad"),
        ({"joints": {"left_elbow": "0.5"}}, "expected a finite number in rad"),
        ({"joints": {"left_elbow": 10**400}}, "expected a finite number in rad"),
        ({"joints": {"left_elbow": 1e9}}, "at most 1000"),
        ({"joints": {3: 1.0}}, "there is no joint 3"),
        ({"hands": {"left": [0.0, 0.0, 1.0]}}, "expected a map with position"),
        ({"hands": {"left": {}}}, "position of the left hand is None"),
        ({"hands": {"left": {"position": [0.0, 0.0]}}}, "expected 3 finite numbers in m"),
        ({"hands": {"left": {"position": [0, 0, 1], "frame": "foot"}}}, "expected 'world' or 'body'"),
        ({"hands": {"left": {"position": [0, 0, 1], "orientation": [0, 0, 0, 0]}}}, "unit quaternion"),
        ({"hands": {"left": {"position": [0, 0, 1], "speed": 3}}}, "unknown key 'speed'"),
        ({"hands": {"middle": {"position": [0, 0, 1]}}}, "there is no hand 'middle'"),
        ({"gaze": [1.0, math.nan, 0.0]}, "gaze is"),
        ({"velocity": 0.3}, "expected 3 finite numbers"),
        ({"velocity": [[0.3], [0], [0]]}, "expected 3 finite numbers"),
        ({"time": "now"}, "time is 'now'"),
    ],
)
def test_an_invalid_message_is_refused_in_one_line(message: dict[str, object], words: str) -> None:
    with pytest.raises(WishError) as refusal:
        Wish.parse(message, JOINTS, SIDES)
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)
