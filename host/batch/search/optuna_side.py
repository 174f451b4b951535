"""Answers a search: reads JSON lines from one descriptor and writes a reply per line to the other. Keeps the study in memory.

usage: optuna_side.py REQUESTS_FD REPLIES_FD    (which may be the same)

record/event.hpp (SearchMessage) describes the requests. The same messages in the same order get the same replies: every `ask`
creates a new sampler, whose seed is a hash of the search's seed and the suggestion's number.
"""

import hashlib
import importlib.util
import json
import os
import sys
import warnings


def load():
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
    return optuna


# Packages that a method needs in addition to optuna.
NEEDS = {"gp": ["scipy", "torch"], "cmaes": ["cmaes"], "qmc": ["scipy"]}


def labels_of(choices):
    """Names of choices. Optuna accepts None, bool, number or text, and treats equal ones as the same: 0, 0.0 and False."""
    texts = [json.dumps(choice, sort_keys=True) for choice in choices]
    labels = [text if isinstance(choice, (dict, list)) else choice for choice, text in zip(choices, texts)]
    return labels if len(set(labels)) == len(set(texts)) else texts


class Search:
    def __init__(self, optuna, request):
        self.optuna = optuna
        self.method, self.seed = request["method"], request["seed"]
        for needed in NEEDS.get(self.method, []):
            importlib.import_module(needed)  # fails now instead of at the first suggestion
        self.choices = {path: d["choice"] for path, d in request["space"].items() if "choice" in d}
        self.space = {path: self.distribution(d) for path, d in sorted(request["space"].items())}
        self.trials = {}
        self.study = optuna.create_study(
            study_name=request["name"],  # Hyperband chooses a trial's bracket by it
            direction=request["direction"],
            sampler=optuna.samplers.RandomSampler(seed=0),  # unused: `ask` sets its own
            pruner=self.pruner(request.get("pruner") or {"type": "none"}),
        )

    def distribution(self, d):
        kinds = self.optuna.distributions
        step = d.get("step")
        if "choice" in d:
            return kinds.CategoricalDistribution(labels_of(d["choice"]))
        if "int" in d:
            return kinds.IntDistribution(int(d["int"][0]), int(d["int"][1]), step=int(step or 1))
        if "log_int" in d:
            return kinds.IntDistribution(int(d["log_int"][0]), int(d["log_int"][1]), log=True)
        if "log_uniform" in d:
            return kinds.FloatDistribution(*map(float, d["log_uniform"]), log=True)
        return kinds.FloatDistribution(*map(float, d["uniform"]), step=step)

    def pruner(self, p):
        pruners, kind = self.optuna.pruners, p["type"]
        if kind == "asha":
            return pruners.SuccessiveHalvingPruner(
                min_resource=p.get("min_resource", 1), reduction_factor=p.get("reduction", 4)
            )
        if kind == "hyperband":
            return pruners.HyperbandPruner(
                min_resource=p.get("min_resource", 1),
                max_resource=p.get("max_resource", "auto"),
                reduction_factor=p.get("reduction", 3),
            )
        if kind == "median":
            return pruners.MedianPruner(
                n_startup_trials=p.get("startup_trials", 5), n_warmup_steps=p.get("warmup_steps", 0)
            )
        return pruners.NopPruner()

    def seed_of(self, number):
        return int.from_bytes(hashlib.sha256(f"{self.seed}/{number}".encode()).digest()[:4], "big")

    def sampler(self, number):
        samplers, seed = self.optuna.samplers, self.seed_of(number)
        independent = samplers.RandomSampler(seed=seed)
        if self.method == "tpe":
            return samplers.TPESampler(seed=seed, constant_liar=True)
        if self.method == "gp":
            return samplers.GPSampler(seed=seed, independent_sampler=independent)
        if self.method == "cmaes":
            return samplers.CmaEsSampler(seed=seed, independent_sampler=independent)
        if self.method == "qmc":  # all numbers share one sequence, so its seed stays
            return samplers.QMCSampler(
                seed=self.seed_of("sequence"),
                scramble=True,
                independent_sampler=independent,
                warn_independent_sampling=False,
                warn_asynchronous_seeding=False,
            )
        return independent

    def ask(self, _):
        number = len(self.study.get_trials(deepcopy=False))
        self.study.sampler = self.sampler(number)
        trial = self.study.ask(self.space)
        self.trials[trial.number] = trial
        return {"number": trial.number, "params": self.params_of(trial.params)}

    def params_of(self, params):
        values = dict(params)
        for path, choices in self.choices.items():
            values[path] = choices[int(self.space[path].to_internal_repr(values[path]))]
        return values

    def label(self, path, value):
        texts = [json.dumps(choice, sort_keys=True) for choice in self.choices.get(path, [])]
        return self.space[path].choices[texts.index(json.dumps(value, sort_keys=True))] if texts else value

    def trial(self, number):
        if number not in self.trials:
            raise KeyError(f"there is no suggestion number {number}")
        return self.trials[number]

    def report(self, request):
        trial = self.trial(request["number"])
        trial.report(request["value"], request["step"])
        return {"prune": bool(trial.should_prune())}

    def tell(self, request):
        states = self.optuna.trial.TrialState
        state = {"complete": states.COMPLETE, "pruned": states.PRUNED, "fail": states.FAIL}[request["state"]]
        values = request.get("value") if state == states.COMPLETE else None
        self.study.tell(self.trial(request["number"]), values=values, state=state)
        return {}

    def adopt(self, request):
        """Adds a suggestion of an earlier search unchanged; it gets the next number."""
        states = self.optuna.trial.TrialState
        state = {"complete": states.COMPLETE, "pruned": states.PRUNED, "fail": states.FAIL, "": states.RUNNING}[request["state"]]
        params = {path: self.label(path, value) for path, value in request["params"].items()}
        self.study.add_trial(
            self.optuna.trial.create_trial(
                state=state,
                params=params,
                distributions={path: self.space[path] for path in params},
                value=request.get("value") if state == states.COMPLETE else None,
                intermediate_values={step: value for step, value in request.get("values", [])},
            )
        )
        frozen = self.study.get_trials(deepcopy=False)[-1]
        self.trials[frozen.number] = self.optuna.trial.Trial(self.study, frozen._trial_id)
        return {"number": frozen.number}


def lacks(method):
    """Missing packages. Loads none, because importing Optuna takes a second."""
    return [name for name in ["optuna", *NEEDS.get(method, [])] if importlib.util.find_spec(name) is None]


def main():
    if sys.argv[1] == "--lacks":
        return print(" ".join(lacks(sys.argv[2])))
    requests, replies = os.fdopen(int(sys.argv[1]), "r"), os.fdopen(os.dup(int(sys.argv[2])), "w")
    search = None
    for line in requests:
        request = json.loads(line)
        try:
            if request["op"] == "open":
                optuna = load()
                search = Search(optuna, request)
                reply = {"version": optuna.__version__}
            else:
                reply = getattr(search, request["op"])(request)
        except ImportError as error:
            reply = {"error": str(error), "missing": error.name or "optuna"}
        except Exception as error:  # the host reports any error
            reply = {"error": f"{type(error).__name__}: {error}"}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


main()
