"""Runs of other tools as results: ``backplane_rl.read_runs(["runs/ppo", "runs/ppg"])``."""
from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._library import BackplaneError, home
from .results import Results

AnyPath = str | os.PathLike[str]


PROGRAM = os.path.abspath(home / "bin" / "backplane")


def call(*words: str) -> str:
    """The standard output of ``backplane``; its error is raised."""
    end = subprocess.run([PROGRAM, *words], capture_output=True, text=True, encoding="utf-8", errors="replace")
    if end.returncode == 2 or not end.stdout and end.returncode != 0:
        raise BackplaneError(end.stderr.strip().removeprefix("backplane: "), -end.returncode)
    return end.stdout


@dataclass
class Comparison:
    """The answer of ``compare``.

    Attributes:
        verdict: the first sentence, with the difference, its interval and the number of seeds.
        sentences: all sentences of the verdict.
        report: the report as JSON.
    """

    verdict: str
    sentences: list[str]
    report: dict[str, Any]


class Runs(Results):
    """Imported runs: ``trials``, ``curves`` and ``metrics`` as for :class:`Results`."""

    def compare(self, metric: str | None = None, direction: str | None = None, margin: str | None = None) -> Comparison:
        """Compares the points of these runs (``backplane compare``).

        Args:
            metric: a metric, or a value of its curve such as ``"return@mean:10%"``; None: the one that the import chose.
            direction: "up" or "down", if the metric has no known direction.
            margin: smallest difference that matters, such as ``"5%"``.
        """
        words = ["compare", os.fspath(self.folder), "--json"]
        for name, value in (("--metric", metric), ("--direction", direction), ("--margin", margin)):
            words += [name, value] if value else []
        report = json.loads(call(*words))
        return Comparison(report["verdict"][0] if report["verdict"] else "", report["verdict"], report)


def read_runs(paths: AnyPath | Sequence[AnyPath], *, to: AnyPath | None = None, name: str | None = None, seed_key: str | None = None,
              metric: str | None = None, direction: str | None = None, task: str | None = None, reference: AnyPath | None = None,
              join: str | None = None) -> Runs:
    """Imports runs of other tools into a results folder and opens it (docs/import-runs.md). Another call adds new runs.

    Args:
        paths: folders or files of TensorBoard, SB3, RLlib, W&B, MLflow and others.
        to: the results folder; None: ``outputs/imported/NAME``.
        name: settings in folder names, such as ``"{env}__{algo}__{seed}__*"``.
        seed_key: the setting that is the seed.
        metric: the metric that decides.
        direction: its better direction, "up" or "down", if the name has none.
        task: the setting that names the task; None: the env, if it differs.
        reference: file with the worst and best score of each task.
        join: "yes" or "no": whether runs whose steps continue each other are one run.

    Raises:
        BackplaneError: the paths have no runs, or the import needs a choice; the text has the line to paste.
    """
    words = ["import", "--quiet"]
    options = {"--to": to, "--name": name, "--seed-key": seed_key, "--metric": metric, "--direction": direction, "--task": task,
               "--reference": reference, "--join": join}
    for option, value in options.items():
        words += [] if value is None else [f"{option}={os.fspath(value)}"]
    listed = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    printed = call(*words, "--", *map(os.fspath, listed))
    return Runs(Path(printed.splitlines()[0].rpartition(": ")[0]))
