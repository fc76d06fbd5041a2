"""Links between documentation pages resolve, and lists on the pages are complete."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import poise
from poise import analysis, constraints, exports, tasks
from poise.behaviors import Walk
from poise.plans import PARAMETERS, STYLES, Style
from poise.plans.style import TORQUE_JOINTS
from poise.robots import description, library_names

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
WALKING = ROOT / "docs/walking.md"


def anchors(page: Path) -> set[str]:
    """Anchors of the headings of a page."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def blocks(page: Path, language: str) -> list[str]:
    """The fenced blocks of a page in this language."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_relative_links_resolve(page: Path) -> None:
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", prose):
        if "://" in link or link.startswith("mailto:"):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{link} has no target"
        assert not anchor or anchor in anchors(target), f"{path or page.name} has no heading '#{anchor}'"


#: Classes of other packages that the pages mention: daqp.
FOREIGN_CLASSES = {"Model"}


@cache
def assigned_members(module: str) -> set[str]:
    """All names that methods of the classes of a module assign or read as members."""
    file = Path(str(importlib.import_module(module).__file__))
    return set(re.findall(r"\bself\.(\w+)", file.read_text())) if file.suffix == ".py" else set()


@cache
def members_by_class() -> dict[str, set[str]]:
    """The members of every class of Poise by its name."""
    found: dict[str, set[str]] = {}
    for module in pkgutil.walk_packages(poise.__path__, "poise."):
        if module.name.endswith("__main__"):
            continue
        for name, kind in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if kind.__module__.startswith("poise."):
                members = found.setdefault(name, set(dir(kind)))
                for base in kind.__mro__:
                    if base.__module__.startswith("poise."):
                        members |= {*vars(base).get("__annotations__", ()), *assigned_members(base.__module__)}
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_member_that_a_page_names_exists(page: Path) -> None:
    prose = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    spans = " ".join(re.findall(r"`([^`\n]+)`", prose))
    for name, member in re.findall(r"(?<![\w./])([A-Z]+[a-z]\w*)\.([a-z_]\w+)", spans):
        if name in FOREIGN_CLASSES or (name, member) == ("CMakeLists", "txt") or page.name == "CHANGELOG.md":
            continue
        assert member in members_by_class().get(name, ()), f"there is no {name}.{member}"


def test_a_custom_task_is_ten_lines_and_two_methods() -> None:
    (program,) = (block for block in blocks(ROOT / "docs/adding/task.md", "python") if "class SameHeight(" in block)
    assert len(program.splitlines()) <= 10
    assert re.findall(r"def (\w+)", program) == ["__init__", "value", "jacobian"]


@pytest.mark.parametrize("room", [tasks, constraints])
def test_every_task_and_constraint_is_documented(room: object) -> None:
    page = (ROOT / "docs/tasks.md").read_text()
    bases = {tasks.Task, tasks.MotionTask, tasks.FrameTask, constraints.JointLimit}
    public = [getattr(room, name) for name in room.__all__]  # type: ignore[attr-defined]
    for thing in public:
        if inspect.isclass(thing) and issubclass(thing, tasks.Task) and thing not in bases:
            assert f"`{thing.__name__}" in page, f"docs/tasks.md does not describe {thing.__name__}"


def test_every_key_of_a_description_is_documented() -> None:
    page = (ROOT / "docs/robots.md").read_text()
    keys = re.findall(r"^ {4}\[?(\w+)[^\n]*(?:=|\])", description.__doc__ or "", flags=re.MULTILINE)
    assert len(keys) > 15
    for key in keys:
        assert re.search(rf"`\[?{key}\b", page), f"docs/robots.md does not describe {key}"


def test_every_channel_is_documented() -> None:
    page = (ROOT / "docs/recording.md").read_text()
    robot = poise.load_robot(ROOT / "examples/biped.urdf")
    start = poise.State(robot, robot.rest)
    hierarchy = poise.Hierarchy(levels=[poise.Level("LEVEL", [tasks.Posture(np.zeros(16), name="TASK")])])
    for order in (poise.VELOCITY, poise.ACCELERATION):
        recording = poise.record(poise.KinematicController(hierarchy, order=order), poise.IdealPlant(start), 0.01)
        for name in recording.channels:
            if "always" not in name:
                shown = name.replace("/level", "/LEVEL").replace("/task", "/TASK")
                assert f"`{shown}`" in page, f"docs/recording.md does not describe {shown}"


def test_every_robot_of_the_library_is_documented() -> None:
    page = (ROOT / "docs/robots.md").read_text()
    for name in library_names():
        assert f"| `{name}` |" in page, f"docs/robots.md does not describe {name}"


def test_every_export_format_is_documented() -> None:
    page = (ROOT / "docs/export.md").read_text()
    for name in exports.FORMATS:
        assert f"| `{name}` |" in page, f"docs/export.md does not describe {name}"


def test_the_parameters_of_a_style_are_those_on_its_page() -> None:
    rows = [
        f"| `{name}` | {parameter.unit or 'none'} | {parameter.low:.4g} to {parameter.high:.4g} | "
        f"{parameter.description} |"
        for name, parameter in PARAMETERS.items()
    ]
    table = "\n".join(["| parameter | unit | range | is |", "|---|---|---|---|", *rows]) + "\n\n"
    page = WALKING.read_text()
    assert table in page, f"docs/walking.md needs this table of parameters:\n{table}"
    assert all(f'"{word}"' in page for word in TORQUE_JOINTS)


def test_the_named_styles_and_the_measures_are_those_on_the_page_of_walking() -> None:
    page = WALKING.read_text()
    named = re.findall(r"^\| `(\w+)` \|", page.split("### Presets")[1].split("\n### ")[0], flags=re.MULTILINE)
    assert named == list(STYLES)
    measured = re.findall(r"^\| `(\w+)` \|", page.split("\n## Measures")[1], flags=re.MULTILINE)
    assert measured == list(analysis.STYLE_MEASURES)


@pytest.mark.needs_models
def test_the_style_file_on_the_page_of_walking_can_be_walked(tmp_path: Path) -> None:
    (text,) = blocks(WALKING, "toml")
    (tmp_path / "shy.toml").write_text(text)
    style = Style.load(tmp_path / "shy.toml")
    robot = poise.load_robot("g1")
    assert {joint.name for joint in robot.joints} >= set(style.rest_posture)
    assert Walk(robot, style).style.name == "shy"


def test_spin_moves_the_center_of_mass_as_documented_on_the_page_of_walking() -> None:
    """Any force f of the ground at z, with f_z = m g: L̇ = (z - c) x f, and c̈ = f / m - g."""
    random = np.random.default_rng(0)
    for _ in range(10):
        m, h = random.uniform(5.0, 90.0), random.uniform(0.3, 1.0)
        c, z = np.array([*random.normal(size=2), h]), np.array([*random.normal(size=2), 0.0])
        f = np.array([*random.normal(0.0, 50.0, 2), 9.81 * m])
        spin = np.cross(z - c, f)
        pull = 9.81 / h * (c - z)[:2]
        np.testing.assert_allclose(f[:2] / m, [pull[0] - spin[1] / (m * h), pull[1] + spin[0] / (m * h)], rtol=1e-9)
