"""A search's results folder without a search: its files as the supervisor would leave them, the scores by a formula.

  made_search.py FOLDER [TRIALS [OPTIONS]]
"""
import json
import math
import pathlib
import random
import sys

BEGAN = 1_760_000_000.0     # seconds since 1970
ITERATIONS = 20             # of a trial that is not pruned
# Options, in the order in which they are taken, and how much each counts.
SPACE = {
    "learner.options.lr": {"log_uniform": [1e-5, 1e-2]},
    "learner.options.num_epochs": {"int": [1, 10]},
    "learner": {"choice": [{"plugin": "ppo"}, {"plugin": "ars"}]},
    "learner.options.gamma": {"uniform": [0.9, 0.999]},
    "learner.options.hidden_sizes": {"choice": [[64], [64, 64], [256, 256]]},
    "rollout.num_envs_per_env_runner": {"int": [2, 16], "step": 2},
    "learner.options.clip_ratio": {"uniform": [0.1, 0.4], "step": 0.05},
    "learner.options.minibatch_size": {"log_int": [32, 1024]},
}


def score(params):
    """At most 500. The learning rate counts most, then the learner, then the epochs; the others hardly."""
    value = 500.0
    if "learner.options.lr" in params:
        value -= 120 * (math.log10(params["learner.options.lr"]) + 3.2) ** 2
    if params.get("learner") == {"plugin": "ars"}:
        value -= 90
    if "learner.options.num_epochs" in params:
        value -= 2 * abs(params["learner.options.num_epochs"] - 7) ** 1.5
    return value


def draw(distribution, rng):
    (kind, said), = ((key, value) for key, value in distribution.items() if key != "step")
    if kind == "choice":
        return rng.choice(said)
    low, high = said
    if kind.startswith("log_"):
        value = math.exp(rng.uniform(math.log(low), math.log(high)))
        return round(value) if kind == "log_int" else value
    step = distribution.get("step", 1 if kind == "int" else None)
    if step is None:
        return rng.uniform(low, high)
    value = low + step * rng.randrange(int(round((high - low) / step)) + 1)
    return value if kind == "int" else round(value, 9)


