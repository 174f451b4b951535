#!/usr/bin/env python3
"""Measures the host and prints a table; the same figures, with everything they depend on, go into a JSON file.

Every ratio is a median over pairs measured in turn (A B A B), with its range. A pair counts only if other programs took at most 5 %
of the machine's CPU time while it ran; a ratio without such a pair is taken over all pairs, marked with ~, and "disturbed" where it
does not reach its floor. bench/README.md says what each row is.
"""
import argparse
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCHEMA = 1

# name -> (floor, target): what the project promises on this kind of machine.
BARS = {
    "E_env/1/ant": (1.03, 1.2), "E_env/1/half_cheetah": (1.03, 1.15), "E_env/1/humanoid": (1.03, 1.05),
    "S_2/64/ant": (0.95, 0.98), "S_2/8/ant": (0.90, 0.95), "S_2/2/ant": (0.85, 0.91),
    "plan_ms/10000": (1000, 500),
    "null_us": (0.05, 0.02), "cartpole_M_per_s": (17, 40), "agents_4096_over_64": (1.5, 1.1), "start_ms/ant": (60, 15),
    "events_ms": (1000, 500), "uav_grid_M_per_s": (2, 4), "uav_grid_no_map_M_per_s": (2, 10),
}
LOWER_IS_BETTER = {"plan_ms/10000", "null_us", "agents_4096_over_64", "start_ms/ant", "events_ms"}

PHASES = """
experiment: bench
env: {{plugin: {task}}}
learner: {{plugin: ppo}}
rollout: {{num_env_runners: 2, num_envs_per_env_runner: 32}}
budget: {{iterations: {iterations}}}
output: {{dir: {out}}}
"""


class Report:
    def __init__(self, build, only):
        self.build, self.only = build, only
        self.rows = []

    def bench(self, *words, **environment):
        done = subprocess.run([self.build / "bench/bench_host", *map(str, words)], capture_output=True, text=True,
                              env={**os.environ, **environment})
        if done.returncode != 0:
            raise SystemExit(f"bench: {done.stderr.strip()}")
        return json.loads(done.stdout)

    def wants(self, name):
        return self.only is None or self.only in name

    def add(self, name, spread, details=None, disturbed=False):
        """spread: {"median", "min", "max", "n"} or a number."""
        if not isinstance(spread, dict):
            spread = {"median": spread, "min": spread, "max": spread, "n": 1}
        row = {"name": name, **spread, "disturbed": disturbed, "details": details}
        if name in BARS:
            row["floor"], row["target"] = BARS[name]
        self.rows.append(row)
        print(line(row), flush=True)

    def add_ratio(self, name, found, key):
        quiet = found["quiet"][key]
        self.add(name, quiet or found["all"][key], found, disturbed=quiet is None)


def line(row):
    mark = "~" if row["disturbed"] else " "
    verdict = ""
    if "floor" in row:
        down = row["name"] in LOWER_IS_BETTER
        reached = [row["median"] <= bar if down else row["median"] >= bar for bar in (row["floor"], row["target"])]
        verdict = "target" if reached[1] else "floor" if reached[0] else "disturbed" if row["disturbed"] else "BELOW"
        verdict = f"{row['floor']:>8g} {row['target']:>8g}  {verdict}"
    dropped = f"  {row['details']['dropped']} of {row['details']['pairs']} pairs disturbed" if row["details"] and "dropped" in row["details"] else ""
    return f"{row['name']:28} {mark}{row['median']:>9.4g}  {row['min']:>9.4g} .. {row['max']:<9.4g} n {row['n']:<3} {verdict}{dropped}"


def inverse(spread, factor=1.0):
    return {"median": factor / spread["median"], "min": factor / spread["max"], "max": factor / spread["min"], "n": spread["n"]}


