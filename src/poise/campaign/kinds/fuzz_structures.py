"""Files with valid syntax and absurd structure: too deeply nested, too wide, or cyclic.

Each is generated from a random generator alone. Mutations of bytes hardly ever reach these cases.
"""

from __future__ import annotations

import json
import struct
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from poise.campaign.kinds import fuzz_samples as samples
from poise.campaign.kinds.fuzz_mutations import Random
from poise.errors import PoiseError
from poise.recording import Channel, Recording, channel_key

#: Valid and invalid numbers for a file.
ODD_NUMBERS = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-300, 5e-324, 1e6, 1e20, 1e155, 1e308, -1e308, float("nan"), float("inf"))

#: Parameters of C3D files that hold counts, scales or names.
C3D_PARAMETERS = (
    b"USED", b"FRAMES", b"SCALE", b"RATE", b"TYPE", b"CHANNEL", b"CORNERS", b"DATA_START", b"TIMES", b"LABELS",
    b"ORIGIN", b"GEN_SCALE", b"OFFSET", b"UNITS", b"ZERO", b"CONTEXTS",
)  # fmt: skip
#: Channel names of a recording, known and unknown.
CHANNEL_NAMES = (
    "q", "v", "center_of_mass", "command/velocity", "command/torque", "command/nonfinite", "control/fallback",
    "control/milliseconds", "solver/status", "solver/iterations", "solver/milliseconds", "error/reach/hand",
    "error_norm/reach/hand", "slack/reach", "active/reach", "active_count/reach", "joint_limit/margin",
    "joint_limit/nearest", "phase", "contacts", "force/left_foot", "stick", "odd\nname", "é", "x" * 500,
)  # fmt: skip


def random_structure(format_name: str, random: Random) -> bytes:
    """Return a random file of a format with an absurd structure."""
    makers = STRUCTURES[format_name]
    return makers[int(random.integers(len(makers)))](random)


def _random_count(random: Random, max_exponent: float = 4.0) -> int:
    """Return a log-uniform random count up to ten to the power of `max_exponent`."""
    return int(10.0 ** random.uniform(0.0, max_exponent))


def _odd_number(random: Random) -> float:
    return float(ODD_NUMBERS[int(random.integers(len(ODD_NUMBERS)))])


# -- TOML and JSON -----------------------------------------------------------------------------------------------------


def _deep_list(key: str) -> Callable[[Random], bytes]:
    def make(random: Random) -> bytes:
        depth = _random_count(random, 5.0)
        return f"{key} = {'[' * depth}{']' * depth}\n".encode()

    return make


def _deep_table(key: str) -> Callable[[Random], bytes]:
    def make(random: Random) -> bytes:
        depth = _random_count(random, 3.7)
        inner = ".".join([key, *["a"] * depth])
        return (f"[{inner}]\nx = 1\n" if random.random() < 0.5 else f"{inner} = 1\n").encode()

    return make


def _long_value(key: str) -> Callable[[Random], bytes]:
    def make(random: Random) -> bytes:
        size = _random_count(random, 5.5)
        value = [f'"{"x" * size}"', "9" * size, f"[{'1, ' * size}]", f"0x{'f' * size}"][int(random.integers(4))]
        return f"{key} = {value}\n".encode()

    return make


def _odd_value(text: str) -> Callable[[Random], bytes]:
    """Return a generator of valid TOML files in which one value has another type."""
    odd = (
        "true", "[]", "{}", '""', "nan", "-inf", "1979-05-27", "07:32:00", "1979-05-27T07:32:00Z", "[[1], [2]]",
        '{a = {b = 1}}', '"\\u0000"', '"\\u001b[31m"', '"a\\nb"', '"\\u2028"', "9" * 310, "1e400", '["a", 1]', "[nan]",
        "0x7fffffffffffffffffff", '"' + "y" * 3000 + '"', "[" + "0.1, " * 2000 + "]",
    )  # fmt: skip

    def make(random: Random) -> bytes:
        lines = text.splitlines()
        keyed = [i for i, line in enumerate(lines) if " = " in line]
        for _ in range(int(random.integers(1, 4))):
            i = keyed[int(random.integers(len(keyed)))]
            key = lines[i].partition(" = ")[0]
            key = key if random.random() < 0.8 else '"\\u0007\\n' + "k" * int(random.integers(1, 50)) + '"'
            lines[i] = f"{key} = {odd[int(random.integers(len(odd)))]}"
        return "\n".join(lines).encode()

    return make


