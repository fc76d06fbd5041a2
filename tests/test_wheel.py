"""A wheel installs without a compiler, runs the program of the README, and solves with numpy alone."""

from __future__ import annotations

import os
import shutil
import sys
import zipfile
from pathlib import Path

import pytest

from poise.cpu import VARIABLE
from test_readme import block
from waiting import run_to_end

pytestmark = pytest.mark.slow

COMPILERS = ("cc", "c++", "gcc", "g++", "clang", "clang++")
#: Files that a wheel is built from.
SOURCES = ("native/**/*", "src/poise/**/*.py", "CMakeLists.txt", "pyproject.toml")


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel in dist/ if it is newer than the sources, else a new one."""
    newest = max(path.stat().st_mtime for pattern in SOURCES for path in root.glob(pattern))
    found = [path for path in (root / "dist").glob("poise-*.whl") if path.stat().st_mtime > newest]
    if not found:
        tools = tmp_path_factory.mktemp("tools") / "venv"
        run(["make", "wheel", f"VENV={tools}", f"PYTHON={sys.executable}", "JOBS=1"], cwd=root)
        found = list((root / "dist").glob("poise-*.whl"))
    return max(found, key=lambda path: path.stat().st_mtime)


@pytest.fixture(scope="module")
def solver_alone(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Python of an environment with the wheel and numpy."""
    python = empty_environment(tmp_path_factory.mktemp("solver"))
    install(python, "--no-deps", str(wheel))
    install(python, "numpy")
    return python


def empty_environment(folder: Path) -> Path:
    run([sys.executable, "-m", "venv", str(folder)])
    return folder / "bin/python"


def environment(python: Path, **more: str) -> dict[str, str]:
    """Environment variables without a compiler and without paths to other packages."""
    path = str(python.parent)
    assert not any(shutil.which(name, path=path) for name in COMPILERS)
    hidden = ("PATH", "CC", "CXX", "PYTHONPATH", "VIRTUAL_ENV", VARIABLE)
    return {**{key: value for key, value in os.environ.items() if key not in hidden}, "PATH": path, **more}


def install(python: Path, *arguments: str) -> None:
    # Nothing is compiled: a package without a wheel is an error.
    command = [str(python), "-m", "pip", "install", "--quiet", "--only-binary", ":all:", *arguments]
    run(command, env=environment(python))


def run(command: list[str], **options: object) -> str:
    result = run_to_end(command, **options)
    assert result.returncode == 0, f"{' '.join(command)}\n{result.stdout}\n{result.stderr}"
    return result.stdout


def test_the_wheel_holds_every_native_module_in_all_variants(wheel: Path) -> None:
    names = [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".so")]
    assert len([name for name in names if name.startswith("poise/_cpu.")]) == 1
    folders = ("", "_avx2/", "_avx512/") if "x86_64" in wheel.name else ("",)
    for module in ("poise/solvers/{}_kernel.", "poise/state/{}_motion.", "poise/plans/segment/{}_segment."):
        for folder in folders:
            assert len([name for name in names if name.startswith(module.format(folder))]) == 1, (module, folder)
    assert len(names) == 1 + 3 * len(folders)


def test_the_wheel_needs_nothing_from_the_system_that_is_not_everywhere(wheel: Path) -> None:
    assert "-linux_" not in wheel.name, "the wheel was not processed by auditwheel"


def test_the_solvers_of_the_wheel_answer_with_numpy_alone(solver_alone: Path, root: Path) -> None:
    packages = run([str(solver_alone), "-m", "pip", "list", "--format", "freeze"], env=environment(solver_alone))
    assert {line.partition("==")[0].partition(" ")[0] for line in packages.split("\n") if line} <= {
        "numpy",
        "pip",
        "poise",
        "setuptools",
    }
    assert run([str(solver_alone), str(root / "tests/wheel_check.py")], env=environment(solver_alone)).strip()


@pytest.mark.parametrize("name", ["baseline", "avx2", "avx512"])
def test_every_variant_that_this_processor_supports_gives_the_right_answer(
    name: str, solver_alone: Path, root: Path
) -> None:
    shown = run(
        [str(solver_alone), "-c", "import poise._cpu as cpu; print(*(set(cpu.built) & set(cpu.supported)))"],
        env=environment(solver_alone),
    )
    if name not in shown.split():
        pytest.skip(f"{name} is not in this wheel or not supported by this processor")
    command = [str(solver_alone), str(root / "tests/wheel_check.py")]
    assert run(command, env=environment(solver_alone, **{VARIABLE: name})).strip() == name


def test_the_program_of_the_readme_runs_where_there_is_no_compiler(wheel: Path, root: Path, tmp_path: Path) -> None:
    python = empty_environment(tmp_path / "venv")
    install(python, f"{wheel}[robots,studio]")
    readme = (root / "README.md").read_text()
    (tmp_path / "program.py").write_text(block(readme, "python"))
    printed = run([str(python), str(tmp_path / "program.py")], env=environment(python), cwd=tmp_path)
    assert "non-finite commands: 0" in printed
    reached = next(line for line in printed.splitlines() if line.startswith("reach "))
    assert reached.split()[3] == "<0.0001", "final error of the hand (m), below the resolution of the summary"
    check = "import poise.cpu as cpu; from poise.plans.segment import _segment as s; print(s.__file__, cpu.variant())"
    file, name = run([str(python), "-c", check], env=environment(python), cwd=tmp_path).split()
    assert name == "baseline" or f"_{name}" in Path(file).parts
