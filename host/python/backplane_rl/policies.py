"""Trained policies: ``backplane_rl.load_policy("outputs/NAME")``."""
from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._library import BackplaneError, home, require

if TYPE_CHECKING:
    import numpy


class Policy:
    """A trained policy without the noise of training: ``action = policy(obs)``. A recurrent policy remembers the earlier calls, row by row,
    until ``reset``.

    Attributes:
        arrays: its weights and statistics by name, as docs/policies.md lists them.
    """

    def __init__(self, file: Path) -> None:
        spec = importlib.util.spec_from_file_location("backplane_policy", file)
        if spec is None or spec.loader is None:
            raise ImportError(f"cannot import {file}")
        self._module: Any = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self._module)
        self.arrays: dict[str, numpy.ndarray] = self._module.ARRAYS
        self._memory: numpy.ndarray | None = None  # [..., numbers], from the first call on

    def __call__(self, obs: Any, mask: Any = None) -> Any:
        """The action for one observation, or an action per row for several. ``mask`` holds the allowed choices of a discrete action.
        Observations or actions of several channels are a dict."""
        weight = self.arrays.get("memory.hidden.weight")
        if weight is None:
            return self._module.act(obs, mask)
        import numpy

        if isinstance(obs, dict):
            obs = self._module.joined(obs)
        rows = numpy.shape(obs)[:-1]
        if self._memory is None:
            self._memory = numpy.zeros((*rows, weight.shape[0]), numpy.float32)
        if self._memory.shape[:-1] != rows:
            raise ValueError(f"obs: expected shape {(*self._memory.shape[:-1], '...')} as in the last call, got {numpy.shape(obs)}\n"
                             "hint: call policy.reset() before you change the number of rows")
        action, self._memory = self._module.step(obs, self._memory, mask)
        return action

    def reset(self, rows: Any = None) -> None:
        """Starts new episodes: clears the memory of a recurrent policy. ``rows`` is a mask or a list of row numbers, such as
        ``terminated | truncated``; None means all rows. Other policies ignore it."""
        if rows is None:
            self._memory = None
        elif self._memory is not None:
            self._memory = self._memory.copy()  # the exported module may keep the array
            self._memory[rows] = 0


def load_policy(out: str | os.PathLike[str], trial: str | None = None, checkpoint: str = "last") -> Policy:
    """Loads the policy of a trial. It chooses the actions that an evaluation of the trial chose; a difference is an error. This takes some
    seconds, because a process of the trial plays a few episodes for the comparison.

    Args:
        out: the results folder.
        trial: name or id of the trial, or the start of the id; needed if the folder has several.
        checkpoint: ``"best"``, ``"last"``, a number of iterations, or ``"start"`` for the policy before the first iteration: the one that
            ``learner.start_from`` named, otherwise the untrained one.

    Raises:
        BackplaneError: there is no such trial or checkpoint, or its policy cannot be exported.
    """
    require("numpy")
    with tempfile.TemporaryDirectory() as folder:
        words = [home / "bin/backplane", "export", "policy", out, *([] if trial is None else [trial]), "--checkpoint", checkpoint, "--to", folder]
        exported = subprocess.run([os.fspath(word) for word in words], capture_output=True, text=True,
                                  env={**os.environ, "BACKPLANE_PYTHON": sys.executable})
        if exported.returncode != 0:
            raise BackplaneError(exported.stderr.strip(), -1)
        return Policy(Path(folder, "policy.py"))
