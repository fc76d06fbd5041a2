"""Human: a person's walk from a marker file, beside what a few tasks make of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from poise.behaviors import Stand
from poise.control import TorqueController
from poise.plants import MujocoPlant
from poise.robots import SEXES, Robot
from poise.studio.controls import Button, Choice, Control, Slider, Switch, Upload, chosen, number
from poise.studio.fit_data import OF_THE_FILE, PERSONS, VARIANTS
from poise.studio.player import CYCLE, FARTHEST, PARTS
from poise.studio.scene_base import Act, Scene

if TYPE_CHECKING:
    from poise.studio.fit_service import Desk

#: Largest file that is taken (bytes): a minute of 50 markers and two force plates at 1 kHz has 5 MB.
MOST = 30_000_000
#: Heights (m) and masses (kg) of adults and children that walk.
HEIGHTS, MASSES = (0.8, 2.2), (10.0, 200.0)


class HumanScene(Scene):
    """A body stands here until there is a trial; what is done with trials is done by the desk, beside the simulation.

    The scene only knows what its controls say.
    """

    name, title, order = "human", "Human", 5
    hint = (
        "Load a C3D or TRC file of somebody who walks, or take the sample: measured and reproduced gait, side by side."
    )
    robots = ("human",)

    def __init__(self, robot: Robot) -> None:
        super().__init__(robot)
        self.person, self.height, self.mass, self.sex = OF_THE_FILE, 1.75, 70.0, str(SEXES[0])
        self.variant, self.part, self.apart, self.markers = VARIANTS[0], CYCLE, 1.0, True

    def acts(self) -> dict[str, Act]:
        return {"robot": Act(TorqueController(Stand(self.robot)), MujocoPlant(self.robot.stance("standing")))}

    def controls(self) -> list[Control]:
        files: Any = {"group": "Trial", "accept": ".c3d,.trc", "most": MOST}
        return [
            Upload(name="trial", label="load a trial", help="markers of a motion, C3D or TRC, at most 30 MB", **files),
            Upload(name="static", label="load a static trial", help="the same person standing; not needed", **files),
            Button(name="sample", label="take the sample", group="Trial",
                   help="a synthetic person who walks as the norms say"),
            Choice(name="variant", label="reproduced as", group="Gait", options=VARIANTS, value=self.variant,
                   help="paper: four key postures; two phases: its ablation; best: six, passed in motion, and angular"
                        " momentum"),
            Choice(name="part", label="play", group="Gait", options=PARTS, value=self.part),
            Slider(name="apart", label="ghost beside by", group="Gait", low=0.0, high=FARTHEST, step=0.05, unit="m",
                   value=self.apart),
            Switch(name="markers", label="show markers", group="Gait", value=self.markers),
            Choice(name="person", label="body", group="Person", options=PERSONS, value=self.person,
                   help="counts when something is fitted next"),
            Slider(name="height", label="height", group="Person", low=HEIGHTS[0], high=HEIGHTS[1], step=0.01, unit="m",
                   value=self.height),
            Slider(name="mass", label="mass", group="Person", low=MASSES[0], high=MASSES[1], step=0.5, unit="kg",
                   value=self.mass),
            Choice(name="sex", label="tables for", group="Person", options=tuple(SEXES), value=self.sex),
            Button(name="again", label="fit again", group="Person", help="with these numbers"),
            Button(name="forget", label="fit without the static trial", group="Person"),
        ]  # fmt: skip

    def do(self, name: str, value: Any) -> str:
        match name:
            case "person":
                self.person = chosen(value, PERSONS)
            case "height":
                self.height = number(value, *HEIGHTS)
            case "mass":
                self.mass = number(value, *MASSES)
            case "sex":
                self.sex = chosen(value, SEXES)
            case "variant":
                self.variant = chosen(value, VARIANTS)
            case "part":
                self.part = chosen(value, PARTS)
            case "apart":
                self.apart = number(value, 0.0, FARTHEST)
            case "markers":
                self.markers = bool(value)
        return ""

    def words(self) -> list[str]:
        return ["No trial yet: load one, or take the sample."]

    @classmethod
    def desk(
        cls,
        say: Callable[[str, str], None],
        show: Callable[[Any], None],
        values: Callable[[], Mapping[str, Any]],
    ) -> Desk:
        from poise.studio.fit_service import Desk  # here: the simulation has no use for it

        return Desk(say, show, values)
