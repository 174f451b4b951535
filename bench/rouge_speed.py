#!/usr/bin/env python3
"""Scores the same pairs of texts with PyPI's rouge-score and with plugins/common/rouge, in turn. Prints both speeds and the ratio.

  .venv-oracle/bin/python bench/rouge_speed.py [--rounds N] [--seconds S] [--build DIR]

ROUGE-1, 2 and L with the stemmer; ours also computes Lsum. The texts are descriptions of this machine's Debian packages: the first
sentence of the long one with the short one, and halves of long ones with the whole. Times are CPU time of one thread. The means of
both sides must agree. Needs scripts/test (which makes .venv-oracle) and scripts/build release bench_rouge.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile
import time

from rouge_score.rouge_scorer import RougeScorer

ROOT = pathlib.Path(__file__).resolve().parent.parent
TYPES = ["rouge1", "rouge2", "rougeL"]


def descriptions():
    """(short, long) descriptions of installed packages whose long one has at least 8 words."""
    shown = subprocess.run(["dpkg-query", "--show", "--showformat", "${Description}\f"], check=True, capture_output=True, text=True)
    for text in shown.stdout.split("\f"):
        short, _, body = text.partition("\n")
        long = " ".join("" if line == " ." else line for line in body.split("\n"))
        if len(long.split()) >= 8:
            yield short, " ".join(long.split())


def workloads():
    found = sorted(set(descriptions()))
    return {
        "sentence": [(long.partition(". ")[0], short) for short, long in found],
        "half": [(long[: len(long) // 2], long) for _, long in found],
    }


def theirs(pairs, seconds):
    scorer, scored, f = RougeScorer(TYPES, use_stemmer=True), 0, dict.fromkeys(TYPES, 0.0)
    start = time.process_time()
    while time.process_time() - start < seconds or scored < len(pairs):
        prediction, reference = pairs[scored % len(pairs)]
        scores = scorer.score(reference, prediction)
        if scored < len(pairs):
            for name in TYPES:
                f[name] += scores[name].fmeasure / len(pairs)
        scored += 1
    return scored / (time.process_time() - start), [f[name] for name in TYPES]


def ours(build, file, seconds):
    done = subprocess.run([build / "bench/bench_rouge", file, str(seconds)], check=True, capture_output=True, text=True)
    answer = json.loads(done.stdout)
    return answer["pairs_per_s"], answer["f"][: len(TYPES)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1, help="CPU time of each side in a round, at least all pairs once")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    args = parser.parse_args()
    figures = {}
    for name, pairs in workloads().items():
        words = [statistics.median(len(pair[side].split()) for pair in pairs) for side in (0, 1)]
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(pairs, file)
            file.flush()
            rounds = []
            for _ in range(args.rounds):
                (a, f), (b, g) = theirs(pairs, args.seconds), ours(args.build, file.name, args.seconds)
                if max(abs(x - y) for x, y in zip(f, g)) > 1e-9:
                    raise SystemExit(f"rouge_speed: the means of F differ on '{name}': theirs {f}, ours {g}")
                rounds.append((a, b, b / a))
        a, b, ratio = zip(*rounds)
        print(
            f"{name:9} {len(pairs)} pairs, median {words[0]:g} and {words[1]:g} words:  rouge-score {statistics.median(a):,.0f} pairs/s, "
            f"ours {statistics.median(b):,.0f}, ratio {statistics.median(ratio):.0f} ({min(ratio):.0f} to {max(ratio):.0f})"
        )
        figures[f"rouge/{name}"] = {"median": statistics.median(ratio), "min": min(ratio), "max": max(ratio), "n": args.rounds}
    print(json.dumps({"figures": figures}))


if __name__ == "__main__":
    main()
