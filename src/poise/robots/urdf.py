"""A URDF file as a pinocchio model; whatever is wrong with the file becomes one clear line."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from xml.etree import ElementTree

import pinocchio

from poise.errors import RobotError


def read_urdf(path: Path) -> str:
    """The text of a URDF file, checked to be XML with a robot in it.

    ``package:///name`` is written where ``package://name`` is meant in some published files; it is corrected here.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not a text file"
        raise RobotError(f"{path}: cannot be read: {reason}; give the path of a URDF file", file=str(path)) from None
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise RobotError(f"{path}: not a URDF, since it is not XML: {error}", file=str(path)) from None
    if root.tag != "robot":
        message = f"{path}: not a URDF: its outermost element is <{root.tag}>, expected <robot>"
        raise RobotError(message, file=str(path), element=root.tag)
    return text.replace("package:///", "package://")


def build_model(path: Path, text: str) -> pinocchio.Model:
    """The model with a free-flying base, all joints moving.

    The parser drops an element that it cannot read and goes on; here that is an error, too.
    """
    model, failure = None, ""
    with quiet() as said:
        try:
            model = pinocchio.buildModelFromXML(text, pinocchio.JointModelFreeFlyer(), "root_joint")
        except Exception as error:
            failure = str(error) or type(error).__name__
        said.seek(0)
        spoken = said.read()
    reason = one_line(spoken if "Error" in spoken else failure)
    if model is not None and not reason:
        return model
    element = re.search(r"(?:link|joint) ?[\['](.+?)[\]']", reason, re.IGNORECASE)
    message = f"{path}: not a URDF that can be built: {reason}"
    raise RobotError(message, file=str(path), element=element[1] if element else "")


def followers(text: str) -> dict[str, str]:
    """Joints that a URDF ties to another joint (``<mimic>``), each with the one that leads."""
    ties = [(joint.get("name", ""), joint.find("mimic")) for joint in ElementTree.fromstring(text).iter("joint")]
    return {name: mimic.get("joint", "") for name, mimic in ties if mimic is not None}


def one_line(text: str) -> str:
    """What a library below has to say, in one line and without where in its own sources it says so."""
    message = re.search(r"^message: ([^\n]*)", text, re.MULTILINE)
    lines = [message[1]] if message else text.splitlines()
    words = [re.sub(r"^(Error|Warning):\s*", "", line.strip()).rstrip(".") for line in lines]
    return "; ".join(line for line in words if line and not re.search(r"^at line \d+ in |not initialized", line))


@contextmanager
def quiet() -> Iterator[IO[str]]:
    """Keep what compiled libraries write to the standard error stream: it can be read from the file that is given."""
    with tempfile.TemporaryFile("w+", errors="replace") as said:
        if sys.stderr is not None:
            sys.stderr.flush()
        kept = os.dup(2)
        os.dup2(said.fileno(), 2)
        try:
            yield said
        finally:
            os.dup2(kept, 2)
            os.close(kept)
