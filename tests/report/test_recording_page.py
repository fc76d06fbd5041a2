"""The page of a recording has every section, lists missing data, has the right values, and is self-contained."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from page_reader import Page, read_sections, value
from PIL import Image
from recorded_motions import BIPED, PARTS, dynamic_recording, kinematic_recording

from poise.analysis import compute_trajectories, peak, peak_rate, root_mean_square
from poise.errors import PoiseError
from poise.html import Section, assemble_page, table
from poise.plants import EnvironmentGeometry, Stairs
from poise.recording import Channel, Recording
from poise.rendering.opengl_context import open_context
from poise.report import RECORDING_SECTIONS, save_page
from poise.report.balance_view import balance_section
from poise.report.control_quality import smoothness_section, task_errors_section, timing_section
from poise.report.force_charts import contact_forces_section
from poise.report.joint_angles import comparison_section
from poise.report.key_frames import key_frames_section
from poise.report.recording_page import overview_section, recording_page, summary_section
from poise.report.recording_view import recording_views
from poise.robots import Robot, load_robot

TITLES = [
    "Summary",
    "Overview",
    "Key frames",
    "Joint angles by limb",
    "Torques by limb",
    "Torques as a share of their limits",
    "Task errors by level",
    "Balance",
    "Contact forces",
    "Solver times and fallbacks",
    "Comparison after time normalization",
    "Smoothness",
]
#: Sections of walks, after the key frames.
WALKING = ["Footprints", "Style measures", "Gait cycle", "Angular momentum"]
#: Of people with markers, and of human bodies that walk.
PEOPLE = ["Stick figure", "Markers", "Gait angles"]
#: Of guided motions.
GUIDED = ["Guided-point navigation"]
#: Where force cells were recorded, after the contact forces.
CELLS = ["Load and ZMP under each sole"]


@pytest.fixture(scope="module", autouse=True)
def without_graphics() -> Iterator[None]:
    """Disable pictures, which take seconds; one test enables them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MUJOCO_GL", "off")
        yield


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot(BIPED, **PARTS)


@pytest.fixture(scope="module")
def kinematic_motion(robot: Robot) -> Recording:
    return kinematic_recording(robot, 0.5)


@pytest.fixture(scope="module")
def torque_recording(robot: Robot) -> Recording:
    return dynamic_recording(robot, 0.8, reach=0.12)


@pytest.fixture(scope="module")
def text(kinematic_motion: Recording, torque_recording: Recording) -> str:
    return recording_page({"motion": kinematic_motion, "torque & <force>": torque_recording})


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


def test_a_page_is_well_formed_and_has_every_section(page: Page) -> None:
    after = TITLES.index("Contact forces") + 1
    assert list(page.sections) == [*TITLES[:after], *CELLS, *TITLES[after:]]  # no walk
    assert len(RECORDING_SECTIONS) == len(TITLES) + len(CELLS) + len(WALKING) + len(GUIDED) + len(PEOPLE)


def test_a_page_needs_nothing_but_itself(text: str, page: Page) -> None:
    assert "http" not in text
    assert "<script" not in text
    for element, name, target in page.attributes:
        if name in ("src", "href", "xlink:href", "srcset", "data", "poster"):
            assert target.startswith(("data:", "#")), (element, name, target)
    assert all("data:" in link or "#" in link for link in re.findall(r"url\(([^)]*)\)", text))
    assert "@import" not in text


def test_ids_are_unique_and_every_link_has_a_target(page: Page) -> None:
    names = [target for _, name, target in page.attributes if name == "id"]
    assert len(names) == len(set(names))
    links = {target[1:] for _, name, target in page.attributes if name == "href"}
    assert links <= set(names)


def test_building_twice_gives_the_same_page(
    text: str, kinematic_motion: Recording, torque_recording: Recording
) -> None:
    assert recording_page({"motion": kinematic_motion, "torque & <force>": torque_recording}) == text


def test_names_cannot_break_the_page(text: str, page: Page) -> None:
    assert "torque & <force>" not in text
    assert "torque & <force>" in page.sections["Overview"]


def test_both_axes_of_every_figure_have_a_unit(page: Page) -> None:
    assert len(page.labels) > 20
    for axes, figure in zip(page.axes(), page.labels, strict=True):
        assert len(axes) == 2 or "left_hip_pitch" in figure, figure  # joints by name need no unit


