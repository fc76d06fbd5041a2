"""Handles to the parts of a robot; frames that the description places anew are added to the model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio

from poise.errors import RobotError
from poise.robots.description import Attachment, Description
from poise.robots.names import unknown
from poise.robots.parts import Foot, Frame, Gaze, Hand


@dataclass(frozen=True)
class Parts:
    """The handles of a robot, as the fields of `Robot`."""

    frames: dict[str, Frame]
    feet: tuple[Foot, ...]
    hands: tuple[Hand, ...]
    head: Gaze | None
    chest: Frame | None


def place_parts(model: pinocchio.Model, description: Description) -> Parts:
    """Resolve every part of a description in a model."""

    def place(where: str, part: Attachment) -> tuple[str, int, int, str]:
        index = _find(model, description, where, part.frame)
        if not part.is_the_frame:
            index = _add(model, description, where, part, index)
        return part.name, index, int(model.frames[index].parentJoint), description.name

    feet = tuple(Foot(*place("[feet]", part), side, sole) for side, (part, sole) in description.feet.items())
    hands = tuple(Hand(*place("[hands]", part), side) for side, part in description.hands.items())
    head = Gaze(*place("[gaze]", description.gaze[0]), description.gaze[1]) if description.gaze else None
    frames: dict[str, Frame] = {
        frame.name: Frame(frame.name, index, int(frame.parentJoint), description.name)
        for index, frame in enumerate(model.frames)
    }
    frames.update({part.name: part for part in (*feet, *hands)})
    if description.chest is not None:
        _find(model, description, "chest", description.chest)
    chest = frames[description.chest] if description.chest is not None else None
    return Parts(frames, feet, hands, head, chest)


def _find(model: pinocchio.Model, description: Description, where: str, name: str) -> int:
    if not model.existFrame(name):
        names = [frame.name for frame in model.frames]
        raise unknown(f"{where} names no frame of the robot:", name, names, description.file)
    return int(model.getFrameId(name))


def _add(model: pinocchio.Model, description: Description, where: str, part: Attachment, on: int) -> int:
    if model.existFrame(part.name):
        message = f"{where} cannot add a frame '{part.name}', since there is one; give it another name"
        raise RobotError(f"{description.file}: {message}", file=description.file, element=part.name)
    parent = model.frames[on]
    placement = parent.placement * pinocchio.SE3(
        pinocchio.rpy.rpyToMatrix(*part.rotation), np.array(part.position, dtype=np.float64)
    )
    return int(model.addFrame(pinocchio.Frame(part.name, parent.parentJoint, on, placement, pinocchio.OP_FRAME)))
