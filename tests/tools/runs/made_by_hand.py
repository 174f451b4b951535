"""Files of other tools, written byte by byte: an encoder that shares nothing with the readers."""
import io
import json
import struct
import zipfile
import zlib


def varint(value):
    value &= 2**64 - 1
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    """int: a varint; float: 8 bytes; bytes and str: with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def single(number, value):
    return varint(number << 3 | 5) + struct.pack("<f", value)


def crc32c(data):
    """Bit by bit, by the definition of CRC-32C."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def record(data):
    head = struct.pack("<Q", len(data))
    return head + struct.pack("<I", masked(head)) + data + struct.pack("<I", masked(data))


def event(step, time, *values):
    return record(field(1, float(time)) + field(2, step) + field(5, b"".join(field(1, value) for value in values)))


def scalar(tag, value):
    return field(1, tag) + single(2, value)


def text(tag, content):
    return field(1, tag + "/text_summary") + field(8, field(1, 7) + field(8, content)) + field(9, field(1, field(1, "text")))


def hparams(settings):
    """The value that add_hparams logs: a map of google.protobuf.Value."""
    entries = b""
    for key, value in settings.items():
        held = field(4, int(value)) if isinstance(value, bool) else field(3, value) if isinstance(value, str) else field(2, float(value))
        entries += field(1, field(1, key) + field(2, held))
    content = field(1, 0) + field(3, entries)
    return field(1, "_hparams_/session_start_info") + field(9, field(1, field(1, "hparams") + field(2, content)))


def events(*records):
    return record(field(1, 1.0) + field(3, "brain.Event:2")) + b"".join(records)


def curve(tag, points, time=1000.0):
    return [event(step, time + i, scalar(tag, value)) for i, (step, value) in enumerate(points)]


def npy(code, shape, values):
    """A version 1.0 array; `code` as in NumPy, such as "<f8"."""
    head = f"{{'descr': '{code}', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    head += " " * (63 - (len(head) + 10) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(values)}{ {'f8': 'd', 'i8': 'q'}[code[1:]] }", *values)


def npz(**arrays):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in arrays.items():
            archive.writestr(name + ".npy", data)
    return out.getvalue()


def wandb(*records):
    """The log of W&B: blocks of 32 KiB, here with records that fit."""
    out = b":W&B" + struct.pack("<HB", 0xBEE1, 0)
    for data in records:
        begin = 0
        while True:
            room = 32768 - len(out) % 32768
            if room < 7:
                out += b"\0" * room
                continue
            piece = data[begin:begin + room - 7]
            first, last = begin == 0, begin + len(piece) == len(data)
            kind = 1 if first and last else 2 if first else 4 if last else 3
            out += struct.pack("<IHB", zlib.crc32(bytes([kind]) + piece), len(piece), kind) + piece
            begin += len(piece)
            if last:
                break
    return out


def wandb_run(run_id, config, rows, exit_code=0, start=1000):
    """Rows are (step, {name: value})."""
    configs = b"".join(field(1, field(1, key) + field(16, json.dumps(value))) for key, value in config.items())
    records = [field(17, field(1, run_id) + field(4, configs) + field(19, field(1, start)))]
    for step, values in rows:
        items = b"".join(field(1, field(1, key) + field(16, json.dumps(value))) for key, value in values.items())
        records.append(field(2, items + field(2, field(1, step))))
    if exit_code is not None:
        records.append(field(18, field(1, exit_code)))
    return wandb(*records)
