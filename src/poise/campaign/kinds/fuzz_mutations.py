"""Random mutations of the bytes of a file, from a flipped bit to an empty file."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

Random = np.random.Generator
Mutation = Callable[[Random, bytes], bytes]

#: Pattern of a number in a text.
NUMBER_PATTERN = re.compile(rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
#: Replacements of a number in a text: not a number, out of range, wrong sign, absurd counts.
ODD_NUMBER_TEXTS = (
    b"nan", b"-nan", b"inf", b"-inf", b"1e308", b"-1e308", b"1e400", b"5e-324", b"-1", b"0", b"-0.0", b"1e-300",
    b"2147483647", b"2147483648", b"-2147483649", b"18446744073709551616", b"1000000000", b"65536", b"255", b"256",
    b"0x10", b"1_000", b"1,5", b"1.5.2", b"--1", b"", b"x", b"9" * 400, b"9" * 5000, b"0." + b"3" * 400,
)  # fmt: skip
#: Replacements of a binary field: extreme integers of every size, NaN and infinity.
ODD_FIELDS = (
    b"\x00", b"\x01", b"\x7f", b"\x80", b"\xff", b"\x00\x00", b"\xff\x7f", b"\x00\x80", b"\xff\xff", b"\xfe\xff",
    b"\x00\x00\x00\x00", b"\xff\xff\xff\x7f", b"\x00\x00\x00\x80", b"\xff\xff\xff\xff", b"\x00\x00\xc0\x7f",
    b"\x00\x00\x80\x7f", b"\x00\x00\x80\xff", b"\xff\xff\x7f\x7f", b"\x00" * 8, b"\xff" * 7 + b"\x7f", b"\xff" * 8,
    b"\x00" * 6 + b"\xf8\x7f", b"\x00" * 6 + b"\xf0\x7f", b"\x00\x00\x00\x00\x01\x00\x00\x00",
)  # fmt: skip
#: Largest size of a mutated file (bytes): readers are tested with wrong sizes in the file, not with large files.
MAX_FILE_BYTES = 1 << 20


def flip_bits(random: Random, data: bytes) -> bytes:
    """Flip some bits."""
    changed = bytearray(data)
    for position in _random_positions(random, len(data)):
        changed[position] ^= 1 << int(random.integers(8))
    return bytes(changed)


def replace_bytes(random: Random, data: bytes) -> bytes:
    """Replace some bytes."""
    changed = bytearray(data)
    for position in _random_positions(random, len(data)):
        changed[position] = int(random.choice([0, 9, 10, 13, 32, 34, 45, 46, 60, 255, int(random.integers(256))]))
    return bytes(changed)


def truncate(random: Random, data: bytes) -> bytes:
    """Cut off the end or the beginning."""
    cut = int(random.integers(len(data) + 1))
    return data[cut:] if random.random() < 0.2 else data[:cut]


def splice(random: Random, data: bytes) -> bytes:
    """Replace a block by a copy of another, or insert the copy."""
    source, piece = _random_block(random, data)
    position, removed = _random_block(random, data)
    removed = 0 if random.random() < 0.3 else removed
    return data[:position] + data[source : source + piece] + data[position + removed :]


def repeat_block(random: Random, data: bytes) -> bytes:
    """Repeat a block many times."""
    start, length = _random_block(random, data)
    times = int(10.0 ** random.uniform(0.3, 4.0))
    times = max(1, min(times, MAX_FILE_BYTES // max(length, 1)))
    return data[:start] + data[start : start + length] * times + data[start + length :]


def replace_numbers(random: Random, data: bytes) -> bytes:
    """Replace numbers by texts that are not numbers, or by extreme values."""
    if not _is_text(data):
        return _replace_fields(random, data)
    matches = list(NUMBER_PATTERN.finditer(data))
    for match in sorted(_random_matches(random, matches), key=lambda match: -match.start()):
        replacement = ODD_NUMBER_TEXTS[int(random.integers(len(ODD_NUMBER_TEXTS)))]
        data = data[: match.start()] + replacement + data[match.end() :]
    return data


def shuffle_words(random: Random, data: bytes) -> bytes:
    """Remove, duplicate or swap words or lines; in binary files, blocks."""
    if not _is_text(data):
        size = int(random.choice([4, 8, 16, 64, 512]))
        parts = [data[i : i + size] for i in range(0, len(data), size)]
    else:
        parts = re.findall(rb"[^\n]*\n|[^\n]+" if random.random() < 0.5 else rb"\w+|\s+|[^\w\s]", data)
    for _ in range(_small_count(random)):
        if not parts:
            break
        i, j = (int(position) for position in random.integers(len(parts), size=2))
        match int(random.integers(4)):
            case 0:
                del parts[i]
            case 1:
                parts.insert(j, parts[i])
            case 2:
                parts[i], parts[j] = parts[j], parts[i]
            case _:
                parts[i] = parts[j]
    return b"".join(parts)


def random_content(random: Random, data: bytes) -> bytes:
    """Replace everything by random bytes; sometimes keep the first bytes, which identify the format."""
    length = int(10.0 ** random.uniform(0.0, 4.5))
    header = data[: int(random.choice([0, 0, 2, 8, 64, 512]))]
    if _is_text(data) and random.random() < 0.5:
        letters = np.frombuffer(b" \t\n\r0123456789.-+eEnaif<>/\"=[]{}#:,\\'_abcxyz", dtype=np.uint8)
        return header + letters[random.integers(len(letters), size=length)].tobytes()
    return header + random.integers(256, size=length, dtype=np.uint8).tobytes()


def empty_file(random: Random, data: bytes) -> bytes:
    """Return an empty file, or one of white space, zeros or a byte order mark."""
    blanks = (b"", b"\n", b" " * 10, b"\0" * 600, b"\xef\xbb\xbf", b"\xff\xfe", b"\r\n\r\n", b"\t")
    return blanks[int(random.integers(len(blanks)))]


#: Mutations by their names in specs; ``structure`` is another one, which depends on the format.
MUTATIONS: dict[str, Mutation] = {
    "bits": flip_bits,
    "bytes": replace_bytes,
    "truncate": truncate,
    "splice": splice,
    "repeat": repeat_block,
    "numbers": replace_numbers,
    "words": shuffle_words,
    "random": random_content,
    "empty": empty_file,
}


def _is_text(data: bytes) -> bool:
    return b"\0" not in data


def _small_count(random: Random) -> int:
    """Return a random count, mostly one, sometimes dozens."""
    return int(10.0 ** random.uniform(0.0, 1.7))


def _random_positions(random: Random, size: int) -> list[int]:
    return [int(position) for position in random.integers(size, size=_small_count(random))] if size else []


def _random_block(random: Random, data: bytes) -> tuple[int, int]:
    """Return the start and length of a random block."""
    start = int(random.integers(len(data) + 1))
    return start, int(10.0 ** random.uniform(0.0, np.log10(max(len(data) - start, 1)) + 1e-9))


def _random_matches(random: Random, matches: list[re.Match[bytes]]) -> list[re.Match[bytes]]:
    count = min(_small_count(random), len(matches))
    return [matches[int(i)] for i in random.choice(len(matches), size=count, replace=False)] if matches else []


def _replace_fields(random: Random, data: bytes) -> bytes:
    """Replace binary fields by extreme values; half of them near the beginning, where headers hold sizes."""
    changed = bytearray(data)
    for _ in range(_small_count(random)):
        value = ODD_FIELDS[int(random.integers(len(ODD_FIELDS)))]
        last = min(len(data), 2048) if random.random() < 0.5 else len(data)
        position = int(random.integers(max(last - len(value), 1)))
        position -= position % min(len(value), 4) if random.random() < 0.7 else 0
        changed[position : position + len(value)] = value
    return bytes(changed)
