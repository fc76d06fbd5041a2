"""The benchmark measures the same problem for all contenders and returns plain data. Times are not tested here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.peers import __main__ as peers_program
from benchmarks.peers import biomechanics, dynamics, kinematics
from benchmarks.peers.problems import DynamicsProblem, KinematicsProblem
from benchmarks.solvers import __main__ as solver_program
from benchmarks.solvers import contenders as solver_contenders
from benchmarks.solvers import measurement, results
from benchmarks.solvers.contenders import QuadraticProgram
from benchmarks.solvers.measurement import contenders
from benchmarks.solvers.workloads import Workload, generated_workloads, recorded_workloads, workloads
from poise.arrays import Array
from poise.errors import UsageError
from poise.solvers import Program

STEPS = 2
SHAPES = {"generated_kinematics": (35, 78, 5), "generated_dynamics": (59, 178, 6)}
WEIGHTED = ("weighted", "daqp weighted", "quadprog", "proxqp")


@pytest.fixture(scope="module")
def messages() -> list[str]:
    return []


@pytest.fixture(scope="module")
def result(messages: list[str]) -> dict[str, Any]:
    pytest.importorskip("poise.solvers._kernel")
    return measurement.run(repeat=1, progress=messages.append, workloads=generated_workloads(steps=STEPS))


def entries(result: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [workload["contenders"][name] for workload in result["workloads"] if name in workload["contenders"]]


def weighted_cost(program: Program, x: Array) -> float:
    qp = QuadraticProgram.of(program)
    value = qp.A @ x
    slack = value - np.clip(value, qp.lower, qp.upper)
    return float(x @ qp.H @ x / 2.0 + qp.f @ x + qp.weight @ slack**2 / 2.0)


def test_the_result_is_plain_data(result: dict[str, Any]) -> None:
    assert json.loads(json.dumps(result, allow_nan=False)) == result


def test_every_contender_has_times_ratios_and_failures(result: dict[str, Any]) -> None:
    for workload in result["workloads"]:
        assert set(workload["contenders"]) | set(result["missing"]) >= {"strict", "strict (kernel)", *WEIGHTED}
        for entry in workload["contenders"].values():
            times = entry["microseconds"]
            assert 0.0 < times["median"] <= times["p99"] <= times["max"]
            assert set(entry["ratio"]) == set(entry["quiet_ratio"]) == {"median", "p99", "max"}
            assert entry["solves"] == STEPS
            assert set(entry["failures"]) >= {"total", "flag", "nonfinite", "violation"}


def test_strict_never_fails_and_counts_its_operations(result: dict[str, Any]) -> None:
    for name in ("strict", "strict (kernel)"):
        assert entries(result, name)
        for entry in entries(result, name):
            assert set(entry["failures"].values()) == {0}, entry
            assert entry["certificate"] <= results.CERTIFICATE_TOLERANCE
            assert set(entry["counters"]) == set(results.COUNTERS)


def test_the_bars_are_those_of_the_project(result: dict[str, Any]) -> None:
    for workload in result["workloads"]:
        assert {key: bar["bar"] for key, bar in workload["bars"].items()} == {"median": 1.2, "p99": 6.0}
        for key, bar in workload["bars"].items():
            assert bar["measured"] == workload["contenders"]["strict"]["ratio"][key]
            assert bar["passed"] == (bar["measured"] <= bar["bar"])
    assert result["passed"] == all(
        bar["passed"] for workload in result["workloads"] for bar in workload["bars"].values()
    )


def test_the_table_has_a_line_for_each_contender(result: dict[str, Any]) -> None:
    lines = results.format_table(result).splitlines()
    for workload in result["workloads"]:
        assert any(line.startswith(workload["name"]) for line in lines)
        for name in workload["contenders"]:
            assert sum(line.startswith(f"  {name}  ") for line in lines) == len(result["workloads"])
    assert max(map(len, lines)) <= 120


def test_progress_is_one_line_per_workload_and_missing_contender(result: dict[str, Any], messages: list[str]) -> None:
    assert len(messages) == len(result["workloads"]) + len(result["missing"])


#: Result of a comparison without OpenSim.
NO_OPENSIM: dict[str, Any] = {"opensim": None, "skipped": {"opensim": "not installed"}, "trials": []}


class FakeContender:
    """Contender that does nothing."""

    version = "0"

    def __init__(self, name: str, allowed: dict[str, float]) -> None:
        self.name, self.errors = name, dict.fromkeys(allowed, 0.0)
        self.answers: dict[int, Any] = {}

    def run_steps(self, steps: int) -> tuple[list[float], dict[str, float]]:
        return [20.0] * steps, self.errors


@pytest.fixture
def fake_steps(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Replacement for whole steps, which would build environments; returns their results for two rounds."""
    reach = [FakeContender(name, KinematicsProblem.ALLOWED) for name in ("poise", "pink")]
    sway = [FakeContender(name, DynamicsProblem.ALLOWED) for name in ("poise", "tsid")]

    def kinematic(rounds: int, progress: Any) -> dict[str, Any]:
        return kinematics.measure(reach, rounds, steps=3, progress=progress)

    def dynamic(rounds: int, progress: Any) -> dict[str, Any]:
        return {"robots": {"g1": dynamics.measure(sway, rounds=rounds, progress=progress)}, "passed": True}

    monkeypatch.setattr(kinematics, "run", kinematic)
    monkeypatch.setattr(dynamics, "run", dynamic)
    monkeypatch.setattr(biomechanics, "run", lambda progress: NO_OPENSIM)
    return peers_program.run(rounds=2)


