"""The better direction of metrics, by the words of their names, and the metric that decides."""
from __future__ import annotations

import re
from collections import Counter

from .model import Mistake, Run

UP = {"return", "returns", "reward", "rewards", "rew", "score", "scores", "accuracy", "acc", "success", "successes", "wins", "auc", "auroc", "f1", "bleu", "rouge",
      "rouge1", "rouge2", "rougel", "precision", "recall", "map", "iou", "psnr", "ssim", "fps", "sps", "throughput", "r2", "fitness"}
DOWN = {"loss", "losses", "error", "errors", "err", "mse", "mae", "rmse", "perplexity", "ppl", "time", "seconds", "latency", "duration", "runtime", "wer", "cer",
        "regret", "cost", "costs", "nll", "violations", "memory"}
NEITHER = {"length", "len", "std", "entropy", "lr", "steps", "timesteps", "epoch", "iterations", "episodes", "count", "variance", "kl"}
PLACES = {"train", "training", "val", "valid", "validation", "test", "eval", "mean", "avg", "average", "step", "epoch", "rate", "max", "min", "best", "final", "lifetime"}
# Names that decide if the user names none: those that come first.
DECIDING = ("eval/mean_reward", "eval/return", "evaluations/mean_reward", "eval/episodic_return", "charts/eval_return", "evaluation/return",
            "evaluation/env_runners/episode_return_mean", "evaluation/episode_reward_mean", "charts/episodic_return", "env_runners/episode_return_mean",
            "episode_return_mean", "episode_reward_mean", "rollout/ep_rew_mean", "monitor/return", "return", "episodic_return", "episode_return",
            "episode_reward", "reward", "score", "objective")
CLASSES = (("test",), ("eval", "val", "valid", "validation", "evaluation"), ())
KINDS = (UP & {"return", "returns", "reward", "rewards", "rew", "score", "scores"}, {"success", "wins"}, {"accuracy", "acc", "f1", "bleu", "rougel"}, {"loss", "nll"},
         {"error", "err", "rmse", "mse"})


def words(name: str) -> list[str]:
    return [word for word in re.split(r"[^0-9A-Za-z\u0080-\uffff]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", name).lower()) if word]


def direction(name: str) -> int:
    """1: up is better, -1: down, 0: unknown. The last word that has a direction decides: "eval/loss_mean" is a loss."""
    for part in reversed(name.split("/")):
        for word in reversed(words(part)):
            if word in UP or word in DOWN:
                return 1 if word in UP else -1
            if word in NEITHER:
                return 0
        if not set(words(part)) <= PLACES:
            return 0
    return 0


def deciding_metric(runs: list[Run]) -> str | None:
    """The known name that most runs have; absent: none has a known direction."""
    have = Counter(name for run in runs for name in run.curves)
    candidates = [name for name in have if direction(name) or any(run.directions.get(name) for run in runs)]
    if not candidates:
        return None

    def rank(name: str) -> tuple[int, int, int, int, str]:
        found = set(words(name))
        fixed = DECIDING.index(name) if name in DECIDING else len(DECIDING)
        kind = next((i for i, kind in enumerate(KINDS) if kind & found), len(KINDS))
        place = next((i for i, place in enumerate(CLASSES) if set(place) & found), len(CLASSES))
        return -have[name], fixed, kind, place, name

    return min(candidates, key=rank)


def choose_metric(runs: list[Run], asked: str | None, way: str | None, command: str) -> tuple[str | None, int]:
    """The metric that decides and its direction; raises Mistake with the line to paste if either is unknown."""
    names = sorted({name for run in runs for name in run.curves})
    if not names:
        return None, 0
    metric = asked.split("@")[0] if asked else deciding_metric(runs)
    listed = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    if metric is None:
        raise Mistake(f"expected a metric with a known direction, got {listed}\nhint: {command} --metric {names[0]} --direction up")
    if metric not in names:
        raise Mistake(f"--metric: expected a metric of these runs, got '{metric}'; they have {listed}")
    own = next((run.directions[metric] for run in runs if run.directions.get(metric)), 0)
    known = {"up": 1, "down": -1}.get(way or "", 0) or own or direction(metric)
    if not known:
        raise Mistake(f"the better direction of '{metric}' is unknown\nhint: {command} --metric {metric} --direction up")
    return metric, known
