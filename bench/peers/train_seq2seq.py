#!/usr/bin/env python3
"""Training a 7.6 M BART on package descriptions, 64 items an update: ours, HuggingFace's Seq2SeqTrainer, a plain PyTorch loop, in turn.

  bench/peers/train_seq2seq.py --venv VENV --corpus DIR [--rounds 3] [--updates 4] [--dropout 0.1]

DIR is the output of plugins/envs/summarization/build_corpus. Prints a table, and writes everything to --out. README.md describes the
comparison. The run ends with an error if the sides did not compute the same.
"""
import argparse
import functools
import json
import os
import pathlib
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))
from seq2seq_runs import GROUP, Runner, write_data  # noqa: E402
from measured_run import adopt_orphans, spread  # noqa: E402

WARMUP = 2  # updates left out on all sides
DISTURBED = 0.05  # of the machine's CPU time, as in scripts/bench
BAR = 1.5


def hf(program="trainer", sampling="sequential", threads=1, bf16=False, cores=1, processes=1, micro_batch=8):
    def run(runner, updates):
        settings = {"program": program, "micro_batch": micro_batch, "steps": GROUP // micro_batch, "updates": updates, "threads": threads,
                    "bf16": bf16, "sampling": sampling}
        return runner.peer(settings, cores, processes)
    return run


def ours(cores=1, micro_batch=8, **options):
    return lambda runner, updates: runner.ours(updates, cores, per_device_train_batch_size=micro_batch, **options)


SIDES = {  # name -> (title, way to run it)
    "hf": ("Seq2SeqTrainer as shipped", hf()),
    "hf_grouped": ("Seq2SeqTrainer, loss by tokens, group_by_length", hf("fixed", "group_by_length")),
    "loop": ("plain PyTorch loop, loss by tokens", hf("loop")),
    "ours_unsorted": ("ours, not sorted", ours(sort_within_update=False)),
    "ours": ("ours", ours()),
    "hf_bf16": ("Seq2SeqTrainer as shipped, bf16", hf(bf16=True)),
    "ours_bf16": ("ours, bf16", ours(bf16=True)),
    "hf_2threads": ("Seq2SeqTrainer as shipped, 2 threads, 2 cores", hf(threads=2, cores=2)),
    "hf_2processes": ("Seq2SeqTrainer as shipped, 2 processes, 2 cores", hf(cores=2, processes=2)),
    "hf_grouped_2processes": ("Seq2SeqTrainer grouped, 2 processes, 2 cores", hf("fixed", "group_by_length", cores=2, processes=2)),
    "ours_parallel": ("ours, parallel_microbatches 2, 2 cores", ours(cores=2, parallel_microbatches=2)),
}
SAME_ORDER = [side for side in SIDES if "grouped" not in side]
EXACT = ["loop", "ours_unsorted", "ours", "ours_parallel"]  # equal arithmetic except for rounding
# Real tokens per second of the first over the best of the others, in the same round.
RATIOS = [
    ("ours", ["hf"], None), ("ours", ["hf_grouped"], None), ("ours", ["loop"], None), ("ours_unsorted", ["loop"], None), ("ours_unsorted", ["hf"], None),
    ("loop", ["hf"], None), ("ours_bf16", ["hf_bf16"], None), ("ours_bf16", ["ours"], None), ("ours_parallel", ["ours"], None),
    ("ours_parallel", ["hf", "hf_2threads"], BAR), ("ours_parallel", ["hf_2processes"], BAR),
    ("ours_parallel", ["hf", "hf_2threads", "hf_2processes"], None), ("ours_parallel", ["hf_grouped_2processes"], None),
]


def rate(run, clock):
    updates = run["updates"][WARMUP:]
    return sum(u["real_tokens"] for u in updates) / sum(u[clock] for u in updates)


def measured(args, runner, sides):
    """One dictionary per run, in order; every second round is reversed."""
    runs = []
    for turn in range(args.rounds):
        for side in sides if turn % 2 == 0 else reversed(sides):
            run = {"round": turn, "side": side, **SIDES[side][1](runner, WARMUP + args.updates), "load": os.getloadavg()[0]}
            runs.append(run)
            print(f"round {turn + 1} of {args.rounds}, {side}: {rate(run, 'wall_s'):.0f} real tokens/s, others {run['others']:.0%}",
                  file=sys.stderr, flush=True)
    return runs


