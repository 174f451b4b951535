"""Tables: one file per run, or a column that names the run. CSV, JSON lines and parquet."""
from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TextIO

from .model import MOST_POINTS, Damaged, Run, flatten
from .plain_values import number, plain

MOST_LINE = 16 << 20  # bytes
STEPS = ("step", "steps", "global_step", "_step", "time/total_timesteps", "total_timesteps", "timesteps_total", "num_env_steps_sampled_lifetime",
         "env_steps", "timestep", "timesteps", "total_steps", "num_timesteps", "frames", "iteration", "training_iteration", "iterations", "iter",
         "update", "epoch", "epochs", "generation")
TIMES = ("wall_time", "_timestamp", "timestamp", "time_total_s", "time/time_elapsed", "_runtime")
RUNS = ("run", "run_id", "run_name", "trial", "trial_id", "trial_name", "run name", "experiment_id", "exp_id")
SEEDS = ("seed", "random_seed", "rng_seed", "seed_id")
NAMES = ("metric", "tag", "metric_name", "variable")
VALUES = ("value", "metric_value")


def read_csv(file: Path) -> Iterator[dict[str, Any]]:
    """Rows by column; blanks are left out. Yields only whole rows."""
    with file.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
        yield from csv_rows(bounded_lines(stream, file), str(file))


def bounded_lines(stream: TextIO, file: Path) -> Iterator[str]:
    while line := stream.readline(MOST_LINE):
        if len(line) >= MOST_LINE:
            raise Damaged(f"{file}: a line has more than {MOST_LINE >> 20} million characters")
        yield line


def csv_rows(stream: Iterable[str], place: str, columns: list[str] | None = None) -> Iterator[dict[str, Any]]:
    csv.field_size_limit(MOST_LINE)
    cut: list[str] = []
    reader = csv.reader(_whole_lines(stream, cut))
    try:
        columns = columns or [name.strip() for name in next(reader, [])]
        for row in reader:
            if len(row) == len(columns):
                yield {name: plain(cell) for name, cell in zip(columns, row) if cell.strip()}
            elif row:
                yield {"": f"{place}:{reader.line_num}: expected {len(columns)} cells, got {len(row)}"}
    except csv.Error as error:
        raise Damaged(f"{place}:{reader.line_num}: {error}") from None
    if cut:
        yield {"": f"{place}:{reader.line_num + 1}: the last line has no line end: the file is still being written, or was cut off"}


def _whole_lines(stream: Iterable[str], cut: list[str]) -> Iterator[str]:
    """A number in a line without its end may lack digits."""
    for line in stream:
        if line.endswith(("\n", "\r")):
            yield line
        else:
            cut.append(line)


def json_lines(file: Path) -> Iterator[tuple[int, Any]]:
    """(line number, value). A half last line is left out; damage before it is an error."""
    with file.open("rb") as stream:
        count = 0
        while line := stream.readline(MOST_LINE):
            count += 1
            if not line.strip():
                continue
            try:
                yield count, json.loads(line)
            except (ValueError, RecursionError):
                if not line.endswith(b"\n") and len(line) < MOST_LINE and not stream.read(1):
                    return  # still being written
                raise Damaged(f"{file}:{count}: not a line of JSON; the file is damaged") from None


def read_parquet(file: Path) -> Iterator[dict[str, Any]]:
    try:
        import pyarrow.parquet
    except ImportError:
        raise Damaged(f"{file}: parquet files need pyarrow, which this Python lacks\nhint: pip install pyarrow") from None
    try:
        with pyarrow.parquet.ParquetFile(file) as table:
            if table.metadata.num_rows > MOST_POINTS:
                raise Damaged(f"{file}: expected at most {MOST_POINTS:,} rows, got {table.metadata.num_rows:,}")
            for batch in table.iter_batches(batch_size=1000):  # few, because a text may be long
                for row in batch.to_pylist():
                    yield {name: value for name, value in row.items() if value is not None}
    except (pyarrow.ArrowException, OSError) as error:
        raise Damaged(f"{file}: not a whole parquet file ({str(error)[:100]})") from None


def rows_of(file: Path) -> Iterator[dict[str, Any]]:
    """Rows of any table, flat: nested objects of JSON lines have names such as "env_runners/return"."""
    ending = file.suffix.lower()
    if ending in (".csv", ".tsv"):
        yield from read_csv(file)
    elif ending == ".parquet":
        yield from read_parquet(file)
    else:
        for count, value in json_lines(file):
            if not isinstance(value, dict):
                raise Damaged(f"{file}:{count}: expected an object, got {type(value).__name__}")
            yield slashed(value)


def slashed(value: dict[str, Any], settings: tuple[str, ...] = ()) -> dict[str, Any]:
    """Nested objects to names with slashes, without those that are settings."""
    flat = {}
    for key, inner in value.items():
        if key in settings:
            continue
        if isinstance(inner, dict):
            flat.update({name.replace(".", "/"): one for name, one in flatten(inner, key).items()})
        else:
            flat[key] = inner
    return flat


def column_of(names: Iterable[str], wanted: tuple[str, ...]) -> str | None:
    by_lower = {name.lower(): name for name in reversed(list(names))}
    return next((by_lower[one] for one in wanted if one in by_lower), None)