class Maker:
    def __init__(self, out, options, direction="maximize", seed=1):
        self.out, self.rng, self.seq, self.t = pathlib.Path(out), random.Random(seed), 0, BEGAN
        self.space = dict(list(SPACE.items())[:options])
        self.direction = direction
        self.events, self.plan = [], []

    def event(self, kind, trial_id=None, attempt=None, **fields):
        self.seq += 1
        of_trial = {"trial_id": trial_id, "attempt": attempt} if trial_id else {}
        self.events.append({"v": 1, "seq": self.seq, "t": self.t, "boot_id": "made", "kind": kind, **of_trial, **fields})

    def said(self, request, reply):
        self.event("search.message", request=request, reply=reply)

    def config(self, params, seed):
        config = {"experiment": "made", "seed": seed, "env": {"plugin": "cartpole"}, "learner": {"plugin": "ppo", "options": {}},
                  "rollout": {"num_env_runners": 1, "num_envs_per_env_runner": 2}, "budget": {"iterations": 2}}
        for path, value in sorted(params.items()):
            place, *rest = config, *path.split(".")
            for key in rest[:-1]:
                place = place.setdefault(key, {})
            place[rest[-1]] = {**place.get(rest[-1], {}), **value} if isinstance(value, dict) else value
        return config

    def trial(self, number, params, seed, state, values, wall_s, confirms=False, why=""):
        """Writes the files of one trial; `values` of the objective by iteration."""
        point, trial_id = f"point{number}", f"{number:03x}{'c' if confirms else 'a'}{seed:04x}"
        self.plan.append({"trial_id": trial_id, "point_id": point, "name": f"n{number}", "seed": seed, "values": params, "files": {},
                          **({"number": number}), **({"confirms": True} if confirms else {})})
        if state == "PLANNED":
            return trial_id
        self.event("attempt.start", trial_id, 1, cores=[0], gpus=[], resumed=False)
        attempt = self.out / "trials" / trial_id / "attempt-1"
        attempt.mkdir(parents=True)
        (attempt.parent / "trial.json").write_text(json.dumps({"schema": 1, "config": self.config(params, seed)}))
        lines = [{"iteration": i, "step": 1000 * i, "episodes": i, "return": {"mean": value, "n": 4}, "metrics": {},
                  "evaluation": {"return": {"mean": value, "sd": 5, "se": 2.5, "n": 4}, "metrics": {}},
                  "time": {"t": 0.1 * i, "iteration_s": 0.1, "sps": 10000.0, "sampling_sps": 20000.0}} for i, value in values]
        (attempt / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        if state == "RUNNING":
            return trial_id
        last = {"return": {"mean": values[-1][1], "sd": 5, "se": 2.5, "n": 4}, "metrics": {}} if values else {}
        if state != "FAILED":
            (attempt / "result.json").write_text(json.dumps(
                {"schema": 1, "state": state, "outcome": "pruned" if state == "PRUNED" else "ok", "sps": 10000, "iterations": len(values),
                 "env_steps": 1000 * len(values), "episodes": 4, "wall_s": wall_s, "trial_s": wall_s, **last, "evaluation": last}))
        self.t += wall_s
        self.event("attempt.end", trial_id, 1, state=state, outcome={"PRUNED": "pruned", "FAILED": "nan"}.get(state, "ok"), why=why,
                   wall_s=wall_s, peak_rss_bytes=200 << 20)
        return trial_id

    def suggest(self, number, state, noise=8.0):
        """A suggestion with one seed, recorded when it ends."""
        params = {path: draw(one, self.rng) for path, one in self.space.items()}
        self.said({"op": "ask"}, {"number": number, "params": params})
        self.event("search.point", number=number, point_id=f"point{number}")
        best = score(params) + self.rng.gauss(0, noise)
        sign = 1 if self.direction == "maximize" else -1
        count = {"COMPLETED": ITERATIONS, "PRUNED": self.rng.randint(3, 9), "RUNNING": 6, "FAILED": 4, "PLANNED": 0}[state]
        values = [(i, sign * (best if i == ITERATIONS else best * (1 - math.exp(-i / 6)) + self.rng.gauss(0, 4)))
                  for i in range(1, count + 1)]
        for step, value in values:
            self.said({"op": "report", "number": number, "step": step, "value": value},
                      {"prune": state == "PRUNED" and step == count})
        self.trial(number, params, 0, state, values, 1.5 * count + 2, why="return was not finite" if state == "FAILED" else "")
        told = {"COMPLETED": "complete", "PRUNED": "pruned", "FAILED": "fail"}.get(state)
        if told:
            self.said({"op": "tell", "number": number, "state": told, **({"value": values[-1][1]} if told == "complete" else {})}, {})
        return values[-1][1] if told == "complete" else None, params

    def write(self, why_ended="done"):
        self.event("session.end", why=why_ended) if why_ended else None
        (self.out / "plan.jsonl").write_text("".join(json.dumps(line) + "\n" for line in self.plan))
        (self.out / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in self.events))
        (self.out / "run.json").write_text(json.dumps({"schema": 1, "host": {"hostname": "here"}, "versions": {"torch": "2"}}))
        (self.out / "config.yaml").write_text(json.dumps({**self.config({}, 0), "report": {"kind": "search"}}))


def make(out, trials=40, options=4, running=0, confirm=3, confirm_seeds=5, direction="maximize", why_ended="done", seed=1):
    """Returns the Maker. Every fifth trial is pruned, every 13th fails, and the last `running` trials are unfinished."""
    out = pathlib.Path(out)
    out.mkdir(parents=True)
    maker = Maker(out, options, direction, seed)
    maker.event("session.start", hostname="here", pid=1, pid_start=1, trials=0)
    maker.said({"op": "open", "name": "made", "method": "tpe", "seed": 7, "direction": direction, "metric": "eval/return",
                "space": maker.space, "pruner": {"type": "asha", "min_resource": 1, "reduction": 4}}, {"version": "5.0.0"})
    scores = {}
    for number in range(trials):
        state = "RUNNING" if number >= trials - running else "FAILED" if number % 13 == 6 else "PRUNED" if number % 5 == 2 else "COMPLETED"
        value, params = maker.suggest(number, state)
        if value is not None:
            scores[number] = (value, params)
    best = sorted(scores, key=lambda number: scores[number][0], reverse=direction == "maximize")
    sign = 1 if direction == "maximize" else -1
    for number in best[:confirm]:
        params = scores[number][1]
        for k in range(confirm_seeds):
            values = [(i, sign * (score(params) + maker.rng.gauss(0, 8))) for i in range(1, ITERATIONS + 1)]
            maker.trial(number, params, 1000 + k, "COMPLETED", values, 30.0, confirms=True)
    maker.write(why_ended)
    return maker


if __name__ == "__main__":
    make(sys.argv[1], *map(int, sys.argv[2:]))