def _toml_makers(text: str, key: str) -> tuple[Callable[[Random], bytes], ...]:
    return (_deep_list(key), _deep_table(key), _long_value(key), *[_odd_value(text)] * 5)


def _deep_script(random: Random) -> bytes:
    depth = _random_count(random, 5.3)
    return b"[" * depth + b"]" * depth if random.random() < 0.5 else b'{"a":' * depth + b"1" + b"}" * depth


def _long_script(random: Random) -> bytes:
    entries = [{"time": float(i), "mode": "trunk", "input": [0.1] * 6} for i in range(_random_count(random, 4.0))]
    return json.dumps(entries).encode()


def _odd_script(random: Random) -> bytes:
    odd: list[object] = [
        None,
        True,
        "",
        "a\nb",
        "\x1b[31m",
        [],
        {},
        [[]],
        10**400,
        -1,
        float("nan"),
        "x" * 3000,
        [None] * 6,
        "trunk",
    ]

    def odd_value() -> object:
        return odd[int(random.integers(len(odd)))]

    entries: list[object] = [{"time": i, "mode": "trunk", "input": [0] * 6} for i in range(3)]
    for _ in range(int(random.integers(1, 4))):
        entry = entries[int(random.integers(3))]
        if isinstance(entry, dict) and random.random() < 0.8:
            entry[str(random.choice(["time", "mode", "input", "lift", "a\nb"]))] = odd_value()
        else:
            entries[int(random.integers(3))] = odd_value()
    return json.dumps(entries).encode()


# -- URDF --------------------------------------------------------------------------------------------------------------


def _link_chain(random: Random) -> bytes:
    """Return a URDF with a chain or a star of many links."""
    count, star = _random_count(random, 3.0), random.random() < 0.5
    links = [samples._link("l0", 1.0)]
    for i in range(1, count + 1):
        parent = "l0" if star else f"l{i - 1}"
        links += [samples._link(f"l{i}", 1.0), samples._joint(f"j{i}", parent, f"l{i}", "0 1 0", "0 0 -0.1")]
    return f'<robot name="long">{"".join(links)}</robot>'.encode()


def _link_ring(random: Random) -> bytes:
    """Return a URDF with cyclic or missing parents and duplicate names."""
    count = int(random.integers(1, 5))
    links = [samples._link(f"l{i}", 1.0) for i in range(count)]
    names = [f"l{int(i)}" for i in random.integers(-1, count + 1, size=2 * count)]
    joints = [
        samples._joint(f"j{int(random.integers(count + 1))}", names[2 * i], names[2 * i + 1], "0 1 0", "0 0 -0.1")
        for i in range(count)
    ]
    return f'<robot name="ring">{"".join([*links, *joints])}</robot>'.encode()


def _deep_xml(random: Random) -> bytes:
    depth = _random_count(random, 5.0)
    return b"<robot name='deep'>" + b"<link name='a'>" * depth + b"</link>" * depth + b"</robot>"


def _entity_expansion(random: Random) -> bytes:
    """Return an XML file with entities that expand exponentially."""
    depth = int(random.integers(2, 12))
    names = ['<!ENTITY e0 "joint joint joint">']
    names += [f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, depth)]
    return f'<!DOCTYPE robot [{"".join(names)}]><robot name="&e{depth - 1};"><link name="a"/></robot>'.encode()