def test_every_figure_has_a_text_description(page: Page) -> None:
    described = [target for element, name, target in page.attributes if (element, name) == ("svg", "aria-label")]
    assert len(described) == len(page.labels)
    assert all(described)


def test_sections_list_the_missing_data_of_a_kinematic_recording(page: Page) -> None:
    assert "motion: no torques were recorded" in page.sections["Torques by limb"]
    assert "motion: no torques were recorded" in page.sections["Torques as a share of their limits"]
    assert "motion: no contact forces were recorded" in page.sections["Contact forces"]
    assert "fewer than two of the recordings have torques" in page.sections["Comparison after time normalization"]


def test_the_largest_torque_and_its_share_are_those_of_the_recording(
    page: Page, torque_recording: Recording, robot: Robot
) -> None:
    torque = torque_recording["command/torque"]
    most = peak(torque)
    name = torque_recording.labels["command/torque"][most.column]
    section = page.sections["Torques by limb"]
    assert f"is {np.abs(torque).max():.3g} N m, at {name}" in section.replace("\n", " ")
    shares = np.abs(torque) / [
        robot.limits.torque[robot.joint(j).v - 6] for j in torque_recording.labels["command/torque"]
    ]
    first = page.tables["Torques as a share of their limits"][2]
    assert (
        first[0] == torque_recording.labels["command/torque"][int(np.unravel_index(shares.argmax(), shares.shape)[1])]
    )
    assert value(first[3]) == pytest.approx(100 * shares.max(), abs=0.5)


def test_every_limb_of_the_robot_has_its_torques(page: Page) -> None:
    captions = " ".join(page.captions["Torques by limb"])
    for limb in ("left leg", "right leg", "left arm", "right arm"):
        assert limb in captions


def test_phases_are_named_above_the_torques(page: Page) -> None:
    assert sum("lift" in figure and "hold" in figure and "torque (N m)" in figure for figure in page.labels) == 4


def test_errors_of_levels_are_those_of_the_recording(page: Page, torque_recording: Recording) -> None:
    row = next(cells for cells in page.tables["Task errors by level"] if cells[0].startswith("reach"))
    level = torque_recording.levels()["reach"]
    assert row[0] == "reach (m)"
    assert [value(cell) for cell in row[4:6]] == pytest.approx([level["rms"], level["max"]], rel=5e-3)


def test_the_balance_is_that_of_the_tracks(page: Page, kinematic_motion: Recording, robot: Robot) -> None:
    tracks = compute_trajectories(kinematic_motion, robot)
    inner = range(1, kinematic_motion.samples - 1)
    expected = [1e3 * np.nanmin(tracks.margins(points, inner)) for points in (tracks.center_of_mass[:, :2], tracks.zmp)]
    cells = [value(page.cell("Balance", "motion", k)) for k in (1, 2)]
    assert cells == pytest.approx(expected, rel=1e-2)
    assert page.cell("Balance", "motion", 3) == "zero-moment point of the motion"
    assert page.cell("Balance", "torque & <force>", 3) == "measured center of pressure"


def test_planned_forces_are_compared_with_measured_forces(
    page: Page, torque_recording: Recording, robot: Robot
) -> None:
    row = next(cells for cells in page.tables["Contact forces"] if cells[0] == "torque & <force>, left_foot")
    planned, measured = torque_recording["force/left_foot/fz"], torque_recording["measured/force/left_foot/fz"]
    apart = np.sqrt(np.mean((planned - measured) ** 2))
    assert [value(cell) for cell in row[1:4]] == pytest.approx([planned.mean(), measured.mean(), apart], rel=5e-3)
    assert value(row[4]) == pytest.approx(100 * apart / (9.81 * robot.mass), rel=0.1)


def test_times_are_those_of_the_recording(page: Page, kinematic_motion: Recording) -> None:
    spread = kinematic_motion.milliseconds("control")
    row = next(cells for cells in page.tables["Solver times and fallbacks"] if cells[0] == "control call (ms)")
    assert [value(cell) for cell in row[1:4]] == pytest.approx(list(spread.values()), rel=5e-3)
    assert "No fallback was needed" in page.sections["Solver times and fallbacks"]


def test_smoothness_of_torques_is_that_of_the_measures(page: Page, torque_recording: Recording) -> None:
    torque, period = torque_recording["command/torque"], torque_recording.period
    section = "Smoothness"
    assert value(page.cell(section, "root mean square (N m)", 1)) == pytest.approx(root_mean_square(torque), rel=5e-3)
    assert value(page.cell(section, "peak rate (N m/s)", 1)) == pytest.approx(peak_rate(torque, period).value, rel=5e-3)


