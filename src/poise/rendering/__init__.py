"""Pictures of robots: camera, visual model, offscreen renderer, and scene geometry for browsers.

>>> from poise import rendering
>>> rendering.save_picture("standing.png", robot.stance("standing"))

Names that need MuJoCo are imported on first use: that takes half a second, and fails where OpenGL is missing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from poise.rendering.camera import FIELD_OF_VIEW, Camera
from poise.rendering.opengl_context import opengl_backend, opengl_error
from poise.rendering.overlays import CENTER, COLORS, SUPPORT, Extras, floor_height, support_outline
from poise.rendering.pictures import picture, save_picture

__all__ = [
    "CENTER",
    "COLORS",
    "FIELD_OF_VIEW",
    "SUPPORT",
    "Camera",
    "Extras",
    "Mesh",
    "Stage",
    "Surface",
    "blocks",
    "box",
    "cylinder",
    "figure",
    "floor_height",
    "ground_of",
    "opengl_backend",
    "opengl_error",
    "picture",
    "save_picture",
    "shape_mesh",
    "stones",
    "support_outline",
    "surface",
]

if TYPE_CHECKING:
    from poise.rendering.renderer import Stage
    from poise.rendering.scene_geometry import (
        Mesh,
        Surface,
        blocks,
        box,
        cylinder,
        ground_of,
        shape_mesh,
        stones,
        surface,
    )
    from poise.rendering.visual_model import figure

#: Module of each name that is imported on first use.
LAZY = {
    **dict.fromkeys(
        ("Mesh", "Surface", "blocks", "box", "cylinder", "ground_of", "shape_mesh", "stones", "surface"),
        "scene_geometry",
    ),
    "Stage": "renderer",
    "figure": "visual_model",
}


def __getattr__(name: str) -> Any:
    if name in LAZY:
        return getattr(import_module(f"poise.rendering.{LAZY[name]}"), name)
    raise AttributeError(f"module 'poise.rendering' has no attribute '{name}'")
