"""An offscreen OpenGL context on any machine: EGL, OSMesa, GLFW or CGL."""

from __future__ import annotations

import ctypes.util
import importlib
import os
import platform
from typing import Any

from poise.errors import PoiseError
from poise.extras import load

#: What each kind needs on a machine of the Debian family.
REQUIREMENTS = {
    "egl": "libEGL (apt install libegl1 libgl1-mesa-dri)",
    "osmesa": "libOSMesa (apt install libosmesa6)",
    "glfw": "a display",
    "cgl": "macOS",
}
#: Other values of MUJOCO_GL, which leave the choice to us, and which forbid drawing.
AUTOMATIC_VALUES = ("", "enable", "enabled", "on", "true", "1", "glx", "wgl")
DISABLED_VALUES = ("disable", "disabled", "off", "false", "0")


def open_context(width: int, height: int) -> Any:
    """An OpenGL context of MuJoCo that draws without a window; the caller makes it current and frees it.

    The kind is what the environment variable MUJOCO_GL says; else a hidden window where there is a display, and EGL or
    OSMesa where there is none. The kinds are imported here and not chosen by MuJoCo, which decides once, when it is
    first imported by anybody, and then asks for a display.
    """
    try:
        context = importlib.import_module(f"mujoco.{opengl_backend()}").GLContext(width, height)
        context.make_current()
    except PoiseError:
        raise
    except Exception as error:  # they fail in many ways: ImportError, AttributeError, RuntimeError, GLError
        raise opengl_error(error) from error
    return context


def check_opengl() -> None:
    """Raises an error that says what to install where nothing can be drawn: there MuJoCo cannot even be imported."""
    opengl_backend()
    try:
        load("mujoco")
    except PoiseError:
        raise
    except Exception as error:  # ImportError, AttributeError, RuntimeError, OSError
        raise opengl_error(error) from error


def opengl_error(error: Exception) -> PoiseError:
    """What to tell the user when MuJoCo or the chosen kind of context failed."""
    backend, reason = opengl_backend(), " ".join(str(error).split()) or type(error).__name__
    return PoiseError(
        f"no picture without OpenGL: {backend} failed: {reason[:200]}; it needs {REQUIREMENTS[backend]}, "
        "or choose another with MUJOCO_GL=egl, osmesa or glfw"
    )


def opengl_backend() -> str:
    """The kind of context to use here: "egl", "osmesa", "glfw" or "cgl"."""
    value = os.environ.get("MUJOCO_GL", "").lower().strip()
    if value in DISABLED_VALUES:
        raise PoiseError(f"no picture without OpenGL: MUJOCO_GL is {value!r}; unset it, or give egl, osmesa or glfw")
    if value not in AUTOMATIC_VALUES:
        if value not in REQUIREMENTS:
            raise PoiseError(f"MUJOCO_GL is {value!r}; expected egl, osmesa or glfw, or nothing")
        return value
    if platform.system() == "Darwin":
        return "cgl"
    if platform.system() != "Linux" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        return "glfw"
    for backend, library in (("egl", "EGL"), ("osmesa", "OSMesa")):
        if ctypes.util.find_library(library):
            return backend
    raise PoiseError(
        f"no picture without OpenGL and no display: install {REQUIREMENTS['egl']} or {REQUIREMENTS['osmesa']}"
    )
