#!/usr/bin/env python3
"""Compares the training speed of PPO on Ant with RLtools, in turn: env steps per second with learning, 64 envs x 64 steps.

  bench/peers/train_rltools.py --venv VENV [--amp] [--rounds N]

4 epochs, minibatch 2,048, separate actor and critic of 256-256 ReLU, normalised observations of 27 numbers, one libmujoco.
rltools/1: env steps per CPU second on one core; with --amp, only this is measured, with `use_amp: true` in ours.
rltools/2: ours on two cores, by wall time, over one process of RLtools, which collects on one core.

RLtools is a header library in PyPI's `rltools`. Its program (rltools_ppo.cpp) is compiled here with OpenBLAS and with MKL; a round uses
the faster one. Both sides exclude the first iteration: ours by the difference between two runs, one of which ends after it. The last
line is a JSON object. Exit 77: a requirement is missing here.
"""
import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE))
from figures.readers import last_json, spread  # noqa: E402
from measured_run import adopt_orphans  # noqa: E402
from train import QUIET, on_cores  # noqa: E402

SKIPPED = 77
ENVS, STEPS, MINIBATCH, EPOCHS, HIDDEN, LR, GAMMA, LAMBDA, CLIP, DEVIATION = 64, 64, 2048, 4, 256, 3e-4, 0.99, 0.95, 0.2, 0.5
# Neither side clips gradients or value changes, because RLtools cannot.
OURS = {"train_batch_size": ENVS * STEPS, "minibatch_size": MINIBATCH, "num_epochs": EPOCHS, "hidden": [HIDDEN, HIDDEN], "activation": "relu", "lr": LR,
        "gamma": GAMMA, "lambda": LAMBDA, "clip_param": CLIP, "log_std_init": math.log(DEVIATION), "normalize_obs": True, "grad_clip": 0, "vf_clip": False}
THEIRS = {"ENVS": ENVS, "STEPS": STEPS, "MINIBATCH": MINIBATCH, "EPOCHS": EPOCHS, "HIDDEN": HIDDEN, "LR": LR, "DISCOUNT": GAMMA, "TRACE": LAMBDA, "CLIP": CLIP,
          "DEVIATION": DEVIATION}
SEED = 1


def one(folder, pattern):
    found = next(iter(sorted(folder.glob(pattern))), None)
    if found is None:
        raise SystemExit(f"train_rltools: no {pattern} in {folder}")
    return found


def blas_words(venv, name):
    """Compiler arguments for this BLAS with one thread."""
    if name == "MKL":
        libraries = [one(venv / "lib", f"libmkl_{part}.so.*") for part in ("intel_lp64", "sequential", "core")]
        return ["-DRL_TOOLS_BACKEND_ENABLE_MKL", f"-I{venv / 'include'}", "-Wl,--no-as-needed", *libraries, f"-Wl,-rpath,{venv / 'lib'}"]
    library = one(venv, "lib/python3*/site-packages/scipy_openblas32/lib/libscipy_openblas.so")
    return ["-DRL_TOOLS_BACKEND_ENABLE_OPENBLAS", *(f"-Dcblas_{kind}gemm=scipy_cblas_{kind}gemm" for kind in "sd"), library, f"-Wl,-rpath,{library.parent}"]


def compiled(args, name):
    """RLtools' program, rebuilt if its source or the command changed. Uses the flags of RLtools' own Python package."""
    packages = one(args.venv, "lib/python3*/site-packages/rltools").parent
    mujoco = one(args.build / "lib/backplane/plugins", "libmujoco.so.*")  # as our plugins use
    headers = one(ROOT, ".venv/lib/python3*/site-packages/mujoco/include")
    program = args.build / "bench" / f"rltools_ppo_{name.lower()}"
    command = [os.environ.get("CXX", "c++"), "-std=c++17", "-O3", "-march=native", "-ffast-math", "-w", "-DRL_TOOLS_DISABLE_UNALIGNED_MEMORY_ALLOCATIONS",
               *(f"-DBENCH_{key}={value}" for key, value in THEIRS.items()), "-isystem", packages / "rltools/external/rl_tools/include",
               "-isystem", headers, HERE / "rltools_ppo.cpp", "-o", program, mujoco, f"-Wl,-rpath,{mujoco.parent}", *blas_words(args.venv, name)]
    command = [str(word) for word in command]
    stamp, made_of = program.with_suffix(".command"), " ".join(command) + "\n" + (HERE / "rltools_ppo.cpp").read_text()
    if not program.exists() or not stamp.exists() or stamp.read_text() != made_of:
        print(f"compiling RLtools with {name} ...", flush=True)
        program.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(command, check=True)
        stamp.write_text(made_of)
    return program


