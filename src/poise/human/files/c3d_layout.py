"""Check the layout of a C3D file before it is read: header, parameter records and samples must fit into the file.

A C3D file is a header of 512 bytes, a section of parameters and the samples. Each parameter record states the lengths
of its name, dimensions and description and the offset of the next record, so one damaged byte can lead a reader to
allocate gigabytes or to read outside its memory. This check reads only these lengths and compares them with the file.
"""

from __future__ import annotations

import math
import re
import struct
from pathlib import Path
from typing import NamedTuple

from poise.human.trial import TrialError, trial_error

BLOCK_BYTES = 512
C3D_KEY = 0x50
INTEL, DEC, MIPS = 84, 85, 86
#: Largest number of records of a section: its 255 blocks are 130 kB, and the shortest record has 6 bytes.
MAX_RECORDS = 255 * BLOCK_BYTES // 6


class C3dParameter(NamedTuple):
    """A parameter of the file.

    Attributes:
        data_type: bytes per element; -1 for text.
        dimensions: of its array of values; () for a single value.
        start: offset of its values from the start of the file, bytes.
    """

    data_type: int
    dimensions: tuple[int, ...]
    start: int

    @property
    def elements(self) -> int:
        return math.prod(self.dimensions)


def check_layout(path: Path) -> None:
    """Raise a `TrialError` unless header, parameters and samples are consistent and fit into the file."""
    data = path.read_bytes()
    if not data:
        raise trial_error(path, "is empty; expected a C3D file")
    if len(data) < BLOCK_BYTES or data[1] != C3D_KEY:
        text = all(byte in b"\t\r\n" or byte >= 0x20 for byte in data[:BLOCK_BYTES])
        kind = "it contains text, such as a TRC or CSV file" if text else "it does not begin with the header of one"
        raise trial_error(path, f"not a C3D file: {kind}; export it again as C3D, or give it the suffix of its format")
    first = (data[0] - 1) * BLOCK_BYTES
    if first < 0 or first + 4 > len(data):
        raise trial_error(path, f"damaged C3D file: parameters begin in block {data[0]}, beyond the end of the file")
    processor = data[first + 3]
    if processor == MIPS:
        raise trial_error(path, "C3D file in MIPS byte order, which is not supported; save it in Intel byte order")
    if processor not in (INTEL, DEC):
        raise trial_error(path, f"damaged C3D file: processor type {processor}, expected 84 (Intel) or 85 (DEC)")
    _check_samples(data, _read_parameters(data, first + 4, path), path, sign_byte=1 if processor == DEC else 3)


def _read_parameters(data: bytes, position: int, path: Path) -> dict[str, C3dParameter]:
    groups: dict[int, str] = {}
    parameters: list[tuple[int, str, C3dParameter]] = []
    for _ in range(MAX_RECORDS):
        if position + 2 > len(data):
            raise _damaged_error(path, "parameters extend beyond the end of the file")
        name_length, group_id = struct.unpack_from("<bb", data, position)
        if name_length == 0 or group_id == 0:
            break
        name = data[position + 2 : position + 2 + abs(name_length)].decode("ascii", "replace").upper()
        at = position + 2 + abs(name_length)
        if at + 2 > len(data):
            raise _damaged_error(path, "parameters extend beyond the end of the file")
        (offset,) = struct.unpack_from("<H", data, at)
        end = at + offset if offset else len(data)
        if end > len(data) or (offset and offset < 3):
            raise _damaged_error(path, f"parameter {name!r} ends at byte {end}, beyond the end of the file")
        if group_id < 0:
            groups[group_id] = name
            _check_description(data, at + 2, end, name, path)
        else:
            parameters.append((-group_id, name, _read_parameter(data, at + 2, end, name, path)))
        if not offset:
            break
        position = end
    return {f"{groups.get(group, group)}:{name}": parameter for group, name, parameter in parameters}


def _read_parameter(data: bytes, position: int, end: int, name: str, path: Path) -> C3dParameter:
    if position + 2 > end:
        raise _damaged_error(path, f"parameter {name!r} is too short")
    data_type, dimensions = struct.unpack_from("<bB", data, position)
    start = position + 2 + dimensions
    if data_type not in (-1, 1, 2, 4) or dimensions > 7 or start > end:
        raise _damaged_error(path, f"parameter {name!r} is of type {data_type} with {dimensions} dimensions")
    parameter = C3dParameter(data_type, tuple(data[position + 2 : start]), start)
    _check_description(data, start + parameter.elements * abs(data_type), end, name, path)
    return parameter


def _check_description(data: bytes, position: int, end: int, name: str, path: Path) -> None:
    """Check that the description of a record ends where the record ends.

    The byte at `position`, after the values, is the length of the description. The last record does not state its own
    end, so its description only has to fit into the file.
    """
    if position >= end:
        raise _damaged_error(path, f"parameter {name!r} is larger than its record")
    after = position + 1 + data[position]
    if after > end or (after < end and end != len(data)):
        raise _damaged_error(path, f"parameter {name!r} has an inconsistent length")


def _check_samples(data: bytes, parameters: dict[str, C3dParameter], path: Path, sign_byte: int) -> None:
    """Compare the size of the samples, as stated by header and parameters, with the size of the file.

    `sign_byte` is the index (0 to 3) of the byte of a float that contains the sign bit: 3 for Intel, 1 for DEC.
    """

    def read_integer(name: str) -> int | None:
        parameter = parameters.get(name)
        if parameter is None or not parameter.elements or parameter.data_type not in (1, 2):
            return None
        return int.from_bytes(data[parameter.start : parameter.start + parameter.data_type], "little")

    def read_long(name: str) -> int | None:
        parameter = parameters.get(name)
        if parameter is None or parameter.elements < 2 or parameter.data_type != 2:
            return None
        low, high = struct.unpack_from("<HH", data, parameter.start)
        return int(low + 65536 * high)

    channels = read_integer("ANALOG:USED") or 0
    for name in ("ANALOG:SCALE", "ANALOG:OFFSET") if channels else ():
        # Above 255 channels they continue in SCALE2, SCALE3 ...
        if sum(parameters[key].elements for key in parameters if re.fullmatch(rf"{name}\d*", key)) < channels:
            raise _damaged_error(path, f"{name} does not have a number for each of {channels} channels")
    points, analog, first, last = struct.unpack_from("<HHHH", data, 2)
    start = struct.unpack_from("<H", data, 16)[0]
    begin, end = read_long("TRIAL:ACTUAL_START_FIELD"), read_long("TRIAL:ACTUAL_END_FIELD")
    frames = end - begin + 1 if begin is not None and end is not None else read_integer("POINT:FRAMES")
    points = read_integer("POINT:USED") or points
    frames = last - first + 1 if frames is None else frames
    # Samples are 16-bit integers if the scale is positive, else floats.
    scale = parameters.get("POINT:SCALE")
    at = scale.start if scale is not None and scale.data_type == 4 and scale.elements else 12
    size = 4 if data[at + sign_byte] & 0x80 else 2
    available_bytes = max(0, len(data) - (max(start, 1) - 1) * BLOCK_BYTES)
    stated_bytes = frames * (4 * points + analog) * size
    # An incomplete last frame is tolerated; if more is missing, the file is damaged or truncated.
    if stated_bytes - available_bytes > (4 * points + analog) * size:
        raise trial_error(
            path,
            f"header says {frames} frames of {points} points ({stated_bytes} bytes), file has {available_bytes}: "
            "truncated or damaged",
        )


def _damaged_error(path: Path, complaint: str) -> TrialError:
    return trial_error(path, f"damaged C3D file: {complaint}")
