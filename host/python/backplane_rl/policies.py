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
    """A trained policy without the noise of training: ``action = policy(obs)``.

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

    def __call__(self, obs: Any, mask: Any = None) -> numpy.ndarray:
        """The action for one observation, or an action per row for several. ``mask`` holds the allowed choices of a discrete action."""
        return self._module.act(obs, mask)


def load_policy(out: str | os.PathLike[str], trial: str | None = None, checkpoint: str = "last") -> Policy:
    """Loads the policy of a trial. It chooses the actions that an evaluation of the trial chose; a difference is an error. This takes some
    seconds, because a process of the trial plays a few episodes for the comparison.

    Args:
        out: the results folder.
        trial: name or id of the trial, or the start of the id; needed if the folder has several.
        checkpoint: ``"best"``, ``"last"`` or a number of iterations.

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