def test_differences_of_angles_are_those_after_normalisation(robot: Robot, torque_recording: Recording) -> None:
    same = read_sections({"one": torque_recording, "other": torque_recording}, comparison_section, smoothness_section)
    rows = [
        cells for cells in same.tables["Comparison after time normalization"] if cells[0] in ("left leg", "left arm")
    ]
    assert len(rows) == 2
    assert all(value(cells[1]) == 0.0 for cells in rows)
    assert same.cell("Smoothness", "peak rate (N m/s)", 3) == "1.00"


def with_result(recording: Recording, **changes: Any) -> Recording:
    """Return a recording with the result of a run."""
    result = {
        **dict.fromkeys(("steps", "distance_m", "heading_rad", "zmp_margin_m", "reach_errors_m", "limits", "reason")),
        "behavior": "reach", "robot": "biped", "mode": "kinematic", "plant": "ideal", "seconds": 0.5, "fell": False,
        "control_ms": {"median": 0.1, "p99": 0.2, "max": 9.0}, "realtime_factor": 2.0, "fallbacks": {},
        "overruns": {"ticks": 1, "steps": 100, "period_ms": 5.0, "worst_ms": 9.0, "worst_time_s": 0.1},
        "nonfinite_commands": 0, "warnings": ["a foot slips by 20 mm (at most 10)"], **changes,
    }  # fmt: skip
    return Recording(recording.channels.values(), {**recording.provenance, "result": result}, recording.robot)


def test_a_report_begins_with_the_verdict_and_its_reason(kinematic_motion: Recording) -> None:
    good = with_result(kinematic_motion, reach_errors_m=[0.001, 0.002])
    bad = with_result(kinematic_motion, reason="target 1 missed by 20.0 mm", reach_errors_m=[0.02, 0.03])
    alone = read_sections({"run": good}, summary_section)
    text = " ".join(alone.sections["Summary"].split())
    assert text.startswith("Succeeded.reach on biped, kinematic control on an ideal plant, 0.50 s.")
    assert alone.cell("Summary", "reach errors", 1) == "1.00, 2.00 mm"
    assert "Warning: a foot slips by 20 mm (at most 10)." in text
    both = read_sections({"good": good, "bad": bad}, summary_section)
    assert "bad: failed: target 1 missed by 20.0 mm." in both.sections["Summary"]
    assert [cells for cells in both.tables["Summary"] if cells[0] == "reach errors"] == [
        ["reach errors", "1.00, 2.00 mm", "20.00, 30.00 mm"]
    ]
    classes = {value for element, name, value in both.attributes if (element, name) == ("p", "class")}
    assert {"verdict good", "verdict bad"} <= classes


def test_a_recording_without_a_result_has_no_verdict_unless_it_fell(kinematic_motion: Recording) -> None:
    fallen = {
        **kinematic_motion.provenance,
        "fall": {"time": 0.2, "reason": "fell at 0.20 s: trunk touches the ground"},
    }
    damaged = {**kinematic_motion.provenance, "result": {"fell": False}}
    recordings = {
        "plain": kinematic_motion,
        "fallen": Recording(kinematic_motion.channels.values(), fallen, kinematic_motion.robot),
        "damaged": Recording(kinematic_motion.channels.values(), damaged, kinematic_motion.robot),
    }
    text = read_sections(recordings, summary_section).sections["Summary"]
    assert "plain: not judged" in text
    assert "fallen: failed: fell at 0.20 s: trunk touches the ground." in text
    assert "damaged: not judged" in text


def test_long_tables_fold_and_short_ones_do_not() -> None:
    short, long = (table(["joint", "angle"], [(f"j{k}", "1") for k in range(n)], "Angles.") for n in (12, 13))
    assert "<details>" not in short
    assert long.startswith("<details><summary>Angles (13 rows)</summary>")
    Page(assemble_page("tables", [Section("Tables", short + long)]))


def test_the_page_of_one_recording_states_that_there_is_no_comparison(kinematic_motion: Recording) -> None:
    page = read_sections({"alone": kinematic_motion}, comparison_section)
    assert "one recording only" in page.sections["Comparison after time normalization"]


def test_without_graphics_the_page_states_that_pictures_are_missing(page: Page) -> None:
    assert "pictures are missing: cannot render without OpenGL: MUJOCO_GL is 'off'" in page.sections["Key frames"]


