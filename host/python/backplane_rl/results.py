"""The results folder of an experiment as pandas frames, and its report."""
from __future__ import annotations

import html
import json
import os
import re
import sqlite3
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._library import require

if TYPE_CHECKING:
    import pandas


FORMULA = re.compile("''*[=+@-]")  # as text/csv_field.hpp marks it


class Results:
    """A results folder, also of a running batch: each attribute reads the files again.

    Attributes:
        folder: path of the folder.
        cancelled: True if the caller stopped the run of these results.
    """

    def __init__(self, folder: str | os.PathLike[str], cancelled: bool = False) -> None:
        self.folder, self.cancelled = Path(folder), cancelled
        if not (self.folder / "events.jsonl").exists():
            got = "one without events.jsonl" if self.folder.is_dir() else "a file" if self.folder.exists() else "a path that does not exist"
            raise FileNotFoundError(f"{self.folder}: expected a results folder, got {got}")

    @property
    def trials(self) -> pandas.DataFrame:
        """A row per trial, in the order of the plan, indexed by id: name, seed, state, outcome, why, attempts, ``wall_s`` (s), ``sps``
        and ``sampling_sps`` (env steps/s), iterations, env_steps, episodes; then the swept values by path; then the means of its results
        by name, such as ``return``."""
        require("pandas")
        import pandas

        with self._database() as database:
            frame = pandas.read_sql_query("SELECT * FROM trials WHERE planned IS NOT NULL ORDER BY planned", database, index_col="id")
            values = pandas.read_sql_query("SELECT trial_id, path, value FROM trial_values", database)
            means = pandas.read_sql_query("SELECT trial_id, name, mean FROM results", database)
        frame = frame.drop(columns=["planned", "point_id"])
        for long, name, value in ((values, "path", "value"), (means, "name", "mean")):
            wide = long.pivot(index="trial_id", columns=name, values=value)
            frame = frame.join(wide.rename(columns=lambda column: f"{column} (result)" if column in frame else column))
        return frame

    @property
    def metrics(self) -> pandas.DataFrame:
        """The results of trials with their spread: trial, name, mean, sd, se, n (usually episodes)."""
        require("pandas")
        import pandas

        with self._database() as database:
            return pandas.read_sql_query("SELECT trial_id AS trial, name, mean, sd, se, n FROM results ORDER BY trial_id, name", database)

    @property
    def curves(self) -> pandas.DataFrame:
        """A row per iteration of each trial: trial, attempt, iteration, ``env_steps``, ``t`` (s since the trial's start), ``return`` and
        its other metrics. If several attempts wrote an iteration, the last one counts. A metric named like one of these columns is
        in a column such as ``reported/iteration``."""
        require("pandas")
        import pandas

        frame = pandas.DataFrame(self._iterations())
        if frame.empty:
            return frame
        return frame.drop_duplicates(["trial", "iteration"], keep="last").sort_values(["trial", "iteration"], ignore_index=True)

    def _iterations(self) -> Iterator[dict[str, Any]]:
        for trial in sorted(self.folder.glob("trials/*")):
            attempts = {int(attempt.name.removeprefix("attempt-")): attempt for attempt in trial.glob("attempt-*")}
            for number, attempt in sorted(attempts.items()):
                file = attempt / "metrics.jsonl"
                text = file.read_text(encoding="utf-8") if file.exists() else ""
                for line in text.split("\n")[:-1]:  # the last line of a running trial may be incomplete
                    yield {"trial": trial.name, "attempt": number, **flat(json.loads(line))}

    def _database(self) -> sqlite3.Connection:
        file = (self.folder / "results.sqlite").resolve()
        if not file.exists():
            raise FileNotFoundError(f"{file} does not exist\nhint: `backplane store rebuild {self.folder}` writes it")
        return sqlite3.connect(file.as_uri() + "?mode=ro", uri=True)

    def __repr__(self) -> str:
        return f"backplane_rl.Results({str(self.folder)!r})"


def flat(line: dict[str, Any]) -> dict[str, float]:
    """Flattens a line of metrics.jsonl to the names of results.sqlite: statistics to their mean, groups to their entries. A metric named
    like a column of the host is in a column such as ``reported/iteration``."""
    time, evaluation = line.get("time") or {}, line.get("eval") or {}
    own = {name: value for name, value in line.items() if not isinstance(value, dict) and name not in ("ep", "eval")}
    row = {"env_steps" if name == "step" else name: value for name, value in own.items()}
    row |= {name: value for name, value in time.items() if not isinstance(value, dict)}
    taken = {"trial", "attempt", *row} - {"return"}
    row |= time.get("phases", {}) | time.get("machine", {})
    groups = [("", {"return": line.get("return")}), ("", line.get("ep"))]
    groups += [("eval/", {"return": evaluation.get("return")}), ("eval/", evaluation.get("metrics"))]
    for prefix, group in groups:
        for name, statistics in (group or {}).items():
            if statistics:
                row[prefix + (name.removeprefix("ep/") if prefix else name)] = statistics["mean"]
    for name, value in line.get("metrics", {}).items():
        row[f"reported/{name}" if name in taken else name] = value
    return row


def results(folder: str | os.PathLike[str]) -> Results:
    """Opens a results folder: ``backplane_rl.results("outputs/x").trials`` and ``.curves``."""
    return Results(folder)


def read_csv(file: str | os.PathLike[str]) -> pandas.DataFrame:
    """Reads a CSV file of Backplane (``export csv``, ``NAME_results.csv``, a figure's) as a frame. Removes the ``'`` that protects texts
    and column names from being executed as formulas by spreadsheets."""
    require("pandas")
    import pandas

    frame = pandas.read_csv(file)
    for position, kind in enumerate(frame.dtypes):
        if not pandas.api.types.is_numeric_dtype(kind):
            frame.isetitem(position, frame.iloc[:, position].map(unmarked, na_action="ignore"))
    return frame.rename(columns=unmarked)


def unmarked(cell: Any) -> Any:
    return cell[1:] if isinstance(cell, str) and FORMULA.match(cell) else cell


def in_notebook() -> bool:
    try:
        from IPython import get_ipython
    except ImportError:
        return False
    return get_ipython() is not None and "IPKernelApp" in get_ipython().config


def show(what: Results | str | os.PathLike[str], height_px: int = 800) -> None:
    """Shows the report of a results folder: below the cell in a notebook, otherwise in the browser."""
    folder = what.folder if isinstance(what, Results) else Path(what)
    page = folder if folder.suffix == ".html" else folder / "index.html"
    if not page.exists():
        raise FileNotFoundError(f"{page} does not exist\nhint: `backplane report {folder}` writes it")
    if not in_notebook():
        webbrowser.open(page.resolve().as_uri())
        return
    from IPython.display import display

    text = html.escape(page.read_text(), quote=True)  # in a frame, because its styles apply to a whole page
    frame = f'<iframe srcdoc="{text}" style="width: 100%; height: {height_px}px; border: 0"></iframe>'
    display({"text/html": frame, "text/plain": str(page)}, raw=True)
