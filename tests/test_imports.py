"""Modules loaded by importing Poise, its solvers and its command line."""

import ast
import sys
from functools import cache
from pathlib import Path

import pytest

import poise
from poise import cli, extras
from waiting import run_to_end

SOURCE = Path(__file__).parents[1] / "src/poise"
#: Packages that are slow to import, beside numpy.
HEAVY = {*extras.PACKAGES, "pinocchio", "example_robot_data", "quadprog", "proxsuite"}


@cache
def loaded_packages(program: str) -> set[str]:
    """Packages that a program has imported when it ends."""
    shown = "import atexit, sys; atexit.register(lambda: print('\\n', *sorted(sys.modules)))"
    words = [sys.executable, "-c", f"{shown}\n{program}"]
    result = run_to_end(words)
    assert result.returncode == 0, result.stderr
    return {name.partition(".")[0] for name in result.stdout.splitlines()[-1].split()}


# -- The package -------------------------------------------------------------------------------------------------------


def test_importing_poise_loads_no_dependency() -> None:
    assert not loaded_packages("import poise") & {*HEAVY, "numpy"}


def test_all_public_names_load_numpy_and_pinocchio_with_their_dependencies_only() -> None:
    used = "import poise; [getattr(poise, name) for name in poise.__all__]"
    assert loaded_packages(used) & HEAVY == loaded_packages("import numpy, pinocchio") & HEAVY


@pytest.mark.parametrize("package", sorted(poise.SUBPACKAGES))
def test_a_package_imports_no_heavy_dependency_that_it_can_do_without(package: str) -> None:
    assert loaded_packages(f"import poise.{package}") & HEAVY <= loaded_packages("import numpy, pinocchio")


def test_the_public_names_are_those_of_the_type_checking_imports() -> None:
    tree = ast.parse((SOURCE / "__init__.py").read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    imported = {
        (node.module, alias.name) for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    named = {(f"poise.{package}", name) for package, names in poise.SUBPACKAGES.items() for name in names}
    assert {pair for pair in imported if pair[0] != "poise"} == named
    packages = {name for module, name in imported if module == "poise"}
    assert packages <= set(poise.SUBPACKAGES)
    assert {name for _, name in imported} == set(poise.__all__) - {"__version__"}


def test_every_package_but_the_command_line_is_reached_from_the_package() -> None:
    packages = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    hidden = {"__init__", "__main__", "arrays", "cache", "cli", "cpu", "files", "interface", "parameters", "parsing"}
    assert set(poise.SUBPACKAGES) == packages - hidden
    assert set(poise.SUBPACKAGES) <= set(dir(poise))


def test_names_that_do_not_exist_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="module 'poise' has no attribute 'walk_on_water'"):
        poise.walk_on_water  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(ImportError, match="walk_on_water"):
        from poise import walk_on_water  # type: ignore[attr-defined]  # noqa: F401


# -- Solvers alone -----------------------------------------------------------------------------------------------------

SOLVED = """
import sys
sys.modules.update(dict.fromkeys(["scipy", "daqp", "pinocchio", "coal", "mujoco", "pyarrow"]))
from poise.solvers import Lexicographic, NullSpace, Program, Rows
program = Program([Rows([[1.0, 1.0]], 2, 2, name="sum"), [Rows([[1.0, 0.0]], 0.5, 0.5), Rows([[0.0, 2.0]], 3, 3)]])
for solver in (Lexicographic(), NullSpace()):
    solution = solver.solve(program)
    assert abs(solution.x - [0.5, 1.5]).max() < 1e-9, solution.x
    assert solution.explain().startswith("optimal")
"""


def test_the_solvers_need_numpy_alone() -> None:
    assert not loaded_packages("import poise.solvers") & HEAVY
    assert "numpy" in loaded_packages(SOLVED)


def test_the_weighted_solver_loads_daqp_when_it_is_constructed() -> None:
    assert "daqp" not in loaded_packages("from poise.solvers import Weighted")
    assert "daqp" in loaded_packages("from poise.solvers import Weighted; Weighted()")


# -- The command line --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [[], ["--help"], ["--version"], ["no-such-command"]], ids=str)
def test_help_version_and_usage_errors_load_no_dependency(words: list[str]) -> None:
    program = f"from poise.cli import main\ntry: main({words})\nexcept SystemExit: pass"
    assert not loaded_packages(program) & {*HEAVY, "numpy"}


def test_a_command_is_a_module_that_is_imported_when_it_is_used() -> None:
    shown = "print(*(name for name in sys.modules if name.startswith('poise.cli.')))"
    program = f"import sys; from poise.cli import main; main(['robots', '--json']); {shown}"
    words = [sys.executable, "-c", program]
    result = run_to_end(words)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1].split() == ["poise.cli.robots"]
    assert all((SOURCE / f"cli/{command}.py").is_file() for command in cli.COMMANDS)


# -- The studio --------------------------------------------------------------------------------------------------------


def test_the_simulation_of_the_studio_loads_no_viewer_no_server_and_no_charts() -> None:
    program = """
from multiprocessing import Pipe
from poise.studio.simulation_process import SimulationStart, main
ours, theirs = Pipe()
for word in ("request_frame", "stop"):
    ours.send((word, None))
main(theirs, SimulationStart("stand", "mighty", {}))
assert ours.recv()[0] == "ready"
"""
    found = loaded_packages(program)
    assert "mujoco" in found
    assert not found & {"viser", "websockets", "matplotlib", "PIL", "trimesh", "rich", "zmq", "ezc3d"}
