"""Damages the files that scripts/check_import logs, so that the readers of `backplane import` see bytes that no tool writes."""
import contextlib
import os
import pathlib
import random
import resource
import sqlite3
import struct
import sys
import tempfile
import time
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools/runs"))

LARGEST_FILE = 8 << 20
MOST_MEMORY = 2 << 30  # bytes above those that the tool itself maps
MOST_S = 20  # per file
ODD = (None, "", "NaN", "{", "[]", '{"a": ' * 300, '"' * 9, "-1", "9" * 400, "x" * 5000, "\ud800", b"\xff\0\x80", b"", -1, 2**63 - 1, -2**63, 1e308, float("inf"), 0.5)


def damaged_bytes(data, draw):
    data = bytearray(data)
    for _ in range(draw.randint(1, 8)):
        place = draw.randrange(len(data) + 1)
        data[place:place + draw.randint(0, 8)] = draw.randbytes(draw.randint(0, 8))
    return data


def sealed(name, data):
    """Corrects the checksums of the records, so that the damage reaches the reader of their content."""
    if name.endswith(".wandb"):
        return sealed_wandb(data)
    return sealed_events(data) if "tfevents" in name else data


def sealed_wandb(data):
    at = 7
    while at + 7 <= len(data):
        if 32768 - at % 32768 < 7:
            at += 32768 - at % 32768
            continue
        length = min(int.from_bytes(data[at + 4:at + 6], "little"), len(data) - at - 7)
        kind = data[at + 6] if data[at + 6] in (1, 2, 3, 4) else 1
        content = bytes(data[at + 7:at + 7 + length])
        data[at:at + 7] = struct.pack("<IHB", zlib.crc32(content, zlib.crc32(bytes([kind]))), length, kind)
        at += 7 + length
    return data


def sealed_events(data):
    from backplane_runs.event_records import masked_crc

    at = 0
    while at + 12 <= len(data):
        head = bytes(data[at:at + 8])
        length = int.from_bytes(head, "little")
        data[at + 8:at + 12] = struct.pack("<I", masked_crc(head))
        if length > len(data) - at - 16:
            break
        data[at + 12 + length:at + 16 + length] = struct.pack("<I", masked_crc(bytes(data[at + 12:at + 12 + length])))
        at += 16 + length
    return data


def damage_cells(file, draw):
    """Values of unexpected types in a database that SQLite itself finds whole."""
    database = sqlite3.connect(file)
    database.execute("PRAGMA foreign_keys = OFF")
    database.execute("PRAGMA ignore_check_constraints = ON")
    tables = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")]
    filled = [table for table in tables if database.execute(f'SELECT 1 FROM "{table}" LIMIT 1').fetchone()]
    for _ in range(draw.randint(1, 6)):
        table = draw.choice(filled if draw.random() < 0.9 else tables)
        column = draw.choice([row[1] for row in database.execute(f'PRAGMA table_info("{table}")')])
        try:
            if draw.random() < 0.05:
                database.execute(f'ALTER TABLE "{table}" DROP COLUMN "{column}"')
            else:
                rows = "" if draw.random() < 0.2 else f' WHERE rowid = (SELECT rowid FROM "{table}" ORDER BY random() LIMIT 1)'
                database.execute(f'UPDATE OR IGNORE "{table}" SET "{column}" = ?{rows}', (draw.choice(ODD),))
        except (sqlite3.Error, UnicodeEncodeError):
            continue
    database.commit()
    database.close()


def odd_parquet(file, draw):
    """A whole parquet file with columns of unexpected types."""
    import datetime
    import decimal

    import pyarrow
    import pyarrow.parquet

    kinds = ([1, 2, None], [2**63 - 1, 0, 5], [-1, 1, 2], [0.5, float("nan"), float("inf")], ["a", "", None], ["1", "NaN", "x"], [b"\xff\0", b"", None],
             [True, None, False], [[1, 2], [], None], [{"a": 1}, {"a": None}, None], [decimal.Decimal("1.5"), None, decimal.Decimal("-7")],
             [datetime.datetime(2020, 1, 1), datetime.datetime(9999, 12, 31), None], [datetime.date(1, 1, 1)] * 3, [datetime.time(1)] * 3,
             [datetime.timedelta(days=-9)] * 3, [None] * 3)
    names = ["run", "seed", "step", "score", "metric", "value", "wall_time", "", "\0", "a.b", "env", "Step", "이름"]
    columns = {name: draw.choice(kinds) for name in draw.sample(names, draw.randint(0, 6))}
    table = pyarrow.table({name: pyarrow.array(values) for name, values in columns.items()})
    if draw.random() < 0.1 and table.num_columns:
        table = table.append_column(table.column_names[0], table.column(0))  # two columns of one name
    pyarrow.parquet.write_table(table, file, compression=draw.choice(["none", "snappy", "gzip", "zstd"]))


def damage(file, original, draw):
    odd = draw.random() < 0.5
    if odd and original.startswith(b"SQLite format 3\0"):
        damage_cells(file, draw)
    elif odd and file.suffix == ".parquet":
        odd_parquet(file, draw)
    else:
        data = damaged_bytes(original, draw)
        file.write_bytes(sealed(file.name, data) if odd else data)


def mapped_bytes():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def read(path):
    """Imports the path as the command does."""
    from backplane_runs import command

    with tempfile.TemporaryDirectory(prefix="backplane-fuzz-") as out, open(os.devnull, "w") as sink:
        with contextlib.redirect_stdout(sink), contextlib.redirect_stderr(sink):
            command.main([str(path), "--to", f"{out}/imported", "--join", "no"])


def fuzz_case(name, folder, path, seconds):
    """Reads damaged forms of the files in `folder` for so long; a crash ends it and leaves the file's path in the sentence."""
    originals = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file() and 0 < file.stat().st_size < LARGEST_FILE}
    draw, tries, longest, end = random.Random(1), 0, 0.0, time.monotonic() + seconds
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (mapped_bytes() + MOST_MEMORY, hard))
    try:
        while originals and time.monotonic() < end:
            file = draw.choice(list(originals))
            damage(file, originals[file], draw)
            begin = time.monotonic()
            try:
                read(path)
            except Exception as error:
                kept = pathlib.Path(tempfile.mkdtemp(prefix="backplane-fuzz-")) / file.name
                kept.write_bytes(file.read_bytes())
                error.add_note(f"fuzz: {name}: damaged file {tries + 1:,}, kept as {kept}")
                raise
            longest = max(longest, time.monotonic() - begin)
            if longest > MOST_S:
                return [f"fuzz: {name}: {file.name} took {longest:.0f} s, expected at most {MOST_S} s"]
            file.write_bytes(originals[file])
            tries += 1
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    print(f"fuzz: {name}: {tries:,} damaged files, the longest took {longest:.2f} s", flush=True)
    return [] if tries else [f"fuzz: {name}: no file to damage"]