def need_same(runs, dropout):
    """Exits with an error if sides with equal items and order read different ones or started with a different loss."""
    runs = [run for run in runs if run["side"] in SAME_ORDER]
    for run in runs[1:]:
        counts, wanted = ([int(u["real_tokens"]) for u in each["updates"]] for each in (run, runs[0]))
        if counts != wanted:
            sys.exit(f"{run['side']}: expected the items of {runs[0]['side']} with {wanted} tokens in the updates, got {counts}")
    exact = [run for run in runs if run["side"] in EXACT]
    for run in exact[1:] if dropout == 0 else []:
        first, wanted = run["updates"][0]["loss"], exact[0]["updates"][0]["loss"]
        if abs(first - wanted) > 1e-5 * wanted:
            sys.exit(f"{run['side']}: expected the first update's loss of {exact[0]['side']}, {wanted}, got {first}: other weights?")


def loss_differences(runs):
    """our exact side -> largest difference of an update's loss from the plain loop's; empty without the plain loop."""
    losses = {run["side"]: [u["loss"] for u in run["updates"]] for run in runs if run["side"] in EXACT}
    base = losses.pop("loop", None)
    return {side: max(abs(a - b) for a, b in zip(found, base)) for side, found in losses.items()} if base else {}


def ratios(runs):
    of = {(run["round"], run["side"]): run for run in runs}
    rounds, found = sorted({run["round"] for run in runs}), []
    for first, others, floor in RATIOS:
        pairs = [[of.get((turn, side)) for side in (first, *others)] for turn in rounds]
        if not all(all(pair) for pair in pairs):
            continue
        quiet = [pair for pair in pairs if all(run["others"] <= DISTURBED for run in pair)]
        row = {"of": first, "over": others, "floor": floor, "disturbed": len(pairs) - len(quiet), "over_all": not quiet}
        for clock in ("wall_s", "cpu_s"):
            row[clock] = spread([rate(pair[0], clock) / max(rate(run, clock) for run in pair[1:]) for pair in quiet or pairs])
        found.append(row)
    return found


def summary(runs, side):
    of_side = [run for run in runs if run["side"] == side]
    updates = [u for run in of_side for u in run["updates"][WARMUP:]]
    n, total = len(updates), {key: sum(u[key] for u in updates) for key in ("wall_s", "cpu_s", "real_tokens", "padded_tokens")}
    return {"side": side, "updates": n, "s_per_update": total["wall_s"] / n, "cpu_s_per_update": total["cpu_s"] / n,
            "real_tokens_per_s": spread([rate(run, "wall_s") for run in of_side]),
            "real_tokens_per_cpu_s": spread([rate(run, "cpu_s") for run in of_side]),
            "real_share": total["real_tokens"] / total["padded_tokens"], "first_loss": of_side[0]["updates"][0]["loss"],
            "last_loss": of_side[0]["updates"][-1]["loss"], "peak_rss_bytes": max(run["peak_rss_bytes"] for run in of_side)}


def first_norms(runner):
    """The gradient of one update, split in two ways."""
    found = {}
    by_tokens = functools.partial(hf, "fixed")
    for name, side in (("Seq2SeqTrainer as shipped", hf), ("Seq2SeqTrainer, loss by tokens", by_tokens), ("ours", ours)):
        found[name] = {f"{m}x{GROUP // m}": side(micro_batch=m)(runner, 1)["updates"][0] for m in (8, GROUP)}
    return found


def verdict(row):
    """If all pairs were disturbed, a ratio neither reaches nor misses its floor."""
    if row["floor"] is None:
        return ""
    word = "disturbed" if row["over_all"] else "reached" if row["wall_s"]["median"] >= row["floor"] else "BELOW"
    return f"; floor {row['floor']}: {word}"


