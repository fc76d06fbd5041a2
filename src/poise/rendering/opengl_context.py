"""Offscreen OpenGL contexts for MuJoCo: choice of the backend (EGL, OSMesa, GLFW, CGL) and errors that help install it.

Set the environment variable MUJOCO_GL to egl, osmesa or glfw to override the choice.
"""

from __future__ import annotations

import ctypes.util
import importlib
import os
import platform
from typing import Any

from poise.errors import PoiseError
from poise.extras import load

#: Requirement of each backend, with package names of Debian and Ubuntu.
REQUIREMENTS = {
    "egl": "libEGL (apt install libegl1 libgl1-mesa-dri)",
    "osmesa": "libOSMesa (apt install libosmesa6)",
    "glfw": "a display",
    "cgl": "macOS",
}
#: Other values of MUJOCO_GL: those that leave the choice to Poise, and those that disable rendering.
AUTOMATIC_VALUES = ("", "enable", "enabled", "on", "true", "1", "glx", "wgl")
DISABLED_VALUES = ("disable", "disabled", "off", "false", "0")


def open_context(width: int, height: int) -> Any:
    """Open an offscreen OpenGL context of MuJoCo; the caller makes it current and frees it.

    The environment variable MUJOCO_GL selects the backend; by default it is a hidden GLFW window if there is a display,
    and EGL or OSMesa otherwise. The backend is imported here rather than selected by MuJoCo, because MuJoCo decides
    once, when it is first imported, and its default needs a display.

    Args:
        width, height: size of the context in pixels.

    Raises:
        PoiseError: no context can be opened; the message says what to install.
    """
    try:
        context = importlib.import_module(f"mujoco.{opengl_backend()}").GLContext(width, height)
        context.make_current()
    except PoiseError:
        raise
    except Exception as error:  # backends raise ImportError, AttributeError, RuntimeError or GLError
        raise opengl_error(error) from error
    return context


def check_opengl() -> None:
    """Raise an error that says what to install if rendering is impossible; importing MuJoCo already fails then."""
    opengl_backend()
    try:
        load("mujoco")
    except PoiseError:
        raise
    except Exception as error:  # ImportError, AttributeError, RuntimeError, OSError
        raise opengl_error(error) from error


def opengl_error(error: Exception) -> PoiseError:
    """Return the error for the user if MuJoCo or the selected backend failed with ``error``."""
    backend, reason = opengl_backend(), " ".join(str(error).split()) or type(error).__name__
    return PoiseError(
        f"cannot render without OpenGL: {backend} failed: {reason[:200]}; install {REQUIREMENTS[backend]}, "
        "or select another backend with MUJOCO_GL=egl, osmesa or glfw"
    )


def opengl_backend() -> str:
    """Return the OpenGL backend to use on this machine: "egl", "osmesa", "glfw" or "cgl"."""
    value = os.environ.get("MUJOCO_GL", "").lower().strip()
    if value in DISABLED_VALUES:
        raise PoiseError(
            f"cannot render without OpenGL: MUJOCO_GL is {value!r}; unset it, or set it to egl, osmesa or glfw"
        )
    if value not in AUTOMATIC_VALUES:
        if value not in REQUIREMENTS:
            raise PoiseError(f"MUJOCO_GL is {value!r}; expected egl, osmesa or glfw, or no value")
        return value
    if platform.system() == "Darwin":
        return "cgl"
    if platform.system() != "Linux" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        return "glfw"
    for backend, library in (("egl", "EGL"), ("osmesa", "OSMesa")):
        if ctypes.util.find_library(library):
            return backend
    raise PoiseError(
        f"cannot render without OpenGL: there is no display; install {REQUIREMENTS['egl']} or {REQUIREMENTS['osmesa']}"
    )
