"""What a human looks like: capsules around the bones, in plain clothes; fewer and simpler ones collide.

Radii are shares of lengths, drawn by eye to the girths of the mean body.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise.robots.human.shape import BodyShape
from poise.robots.human.skeleton import across, mtp_height
from poise.robots.parts import SIDES, Side

Array = NDArray[np.float64]

COLORS = {
    "skin": "0.87 0.70 0.58 1",
    "shirt": "0.36 0.52 0.67 1",
    "trousers": "0.24 0.27 0.33 1",
    "shoe": "0.17 0.17 0.18 1",
    "hair": "0.25 0.19 0.15 1",
}


class Capsule(NamedTuple):
    """A rounded rod on a link between two points (m); `collides` and `drawn` say what it is for."""

    link: str
    start: Array
    end: Array
    radius: float
    color: str
    drawn: bool = True
    collides: bool = True


def figure(shape: BodyShape) -> list[Capsule]:
    """All solids of a body."""
    found = _trunk(shape)
    for side in SIDES:
        found += _leg(shape, side) + _arm(shape, side)
    return found


def _capsule(link: str, start: ArrayLike, end: ArrayLike, radius: float, color: str, **kinds: bool) -> Capsule:
    return Capsule(link, np.array(start, dtype=np.float64), np.array(end, dtype=np.float64), radius, color, **kinds)


def _trunk(shape: BodyShape) -> list[Capsule]:
    hips, t, head = shape.hip_width / 2.0, shape.torso, shape.head
    wide = shape.shoulder_width / 2.0
    out = [
        _capsule("pelvis", (0.0, -0.75 * hips, 0.02), (0.0, 0.75 * hips, 0.02), 0.21 * t, "trousers"),
        _capsule("pelvis", (0.0, -0.5 * hips, 0.08), (0.0, 0.5 * hips, 0.08), 0.2 * t, "trousers", collides=False),
        _capsule("torso", (0.05, 0.0, 0.02 * t), (0.05, 0.0, 0.5 * t), 0.195 * t, "shirt", collides=False),
        _capsule(
            "torso", (0.05, -0.10 * t, 0.05 * t), (0.045, -0.15 * t, 0.68 * t), 0.195 * t, "shirt", collides=False
        ),
        _capsule("torso", (0.05, 0.10 * t, 0.05 * t), (0.045, 0.15 * t, 0.68 * t), 0.195 * t, "shirt", collides=False),
        _capsule("torso", (0.04, -0.15 * t, 0.7 * t), (0.04, 0.15 * t, 0.7 * t), 0.22 * t, "shirt"),
        _capsule("torso", (0.05, 0.0, 0.1 * t), (0.05, 0.0, 0.4 * t), 0.26 * t, "shirt", drawn=False),
        _capsule("torso", (0.02, -0.8 * wide, 0.87 * t), (0.02, 0.8 * wide, 0.87 * t), 0.11 * t, "shirt"),
        _capsule("torso", (0.0, 0.0, 0.9 * t), (0.01, 0.0, t), 0.11 * t, "skin", collides=False),
        _capsule("head", (0.0, 0.0, 0.0), (0.04 * head, 0.0, 0.4 * head), 0.2 * head, "skin"),
        _capsule("head", (0.08 * head, 0.0, 0.5 * head), (0.02 * head, 0.0, 0.70 * head), 0.3 * head, "skin"),
        _capsule(
            "head",
            (0.33 * head, 0.0, 0.44 * head),
            (0.38 * head, 0.0, 0.52 * head),
            0.055 * head,
            "skin",
            collides=False,
        ),
        _capsule(
            "head",
            (-0.03 * head, 0.0, 0.55 * head),
            (-0.02 * head, 0.0, 0.715 * head),
            0.305 * head,
            "hair",
            collides=False,
        ),
    ]
    for y in (-1.0, 1.0):
        eye = (0.345 * head, 0.1 * y * head, 0.61 * head)
        out.append(_capsule("head", eye, eye, 0.03 * head, "hair", collides=False))
    return out


def _leg(shape: BodyShape, side: Side) -> list[Capsule]:
    i, y = SIDES.index(side), across(side)
    thigh, shank = shape.thigh[i], shape.shank[i]
    ball, toes, wide, h = shape.foot[i], shape.toes[i], shape.foot_width[i], shape.ankle_height[i]
    t, s, f, e = (f"{side}_{name}" for name in ("thigh", "shank", "foot", "toes"))
    flat, low = 0.3 * h, mtp_height(shape, side)
    sole, heel = flat - h, 0.45 * h - h
    out = [
        _capsule(t, (0.0, 0.0, -0.05 * thigh), (0.0, 0.0, -0.55 * thigh), 0.17 * thigh, "trousers"),
        _capsule(t, (0.0, 0.0, -0.5 * thigh), (0.0, 0.0, -thigh), 0.135 * thigh, "trousers"),
        _capsule(s, (0.0, 0.0, 0.0), (-0.02, 0.0, -0.4 * shank), 0.125 * shank, "trousers"),
        _capsule(s, (-0.01, 0.0, -0.35 * shank), (0.0, 0.0, -0.97 * shank), 0.09 * shank, "trousers"),
        _capsule(f, (-shape.heel[i] + 0.45 * h, 0.0, heel), (0.25 * ball, 0.0, heel + 0.1 * h), 0.45 * h, "shoe"),
        _capsule(f, (0.0, 0.0, -0.25 * h), (0.75 * ball, 0.0, 0.45 * h - h), 0.43 * h, "shoe", collides=False),
    ]
    for inner in (-1.0, 1.0):
        start = (-0.4 * shape.heel[i], 0.18 * inner * wide, sole)
        out.append(_capsule(f, start, (ball, 0.32 * inner * wide, sole), flat, "shoe", collides=False))
        tip = (0.8 * toes, 0.22 * inner * wide - 0.1 * y * wide, 0.0)
        out.append(_capsule(e, (0.0, 0.3 * inner * wide, 0.0), tip, 0.95 * low, "shoe", collides=False))
    # below the toes lies a thin rod: it touches when the heel rises, and not while the sole is flat
    bar = (0.45 * toes, 0.3 * wide, 0.012 - low)
    out.append(_capsule(e, bar, (bar[0], -bar[1], bar[2]), 0.011, "shoe", drawn=False))
    return out


def _arm(shape: BodyShape, side: Side) -> list[Capsule]:
    i, y = SIDES.index(side), across(side)
    upper, fore, hand, fingers = shape.upper_arm[i], shape.forearm[i], shape.hand[i], shape.fingers[i]
    u, f, h, e = (f"{side}_{name}" for name in ("upper_arm", "forearm", "hand", "fingers"))
    out = [
        _capsule(u, (0.0, 0.0, -0.02), (0.0, 0.0, -0.5 * upper), 0.2 * upper, "shirt"),
        _capsule(u, (0.0, 0.0, -0.4 * upper), (0.0, 0.0, -upper), 0.155 * upper, "skin"),
        _capsule(f, (0.0, 0.0, 0.0), (0.0, 0.0, -0.45 * fore), 0.145 * fore, "skin"),
        _capsule(f, (0.0, 0.0, -0.4 * fore), (0.0, 0.0, -fore), 0.105 * fore, "skin"),
        _capsule(h, (0.0, 0.12 * hand, -0.25 * hand), (0.0, 0.24 * hand, -hand), 0.2 * hand, "skin", collides=False),
        _capsule(
            h, (0.0, -0.12 * hand, -0.25 * hand), (0.0, -0.2 * hand, -0.92 * hand), 0.2 * hand, "skin", collides=False
        ),
        _capsule(h, (0.0, 0.0, -0.3 * hand), (0.0, 0.0, -0.85 * hand), 0.4 * hand, "skin", drawn=False),
        _capsule(
            h,
            (0.1 * hand, 0.3 * y * hand, -0.3 * hand),
            (0.3 * hand, 0.55 * y * hand, -0.95 * hand),
            0.13 * hand,
            "skin",
            collides=False,
        ),
        _capsule(e, (0.0, 0.0, 0.0), (0.0, 0.0, -0.75 * fingers), 0.2 * fingers, "skin", drawn=False),
    ]
    for k in (-1.5, -0.5, 0.5, 1.5):
        tip = (0.0, 0.17 * k * hand, -(0.9 - 0.07 * abs(k)) * fingers)
        out.append(_capsule(e, (0.0, 0.17 * k * hand, 0.0), tip, 0.105 * hand, "skin", collides=False))
    return out
