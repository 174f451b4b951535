"""Drives Optuna as its documentation does, from a batch's records, and compares the suggestions.

usage: optuna_oracle.py OUT          with a Python that has Optuna

Reads only OUT/events.jsonl. Prints how many suggestions and pruning decisions equal Optuna's; exit 1 unless all do.
"""

import hashlib
import json
import pathlib
import sys
import warnings

import optuna
from optuna import distributions as kinds

optuna.logging.set_verbosity(optuna.logging.ERROR)
warnings.simplefilter("ignore")


def distribution(said):
    step = said.get("step")
    (kind, bounds), *_ = ((k, v) for k, v in said.items() if k != "step")
    if kind == "choice":
        return kinds.CategoricalDistribution([c if not isinstance(c, (dict, list)) else json.dumps(c, sort_keys=True) for c in bounds])
    whole, log = kind.endswith("int"), kind.startswith("log_")
    if whole:
        return kinds.IntDistribution(*map(int, bounds), log=log, step=1 if log else int(step or 1))
    return kinds.FloatDistribution(*bounds, log=log, step=None if log else step)


def sampler(method, seed, number):
    def hashed(of):
        return int(hashlib.sha256(f"{seed}/{of}".encode()).hexdigest()[:8], 16)

    alone = optuna.samplers.RandomSampler(seed=hashed(number))
    return {
        "tpe": lambda: optuna.samplers.TPESampler(seed=hashed(number), constant_liar=True),
        "gp": lambda: optuna.samplers.GPSampler(seed=hashed(number), independent_sampler=alone),
        "cmaes": lambda: optuna.samplers.CmaEsSampler(seed=hashed(number), independent_sampler=alone),
        "qmc": lambda: optuna.samplers.QMCSampler(seed=hashed("sequence"), scramble=True, independent_sampler=alone),
        "random": lambda: alone,
    }[method]()


def pruner(said):
    p = optuna.pruners
    if said["type"] == "asha":
        return p.SuccessiveHalvingPruner(min_resource=said.get("min_resource", 1), reduction_factor=said.get("reduction", 4))
    if said["type"] == "hyperband":
        return p.HyperbandPruner(
            min_resource=said.get("min_resource", 1), max_resource=said.get("max_resource", "auto"), reduction_factor=said.get("reduction", 3)
        )
    if said["type"] == "median":
        return p.MedianPruner(n_startup_trials=said.get("startup_trials", 5), n_warmup_steps=said.get("warmup_steps", 0))
    return p.NopPruner()


def main():
    events = [json.loads(line) for line in (pathlib.Path(sys.argv[1]) / "events.jsonl").read_text().splitlines()]
    study, space, trials, method, seed = None, {}, {}, "", 0
    asked = same = reported = agreed = 0
    for event in events:
        if event["kind"] != "search.message":
            continue
        request, reply = event["request"], event["reply"]
        if request["op"] == "open":
            method, seed = request["method"], request["seed"]
            space = {path: distribution(said) for path, said in sorted(request["space"].items())}
            study = optuna.create_study(
                study_name=request["name"], direction=request["direction"], pruner=pruner(request["pruner"])
            )
        elif request["op"] == "ask":
            study.sampler = sampler(method, seed, asked)
            trial = study.ask(space)
            ours = {k: json.dumps(v, sort_keys=True) if isinstance(v, (dict, list)) else v for k, v in reply["params"].items()}
            asked, same = asked + 1, same + (trial.number == reply["number"] and trial.params == ours)
            trials[trial.number] = trial
        elif request["op"] == "report":
            trial = trials[request["number"]]
            trial.report(request["value"], request["step"])
            reported, agreed = reported + 1, agreed + (trial.should_prune() == reply["prune"])
        elif request["op"] == "tell":
            state = {"complete": optuna.trial.TrialState.COMPLETE, "pruned": optuna.trial.TrialState.PRUNED}.get(
                request["state"], optuna.trial.TrialState.FAIL
            )
            study.tell(trials[request["number"]], request.get("value"), state=state)
    print(f"{same} of {asked} suggestions and {agreed} of {reported} decisions to prune are Optuna's ({optuna.__version__})")
    sys.exit(1 if not asked or same < asked or agreed < reported else 0)


main()
