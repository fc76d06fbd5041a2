"""Pages about people: a study of reproduced gaits, and the torques of a walk.

>>> from poise.report.human import save_study_page, save_torques_page
>>> save_study_page("gait.html", gait.study(reproductions), fits)
>>> save_torques_page("torques.html", inverse_dynamics(fit), {"g1": poise.load_recording("g1_walk.poise")})
"""

from poise.report.human.study import save_study_page, study_page
from poise.report.human.torques import save_torques_page, torques_page

__all__ = ["save_study_page", "save_torques_page", "study_page", "torques_page"]