def _odd_urdf(random: Random) -> bytes:
    """Return a URDF with odd attribute values and element types."""
    text = samples.urdf_text()
    for _ in range(int(random.integers(1, 6))):
        replacements = (
            (
                'type="revolute"',
                f'type="{random.choice(["prismatic", "continuous", "planar", "floating", "odd", ""])}"',
            ),
            ('axis xyz="0 1 0"', f'axis xyz="{_odd_number(random)} {_odd_number(random)} 0"'),
            ('mass value="1.5"', f'mass value="{_odd_number(random)}"'),
            ('ixx="0.02"', f'ixx="{_odd_number(random)}"'),
            ('lower="-1.5"', f'lower="{_odd_number(random)}"'),
            ('velocity="8"', f'velocity="{_odd_number(random)}"'),
            ('rpy="0 0 0"', f'rpy="0 {_odd_number(random)} 0"'),
            ('xyz="0 0 -0.4"', f'xyz="0 0 {_odd_number(random)}"'),
            ('size="0.1 0.1 0.2"', f'size="{_odd_number(random)} 0.1 0.2"'),
            ('radius="0.05"', f'radius="{_odd_number(random)}"'),
            ('<box size="0.1 0.1 0.2"/>', '<mesh filename="package://nowhere/nothing.stl"/>'),
            ('<box size="0.1 0.1 0.2"/>', '<mesh filename="robot.urdf" scale="1 nan 1"/>'),
            ('<sphere radius="0.06"/>', ""),
            ('name="left_foot"', f'name="{"n" * _random_count(random, 4.0)}"'),
            ('name="arm"', 'name="a&#10;b"'),
            ('joint="arm_joint"', 'joint="finger_joint"'),
            (samples._LIMIT_XML, ""),
        )
        old, new = replacements[int(random.integers(len(replacements)))]
        text = text.replace(old, new, int(random.integers(1, 4)))
    return text.encode()


# -- motion capture ----------------------------------------------------------------------------------------------------


def _deep_bvh(random: Random) -> bytes:
    depth, channels = _random_count(random, 3.5), random.random() < 0.3
    channel_line = "CHANNELS 1 Xrotation" if channels else "CHANNELS 0"
    lines = ["HIERARCHY"]
    for i in range(depth):
        lines += [f"{'JOINT' if i else 'ROOT'} j{i}", "{", f"OFFSET 0 {_odd_number(random)} 0", channel_line]
    row = " ".join(["1.5"] * depth) if channels else "1"
    lines += ["}"] * depth + [
        "MOTION",
        f"Frames: {_random_count(random, 9.0)}",
        f"Frame Time: {_odd_number(random)}",
        row,
    ]
    return "\n".join(lines).encode()


def _long_bvh(random: Random) -> bytes:
    """Return a BVH file with many joints without channels and many short rows: little text, large arrays."""
    joints, rows = _random_count(random, 4.0), _random_count(random, 4.5)
    lines = ["HIERARCHY", "ROOT r", "{", "OFFSET 0 0 0", "CHANNELS 1 Xposition"]
    lines += ["JOINT j\n{\nOFFSET 0 1 0\nCHANNELS 0\n}"] * joints
    lines += ["}", "MOTION", f"Frames: {rows}", "Frame Time: 0.01", *["1"] * rows]
    return "\n".join(lines).encode()


def _wide_trc(random: Random) -> bytes:
    columns, rows = _random_count(random, 4.0), _random_count(random, 3.0)
    labels = "\t\t\t".join(f"M{i}" for i in range(columns))
    step = abs(_odd_number(random))
    head = f"PathFileType\t4\t(X/Y/Z)\tx.trc\nDataRate\tUnits\n{_odd_number(random)}\tmm\nFrame#\tTime\t{labels}\n\n\n"
    fill = "\t".join(["1.5"] * int(random.integers(0, min(3 * columns, 300) + 1)))
    body = "\n".join(f"{i}\t{i * step}\t{fill}" for i in range(rows))
    return (head + body + "\n").encode()


def _wide_mot(random: Random) -> bytes:
    columns, rows = _random_count(random, 4.5), _random_count(random, 3.0)
    names = "\t".join(f"c{i}" for i in range(columns))
    row = "\t".join(str(_odd_number(random)) for _ in range(int(random.integers(1, 20))))
    body = "\n".join(f"{i}\t{row}" for i in range(rows))
    return f"nRows={_random_count(random, 9.0)}\nnColumns={columns}\nendheader\ntime\t{names}\n{body}\n".encode()


