"""backplane import: finds runs, prints them, and writes a results folder."""
from __future__ import annotations

import argparse
import contextlib
import fcntl
import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .directions import choose_metric
from .find import Finder
from .metric_names import typed_name, typed_names
from .model import COMPLETED, FAILED, UNFINISHED, Damaged, Mistake, NoRuns, Run
from .points import Choices, ENVS, Grouping, Points, differing_keys, value_text
from .results_folder import Folder, config_of, directions_of
from .tasks import read_references, tasks_of

SHOWN_NOTES, SHOWN_KEYS = 8, 6
NO_RUNS = 3  # exit code for other programs
MOST_SOURCES = 2000  # with hashes in the record
OPTIONS = ("name", "seed_key", "metric", "direction", "task", "reference", "join", "step")


def arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="backplane import", allow_abbrev=False)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--to", type=Path)
    for option in OPTIONS:
        parser.add_argument("--" + option.replace("_", "-"))
    parser.add_argument("--quiet", action="store_true")
    parser.add_argument("--program", default="backplane")
    parser.add_argument("--version", default="")
    parser.add_argument("--host", default="", help="the program `backplane`, which derives results.sqlite")
    parser.add_argument("--arms", action="store_true", help="each PATH is an arm of a comparison")
    parser.add_argument("--folder-only", action="store_true", help="print only the results folder, for commands that read PATH directly")
    return parser.parse_args(words)


def typed_command(args: argparse.Namespace, paths: list[str]) -> str:
    """The command as it can be pasted."""
    words = [args.program, "import", *paths]
    for option in OPTIONS:
        if value := getattr(args, option):
            words += ["--" + option.replace("_", "-"), value]
    return " ".join(word if word and set(word) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:+=@%") else "'" + word.replace("'", "'\\''") + "'"
                    for word in words)


def fingerprint(paths: list[Path], settings: dict[str, Any]) -> str:
    """Changes with any file below the paths, and with the options."""
    state = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
    for root in paths:
        for file in sorted(files_below(root)):
            about = file.stat()
            state.update(f"{file}\0{about.st_size}\0{about.st_mtime_ns}\n".encode(errors="surrogateescape"))
    return state.hexdigest()


def files_below(root: Path) -> Iterator[Path]:
    if root.is_file():
        yield root
    for folder, _, names in os.walk(root):
        yield from (file for name in names if (file := Path(folder, name)).is_file())


def default_folder(paths: list[Path]) -> Path:
    """outputs/imported/NAME; the name of other sources gets a hash."""
    names = [path.resolve().name.removesuffix(path.suffix if path.is_file() else "") or "runs" for path in paths]
    name = "+".join(names) if len(names) < 4 else f"{names[0]}+{len(names) - 1}_more"
    out = Path("outputs/imported") / name[:80]
    known = imported_record(out)
    mine = [str(path.resolve()) for path in paths]
    if known is not None and [str(Path(path).resolve()) for path in known.get("paths", [])] != mine or out.exists() and known is None:
        out = out.with_name(f"{out.name}_{hashlib.sha256(repr(mine).encode()).hexdigest()[:6]}")
    return out


def imported_record(out: Path) -> dict[str, Any] | None:
    """The record of an earlier import; None: the folder is no import."""
    try:
        record = json.loads((out / "run.json").read_text(encoding="utf-8")).get("imported")
    except (OSError, ValueError, AttributeError):
        return None
    return record if isinstance(record, dict) else None


