"""Structures: files that are sound letter by letter and unreasonable as a whole: too deep, too wide, in rings.

Each is made from the seed alone; what the mutations of bytes hardly ever reach.
"""

from __future__ import annotations

import json
import struct
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from poise.campaign.kinds import fuzz_samples as bases
from poise.campaign.kinds.fuzz_mutations import Random
from poise.errors import PoiseError
from poise.recording import Channel, Recording, channel_key

#: Numbers as a file may have them, sound and unsound.
ODD = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-300, 5e-324, 1e6, 1e20, 1e155, 1e308, -1e308, float("nan"), float("inf"))

#: Parameters of C3D files in which something is counted, scaled or named.
PARAMETERS = (
    b"USED", b"FRAMES", b"SCALE", b"RATE", b"TYPE", b"CHANNEL", b"CORNERS", b"DATA_START", b"TIMES", b"LABELS",
    b"ORIGIN", b"GEN_SCALE", b"OFFSET", b"UNITS", b"ZERO", b"CONTEXTS",
)  # fmt: skip
#: Channels of a recording, ours and others.
CHANNELS = (
    "q", "v", "center_of_mass", "command/velocity", "command/torque", "command/nonfinite", "control/fallback",
    "control/milliseconds", "solver/status", "solver/iterations", "solver/milliseconds", "error/reach/hand",
    "error_norm/reach/hand", "slack/reach", "active/reach", "active_count/reach", "joint_limit/margin",
    "joint_limit/nearest", "phase", "contacts", "force/left_foot", "stick", "odd\nname", "é", "x" * 500,
)  # fmt: skip


def structure(form: str, random: Random) -> bytes:
    """An unreasonable file of a format."""
    makers = STRUCTURES[form]
    return makers[int(random.integers(len(makers)))](random)


def _many(random: Random, most: float = 4.0) -> int:
    """A count whose size is anything up to ten to the power of most."""
    return int(10.0 ** random.uniform(0.0, most))


def _odd(random: Random) -> float:
    return float(ODD[int(random.integers(len(ODD)))])


# -- TOML and JSON -----------------------------------------------------------------------------------------------------


def _deep_list(key: str) -> Callable[[Random], bytes]:
    def made(random: Random) -> bytes:
        depth = _many(random, 5.0)
        return f"{key} = {'[' * depth}{']' * depth}\n".encode()

    return made


def _deep_table(key: str) -> Callable[[Random], bytes]:
    def made(random: Random) -> bytes:
        depth = _many(random, 3.7)
        inner = ".".join([key, *["a"] * depth])
        return (f"[{inner}]\nx = 1\n" if random.random() < 0.5 else f"{inner} = 1\n").encode()

    return made


def _long(key: str) -> Callable[[Random], bytes]:
    def made(random: Random) -> bytes:
        size = _many(random, 5.5)
        value = [f'"{"x" * size}"', "9" * size, f"[{'1, ' * size}]", f"0x{'f' * size}"][int(random.integers(4))]
        return f"{key} = {value}\n".encode()

    return made


def _odd_value(text: str) -> Callable[[Random], bytes]:
    """One value of a sound TOML file is of another type."""
    odd = (
        "true", "[]", "{}", '""', "nan", "-inf", "1979-05-27", "07:32:00", "1979-05-27T07:32:00Z", "[[1], [2]]",
        '{a = {b = 1}}', '"\\u0000"', '"\\u001b[31m"', '"a\\nb"', '"\\u2028"', "9" * 310, "1e400", '["a", 1]', "[nan]",
        "0x7fffffffffffffffffff", '"' + "y" * 3000 + '"', "[" + "0.1, " * 2000 + "]",
    )  # fmt: skip

    def made(random: Random) -> bytes:
        lines = text.splitlines()
        keyed = [i for i, line in enumerate(lines) if " = " in line]
        for _ in range(int(random.integers(1, 4))):
            i = keyed[int(random.integers(len(keyed)))]
            key = lines[i].partition(" = ")[0]
            key = key if random.random() < 0.8 else '"\\u0007\\n' + "k" * int(random.integers(1, 50)) + '"'
            lines[i] = f"{key} = {odd[int(random.integers(len(odd)))]}"
        return "\n".join(lines).encode()

    return made


def _tomls(text: str, key: str) -> tuple[Callable[[Random], bytes], ...]:
    return (_deep_list(key), _deep_table(key), _long(key), *[_odd_value(text)] * 5)


def _deep_script(random: Random) -> bytes:
    depth = _many(random, 5.3)
    return b"[" * depth + b"]" * depth if random.random() < 0.5 else b'{"a":' * depth + b"1" + b"}" * depth


def _long_script(random: Random) -> bytes:
    entries = [{"time": float(i), "mode": "trunk", "input": [0.1] * 6} for i in range(_many(random, 4.0))]
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

    def pick() -> object:
        return odd[int(random.integers(len(odd)))]

    entries: list[object] = [{"time": i, "mode": "trunk", "input": [0] * 6} for i in range(3)]
    for _ in range(int(random.integers(1, 4))):
        entry = entries[int(random.integers(3))]
        if isinstance(entry, dict) and random.random() < 0.8:
            entry[str(random.choice(["time", "mode", "input", "lift", "a\nb"]))] = pick()
        else:
            entries[int(random.integers(3))] = pick()
    return json.dumps(entries).encode()