def ours(args, folder, cores, iterations, **more):
    threads = len(cores)
    out = pathlib.Path(tempfile.mkdtemp(dir=folder)) / "out"
    file = out.with_suffix(".yaml")
    file.write_text(json.dumps({  # JSON is YAML
        "experiment": "train", "seed": SEED, "env": {"plugin": "ant", "options": {"include_cfrc_ext_in_observation": False}},
        "learner": {"plugin": "ppo", "options": {**OURS, **more}},
        "rollout": {"num_env_runners": threads, "num_envs_per_env_runner": ENVS // threads, "threads": threads}, "resources": {"cpus": threads},
        "budget": {"iterations": iterations}, "monitors": []}))
    run = on_cores([args.build / "bin/backplane", "run", file, "--out", out, "--quiet"], cores)
    return run, json.loads(next(out.glob("trials/*/attempt-1/result.json")).read_text())


def ours_per_cpu_second(args, folder, core, **more):
    """Steps per CPU second of all iterations but the first, and the share of other programs."""
    first, _ = ours(args, folder, [core], 1, **more)
    whole, _ = ours(args, folder, [core], 1 + args.iterations, **more)
    return args.iterations * ENVS * STEPS / (whole.cpu_s - first.cpu_s), max(first.others, whole.others)


def theirs(program, core, iterations):
    run = on_cores([program, 1 + iterations], [core], OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
    return last_json(run.stdout), run.others


def play_round(args, folder, programs, cores, turn):
    """figure -> ratio of one round, and True if it was quiet."""
    core = cores[-1]

    def our_side():
        per_cpu_second, others = ours_per_cpu_second(args, folder, core, **({"use_amp": True} if args.amp else {}))
        if args.amp:
            return {"one": per_cpu_second}, others
        run, result = ours(args, folder, cores, 1 + args.iterations)
        return {"one": per_cpu_second, "two": result["sps"]}, max(others, run.others)

    mine = our_side() if turn % 2 == 0 else None
    peer = {name: theirs(program, core, args.iterations) for name, program in programs.items()}
    mine = mine or our_side()
    best = {clock: max(found[clock] for found, _ in peer.values()) for clock in ("cpu_sps", "sps")}
    ratios = {"rltools/1/amp" if args.amp else "rltools/1": mine[0]["one"] / best["cpu_sps"]}
    if not args.amp:
        ratios["rltools/2"] = mine[0]["two"] / best["sps"]
    quiet = max(mine[1], *(others for _, others in peer.values())) <= QUIET
    print(f"ours {mine[0]['one']:,.0f} steps per CPU second" + ("" if args.amp else f", {mine[0]['two']:,.0f} per second on 2 cores") + "; RLtools "
          + ", ".join(f"{name} {found['cpu_sps']:,.0f} ({found['sps']:,.0f} per second)" for name, (found, _) in peer.items()) + "; "
          + ", ".join(f"{figure} {ratio:.3f}" for figure, ratio in ratios.items()) + ("" if quiet else " ~"), flush=True)
    return ratios, quiet


def lacks_amp(args):
    """The reason why `use_amp: true` is unavailable here, or an empty value."""
    known = subprocess.run([args.build / "bin/backplane", "plugin", "describe", "learner.ppo"], capture_output=True, text=True, check=True).stdout
    if "use_amp" not in known:
        return "learner.ppo of this build has no option use_amp"
    if "avx512_bf16" not in pathlib.Path("/proc/cpuinfo").read_text():
        return "this processor has no products of bf16 (avx512_bf16)"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--venv", type=pathlib.Path, required=True, help="with rltools, scipy-openblas32, mkl and mkl-include")
    parser.add_argument("--amp", action="store_true", help="ours with `use_amp: true`")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=12, help="that are measured")
    parser.add_argument("--blas", nargs="+", default=["OpenBLAS", "MKL"], choices=("OpenBLAS", "MKL"), help="that RLtools is compiled with")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    args = parser.parse_args()
    args.build, args.venv = args.build.resolve(), args.venv.absolute()
    if args.amp and (why := lacks_amp(args)):
        print(why)
        return SKIPPED
    adopt_orphans()
    cores = sorted(os.sched_getaffinity(0))[-2:]
    if not args.amp and len(cores) < 2:
        print("one core alone: rltools/2 needs two")
        return SKIPPED
    programs = {name: compiled(args, name) for name in args.blas}
    with tempfile.TemporaryDirectory() as folder:
        rounds = [play_round(args, folder, programs, cores, turn) for turn in range(args.rounds)]
    kept = [ratios for ratios, quiet in rounds if quiet]
    figures = {figure: {**spread(ratios[figure] for ratios in kept or [found for found, _ in rounds]), "disturbed": not kept} for figure in rounds[0][0]}
    print(json.dumps({"figures": figures}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
