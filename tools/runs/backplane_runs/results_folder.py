"""Writes a results folder as Backplane's own: plan, events, trials and their curves."""
from __future__ import annotations

import hashlib
import heapq
import itertools
import json
import math
import os
import shutil
import time
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path
from typing import Any

from .directions import direction
from .model import COMPLETED, FAILED, PRUNED, Curve, Run
from .points import Trial, env_key, key_text, last_tenth

FILES = ("trials", "plan.jsonl", "events.jsonl", "config.yaml", "results.sqlite", "run.json")  # run.json last: without it, the folder is incomplete
SCHEMA = 1
OUTCOMES = {COMPLETED: "ok", PRUNED: "pruned", FAILED: "plugin"}
STOPPED = "killed"  # the outcome of an unfinished run; its trial stays PLANNED
COMMAND = "imported"
NO_PLUGIN = {"file": "", "id": ""}
TRIAL = {"schema": SCHEMA, "attempt": 1, "plugins": {"env": NO_PLUGIN, "learner": NO_PLUGIN, "monitors": []}, "origin": {}, "attempt_dir": "",
         "checkpoint_dir": "", "torch_lib": "", "resume": False, "start_from": None, "seeds": 1}


def short_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def nested(identity: dict[str, Any]) -> dict[str, Any]:
    """{"a.b": 1} -> {"a": {"b": 1}}; a key that is both a value and a group keeps its dots as underscores."""
    options: dict[str, Any] = {}
    for key, value in identity.items():
        place, parts = options, key.split(".")
        for part in parts[:-1]:
            inner = place.setdefault(part, {})
            if not isinstance(inner, dict):
                break
            place = inner
        else:
            if not isinstance(place.get(parts[-1]), dict):
                place[parts[-1]] = value
                continue
        options[key.replace(".", "_")] = value
    return options


def config_of(experiment: str, trial: Trial | None, common: dict[str, Any]) -> dict[str, Any]:
    settings = trial.identity if trial else common
    env = env_key(settings)
    config: dict[str, Any] = {"experiment": experiment}
    if env:
        config["env"] = {"plugin": str(settings[env])}
    config["learner"] = {"command": [COMMAND], "options": nested({key: value for key, value in settings.items() if key != env})}
    return config


def places_of(curve: Curve, quoted: str) -> Iterator[tuple[int, int, str, float, float]]:
    """(step, number of the value at this step, quoted name, value, clock), in this order."""
    before, count = None, 0
    for step, value, clock in zip(curve.steps, curve.values, curve.times):
        count = count + 1 if step == before else 0
        before = step
        yield step, count, quoted, value, clock


def rows_of(run: Run, names: dict[str, str]) -> Iterator[tuple[int, dict[str, float], float]]:
    """(step, values by quoted name, clock) of each line: several values of a metric at one step are several lines."""
    merged = heapq.merge(*(places_of(curve, json.dumps(names[name])) for name, curve in run.curves.items()), key=itemgetter(0, 1))
    for (step, _), places in itertools.groupby(merged, itemgetter(0, 1)):
        row, clock = {}, math.nan
        for _, _, quoted, value, own in places:
            row[quoted] = value
            clock = own if own > clock or clock != clock else clock
        yield step, row, clock


def lines_of(run: Run, names: dict[str, str]) -> Iterator[str]:
    """metrics.jsonl: a line per step. Only a row is in memory."""
    for curve in run.curves.values():
        curve.sort()
    start = min((clock for _, _, clock in rows_of(run, names) if clock == clock), default=0.0)
    for iteration, (step, row, clock) in enumerate(rows_of(run, names), 1):
        metrics = ",".join(f"{quoted}:{value!r}" if math.isfinite(value) else f"{quoted}:null" for quoted, value in row.items())
        own_time = f',"time":{{"t":{clock - start:.6f}}}' if clock == clock else ""
        yield f'{{"iteration":{iteration},"step":{step},"metrics":{{{metrics}}}{own_time}}}\n'


