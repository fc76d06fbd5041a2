"""Collada files are read with all their parts and colors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from poise.rendering.visual_model import Collada, colored_meshes, is_mesh
from poise.robots import library_names, load_robot, shape_vertices


def effect(name: str, color: str) -> str:
    diffuse = f"<diffuse><color>{color}</color></diffuse>"
    return (
        f'<effect id="{name}-effect"><profile_COMMON><technique><phong>{diffuse}</phong></technique></profile_COMMON>'
        f"</effect>"
    )


def write_collada(path: Path, transform: str) -> Path:
    """A square of two materials: a red triangle, and a blue one in a polylist with normals."""
    names = {"red": "1 0 0 1", "blue": "0 0 1 0.5"}
    materials = "".join(f'<material id="{n}"><instance_effect url="#{n}-effect"/></material>' for n in names)
    source = '<source id="points"><float_array id="numbers" count="12">0 0 0 1 0 0 1 1 0 0 1 0</float_array></source>'
    both = '<vertices id="corners"><input semantic="POSITION" source="#points"/></vertices>'
    at = '<input semantic="VERTEX" source="#corners" offset="0"/>'
    red = f'<triangles material="red" count="1">{at}<p>0 1 2</p></triangles>'
    normal = '<input semantic="NORMAL" source="#points" offset="1"/>'
    blue = f'<polylist material="blue" count="1">{at}{normal}<vcount>3</vcount><p>0 0 2 1 3 2</p></polylist>'
    path.write_text(
        '<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema"><asset><unit meter="0.1"/></asset>'
        f"<library_effects>{''.join(effect(*one) for one in names.items())}</library_effects>"
        f"<library_materials>{materials}</library_materials>"
        f'<library_geometries><geometry id="square"><mesh>{source}{both}{red}{blue}</mesh></geometry>'
        f"</library_geometries><library_visual_scenes><visual_scene><node>{transform}"
        '<node><instance_geometry url="#square"/></node></node></visual_scene></library_visual_scenes></COLLADA>'
    )
    return path


@pytest.mark.parametrize(
    "transform",
    [
        "<matrix>0 -2 0 5  2 0 0 0  0 0 2 0  0 0 0 1</matrix>",
        "<translate>5 0 0</translate><rotate>0 0 1 90</rotate><scale>2 2 2</scale>",
    ],
)
def test_a_collada_file_has_all_its_triangles_colors_and_places(tmp_path: Path, transform: str) -> None:
    file = Collada(write_collada(tmp_path / "square.dae", transform))
    red, blue = file.meshes
    assert file.unit == 0.1
    assert (red.color, blue.color) == ((1.0, 0.0, 0.0, 1.0), (0.0, 0.0, 1.0, 1.0))
    assert red.points[red.faces[0]] == pytest.approx(np.array([[5, 0, 0], [5, 2, 0], [3, 2, 0]]))
    assert blue.points[blue.faces[0]] == pytest.approx(np.array([[5, 0, 0], [3, 2, 0], [3, 0, 0]]))


@pytest.mark.needs_models
@pytest.mark.parametrize("name", library_names())
def test_the_surfaces_of_a_library_robot_fill_the_same_space_as_its_shapes(name: str) -> None:
    for shape in filter(is_mesh, load_robot(name).visual_geometry.geometryObjects):
        parts = list(colored_meshes(shape))
        points, expected = np.vstack([part.points[np.unique(part.faces)] for part in parts]), shape_vertices(shape)
        assert points.min(axis=0) == pytest.approx(expected.min(axis=0), abs=1e-4), shape.name
        assert points.max(axis=0) == pytest.approx(expected.max(axis=0), abs=1e-4), shape.name
        if shape.meshPath.endswith(".dae"):
            assert all(part.color for part in parts)
