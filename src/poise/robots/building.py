"""From a description to a Robot: model, joints, limits, parts, stances, in this order."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.errors import RobotError
from poise.robots.description import Description
from poise.robots.inertia import check_bodies
from poise.robots.limits import read_armature, read_limits
from poise.robots.names import unknown
from poise.robots.parts import Joint
from poise.robots.placing import place_parts
from poise.robots.reduction import reduction
from poise.robots.robot import Robot
from poise.robots.shapes import Shapes
from poise.robots.stance import posture, solve_stance
from poise.robots.urdf import build_model, followers, read_urdf

Array = NDArray[np.float64]

#: Most degrees of freedom, with those of the base, before any joint is locked. Pinocchio's work space holds four arrays
#: of nv³ numbers: 260 MB for this many, 8 MB for a humanoid with hands.
MOST = 200


def build(description: Description) -> Robot:
    """The robot of a description."""
    text = read_urdf(description.urdf) if description.text is None else description.text
    shapes = Shapes(description.urdf, description.packages, description.locked, text)
    model = _reduced(_bounded(build_model(description.urdf, text), description), description)
    notes = (*check_bodies(model, description), *_loosened(model, text))
    joints = _joints(model, description)
    limits = read_limits(model, joints, description)
    armature = read_armature(model, joints, limits, description)
    model.armature = np.concatenate([np.zeros(6), armature])
    parts = place_parts(model, description)
    stances = {
        name: _fixed(solve_stance(model, joints, limits, parts.feet, description, name)) for name in description.stances
    }
    return Robot(
        name=description.name,
        model=model,
        source=description.source,
        joints=joints,
        frames=MappingProxyType(parts.frames),
        feet=parts.feet,
        hands=parts.hands,
        head=parts.head,
        chest=parts.chest,
        limits=limits,
        rest=_rest(stances, description, _fixed(posture(model, joints, limits, {}))),
        stances=MappingProxyType(stances),
        servos=description.servos,
        notes=notes,
        parts=description.parts,
        _shapes=shapes,
        _height=description.height,
    )


def _bounded(model: pinocchio.Model, description: Description) -> pinocchio.Model:
    """The model, unless it has more joints than any robot: work space grows with the cube of their number."""
    if model.nv > MOST:
        file = str(description.urdf)
        raise RobotError(f"{file}: {model.nv - 6} degrees of freedom; expected at most {MOST - 6}", file=file)
    return model


def _reduced(whole: pinocchio.Model, description: Description) -> pinocchio.Model:
    for name in description.locked:
        if name not in list(whole.names)[2:]:
            raise unknown("locked names no joint:", name, list(whole.names)[2:], description.file)
    return pinocchio.buildReducedModel(whole, *reduction(whole, description.locked)) if description.locked else whole


def _loosened(model: pinocchio.Model, text: str) -> list[str]:
    names = list(model.names)
    ties = followers(text).items()
    return [
        f"joint '{name}' follows '{leader}' in its URDF but moves freely here" for name, leader in ties if name in names
    ]


def _joints(model: pinocchio.Model, description: Description) -> tuple[Joint, ...]:
    file = str(description.urdf)
    joints = []
    for index in range(2, model.njoints):
        joint, name = model.joints[index], model.names[index]
        if (joint.nq, joint.nv) != (1, 1):
            kind = "continuous" if (joint.nq, joint.nv) == (2, 1) else joint.shortname().removeprefix("JointModel")
            advice = f"give it a range and the type revolute, or lock it with locked=['{name}']"
            raise RobotError(f"{file}: joint '{name}' is {kind}; {advice}", file=file, element=name)
        joints.append(Joint(name, index, int(joint.idx_q), int(joint.idx_v)))
    return tuple(joints)


def _rest(stances: Mapping[str, Array], description: Description, straight: Array) -> Array:
    """The stance chosen for rest, else the first one, else all joints straight."""
    if description.rest is None:
        return next(iter(stances.values()), straight)
    if description.rest not in stances:
        raise unknown("rest names no stance:", description.rest, stances, description.file)
    return stances[description.rest]


def _fixed(values: Array) -> Array:
    values.flags.writeable = False
    return values
