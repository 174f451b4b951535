"""Records of TensorBoard's event files, with their checksums."""
from __future__ import annotations

import struct
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

CHUNK = 1 << 20
LARGE = 1 << 20  # longer records hold images or graphs: skipped, not read
MOST_CHECKED = 1 << 16  # longer records have no checked sum
SMALL = 1 << 10  # longer records are only checked if they are used: most hold histograms
HEADER = struct.Struct("<QI")
SUM = struct.Struct("<I")
CRC_POLYNOMIAL = 0x82F63B78  # CRC-32C, reflected


def _table() -> list[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (CRC_POLYNOMIAL if byte & 1 else 0)
        table.append(byte)
    return table


TABLE = _table()


def masked_crc(data: bytes, table: list[int] = TABLE) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 255] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


@lru_cache(1024)
def _crc_of_head(head: bytes) -> int:
    return masked_crc(head)  # records of one tag have equal lengths


class _Reader:
    """A file in pieces: only a chunk of it is in memory."""

    def __init__(self, file: Path) -> None:
        self.size = file.stat().st_size  # a growing file is read up to here
        self.stream = file.open("rb")
        self.chunk, self.at, self.start = b"", 0, 0  # start: the chunk's offset in the file

    def offset(self) -> int:
        return self.start + self.at

    def need(self, count: int) -> bool:
        """Makes `count` bytes available; false: the file is shorter."""
        if len(self.chunk) - self.at >= count:
            return True
        left = self.size - self.start - len(self.chunk)
        missing = count - (len(self.chunk) - self.at)
        if missing > left:
            return False
        self.start += self.at
        self.chunk = self.chunk[self.at:] + self.stream.read(min(left, max(CHUNK, missing)))
        self.at = 0
        return len(self.chunk) >= count

    def skip(self, count: int) -> bool:
        if self.offset() + count > self.size:
            return False
        if self.at + count <= len(self.chunk):
            self.at += count
        else:
            self.start, self.at, self.chunk = self.offset() + count, 0, b""
            self.stream.seek(self.start)
        return True


def read_records(file: Path, take: Callable[[bytes], None], is_used: Callable[[bytes], bool] = lambda data: True) -> str:
    """Passes every record on that is used. Returns a note about the file's end; empty: it is whole."""
    reader = _Reader(file)
    with reader.stream:
        while reader.offset() < reader.size:
            begin = reader.offset()
            if not reader.need(12):
                return _cut(file, begin)
            head = reader.chunk[reader.at:reader.at + 8]
            length, crc = HEADER.unpack_from(reader.chunk, reader.at)
            if _crc_of_head(head) != crc:
                return _bad(file, begin, reader.size)
            if length > LARGE:
                if not reader.skip(length + 16):
                    return _cut(file, begin)
                continue
            if not reader.need(length + 16):
                return _cut(file, begin)
            data = reader.chunk[reader.at + 12:reader.at + 12 + length]
            if length > SMALL and not is_used(data):
                reader.at += length + 16
                continue
            if length <= MOST_CHECKED and masked_crc(data) != SUM.unpack_from(reader.chunk, reader.at + 12 + length)[0]:
                return _bad(file, begin, reader.size)
            reader.at += length + 16
            take(data)
    return ""


def _cut(file: Path, offset: int) -> str:
    return f"{file}: the last record, at byte {offset:,}, is incomplete: the file is still being written, or was cut off; all earlier records count"


def _bad(file: Path, offset: int, size: int) -> str:
    return f"{file}: the checksum of the record at byte {offset:,} is wrong; the records before it count, the last {size - offset:,} bytes are left out"
