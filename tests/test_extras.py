"""Lazy imports of third-party packages, and one-line errors for packages that are not installed."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from command_line import record_bend
from poise import extras, human
from poise.errors import MissingPackageError, PoiseError
from shared_data import require_models
from waiting import run_to_end

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src/poise"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def type_checking_statements(tree: ast.AST) -> list[ast.stmt]:
    """Statements that only type checkers see."""
    blocks = [node for node in ast.walk(tree) if isinstance(node, ast.If)]
    return [each for node in blocks if ast.unparse(node.test) == "TYPE_CHECKING" for each in node.body]


def imported_modules(nodes: list[ast.stmt]) -> set[str]:
    """Modules that statements import."""
    return {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}


def distributions(requirements: list[str]) -> set[str]:
    return {re.split(r"[^\w.-]", requirement, maxsplit=1)[0] for requirement in requirements}


# -- The table ---------------------------------------------------------------------------------------------------------


def test_type_checking_imports_are_the_packages_of_the_table_with_their_modules() -> None:
    listed = {
        f"{name}.{module}" if module else name
        for name, package in extras.PACKAGES.items()
        for module in package.modules or ("",)
    }
    assert imported_modules(type_checking_statements(ast.parse((SOURCE / "extras.py").read_text()))) == listed


def test_every_package_of_the_table_is_exported() -> None:
    assert set(extras.__all__) == {*extras.PACKAGES, "PACKAGES", "Package", "load", "require"}


def test_packages_of_the_table_are_imported_through_extras() -> None:
    """Other modules import them for type checkers only."""
    found = {}
    for path in SOURCE.rglob("*.py"):
        tree = ast.parse(path.read_text())
        checked = {id(node) for statement in type_checking_statements(tree) for node in ast.walk(statement)}
        nodes = [node for node in ast.walk(tree) if id(node) not in checked]
        modules = [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level]
        modules += [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
        found[str(path.relative_to(SOURCE))] = {module.partition(".")[0] for module in modules} & set(extras.PACKAGES)
    assert not {path: names for path, names in found.items() if names}


def test_each_package_comes_with_the_extra_that_its_error_names() -> None:
    for name, package in extras.PACKAGES.items():
        listed = PROJECT["optional-dependencies"][package.extra] if package.extra else PROJECT["dependencies"]
        brought = distributions(listed)
        for direct in list(brought):  # trimesh and rich come with viser
            brought |= distributions(metadata.requires(direct) or []) if direct == "viser" else set()
        assert (package.distribution or name) in brought, name


def test_the_core_installs_these_packages_and_no_others() -> None:
    assert distributions(PROJECT["dependencies"]) == {"numpy", "scipy", "pin", "coal", "mujoco", "daqp", "pyarrow"}


def test_all_is_every_extra_but_those_of_developers_and_make_installs_all() -> None:
    found = PROJECT["optional-dependencies"]
    every = re.findall(r"\w+", found["all"][0])[1:]
    assert sorted(every) == sorted(set(found) - {"all", "bench", "dev", "docs"})
    assert "all" in re.findall(r"\w+", found["dev"][0])[1:]


# -- A stand-in --------------------------------------------------------------------------------------------------------


def test_a_stand_in_returns_and_caches_the_attributes_of_the_package() -> None:
    import scipy.linalg

    assert extras.scipy.linalg is scipy.linalg
    assert vars(extras.scipy)["linalg"] is scipy.linalg
    assert extras.scipy.__version__ == scipy.__version__


def test_modules_of_a_package_come_with_their_first_use() -> None:
    program = "import sys; from poise.extras import zmq; assert 'zmq' not in sys.modules; zmq.utils.monitor"
    assert run(program).returncode == 0


def test_an_unknown_attribute_of_the_package_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        extras.scipy.no_such_name  # noqa: B018


def test_looking_at_a_stand_in_imports_nothing() -> None:
    program = "import inspect, sys; from poise.extras import mujoco; inspect.unwrap(mujoco); repr(mujoco); dir(mujoco)"
    assert run(f"{program}; assert 'mujoco' not in sys.modules").returncode == 0


def test_an_installed_but_broken_package_raises_its_own_error(tmp_path: Path) -> None:
    (tmp_path / "daqp.py").write_text("import no_such_module_anywhere")
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from poise.extras import daqp; daqp.Model"
    assert run(program).stderr.endswith("ModuleNotFoundError: No module named 'no_such_module_anywhere'\n")


def test_the_error_is_ours_and_an_import_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ezc3d", None)
    with pytest.raises(MissingPackageError) as caught:
        extras.require("numpy", "ezc3d")
    assert isinstance(caught.value, PoiseError)
    assert isinstance(caught.value, ImportError)
    assert (caught.value.package, caught.value.extra) == ("ezc3d", "human")


# -- Features without their packages -----------------------------------------------------------------------------------


def run(program: str, *arguments: object, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-c", program, *map(str, arguments)]
    return run_to_end(words, cwd=folder)


#: A command or a program that uses each package.
COMMANDS = {
    "PIL": "report bend.poise --out page.html",
    "av": "export bend.poise --out film.mp4",
    "ezc3d": "human sample walk",
    "matplotlib": "report bend.poise --out page.html",
    "mcap": "export bend.poise --out log.mcap",
    "msgpack": "serve --robot mighty",
    "mujoco": "run stand --robot mighty --seconds 0.1",
    "pyarrow": "run reach --robot mighty --seconds 0.1 --out reach.poise",
    "ray": "campaign drill.toml --ray local --out campaign",
    "threadpoolctl": "human fit walk.trc",
    "viser": "studio --no-browser",
    "websockets": "studio --no-browser",
    "zmq": "serve --robot mighty",
}
PROGRAMS = {
    "coal": """
