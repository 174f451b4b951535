#!/usr/bin/env python3
"""Writing texts with a small trained BART: evaluations of `backplane run` and transformers' `generate` in batches, in turn.

  bench/peers/generate_seq2seq.py --venv VENV --corpus DIR [--rounds 3] [--texts 96] [--updates 60]

DIR is the output of plugins/envs/summarization/build_corpus. Ours first trains the model for --updates updates. Prints a table of texts
per second; ends with an error if the two sides wrote texts of different lengths.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))
from seq2seq_runs import GROUP, Runner, facts, write_data  # noqa: E402
from measured_run import adopt_orphans  # noqa: E402

DISTURBED = 0.05  # of the machine's CPU time, as in scripts/bench
BATCH = 8
BARS = {1: 1.3, 2: 2.0}  # cores -> required multiple of the peer's speed


def experiment(runner, **sections):
    data = {"plugin": "summarization", "options": {"data": str(runner.folder / "rows.tsv"), "tokenizer": str(runner.folder / "spm.model"),
                                                   "max_source_length": 128, "max_target_length": 32}}
    return {"experiment": "generate_seq2seq", "env": data, "monitors": [], **sections}


def backplane(runner, cores, document):
    out = runner.folder / f"ours-{next(runner.numbers)}"
    config = out.with_suffix(".yaml")
    config.write_text(json.dumps(document))  # JSON is YAML
    run = runner.measured([runner.build / "bin/backplane", "run", config, "--out", out, "--quiet"], cores, 1)
    return run, next(out.glob("trials/*/attempt-1"))


def train(runner, updates):
    learner = {"plugin": "seq2seq", "options": {"model_name_or_path": str(runner.folder / "model"), "effective_batch_size": GROUP,
                                                "learning_rate": 1e-3, "lr_scheduler_type": "constant",
                                                "save_pretrained": "trained"}}
    _, attempt = backplane(runner, 2, experiment(runner, learner=learner, budget={"iterations": updates}, evaluation={"episodes": 0}))
    shutil.copytree(next(attempt.parent.rglob("trained")), runner.folder / "trained")


def ours(runner, texts, beams, cores):
    """Evaluates before the first update; the result is in line 0 of the trial's metrics."""
    learner = {"plugin": "seq2seq", "options": {"model_name_or_path": str(runner.folder / "trained"), "effective_batch_size": 1,
                                                "num_beams": beams, "per_device_eval_batch_size": BATCH}}
    run, attempt = backplane(runner, cores, experiment(
        runner, learner=learner, budget={"iterations": 1}, evaluation={"episodes": texts, "at_start": True},
        rollout={"num_env_runners": cores, "num_envs_per_env_runner": 1, "threads": cores}, resources={"cpus": cores}))
    line = json.loads((attempt / "metrics.jsonl").read_text().splitlines()[0])
    return {"wall_s": line["time"]["t"], "tokens": line["eval"]["metrics"]["ep/generated_tokens"]["mean"] * texts, **facts(run)}


def peer(runner, texts, beams, cores):
    settings = {"program": "generate", "model": "trained", "texts": texts, "batch": BATCH, "beams": beams, "threads": cores}
    found = runner.peer(settings, cores)
    return {"wall_s": found["wall_s"], "tokens": sum(map(len, found.pop("texts"))), **{key: found[key] for key in ("others",)}}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--venv", type=pathlib.Path, required=True, help="with torch==2.13.0, transformers and sentencepiece")
    parser.add_argument("--corpus", type=pathlib.Path, default=ROOT / "data/debian_descriptions", help="train.tsv and spm.model")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--texts", type=int, default=96)
    parser.add_argument("--updates", type=int, default=60, help="of training, before")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    return parser.parse_args()


def main():
    args = arguments()
    cores = sorted(os.sched_getaffinity(0))[-2:]
    if len(cores) < 2:
        sys.exit("wanted 2 cores to run on, this process may use one")
    adopt_orphans()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_data(folder, args.corpus / "train.tsv", args.corpus / "spm.model", max(args.texts, 8 * GROUP))
        runner = Runner(folder, args.build, args.venv / "bin/python", cores, 0.0)
        runner.peer({"program": "prepare", "dropout": 0.0})
        train(runner, args.updates)
        print(f"{'':24}{'ours':>12}{'generate':>12}{'ratio: median (range)':>28}")
        for beams in (1, 4):
            for n in (1, 2):
                pairs = []
                for turn in range(args.rounds):
                    order = (ours, peer) if turn % 2 == 0 else (peer, ours)
                    pair = {side: side(runner, args.texts, beams, n) for side in order}
                    if abs(pair[ours]["tokens"] - pair[peer]["tokens"]) > 0.5:
                        sys.exit(f"{beams} beams: ours wrote {pair[ours]['tokens']} tokens, generate {pair[peer]['tokens']}")
                    pairs.append(pair)
                quiet = [p for p in pairs if all(run["others"] <= DISTURBED for run in p.values())]
                counted = quiet or pairs
                ratios = [p[peer]["wall_s"] / p[ours]["wall_s"] for p in counted]
                rates = [args.texts / statistics.median(p[side]["wall_s"] for p in counted) for side in (ours, peer)]
                median = statistics.median(ratios)
                word = "disturbed" if not quiet else "reached" if median >= BARS[n] else "BELOW"
                name = f"{'greedy' if beams == 1 else f'{beams} beams'}, {n} core{'s' if n > 1 else ''}"
                print(f"{name:24}{rates[0]:10.1f}/s{rates[1]:10.1f}/s{median:14.2f} ({min(ratios):.2f} .. {max(ratios):.2f})"
                      f"  bar {BARS[n]}: {word}", flush=True)


if __name__ == "__main__":
    main()
