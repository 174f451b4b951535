"""W&B's offline runs: the .wandb file, a log of records in blocks of 32 KiB as LevelDB writes it."""
from __future__ import annotations

import json
import math
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import wire
from .model import COMPLETED, UNFINISHED, Damaged, Run, flatten

BLOCK, HEAD, FILE_HEAD = 32768, 7, 7
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4
MOST_RECORD = 256 << 20
MOST_NOTES = 20
ID = "wandb run id"


def records(file: Path, note: Any) -> Iterator[bytes]:
    with file.open("rb") as stream:
        if stream.read(FILE_HEAD)[:4] != b":W&B":
            raise Damaged(f"{file}: expected a run of W&B, got other bytes")
        at, parts = FILE_HEAD, bytearray()
        while True:
            if BLOCK - at % BLOCK < HEAD:  # the rest of a block is padding
                stream.seek(BLOCK - at % BLOCK, 1)
                at += BLOCK - at % BLOCK
            head = stream.read(HEAD)
            if not head or head == b"\0" * len(head):
                return
            crc, length, kind = struct.unpack("<IHB", head) if len(head) == HEAD else (0, 1 << 20, 0)
            data = stream.read(min(length, BLOCK))
            if len(head) < HEAD or len(data) < length:
                return note(f"{file}: the last record, at byte {at:,}, is incomplete: the run is still being written, or was cut off; all earlier records count")
            if zlib.crc32(data, zlib.crc32(bytes([kind]))) != crc or kind not in (FULL, FIRST, MIDDLE, LAST):
                return note(f"{file}: the checksum of the record at byte {at:,} is wrong; the records before it count")
            at += HEAD + length
            if kind in (FULL, FIRST):
                parts.clear()
            parts += data
            if len(parts) > MOST_RECORD:
                raise Damaged(f"{file}: a record has more than {MOST_RECORD >> 20} MiB")
            if kind in (FULL, LAST):
                yield bytes(parts)


def read_run(file: Path, name: str) -> Run:
    run = Run(name, "W&B", [file], folder=file.parent)
    run.state, run.why = UNFINISHED, "its file records no end"
    count = 0
    for data in records(file, run.notes.append):
        try:
            for number, _, value in wire.fields(data):
                if number == 2:
                    _history(value, run, count)
                    count += 1
                elif number == 5:
                    _config(value, run)
                elif number == 17:
                    _run(value, run)
                elif number == 18:
                    _exit(value, run)
        except (Damaged, struct.error, TypeError, AttributeError) as error:
            note = f"{file}: a record is damaged ({error}); it is left out"
            if note not in run.notes[-20:] and len(run.notes) < MOST_NOTES:
                run.notes.append(note)
    return run


def _run(data: bytes, run: Run) -> None:
    for number, _, value in wire.fields(data):
        if number == 1:
            run.settings[ID] = wire.text(value)
        elif number == 4:
            _config(value, run)
        elif number == 6:
            run.settings.setdefault("wandb group", wire.text(value))
        elif number == 19 and isinstance(wire.first(value, 1), int):  # a Timestamp: seconds
            run.time_base = float(wire.first(value, 1))


def _exit(data: bytes, run: Run) -> None:
    code = wire.first(data, 1) or 0
    run.state, run.why = COMPLETED, ""
    if code:
        run.fail(f"exit code {wire.signed(code)}")


def _item(data: bytes) -> tuple[str, Any]:
    """Name and value of a HistoryItem or ConfigItem."""
    key, nested, value = "", [], None
    for number, kind, held in wire.fields(data):
        if number == 1:
            key = wire.text(held)
        elif number == 2:
            nested.append(wire.text(held))
        elif number == 4:
            value = bool(held)
        elif number == 5:
            value = (held >> 1) ^ -(held & 1)
        elif number == 6:
            value = wire.DOUBLE.unpack(held)[0]
        elif number == 7:
            value = wire.text(held)
        elif number in (8, 16):
            try:
                value = json.loads(held)
            except (ValueError, RecursionError):
                value = None
    return ".".join([key, *nested] if key else nested), value


def _config(data: bytes, run: Run) -> None:
    for number, _, value in wire.fields(data):
        if number == 1:
            key, held = _item(value)
            if not key.startswith(("_wandb", "wandb_version")):
                run.settings.update(flatten(held, key))


def _history(data: bytes, run: Run, count: int) -> None:
    values: dict[str, Any] = {}
    step: Any = None
    for number, _, value in wire.fields(data):
        if number == 1:
            key, held = _item(value)
            values[key.replace(".", "/") if "/" not in key and "." in key else key] = held
        elif number == 2:
            step = wire.first(value, 1) or 0
    step = values.pop("_step", step if step is not None else count)
    time = values.pop("_timestamp", math.nan)
    values.pop("_runtime", None)
    for key, value in values.items():
        value = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}.get(value, value) if isinstance(value, str) else value
        if isinstance(value, dict) and "_type" not in value:
            for inner, one in flatten(value, key).items():
                run.add(inner.replace(".", "/"), int(step), one, float(time))
        else:
            run.add(key, int(step), value, float(time) if isinstance(time, (int, float)) else math.nan)


def join_resumed(runs: list[Run]) -> list[Run]:
    """A resumed run has several folders with one id: the later one counts from its first step on."""
    by_id: dict[str, Run] = {}
    joined = []
    for run in sorted(runs, key=lambda run: (run.kind == "W&B", run.time_base if run.kind == "W&B" else 0)):
        known = by_id.get(run.settings.get(ID, "")) if run.kind == "W&B" else None
        if known is None:
            joined.append(run)
            if run.kind == "W&B" and ID in run.settings:
                by_id[run.settings[ID]] = run
            continue
        cut = sum(curve.cut(run.first_step()) for curve in known.curves.values()) if run.points() else 0
        for name, curve in run.curves.items():
            for step, value, time in zip(curve.steps, curve.values, curve.times):
                known.add(name, step, value, time)
        known.sources += run.sources
        known.settings.update(run.settings)
        known.notes += [*run.notes, f"{run.name}: resumes {known.name}" + (f"; {cut:,} of its points are discarded" if cut else "")]
        known.state, known.why = run.state, run.why
    order = {id(run): place for place, run in enumerate(runs)}
    return sorted(joined, key=lambda run: order[id(run)])
