"""A run of another tool: its curves, settings, seed and end."""
from __future__ import annotations

import math
from array import array
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MOST_POINTS = 50_000_000  # of a run; more would not fit into memory
MOST_METRICS = 20_000  # of a run
MOST_STEP = 2**64 - 1
LATEST = 1e11  # s since 1970: the year 5138; a later clock is damaged
COMPLETED, FAILED, UNFINISHED, PRUNED = "COMPLETED", "FAILED", "UNFINISHED", "PRUNED"


class Mistake(Exception):
    """The command cannot be carried out as typed: exit code 2."""


class NoRuns(Mistake):
    """A path has no runs of a known tool."""


class Damaged(Exception):
    """A source that cannot be read; the text names the file and the place."""


class Curve:
    """Points of one metric: steps, values and wall times (s since 1970; NaN: unknown)."""

    __slots__ = ("steps", "values", "times")

    def __init__(self) -> None:
        self.steps, self.values, self.times = array("Q"), array("d"), array("d")

    def add(self, step: int, value: float, time: float = math.nan) -> None:
        self.steps.append(step)
        self.values.append(value)
        self.times.append(time if -LATEST < time < LATEST else math.nan)

    def __len__(self) -> int:
        return len(self.steps)

    def cut(self, first: int) -> int:
        """Removes the points from step `first` on and returns their number."""
        kept = [i for i, step in enumerate(self.steps) if step < first]
        removed = len(self) - len(kept)
        if removed:
            self.keep(kept)
        return removed

    def keep(self, places: list[int]) -> None:
        self.steps = array("Q", (self.steps[i] for i in places))
        self.values = array("d", (self.values[i] for i in places))
        self.times = array("d", (self.times[i] for i in places))

    def sort(self) -> int:
        """Sorts by step, stably, and returns the number of points whose step was smaller than the one before."""
        back = sum(b < a for a, b in zip(self.steps, self.steps[1:]))
        if back:
            self.keep(sorted(range(len(self)), key=self.steps.__getitem__))
        return back


@dataclass
class Run:
    name: str  # path below the named PATH
    kind: str  # "TensorBoard"
    sources: list[Path] = field(default_factory=list)
    curves: dict[str, Curve] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)  # flat, dotted keys
    state: str = COMPLETED
    why: str = ""  # of another state
    notes: list[str] = field(default_factory=list)
    directions: dict[str, int] = field(default_factory=dict)  # that the source itself records
    folder: Path | None = None  # that the run was found in; None: of a table or database
    seed: int | None = None
    added: int = 0  # points
    time_base: float = 0  # clock of times in another unit than seconds since 1970

    def curve(self, name: str) -> Curve:
        found = self.curves.get(name)
        if found is None:
            if len(self.curves) >= MOST_METRICS:
                raise Damaged(f"{self.name}: more than {MOST_METRICS:,} metrics")
            found = self.curves[name] = Curve()
        return found

    def add(self, name: str, step: int, value: Any, time: float = math.nan) -> None:
        """Adds a point; values that are no numbers are ignored."""
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= step <= MOST_STEP:
            return
        self.added += 1
        if self.added > MOST_POINTS:
            raise Damaged(f"{self.name}: more than {MOST_POINTS:,} points")
        try:
            self.curve(name).add(step, float(value), time)
        except OverflowError:  # an integer beyond the range of a float
            self.curve(name).add(step, math.inf if value > 0 else -math.inf, time)

    def points(self) -> int:
        return sum(len(curve) for curve in self.curves.values())

    def last_step(self) -> int:
        return max((max(curve.steps) for curve in self.curves.values() if len(curve)), default=0)

    def first_step(self) -> int:
        return min((min(curve.steps) for curve in self.curves.values() if len(curve)), default=0)

    def fail(self, why: str) -> None:
        self.state, self.why = FAILED, why

    def tidy(self) -> None:
        """Sorts the curves; numbers points without steps. Names and settings of a damaged source may have any type: they become text."""
        self.settings = {text_of(key): value if value is None or isinstance(value, (bool, int, float, str, list)) else text_of(value)
                         for key, value in self.settings.items()}
        self.time_base = self.time_base if -LATEST < self.time_base < LATEST else 0
        self.curves = {text_of(name): curve for name, curve in self.curves.items()}
        for name, curve in list(self.curves.items()):
            if len(curve) > 1 and not any(curve.steps):
                curve.steps = array("Q", range(1, len(curve) + 1))
                self.notes.append(f"{name}: every point has step 0, so the points are numbered")
            if back := curve.sort():
                self.notes.append(f"{name}: {back:,} of {len(curve):,} points have a smaller step than the point before; sorted by step")
            if not len(curve):
                del self.curves[name]


def text_of(value: Any) -> str:
    return value if isinstance(value, str) else str(value)


def flatten(value: Any, prefix: str = "", depth: int = 0) -> dict[str, Any]:
    """{"a": {"b": 1}} -> {"a.b": 1}. Lists and scalars stay; other objects become text."""
    if isinstance(value, dict) and depth < 16:
        flat: dict[str, Any] = {}
        for key, inner in value.items():
            flat.update(flatten(inner, f"{prefix}.{key}" if prefix else str(key), depth + 1))
        return flat
    if value is None or isinstance(value, (bool, int, float, str)):
        return {prefix: value}
    if isinstance(value, (list, tuple)):
        return {prefix: [item if item is None or isinstance(item, (bool, int, float, str, list)) else str(item) for item in value]}
    return {prefix: str(value)}


def merge_curves(run: Run, other: Run, prefix: str = "") -> None:
    """Adds the other run's metrics that `run` lacks."""
    for name, curve in other.curves.items():
        run.curves.setdefault(prefix + name, curve)
