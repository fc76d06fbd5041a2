"""Plan and tasks together: something that a body does."""

from poise.behaviors.one_foot import one_foot_stance
from poise.behaviors.reach import Reach, ReachSettings

__all__ = ["Reach", "ReachSettings", "one_foot_stance"]
