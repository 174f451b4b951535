#!/usr/bin/env python3
"""Measures the time until a rebuilt plugin runs under `backplane dev`: 20 rebuilds of a C env, including half-written files, crashes and hangs.

  bench/dev_rebuilds.py [--program build/release/bin/backplane] [--bar 2.0]

Every build is compiled and sealed beforehand. The time starts with the last byte in the watched file, and ends when `dev` reports that the
build runs or, if its first step fails, that it is rejected. Exits with 1 if one takes longer than the bar, or if a process keeps running.
"""
import argparse
import json
import os
import pathlib
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from figures.readers import spread

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "templates/env/c/plugin.c"
STEP = "  for (uint64_t r = begin; r < end; ++r) {\n    row *p = &env->row[r];\n    const double force"
LATE = "  static long calls;\n  if (++calls > 10000) %s;\n"  # only while it trains
CHANGES = {
    "good": lambda text, n: text.replace('"A point mass on a line', f'"Build {n}: a point mass on a line'),
    "crashes": lambda text, n: text.replace(STEP, LATE % "abort()" + STEP),
    "crashes at once": lambda text, n: text.replace(STEP, "  abort();\n" + STEP),
    "hangs": lambda text, n: text.replace(STEP, LATE % "for (;;) {}" + STEP),
    # A different observation shape: the learner's state does not fit.
    "other shape": lambda text, n: text.replace("kTwo[] = {2}", "kTwo[] = {3}").replace("obs[0] = (float)env", "obs[2] = 0, obs[0] = (float)env"),
}
EXPERIMENT = """env: template_c
learner: {plugin: ppo, options: {train_batch_size: 512, minibatch_size: 128, num_epochs: 2, hidden: [16]}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 8}
budget: {iterations: 100000000}
monitors: []
"""
# State of each build, and the way its file is written.
BUILDS = [("good", "renamed"), ("good", "written"), ("good", "half, then whole"), ("crashes", "renamed"), ("good", "half, then whole"),
          ("other shape", "written"), ("other shape", "unsealed first"), ("good", "renamed"), ("hangs", "written"), ("good", "removed first"),
          ("crashes at once", "renamed"), ("good", "half, then whole"), ("crashes", "half, then whole"), ("good", "twice"),
          ("good", "unsealed first"), ("crashes at once", "written"), ("good", "emptied first"), ("hangs", "renamed"),
          ("crashes", "twice"), ("good", "renamed"), ("good", "half, then whole")]
PAUSE_S = 0.7  # while a linker is at work


def build(program, what, number, folder):
    text = CHANGES[what](SOURCE.read_text(), number)
    if text == SOURCE.read_text():
        sys.exit(f"dev_rebuilds: '{what}' changes nothing in {SOURCE}")
    source, unsealed = folder / f"{number}.c", folder / f"{number}_unsealed.so"
    source.write_text(text)
    subprocess.run(["cc", "-std=c11", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", f"-I{ROOT}/host/include", source, "-o", unsealed, "-lm"],
                   check=True)
    sealed = folder / f"{number}.so"
    shutil.copy(unsealed, sealed)
    subprocess.run([program, "plugin", "seal", sealed], check=True, stdout=subprocess.DEVNULL)
    return sealed.read_bytes(), unsealed.read_bytes()


def put(way, sealed, unsealed, file):
    """Returns when the last byte was written."""
    beside = file.with_suffix(".new")
    if way == "renamed":
        beside.write_bytes(sealed)
        beside.rename(file)
    elif way == "written":
        file.write_bytes(sealed)
    elif way == "half, then whole":
        with open(file, "wb", buffering=0) as out:
            out.write(sealed[:len(sealed) // 2])
            time.sleep(PAUSE_S)
            out.write(sealed[len(sealed) // 2:])
    elif way == "unsealed first":
        file.write_bytes(unsealed)
        time.sleep(PAUSE_S)
        file.write_bytes(sealed)
    elif way == "removed first":
        file.unlink()
        time.sleep(PAUSE_S)
        file.write_bytes(sealed)
    elif way == "emptied first":
        file.write_bytes(b"")
        time.sleep(PAUSE_S)
        file.write_bytes(sealed)
    elif way == "twice":
        file.write_bytes(sealed)
        time.sleep(0.05)
        file.write_bytes(sealed)
    return time.monotonic()


class Dev:
    def __init__(self, program, arguments, folder):
        self.process = subprocess.Popen([program, "dev", *arguments], cwd=folder, stdout=open(folder / "tables.txt", "w"), stderr=subprocess.PIPE,
                                        text=True, env={**os.environ, "XDG_CACHE_HOME": str(folder / "cache")})
        self.lines = queue.Queue()
        self.said = []
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stderr:
            self.lines.put((time.monotonic(), line.rstrip()))

    def wait_for(self, pattern, seconds=30):
        """The time of the first line that matches the pattern."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                at, line = self.lines.get(timeout=0.1)
            except queue.Empty:
                continue
            self.said.append(line)
            if re.search(pattern, line):
                return at
        return None


def children_left(folder):
    left = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if str(folder) in (entry / "cmdline").read_text():
                left.append(int(entry.name))
        except OSError:
            pass
    return left


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build/release/bin/backplane"))
    parser.add_argument("--bar", type=float, default=2.0, help="seconds")
    parser.add_argument("--builds", type=int, default=len(BUILDS), help="the first ones alone")
    args = parser.parse_args()
    builds = BUILDS[:args.builds]
    program = str(pathlib.Path(args.program).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        built = [build(program, what, number, folder) for number, (what, _) in enumerate(builds, 1)]
        (folder / "dev.yaml").write_text(EXPERIMENT)
        (folder / "watched").mkdir()
        file = folder / "watched/env_template_c.so"
        dev = Dev(program, [file, "dev.yaml"], folder)
        worst, failed, run, took = 0.0, False, 0, []
        for number, ((what, way), (sealed, unsealed)) in enumerate(zip(builds, built), 1):
            if number == 1:
                dev.wait_for("watching")
            elif what != "crashes at once" and BUILDS[number - 2][0] in ("crashes", "hangs"):
                # Check for a crash, but do not wait for a hang.
                if BUILDS[number - 2][0] == "crashes" and dev.wait_for(r"build \d+ failed") is None:
                    print("  the crash was not told")
                    failed = True
            time.sleep(0.5)
            if way == "removed first" and not file.exists():
                way = "written"
            whole = put(way, sealed, unsealed, file)
            pattern = r"env.template_c (breaks the rule|.*SIGABRT)" if what == "crashes at once" else r"build \d+ runs"
            at = dev.wait_for(pattern)
            if at is None:
                print(f"{number:3} {what:16} {way:18} never")
                print("\n".join("    " + line for line in dev.said[-8:]))
                failed = True
                continue
            seconds = at - whole
            run += 1
            worst = max(worst, seconds)
            took.append(seconds)
            failed |= seconds > args.bar
            print(f"{number:3} {what:16} {way:18} {seconds:6.2f} s", flush=True)
        dev.process.send_signal(signal.SIGINT)
        code = dev.process.wait(timeout=60)
        left = children_left(folder)
        print(f"{run - 1} rebuilds, the slowest {worst:.2f} s after its file was whole (bar {args.bar:.1f} s); exit {code}, left running: {left or 'nothing'}")
        print(json.dumps({"figures": {"dev_rebuild_s": spread(took), "dev_rebuild_slowest_s": worst}}))
        return 1 if failed or left or code != 0 else 0


if __name__ == "__main__":
    sys.exit(main())