def small_envs(report, pairs):
    plugins, tests = report.build / "lib/backplane/plugins", report.build / "tests/plugins"
    if report.wants("null_us"):
        found = report.bench("cost", tests / "env_null.so", "rows=64", "chunk_rows=64", "horizon=2000", f"pairs={pairs}")
        report.add("null_us", found["cpu_us"], found)
        report.add("null_allocations_per_step", found["allocations_per_step"])
    if report.wants("cartpole_M_per_s"):
        found = report.bench("cost", plugins / "env_cartpole.so", "rows=1024", "chunk_rows=64", "horizon=128", f"pairs={pairs}")
        report.add("cartpole_M_per_s", inverse(found["cpu_us"]), found)
        report.add("cartpole_allocations_per_step", found["allocations_per_step"])
    if report.wants("agents_4096_over_64"):
        few, many = [], []
        for _ in range(3):  # in turn
            few.append(report.bench("cost", tests / "env_null_agents.so", "rows=64", "chunk_rows=64", "horizon=1024", f"pairs={pairs}"))
            many.append(report.bench("cost", tests / "env_null_agents.so", "rows=4096", "chunk_rows=64", "horizon=16", f"pairs={pairs}"))
        ratios = sorted(b["cpu_us"]["median"] / a["cpu_us"]["median"] for a, b in zip(few, many))
        report.add("agents_4096_over_64", {"median": ratios[1], "min": ratios[0], "max": ratios[2], "n": 3})
        report.add("agents_us_per_row", many[0]["cpu_us"], many[0])
    for name, options in (("uav_grid_M_per_s", []), ("uav_grid_no_map_M_per_s", ["env.state_map=none"])):
        if report.wants(name):
            found = report.bench("cost", plugins / "env_uav_grid.so", "rows=64", "chunk_rows=16", "horizon=64", "masked=1", f"pairs={pairs}", *options)
            report.add(name, inverse(found["cpu_us"], found["agents"]), found)
            report.add(name.replace("M_per_s", "allocations_per_step"), found["allocations_per_step"])


def tensor_grid(report, pairs):
    """The grid as tensors beside the scalar one. LibTorch's threads are those of OMP_NUM_THREADS, the scalar env's are the host's.
    On one thread CPU time counts, which other programs disturb less."""
    plugins = report.build / "lib/backplane/plugins"
    torch = next(iter(ROOT.glob(".venv/lib/python3*/site-packages/torch/lib")), None)
    if not report.wants("uav_grid_tensor") or torch is None or not (plugins / "env_uav_grid_tensor.so").exists():
        return
    for rows, horizon in ((64, 64), (1024, 16), (16384, 4)):
        for threads in (1, 2):
            setting = (f"rows={rows}", "chunk_rows=16", f"horizon={horizon}", "masked=1", f"pairs={pairs}")
            scalar = report.bench("cost", plugins / "env_uav_grid.so", *setting, f"threads={threads}")
            tensor = report.bench("cost", plugins / "env_uav_grid_tensor.so", *setting, BACKPLANE_TORCH_LIB=str(torch),
                                  OMP_NUM_THREADS=str(threads), OMP_WAIT_POLICY="passive")
            time = "cpu_us" if threads == 1 else "wall_us"
            for name, found in (("scalar", scalar), ("tensor", tensor)):
                report.add(f"uav_grid_tensor/{name}/{rows}x{threads}_M_per_s", inverse(found[time], found["agents"]), found)


def physics_tasks(report):
    """The env plugins that were built against MuJoCo."""
    for file in sorted((report.build / "lib/backplane/plugins").glob("env_*.so")):
        if b"libmujoco.so" in file.read_bytes():
            yield file.stem.removeprefix("env_"), file


def physics(report, pairs, steps):
    for task, file in physics_tasks(report):
        for threads in (1, 2):
            if report.wants(f"E_env/{threads}/{task}"):
                found = report.bench("raw", file, "rows=64", f"horizon={steps}", f"threads={threads}", f"pairs={pairs}")
                report.add_ratio(f"E_env/{threads}/{task}", found, "E_cpu")
                report.add(f"host_cpu_us/{threads}/{task}", found["host_cpu_us"])
                report.add(f"raw_cpu_us/{threads}/{task}", found["raw_cpu_us"])
        for rows, chunk in ((64, 16), (8, 1), (2, 1)):
            if report.wants(f"S_2/{rows}/{task}"):
                found = report.bench("threads", file, f"rows={rows}", f"chunk_rows={chunk}", f"horizon={steps * 64 // rows}", "threads=2", f"pairs={pairs}")
                report.add_ratio(f"S_2/{rows}/{task}", found, "S_wall")
                report.add(f"balance/{rows}/{task}", found["balance"])
                report.add(f"wall_eff/{rows}/{task}", found["wall_eff"])
                report.add(f"sps/{rows}/{task}", found["sps"])
        if report.wants(f"start_ms/{task}"):
            runs = sorted(report.bench("start", file, "rows=64")["wall_ms"] for _ in range(5))
            report.add(f"start_ms/{task}", {"median": runs[2], "min": runs[0], "max": runs[-1], "n": 5})