def print_tables(rows, found_ratios, differences, norms):
    print(f"{'':52}{'s/':>7}{'CPU s/':>8}{'real':>8}{'real tokens':>13}{'real/':>8}{'peak':>7}{'loss of update':>18}")
    print(f"{'':52}{'update':>7}{'update':>8}{'tok/s':>8}{'/CPU s':>13}{'padded':>8}{'RSS MB':>7}{'1':>9}{'last':>9}")
    for row in rows:
        print(f"{SIDES[row['side']][0]:52}{row['s_per_update']:7.2f}{row['cpu_s_per_update']:8.2f}"
              f"{row['real_tokens_per_s']['median']:8.0f}{row['real_tokens_per_cpu_s']['median']:13.0f}{row['real_share']:8.3f}"
              f"{row['peak_rss_bytes'] / 1e6:7.0f}{row['first_loss']:9.4f}{row['last_loss']:9.4f}")
    print("\nreal tokens per second over another side's, in the same round: median (range)")
    for row in found_ratios:
        wall, cpu, mark = row["wall_s"], row["cpu_s"], "~" if row["over_all"] else " "
        print(f"  {row['of'] + ' / ' + ' or '.join(row['over']):44}{mark}{wall['median']:5.2f} ({wall['min']:.2f} .. {wall['max']:.2f})"
              f"  by CPU time {cpu['median']:5.2f} ({cpu['min']:.2f} .. {cpu['max']:.2f})  {row['disturbed']} of {wall['n']} disturbed"
              + verdict(row))
    if differences:
        print("\nlargest difference of an update's loss to the plain loop: "
              + ", ".join(f"{side} {value:.1e}" for side, value in differences.items()))
    print("\nfirst update, the same 64 items: norm of the gradient before clipping (loss)")
    for name, cuts in norms.items():
        small, large = cuts.values()
        print(f"  {name:36}" + "".join(f"{cut} {u['grad_norm']:.6f} ({u['loss']:.6f})  " for cut, u in cuts.items())
              + f"ratio {small['grad_norm'] / large['grad_norm']:.6f}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--venv", type=pathlib.Path, required=True,
                        help="with torch==2.13.0, transformers==5.23.0, accelerate and sentencepiece")
    parser.add_argument("--corpus", type=pathlib.Path, default=ROOT / "data/debian_descriptions", help="train.tsv and spm.model")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--updates", type=int, default=4, help=f"that count, after {WARMUP} that do not")
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--sides", nargs="+", choices=SIDES, metavar="SIDE",
                        help=f"of {' '.join(SIDES)}; default: all, those with bf16 where the CPU has it")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "outputs/bench/train_seq2seq.json")
    args = parser.parse_args()
    if args.rounds < 1 or args.updates < 1:
        parser.error(f"--rounds, --updates: expected 1 or more, got {min(args.rounds, args.updates)}")
    if not (args.venv / "bin/python").exists():
        parser.error(f"--venv: {args.venv / 'bin/python'} is not there")
    if not (args.build / "bin/backplane").exists():
        parser.error(f"{args.build / 'bin/backplane'} is not there: scripts/build release backplane plugins/all")
    for name in ("train.tsv", "spm.model"):
        if not (args.corpus / name).exists():
            parser.error(f"{args.corpus / name} is not there: plugins/envs/summarization/build_corpus makes it")
    return args


def main():
    args = arguments()
    cores = sorted(os.sched_getaffinity(0))[-2:]
    if len(cores) < 2:
        sys.exit("wanted 2 cores to run on, this process may use one")
    flags = pathlib.Path("/proc/cpuinfo").read_text().split()
    bf16 = "avx512_bf16" in flags or "amx_bf16" in flags
    sides = args.sides or [side for side in SIDES if bf16 or "bf16" not in side]
    adopt_orphans()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        # A quarter of the sampler's megabatch: any args.updates consecutive updates then contain each of its lengths once.
        write_data(folder, args.corpus / "train.tsv", args.corpus / "spm.model", 4 * GROUP * args.updates)
        runner = Runner(folder, args.build, args.venv / "bin/python", cores, args.dropout)
        versions = runner.peer({"program": "prepare", "dropout": args.dropout})
        began = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        runs = measured(args, runner, sides)
        need_same(runs, args.dropout)
        norms = first_norms(runner)
    rows, found = [summary(runs, side) for side in sides], ratios(runs)
    differences = loss_differences(runs) if args.dropout == 0 else {}
    print(f"BART of {versions['parameters']:,} parameters, torch {versions['torch']}, transformers {versions['transformers']}, dropout "
          f"{args.dropout}; {args.rounds} rounds in turn of {args.updates} updates after {WARMUP}\n")
    print_tables(rows, found, differences, norms)
    if any(row["over_all"] for row in found):
        print(f"~ other programs took more than {DISTURBED:.0%} of the machine's CPU time in a run of every pair")
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps({"schema": 1, "began": began, "versions": versions, "dropout": args.dropout, "warmup": WARMUP,
                                    "sides": rows, "ratios": found, "loss_differences": differences, "first_update": norms, "runs": runs},
                                   indent=1) + "\n")
    print(f"runs: {args.out}")


if __name__ == "__main__":
    main()
