"""Runs one part: fills in its command, and measures other programs meanwhile."""
import dataclasses
import datetime
import hashlib
import json
import os
import pathlib
import platform
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from measured_run import measure  # noqa: E402

from .model import QUIET  # noqa: E402
from .parts_host import PHYSICS  # noqa: E402
from .peers import ROOT, Pythons  # noqa: E402

HERE = ROOT / "bench"


SKIPPED = 77  # exit code of a script if this machine cannot measure its part; the last line has the reason


class Failed(Exception):
    """A part failed; the message is the reason."""


class Skipped(Exception):
    """A part was skipped; the message is the reason."""


@dataclasses.dataclass
class Place:
    """Paths of the build, the peers and the corpus."""
    build: pathlib.Path
    corpus: pathlib.Path
    pythons: Pythons

    def lacks(self, part):
        """The part's missing requirements, or an empty value."""
        if not part.command:
            return part.missing
        absent = [target for target in part.targets if target.startswith(("env_", "learner_", "monitor_")) and not self.plugin(target)]
        if absent and os.environ.get("CI") != "true":  # CI builds everything, so an absent target was renamed
            return f"not built here: {', '.join(absent)}"
        if part.processor and f" {part.processor} " not in pathlib.Path("/proc/cpuinfo").read_text():
            return f"this processor has no {part.processor}"
        for name in part.pythons:
            if self.python(name) is None:
                return "scripts/test makes .venv-oracle" if name == "oracle" else f"the peer `{name}` is not installed (`scripts/bench --peers`)"
        if part.corpus and not all((self.corpus / name).exists() for name in ("train.tsv", "spm.model")):
            return "no corpus: plugins/envs/summarization/build_corpus makes it"
        return ""

    def plugin(self, target):
        return any((self.build / folder / f"{target}.so").exists() for folder in ("lib/backplane/plugins", "tests/plugins"))

    def unlisted_tasks(self):
        """Env plugins that use MuJoCo and have no part."""
        plugins = (self.build / "lib/backplane/plugins").glob("env_*.so")
        return sorted({file.stem.removeprefix("env_") for file in plugins if b"libmujoco.so" in file.read_bytes()} - set(PHYSICS))

    def python(self, name):
        if name == "oracle":
            python = ROOT / ".venv-oracle/bin/python"
            return python if python.exists() else None
        return self.pythons.find(name)

    def command(self, part, quick):
        torch = next(iter(ROOT.glob(".venv/lib/python3*/site-packages/torch/lib")), "")
        words = {"bench": self.build / "bench", "here": HERE, "root": ROOT, "build": self.build, "program": self.build / "bin/backplane",
                 "plugins": self.build / "lib/backplane/plugins", "tests": self.build / "tests/plugins", "corpus": self.corpus, "torch": torch,
                 **{name: self.python(name) for name in part.pythons}}
        command = [word.format(**words) for word in (*part.command, *(part.quick if quick else ()))]
        return [sys.executable, *command] if command[0].endswith(".py") else command


def run(part, place, quick):
    """The record of a part: rows, command, machine, date."""
    began = datetime.datetime.now(datetime.timezone.utc)
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(ROOT / "host/python"), "BACKPLANE_HOME": str(place.build)}
    try:
        done = measure(place.command(part, quick), memory=False, env=environment, cwd=ROOT)
    except FileNotFoundError as error:
        raise Failed(f"{error.filename} is not there: it needs the targets {', '.join(part.targets)}") from error
    said = "\n".join("    " + line for line in (done.stdout.splitlines()[-8:] + done.stderr.splitlines()[-12:]))
    if done.exit == SKIPPED:
        raise Skipped((done.stdout.strip() or done.stderr.strip()).rpartition("\n")[2])
    if done.exit not in part.exits:
        raise Failed(f"exit {done.exit}\n{said}")
    try:
        rows = part.read(done.stdout)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise Failed(f"exit {done.exit}; its output is not what its reader expects ({type(error).__name__}: {error})\n{said}") from error
    if not rows:
        raise Failed(f"exit {done.exit}; its reader found no figure\n{said}")
    absent = [goal.figure for goal in part.goals if goal.figure not in rows]
    if absent and not quick:
        raise Failed(f"expected the figures {', '.join(absent)}, got {', '.join(rows) or 'none'}")
    if quick and part.goals and len(absent) == len(part.goals):
        raise Failed(f"expected one of the figures {', '.join(absent)}, got {', '.join(rows) or 'none'}")
    for row in rows.values():
        row.setdefault("disturbed", done.others > QUIET)
    return {"part": part.name, "date": began.isoformat(timespec="seconds"), "command": command_of(part), "quick": quick, "wall_s": round(done.wall_s, 1),
            "others": round(done.others, 3), "machine": machine(place), "commit": commit(), "figures": rows}


def command_of(part):
    """The command for readers, without this machine's folders."""
    return f"scripts/bench --only {part.name}" + (" --peers" if set(part.pythons) - {"oracle"} else "")


def commit():
    return subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip() or None


def machine(place):
    model = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    facts = {"cpu": model[1] if model else platform.machine(), "cores": len(os.sched_getaffinity(0)), "system": f"{platform.system()} {platform.release()}"}
    program = place.build / "bench/bench_host"
    if program.exists():
        found = json.loads(subprocess.run([program, "facts"], capture_output=True, text=True, check=True).stdout)
        facts |= {"compiler": found["compiler"], "build_type": found["build_type"]}
        if "mujoco" in found:
            facts["mujoco"] = library(found["mujoco"])
    return facts


def library(facts):
    """The library's name without its folder."""
    file = pathlib.Path(facts["file"])
    return {"version": facts["version"], "file": file.name, "size_bytes": file.stat().st_size, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