class Import:
    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.out = args.to or default_folder(args.paths)
        self.before = imported_record(self.out)
        if self.before is None and self.out.exists() and any(self.out.iterdir() if self.out.is_dir() else [0]):
            raise Mistake(f"--to: expected a new folder or one of an earlier import, got {self.out}")
        paths = [str(path) for path in args.paths]
        earlier = [path for path in (self.before or {}).get("paths", []) if Path(path).resolve() not in {one.resolve() for one in args.paths}]
        for path in earlier:
            if not Path(path).exists():
                raise Mistake(f"{self.out} has runs of {path}, which does not exist any more\nhint: --to FOLDER writes to a different folder")
        self.paths = earlier + paths
        for option in OPTIONS:  # an import again has the options of the one before
            if getattr(args, option) is None and self.before:
                setattr(args, option, self.before.get("options", {}).get(option))
        self.options = {option: getattr(args, option) for option in OPTIONS if getattr(args, option)}
        if args.arms:
            self.options["arms"] = "yes"

    def run(self) -> bool:
        """False: all files and options are as in the import before."""
        roots = [Path(path) for path in self.paths]
        for root in roots:
            if not root.exists():
                raise Mistake(f"{root}: expected a file or a folder, got a path that does not exist")
        mark = fingerprint(roots, {"options": self.options, "version": self.args.version, "paths": self.paths})
        if self.before and self.before.get("fingerprint") == mark and (self.out / "plan.jsonl").exists():
            return False
        self.runs, self.sources = self._read(roots), []
        points = Grouping(self.runs, Choices(self.args.name, self.args.seed_key, self._task(), self.args.join, self.args.arms)).points()
        metric, way = choose_metric([trial.run for trial in points.trials], self._asked(), self.args.direction, typed_command(self.args, self.paths))
        self._write(points, metric, way, mark)
        return True

    def _asked(self) -> str | None:
        """The metric by its logged name; a name as reports type it is accepted, too."""
        asked = (self.args.metric or "").rpartition("@")[0] or self.args.metric
        names = {name for run in self.runs for name in run.curves}
        if not asked or asked in names:
            return asked
        known = next((name for name in names if typed_name(name) == asked), None)
        is_measure = asked in ("env_steps", "wall_s", "minutes") or not set(asked).isdisjoint(" *+-()")  # that reports know, or an expression
        return None if known is None and self.args.folder_only and is_measure else known or asked

    def _read(self, roots: list[Path]) -> list[Run]:
        runs, self.left_out = [], []
        for root in roots:
            prefix = (root.resolve().name or "root") if len(roots) > 1 else ""
            finder = Finder(root, self.args.step or "", prefix)
            found = finder.runs()
            self.left_out += finder.left_out
            if not found:
                raise NoRuns(f"{root}: expected runs of a known tool, got none\nhint: docs/import-runs.md lists the files of each tool")
            runs += found
        return runs

    def _task(self) -> str | None:
        """--task, else the env if it differs among the runs."""
        if self.args.task:
            settings = {key for run in self.runs for key in run.settings}
            if self.args.task not in ENVS and self.args.task not in settings and not self.args.name and not self.args.task.startswith("folder"):
                raise Mistake(f"--task: expected a setting of the runs, got '{self.args.task}'; they have {', '.join(sorted(settings)[:10])}")
            return self.args.task
        differing = differing_keys([run.settings for run in self.runs]) if len(self.runs) > 1 else []
        names = set(differing) | ({"env"} if self.args.name and "{env}" in self.args.name else set())
        return "env" if names & set(ENVS) or any("__" in run.name for run in self.runs) else None

    def _write(self, points: Points, metric: str | None, way: int, mark: str) -> None:
        runs = [trial.run for trial in points.trials]
        names = typed_names(sorted({name for run in runs for name in run.curves}))
        directions = directions_of(runs, metric, way)
        folder = Folder(self.out, self.out.name, self.args.version, len(runs))
        try:
            self._fill(folder, points, metric, way, mark, names, directions)
        finally:
            folder.discard()

    def _fill(self, folder: Folder, points: Points, metric: str | None, way: int, mark: str, names: dict[str, str], directions: dict[str, int]) -> None:
        runs = [trial.run for trial in points.trials]
        common = {key: value for key, value in (points.trials[0].identity if points.trials else {}).items() if key not in points.differing}
        for trial in points.trials:
            folder.add(trial, names, directions, common)
        tasks = self._tasks(points, metric, way)
        self.notes = points.notes + self.left_out + [f"{names[name]} is logged as {name}" for name in sorted(names) if names[name] != name][:20] + unequal(runs, names.get(metric or "", ""), metric)
        own_notes = [note for run in runs for note in run.notes]
        self.points, self.metric, self.way = points, names.get(metric or "", ""), way
        self.trials = points.trials
        record = {"paths": self.paths, "options": self.options, "command": typed_command(self.args, self.paths), "fingerprint": mark,
                  "sources": sources_of(runs), "notes": self.notes + own_notes[:200]}
        folder.finish(self._config(folder.experiment, common, points, tasks), record)
        self.notes += own_notes

    def _tasks(self, points: Points, metric: str | None, way: int) -> list[dict[str, Any]]:
        if metric is None or len({trial.task for trial in points.trials}) < 2:
            if self.args.reference:
                raise Mistake("--reference: expected several tasks, got one")
            return []
        references = read_references(Path(self.args.reference)) if self.args.reference else None
        if len({trial.arm for trial in points.trials}) < 2:
            return []
        tasks, sentence = tasks_of(points, metric, way, references)
        if sentence:
            points.notes.append(sentence)
        return tasks

    def _config(self, experiment: str, common: dict[str, Any], points: Points, tasks: list[dict[str, Any]]) -> dict[str, Any]:
        config = config_of(experiment, None, common)
        report: dict[str, Any] = {"kind": "ab" if tasks else "comparison"}
        if self.metric:
            config["compare"] = {"metric": self.metric, "direction": "up" if self.way > 0 else "down", **({"tasks": tasks} if tasks else {})}
            report["columns"] = [self.metric, f"{self.metric}@last", f"{self.metric}@{'max' if self.way > 0 else 'min'}", "env_steps"]
            if any(len(trial.run.curves.get(name, ())) > 1 for trial in points.trials for name in trial.run.curves):
                report["figures"] = [{"curves": {"file": "training_curves.png", "y": [self.metric]}}]
        return {**config, "report": report}


