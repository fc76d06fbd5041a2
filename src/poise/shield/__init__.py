"""The balance shield: a robot keeps its balance while other programs wish where its arms, gaze and feet go.

- `BalanceShield`: the behavior, which follows wishes below the balance; `Wish`, `HandWish`: what may be wished.
- `WishReporter`, `explain_held`: what became of the wishes, and which levels limit them.
- `ShieldServer`: shield, controller and plant in real time, for clients at a socket; `Client`: one of these.

>>> with Client() as client:  # while `poise shield --robot g1 --mode walk` runs
...     print(client.wish(hands={"left": {"position": (0.3, 0.3, 1.0)}}, velocity=(0.2, 0.0, 0.0)))
"""

from poise.shield.answers import HeldWish, ShieldReport, WishLimit, WishReporter, WishResult, explain_held
from poise.shield.balance_shield import MODES, BalanceShield, ShieldSettings
from poise.shield.client import SHIELD_ADDRESS, Answer, Client
from poise.shield.server import SHIELD_PORT, ShieldServer
from poise.shield.wishes import HandWish, Wish, WishError

__all__ = [
    "MODES",
    "SHIELD_ADDRESS",
    "SHIELD_PORT",
    "Answer",
    "BalanceShield",
    "Client",
    "HandWish",
    "HeldWish",
    "ShieldReport",
    "ShieldServer",
    "ShieldSettings",
    "Wish",
    "WishError",
    "WishLimit",
    "WishReporter",
    "WishResult",
    "explain_held",
]
