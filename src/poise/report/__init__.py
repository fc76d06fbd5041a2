"""Reports as HTML pages: recordings, campaigns, gait studies, curves and torques of a person; pictures of states.

>>> from poise import report
>>> report.save_picture("standing.png", robot.stance("standing"))
>>> report.save_page("r.html", {"kinematic": one, "torque": other})
"""

from poise.rendering import Camera, picture, save_picture
from poise.report.campaign_page import CAMPAIGN_SECTIONS, save_campaign_page, worst_runs
from poise.report.campaign_runs import RunFiles
from poise.report.curves_page import save_curves_page
from poise.report.recording_page import RECORDING_SECTIONS, read_recordings, save_page
from poise.report.study_page import save_study_page
from poise.report.torques_page import save_torques_page

__all__ = [
    "CAMPAIGN_SECTIONS",
    "RECORDING_SECTIONS",
    "Camera",
    "RunFiles",
    "picture",
    "read_recordings",
    "save_campaign_page",
    "save_curves_page",
    "save_page",
    "save_picture",
    "save_study_page",
    "save_torques_page",
    "worst_runs",
]