# -- URDF --------------------------------------------------------------------------------------------------------------


def _chain(random: Random) -> bytes:
    """A chain or a star of many links."""
    count, star = _many(random, 3.0), random.random() < 0.5
    links = [bases._link("l0", 1.0)]
    for i in range(1, count + 1):
        parent = "l0" if star else f"l{i - 1}"
        links += [bases._link(f"l{i}", 1.0), bases._joint(f"j{i}", parent, f"l{i}", "0 1 0", "0 0 -0.1")]
    return f'<robot name="long">{"".join(links)}</robot>'.encode()


def _ring(random: Random) -> bytes:
    """Links that carry each other, or twice the same name."""
    count = int(random.integers(1, 5))
    links = [bases._link(f"l{i}", 1.0) for i in range(count)]
    names = [f"l{int(i)}" for i in random.integers(-1, count + 1, size=2 * count)]
    joints = [
        bases._joint(f"j{int(random.integers(count + 1))}", names[2 * i], names[2 * i + 1], "0 1 0", "0 0 -0.1")
        for i in range(count)
    ]
    return f'<robot name="ring">{"".join([*links, *joints])}</robot>'.encode()


def _deep_xml(random: Random) -> bytes:
    depth = _many(random, 5.0)
    return b"<robot name='deep'>" + b"<link name='a'>" * depth + b"</link>" * depth + b"</robot>"


def _entities(random: Random) -> bytes:
    """Entities that grow when they are read."""
    depth = int(random.integers(2, 12))
    names = ['<!ENTITY e0 "joint joint joint">']
    names += [f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, depth)]
    return f'<!DOCTYPE robot [{"".join(names)}]><robot name="&e{depth - 1};"><link name="a"/></robot>'.encode()


def _odd_urdf(random: Random) -> bytes:
    """Attributes with odd values, elements with odd types."""
    text = bases.urdf_text()
    for _ in range(int(random.integers(1, 6))):
        swaps = (
            (
                'type="revolute"',
                f'type="{random.choice(["prismatic", "continuous", "planar", "floating", "odd", ""])}"',
            ),
            ('axis xyz="0 1 0"', f'axis xyz="{_odd(random)} {_odd(random)} 0"'),
            ('mass value="1.5"', f'mass value="{_odd(random)}"'),
            ('ixx="0.02"', f'ixx="{_odd(random)}"'),
            ('lower="-1.5"', f'lower="{_odd(random)}"'),
            ('velocity="8"', f'velocity="{_odd(random)}"'),
            ('rpy="0 0 0"', f'rpy="0 {_odd(random)} 0"'),
            ('xyz="0 0 -0.4"', f'xyz="0 0 {_odd(random)}"'),
            ('size="0.1 0.1 0.2"', f'size="{_odd(random)} 0.1 0.2"'),
            ('radius="0.05"', f'radius="{_odd(random)}"'),
            ('<box size="0.1 0.1 0.2"/>', '<mesh filename="package://nowhere/nothing.stl"/>'),
            ('<box size="0.1 0.1 0.2"/>', '<mesh filename="robot.urdf" scale="1 nan 1"/>'),
            ('<sphere radius="0.06"/>', ""),
            ('name="left_foot"', f'name="{"n" * _many(random, 4.0)}"'),
            ('name="arm"', 'name="a&#10;b"'),
            ('joint="arm_joint"', 'joint="finger_joint"'),
            (bases._LIMIT, ""),
        )
        old, new = swaps[int(random.integers(len(swaps)))]
        text = text.replace(old, new, int(random.integers(1, 4)))
    return text.encode()


# -- motion capture ----------------------------------------------------------------------------------------------------


def _deep_bvh(random: Random) -> bytes:
    depth, channels = _many(random, 3.5), random.random() < 0.3
    words = "CHANNELS 1 Xrotation" if channels else "CHANNELS 0"
    lines = ["HIERARCHY"]
    for i in range(depth):
        lines += [f"{'JOINT' if i else 'ROOT'} j{i}", "{", f"OFFSET 0 {_odd(random)} 0", words]
    row = " ".join(["1.5"] * depth) if channels else "1"
    lines += ["}"] * depth + ["MOTION", f"Frames: {_many(random, 9.0)}", f"Frame Time: {_odd(random)}", row]
    return "\n".join(lines).encode()


def _long_bvh(random: Random) -> bytes:
    """Many joints that never move, and many short rows: little text, large arrays."""
    joints, rows = _many(random, 4.0), _many(random, 4.5)
    lines = ["HIERARCHY", "ROOT r", "{", "OFFSET 0 0 0", "CHANNELS 1 Xposition"]
    lines += ["JOINT j\n{\nOFFSET 0 1 0\nCHANNELS 0\n}"] * joints
    lines += ["}", "MOTION", f"Frames: {rows}", "Frame Time: 0.01", *["1"] * rows]
    return "\n".join(lines).encode()


