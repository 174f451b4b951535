"""Protocol buffers without a library: the fields of a message, with every length checked."""
from __future__ import annotations

import struct
from collections.abc import Iterator

from .model import Damaged

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
DOUBLE, FLOAT = struct.Struct("<d"), struct.Struct("<f")


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Returns the number and the place after it."""
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise Damaged("a number in a message has no end")
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & (2**64 - 1), at
        shift += 7


def fields(data: bytes) -> Iterator[tuple[int, int, int | bytes]]:
    """(number, wire type, value): an int for varints, else the bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == VARINT:
            value, at = varint(data, at)
            yield key >> 3, kind, value
            continue
        if kind == BYTES:
            length, at = varint(data, at)
        elif kind in (FIXED64, FIXED32):
            length = 8 if kind == FIXED64 else 4
        else:
            raise Damaged(f"a message has the unknown wire type {kind}")
        if length > len(data) - at:
            raise Damaged("a field is longer than its message")
        yield key >> 3, kind, data[at:at + length]
        at += length


def signed(value: int) -> int:
    return value - 2**64 if value >= 2**63 else value


def text(value: int | bytes) -> str:
    return value.decode("utf-8", errors="replace") if isinstance(value, bytes) else str(value)


def first(data: bytes, wanted: int) -> int | bytes | None:
    return next((value for number, _, value in fields(data) if number == wanted), None)