def planning(report, times):
    plugins = report.build / "lib/backplane/plugins"
    if report.wants("plan_ms/10000") and (plugins / "env_ant.so").exists() and (plugins / "learner_ppo.so").exists():
        found = report.bench("plan", plugins, f"pairs={times}")
        if found["points"] != 10000:
            raise SystemExit(f"bench: the sweep to plan has {found['points']} points instead of 10000")
        report.add("plan_ms/10000", found["cpu_ms"], found)
        report.add("plan_wall_ms/10000", found["wall_ms"], found)


def phase_shares(report, iterations):
    program = report.build / "bin/backplane"
    plugins = report.build / "lib/backplane/plugins"
    task = "ant" if (plugins / "env_ant.so").exists() else "cartpole"
    if not report.wants(f"phases/{task}") or not program.exists() or not (plugins / "learner_ppo.so").exists():
        return
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "bench.yaml"
        file.write_text(PHASES.format(task=task, iterations=iterations, out=folder + "/out"))
        subprocess.run([program, "run", file], check=True, capture_output=True)
        result = json.loads(next(pathlib.Path(folder).glob("out/trials/*/attempt-1/result.json")).read_text())
    for phase in result["phases"]:
        report.add(f"phases/{task}/{phase['name']}", phase["share"])
    report.add(f"phases/{task}/sps", result["sps"])
    for name, value in result["rollout"].items():
        report.add(f"phases/{task}/{name}", value)


def library_facts(facts):
    """Names the library without its folder: version, file name, size, hash, build id."""
    file = pathlib.Path(facts["file"])
    notes = subprocess.run(["readelf", "--notes", file], capture_output=True, text=True).stdout
    build_id = re.search(r"Build ID: (\w+)", notes)
    return {"version": facts["version"], "file": file.name, "size_bytes": file.stat().st_size,
            "sha256": hashlib.sha256(file.read_bytes()).hexdigest(), "build_id": build_id[1] if build_id else None}


def context(report):
    facts = report.bench("facts")
    if "mujoco" in facts:
        facts["mujoco"] = library_facts(facts["mujoco"])
    model = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    facts |= {"cpu": model[1] if model else "unknown", "cores": len(os.sched_getaffinity(0)), "load": os.getloadavg(),
              "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")}
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    facts["commit"] = commit.stdout.strip() or None
    return facts


def store(report, pairs):
    if report.wants("events_ms"):
        found = report.bench("events", f"pairs={pairs}")
        report.add("events_ms", found["wall_ms"], found)


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="NAME", help="measurements whose first row's name contains NAME: null, cartpole, agents, uav_grid, uav_grid_tensor, events, E_env, S_2/8, start_ms, plan, phases, ant")
    parser.add_argument("--quick", action="store_true", help="3 short pairs instead of 15: a look, not a figure to quote")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "outputs/bench/bench.json")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help=argparse.SUPPRESS)
    args = parser.parse_args()
    report = Report(args.build, args.only)
    facts = context(report)
    print(f"{facts['cpu']}, {facts['cores']} cores, load {facts['load'][0]:.1f}; {facts['compiler']}, {facts['build_type']}")
    if "mujoco" in facts:
        print("libmujoco {version}: {file}, {size_bytes} bytes, sha256 {sha256}, build id {build_id}".format(**facts["mujoco"]))
    print(f"{'':28}  {'median':>9}  {'range':>22}       {'floor':>8} {'target':>8}")
    pairs, steps = (3, 16) if args.quick else (15, 128)
    small_envs(report, pairs)
    tensor_grid(report, pairs)
    store(report, pairs)
    physics(report, pairs, steps)
    planning(report, 3 if args.quick else 7)
    phase_shares(report, 4 if args.quick else 20)
    if not report.rows:
        raise SystemExit(f"bench: nothing that is built here has a name with '{args.only}' in it; see --help")
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps({"schema": SCHEMA, "context": facts, "rows": report.rows}, indent=1) + "\n")
    print(f"written to {args.out}", file=sys.stderr)
    print("bench/README.md says what each row is and how it is measured")


if __name__ == "__main__":
    main()
