"""Fuzzing: runs that try to break readers and controllers.

>>> FuzzFiles().perform({"format": "bvh", "mutation": "bits"}, seed=3).reason
''
"""

from poise.campaign.kinds.fuzz.controllers import FuzzControllers
from poise.campaign.kinds.fuzz.files import FuzzFiles

__all__ = ["FuzzControllers", "FuzzFiles"]
