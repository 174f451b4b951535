"""TensorBoard's event files: scalars, hyperparameters and the settings that CleanRL and transformers write as text."""
from __future__ import annotations

import math
import re
import struct
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import wire
from .event_records import read_records
from .model import MOST_METRICS, MOST_POINTS, COMPLETED, Curve, Damaged, Run, flatten
from .plain_values import parse_json, plain

ENDS = {2: "its hyperparameters record a failure", 3: ""}  # of SessionEndInfo.status
ELEMENTS = {1: "f", 2: "d", 3: "i", 9: "q", 4: "B", 6: "b", 22: "I", 23: "Q"}  # tensorflow.DataType
# An Event of wall_time, step and a Summary with one Value of tag and simple_value, whose lengths have one byte.
ONE_SCALAR = re.compile(rb"\x09(.{8})\x10([\x80-\xff]{0,9}[\0-\x7f])(\x2a[\0-\x7f]\x0a[\0-\x7f]\x0a[\0-\x7f])(.+)\x15(.{4})", re.DOTALL)
MOST_RESTARTS = 1000  # each reads all points before it
LONGEST_SCALAR = 256  # bytes of a tensor
TEXTS = ("hyperparameters", "args", "hparams", "config", "settings")


class TooMuch(Damaged):
    """The file exceeds a bound: the run fails."""