def _odd_c3d(random: Random) -> bytes:
    """Return a C3D file with changed header fields and parameter values."""
    data = bytearray(samples.valid_file("c3d"))
    integers = (0, 1, 2, 255, 256, 0x7FFF, 0x8000, 0xFFFF)
    for _ in range(int(random.integers(1, 4))):
        integer = integers[int(random.integers(len(integers)))]
        match int(random.integers(4)):
            case 0:  # number of points, samples, frames, gap, data start, samples per frame
                struct.pack_into("<H", data, 2 * int(random.choice([1, 2, 3, 4, 5, 8, 9])), integer)
            case 1:  # scale and rate, of samples and of time
                struct.pack_into(
                    "<f", data, int(random.choice([12, 20])), np.float32(np.clip(_odd_number(random), -3e38, 3e38))
                )
            case 2:  # events of the header
                struct.pack_into("<H", data, int(random.choice([294, 296, 298])), integer)
            case _:  # a value of a parameter, found by its name
                at = data.find(C3D_PARAMETERS[int(random.integers(len(C3D_PARAMETERS)))])
                if at > 0:
                    data[at + int(random.integers(4, 24))] = integer & 0xFF
    return bytes(data)


# -- recordings --------------------------------------------------------------------------------------------------------


def _odd_recording(random: Random) -> bytes:
    """Return a valid recording with odd contents: time that goes back, missing channels, invalid facts."""
    n = int(random.choice([0, 1, 2, 5, 300]))
    channels = [
        Channel("time", "s", [_odd_number(random) for _ in range(n)] if random.random() < 0.5 else np.arange(n) * 0.01)
    ]
    for i in random.choice(len(CHANNEL_NAMES), size=int(random.integers(0, 8)), replace=False):
        columns = int(random.choice([0, 1, 3, 7, 40]))
        labels = [f"l{j}" if random.random() < 0.9 else "x\ty" * j for j in range(columns)] if columns else None
        shape = (n, columns) if columns else (n,)
        values: object = np.array([_odd_number(random) for _ in range(int(np.prod(shape)))]).reshape(shape)
        if random.random() < 0.2:
            values = random.integers(-128, 128, size=shape).astype(np.int8)
        elif random.random() < 0.3:
            values = np.full(shape, "hold: a\nb", dtype=object)
        try:
            name = CHANNEL_NAMES[int(i)]
            channels.append(Channel(channel_key(name), "m", values, labels, name))  # type: ignore[arg-type]
        except PoiseError:
            continue
    facts: dict[str, object] = {
        "robot": [None, 3, "g1", "nobody", ["a"], {"b": 1}][int(random.integers(6))],
        "controller": [None, "text", {"period": "long"}, {"name": 3, "hierarchy": ["a"]}][int(random.integers(4))],
        "load_arguments": [None, {"height": "tall"}, [1]][int(random.integers(3))],
        "date": [None, 5, "yesterday\n"][int(random.integers(3))],
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "odd.poise"
        Recording(channels, facts, complete=bool(random.random() < 0.5)).save(path)
        return path.read_bytes()


#: Functions that generate files with an absurd structure, by format.
STRUCTURES: dict[str, tuple[Callable[[Random], bytes], ...]] = {
    "urdf": (_link_chain, _link_ring, _deep_xml, _entity_expansion, _odd_urdf, _odd_urdf, _odd_urdf),
    "robot_toml": _toml_makers(samples.ROBOT_TOML, "feet"),
    "c3d": (_odd_c3d,),
    "trc": (_wide_trc,),
    "mot": (_wide_mot,),
    "bvh": (_deep_bvh, _long_bvh),
    "poise": (_odd_recording,),
    "style": _toml_makers(samples.valid_file("style").decode(), "rest_posture"),
    "script": (_deep_script, _long_script, _odd_script, _odd_script),
    "marker_set": _toml_makers(samples.MARKER_SET_TOML, "markers"),
    "campaign": _toml_makers(samples.CAMPAIGN_TOML, "fixed"),
}