class Table:
    """Runs of the rows of one file."""

    def __init__(self, file: Path, name: str, folder: Path | None, step: str = "", kind: str = "") -> None:
        self.file, self.name, self.folder, self.step, self.kind = file, name, folder, step, kind or "table"
        self.runs: dict[tuple[Any, ...], Run] = {}
        self.by: list[str] | None = None  # columns that name the run
        self.counts: dict[tuple[Any, ...], int] = {}
        self.texts: dict[tuple[Any, ...], dict[str, Any]] = {}
        self.bad: list[str] = []

    def read(self) -> list[Run]:
        first: list[dict[str, Any]] = []
        try:
            for row in rows_of(self.file):
                if bad := row.get(""):
                    self.bad.append(str(bad))
                    continue
                if self.by is None:
                    first.append(row)
                    if len(first) < 1000:
                        continue
                    self._begin(first)
                    first = []
                else:
                    self._row(row)
            self._begin(first)
        except Damaged as error:
            self._begin(first)
            return self._damaged(str(error))
        return self._end()

    def _damaged(self, why: str) -> list[Run]:
        runs = self._end() or [Run(self.name, self.kind, [self.file], folder=self.folder)]
        for run in runs:
            run.fail(why)
        return runs

    def _begin(self, rows: list[dict[str, Any]]) -> None:
        """Chooses the columns by the first rows."""
        if self.by is None:
            names = list(dict.fromkeys(name for row in rows for name in row))
            self.metric, self.value = column_of(names, NAMES), column_of(names, VALUES)
            self.steps = self.step if self.step in names else column_of(names, STEPS)
            self.time = column_of(names, TIMES)
            texts = [name for name in names if name != self.metric and all(isinstance(row.get(name), str) for row in rows if name in row)]
            run, seed = column_of(names, RUNS), column_of(names, SEEDS)
            self.by = [run] if run else texts + ([seed] if seed else [])
            self.by = [name for name in self.by if self._names_runs(name, rows)]
            self.seed = seed
        for row in rows:
            self._row(row)

    @staticmethod
    def _names_runs(name: str, rows: list[dict[str, Any]]) -> bool:
        """A text that differs in every row, such as a time, names no run."""
        values = {str(row.get(name)) for row in rows}
        return len(rows) < 3 or name.lower() in RUNS + SEEDS or len(values) <= max(1, len(rows) // 2) or len(values) < len(rows)

    def _run(self, key: tuple[Any, ...], row: dict[str, Any]) -> Run:
        run = self.runs.get(key)
        if run is None:
            own = "/".join(f"{value}" if name.lower() in RUNS else f"{name}={value}" for name, value in zip(self.by or [], key) if value is not None)
            run = self.runs[key] = Run(self.name + ("/" if self.name and own else "") + own, self.kind, [self.file], folder=self.folder)
            run.settings.update({name: value for name, value in zip(self.by or [], key) if name.lower() not in RUNS and value is not None})
            self.texts[key] = {}
        return run

    def _row(self, row: dict[str, Any]) -> None:
        key = tuple(row.get(name) for name in self.by or [])
        run = self._run(key, row)
        self.counts[key] = count = self.counts.get(key, 0) + 1
        step, time = row.get(self.steps or "", count), row.get(self.time or "", math.nan)
        if isinstance(step, float) and step.is_integer():
            step = int(step)
        if not isinstance(step, int) or isinstance(step, bool) or step < 0:
            step = count
        time = float(time) if isinstance(time, (int, float)) else math.nan
        if self.metric and self.value:
            run.add(str(row.get(self.metric)), step, row.get(self.value), time)
            return
        if self.seed and self.seed in row:
            run.settings[self.seed] = row[self.seed]
        for name, value in row.items():
            if name in (self.steps, self.time, self.seed) or name in (self.by or []):
                continue
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                run.add(name, step, value, time)
            elif name not in self.texts[key]:
                self.texts[key][name] = value
            elif self.texts[key][name] != value:
                self.texts[key][name] = None

    def _end(self) -> list[Run]:
        for key, run in self.runs.items():
            run.settings.update({name: value for name, value in self.texts[key].items() if isinstance(value, (str, bool))})
            if not self.steps and self.counts[key] > 1:
                run.notes.append(f"{self.file}: no column of steps ({', '.join(STEPS[:4])}, ...), so the rows are numbered")
            if self.bad:
                run.notes.append(f"{self.bad[0]}; {len(self.bad):,} incomplete rows are left out")
        return list(self.runs.values())


def looks_like_runs(file: Path) -> bool:
    """True if a CSV or JSON-lines file below a folder has a column of steps, runs or seeds."""
    if file.suffix.lower() == ".parquet":
        return True
    with file.open("rb") as stream:
        head = stream.readline(1 << 16).decode("utf-8-sig", errors="replace")
    if file.suffix.lower() == ".csv":
        names = [name.strip().strip('"') for name in head.split(",")]
    else:
        try:
            value = json.loads(head)
        except (ValueError, RecursionError):
            return False
        names = list(value) if isinstance(value, dict) else []
    return len(names) > 1 and any(column_of(names, wanted) for wanted in (STEPS, RUNS, SEEDS))


def finite_number(text: str) -> bool:
    return number(text) is not None
