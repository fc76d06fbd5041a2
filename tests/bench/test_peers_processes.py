"""Peers run in their own processes and environments; failures there are reported with a reason."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.peers import processes
from benchmarks.peers.kinematics import kinematics_peers, measure, robot_urdf, urdf_without_shapes
from benchmarks.peers.problems import KinematicsProblem
from benchmarks.peers.processes import DYNAMICS, HARD_FEET, PEERS, Environment, PeerError, Worker
from poise.errors import UsageError

WORKERS = Path(processes.__file__).parent / "workers"

ROBOT = """<robot name="r"><material name="m"/>
  <link name="pelvis"><visual><geometry><mesh filename="a.stl"/></geometry></visual>
    <inertial><mass value="1"/></inertial><collision/></link>
  <link name="foot"/>
  <joint name="knee" type="revolute"><parent link="pelvis"/><child link="foot"/>
    <limit lower="-1" upper="1" effort="5" velocity="20"/></joint>
</robot>"""

#: A peer that moves a point instead of a robot, and prints to standard output.
POINT = f"""
import sys
sys.path.insert(0, {str(WORKERS)!r})
import numpy as np
from serve import Poses, serve
class Point:
    version, mass = "0.1", 1.0
    def __init__(self, urdf, hard_feet): self.p, self.n = np.ones(3), 0; print("hello")
    def step(self, target):
        self.p, self.n = target, self.n + 1
        print("step", self.n)
        if self.n == 8: raise ValueError("out of joints")
    def parts(self, target, watch): watch.lap("nothing"); self.p = target; watch.lap("all")
    def poses(self): return Poses(self.p, [(np.zeros(3), np.eye(3))] * 2, np.zeros(3))
