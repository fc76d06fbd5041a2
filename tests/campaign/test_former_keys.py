"""Specs and campaign folders of earlier versions load: each former name stands for its current one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest
from drills import parse_spec

from poise.campaign import RUN_KINDS, Results, former_keys, run_campaign, success_rate_by
from poise.campaign.kinds import find_run_kind
from poise.campaign.spec import SPEC_KEYS
from poise.errors import SpecError, UsageError
from poise.runs import MOTIONS, campaign_parameters

CURRENT = """
title = "drills"
kind = "fault drill"
seeds = 2
min_success_rate = 0.5
[grid]
action = ["nothing", "fail"]
[keep]
recordings = "all"
max_recordings = 3
[short]
min_success_rate = 0.25
grid.action = ["nothing"]
keep.max_recordings = 1
"""
FORMER = """
title = "drills"
behavior = "drill"
seeds = 2
floor = 0.5
[grid]
do = ["nothing", "fail"]
[keep]
recordings = "all"
most = 3
[short]
floor = 0.25
grid.do = ["nothing"]
keep.most = 1
"""
#: All tables of former names, with the current names that must exist.
TABLES: list[tuple[Mapping[str, str], set[str]]] = [
    (former_keys.FORMER_SPEC_KEYS, set(SPEC_KEYS)),
    (former_keys.FORMER_KINDS, set(RUN_KINDS)),
    (former_keys.FORMER_MOTION_COLUMNS, set(find_run_kind("walk").columns)),
    *((former_keys.FORMER_MOTION_PARAMETERS, set(campaign_parameters(motion))) for motion in MOTIONS.values()),
    *((table, set(find_run_kind(kind).columns)) for kind, table in former_keys.FORMER_COLUMNS.items()),
]


@pytest.mark.parametrize("size", ["full", "short"])
def test_a_spec_with_every_former_key_is_the_same_campaign(size: str) -> None:
    former, current = (type(parse_spec(text)).parse(text, "made_up.toml", size) for text in (FORMER, CURRENT))
    assert former.plan_digest == current.plan_digest
    assert (former.min_success_rate, former.max_recordings) == (current.min_success_rate, current.max_recordings)
    assert former.min_success_rate == (0.5 if size == "full" else 0.25)
    assert list(former.columns) == list(current.columns)
    for table in (former_keys.FORMER_SPEC_KEYS, former_keys.FORMER_KEEP_KEYS, {"do": "action"}):
        assert all(f"{key} = " in FORMER and f"{name} = " in CURRENT for key, name in table.items())


def test_both_names_of_a_key_are_a_mistake() -> None:
    with pytest.raises(SpecError, match="'floor' is the former name of 'min_success_rate'"):
        parse_spec(CURRENT.replace("seeds = 2", "seeds = 2\nfloor = 0.5"))
    with pytest.raises(SpecError, match="'most' is the former name of 'max_recordings'"):
        parse_spec(CURRENT.replace("max_recordings = 3", "max_recordings = 3\nmost = 3"))


#: A value of each parameter of all motions that had another name.
MOTION_VALUES = {"break": "swapped@1", "carry": 10.0}


@pytest.mark.parametrize("former", former_keys.FORMER_MOTION_PARAMETERS)
@pytest.mark.parametrize("kind", ["stand", "squat", "walk"])
def test_a_former_parameter_of_a_motion_gives_the_same_runs(kind: str, former: str) -> None:
    name = former_keys.FORMER_MOTION_PARAMETERS[former]
    text = f'kind = "{kind}"\n[fixed]\nrobot = "hoap3"\nmode = "position"\n'
    before, now = (parse_spec(f"{text}{key} = {MOTION_VALUES[former]!r}\n") for key in (former, name))
    assert before.runs == now.runs
    assert list(before.parameters) == ["robot", "mode", name]


@pytest.mark.parametrize(("former", "current"), TABLES)
def test_a_former_name_is_not_used_any_more_and_its_current_name_is(
    former: Mapping[str, str], current: set[str]
) -> None:
    assert set(former.values()) <= current
    assert not set(former) & current


def test_a_folder_that_an_earlier_version_wrote_loads() -> None:
    results = Results.load(Path(__file__).parent / "files/former_folder")
    facts = ("kind", "planned_runs", "min_success_rate", "plan_digest")
    assert [results.facts[name] for name in facts] == ["fault drill", 4, 0.5, "39b2d8d24214172c"]
    assert results["action"] == ["nothing", "nothing", "fail", "fail"]
    draws = [float(np.random.default_rng(seed).uniform()) for seed in (0, 1)]
    assert results["random_number"] == [*draws, None, None]
    assert success_rate_by(results, "action")[("nothing",)].count == 2


def write_as_former_version(folder: Path, kind: str) -> None:
    """Rewrite the files of a campaign as an earlier version wrote them."""
    columns = {
        **former_keys.FORMER_MOTION_COLUMNS,
        **former_keys.FORMER_PARAMETERS.get(kind, {}),
        **former_keys.FORMER_COLUMNS.get(kind, {}),
    }
    former_column = {name: former for former, name in columns.items()}
    former_fact = {name: former for former, name in former_keys.FORMER_FACTS.items()}
    facts = json.loads((folder / "campaign.json").read_text(encoding="utf-8"))
    for name in ("parameters", "columns"):
        facts[name] = {former_column.get(each, each): column for each, column in facts[name].items()}
    facts = {former_fact.get(name, name): value for name, value in facts.items()}
    assert former_fact.keys().isdisjoint(facts)
    assert former_keys.FORMER_FACTS.keys() <= facts.keys()
    facts["behavior"] = {name: former for former, name in former_keys.FORMER_KINDS.items()}.get(kind, kind)
    (folder / "campaign.json").write_text(json.dumps(facts), encoding="utf-8")
    table = pyarrow.parquet.read_table(folder / "results.parquet")
    table = table.rename_columns([former_column.get(name, name) for name in table.column_names])
    pyarrow.parquet.write_table(table, folder / "results.parquet")


def facts_without_times(results: Results) -> dict[str, Any]:
    return {name: value for name, value in results.facts.items() if name not in ("seconds", "started")}


@pytest.mark.parametrize(
    "text",
    [CURRENT, 'kind = "solver programs"\nseeds = 3\n[fixed]\ngenerator = "small"\n'],
    ids=["fault drill", "solver programs"],
)
def test_the_folder_of_an_earlier_version_holds_the_same_results(text: str, tmp_path: Path) -> None:
    spec = parse_spec(text)
    current = run_campaign(spec, tmp_path / "out", workers=1)
    write_as_former_version(tmp_path / "out", spec.kind.name)
    former = Results.load(tmp_path / "out")
    assert former.table.equals(current.table)
    assert (former.parameters, former.columns) == (current.parameters, current.columns)
    assert facts_without_times(former) == facts_without_times(current)


def test_a_campaign_of_an_earlier_version_can_be_continued(tmp_path: Path) -> None:
    """One run is in the table, one in the journal, and the last one is missing."""
    spec = parse_spec('kind = "solver programs"\nseeds = 3\n[fixed]\ngenerator = "small"\n')
    whole = run_campaign(spec, tmp_path / "whole", workers=1)
    run_campaign(spec, tmp_path / "out", workers=1)
    write_as_former_version(tmp_path / "out", spec.kind.name)
    rows, costs = (pyarrow.parquet.read_table(tmp_path / "out" / f"{name}.parquet") for name in ("results", "costs"))
    assert "undecided" in rows.column_names
    entry = {"run": 1, "row": rows.to_pylist()[1], "cost": costs.to_pylist()[1]}
    (tmp_path / "out/journal.jsonl").write_text(json.dumps(entry) + "\n", encoding="utf-8")
    pyarrow.parquet.write_table(rows.slice(0, 1), tmp_path / "out/results.parquet")
    pyarrow.parquet.write_table(costs.slice(0, 1), tmp_path / "out/costs.parquet")
    assert len(Results.load(tmp_path / "out")) == 2
    assert run_campaign(spec, tmp_path / "out", workers=1).table.equals(whole.table)


@pytest.mark.parametrize("facts", [[], 3, {"kind": ["walk"]}, {"columns": 3}])
def test_facts_of_a_wrong_type_do_not_raise(facts: Any) -> None:
    renamed = former_keys.rename_facts(facts)
    assert renamed == facts if not isinstance(facts, dict) else renamed["kind"] in ("", "['walk']")


def test_a_row_with_both_names_of_a_column_is_a_mistake() -> None:
    with pytest.raises(UsageError, match="'drawn' is the former name of 'random_number'"):
        former_keys.rename_columns({"drawn": 0.5, "random_number": 0.5}, "fault drill")
