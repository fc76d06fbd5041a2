"""Malformed TOML files are refused in one line by every reader."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from poise.errors import PoiseError
from poise.human import load_marker_set
from poise.parsing import MAX_DEPTH, parse_toml
from poise.plans import Style
from poise.robots import load_robot

READERS: dict[str, Callable[[Path], Any]] = {"robot": load_robot, "style": Style.load, "marker set": load_marker_set}
DAMAGED = {
    "a number of 5000 digits": "x = " + "9" * 5000,
    "a number of 400 digits": "x = " + "9" * 400,
    "lists in lists": "x = " + "[" * 20_000 + "]" * 20_000,
    "tables in tables": ".".join("x" * 2000) + " = 1",
    "half a character": b"x = '\xff'",
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("damage", DAMAGED)
def test_a_malformed_file_is_refused_in_one_line(reader: str, damage: str, tmp_path: Path) -> None:
    path, text = tmp_path / "given.toml", DAMAGED[damage]
    path.write_bytes(text if isinstance(text, bytes) else text.encode())  # type: ignore[attr-defined]
    with pytest.raises(PoiseError, match=r"given.toml'?:? (is )?not a TOML file: ") as caught:
        READERS[reader](path)
    assert len(str(caught.value).splitlines()) == 1


def test_valid_files_are_read() -> None:
    deep = "x" + " = [" + "[" * (MAX_DEPTH - 3) + "]" * (MAX_DEPTH - 3) + "]"
    assert "x" in parse_toml(deep.encode())
    assert parse_toml(b"x = 9223372036854775807\ny.z = 1") == {"x": 2**63 - 1, "y": {"z": 1}}


def test_packages_that_are_no_list_are_refused(tmp_path: Path) -> None:
    (tmp_path / "robot.toml").write_text("packages = 3\n")
    with pytest.raises(PoiseError, match="packages is 3; expected a list of texts"):
        load_robot(tmp_path / "robot.toml")


@pytest.mark.parametrize("reader", [load_robot, load_marker_set])
def test_a_name_too_long_for_any_file_is_refused(reader: Callable[[str], Any]) -> None:
    with pytest.raises(PoiseError, match=r"no |there is"):
        reader("g" * 5000)


def test_a_chain_of_more_joints_than_any_robot_is_refused_before_it_takes_memory(tmp_path: Path) -> None:
    inertia = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    limit = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
    links = "".join(f'<link name="l{i}">{inertia}</link>' for i in range(301))
    joints = "".join(
        f'<joint name="j{i}" type="revolute"><parent link="l{i}"/><child link="l{i + 1}"/>{limit}</joint>'
        for i in range(300)
    )
    (tmp_path / "long.urdf").write_text(f'<robot name="long">{links}{joints}</robot>')
    with pytest.raises(PoiseError, match="300 degrees of freedom; expected at most 194"):
        load_robot(tmp_path / "long.urdf")