serve(Point)
"""


def robot_or_skip() -> Path:
    try:
        return robot_urdf()
    except UsageError as error:
        pytest.skip(str(error))


@pytest.fixture
def point_command(tmp_path: Path) -> list[str | Path]:
    script = tmp_path / "point_worker.py"
    script.write_text(POINT)
    return [sys.executable, script, "kinematics", "robot.urdf", "soft"]


def test_a_worker_answers_chunk_after_chunk_along_one_trajectory(point_command: list[str | Path]) -> None:
    with Worker("point", point_command) as worker:
        assert (worker.name, worker.version, worker.start["hand"]) == ("point", "0.1", [1.0, 1.0, 1.0])
        for chunk in (3, 4):
            microseconds, errors = worker.run_steps(chunk)
            assert len(microseconds) == chunk
            assert min(microseconds) > 0.0
            assert errors == dict.fromkeys(KinematicsProblem.ALLOWED, 0.0)
        assert {part: len(times) for part, times in worker.parts(5).items()} == {"nothing": 5, "all": 5}


def test_output_of_a_peer_does_not_disturb_the_messages(point_command: list[str | Path]) -> None:
    with Worker("point", point_command) as worker:
        assert len(worker.run_steps(2)[0]) == 2


def test_a_failing_peer_is_skipped_with_its_reason(point_command: list[str | Path]) -> None:
    with Worker("point", point_command) as worker:
        result = measure([worker], rounds=9, steps=3)
    assert result["skipped"] == {"point": "point stopped: ValueError: out of joints"}
    assert result["contenders"] == {}


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("raise SystemExit(3)", "exit 3"),
        ("import no_such_library", "ModuleNotFoundError: No module named 'no_such_library'"),
        ("print('good morning')", "answered 'good morning' instead of JSON"),
        ("import time; time.sleep(60)", "did not answer for 0.5 s"),
    ],
)
def test_a_peer_that_does_not_start_is_an_error_of_one_line(code: str, why: str) -> None:
    timeout = 0.5 if "sleep" in code else 30.0
    with pytest.raises(PeerError, match=why) as caught:
        Worker("sick", [sys.executable, "-c", code], timeout)
    assert "\n" not in str(caught.value)


def test_a_closed_worker_can_be_closed_again_but_answers_no_request(point_command: list[str | Path]) -> None:
    worker = Worker("point", point_command)
    worker.close()
    worker.close()
    with pytest.raises(PeerError, match="closed"):
        worker.run_steps(1)


def test_a_missing_interpreter_is_reported(tmp_path: Path) -> None:
    with pytest.raises(PeerError, match="does not start: No such file"):
        Worker("gone", [tmp_path / "python", "-c", ""])


def test_the_bare_description_keeps_links_joints_inertia_and_limits(tmp_path: Path) -> None:
    source = tmp_path / "robot.urdf"
    source.write_text(ROBOT)
    root = ElementTree.fromstring(urdf_without_shapes(source))
    assert {element.tag for element in root.iter()} == {
        *("robot", "link", "joint", "inertial", "mass", "parent", "child", "limit")
    }
    assert [limit.get("velocity") for limit in root.iter("limit")] == ["20"]
    fast = ElementTree.fromstring(urdf_without_shapes(source, floating=True, speed=0.4))
    assert [limit.get("velocity") for limit in fast.iter("limit")] == ["0.4"]
    assert [joint.get("type") for joint in fast.iter("joint")] == ["revolute", "floating"]


def test_an_invalid_urdf_is_bad_input(tmp_path: Path) -> None:
    source = tmp_path / "robot.urdf"
    source.write_text("no robot")
    with pytest.raises(UsageError, match="cannot be read as a URDF"):
        urdf_without_shapes(source)


def test_the_robot_of_the_problem_has_its_links_and_joints() -> None:
    root = ElementTree.fromstring(urdf_without_shapes(robot_or_skip()))
    links = {link.get("name") for link in root.iter("link")}
    joints = [joint.get("name", "") for joint in root.iter("joint") if joint.get("type") == "revolute"]
    assert {
        KinematicsProblem.BASE,
        KinematicsProblem.HAND,
        KinematicsProblem.HAND_BODY,
        *KinematicsProblem.FEET,
    } <= links
    assert len(joints) == 29
    assert all(any(joint.endswith(ending) for joint in joints) for ending in KinematicsProblem.ANGLES)


@pytest.fixture
def small_environment() -> Environment:
    return Environment("pink", ("pin-pink==4.4.0", "daqp==0.10.3"))


def test_an_environment_is_built_once_and_only_from_wheels(
    small_environment: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[list[str]] = []

    def record_command(words: list[str], message: str) -> None:
        commands.append(words)
        python = processes.interpreter(Path(words[-1]))
        if "venv" in words:
            python.parent.mkdir(parents=True)
            python.touch()

    monkeypatch.setattr(processes, "run_command", record_command)
    messages: list[str] = []
    python = small_environment.python(tmp_path, messages.append)
    assert small_environment.python(tmp_path, messages.append) == python
    assert python.exists()
    assert [words[2] for words in commands] == ["venv", "pip"]
    assert "--only-binary=:all:" in commands[1]
    assert commands[1][-2:] == ["pin-pink==4.4.0", "daqp==0.10.3"]
    assert [path.name for path in tmp_path.iterdir()] == [small_environment.folder_name]
    assert len(messages) == 2


def test_a_build_that_fails_leaves_nothing_behind(
    small_environment: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(words: list[str], error_text: str) -> None:
        if "pip" in words:
            raise PeerError(f"{error_text}: No matching distribution found for pin-pink")

    monkeypatch.setattr(processes, "run_command", fail)
    with pytest.raises(PeerError, match="cannot install pink: No matching distribution"):
        small_environment.python(tmp_path, lambda message: None)
    assert list(tmp_path.iterdir()) == []


def test_the_error_of_a_failed_command_is_its_last_error_line() -> None:
    code = "import sys; print('ERROR: no wheel', file=sys.stderr); print('hint: none'); sys.exit(1)"
    with pytest.raises(PeerError, match="cannot install it: no wheel"):
        processes.run_command([sys.executable, "-c", code], "cannot install it")
    with pytest.raises(PeerError, match=r"nothing after 0\.2 s"):
        processes.run_command([sys.executable, "-c", "import time; time.sleep(60)"], "slow", timeout=0.2)


def test_peers_that_cannot_be_built_are_skipped_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    robot_or_skip()
    occupied = tmp_path / "peers"
    occupied.write_text("a file where a folder should be")
    monkeypatch.setenv("POISE_PEERS", str(occupied))
    messages: list[str] = []
    with kinematics_peers(progress=messages.append) as (workers, skipped):
        assert workers == []
    assert set(skipped) == {peer.name for peer in PEERS}
    assert all("no environment in" in why for why in skipped.values())
    assert sum(message.startswith("left out") for message in messages) == len(PEERS)


def test_the_cache_folder_is_set_by_a_variable_and_defaults_to_that_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POISE_PEERS", str(tmp_path))
    assert processes.cache_folder() == tmp_path
    monkeypatch.delenv("POISE_PEERS")
    assert processes.cache_folder().parts[-2:] == ("poise", "peers")


def test_the_python_of_a_peer_does_not_inherit_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    assert not {"PYTHONPATH", "PYTHONSAFEPATH"} & set(processes.process_variables())


PROBLEMS = WORKERS.parent / "problems.py"


@pytest.mark.parametrize("path", [*sorted(WORKERS.glob("*.py")), PROBLEMS], ids=lambda path: path.name)
def test_a_worker_never_imports_poise(path: Path) -> None:
    imported = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            imported |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add((node.module or "").split(".")[0])
    assert not {"poise", "benchmarks"} & imported
    if path == PROBLEMS:
        assert imported <= {"__future__", *sys.stdlib_module_names}


@pytest.mark.parametrize("peer", [*PEERS, *HARD_FEET, *DYNAMICS], ids=lambda peer: f"{peer.name}, {peer.script.stem}")
def test_every_peer_has_its_script_and_pins_its_versions(peer) -> None:  # type: ignore[no-untyped-def]
    assert peer.script.is_file()
    assert all("==" in requirement for requirement in peer.environment.requirements)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("speed", [None, KinematicsProblem.TIGHT_SPEED])
def test_all_peers_have_the_same_robot_and_meet_the_tolerances(speed: float | None) -> None:
    robot_or_skip()
    with kinematics_peers([*PEERS, *HARD_FEET], speed) as (workers, skipped):
        if not workers:
            pytest.skip(f"no peer: {skipped}")
        for worker in workers:
            for key, value in workers[0].start.items():
                assert worker.start[key] == pytest.approx(value, abs=1e-9)
        result = measure(workers, rounds=10, steps=100, skipped=skipped)
    assert all(entry["within_tolerance"] for entry in result["contenders"].values())
    assert all(entry["parts"] for entry in result["contenders"].values())
