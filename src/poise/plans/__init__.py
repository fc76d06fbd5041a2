"""References over time: footsteps, the divergent component of motion, swinging feet, styles."""

from poise.plans.style import PARAMETERS, STYLES, Style

__all__ = ["PARAMETERS", "STYLES", "Style"]
