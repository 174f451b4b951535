"""Experiments whose objective is a Python function: ``backplane_rl.run(train, space={"lr": [1e-4, 1e-3]}, seeds=3)``."""
from __future__ import annotations

import inspect
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ._library import BackplaneError, home

try:
    import backplane_client
except ModuleNotFoundError:  # a wheel has it on the path, an installed tree does not
    sys.path.append(str(home / "share/backplane/client"))
    import backplane_client

checkpoint_dir, report = backplane_client.checkpoint_dir, backplane_client.report

_KINDS = ("uniform", "log_uniform", "int", "log_int", "choice")
_SEARCH = "search={'trials': 20, 'objective': {'metric': 'loss', 'direction': 'minimize'}}"


def place_of(function: Callable[..., Any]) -> tuple[Path, str]:
    """Returns the file and the name under which a trial finds the function."""
    name = getattr(function, "__name__", type(function).__name__)
    expected = f"run: expected a function at the top level of a file, got {name!r}"
    plain = inspect.unwrap(function)
    if not inspect.isfunction(plain):
        raise TypeError(f"{expected}, a {type(function).__name__}\nhint: call it from `def train(config):`; constants belong in `space`")
    if plain.__name__ == "<lambda>" or "." in plain.__qualname__:
        kind = "a lambda" if plain.__name__ == "<lambda>" else f"{plain.__qualname__!r}, defined within a function or a class"
        raise TypeError(f"{expected}, {kind}\nhint: move it to the top level; pass the values that it captures in `space`")
    module = sys.modules.get(function.__module__)
    file = getattr(module, "__file__", None)
    if not file or not os.path.isfile(plain.__code__.co_filename):
        raise TypeError(f"{expected} of a notebook or a prompt\nhint: write it to a file, in a notebook with `%%writefile train.py` as the "
                        f"first line of its cell, and use `from train import {name}`")
    if getattr(module, name, None) is not function:
        raise TypeError(f"{expected}, but {name!r} of {file} is a different object\nhint: give the function a name of its own")
    return Path(file).resolve(), name


def _plain(value: Any, path: str) -> Any:
    """A value of JSON."""
    if hasattr(value, "tolist"):  # NumPy's and PyTorch's
        value = value.tolist()
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, Mapping):
        return {_name(key, path): _plain(inner, f"{path}.{key}") for key, inner in value.items()}
    if isinstance(value, (list, tuple, range)):
        return [_plain(inner, path) for inner in value]
    is_exact = -(2**63) <= value < 2**63 if isinstance(value, int) else isinstance(value, float) and abs(value) < float("inf")
    if value is None or isinstance(value, str) or is_exact:
        return value
    raise TypeError(f"space: {path}: expected a finite number of at most 64 bits, text, flag, None, list, mapping or distribution, got {value!r:.80}")


def _name(key: Any, path: str) -> str:
    if not isinstance(key, str) or not key or "." in key:
        raise TypeError(f"space: {path}: expected names without dots, got {key!r}\nhint: nest mappings: {{'optimizer': {{'lr': 0.1}}}}")
    return key


def _bounds(kind: str, low: Any, high: Any, step: Any = None) -> dict[str, Any]:
    return {kind: [low, high], **({} if step in (None, 1) and kind.endswith("int") or step is None else {"step": step})}


def _distribution(value: Any, path: str) -> dict[str, Any] | None:
    """A distribution of sweep.search.space: as in a file, of Optuna or of Ray Tune. None: it is a value."""
    if isinstance(value, Mapping):
        is_one = any(isinstance(value.get(kind), (list, tuple)) for kind in _KINDS) and set(value) <= {*_KINDS, "step", "when"}
        return _plain(value, path) if is_one else None
    library, kind = type(value).__module__, type(value).__name__
    if library.startswith("optuna.distributions"):
        if kind == "CategoricalDistribution":
            return {"choice": _plain(value.choices, path)}
        name = ("log_" if value.log else "") + ("int" if kind == "IntDistribution" else "uniform")
        return _bounds(name, value.low, value.high, value.step)
    if not library.startswith("ray.tune"):
        return None
    if kind == "Categorical":
        return {"choice": _plain(value.categories, path)}
    sampler, step = value.get_sampler(), None
    if type(sampler).__name__ == "Quantized":
        sampler, step = sampler.get_sampler(), sampler.q
    law = type(sampler).__name__.lstrip("_")
    if kind not in ("Float", "Integer") or law not in ("Uniform", "LogUniform") or (step and law == "LogUniform"):
        raise TypeError(f"space: {path}: expected uniform, loguniform, quniform, randint, lograndint, choice or grid_search, got {value}")
    is_int = kind == "Integer"
    high = value.upper - 1 if is_int and not step else value.upper  # Tune leaves out the upper end, except of quantized numbers
    return _bounds(("log_" if law == "LogUniform" else "") + ("int" if is_int else "uniform"), value.lower, high, step)