def unequal(runs: list[Run], name: str, metric: str | None) -> list[str]:
    """A sentence if the runs have different lengths: values at the end then compare different steps."""
    ends = sorted({run.curves[metric].steps[-1] for run in runs if metric in run.curves})
    begins = {run.curves[metric].steps[0] for run in runs if metric in run.curves}
    out = []
    if len(ends) > 1 and ends[0] < 0.98 * ends[-1]:
        out.append(f"the runs have unequal lengths: {name} ends between step {ends[0]:,} and {ends[-1]:,}; '{name}@step:{ends[0]}' compares them at a common step")
    if len(begins) > 1 and max(begins) > 0.1 * ends[-1]:
        out.append(f"the runs begin at different steps: {name} begins between step {min(begins):,} and {max(begins):,}")
    return out


def sources_of(runs: list[Run]) -> list[dict[str, Any]]:
    out, seen = [], set()
    for run in runs:
        for file in run.sources:
            if file in seen or not file.is_file() or len(out) >= MOST_SOURCES:
                continue
            seen.add(file)
            with file.open("rb") as stream:
                digest = hashlib.file_digest(stream, "sha256") if hasattr(hashlib, "file_digest") else _digest(stream)
            out.append({"path": str(file), "kind": run.kind, "bytes": file.stat().st_size, "sha256": digest.hexdigest()})
    return out


def _digest(stream: Any) -> Any:
    state = hashlib.sha256()
    while piece := stream.read(1 << 20):
        state.update(piece)
    return state


def counted(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def summary(one: Import) -> str:
    """The runs, settings, seeds, metric and notes, for people."""
    runs = [trial.run for trial in one.trials]
    states = Counter(run.state for run in runs)
    ends = [f"{states[state]:,} {word}" for state, word in ((FAILED, "failed"), (UNFINISHED, "unfinished")) if states[state]]
    kinds = ", ".join(f"{count:,} of {kind}" for kind, count in Counter(run.kind for run in one.runs).most_common())
    lines = [f"found {counted(len(one.runs), 'run')} ({kinds}), {counted(sum(run.points() for run in one.runs), 'point')}" + (f"; {', '.join(ends)}" if ends else "")]
    for trial in one.trials:
        if trial.run.state in (FAILED, UNFINISHED):
            lines.append(f"  {trial.run.name}: {trial.run.state.lower()}: {trial.run.why}")
            if len(lines) > SHOWN_NOTES:
                break
    differing = [f"{key} ({len({value_text(trial.identity.get(key)) for trial in one.trials})})" for key in one.points.differing]
    seeds = sorted({trial.seed for trial in one.trials})
    lines.append("settings: " + (", ".join(differing[:SHOWN_KEYS]) + (f" and {len(differing) - SHOWN_KEYS} more" if len(differing) > SHOWN_KEYS else "") or "equal in all runs"))
    lines.append(f"seeds:    {', '.join(map(str, seeds[:10]))}{', ...' if len(seeds) > 10 else ''}" + (f" ({one.points.seeds})" if one.points.seeds else ""))
    if one.metric:
        lines.append(f"metric:   {one.metric}, {'up' if one.way > 0 else 'down'} is better")
    lines += [f"note: {note}" for note in one.notes[:SHOWN_NOTES]]
    if len(one.notes) > SHOWN_NOTES:
        lines.append(f"note: {counted(len(one.notes) - SHOWN_NOTES, 'more note')} in {one.out / 'run.json'}")
    return "\n".join(lines)


@contextlib.contextmanager
def locked(out: Path) -> Iterator[None]:
    """Two imports never write the same folder at the same time. The folder is removed if it stays empty."""
    while True:
        out.mkdir(parents=True, exist_ok=True)
        lock = os.open(out, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"backplane: waiting for a different import into {out}", file=sys.stderr, flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        if out.is_dir() and os.path.samestat(os.fstat(lock), os.stat(out)):
            break
        os.close(lock)  # that import has removed the folder
    try:
        yield
    finally:
        if not any(out.iterdir()):
            out.rmdir()
        os.close(lock)


def main(words: list[str]) -> int:
    args = arguments(words)
    try:
        args.to = Import(args).out
        with locked(args.to):
            one = Import(args)  # sees the results of an import that it waited for
            changed = one.run()
    except NoRuns as error:
        if not args.folder_only:  # else the calling command reports the error
            print(f"backplane: {error}", file=sys.stderr)
        return NO_RUNS if args.folder_only else 2
    except (Mistake, Damaged) as error:
        print(f"backplane: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"backplane: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    if args.folder_only:
        print(one.out)
        return 0
    if args.host and (changed or not (one.out / "results.sqlite").exists()):
        subprocess.run([args.host, "store", "rebuild", str(one.out)], stdout=subprocess.DEVNULL, check=False)
    if changed and not args.quiet:
        print(summary(one))
    points = len({trial.point for trial in one.trials}) if changed else 0
    what = f"{counted(points, 'point')}, {counted(len(one.trials), 'trial')}" if changed else "unchanged since the last import"
    print(f"{one.out}: {what}\nnext: {args.program} report {one.out}")
    return 0 if not changed or any(trial.run.state in (COMPLETED, "PRUNED") for trial in one.trials) else 1
