"""Finds the runs below a path, whatever tool logged them."""
from __future__ import annotations

import os
import re
import struct
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

from . import databases, mlruns, optuna_journal, trainers, wandb_file
from .event_files import has_only_hparams, is_event_file, read_event_run
from .model import Damaged, Mistake, NoRuns, Run, flatten, merge_curves
from .plain_values import as_mapping, parse_json, read_text, read_yaml
from .ray_tune import read_trial
from .sb3 import read_evaluations, read_monitors, read_progress, read_score_arrays
from .tables import Table, looks_like_runs

SKIPPED = {".git", "__pycache__", "node_modules", ".submitit", "venv", ".venv", "best_model", "artifacts"}
MOST_FOLDERS, MOST_DEPTH = 200_000, 32
SETTINGS = ("config.yaml", "config.yml", "args.yml", "args.yaml", "hparams.yaml", "hyperparameters.yaml", "config.json", "args.json",
            "params.json", "hparams.json", "hyperparameters.json", "variant.json", "flags.json")
TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")
COMMON_STEMS = {"progress", "metrics", "log", "logs", "training", "history", "results", "data", "train", "scores"}
MONITOR = re.compile(r"(\d+\.)?monitor\.csv")
DATABASES = (".db", ".sqlite", ".sqlite3")
ENTRY_POINTS = "backplane.importers"

# Values of other types than a tool writes: the file is damaged.
MISFITS = (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError, RecursionError, EOFError, struct.error)


def misfit(path: Path, kind: str, error: Exception) -> str:
    return f"{path}: expected the content of a {kind} file, got something else ({type(error).__name__}: {str(error)[:100]})"


def read_settings(file: Path, run: Run) -> None:
    """Adds a file's settings below those that are known."""
    try:
        value = parse_json(read_text(file), str(file)) if file.suffix == ".json" else read_yaml(file)
    except (Damaged, *MISFITS) as error:
        run.notes.append(str(error) if isinstance(error, Damaged) else misfit(file, "settings", error))
        return
    value = as_mapping(value)
    if not isinstance(value, dict):
        return
    if all(isinstance(one, dict) and "value" in one for key, one in value.items() if key not in ("wandb_version", "_wandb")):  # W&B
        value = {key: one["value"] for key, one in value.items() if isinstance(one, dict) and "value" in one}
    run.sources.append(file)
    for key, one in resolved(flatten(value)).items():
        run.settings.setdefault(key, one)


def resolved(flat: dict[str, Any]) -> dict[str, Any]:
    """Replaces "${a.b}" by the value in the same file. Other references stay text and are never executed."""
    out = dict(flat)
    for _ in range(4):
        for key, value in out.items():
            if isinstance(value, str) and value.startswith("${") and value.endswith("}") and value[2:-1] in out:
                out[key] = out[value[2:-1]]
    return out