class _Space:
    """The parts of a search space, by their paths in an experiment file."""

    def __init__(self, space: Mapping[str, Any]) -> None:
        self.axes: dict[str, list[Any]] = {}
        self.drawn: dict[str, dict[str, Any]] = {}
        self.options = self._read(space, "")

    def _read(self, space: Mapping[str, Any], above: str) -> dict[str, Any]:
        constants: dict[str, Any] = {}
        for key, value in space.items():
            name = above + _name(key, above or "the top level")
            path = f"learner.options.{name}"
            if isinstance(value, Mapping) and list(value) == ["grid_search"]:  # tune.grid_search
                value = list(value["grid_search"])
            if hasattr(value, "tolist"):
                value = value.tolist()
            distribution = _distribution(value, name)
            if distribution is not None:
                self.drawn[path] = distribution
            elif isinstance(value, (list, range)):
                self.axes[path] = _plain(value, name)
            elif isinstance(value, Mapping):
                constants[key] = self._read(value, name + ".")
            else:
                constants[key] = _plain(value, name)
        return constants


def experiment_of(function: Callable[..., Any], space: Mapping[str, Any], seeds: int | Sequence[int] | None,
                  search: Mapping[str, Any] | None) -> dict[str, Any]:
    """Returns the experiment file that runs the function."""
    file, name = place_of(function)
    parts = _Space({key: value for key, value in space.items() if key != "seed"})
    learner: dict[str, Any] = {"function": f"{file}:{name}", "options": parts.options}
    if sys.executable:
        learner["python"] = sys.executable
    experiment = {"experiment": name if name == file.stem else f"{file.stem}_{name}", "learner": learner}
    sweep: dict[str, Any] = {}
    if search is not None:
        sweep["search"] = {**search, "space": {**parts.drawn, **{path: {"choice": axis} for path, axis in parts.axes.items()}}}
    elif parts.drawn:
        names = ", ".join(path.removeprefix("learner.options.") for path in parts.drawn)
        raise TypeError(f"run: `space` has distributions ({names}), which a search draws from\nhint: add {_SEARCH}, or write lists")
    elif parts.axes:
        sweep["grid"] = parts.axes
    if "seed" in space:
        if seeds is not None:
            raise TypeError("run: expected `seeds` or a seed in `space`, got both")
        seed = _plain(space["seed"], "seed")
        seeds = seed if isinstance(seed, list) else [seed]
    if seeds is not None:
        sweep["seeds"] = {"n": seeds} if isinstance(seeds, int) else list(seeds)
    return {**experiment, "sweep": sweep} if sweep else experiment


def write_experiment(function: Callable[..., Any], space: Mapping[str, Any] | None, seeds: int | Sequence[int] | None,
                     search: Mapping[str, Any] | None, out: str | os.PathLike[str] | None) -> Path:
    """Writes the function's experiment file next to the results folder, so that `backplane run` can repeat and resume it."""
    loading = getattr(backplane_client, "_loading", None)
    if loading:
        raise BackplaneError(f"run() is called while a trial imports {loading}\nhint: put the call below `if __name__ == \"__main__\":`", -1)
    experiment = experiment_of(function, space or {}, seeds, search)
    folder = Path("outputs", experiment["experiment"]) if out is None else Path(out)
    if out is not None:
        experiment["output"] = {"dir": os.fspath(out)}
    file = folder.with_name(folder.name + ".yaml")
    file.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(experiment, indent=2, ensure_ascii=False, allow_nan=False)
    fresh = file.with_name(f".{file.name}.{os.getpid()}")
    fresh.write_text(f"# Written by backplane_rl.run({experiment['learner']['function'].rpartition(':')[2]}, ...), which replaces it.\n{text}\n")
    os.replace(fresh, file)
    return file
