"""Limbs: the joints of a robot by legs, trunk, head and arms."""

from poise.robots.limbs import Limb, limbs

__all__ = ["Limb", "limbs"]
