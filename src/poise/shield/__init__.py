"""The balance shield: a robot stays balanced while other programs wish where its arms, gaze and feet go."""

from poise.shield.balance_shield import BalanceShield, ShieldSettings
from poise.shield.wishes import HandWish, Wish, WishError

__all__ = ["BalanceShield", "HandWish", "ShieldSettings", "Wish", "WishError"]
