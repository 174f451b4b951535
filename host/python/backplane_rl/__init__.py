"""Backplane from Python: its envs in your trainer, and its experiments.

    import backplane_rl, gymnasium

    envs = gymnasium.make_vec("backplane/Ant-v5", num_envs=64, threads=2)   # or backplane_rl.make_vec("ant", 64, threads=2)
    env = gymnasium.make("backplane/CartPole-v1")

``backplane_rl.sb3``, ``backplane_rl.pettingzoo`` and ``backplane_rl.gymnasium`` are the adapters; each imports its trainer's package at
first use. ``backplane_rl.run`` runs an experiment or a function, in which ``backplane_rl.report`` reports metrics; ``backplane_rl.results`` and ``backplane_rl.read_csv`` read its files, ``backplane_rl.show`` shows its report. ``backplane_rl.read_runs`` reads runs of other tools. ``backplane_rl.load_policy`` loads a trained policy.
"""
from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

from ._library import BackplaneError, ffi, lib
from .core import EmbeddedEnv, envs
from .functions import checkpoint_dir, report
from .imports import Runs, read_runs
from .policies import Policy, load_policy
from .results import Results, read_csv, results, show
from .runs import run

if TYPE_CHECKING:
    from . import gymnasium, pettingzoo, sb3

__version__: str = ffi.string(lib.bp_embed_version()).decode()
__all__ = ["BackplaneError", "EmbeddedEnv", "Policy", "Results", "Runs", "VectorEnv", "checkpoint_dir", "envs", "gymnasium", "load_policy", "make_vec",
           "pettingzoo", "read_csv", "read_runs", "report", "results", "run", "sb3", "show"]


def make_vec(id: str, num_envs: int = 1, **arguments: Any) -> gymnasium.VectorEnv:
    """Opens copies of one env as Gymnasium's vector env: ``backplane_rl.make_vec("ant", 64, threads=2)``. Accepts the arguments of
    :class:`backplane_rl.gymnasium.VectorEnv`; unknown names are options of the env."""
    from .gymnasium import VectorEnv

    return VectorEnv(id, num_envs, **arguments)


def __getattr__(name: str) -> Any:
    if name in ("gymnasium", "pettingzoo", "sb3"):
        return importlib.import_module(f"{__name__}.{name}")
    if name == "VectorEnv":
        return importlib.import_module(f"{__name__}.gymnasium").VectorEnv
    raise AttributeError(f"module 'backplane_rl' has no attribute {name!r}")


if importlib.util.find_spec("gymnasium") is not None:
    from ._registration import register_envs

    register_envs()
