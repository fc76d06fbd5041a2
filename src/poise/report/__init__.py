"""Views of what happened: pictures of a robot's states, and pages about recordings.

>>> from poise import report
>>> report.save_picture("standing.png", robot.stance("standing"))

Pages are in `poise.report.page`, since what draws their figures takes half a second to import:

>>> from poise.report.page import save_page
>>> save_page("r.html", {"kinematic": one, "torque": other})
"""

from poise.report.camera import Camera
from poise.report.picture import picture, save_picture

__all__ = ["Camera", "picture", "save_picture"]