def _wide_trc(random: Random) -> bytes:
    columns, rows = _many(random, 4.0), _many(random, 3.0)
    labels = "\t\t\t".join(f"M{i}" for i in range(columns))
    step = abs(_odd(random))
    head = f"PathFileType\t4\t(X/Y/Z)\tx.trc\nDataRate\tUnits\n{_odd(random)}\tmm\nFrame#\tTime\t{labels}\n\n\n"
    fill = "\t".join(["1.5"] * int(random.integers(0, min(3 * columns, 300) + 1)))
    body = "\n".join(f"{i}\t{i * step}\t{fill}" for i in range(rows))
    return (head + body + "\n").encode()


def _wide_mot(random: Random) -> bytes:
    columns, rows = _many(random, 4.5), _many(random, 3.0)
    names = "\t".join(f"c{i}" for i in range(columns))
    row = "\t".join(str(_odd(random)) for _ in range(int(random.integers(1, 20))))
    body = "\n".join(f"{i}\t{row}" for i in range(rows))
    return f"nRows={_many(random, 9.0)}\nnColumns={columns}\nendheader\ntime\t{names}\n{body}\n".encode()


def _odd_c3d(random: Random) -> bytes:
    """The fields of the header, and bytes of the parameters' own sizes, are others."""
    data = bytearray(bases.base("c3d"))
    words = (0, 1, 2, 255, 256, 0x7FFF, 0x8000, 0xFFFF)
    for _ in range(int(random.integers(1, 4))):
        word = words[int(random.integers(len(words)))]
        match int(random.integers(4)):
            case 0:  # number of points, samples, frames, gap, data start, samples a frame
                struct.pack_into("<H", data, 2 * int(random.choice([1, 2, 3, 4, 5, 8, 9])), word)
            case 1:  # scale and rate, of samples and of time
                struct.pack_into(
                    "<f", data, int(random.choice([12, 20])), np.float32(np.clip(_odd(random), -3e38, 3e38))
                )
            case 2:  # events of the header
                struct.pack_into("<H", data, int(random.choice([294, 296, 298])), word)
            case _:  # a value of a parameter, found by its name
                at = data.find(PARAMETERS[int(random.integers(len(PARAMETERS)))])
                if at > 0:
                    data[at + int(random.integers(4, 24))] = word & 0xFF
    return bytes(data)


# -- recordings --------------------------------------------------------------------------------------------------------


def _odd_recording(random: Random) -> bytes:
    """Sound bytes with odd contents: clocks that go back, channels without partner, facts that are none."""
    n = int(random.choice([0, 1, 2, 5, 300]))
    channels = [
        Channel("time", "s", [_odd(random) for _ in range(n)] if random.random() < 0.5 else np.arange(n) * 0.01)
    ]
    for i in random.choice(len(CHANNELS), size=int(random.integers(0, 8)), replace=False):
        columns = int(random.choice([0, 1, 3, 7, 40]))
        labels = [f"l{j}" if random.random() < 0.9 else "x\ty" * j for j in range(columns)] if columns else None
        shape = (n, columns) if columns else (n,)
        values: object = np.array([_odd(random) for _ in range(int(np.prod(shape)))]).reshape(shape)
        if random.random() < 0.2:
            values = random.integers(-128, 128, size=shape).astype(np.int8)
        elif random.random() < 0.3:
            values = np.full(shape, "hold: a\nb", dtype=object)
        try:
            name = CHANNELS[int(i)]
            channels.append(Channel(channel_key(name), "m", values, labels, name))  # type: ignore[arg-type]
        except PoiseError:
            continue
    facts: dict[str, object] = {
        "robot": [None, 3, "g1", "nobody", ["a"], {"b": 1}][int(random.integers(6))],
        "controller": [None, "text", {"period": "long"}, {"name": 3, "hierarchy": ["a"]}][int(random.integers(4))],
        "parts": [None, {"height": "tall"}, [1]][int(random.integers(3))],
        "date": [None, 5, "yesterday\n"][int(random.integers(3))],
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "odd.poise"
        Recording(channels, facts, complete=bool(random.random() < 0.5)).save(path)
        return path.read_bytes()


#: Makers of unreasonable files by format.
STRUCTURES: dict[str, tuple[Callable[[Random], bytes], ...]] = {
    "urdf": (_chain, _ring, _deep_xml, _entities, _odd_urdf, _odd_urdf, _odd_urdf),
    "robot_toml": _tomls(bases.DESCRIPTION, "feet"),
    "c3d": (_odd_c3d,),
    "trc": (_wide_trc,),
    "mot": (_wide_mot,),
    "bvh": (_deep_bvh, _long_bvh),
    "poise": (_odd_recording,),
    "style": _tomls(bases.base("style").decode(), "rest"),
    "script": (_deep_script, _long_script, _odd_script, _odd_script),
    "marker_set": _tomls(bases.MARKER_SET, "markers"),
    "campaign": _tomls(bases.SPEC, "fixed"),
}
