"""Writes trials as runs of other tools, by their own packages. Nothing goes over the network unless the user's settings of the tool say so."""
from __future__ import annotations

import importlib.util
import json
import math
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .model import flatten

POLL_S = 2.0
MOST_METRICS, MOST_PARAMS = 1000, 100  # of one request to MLflow
LONGEST_PARAM = 6000
ENDED = {"COMPLETED": 0, "PRUNED": 0}  # states with the exit code 0
MLFLOW_STATES = {"COMPLETED": "FINISHED", "PRUNED": "FINISHED", "PLANNED": "RUNNING", "RUNNING": "RUNNING"}


def flat_line(line: dict[str, Any]) -> dict[str, float]:
    """The metrics of a line of metrics.jsonl by their names in reports."""
    row: dict[str, float] = {}
    evaluation = line.get("eval") or {}
    groups = [("", {"return": line.get("return")}), ("", line.get("ep") or {}), ("eval/", {"return": evaluation.get("return")}),
              ("eval/", evaluation.get("metrics") or {})]
    for prefix, group in groups:
        for name, spread in group.items():
            if spread and spread.get("n", 1):
                mean = spread.get("mean") if isinstance(spread, dict) else spread
                row[prefix + (name.removeprefix("ep/") if prefix else name)] = math.nan if mean is None else mean
    clock = line.get("time") or {}
    for group in (clock.get("machine") or {}, {"sps": clock["sps"]} if clock.get("sps") is not None else {}, line.get("metrics") or {}):
        row.update({name: math.nan if value is None else value for name, value in group.items()})
    return row


class Trial:
    """One trial of the folder, and how many of its iterations are written."""

    def __init__(self, out: Path, plan: dict[str, Any]) -> None:
        self.id, self.seed = plan["trial_id"], plan["seed"]
        self.point = plan["name"] or out.resolve().name
        self.name = f"{self.point} seed={self.seed}"
        self.folder = out / "trials" / self.id
        self.last = -1  # iteration that was written
        self.places: dict[Path, int] = {}  # bytes read of each attempt
        self.state, self.started = "PLANNED", 0.0

    def config(self) -> dict[str, Any]:
        try:
            return flatten(json.loads((self.folder / "trial.json").read_text(encoding="utf-8"))["config"])
        except (OSError, ValueError, KeyError):
            return {"seed": self.seed}

    def new_lines(self) -> Iterator[tuple[int, int, float, dict[str, float]]]:
        """(iteration, env steps, seconds, metrics) of iterations that are not written yet; a resumed attempt repeats none."""
        for file in sorted(self.folder.glob("attempt-*/metrics.jsonl"), key=lambda file: int(file.parent.name.removeprefix("attempt-"))):
            with file.open("rb") as stream:
                stream.seek(self.places.get(file, 0))
                while (line := stream.readline()).endswith(b"\n"):
                    self.places[file] = stream.tell()
                    row = json.loads(line)
                    if row.get("iteration", -1) > self.last:
                        self.last = row["iteration"]
                        yield self.last, row.get("step", 0), (row.get("time") or {}).get("t") or 0.0, flat_line(row)


class Wandb:
    PACKAGE = "wandb"

    def __init__(self, to: Path, project: str) -> None:
        os.environ.setdefault("WANDB_MODE", "offline")
        os.environ.setdefault("WANDB_SILENT", "true")
        import wandb

        self.wandb, self.to, self.project, self.runs = wandb, to, project, {}

    def log(self, trial: Trial, lines: list[tuple[int, int, float, dict[str, float]]]) -> None:
        run = self.runs.get(trial.id)
        if run is None:
            run = self.runs[trial.id] = self.wandb.init(project=self.project, id=trial.id, name=trial.name, group=trial.point, config=trial.config(),
                                                        dir=str(self.to), reinit="create_new", settings={"x_disable_stats": True, "console": "off"})
            run.define_metric("env_steps")
            run.define_metric("*", step_metric="env_steps")
        for iteration, steps, _, metrics in lines:
            run.log({**metrics, "env_steps": steps}, step=iteration)

    def end(self, trial: Trial) -> None:
        if trial.id in self.runs:
            self.runs.pop(trial.id).finish(exit_code=ENDED.get(trial.state, 1))


