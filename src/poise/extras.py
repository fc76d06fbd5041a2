"""Lazy imports of third-party packages that are slow to import or belong to an extra of Poise.

    from poise.extras import mujoco

    def new_model():
        return mujoco.MjSpec()        # here, at the first attribute, MuJoCo is imported

Each name is a proxy module that stores every attribute at its first use, so that a call in a loop is as fast as after
``import mujoco``. If the package is not installed, the first use raises a `MissingPackageError` whose message gives the
command that installs it. Type checkers see the packages themselves.

Base classes, decorators, default values and module constants read attributes while their module is imported, which
imports the package at once: put these into a function. Names that only annotations need are imported under
``TYPE_CHECKING``.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

from poise.errors import MissingPackageError

__all__ = [
    "PACKAGES",
    "PIL",
    "Package",
    "av",
    "coal",
    "daqp",
    "ezc3d",
    "fast_simplification",
    "load",
    "matplotlib",
    "mcap",
    "msgpack",
    "mujoco",
    "pandas",
    "pyarrow",
    "pygame",
    "ray",
    "require",
    "rich",
    "scipy",
    "threadpoolctl",
    "trimesh",
    "viser",
    "websockets",
    "zmq",
]

if TYPE_CHECKING:
    import av
    import coal
    import daqp
    import ezc3d
    import fast_simplification
    import matplotlib.axes
    import matplotlib.colors
    import matplotlib.figure
    import matplotlib.patches
    import matplotlib.ticker
    import mcap.writer
    import msgpack
    import mujoco
    import pandas
    import PIL.Image
    import PIL.ImageDraw
    import PIL.ImageFont
    import pyarrow.compute
    import pyarrow.parquet
    import pygame._sdl2.controller
    import ray
    import rich
    import scipy.interpolate
    import scipy.linalg
    import scipy.ndimage
    import scipy.optimize
    import scipy.signal
    import scipy.spatial.transform
    import scipy.stats
    import threadpoolctl
    import trimesh.creation
    import viser
    import websockets.asyncio.client
    import websockets.asyncio.server
    import websockets.datastructures
    import websockets.exceptions
    import websockets.http11
    import websockets.typing
    import zmq.utils.monitor


@dataclass(frozen=True)
class Package:
    """A third-party package and the parts of the error message for the case that it is not installed.

    Attributes:
        use: feature that needs the package; the error reads "<use> needs the package ...".
        extra: extra of Poise that includes it; "" for a dependency of Poise itself.
        distribution: name of the distribution, as pip knows it, if it differs from the import name.
        modules: submodules that have to be imported explicitly.
    """

    use: str
    extra: str = ""
    distribution: str = ""
    modules: tuple[str, ...] = ()


#: All packages that are imported through this module, by import name. Their versions are in pyproject.toml.
PACKAGES: dict[str, Package] = {
    "PIL": Package("drawing images", "export", "pillow", ("Image", "ImageDraw", "ImageFont")),
    "av": Package("encoding videos", "export"),
    "coal": Package("measuring distances between bodies"),
    "daqp": Package("the solver Weighted"),
    "ezc3d": Package("reading and writing C3D files", "human"),
    "fast_simplification": Package("simplifying meshes", "export", "fast-simplification"),
    "matplotlib": Package(
        "drawing charts", "export", modules=("axes", "colors", "figure", "patches", "ticker")
    ),
    "mcap": Package("writing MCAP files", "export", modules=("writer",)),
    "msgpack": Package("a plant in another process", "remote"),
    "mujoco": Package("simulating and drawing robots"),
    "pandas": Package("a recording as a data frame", "export"),
    "pyarrow": Package("reading and writing recordings and tables", modules=("compute", "parquet")),
    "pygame": Package("reading a joystick", "gamepad", "pygame-ce", ("_sdl2.controller",)),
    "ray": Package("a campaign on a cluster", "ray"),
    "rich": Package("the studio", "studio"),
    "scipy": Package(
        "this computation",
        modules=("interpolate", "linalg", "ndimage", "optimize", "signal", "spatial.transform", "stats"),
    ),
    "threadpoolctl": Package("fitting a body to markers", "human"),
    "trimesh": Package("the studio", "studio", modules=("creation",)),
    "viser": Package("the studio", "studio"),
    "websockets": Package(
        "the studio",
        "studio",
        modules=("asyncio.client", "asyncio.server", "datastructures", "exceptions", "http11", "typing"),
    ),
    "zmq": Package("a plant in another process", "remote", "pyzmq", ("utils.monitor",)),
}  # fmt: skip


def load(package: str, *modules: str) -> ModuleType:
    """Import a package and some of its submodules now and return the package itself.

    Raises:
        MissingPackageError: the package, or another one of `PACKAGES` that it needs, is not installed.
    """
    try:
        root = import_module(package)
        for module in modules:
            import_module(f"{package}.{module}")
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in PACKAGES:  # a dependency of the package, not listed here
            raise
        raise _missing_package_error(missing) from None
    return root


def require(*packages: str) -> None:
    """Raise `MissingPackageError` if one of the packages is not installed; no package is imported.

    Call it before a long computation that uses the packages only at its end.
    """
    for package in packages:
        if find_spec(package) is None:
            raise _missing_package_error(package)


def _missing_package_error(name: str) -> MissingPackageError:
    package = PACKAGES[name]
    distribution = package.distribution or name
    requirement = f"'poise[{package.extra}]'" if package.extra else distribution
    return MissingPackageError(
        f"{package.use} needs the package {distribution}; install it with: pip install {requirement}",
        package=distribution,
        extra=package.extra,
    )


def _lazy_module(package: str, modules: tuple[str, ...]) -> ModuleType:
    """Return a proxy module that imports the package at the first use of an attribute and stores the attribute."""
    module = ModuleType(package, f"Proxy of {package}, which is imported at the first use of an attribute.")

    def attribute(name: str) -> Any:
        if name.startswith("__") and name != "__version__":  # read by tools that inspect modules
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        submodules = [each for each in modules if each.partition(".")[0] == name]
        value = getattr(load(package, *submodules), name)
        setattr(module, name, value)
        return value

    module.__getattr__ = attribute  # type: ignore[method-assign]
    return module


if not TYPE_CHECKING:
    globals().update({name: _lazy_module(name, package.modules) for name, package in PACKAGES.items()})
