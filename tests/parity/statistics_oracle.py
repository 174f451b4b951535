"""Judges samples with PyPI's scipy and rliable, as references for host/libs/statistics.

Reads one JSON object per line from stdin and answers each with one JSON line on stdout; "error" holds a message. Ends when stdin ends.

  {"do": "samples", "seed": 1, "count": 100}  -> {"samples": [{"a": [..], "b": [..], FIGURE: number or list, ..}]}
      Samples of 2 to 7 and 2 to 9 scores, every third pair of one size and every fifth with ties. FIGURES: see judge() below.
  {"do": "tasks", "seed": 1, "count": 20}  -> {"samples": [{"a": [[..], ..], "b": [[..], ..], FIGURE: number or list, ..}]}
      2 to 5 tasks, each with equally many scores per arm (rliable needs a matrix).
  {"do": "arrivals", "seed": 1, "count": 40}  -> {"samples": [{"a": [[time, reached], ..], "b": .., FIGURE: number, ..}]}
      2 to 6 times each, censored at a budget and, in every fourth pair, before it. z: SciPy's log-rank statistic.
  {"do": "bootstrap", "strata": [[..], [..]], "repeats": 50000}  -> {"iqm": [low, high], "difference": [low, high]}
      Intervals of the first stratum's interquartile mean, and of the first's minus the second's.
"""

import itertools
import json
import sys

import numpy as np
import rliable.metrics
from scipy import stats


def difference(x, y, axis=-1):
    return np.mean(x, axis=axis) - np.mean(y, axis=axis)


def column(scores):
    """rliable wants runs x tasks."""
    return np.array(scores, float).reshape(-1, 1)


def permutation(a, b, kind):
    test = stats.permutation_test((a, b), difference, permutation_type=kind, n_resamples=np.inf, alternative="two-sided", vectorized=True)
    # SciPy's own p doubles the smaller tail; this is the share of magnitudes. Scores far from zero round by 1e-16 of their size.
    rounding = 1e-14 * max(np.abs(a).max(), np.abs(b).max())
    return float(np.mean(np.abs(test.null_distribution) >= abs(test.statistic) * (1 - 1e-12) - rounding))


def judge(a, b, margin):
    a, b = np.array(a), np.array(b)
    welch = stats.ttest_ind(a, b, equal_var=False)
    interval = welch.confidence_interval(0.95)
    narrow = welch.confidence_interval(0.90)
    tost = max(stats.ttest_ind(a + margin, b, equal_var=False, alternative="greater").pvalue,
               stats.ttest_ind(a - margin, b, equal_var=False, alternative="less").pvalue)
    out = {
        "welch": [welch.statistic, welch.df, welch.pvalue, interval.low, interval.high],
        "tost": [tost, narrow.low, narrow.high],
        "unpaired": permutation(a, b, "independent"),
        "iqm": float(rliable.metrics.aggregate_iqm(column(a))),
        "improvement": float(rliable.metrics.probability_of_improvement(column(a), column(b))),
        "gap": float(rliable.metrics.aggregate_optimality_gap(column(a), gamma=margin)),
        "quantiles": [float(np.quantile(b, q)) for q in (0.0, 0.025, 0.3, 0.5, 1.0)],
    }
    if len(a) == len(b):
        paired = stats.ttest_rel(a, b)
        out["paired"] = float(paired.pvalue)
    return out


def samples(request):
    rng = np.random.default_rng(request["seed"])
    out = []
    for i in range(request["count"]):
        n = int(rng.integers(2, 8))
        m = n if i % 3 == 0 else int(rng.integers(2, 10))
        scale, shift = 10.0 ** rng.integers(-3, 4), rng.normal() * 10.0 ** rng.integers(0, 6)
        a, b = shift + scale * rng.normal(size=n), shift + scale * (rng.normal(size=m) * 2 + 0.7)
        if i % 5 == 0:
            a, b = np.round(a / scale) * scale, np.round(b / scale) * scale
        if np.ptp(a) == 0 or np.ptp(b) == 0 or (len(a) == len(b) and np.ptp(a - b) == 0):
            continue  # without a spread, SciPy warns and returns nan
        margin = float(abs(rng.normal())) * scale * 2
        out.append({"a": a.tolist(), "b": b.tolist(), "margin": margin, **judge(a, b, margin)})
    return {"samples": out}