class EventFile:
    """The scalars, settings and end of the run in one file."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.curves: dict[str, Curve] = {}
        self.settings: dict[str, Any] = {}
        self.has_hparams = False
        self.notes: list[str] = []
        self.state_why: str | None = None  # "" : it ended well
        self.first = self.last = math.nan  # clock times of scalars
        self.discarded = self.points = self.restarts = 0
        self.step = b"\0", 0  # the last one, encoded and decoded: tags share it
        if note := read_records(file, self._event, is_used):
            self.notes.append(note)

    def _event(self, data: bytes) -> None:
        """An Event: wall_time 1, step 2, summary 5, session_log 7."""
        if (found := ONE_SCALAR.fullmatch(data)) and self._one_scalar(*found.groups()):
            return
        try:
            time, step, summaries = math.nan, 0, []
            for number, _, value in wire.fields(data):
                if number == 1:
                    time = wire.DOUBLE.unpack(value)[0]
                elif number == 2:
                    step = wire.signed(value)
                elif number == 5:
                    summaries += [summary for inner, _, summary in wire.fields(value) if inner == 1]
                elif number == 7 and wire.first(value, 1) == 1 and step > 0:  # SessionLog.START: the steps from here on follow again
                    self._restart(step)
            for summary in summaries:  # fields may have any order
                self._summary(summary, step, time)
        except TooMuch:
            raise
        except (Damaged, struct.error, TypeError, AttributeError) as error:
            self._note(f"{self.file}: a record is no event ({error}); it is left out")

    def _restart(self, step: int) -> None:
        self.restarts += 1
        if self.restarts > MOST_RESTARTS:
            raise TooMuch(f"{self.file}: more than {MOST_RESTARTS:,} restarts within the file")
        self.discarded += sum(curve.cut(step) for curve in self.curves.values())

    def _one_scalar(self, time: bytes, step: bytes, lengths: bytes, tag: bytes, value: bytes) -> bool:
        """The usual event, three times as fast as by its fields. False: it is another."""
        summary, inner, text = lengths[1], lengths[3], len(tag)
        if inner != text + 7 or summary != inner + 2 or lengths[5] != text:
            return False
        if step != self.step[0]:
            self.step = step, wire.signed(wire.varint(step, 0)[0])
        self._add(wire.text(tag), self.step[1], wire.FLOAT.unpack(value)[0], wire.DOUBLE.unpack(time)[0])
        return True

    def _note(self, text: str) -> None:
        if len(self.notes) < 20 and text not in self.notes:
            self.notes.append(text)

    def _summary(self, data: bytes, step: int, time: float) -> None:
        """A Summary.Value: tag 1, simple_value 2, tensor 8, metadata 9."""
        tag, value, tensor, metadata = "", None, None, b""
        for number, kind, field in wire.fields(data):
            if number == 1:
                tag = wire.text(field)
            elif number == 2 and kind == wire.FIXED32:
                value = wire.FLOAT.unpack(field)[0]
            elif number == 8:
                tensor = field
            elif number == 9:
                metadata = field
        if value is None and metadata and b"hparams" in metadata and tag.startswith("_hparams_/"):
            return self._hparams(metadata)
        if value is None and tensor is not None:
            if _is_text(tag):
                return self._text(tensor)
            value = _scalar(tensor)
        if value is not None and tag:
            self._add(tag, step, value, time)

    def _add(self, tag: str, step: int, value: float, time: float) -> None:
        if step < 0:
            return self._note(f"{self.file}: {tag}: a point has the negative step {step}; it is left out")
        curve = self.curves.get(tag)
        if curve is None:
            if len(self.curves) >= MOST_METRICS:
                return self._note(f"{self.file}: more than {MOST_METRICS:,} tags; the others are left out")
            curve = self.curves[tag] = Curve()
        self.points += 1
        if self.points > MOST_POINTS:
            raise TooMuch(f"{self.file}: more than {MOST_POINTS:,} points")
        curve.add(step, value, time)
        if not self.first <= time:  # also for NaN
            self.first = time
        if not self.last >= time:
            self.last = time

    def _hparams(self, metadata: bytes) -> None:
        plugin = wire.first(metadata, 1)
        content = wire.first(plugin, 2) if isinstance(plugin, bytes) else None
        for number, _, value in wire.fields(content if isinstance(content, bytes) else b""):
            if number == 3:  # SessionStartInfo
                self.has_hparams = True
                for inner, _, entry in wire.fields(value):
                    if inner == 1:
                        key, held = wire.first(entry, 1), wire.first(entry, 2)
                        self.settings[wire.text(key or b"")] = _value(held if isinstance(held, bytes) else b"")
            elif number == 4:  # SessionEndInfo
                self.state_why = ENDS.get(wire.first(value, 1) or 0, "")

    def _text(self, tensor: bytes) -> None:
        texts = [wire.text(value) for number, _, value in wire.fields(tensor) if number == 8]
        for text in texts[:1]:
            if text.lstrip().startswith("{"):
                try:
                    self.settings.update(flatten(parse_json(text, str(self.file))))
                except Damaged:
                    return
            else:
                self.settings.update(_table(text))


def is_used(data: bytes) -> bool:
    """False: a summary of histograms, pictures or long tensors only. A damaged record counts as used: its checksum is wrong."""
    try:
        summaries = [summary for number, _, value in wire.fields(data) if number == 5 for inner, _, summary in wire.fields(value) if inner == 1]
        return not summaries or any(_is_used_value(summary) for summary in summaries)
    except (Damaged, TypeError):
        return True


def _is_used_value(summary: bytes) -> bool:
    tag = ""
    for number, _, value in wire.fields(summary):
        if number == 1:
            tag = wire.text(value)
        elif number == 2 or number == 9 and b"hparams" in value:
            return True
        elif number == 8 and (len(value) <= LONGEST_SCALAR or _is_text(tag)):
            return True
    return False


def _is_text(tag: str) -> bool:
    return tag.removesuffix("/text_summary").rpartition("/")[2].lower() in TEXTS


def _table(text: str) -> Iterator[tuple[str, Any]]:
    """The rows of "|param|value|\\n|-|-|\\n|lr|0.1|"."""
    for line in text.splitlines()[:2000]:
        cells = line.strip().strip("|").split("|", 1)
        if len(cells) == 2 and cells[0].strip() and not set(cells[0]) <= set("-: ") and cells[0].strip() not in ("param", "key"):
            yield cells[0].strip(), plain(cells[1])


def _value(data: bytes) -> Any:
    """A google.protobuf.Value."""
    for number, _, value in wire.fields(data):
        if number == 2:
            held = wire.DOUBLE.unpack(value)[0]
            return int(held) if held.is_integer() and abs(held) < 2**53 else held
        if number == 3:
            return wire.text(value)
        if number == 4:
            return bool(value)
    return None


def _scalar(tensor: bytes) -> float | None:
    """The only element of a TensorProto: dtype 1, tensor_shape 2, tensor_content 4, values 5 and later. None: it is no scalar."""
    dtype, content, values = 1, b"", []
    for number, kind, value in wire.fields(tensor):
        if number == 1:
            dtype = value
        elif number == 2 and any(inner == 2 and (wire.first(size, 1) or 0) != 1 for inner, _, size in wire.fields(value)):
            return None
        elif number == 4:
            content = value
        elif number in (5, 6, 7, 10, 11, 13, 16, 17):
            values.append((number, kind, value))
    if content:
        code = ELEMENTS.get(dtype)
        if code is None or len(content) != array(code).itemsize:
            return None
        return float(struct.unpack("<" + code, content)[0])
    if len(values) != 1:
        return None
    number, kind, value = values[0]
    if number in (5, 6):
        unpacker = wire.FLOAT if number == 5 else wire.DOUBLE
        return unpacker.unpack(value)[0] if len(value) == unpacker.size else None
    held = value if kind == wire.VARINT else wire.varint(value, 0)[0]
    if number == 13:  # half_val holds the bits; dtype 14 is bfloat16
        bits = struct.pack("<H", held & 0xFFFF)
        return wire.FLOAT.unpack(b"\0\0" + bits)[0] if dtype == 14 else struct.unpack("<e", bits)[0]
    return float(wire.signed(held))


def read_event_run(files: list[Path], name: str, folder: Path) -> Run:
    """One run of the event files in a folder; a later file counts from its first step on."""
    run = Run(name, "TensorBoard", list(files), folder=folder)
    parts = [EventFile(file) for file in files]
    for part in parts:
        run.settings.update(part.settings)
        run.notes += part.notes
        if part.discarded:
            run.notes.append(f"{part.file}: a restart within the file discards {part.discarded:,} points")
    ends = [part.state_why for part in parts if part.state_why is not None]
    if ends and ends[-1]:
        run.fail(ends[-1])
    parts = sorted((part for part in parts if part.curves), key=lambda part: (part.first, str(part.file)))
    for before, after in zip(parts, parts[1:]):
        if after.first < before.last and before.curves.keys() & after.curves.keys():
            run.fail(f"two processes wrote into this folder at the same time: {before.file.name} and {after.file.name}; move one of them to a different folder")
            return run
    for part in parts:
        _join(run, part)
    run.time_base = parts[0].first if parts else 0
    return run


def _join(run: Run, part: EventFile) -> None:
    if run.curves.keys() & part.curves.keys():
        start = min(min(curve.steps) for curve in part.curves.values())
        cut = sum(curve.cut(start) for curve in run.curves.values())
        if cut:
            run.notes.append(f"{part.file}: a restart at step {start:,} discards {cut:,} points of the files before it")
    for tag, curve in part.curves.items():
        known = run.curves.setdefault(tag, Curve())
        known.steps.extend(curve.steps)
        known.values.extend(curve.values)
        known.times.extend(curve.times)


def is_event_file(name: str) -> bool:
    return "tfevents" in name and not name.endswith((".profile-empty", ".lock"))


def has_only_hparams(run: Run, folder: Path) -> bool:
    """True for the subfolder, named by a timestamp, in which PyTorch's add_hparams logs."""
    digits = folder.name.replace(".", "")
    return run.state == COMPLETED and bool(run.settings) and digits.isdigit() and len(digits) >= 9