class Mlflow:
    PACKAGE = "mlflow"

    def __init__(self, to: Path, project: str) -> None:
        import mlflow
        from mlflow.entities import Metric, Param, RunTag

        self.kinds = (Metric, Param, RunTag)
        uri = os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{(to / 'mlflow.db').resolve()}"
        self.client, self.runs = mlflow.MlflowClient(tracking_uri=uri), {}
        known = self.client.get_experiment_by_name(project)
        self.experiment = known.experiment_id if known else self.client.create_experiment(project, artifact_location=str((to / "artifacts").resolve()))

    def log(self, trial: Trial, lines: list[tuple[int, int, float, dict[str, float]]]) -> None:
        metric, param, _ = self.kinds
        start = int(1000 * (trial.started or time.time()))
        if trial.id not in self.runs:
            run = self.client.create_run(self.experiment, start_time=start, run_name=trial.name, tags={"backplane.trial_id": trial.id})
            self.runs[trial.id] = run.info.run_id
            params = [param(key, str(value)[:LONGEST_PARAM]) for key, value in trial.config().items() if key]
            for begin in range(0, len(params), MOST_PARAMS):
                self.client.log_batch(self.runs[trial.id], params=params[begin:begin + MOST_PARAMS])
        values = [metric(name, float(value), start + int(1000 * seconds), steps) for _, steps, seconds, metrics in lines for name, value in metrics.items()]
        for begin in range(0, len(values), MOST_METRICS):
            self.client.log_batch(self.runs[trial.id], metrics=values[begin:begin + MOST_METRICS])

    def end(self, trial: Trial) -> None:
        if trial.id in self.runs:
            self.client.set_terminated(self.runs.pop(trial.id), status=MLFLOW_STATES.get(trial.state, "FAILED"))


class Trackio:
    PACKAGE = "trackio"

    def __init__(self, to: Path, project: str) -> None:
        os.environ.setdefault("TRACKIO_DIR", str(to.resolve()))
        os.environ.setdefault("TRACKIO_SHOW_DASHBOARD", "0")
        import trackio

        self.trackio, self.project, self.waiting = trackio, project, {}

    def log(self, trial: Trial, lines: list[tuple[int, int, float, dict[str, float]]]) -> None:
        """Trackio has one open run per process, so a run is opened for each piece."""
        import contextlib
        import io

        with contextlib.redirect_stdout(io.StringIO()):
            run = self.trackio.init(project=self.project, name=trial.name, config=trial.config(), resume="allow", embed=False, auto_log_gpu=False)
            for iteration, steps, _, metrics in lines:
                run.log({**metrics, "env_steps": steps}, step=iteration)
            self.trackio.finish()

    def end(self, trial: Trial) -> None:
        pass


WRITERS = {"wandb": Wandb, "mlflow": Mlflow, "trackio": Trackio}


class Folder:
    """A results folder, read again at each look."""

    def __init__(self, out: Path) -> None:
        self.out, self.trials, self.place, self.over = out, {}, 0, False
        self.ended: list[Trial] = []

    def look(self) -> list[Trial]:
        """The trials of the plan; those that ended since the last look are in `ended`."""
        for line in (self.out / "plan.jsonl").read_text(encoding="utf-8").splitlines():
            plan = json.loads(line)
            if not plan.get("dropped") and plan["trial_id"] not in self.trials:
                self.trials[plan["trial_id"]] = Trial(self.out, plan)
        self.ended = []
        with (self.out / "events.jsonl").open("rb") as stream:
            stream.seek(self.place)
            while (line := stream.readline()).endswith(b"\n"):
                self.place = stream.tell()
                self._event(json.loads(line))
        return list(self.trials.values())

    def _event(self, event: dict[str, Any]) -> None:
        kind, trial = event.get("kind"), self.trials.get(event.get("trial_id", ""))
        self.over = kind == "session.end" or self.over and kind != "session.start"
        if trial is None:
            return
        if kind == "attempt.start" and not trial.started:
            trial.started = event.get("t", 0.0)
        elif kind in ("attempt.end", "trial.state"):
            trial.state = event.get("state", trial.state)
            if trial.state not in ("PLANNED", "RUNNING"):
                self.ended.append(trial)


def main(words: list[str]) -> int:
    tool, out, to = words[0], Path(words[1]), Path(words[2])
    writer_class = WRITERS[tool]
    if importlib.util.find_spec(writer_class.PACKAGE) is None:
        print(f"backplane export {tool}: the package {writer_class.PACKAGE} is not installed\nhint: {sys.executable} -m pip install {writer_class.PACKAGE}", file=sys.stderr)
        return 1
    to.mkdir(parents=True, exist_ok=True)
    folder = Folder(out)
    folder.look()
    writer = writer_class(to, out.resolve().name)
    points = 0
    while True:
        over = folder.over or "--follow" not in words
        ended = list(folder.ended)
        for trial in folder.trials.values():
            if lines := list(trial.new_lines()):
                writer.log(trial, lines)
                points += len(lines)
        for trial in ended:
            writer.end(trial)
        if over:
            break
        time.sleep(POLL_S)
        folder.look()
    for trial in folder.trials.values():
        writer.end(trial)
    print(f"{to}: {len(folder.trials):,} trials with {points:,} iterations")
    return 0