from poise.constraints.distances import Hull
from poise.robots import capsules, load_robot
Hull(capsules(load_robot("mighty"))[0])
""",
    "daqp": """
from poise.solvers import Weighted
Weighted()
""",
    "fast_simplification": """
from poise.rendering import shape_mesh, visual_model_of
from poise.robots import load_robot
drawn = visual_model_of(load_robot("g1"))
[shape_mesh(drawn, shape, 10) for shape in drawn.shapes]
""",
    "pandas": """
from poise.recording import Channel, Recording
Recording([Channel("time", "s", [0.0, 0.1])]).to_dataframe()
""",
    "pygame": """
from poise.devices import Joystick
Joystick()
""",
    "rich": """
from poise.viewer.viewer import start_viser
start_viser(0)
""",
    "scipy": """
from poise.solvers import Cascade, Program, Rows
Cascade().solve(Program([Rows([[1.0]], 0, 0)]))
""",
    "trimesh": """
from poise.viewer.view_marks import Arrow
from poise.viewer.viewer import start_viser
Arrow(start_viser(0), "/arrow", (1.0, 0.0, 0.0), 1.0)
""",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a recording, a trial of markers and a campaign of one run."""
    found = tmp_path_factory.mktemp("files")
    record_bend(found)
    walk, _ = human.sample_trial(cycles=1)
    human.write_trc(walk, found / "walk.trc")
    (found / "drill.toml").write_text('kind = "fault drill"\n')
    return found


def program_without(package: str) -> str:
    """Hide a package from a program; coal is hidden after pinocchio, which needs it, is imported."""
    before = "import pinocchio\n" if package == "coal" else ""
    return f"import sys\n{before}sys.modules[{package!r}] = None\n"


def test_every_package_has_a_test_program() -> None:
    assert {*COMMANDS, *PROGRAMS} == set(extras.PACKAGES)


@pytest.mark.parametrize("package", COMMANDS)
def test_a_command_without_its_package_is_one_line_and_status_2(package: str, folder: Path) -> None:
    program = f"{program_without(package)}from poise.cli import main\nsys.exit(main(sys.argv[1:]))"
    before = set(folder.iterdir())
    result = run(program, *COMMANDS[package].split(), folder=folder)
    assert result.stderr.splitlines()[-1] == f"poise: {message(package)}"
    assert "Traceback" not in result.stderr
    assert (result.returncode, result.stdout) == (2, "")
    left = {path.name for path in set(folder.iterdir()) - before}
    assert left <= {"walk", "reach.poise", "campaign"}, "no incomplete output files"


@pytest.mark.parametrize("package", PROGRAMS)
def test_a_feature_without_its_package_names_the_package_to_install(package: str) -> None:
    if package == "fast_simplification":
        require_models()
    result = run(program_without(package) + PROGRAMS[package])
    assert result.stderr.splitlines()[-1] == f"poise.errors.MissingPackageError: {message(package)}"


def message(name: str) -> str:
    package = extras.PACKAGES[name]
    requirement = f"'poise[{package.extra}]'" if package.extra else name
    return f"{package.use} needs the package {package.distribution or name}; install it with: pip install {requirement}"


def test_a_folder_of_trials_is_not_a_list_of_failures_where_a_package_is_missing(folder: Path) -> None:
    program = f"{program_without('threadpoolctl')}from poise.cli import main\nsys.exit(main(sys.argv[1:]))"
    result = run(program, "human", "fit", folder)
    assert (result.returncode, result.stderr.splitlines()[-1]) == (2, f"poise: {message('threadpoolctl')}")
