"""libbackplane_embed.so, opened by cffi as its header describes it."""
from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cffi

_PIP_NAMES = {"stable_baselines3": "stable-baselines3"}


def require(*modules: str) -> None:
    """Raises ImportError with the command that installs a missing module."""
    for module in modules:
        if importlib.util.find_spec(module) is None:
            raise ModuleNotFoundError(f"No module named '{module}'\nhint: run {shlex.quote(sys.executable)} -m pip install "
                                      f"{_PIP_NAMES.get(module, module)}", name=module)


_LIBRARY = "lib/libbackplane_embed.so"
_HEADER = "include/backplane/embed.h"


class BackplaneError(RuntimeError):
    """An error of the library; its text has the cause, the place, the expected and the given value.

    Attributes:
        status: the code of ``backplane/base.h``, below 0.
        unknown_options: the given options that the env does not have, if they are the error.
    """

    def __init__(self, text: str, status: int, unknown_options: Sequence[str] = ()) -> None:
        super().__init__(text)
        self.status = status
        self.unknown_options = unknown_options


def find_home() -> Path:
    """Finds the installation: the package's own folder (a wheel), else ``BACKPLANE_HOME`` (an installed tree or a build tree), else the
    folder that contains the package in lib/python3/dist-packages."""
    package = Path(__file__).resolve().parent
    homes = [package, *(Path(home) for home in [os.environ.get("BACKPLANE_HOME", "")] if home), *package.parents[3:4]]
    for home in homes:
        if (home / _LIBRARY).exists():
            return home
    looked = ", ".join(str(home / _LIBRARY) for home in homes)
    raise ImportError(f"cannot find Backplane's library; searched {looked}\nhint: set BACKPLANE_HOME to an installation")


def _declarations(home: Path) -> str:
    sources = Path(__file__).resolve().parents[2]  # a checkout, whose build tree has no headers
    for header in (home / _HEADER, sources / _HEADER):
        if header.exists():
            return header.read_text().split("// <embed>")[1].split("// </embed>")[0]
    raise ImportError(f"cannot find the library's header {home / _HEADER}; set BACKPLANE_HOME to a complete installation")


home = find_home()
ffi = cffi.FFI()
ffi.cdef(_declarations(home))
lib: Any = ffi.dlopen(str(home / _LIBRARY))


def last_error() -> str:
    text = ffi.string(lib.bp_embed_error()).decode(errors="replace")
    return re.sub(r"\bbp_embed_(\w+)", r"\1()", text)  # methods of EmbeddedEnv have the functions' names


def check(status: int) -> None:
    if status < 0:
        raise BackplaneError(last_error(), status, json.loads(ffi.string(lib.bp_embed_unknown_options())))


def read_json(text: Any) -> Any:
    """Parses the JSON that a function returned; NULL is an error."""
    if text == ffi.NULL:
        raise BackplaneError(last_error(), -1)
    return json.loads(ffi.string(text))


def c_text(text: str | os.PathLike[str] | None) -> Any:
    return ffi.NULL if text is None else ffi.new("char[]", os.fsencode(text))
