"""The page of the torques of a person who walked over force plates."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from poise.human.torques import Torques
from poise.recording import Recording
from poise.report.human.loads import forces, residual, trial
from poise.report.human.moments import back, legs, stored
from poise.report.human.robots import robots
from poise.report.page.whole import assembled, saved


def torques_page(torques: Torques, recordings: Mapping[str, Recording] | None = None) -> str:
    """HTML about the torques of a person, with all figures in it: nothing is fetched from anywhere.

    Args:
        torques: what `poise.human.torques.inverse_dynamics` found.
        recordings: walks of robots with torques, by the names that the page uses, to compare with.

    >>> torques_page(inverse_dynamics(fit(walk, static)), {"g1": poise.load_recording("g1_walk.poise")})
    """
    made = [trial(torques), forces(torques), legs(torques), back(torques), stored(torques), residual(torques)]
    compared = robots(torques, recordings or {})
    who = torques.trial.subject.name or Path(torques.trial.path).stem
    return assembled(f"Torques of {who}", [*made, *([compared] if compared is not None else [])])


def save_torques_page(
    path: str | os.PathLike[str], torques: Torques, recordings: Mapping[str, Recording] | None = None
) -> Path:
    """Writes a `torques_page` to a file and returns its path; the file appears whole or not at all."""
    return saved(path, lambda: torques_page(torques, recordings))