class Finder:
    """The runs below one PATH."""

    def __init__(self, root: Path, step: str = "", prefix: str = "") -> None:
        self.root, self.step, self.prefix = root, step, prefix
        self.left_out: list[str] = []  # sentences
        self.folders = 0
        self.importers = [(entry.name, entry.load()) for entry in metadata.entry_points(group=ENTRY_POINTS)]

    def runs(self) -> list[Run]:
        if not self.root.exists():
            raise Mistake(f"{self.root}: expected a file or a folder, got a path that does not exist")
        if (self.root / "plan.jsonl").exists():
            raise Mistake(f"{self.root}: expected files of another tool, got a results folder of Backplane")
        found = self._folder(self.root, {}, 0) if self.root.is_dir() else self._file(self.root, True)
        for run in found:
            run.tidy()
        return wandb_file.join_resumed(found)

    def _name(self, path: Path) -> str:
        own = path.relative_to(self.root).as_posix() if path != self.root else ""
        name = "/".join(part for part in (self.prefix, "" if own == "." else own) if part)
        return name or self.root.name or self.root.resolve().name

    def _guard(self, path: Path, name: str, kind: str, read: Callable[[], list[Run]]) -> list[Run]:
        """A damaged source becomes a failed run, so it is counted."""
        run = Run(name, kind, [path], folder=path if path.is_dir() else path.parent)
        try:
            return read()
        except Damaged as error:
            run.fail(str(error))
        except MISFITS as error:
            run.fail(misfit(path, kind, error))
        return [run]

    def _file(self, file: Path, named: bool = False) -> list[Run]:
        """Runs of a file that holds them by itself. `named`: the user named this file."""
        name = self._name(file.with_name(file.stem) if file != self.root else file)
        if named:
            name = self.prefix or file.stem
        ending = file.suffix.lower()
        if own := self._by_importers(file):
            return own
        if optuna_journal.is_journal(file):
            return self._guard(file, name, "Optuna", lambda: optuna_journal.read_journal(file, name))
        if ending in DATABASES:
            return self._guard(file, name, "database", lambda: databases.read_database(file, name))
        if ending == ".wandb":
            return self._guard(file, name, "W&B", lambda: [wandb_file.read_run(file, name)])
        if is_event_file(file.name):
            return self._guard(file, name, "TensorBoard", lambda: [read_event_run([file], name, file.parent)])
        if named and ending == ".npz" and file.name != "evaluations.npz":
            return self._guard(file, name, "score arrays", lambda: read_score_arrays(file, name))
        if file.name.endswith(".monitor.csv"):  # of a run, not of an env with a number
            own = Run(self._name(file.with_name(file.name.removesuffix(".monitor.csv"))), "SB3", folder=file.parent)
            return self._guard(file, own.name, "SB3", lambda: [read_monitors([file], own) or own])
        if named and file.name in ("evaluations.npz", "monitor.csv"):
            return self._one(file.parent, [file.name], name)
        if ending in TABLES and (named or looks_like_runs(file)):
            if file.stem.lower() in COMMON_STEMS and not named:
                name = self._name(file.parent)
            return self._guard(file, name, "table", lambda: Table(file, name, file.parent, self.step).read())
        if named:
            raise NoRuns(f"{file}: expected a folder, or a file of a known kind, got '{file.name}'")
        return []

    def _by_importers(self, path: Path) -> list[Run]:
        runs = []
        for kind, importer in self.importers:
            try:
                for one in importer(path) or []:
                    runs.append(self._foreign(kind, path, one))
            except Exception as error:  # the user's code
                raise Mistake(f"{path}: the importer '{kind}' failed: {type(error).__name__}: {error}") from error
        return runs

    def _foreign(self, kind: str, path: Path, one: dict[str, Any]) -> Run:
        run = Run(f"{self._name(path)}/{one['name']}", kind, [Path(file) for file in one.get("sources", [path])], folder=path)
        run.settings = flatten(one.get("settings", {}))
        run.state, run.why = one.get("state", run.state), one.get("why", "")
        for name, points in one["metrics"].items():
            for step, value in points:
                run.add(name, step, value)
        return run

    def _folder(self, folder: Path, above: dict[str, Any], depth: int) -> list[Run]:
        self.folders += 1
        if self.folders > MOST_FOLDERS or depth > MOST_DEPTH:
            raise Mistake(f"{folder}: more than {MOST_FOLDERS:,} folders, or {MOST_DEPTH} below each other; name a smaller folder")
        with os.scandir(folder) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
        names = [entry.name for entry in listed if entry.is_file()]
        below = [Path(entry.path) for entry in listed if entry.is_dir(follow_symlinks=False) and entry.name not in SKIPPED]
        name = self._name(folder)
        if {"plan.jsonl", "run.json"} <= set(names) or ".importing-" in folder.name:
            self.left_out.append(f"{folder}: a results folder of Backplane is left out; name it to compare it")
            return []
        if own := self._by_importers(folder):
            return own
        if mlruns.is_store(folder, names, below):
            return self._guard(folder, name, "MLflow", lambda: mlruns.read_store(folder, name)) + self._files(folder, names)
        if "result.json" in names or {"progress.csv", "params.json"} <= set(names):
            return self._guard(folder / ("result.json" if "result.json" in names else "progress.csv"), name, "Ray Tune",
                               lambda: [self._with_settings(read_trial(folder, name), [], above)])
        hydra = folder / ".hydra" / "config.yaml"
        if hydra.is_file():
            holder = Run("", "")
            read_settings(hydra, holder)
            above = {**above, **holder.settings}
        runs = self._one(folder, names, name)
        rest = self._files(folder, [one for one in names if Path(one).name not in {source.name for run in runs for source in run.sources}])
        if len(runs) == 1 and len(rest) == 1 and rest[0].name == name and rest[0].kind == "table":
            add_to(runs[0], rest.pop())
        for run in runs:
            self._with_settings(run, names, above, below)
        for run in rest:
            self._with_settings(run, [], above)
            self._settings_of_only(run, folder, names, rest)
        return self._children(folder, below, above, runs, depth) + rest

    def _files(self, folder: Path, names: list[str]) -> list[Run]:
        return [run for one in names if not is_event_file(one) and not one.startswith(".") for run in self._file(folder / one)]

    def _settings_of_only(self, run: Run, folder: Path, names: list[str], rest: list[Run]) -> None:
        """Settings next to a table hold for it, if it is the only run there."""
        if len(rest) == 1:
            self._with_settings(run, names, {})

    def _with_settings(self, run: Run, names: list[str], above: dict[str, Any], below: list[Path] = ()) -> Run:
        for one in SETTINGS:
            if one in names and run.folder:
                read_settings(run.folder / one, run)
        for child in below:  # SB3's Zoo keeps them in a folder named like the env
            for one in ("args.yml", "config.yml"):
                if (child / "args.yml").is_file() and (child / one).is_file():
                    read_settings(child / one, run)
        for key, value in above.items():
            run.settings.setdefault(key, value)
        return run

    def _one(self, folder: Path, names: list[str], name: str) -> list[Run]:
        """The run whose files are in the folder itself."""
        events = [folder / one for one in names if is_event_file(one)]
        monitors = [folder / one for one in names if MONITOR.fullmatch(one)]
        wandb = [folder / one for one in names if one.endswith(".wandb")]
        if wandb:
            return self._guard(wandb[0], name, "W&B", lambda: [wandb_file.read_run(wandb[0], name)])
        if "trainer_state.json" in names:
            return self._guard(folder / "trainer_state.json", name, "HF Trainer", lambda: [trainers.read_trainer_state(folder, name)])
        if not (events or monitors or {"progress.csv", "evaluations.npz"} & set(names)):
            return []
        run = Run(name, "SB3", folder=folder)
        readers = [(events, lambda files: self._events(files, run))] if events else []
        readers += [([folder / "progress.csv"], lambda files: read_progress(files[0], run))] if "progress.csv" in names else []
        readers += [(monitors, lambda files: read_monitors(files, run))] if monitors else []
        readers += [([folder / "evaluations.npz"], lambda files: read_evaluations(files[0], run))] if "evaluations.npz" in names else []
        for files, read in readers:
            try:
                read(files)
            except (Damaged, *MISFITS) as error:
                run.sources += [file for file in files if file not in run.sources]
                run.fail(str(error) if isinstance(error, Damaged) else misfit(files[0], "this kind", error))
        return [run]

    def _events(self, files: list[Path], run: Run) -> None:
        of_events = read_event_run(files, run.name, run.folder)
        for field in ("kind", "sources", "curves", "settings", "state", "why", "notes", "time_base"):
            setattr(run, field, getattr(of_events, field))

    def _children(self, folder: Path, below: list[Path], above: dict[str, Any], own: list[Run], depth: int) -> list[Run]:
        runs = list(own)
        parent = own[0] if own else None
        children = {child: self._folder(child, above, depth + 1) for child in below}
        children = trainers.without_older_checkpoints(children)
        for child, found in children.items():
            for run in found:
                if run.folder == child and has_only_hparams(run, child) and parent is None:
                    parent, run.name, run.folder = run, self._name(folder), folder
                    runs.append(run)
                elif not (parent and parent.folder == folder and run.folder == child and absorbs(parent, run, child)):
                    runs.append(run)
        runs = trainers.join_checkpoints(runs, folder, self._name(folder))
        return trainers.join_keras(trainers.join_events(runs, folder), folder, self._name(folder))


def absorbs(parent: Run, run: Run, child: Path) -> bool:
    """Adds a subfolder's run to its parent's, if it is a part of that run."""
    if has_only_hparams(run, child):
        prefix = ""
    elif run.kind == "TensorBoard" and len(run.curves) == 1 and child.name.startswith(next(iter(run.curves)).replace("/", "_").replace(" ", "_") + "_"):
        tag = next(iter(run.curves))  # add_scalars("loss", {"train": x}) logs the tag "loss" into the folder "loss_train"
        run.curves = {f"{tag}/{child.name[len(tag) + 1:]}": run.curves[tag]}
        prefix = ""
    elif child.name in ("eval", "evaluation", "evaluations", "monitor") and run.kind in ("SB3", "TensorBoard"):
        prefix = ""
    else:
        return False
    add_to(parent, run, prefix)
    return True


def add_to(parent: Run, run: Run, prefix: str = "") -> None:
    """Adds another record of the same run."""
    parent.sources += run.sources
    parent.notes += run.notes
    for key, value in run.settings.items():
        parent.settings.setdefault(key, value)
    merge_curves(parent, run, prefix)
    if run.why and not parent.why:
        parent.state, parent.why = run.state, run.why