@pytest.fixture
def fake_solvers(result: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Replacement for the solvers, whose measurement takes minutes; records the requests."""
    calls: list[dict[str, Any]] = []

    def run(data: Any, repeat: int, progress: Any, workloads: Any = None) -> dict[str, Any]:
        calls.append({"data": data, "repeat": repeat, "workloads": workloads})
        progress("measuring")
        print("a solver that prints")
        return {**result, "workloads": result["workloads"] if workloads is None else workloads}

    monkeypatch.setattr(measurement, "run", run)
    return calls


def test_the_program_prints_the_table_alone_and_writes_figures_and_baseline(
    result: dict[str, Any], fake_solvers: list[dict[str, Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figures, baseline = tmp_path / "run.json", tmp_path / "baseline.json"
    words = ["--repeat", "3", "--data", str(tmp_path), "--json", str(figures), "--baseline", str(baseline)]
    assert solver_program.main(words) == 0
    assert fake_solvers == [{"data": tmp_path, "repeat": 3, "workloads": None}]
    printed = capsys.readouterr()
    assert printed.out == results.format_table(result) + "\n"
    assert printed.err == "measuring\na solver that prints\n"
    assert json.loads(figures.read_text()) == result
    assert json.loads(baseline.read_text()) == results.ratios_and_counts(result)


def test_without_files_to_write_the_program_writes_none(
    fake_solvers: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert solver_program.main([]) == 0
    assert fake_solvers == [{"data": None, "repeat": 5, "workloads": None}]
    assert list(tmp_path.iterdir()) == []


def test_the_program_of_the_peers_adds_whole_steps_to_the_solvers(
    result: dict[str, Any],
    fake_solvers: list[dict[str, Any]],
    fake_steps: dict[str, Any],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert result["peers"] is None
    assert peers_program.main(["--rounds", "2", "--json", str(tmp_path / "run.json")]) == 0
    written = json.loads((tmp_path / "run.json").read_text())
    assert written == {**result, "peers": fake_steps, "people": NO_OPENSIM}
    assert set(written["peers"]["contenders"]) == {"poise", "pink"}
    assert set(written["peers"]["dynamics"]["robots"]["g1"]["contenders"]) == {"poise", "tsid"}
    tables = [
        results.format_table(result),
        kinematics.table(fake_steps),
        dynamics.table(fake_steps["dynamics"]),
        "OpenSim left out: not installed",
    ]
    assert capsys.readouterr().out == "\n\n".join(tables) + "\n"


def test_whole_steps_can_be_measured_without_the_solvers(
    fake_solvers: list[dict[str, Any]], fake_steps: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert peers_program.main(["--steps-only", "--rounds", "2"]) == 0
    assert [call["workloads"] for call in fake_solvers] == [[]]
    printed = capsys.readouterr().out
    assert printed.startswith("whole steps of inverse kinematics on G1: 2 rounds")
    assert "generated_" not in printed


@pytest.mark.parametrize("main", [solver_program.main, peers_program.main], ids=["solvers", "peers"])
@pytest.mark.parametrize(
    ("arguments", "evidence"),
    [
        (["--data", "no/such/folder"], "there is no folder 'no/such/folder'"),
        (["--repeat", "none"], "'none' is not a count; expected a whole number"),
        (["--repeat", "0"], "'0' is not a count; expected a whole number"),
        (["--json", "no/such/folder/run.json"], "there is no folder 'no/such/folder' to write"),
        (["--jsno"], "--jsno"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_bad_options_are_refused_before_anything_is_measured(
    main: Any, arguments: list[str], evidence: str, fake_solvers: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert evidence in capsys.readouterr().err
    assert fake_solvers == []


@pytest.mark.parametrize("main", [solver_program.main, peers_program.main], ids=["solvers", "peers"])
def test_an_error_while_measuring_ends_without_a_traceback(
    main: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(error: BaseException) -> Any:
        def run(*_: object, **__: Any) -> None:
            raise error

        return run

    monkeypatch.setattr(measurement, "run", fail(UsageError("no recorded\nsequences")))
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 2
    assert capsys.readouterr().err.endswith("error: no recorded sequences\n")
    monkeypatch.setattr(measurement, "run", fail(KeyboardInterrupt()))
    assert main([]) == 130


def test_poise_meets_the_tolerances_of_the_peers() -> None:
    pytest.importorskip("poise.state._motion")
    ours = kinematics.PoiseKinematics()
    ours.run_steps(200)
    times, errors = ours.run_steps(100)
    assert len(times) == 100
    assert all(errors[name] < allowed for name, allowed in KinematicsProblem.ALLOWED.items())
    assert set(ours.parts(5)) == {"pinocchio", "assembly", "solve", "integration"}


def test_the_stored_baseline_has_ratios_and_no_times(result: dict[str, Any]) -> None:
    stored = json.dumps(results.ratios_and_counts(result))
    assert '"quiet_ratio"' in stored
    assert "microseconds" not in stored
    assert "machine" not in stored


def test_a_package_that_is_not_installed_is_missing_and_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    genuine = solver_contenders.importlib.import_module

    def import_module(name: str) -> Any:
        if name == "quadprog":
            raise ImportError(name)
        return genuine(name)

    monkeypatch.setattr(solver_contenders.importlib, "import_module", import_module)
    present, missing = contenders(levels=3)
    assert "pip install" in missing["quadprog"]
    assert "quadprog" not in [one.name for one in present]
    assert "daqp weighted" in [one.name for one in present]


@pytest.mark.parametrize("workload", generated_workloads(steps=12), ids=lambda workload: workload.name)
def test_the_weighted_contenders_solve_the_same_problem(workload: Workload) -> None:
    present, _ = contenders(len(workload.programs[0]))
    costs = {}
    for one in present:
        if one.name in WEIGHTED:
            answers = [one.read(one.solve(one.prepare(program))) for program in workload.programs]
            costs[one.name] = [
                weighted_cost(program, answer.x) if answer.ok else np.nan
                for program, answer in zip(workload.programs, answers, strict=True)
            ]
    reference = np.array(costs["daqp weighted"])
    assert np.isfinite(reference).all()
    for name, found in costs.items():
        assert np.nanmax(np.abs(np.array(found) - reference) / (1.0 + np.abs(reference))) < 1e-5, name


def test_generated_workloads_are_the_same_for_the_same_seed_and_differ_for_another() -> None:
    first, again, other = (generated_workloads(steps=3, seed=seed) for seed in (1, 1, 2))
    for one, two, three in zip(first, again, other, strict=True):
        for p, q, r in zip(one.programs, two.programs, three.programs, strict=True):
            assert np.array_equal(p.A, q.A)
            assert np.array_equal(p.lower, q.lower)
            assert np.array_equal(p.upper, q.upper)
            assert not np.array_equal(p.A, r.A)


def test_generated_workloads_have_the_shape_of_a_humanoid_and_vary_smoothly() -> None:
    for workload in generated_workloads(steps=20):
        for program in workload.programs:
            assert (program.variables, program.rows, len(program)) == SHAPES[workload.name]
        steps = [np.abs(b.A - a.A).max() for a, b in zip(workload.programs, workload.programs[1:], strict=False)]
        assert 0.0 < max(steps) < 0.5


def test_recorded_sequences_are_read_with_their_levels(tmp_path: Path) -> None:
    (kinematics, _) = generated_workloads(steps=3)
    programs = kinematics.programs
    level = np.repeat(np.arange(5), np.diff(programs[0].level_begin))
    shuffled = np.random.default_rng(0).permutation(len(level))
    parts = {"A": [p.A for p in programs], "lb": [p.lower for p in programs], "ub": [p.upper for p in programs]}
    stacked = {key: np.stack(values)[:, shuffled] for key, values in parts.items()}
    np.savez(tmp_path / "walk.npz", lev=level[shuffled], **stacked)  # type: ignore[arg-type]
    (recorded,) = recorded_workloads(tmp_path)
    assert (recorded.name, recorded.source, len(recorded.programs)) == ("walk", "recorded", 3)
    for p, q in zip(programs, recorded.programs, strict=True):
        assert p.level_begin == q.level_begin
        assert np.array_equal(np.sort(p.lower[p.slice(0)]), np.sort(q.lower[q.slice(0)]))
    assert [workload.name for workload in workloads(tmp_path)] == ["walk", *SHAPES]
    assert len(recorded.first(2).programs) == 2


def test_a_folder_without_sequences_or_with_others_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="no recorded sequences"):
        workloads(tmp_path)
    monkeypatch.setenv("POISE_DATA", str(tmp_path))
    with pytest.raises(UsageError, match="no recorded sequences"):
        workloads()
    good = {"A": np.ones((2, 1, 3)), "lb": np.zeros((2, 1)), "ub": np.ones((2, 1)), "lev": np.zeros(1, dtype=int)}
    bad = {
        "lev": (np.array([-1]), "levels"),
        "lb": (np.zeros((2, 2)), "expected steps"),
        "A": (np.zeros(3), "expected"),
    }
    for key, (value, evidence) in bad.items():
        np.savez(tmp_path / "bad.npz", **{**good, key: value})  # type: ignore[arg-type]
        with pytest.raises(UsageError, match=evidence):
            workloads(tmp_path)
    (tmp_path / "bad.npz").write_bytes(b"not a sequence")
    with pytest.raises(UsageError, match="not a recorded sequence"):
        workloads(tmp_path)
