"""NumPy's files without NumPy and without unpickling: arrays as lists of numbers."""
from __future__ import annotations

import ast
import struct
import zipfile
from dataclasses import dataclass
from pathlib import Path

from .model import Damaged

MOST_BYTES = 128 << 20  # of all arrays of a file; as numbers of Python they need five times as much
CODES = {"f8": "d", "f4": "f", "f2": "e", "i8": "q", "i4": "i", "i2": "h", "i1": "b", "u8": "Q", "u4": "I", "u2": "H", "u1": "B", "b1": "?"}


@dataclass
class Array:
    shape: tuple[int, ...]
    values: tuple[float, ...]  # in C order

    def rows(self) -> list[tuple[float, ...]]:
        width = max(1, len(self.values) // self.shape[0]) if self.shape and self.shape[0] else 1
        return [self.values[i:i + width] for i in range(0, len(self.values), width)]


def parse_npy(data: bytes, place: str) -> Array:
    if data[:6] != b"\x93NUMPY" or len(data) < 12:
        raise Damaged(f"{place}: expected an array of NumPy, got other bytes")
    wide = data[6] >= 2
    length = struct.unpack_from("<I" if wide else "<H", data, 8)[0]
    begin = 12 if wide else 10
    try:
        header = ast.literal_eval(data[begin:begin + length].decode("latin1").strip())
        descr, fortran, shape = header["descr"], header["fortran_order"], tuple(header["shape"])
        count = 1
        for size in shape:
            count *= int(size)
        if not isinstance(descr, str) or descr[0] not in "<>|=" or descr[1:] not in CODES:
            raise Damaged(f"{place}: expected numbers, got the type {str(descr)[:40]!r}; objects are never unpickled")
        order = ">" if descr[0] == ">" else "<"
        if count < 0 or count * int(descr[2:]) != len(data) - begin - length:
            raise Damaged(f"{place}: expected {count:,} numbers, got {len(data) - begin - length:,} bytes")
        values = struct.unpack_from(f"{order}{count}{CODES[descr[1:]]}", data, begin + length)
    except (ValueError, SyntaxError, KeyError, TypeError, struct.error, RecursionError, MemoryError) as error:
        raise Damaged(f"{place}: its header is damaged ({type(error).__name__})") from None
    if fortran and len(shape) == 2:
        values = tuple(values[column * shape[0] + row] for row in range(shape[0]) for column in range(shape[1]))
    elif fortran and len(shape) > 2:
        raise Damaged(f"{place}: expected an array in C order, got Fortran order")
    return Array(shape, values)


def read_npz(file: Path) -> dict[str, Array]:
    try:
        with zipfile.ZipFile(file) as archive:
            arrays = {}
            size = sum(info.file_size for info in archive.infolist()[:1000])
            if size > MOST_BYTES:
                raise Damaged(f"{file}: expected arrays of at most {MOST_BYTES >> 20} MiB, got {size >> 20} MiB")
            for info in archive.infolist()[:1000]:
                with archive.open(info) as stream:
                    data = stream.read(info.file_size + 1)
                arrays[info.filename.removesuffix(".npy")] = parse_npy(data, f"{file}: {info.filename}")
            return arrays
    except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError, ValueError, zipfile.zlib.error) as error:
        raise Damaged(f"{file}: not a whole .npz file ({error})") from None
