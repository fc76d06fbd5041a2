"""Limbs: the joints of a robot by legs, trunk, head and arms, as its kinematic tree has them."""

from __future__ import annotations

from typing import NamedTuple

from poise.robots.robot import Robot


class Limb(NamedTuple):
    """A part of the body: its name, such as "left leg" or "trunk", and its joints from the base outwards."""

    name: str
    joints: tuple[str, ...]


def limbs(robot: Robot) -> tuple[Limb, ...]:
    """Left and right leg, trunk, head, left and right arm, then what belongs to none; those without joints left out.

    A chain leads from the base to each foot, each hand and the gaze. Joints on one chain alone are that limb, those
    that several chains share are the trunk. Joints beyond, such as fingers, go with the limb that carries them.

    >>> [limb.name for limb in limbs(poise.load_robot("talos"))]
    ['left leg', 'right leg', 'trunk', 'head', 'left arm', 'right arm']
    """
    ends = {f"{foot.side} leg": foot.joint for foot in robot.feet}
    if robot.head is not None:
        ends["head"] = robot.head.joint
    ends |= {f"{hand.side} arm": hand.joint for hand in robot.hands}
    if robot.chest is not None:
        ends["trunk"] = robot.chest.joint
    chains = {name: _chain(robot, joint) for name, joint in ends.items()}
    owner: dict[int, str] = {}
    for joint in robot.joints:
        owners = [name for name, chain in chains.items() if joint.index in chain]
        if owners:
            owner[joint.index] = owners[0] if len(owners) == 1 else "trunk"
    for joint in robot.joints:  # parents come before children
        parent = owner.get(robot.model.parents[joint.index])
        owner.setdefault(joint.index, parent if parent is not None and parent != "trunk" else "other joints")
    order = ("left leg", "right leg", "trunk", "head", "left arm", "right arm", "other joints")
    found = [Limb(name, tuple(j.name for j in robot.joints if owner[j.index] == name)) for name in order]
    return tuple(limb for limb in found if limb.joints)


def _chain(robot: Robot, joint: int) -> set[int]:
    """Numbers of the joints between the base and a joint, itself included."""
    chain = set()
    while joint > 1:  # 0 is the world, 1 the free-flying base
        chain.add(joint)
        joint = robot.model.parents[joint]
    return chain