def spread(values: list[float], last: bool) -> dict[str, Any] | None:
    """The value of a metric: the last finite one of evaluations, else the mean of the last tenth. Absent: none was finite."""
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        return None
    window = max(3, len(values) // 10)
    diverged = not any(math.isfinite(value) for value in values[-window:])
    mean = math.nan if diverged else finite[-1] if last else last_tenth(values)
    return {"mean": mean if math.isfinite(mean) else None, "sd": None, "se": None, "n": 1 if last else max(1, len(values) // 10)}


def result_of(trial: Trial, trial_id: str, names: dict[str, str], directions: dict[str, int], lines: int) -> dict[str, Any]:
    run = trial.run
    training: dict[str, Any] = {}
    evaluation: dict[str, Any] = {}
    for name, curve in run.curves.items():
        clean = names[name]
        if clean.startswith("eval/"):
            evaluation[clean.removeprefix("eval/")] = spread(list(curve.values), True)
        elif clean == "return" or clean.startswith("ep/"):
            training[clean] = spread(list(curve.values), False)
    evaluation = {name: value for name, value in evaluation.items() if value}
    training = {name: value for name, value in training.items() if value}
    clocks = [clock for curve in run.curves.values() for clock in (min(curve.times), max(curve.times)) if clock == clock]
    result: dict[str, Any] = {"schema": SCHEMA, "trial_id": trial_id, "attempt": 1, "state": state_of(run), "outcome": outcome_of(run),
                              "error": run.why or None, "iterations": lines, "env_steps": run.last_step(), "warnings": run.notes[:20],
                              "measures": {names[name]: {"unit": "", "direction": directions[name], "doc": f"logged as {name}" if names[name] != name else ""}
                                           for name in run.curves},
                              "metrics": {name: value for name, value in training.items() if name != "return"}}
    if "return" in training:
        result["return"] = training["return"]
    if clocks and max(clocks) > min(clocks):
        result["wall_s"] = result["trial_s"] = max(clocks) - min(clocks)
    if "SPS" in names.values():
        result["sps"] = next((last_tenth(list(curve.values)) for name, curve in run.curves.items() if names[name] == "SPS"), None)
    if evaluation:
        result["evaluation"] = {"metrics": {name: value for name, value in evaluation.items() if name != "return"}}
        if "return" in evaluation:
            result["evaluation"]["return"] = evaluation["return"]
    return result


def state_of(run: Run) -> str:
    return run.state if run.state in OUTCOMES else "PLANNED"


def outcome_of(run: Run) -> str:
    return OUTCOMES.get(run.state, STOPPED)


def dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=str)


def finite_json(value: Any) -> Any:
    """JSON has no NaN and no infinity: they become text in settings."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {key: finite_json(one) for key, one in value.items()}
    return [finite_json(one) for one in value] if isinstance(value, list) else value


class Folder:
    """A draft of a results folder next to the final one; `finish` moves its files there."""

    def __init__(self, out: Path, experiment: str, version: str, trials: int) -> None:
        self.out, self.experiment, self.version = out, experiment, version
        self.draft = out.parent / f".{out.name}.importing-{os.getpid()}"
        shutil.rmtree(self.draft, ignore_errors=True)
        (self.draft / "trials").mkdir(parents=True)
        self.events: list[str] = []
        self.plan: list[str] = []
        self.event("session.start", time.time(), hostname="", pid=0, pid_start=0, trials=trials)

    def event(self, kind: str, clock: float, **rest: Any) -> None:
        self.events.append(dump({"v": 1, "seq": len(self.events) + 1, "t": clock, "boot_id": "", "kind": kind, **rest}))

    def add(self, trial: Trial, names: dict[str, str], directions: dict[str, int], common: dict[str, Any]) -> None:
        identity = key_text(trial.identity)
        source = str(trial.run.sources[0].resolve()) if trial.run.sources else trial.run.name
        trial_id = short_hash(f"{identity}\n{trial.seed}\n{source}\n{trial.run.name}")
        folder = self.draft / "trials" / trial_id / "attempt-1"
        folder.mkdir(parents=True)
        lines = 0
        with (folder / "metrics.jsonl").open("w", encoding="utf-8") as stream:
            for line in lines_of(trial.run, names):
                stream.write(line)
                lines += 1
        result = dump(result_of(trial, trial_id, names, directions, lines))
        (folder / "result.json").write_text(result, encoding="utf-8")
        config = finite_json({**config_of(self.experiment, trial, common), "seed": trial.seed})
        (folder.parent / "trial.json").write_text(dump({**TRIAL, "trial_id": trial_id, "config": config}), encoding="utf-8")
        self.plan.append(dump(finite_json({"trial_id": trial_id, "point_id": short_hash(identity), "name": trial.point, "seed": trial.seed,
                                           "values": dict(trial.values), "files": {}, "why": f"imported from {trial.run.name} ({trial.run.kind})"})))
        self._record(trial, trial_id, lines, result)

    def _record(self, trial: Trial, trial_id: str, lines: int, result: str) -> None:
        begin = trial.run.time_base or 0.0
        wall = json.loads(result).get("wall_s")
        files = {"metrics_lines": lines, "result": {"bytes": len(result.encode()), "sha256": hashlib.sha256(result.encode()).hexdigest()}}
        self.event("attempt.start", begin, trial_id=trial_id, attempt=1, cores=[], gpus=[], resumed=False)
        self.event("attempt.end", begin + (wall or 0.0), trial_id=trial_id, attempt=1, state=state_of(trial.run), outcome=outcome_of(trial.run),
                   why=trial.run.why, files=files, **({"wall_s": wall} if wall else {}))

    def finish(self, config: dict[str, Any], imported: dict[str, Any]) -> None:
        self.event("session.end", time.time(), why="done")
        (self.draft / "plan.jsonl").write_text("".join(line + "\n" for line in self.plan), encoding="utf-8")
        (self.draft / "events.jsonl").write_text("".join(line + "\n" for line in self.events), encoding="utf-8")
        (self.draft / "config.yaml").write_text("# Imported runs: for reports only. Written by `backplane import`.\n"
                                                + json.dumps(finite_json(config), ensure_ascii=False, indent=1, default=str) + "\n", encoding="utf-8")
        run = {"schema": SCHEMA, "versions": {"backplane": self.version}, "imported": imported}
        (self.draft / "run.json").write_text(json.dumps(run, ensure_ascii=False, indent=1), encoding="utf-8")
        self.out.mkdir(parents=True, exist_ok=True)
        for name in reversed(FILES):
            old = self.out / name
            shutil.rmtree(old) if old.is_dir() else old.unlink(missing_ok=True)
        for name in FILES:
            if (self.draft / name).exists():
                os.replace(self.draft / name, self.out / name)

    def discard(self) -> None:
        shutil.rmtree(self.draft, ignore_errors=True)


def directions_of(runs: list[Run], metric: str | None, way: int) -> dict[str, int]:
    out: dict[str, int] = {}
    for run in runs:
        for name in run.curves:
            out[name] = out.get(name) or run.directions.get(name) or direction(name)
    if metric is not None:
        out[metric] = way
    return out