def tasks(request):
    rng = np.random.default_rng(request["seed"])
    out = []
    for _ in range(request["count"]):
        runs, count = int(rng.integers(3, 9)), int(rng.integers(2, 6))
        a, b = rng.normal(0.4, 0.3, (runs, count)), rng.normal(0.6, 0.3, (runs, count)) + rng.normal(0, 0.2, count)
        thresholds = np.linspace(-0.5, 1.5, 21)
        out.append({
            "a": a.T.tolist(), "b": b.T.tolist(), "thresholds": thresholds.tolist(),
            "iqm": float(rliable.metrics.aggregate_iqm(a)),
            "gap": float(rliable.metrics.aggregate_optimality_gap(a, gamma=1.0)),
            "improvement": float(rliable.metrics.probability_of_improvement(b, a)),
            # rliable.library.run_score_deviation, whose module needs packages that are not installed.
            "profile": [float(np.mean(a > tau)) for tau in thresholds],
        })
    return {"samples": out}


def censored(arm):
    return stats.CensoredData(uncensored=[time for time, reached in arm if reached], right=[time for time, reached in arm if not reached])


def excess(a, b):
    """Observed less expected events of a, from SciPy's statistic and the hypergeometric variance."""
    both, variance = a + b, 0.0
    for time in sorted({time for time, reached in both if reached}):
        risk, of_a = sum(t >= time for t, _ in both), sum(t >= time for t, _ in a)
        events = sum(t == time and bool(reached) for t, reached in both)
        if risk > 1:
            variance += events * (of_a / risk) * (1 - of_a / risk) * (risk - events) / (risk - 1)
    return 0.0 if variance == 0 else float(stats.logrank(censored(a), censored(b)).statistic) * variance**0.5


def area(arm, horizon):
    curve = stats.ecdf(censored(arm)).sf
    ends = [q for q in curve.quantiles if q < horizon]
    heights = [1.0, *curve.probabilities[: len(ends)]]
    return float(sum(height * (end - begin) for height, begin, end in zip(heights, [0.0, *ends], [*ends, horizon])))


def arrivals(request):
    rng = np.random.default_rng(request["seed"])
    out = []
    while len(out) < request["count"]:
        def arm(n, scale):
            times = np.minimum(np.ceil(rng.exponential(scale, n)), 20)
            early = rng.uniform(size=n) < (0.3 if len(out) % 4 == 0 else 0)
            return [[float(t), bool(t < 20 and not e)] for t, e in zip(times, early)]

        a, b = arm(int(rng.integers(2, 7)), 10), arm(int(rng.integers(2, 7)), 18)
        if not any(reached for _, reached in a + b):
            continue
        both, n = a + b, len(a)
        chosen = [set(c) for c in itertools.combinations(range(len(both)), n)]
        deals = [excess([both[i] for i in c], [both[i] for i in range(len(both)) if i not in c]) for c in chosen]
        seen = abs(deals[0])  # the first choice is a itself
        horizon = min(max(t for t, _ in side) for side in (a, b))
        out.append({"a": a, "b": b, "excess": deals[0], "p": float(np.mean(np.abs(deals) >= seen - 1e-9)), "horizon": horizon,
                    "area": area(a, horizon)})
    return {"samples": out}


def bootstrap(request):
    def iqm(x, axis=-1):
        return stats.trim_mean(x, 0.25, axis=axis)

    def less(x, y, axis=-1):
        return iqm(x, axis) - iqm(y, axis)

    def interval(data, figure):
        found = stats.bootstrap(data, figure, n_resamples=request["repeats"], method="percentile", rng=np.random.default_rng(1))
        return [float(found.confidence_interval.low), float(found.confidence_interval.high)]

    first, second = (np.array(stratum, float) for stratum in request["strata"])
    return {"iqm": interval((first,), iqm), "difference": interval((first, second), less)}


def main():
    for line in sys.stdin:
        try:
            request = json.loads(line)
            answer = {"samples": samples, "tasks": tasks, "arrivals": arrivals, "bootstrap": bootstrap}[request["do"]](request)
        except Exception as error:  # the test prints it
            answer = {"error": "%s: %s" % (type(error).__name__, error)}
        print(json.dumps(answer), flush=True)


main()
