"""A run in sittings: the parts that are left, so that the same command resumes after its time is up or after a kill."""
import dataclasses
import json
import pathlib
import time

SLOW = 3  # a slow machine takes this many times the stated minutes
STOPPED = 75  # exit code if parts are left (EX_TEMPFAIL)
TRIES = 3  # per part and sitting, while its figures are disturbed


@dataclasses.dataclass
class Sitting:
    """`file` contains the names of the run's parts and of the finished ones. A different choice begins a new run."""
    file: pathlib.Path
    choice: dict  # the options that chose the parts
    names: list
    minutes: float | None = None  # of this sitting; None: no limit
    clock: object = time.monotonic

    def __post_init__(self):
        self.began, self.measured = self.clock(), False
        found = json.loads(self.file.read_text()) if self.file.exists() else {}
        same = found.get("choice") == self.choice
        self.done, self.failed = (found["done"], found["failed"]) if same else ([], [])
        self.names = found["parts"] if same else self.names

    def left(self, parts):
        return [part for part in parts if part.name in self.names and part.name not in self.done]

    def has_time_for(self, part):
        """The first part always runs, so that every sitting makes progress."""
        spent = (self.clock() - self.began) / 60
        return not self.measured or self.minutes is None or spent + SLOW * part.minutes <= self.minutes

    def finish(self, part, failed):
        self.measured = True
        self.done.append(part.name)
        if failed:
            self.failed.append(part.name)
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(json.dumps({"choice": self.choice, "parts": self.names, "done": self.done, "failed": self.failed}) + "\n")

    def end(self):
        """After the last part, the next run begins again."""
        self.file.unlink(missing_ok=True)


def disturbed(part, record):
    """The number of disturbed figures that have a goal."""
    return sum(record["figures"][goal.figure]["disturbed"] for goal in part.goals if goal.figure in record["figures"])


def least_disturbed(part, measure, tries=TRIES):
    """The best of at most `tries` records: measures again while a figure is disturbed."""
    best = None
    for _ in range(tries):
        record = measure()
        if best is None or disturbed(part, record) < disturbed(part, best):
            best = record
        if disturbed(part, best) == 0:
            break
    return best


def missing(parts, records):
    """The parts that lack a record of a figure, or have only a disturbed one."""
    def whole(part):
        record = records.get(part.name)
        return record and not record["quick"] and all(goal.figure in record["figures"] for goal in part.goals) and disturbed(part, record) == 0
    return [part for part in parts if part.goals and part.command and not whole(part)]
