"""Scene Human: the walk of a subject from a marker file, beside its reproduction by a few tasks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from poise.behaviors import Stand
from poise.control import TorqueController
from poise.plants import MujocoPlant
from poise.robots import SEXES, Robot
from poise.studio.controls import Button, Control, Dropdown, Slider, Switch, Upload, clamp_number, option_or_first
from poise.studio.fit_data import FROM_FILE, SUBJECT_SOURCES, VARIANTS
from poise.studio.player import CYCLE, MAX_GHOST_OFFSET, PLAY_RANGES
from poise.studio.scene_base import ControlledPlant, Scene

if TYPE_CHECKING:
    from poise.studio.fit_service import FitService

#: Size limit of a trial (bytes): one minute of 50 markers and two force plates at 1 kHz has 5 MB.
MAX_TRIAL_BYTES = 30_000_000
#: Heights (m) and masses (kg) of walking adults and children.
HEIGHT_RANGE, MASS_RANGE = (0.8, 2.2), (10.0, 200.0)


class HumanScene(Scene):
    """Measured and reproduced gait of a human subject.

    The simulation shows a standing body until a trial is loaded. Trials are fitted by the fit service in the server
    process (see `poise.studio.fit_service`); the scene only holds the values of the controls.
    """

    name, title, tab_order = "human", "Human", 5
    hint = "Load a C3D or TRC file of a walk, or take the sample: measured and reproduced gait are shown side by side."
    robots = ("human",)

    def __init__(self, robot: Robot) -> None:
        super().__init__(robot)
        self.subject_source, self.height, self.mass, self.sex = FROM_FILE, 1.75, 70.0, str(SEXES[0])
        self.variant, self.play_range, self.ghost_offset, self.show_markers = VARIANTS[0], CYCLE, 1.0, True

    def controlled_plants(self) -> dict[str, ControlledPlant]:
        return {
            "robot": ControlledPlant(TorqueController(Stand(self.robot)), MujocoPlant(self.robot.stance("standing")))
        }

    def controls(self) -> list[Control]:
        entered = self.subject_source != FROM_FILE
        files: Any = {"group": "Trial", "accept": ".c3d,.trc", "max_bytes": MAX_TRIAL_BYTES}
        return [
            Upload(name="trial", label="load a trial", help="marker file of a walk: C3D or TRC, up to 30 MB", **files),
            Upload(name="static", label="load a static trial", **files,
                   help="static calibration trial of the same subject; optional"),
            Button(name="sample", label="take the sample", group="Trial",
                   help="synthetic walk with normative joint angles"),
            Dropdown(name="variant", label="reproduced as", group="Gait", options=VARIANTS, value=self.variant,
                   help="paper: four key postures; two phases: ablation of the paper; best: six key postures passed in"
                        " motion, and angular momentum"),
            Dropdown(name="play_range", label="play", group="Gait", options=PLAY_RANGES, value=self.play_range,
                   help="one gait cycle, repeated, or the whole trial"),
            Slider(name="ghost_offset", label="distance of the ghost", group="Gait", low=0.0, high=MAX_GHOST_OFFSET,
                   step=0.05, unit="m", value=self.ghost_offset,
                   help="distance of the reproduced body from the measured one; 0: at the same place"),
            Switch(name="show_markers", label="show markers", group="Gait", value=self.show_markers),
            Dropdown(name="subject_source", label="body", group="Person", options=SUBJECT_SOURCES,
                   value=self.subject_source,
                   help="source of height, mass and sex; used by the next fit"),
            Slider(name="height", label="height", group="Person", low=HEIGHT_RANGE[0], high=HEIGHT_RANGE[1],
                   step=0.01, unit="m", value=self.height, enabled=entered),
            Slider(name="mass", label="mass", group="Person", low=MASS_RANGE[0], high=MASS_RANGE[1], step=0.5,
                   unit="kg", value=self.mass, enabled=entered),
            Dropdown(name="sex", label="tables for", group="Person", options=tuple(SEXES), value=self.sex,
                   enabled=entered, help="sex, by which tables give the masses of the segments"),
            Button(name="refit", label="fit again", group="Person", help="repeat the fit with these values"),
            Button(name="refit_without_static", label="fit without the static trial", group="Person"),
        ]  # fmt: skip

    def set_control(self, name: str, value: Any) -> str:
        match name:
            case "subject_source":
                self.subject_source, self.controls_changed = option_or_first(value, SUBJECT_SOURCES), True
            case "height":
                self.height = clamp_number(value, *HEIGHT_RANGE)
            case "mass":
                self.mass = clamp_number(value, *MASS_RANGE)
            case "sex":
                self.sex = option_or_first(value, SEXES)
            case "variant":
                self.variant = option_or_first(value, VARIANTS)
            case "play_range":
                self.play_range = option_or_first(value, PLAY_RANGES)
            case "ghost_offset":
                self.ghost_offset = clamp_number(value, 0.0, MAX_GHOST_OFFSET)
            case "show_markers":
                self.show_markers = bool(value)
        return ""

    def status_lines(self) -> list[str]:
        return ["No trial loaded: load one, or take the sample."]

    @classmethod
    def fit_service(
        cls,
        post_message: Callable[[str, str], None],
        show: Callable[[Any], None],
        values: Callable[[], Mapping[str, Any]],
    ) -> FitService:
        from poise.studio.fit_service import FitService  # here: the simulation process does not need it

        return FitService(post_message, show, values)
