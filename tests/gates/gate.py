#!/usr/bin/env python3
"""Gates on the cost of the host and of network products: instructions under valgrind, and allocations. No clock, so load does not matter.

  gate.py NAME --build DIR          exit 0: within the bound; 1: beyond it; 77: skipped, no bound for this compiler
  gate.py NAME --build DIR --red    the negative control: the same gate on slow code; exit 0 only if it exceeds the bound
  gate.py NAME --build DIR --store  stores the measured costs in bounds.json for this compiler

Cost of a loop = (I(2N) - I(N)) / (N x rows) instructions per env step, for rollouts of N and 2N steps.
The first 16 steps of a trial are watched and cost more (docs/decisions/0023): N is 16 or more, so that they cancel out.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

BOUNDS = pathlib.Path(__file__).with_name("bounds.json")
REFUSED = 77  # ctest: skipped

# Allowed growth of stored costs: a different C library or linker moves a few instructions.
SLACK = 1.05
# Gate: env, bound of host / bare mj_step loop on the same trace (equal for all compilers), the host's loop, words for both loops. The bare
# loop steps the model of the file. The host's model has less work (decision 54), which saves far more than the host adds. Measured: 0.792,
# 0.971 and 0.811; the bounds are 2 % above, or half of the host's former overhead.
PHYSICS = {
    "ant": ("ant", 0.81, "host"),
    "humanoid": ("humanoid", 0.985, "host"),
    "candidates": ("ant", 0.83, "candidates", "still=1"),  # actions 0
}
PRODUCTS = 0.3  # with AVX2 and FMA, which valgrind supports: 8 per vector, and the loads; 1.4 if vectors spill to memory
SCALING = 1.1  # per env step of a 4-agent env: 4,096 rows against 64


class Failed(Exception):
    pass


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))}\nexit {done.returncode}\n{done.stdout}{done.stderr}")
    return done


class Bench:
    def __init__(self, build):
        self.program = build / "bench/bench_host"
        self.products = build / "bench/bench_products"
        self.folders = [build / "lib/backplane/plugins", build / "tests/plugins", build / "tests/fixtures/plugins"]

    def plugin(self, name):
        for folder in self.folders:
            if (folder / f"env_{name}.so").exists():
                return folder / f"env_{name}.so"
        return None

    def json(self, *words):
        return json.loads(run([self.program, *words]).stdout)

    def instructions(self, program, *words):
        try:
            done = run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=backplane_bench_measured",
                        program, *words])
        except FileNotFoundError:
            raise Failed("valgrind is not installed (Debian package valgrind; scripts/bootstrap installs it)")
        return int(re.search(r"Collected : (\d+)", done.stderr)[1])

    def cost(self, env, rows, steps, *more):
        words = [str(self.plugin(env)), f"rows={rows}", *more]
        once, twice = (self.instructions(self.program, "count", *words, f"horizon={n}") for n in (steps, 2 * steps))
        return (twice - once) / (steps * rows)


def stored(name, value, args, compiler):
    """The bound for a cost in instructions, per compiler."""
    bounds = json.loads(BOUNDS.read_text())
    if args.store:
        bounds.setdefault(compiler, {})[name] = round(value, 2)
        BOUNDS.write_text(json.dumps(bounds, indent=2, sort_keys=True) + "\n")
    if name not in bounds.get(compiler, {}):
        print(f"{name}: refused: {value:.2f} instructions per env step with {compiler}, and bounds.json holds "
              f"{', '.join(bounds) or 'no compiler'}; costs are not compared across compilers. --store adds this one.")
        sys.exit(REFUSED)
    return SLACK * bounds[compiler][name]


def null_env(bench, args):
    cost = bench.cost("spins_in_step" if args.red else "null", 64, 128, "chunk_rows=64")
    return cost, stored("null_env", cost, args, bench.json("facts")["compiler"]), "instructions per env step"


def cartpole(bench, args):
    cost = bench.cost("cartpole", 1024, 32, "chunk_rows=64", *(["spin=200"] if args.red else []))
    return cost, stored("cartpole", cost, args, bench.json("facts")["compiler"]), "instructions per env step"


def agents(bench, args):
    env = "scans_all_rows" if args.red else "null_agents"
    few, many = bench.cost(env, 64, 256, "chunk_rows=64"), bench.cost(env, 4096, 16, "chunk_rows=64")
    return many / few, SCALING, f"times the {few:.1f} instructions per env step of 64 rows, at 4,096 rows"


def allocations(bench, args):
    env = "allocates_in_step" if args.red else "null"
    found = bench.json("cost", str(bench.plugin(env)), "rows=64", "horizon=1000", "pairs=1")
    return found["allocations_per_rollout"], 0, "allocations in a rollout of 64,000 env steps"


def products(bench, args):
    m, k, n = 480, 256, 256
    count = bench.instructions(bench.products, "plain" if args.red else "count", *map(str, (m, k, n)))
    return count / (m * k * n), PRODUCTS, f"instructions per multiply-add of [{m}, {k}] x [{k}, {n}]"


def physics(bench, args, name):
    env, bound, loop, *same = PHYSICS[name]
    if bench.plugin(env) is None:
        print(f"{name}: skipped: env_{env}.so is not built")
        sys.exit(REFUSED)
    host = bench.cost(env, 8, 16, "chunk_rows=8", f"loop={loop}", *same, *(["spin=100000"] if args.red else []))
    raw = bench.cost(env, 8, 16, "chunk_rows=8", "loop=raw", *same)
    return host / raw, bound, f"times the {raw:,.0f} instructions per env step of a bare mj_step loop"


GATES = {"null_env": null_env, "cartpole": cartpole, "agents": agents, "allocations": allocations, "products": products}
GATES |= {name: lambda bench, args, name=name: physics(bench, args, name) for name in PHYSICS}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=GATES)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="a build folder with bench_host and the env plugins")
    parser.add_argument("--red", action="store_true")
    parser.add_argument("--store", action="store_true")
    args = parser.parse_args()
    if args.red and args.store:
        parser.error("--red measures something slow on purpose: it gives no bound to store")
    try:
        value, bound, what = GATES[args.name](Bench(args.build), args)
    except Failed as failure:
        print(f"{args.name}: {failure}")
        return 1
    within = value <= bound
    print(f"{args.name}: {value:.4g} {what}, at most {bound:.4g} allowed: {'green' if within else 'red'}")
    return int(within == args.red)


if __name__ == "__main__":
    sys.exit(main())
