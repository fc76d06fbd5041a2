"""Pictures of robots: camera, visual model, offscreen renderer, and scene geometry for browsers.

>>> from poise import rendering
>>> rendering.save_picture("standing.png", robot.stance("standing"))
"""

from poise.rendering.camera import FIELD_OF_VIEW, Camera
from poise.rendering.opengl_context import check_opengl
from poise.rendering.overlays import CENTER, COLORS, SUPPORT, Extras, floor_height, support_outline
from poise.rendering.pictures import picture, save_picture
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
    "check_opengl",
    "cylinder",
    "figure",
    "floor_height",
    "ground_of",
    "picture",
    "save_picture",
    "shape_mesh",
    "stones",
    "support_outline",
    "surface",
]
