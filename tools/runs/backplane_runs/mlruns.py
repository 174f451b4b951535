"""MLflow's folder of runs, as releases before its database wrote it."""
from __future__ import annotations

import math
from pathlib import Path

from .databases import MLFLOW_STATES, finite_or_inf
from .model import UNFINISHED, Damaged, Run
from .plain_values import plain, read_text, read_yaml
from .tables import bounded_lines

STATES = {1: "RUNNING", 2: "SCHEDULED", 3: "FINISHED", 4: "FAILED", 5: "KILLED"}
MOST_METRIC_BYTES = 256 << 20


def is_store(folder: Path, names: list[str], below: list[Path]) -> bool:
    return any((child / "meta.yaml").is_file() for child in below) and (folder.name == "mlruns" or (folder / "0" / "meta.yaml").is_file())


def read_store(folder: Path, name: str) -> list[Run]:
    runs, experiments = [], []
    for experiment in sorted(child for child in folder.iterdir() if (child / "meta.yaml").is_file()):
        meta = read_yaml(experiment / "meta.yaml")
        title = str(meta.get("name", experiment.name)) if isinstance(meta, dict) else experiment.name
        found = [_run(one, f"{name}/{title}", title) for one in sorted(experiment.iterdir()) if (one / "meta.yaml").is_file()]
        runs += [run for run in found if run is not None]
        experiments.append(title)
    if len({run.settings.get("mlflow experiment") for run in runs}) < 2:
        for run in runs:
            run.settings.pop("mlflow experiment", None)
    return runs


def _run(folder: Path, prefix: str, experiment: str) -> Run | None:
    meta = read_yaml(folder / "meta.yaml")
    if not isinstance(meta, dict) or meta.get("lifecycle_stage") == "deleted":
        return None
    run = Run(f"{prefix}/{meta.get('run_name') or folder.name}", "MLflow", [folder / "meta.yaml"], folder=folder)
    status = meta.get("status")
    run.state, run.why = MLFLOW_STATES.get(STATES.get(status, str(status)), (UNFINISHED, f"MLflow records the state {STATES.get(status, status)}"))
    run.settings["mlflow experiment"] = experiment
    start = meta.get("start_time")
    run.time_base = start / 1000 if isinstance(start, (int, float)) else 0
    for file in sorted((folder / "params").rglob("*")):
        if file.is_file():
            run.settings[file.relative_to(folder / "params").as_posix()] = plain(read_text(file))
            run.sources.append(file)
    for file in sorted((folder / "metrics").rglob("*")):
        if file.is_file():
            _metric(file, file.relative_to(folder / "metrics").as_posix(), run)
            run.sources.append(file)
    return run


def _metric(file: Path, name: str, run: Run) -> None:
    """Lines "time value step"; of several values at a step, the order is time, then value."""
    if file.stat().st_size > MOST_METRIC_BYTES:
        raise Damaged(f"{file}: expected at most {MOST_METRIC_BYTES >> 20} MiB, got {file.stat().st_size >> 20} MiB")
    points = []
    with file.open(encoding="utf-8", errors="replace") as stream:
        for count, line in enumerate(bounded_lines(stream, file), 1):
            words = line.split()
            if not line.endswith("\n"):
                run.notes.append(f"{file}:{count}: the last line has no line end, so it is left out")
                break
            try:
                points.append((int(words[2]) if len(words) > 2 else 0, int(words[0]), float(words[1])))
            except (ValueError, IndexError, OverflowError):
                raise Damaged(f"{file}:{count}: expected time, value and step, got {line.strip()[:60]!r}") from None
    for step, time, value in sorted(points, key=lambda one: (one[0], one[1], -math.inf if math.isnan(one[2]) else one[2])):
        run.add(name, max(0, step), finite_or_inf(value, run), time / 1000)
