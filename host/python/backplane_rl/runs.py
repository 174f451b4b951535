"""Experiments in separate processes: ``backplane_rl.run("exp.yaml")``, ``backplane_rl.run(train, space={"lr": [1e-4, 1e-3]})``."""
from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ._library import BackplaneError, c_text, ffi, last_error, lib
from .functions import write_experiment
from .results import Results, flat, in_notebook


class _Bar:
    """The progress of a run: a terminal line or a notebook element."""

    def __init__(self) -> None:
        self._in_notebook, self._shown, self._width = in_notebook(), None, 0

    @staticmethod
    def wanted() -> bool:
        return in_notebook() or sys.stderr.isatty()

    def show(self, progress: Mapping[str, Any]) -> None:
        trials, total = progress["trials"], progress["total"]
        part = sum(trial["progress"] or 0 for trial in trials) / total if total else 0
        text = f"{progress['done']} of {total} trials"
        if progress.get("eta_s"):
            text += f", about {progress['eta_s']:.0f} s left"
        if self._in_notebook:
            self._show_element(f'<progress value="{part:.4f}" max="1" style="width: 20em"></progress> {part:.0%}, {text}')
        else:
            line = f"[{'#' * round(part * 30):<30}] {part:4.0%}  {text}"
            print("\r" + line.ljust(self._width), end="", file=sys.stderr, flush=True)
            self._width = len(line)

    def _show_element(self, element: str) -> None:
        from IPython.display import HTML, display

        if self._shown is None:
            self._shown = display(HTML(element), display_id=True)
        else:
            self._shown.update(HTML(element))

    def end(self) -> None:
        if self._width:
            print(file=sys.stderr)


class _Listener:
    """The callback of bp_run. An exception in it cancels the run and is raised after its end."""

    def __init__(self, on_iteration: Callable[[str, dict[str, float]], Any] | None, bar: _Bar | None) -> None:
        self.on_iteration, self.bar = on_iteration, bar
        self.folder: Path | None = None
        self.error: BaseException | None = None
        self.stopped = False

    def hear(self, _: Any, news: Any) -> int:
        try:
            if not self.stopped and self.error is None:
                self._take(news.kind, ffi.string(news.text).decode(errors="replace"), news.trial)
        except BaseException as error:  # also KeyboardInterrupt, because the C caller has no exceptions
            self.error = error
        return int(self.stopped or self.error is not None)

    def _take(self, kind: int, text: str, trial: Any) -> None:
        if kind == lib.BP_RUN_STARTED:
            self.folder = Path(text)
        elif kind == lib.BP_RUN_PROGRESS and self.bar:
            self.bar.show(json.loads(text))
        elif kind == lib.BP_RUN_METRICS and self.on_iteration:
            self.stopped = self.on_iteration(ffi.string(trial).decode(), flat(json.loads(text))) is False


def run(file: str | os.PathLike[str] | Callable[..., Any], *, space: Mapping[str, Any] | None = None,
        seeds: int | Sequence[int] | None = None, search: Mapping[str, Any] | None = None, set: Mapping[str, Any] | None = None,
        out: str | os.PathLike[str] | None = None, arguments: Sequence[str] = (),
        on_iteration: Callable[[str, dict[str, float]], Any] | None = None, progress: bool | None = None) -> Results:
    """Runs an experiment file, resumes a results folder, or calls a function ``train(config)`` in trials of its own (docs/functions.md).
    Returns at the end. Trials are separate processes, which end with this one in any case.

    Args:
        file: the file, or a function at the top level of one. Its experiment is written next to the results folder, as ``OUT.yaml``.
        space: of a function: its configuration. A list is swept as a grid, a mapping is nested, and a distribution, such as
            ``{"log_uniform": [1e-5, 1e-2]}`` or one of Optuna or Ray Tune, is searched. Write a list as a tuple to pass it on.
        seeds: of a function: the number of seeds per point, or the seeds.
        search: of a function: the section ``sweep.search`` without its space. Lists of the space become choices.
        set: values that replace the file's: ``{"budget.iterations": 3}``.
        out: the results folder, instead of the file's.
        arguments: more arguments of ``backplane run``, such as ``["--fresh"]``.
        on_iteration: called in this thread with the trial's id and the metrics of its iteration, named as in ``Results.curves``. Return
            False to stop the run: trials save checkpoints, and the same call resumes. An exception stops it too and is raised here.
        progress: whether to show a bar; None: on a terminal and in a notebook.

    Raises:
        BackplaneError: the file is wrong or the run failed; the text is the error of ``backplane run``.
    """
    if callable(file):
        file = write_experiment(file, space, seeds, search, out)
    elif space is not None or seeds is not None or search is not None:
        raise TypeError("run: `space`, `seeds` and `search` need a function; change a file's values with `set`")
    words = list(arguments) + ([] if out is None else ["--out", os.fspath(out)])
    for path, value in (set or {}).items():
        words += ["--set", f"{path}={json.dumps(value)}"]
    texts = [c_text(word) for word in words]
    bar = _Bar() if (_Bar.wanted() if progress is None else progress) else None
    listener = _Listener(on_iteration, bar)
    callback = ffi.callback("int32_t(void*, const bp_run_news*)", listener.hear, error=1)
    status = lib.bp_run(c_text(file), ffi.new("char*[]", [*texts, ffi.NULL]), callback, ffi.NULL, ffi.NULL)
    said = last_error()
    if bar:
        bar.end()
    if listener.error is not None:
        raise listener.error
    if status < 0 and not listener.stopped:
        raise BackplaneError(said, status)
    if listener.folder is None:
        raise BackplaneError("the run reported no results folder", status)
    return Results(listener.folder, cancelled=listener.stopped and status < 0)
