"""Views of what happened: pictures of a robot's states.

>>> from poise import report
>>> report.save_picture("standing.png", robot.stance("standing"))
"""

from poise.report.camera import Camera
from poise.report.picture import picture, save_picture

__all__ = ["Camera", "picture", "save_picture"]