def test_key_frames_stand_in_the_page(kinematic_motion: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MUJOCO_GL")
    try:
        open_context(16, 16).free()
    except PoiseError as error:
        pytest.skip(str(error))
    html = key_frames_section(recording_views({"alone": kinematic_motion})).html
    assert html.count('src="data:image/jpeg;base64,') == 1
    assert len(html) < 400_000


def test_key_frames_show_the_stairs_under_the_robot(
    kinematic_motion: Recording, robot: Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MUJOCO_GL")
    try:
        open_context(16, 16).free()
    except PoiseError as error:
        pytest.skip(str(error))

    def picture_line(provenance: dict[str, Any]) -> np.ndarray:
        recording = Recording(
            [Channel._unchecked(each.header, each.values[:2]) for each in kinematic_motion.channels.values()],
            {**kinematic_motion.provenance, **provenance},
            robot,
        )
        html = key_frames_section(recording_views({"alone": recording})).html
        found = re.search(r'src="data:image/jpeg;base64,([^"]*)"', html)
        assert found is not None
        image = Image.open(io.BytesIO(base64.b64decode(found[1]))).convert("L")
        return np.array(image, dtype=int)[-12]  # a line near the lower edge, across the ground before the feet

    stairs = EnvironmentGeometry.of(Stairs(-0.15, 0.3, 4), robot.stance("standing")).facts()
    flat, descending = picture_line({}), picture_line({"environment": stairs})
    risers = [np.sum(np.diff((line[400:640] < 110).astype(int)) == 1) for line in (flat, descending)]
    assert risers[0] == 0
    assert risers[1] >= 2  # edges in shadow, beyond the feet of the first posture
    assert np.std(descending[:300]) < 0.5 * np.std(flat[:300])  # a plain landing instead of tiles


def bare_recording(**channels: Any) -> Recording:
    """A foreign recording: a time channel and little else."""
    return Recording([Channel("time", "s", np.arange(5) * 0.1), *channels.values()], {"robot": "nobody"})


#: Recordings with few channels, or with NaN only.
ODD = {
    "empty": Recording([Channel("time", "s", [])]),
    "one sample": Recording([Channel("time", "s", [0.0])]),
    "no duration": Recording([Channel("time", "s", [1.0, 1.0])]),
    "clock": bare_recording(),
    "astray": bare_recording(q=Channel("q", "rad", np.full((5, 9), np.nan))),
    "no torques": bare_recording(torque=Channel("command/torque", "N m", np.full((5, 2), np.nan))),
    "torques": bare_recording(
        torque=Channel("command/torque", "N m", np.ones((5, 2))), q=Channel("q", "rad", np.ones((5, 9)))
    ),
    "no forces": bare_recording(
        force=Channel("force/foot", "N", np.full((5, 6), np.nan), ("fx", "fy", "fz", "mx", "my", "mz"))
    ),
    "center": bare_recording(com=Channel("center_of_mass", "m", np.ones((5, 3)), ("x", "y", "z"))),
    "phases": bare_recording(phase=Channel("phase", "", ["a", "a", "b", "b", "c"])),
}


@pytest.mark.parametrize(
    "names",
    [*([name] for name in ODD), [*ODD, "motion"], ["motion", *ODD]]
    + [pytest.param(pair, marks=pytest.mark.slow) for name in ODD for pair in ([name, "motion"], ["motion", name])],
    ids=", ".join,
)
def test_recordings_of_any_kind_make_a_page(names: list[str], kinematic_motion: Recording) -> None:
    recordings = {**ODD, "motion": kinematic_motion}
    page = Page(recording_page({name: recordings[name] for name in names}))
    assert [title for title in TITLES if title in page.sections] == list(page.sections)
    assert list(page.sections)[:2] == ["Summary", "Overview"]
    assert all(any(c.isalnum() for c in body.replace(title, "")) for title, body in page.sections.items())


def test_an_incomplete_recording_is_marked(kinematic_motion: Recording) -> None:
    cut = Recording(
        kinematic_motion.channels.values(), kinematic_motion.provenance, kinematic_motion.robot, complete=False
    )
    early = Recording(
        kinematic_motion.channels.values(),
        {**kinematic_motion.provenance, "outcome": "interrupted"},
        kinematic_motion.robot,
    )
    page = read_sections({"cut": cut, "early": early}, overview_section)
    assert "cut: The file is truncated: this is its intact part, up to 0.49 s" in page.sections["Overview"]
    assert "early: The recording ended early: interrupted" in page.sections["Overview"]


def test_a_model_that_is_missing_or_has_other_joints_is_named(kinematic_motion: Recording) -> None:
    lost = Recording(kinematic_motion.channels.values(), {"robot": "no_such_robot"})
    page = read_sections({"lost": lost}, overview_section, balance_section, task_errors_section)
    assert "lost: The model of its robot is missing:" in page.sections["Overview"]
    assert "lost: no support polygon, since the model of its robot is missing" in page.sections["Balance"]
    assert "reach (m)" in page.sections["Task errors by level"]
    other = Recording([c for c in kinematic_motion.channels.values() if c.key != "v"], {}, kinematic_motion.robot)
    assert (
        "has other joints than the recording" in read_sections({"other": other}, overview_section).sections["Overview"]
    )


def test_robots_of_different_joints_are_compared_where_they_can_be(kinematic_motion: Recording, tmp_path: Path) -> None:
    renamed = tmp_path / "other.urdf"
    renamed.write_text(re.sub(r'(<joint name="\w+)"', r'\1_x"', BIPED.read_text()))
    joints = {f"{name}_x": angle for name, angle in PARTS["stances"]["standing"]["joints"].items()}
    robot = load_robot(renamed, **{**PARTS, "stances": {"standing": {"joints": joints}}})
    page = read_sections({"one": kinematic_motion, "other": kinematic_recording(robot, 0.5)}, comparison_section)
    section = page.sections["Comparison after time normalization"]
    assert "no joint name in common with one" in section
    assert "relative to the start" in section
    assert any("z (% of height)" in figure for figure in page.labels)
    assert any("speed (heights/s)" in figure for figure in page.labels)


def test_fallbacks_are_listed_with_their_first_time_and_reason(kinematic_motion: Recording) -> None:
    words = np.array([""] * kinematic_motion.samples, dtype=object)
    words[7:9] = "hold: the state has NaN"
    channels = [
        Channel("control/fallback", "", words) if c.key == "control/fallback" else c
        for c in kinematic_motion.channels.values()
    ]
    recording = Recording(channels, kinematic_motion.provenance, kinematic_motion.robot)
    page = read_sections({"run": recording}, overview_section, timing_section)
    row = next(cells for cells in page.tables["Solver times and fallbacks"] if cells[0] == "run: hold")
    assert row[1:] == ["2", "0.035", "the state has NaN"]
    assert page.cell("Overview", "fallbacks", 1) == "2"


def test_a_page_is_saved_whole_or_not_at_all(kinematic_motion: Recording, tmp_path: Path, text: str) -> None:
    titles: list[str] = []
    path = save_page(tmp_path / "r.html", {"run": kinematic_motion}, titles.append)
    assert Page(path.read_text(encoding="utf-8")).sections
    assert titles == [section.__name__.removesuffix("_section").replace("_", " ") for section in RECORDING_SECTIONS]
    with pytest.raises(PoiseError, match="is a folder"):
        save_page(tmp_path, {"run": kinematic_motion})
    with pytest.raises(PoiseError, match="no folder"):
        save_page(tmp_path / "none/r.html", {"run": kinematic_motion})
    with pytest.raises(PoiseError, match="no recordings given"):
        save_page(tmp_path / "s.html", {})
    assert [file.name for file in tmp_path.iterdir()] == ["r.html"]
    assert len(text) < 1_000_000


def test_the_center_of_pressure_of_forces_is_the_zero_moment_point_of_the_motion(robot: Robot) -> None:
    recording = dynamic_recording(robot, 0.5, noise=0.0)
    middle = slice(5, -5)  # differences at the ends are one-sided
    expected = compute_trajectories(recording, robot).zmp[middle]
    assert recording["center_of_pressure"][middle] == pytest.approx(expected, abs=2e-3)


def test_contacts_and_levels_are_shown_by_their_labels() -> None:
    axes = ("fx", "fy", "fz", "mx", "my", "mz")
    wrench = Channel("force/left_heel_1", "N", np.full((5, 6), 50.0), axes, "force/left heel 1")
    error = Channel("error/free_foot/pose", "m", np.ones((5, 1)), ("x",), "error/free foot/pose")
    page = read_sections({"a": bare_recording(wrench=wrench, error=error)}, contact_forces_section, task_errors_section)
    assert [cells[0] for cells in page.tables["Contact forces"]][1:] == ["a, left heel 1"]
    assert "free foot (m)" in [cells[0] for cells in page.tables["Task errors by level"]]
