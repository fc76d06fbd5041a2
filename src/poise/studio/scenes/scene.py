"""Scene: what one page of the studio simulates and lets its user do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from poise.control import Step
from poise.errors import UsageError
from poise.plants.ground import Flat, Ground
from poise.plants.things import Thing
from poise.robots import Robot
from poise.studio.controls import Control
from poise.studio.hands import Hands
from poise.studio.soles import Soles
from poise.studio.viewer.scenery import Plan

if TYPE_CHECKING:
    from poise.studio.gait.desk import Desk

Point = tuple[float, float, float]


class Act(NamedTuple):
    """Something that moves, and what decides how."""

    controller: Any
    plant: Any


class Scene(ABC):
    """One file of `poise.studio.scenes` each; it lives in the process of the simulation.

    A scene says what moves (`acts`), declares its controls, and answers when they are used. Everything else, the loop,
    the view, recording, pages, is the same for all scenes. Nothing here may block.

    Args:
        robot: who moves.

    Attributes:
        name: one word.
        title, hint: what the user reads.
        sticks: whether it is driven by a stick.
        guided: for a scene that takes keys, pads and six axes as they are (see `take`), what the page must know of it:
            "modes", each with "name" and "hint", the "keys" that count, and the legends "keyboard", "gamepad" and
            "flight_stick"; else {}.
        order: its place among the tabs.
        robots: names of those that it is made for; none: for all.
        stale: whether what was used last can only be taken over by beginning anew; the simulation then resets.
        soles: what the force cells tell, where a robot balances by them; None elsewhere.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    hint: ClassVar[str]
    sticks: ClassVar[bool] = False
    guided: ClassVar[Mapping[str, Any]] = {}
    order: ClassVar[int] = 99
    robots: ClassVar[tuple[str, ...]] = ()

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.stale = False
        self.soles: Soles | None = None

    @abstractmethod
    def acts(self) -> dict[str, Act]:
        """What moves, by name, made anew from what the controls say: "robot" first, and perhaps a "ghost"."""

    @abstractmethod
    def controls(self) -> list[Control]:
        """What the user may turn, with its values of now."""

    @abstractmethod
    def do(self, name: str, value: Any) -> str:
        """A control was used; what to tell the user, or "". PoiseError for what does not work."""

    def values(self) -> dict[str, Any]:
        """Of the controls, as they are now."""
        return {c.name: control["value"] for c in self.controls() if "value" in (control := c.as_json())}

    def drive(self, forward: float, left: float, turn: float) -> None:  # noqa: B027  not every scene
        """A stick is held so, from -1 to 1; zeros when it is let go, or nobody is there any more."""

    def take(self, hands: Hands | None) -> None:  # noqa: B027  not every scene
        """Keys, pads and sticks are held so; None when whoever held something is not heard any more."""

    def leave(self) -> None:  # noqa: B027  not every scene
        """Nobody watches any more: come to rest."""

    def places(self) -> dict[str, Point]:
        """How far from where it is an act is shown (m), by its name, where it is not shown in its place."""
        return {}

    def gizmos(self) -> dict[str, Point]:
        """Points that can be dragged, and where they are (m)."""
        return {}

    def drag(self, name: str, place: Point) -> None:  # noqa: B027  not every scene
        """A point was dragged there (m)."""

    def tick(self, steps: Mapping[str, Step]) -> None:  # noqa: B027  not every scene
        """After each period, with the steps of all acts."""

    def words(self) -> list[str]:
        """What is the case, in sentences."""
        return []

    def plans(self) -> dict[str, Plan]:
        """What is going to be, for the view: "accepted" is being done, "next" would be."""
        return {}

    def guide(self) -> dict[str, Any] | None:
        """Of a guided scene: what is heard and what becomes of it, see `NavigateScene.guide`."""
        return None

    def facts(self) -> dict[str, Any]:
        """For the provenance of a recording."""
        return {}

    @property
    def ground(self) -> Ground:
        return Flat()

    @property
    def look(self) -> Point | None:
        """From where it is seen at first, as a direction; None: from the front and the right."""
        return None

    @property
    def things(self) -> Sequence[Thing]:
        """What stands on it."""
        return ()

    # -- files: in the process of the pages, which simulates nothing ----------------------------------------------

    @classmethod
    def replayed(cls, facts: Mapping[str, Any], robot: Robot) -> tuple[Ground, Sequence[Thing]] | None:
        """The ground of a recording of this scene, and what stood on it, by its facts; None: as the facts' terrain."""
        return None

    @classmethod
    def desk(
        cls,
        say: Callable[[str, str], None],
        show: Callable[[Any], None],
        values: Callable[[], Mapping[str, Any]],
    ) -> Desk | None:
        """Who works for this scene beside the simulation, with files that take long; see `poise.studio.gait.desk`."""
        return None

    @classmethod
    def read(cls, control: str, name: str, data: bytes) -> Any:
        """What a file of the user's says, as a value for `do`; UsageError if it makes no sense."""
        raise UsageError(f"'{name}' cannot be used here; this scene reads no files")

    @classmethod
    def written(cls, control: str, values: Mapping[str, Any]) -> tuple[str, str]:
        """Name and text of a file for the user, from the values of the controls."""
        raise UsageError(f"there is nothing to save as '{control}'")
