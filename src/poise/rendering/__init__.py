"""Pictures of robots: camera, visual model, offscreen renderer, and triangle meshes for browsers.

>>> from poise import rendering
>>> rendering.save_picture("standing.png", robot.stance("standing"))
"""

from poise.rendering.camera import FIELD_OF_VIEW, Camera
from poise.rendering.opengl_context import check_opengl
from poise.rendering.overlays import (
    CENTER_OF_MASS_COLOR,
    MARK_COLORS,
    SUPPORT_COLOR,
    Overlays,
    floor_height,
    support_outline,
)
from poise.rendering.pictures import picture, save_picture
from poise.rendering.recorded_environment import (
    box_mesh,
    environment_camera,
    environment_surfaces,
    recorded_environment,
)
from poise.rendering.renderer import OffscreenRenderer
from poise.rendering.scene_geometry import (
    Mesh,
    Surface,
    box,
    cylinder,
    shape_mesh,
    surface_with_normals,
)
from poise.rendering.visual_model import visual_model_of

__all__ = [
    "CENTER_OF_MASS_COLOR",
    "FIELD_OF_VIEW",
    "MARK_COLORS",
    "SUPPORT_COLOR",
    "Camera",
    "Mesh",
    "OffscreenRenderer",
    "Overlays",
    "Surface",
    "box",
    "box_mesh",
    "check_opengl",
    "cylinder",
    "environment_camera",
    "environment_surfaces",
    "floor_height",
    "picture",
    "recorded_environment",
    "save_picture",
    "shape_mesh",
    "support_outline",
    "surface_with_normals",
    "visual_model_of",
]
