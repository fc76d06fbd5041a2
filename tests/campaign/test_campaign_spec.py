"""A spec plans the same runs every time, and errors in it are reported in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drills import parse_spec

from poise.campaign import Spec
from poise.campaign.sweep import Distribution
from poise.errors import SpecError

WALKS = """
title = "walks"
kind = "walk"
seeds = 2
[fixed]
steps = 4
[[cases]]
robot = "hoap3"
push.size = 60
[[cases]]
robot = "mighty"
push.size = 200
[grid]
push.direction = [0, 90]
"style.step_length" = [0.1, 0.2, 0.3]
speed = [[0.2, 0, 0], "0.3"]
[random]
friction = { uniform = [0.4, 0.9] }
mass-error = { choice = [-5, 5] }
[short]
seeds = 1
[short.grid]
speed = ["0.2"]
[check]
seeds = [7]
min_success_rate = 0.5
cases = [{ robot = "nao", push.size = 10 }]
"""


def test_the_plan_is_cases_times_grid_times_seeds() -> None:
    runs = parse_spec(WALKS).runs
    assert len(runs) == 2 * 2 * 3 * 2 * 2
    assert [run.index for run in runs] == list(range(len(runs)))
    keys = {(run.seed, *sorted(run.parameters.items())) for run in runs}
    assert len(keys) == len(runs)
    assert {run.parameters["push.size"] for run in runs if run.parameters["robot"] == "hoap3"} == {60.0}


def test_a_draw_depends_on_seed_and_parameter_name_only() -> None:
    draws_of_seed: dict[int, set[object]] = {}
    for run in parse_spec(WALKS).runs:
        draws_of_seed.setdefault(run.seed, set()).add((run.parameters["friction"], run.parameters["mass_error"]))
    assert all(len(values) == 1 for values in draws_of_seed.values())
    assert len({value for values in draws_of_seed.values() for value in values}) == 2
    one, two = (Distribution.parse(name, {"uniform": [0, 1]}).draw(3) for name in ("a", "b"))
    assert one != two


def test_more_seeds_do_not_change_the_draws_of_the_others() -> None:
    few, many = (parse_spec(WALKS.replace("seeds = 2", f"seeds = {n}", 1)).runs for n in (2, 5))
    known = {(run.seed, tuple(sorted(run.parameters.items()))) for run in many}
    assert all((run.seed, tuple(sorted(run.parameters.items()))) in known for run in few)


def test_the_table_of_a_size_replaces_the_keys_that_it_has() -> None:
    short, check = (Spec.parse(WALKS, "walks.toml", size) for size in ("short", "check"))
    assert len(short.runs) == 2 * 2 * 3
    assert {run.parameters["speed"] for run in short.runs} == {"0.2"}
    assert (check.seeds, check.min_success_rate, {run.parameters["robot"] for run in check.runs}) == (
        (7,),
        0.5,
        {"nao"},
    )


@pytest.mark.parametrize(
    ("distribution", "low", "high"),
    [({"uniform": [2.0, 3.0]}, 2.0, 3.0), ({"log_uniform": [0.01, 1.0]}, 0.01, 1.0), ({"integer": [1, 6]}, 1, 6)],
)
def test_draws_cover_the_range_of_their_distribution(distribution: dict[str, Any], low: float, high: float) -> None:
    draws = [Distribution.parse("x", distribution).draw(seed) for seed in range(500)]
    assert low <= min(draws) < low + 0.05 * (high - low) or min(draws) == low
    assert high - 0.05 * (high - low) < max(draws) <= high


def test_a_normal_distribution_has_its_mean_and_deviation() -> None:
    draws = np.array([Distribution.parse("x", {"normal": [5.0, 2.0]}).draw(seed) for seed in range(2000)])
    assert draws.mean() == pytest.approx(5.0, abs=4 * 2.0 / np.sqrt(2000))
    assert draws.std() == pytest.approx(2.0, rel=0.1)


def test_the_plan_changes_only_with_the_runs() -> None:
    plan = parse_spec(WALKS).plan_digest
    assert parse_spec(WALKS.replace('title = "walks"', 'title = "others"')).plan_digest == plan
    assert parse_spec(WALKS.replace("steps = 4", "steps = 5")).plan_digest != plan


@pytest.mark.parametrize(
    ("change", "evidence"),
    [
        (("seeds = 2", "seeds = 0"), "seeds: 0"),
        (("seeds = 2", "seeds = [1, 1]"), "distinct seeds"),
        (('kind = "walk"', 'kind = "wakl"'), "did you mean 'walk'?"),
        (("steps = 4", "stepps = 4"), "did you mean 'steps'?"),
        (("steps = 4", "steps = -4"), "steps: '-4' is invalid; expected a whole number"),
        (("steps = 4", "steps = 4\nset.kpp = 3"), "no setting 'kpp'"),
        (("steps = 4", 'steps = 4\nstyle = "happy"'), "there is no style 'happy'"),
        (("steps = 4", 'steps = 4\nprofile = "minimum-jerk"'), "'profile' is a parameter of 'reach'"),
        (("steps = 4", 'steps = 4\nterrain = "swamp"'), "swamp"),
        (("steps = 4", "steps = 4\nfriction = 0.5"), "'friction' is given twice"),
        (("[0.1, 0.2, 0.3]", "[0.1, 9.0]"), "expected -0.4 to 0.35"),
        (("[0.1, 0.2, 0.3]", "0.1"), "expected a list of values"),
        (("[0.1, 0.2, 0.3]", "[]"), "expected a list of values"),
        (("uniform = [0.4, 0.9]", "uniform = [0.9, 0.4]"), "expected [lowest, highest]"),
        (("uniform = [0.4, 0.9]", "unifrom = [0.4, 0.9]"), "friction.unifrom"),
        (("push.direction", "push.dierction"), "did you mean 'push.direction'?"),
        (("[grid]", "[grdi]"), "did you mean 'grid'?"),
        (("[short]", "[limits]\nseconds = -1\n[short]"), "limits.seconds"),
        (("[short]", "[keep]\nrecordings = 'some'\n[short]"), "keep.recordings"),
        (("[short]", "[short"), "not a TOML file"),
        (("seeds = 2", "seeds = 100000"), "expected at most"),
        (("seeds = 2", "seeds = [true]"), "seeds: [True]"),
        (('robot = "hoap3"', 'robot = "hoap"'), "no robot 'hoap'; did you mean 'hoap3'?"),
        (('robot = "hoap3"', 'robot = "mine.urdf"'), "there is no such file"),
        (("steps = 4", "steps = 4\nmass-error = 5\nmass_error = 6"), "'mass_error' is given twice"),
        (("steps = 4", "steps = 4\npush.time = 2\n'push.time' = 3"), "'push.time' is given twice"),
        (("choice = [-5, 5]", "choice = [1979-05-27]"), "mass_error: datetime.date(1979, 5, 27)"),
        (("choice = [-5, 5]", "choice = [{ a = 1 }]"), "expected a number, a word"),
        (('robot = "hoap3"', 'robot = "ho\\u0000.urdf"'), "expected a number, a word"),
        (("seeds = 2", "seeds = [9223372036854775808]"), "more than 64 bits"),
        (("[short]", "[limits]\nmemory_mb = inf\n[short]"), "limits.memory_mb: inf"),
        (("[short]", "[limits]\nmemory_mb = 1\n[short]"), "expected 300 to"),
        (("[short]", "[full]\nseeds = 5\n[short]"), "there is no key 'full'"),
        (("[short]", "[check.gird]\nx = 1\n[short]"), "in [check] of a spec"),
    ],
)
def test_an_error_in_a_spec_is_one_clear_line(change: tuple[str, str], evidence: str) -> None:
    assert change[0] in WALKS
    with pytest.raises(SpecError) as error:
        assert parse_spec(WALKS.replace(*change, 1)).runs
    assert evidence in str(error.value)
    assert "\n" not in str(error.value)


def test_a_choice_may_be_of_lists() -> None:
    text = WALKS.replace('speed = [[0.2, 0, 0], "0.3"]', "").replace(
        "[random]", "[random]\nspeed = { choice = [[0.2, 0, 0], [0.1, 0, 0.1]] }"
    )
    assert {run.parameters["speed"] for run in parse_spec(text).runs} <= {"0.2,0,0", "0.1,0,0.1"}


def test_a_byte_order_mark_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "walks.toml").write_text(WALKS, encoding="utf-8-sig")
    assert Spec.load(tmp_path / "walks.toml").plan_digest == parse_spec(WALKS).plan_digest


def test_files_are_relative_to_the_spec_and_part_of_the_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lab").mkdir()
    (tmp_path / "away").mkdir()
    monkeypatch.chdir(tmp_path / "away")
    style, text = tmp_path / "lab/mine.toml", 'kind = "walk"\n[fixed]\nrobot = "nao"\nstyle = "mine.toml"\n'
    style.write_text("step_length = 0.1\n")
    first = Spec.parse(text, str(tmp_path / "lab/walks.toml"))
    assert [run.parameters["style"] for run in first.runs] == [str(style)]
    plan = first.plan_digest
    assert Spec.parse(text, str(tmp_path / "lab/walks.toml")).plan_digest == plan
    style.write_text("step_length = 0.2\n")
    assert Spec.parse(text, str(tmp_path / "lab/walks.toml")).plan_digest != plan
    style.rename(tmp_path / "away/mine.toml")  # in the current folder, which is not searched
    with pytest.raises(SpecError, match="cannot be read"):
        assert Spec.parse(text, str(tmp_path / "lab/walks.toml")).runs


def test_a_marker_set_is_known_or_a_file_beside_the_spec(tmp_path: Path) -> None:
    (tmp_path / "walk.c3d").write_bytes(b"")
    text = 'kind = "human fit"\n[fixed]\ntrial = "walk.c3d"\nmarker_set = "{}"\n'
    for name, evidence in (("skin94", "no marker set 'skin94'"), ("mine.toml", "cannot be read")):
        with pytest.raises(SpecError, match=evidence):
            assert Spec.parse(text.format(name), str(tmp_path / "people.toml")).runs
    assert Spec.parse(text.format("skin49"), str(tmp_path / "people.toml")).runs


def test_a_trial_of_a_folder_is_a_parameter_of_its_own(tmp_path: Path) -> None:
    from poise.human import sample_trial, write_sample

    write_sample(tmp_path / "lab", *sample_trial(cycles=2))
    text = 'kind = "human fit"\n[fixed]\nfolder = "lab"\n[grid]\ncutoff = [5, 6]\n'
    spec = Spec.parse(text, str(tmp_path / "people.toml"))
    trials = {Path(str(run.parameters["trial"])).name for run in spec.runs}
    assert {"walk.c3d", "walk.trc"} <= trials
    assert len(spec.runs) == 2 * len(trials)
    with pytest.raises(SpecError, match="there is no folder"):
        assert Spec.parse(text.replace('"lab"', '"labor"'), str(tmp_path / "people.toml")).runs
