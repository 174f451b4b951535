"""Envs of several rows: the handle of ``backplane/embed.h`` as a Python object."""
from __future__ import annotations

import json
import operator
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from ._library import BackplaneError, c_text, check, ffi, last_error, lib, read_json

SAME_STEP, NEXT_STEP, DISABLED = range(3)
_MODES = ("same_step", "next_step", "disabled")


def envs() -> list[dict[str, Any]]:
    """Lists the installed envs: ``id``, ``version``, ``summary``, ``aliases``, ``file``, ``rows`` (recommended number of envs),
    ``max_episode_steps`` by default, and the reason if this process cannot open it (see ``bp_embed_envs``). Loads no plugin."""
    return read_json(lib.bp_embed_envs())


class _Memory:
    """An open handle. It is closed after the last view of its channels, so no view refers to freed memory."""

    def __init__(self, handle: Any) -> None:
        self.handle = handle

    def __del__(self, close: Any = lib.bp_embed_close) -> None:
        close(self.handle)


class _Lent:
    """A channel's memory for NumPy; keeps the handle open."""

    def __init__(self, memory: _Memory, address: int, shape: Sequence[int], dtype: np.dtype[Any], writable: bool) -> None:
        self.memory = memory
        self.__array_interface__ = {"version": 3, "shape": tuple(shape), "typestr": dtype.str, "data": (address, not writable)}


class EmbeddedEnv:
    """Copies of one env that step together in this process.

    ``channels`` are its tensors as views, ``[rows, ...]``, or ``[rows * agents, ...]`` for channels of all agents or of a group.
    Every call writes to them; you write only actions. ``spec`` is the env's description of itself (see ``bp_embed_spec``).

    Args:
        id: "ant", "env.ant" or an alias ("Ant-v5"); None: the only env of ``file``.
        rows: number of copies.
        options: the env's options, checked like options of an experiment file. Every env also has ``on_error``: "raise", or
            "end_episode", which truncates the episode of a row whose step fails or is not finite; see :meth:`error`.
        seed: seed of all episodes, 0 to 2**64 - 1; None: random.
        threads: threads that step rows, including the caller's; 0: one for each granted core. Results do not depend on it.
        autoreset: "same_step", "next_step" or "disabled".
        file: a plugin file instead of an installed env.
    """

    def __init__(self, id: str | None, rows: int = 1, *, options: Mapping[str, Any] | None = None, seed: int | None = None,
                 threads: int = 1, autoreset: str = "same_step", file: str | os.PathLike[str] | None = None) -> None:
        out = ffi.new("bp_embed**")
        text = c_text(json.dumps(dict(options or {}), default=_plain))
        draw = int(np.random.SeedSequence().generate_state(1, np.uint64)[0]) if seed is None else _natural("seed", seed)
        check(lib.bp_embed_open(c_text(file), c_text(id), text, _natural("rows", rows), draw, _natural("threads", threads, 32), out))
        self._memory: _Memory | None = _Memory(out[0])
        self._handle = out[0]
        self._has_warned = False
        self._arguments = {"id": id, "rows": rows, "options": dict(options or {}), "threads": threads, "file": file and os.path.abspath(file)}
        self._seed = draw
        self.channels: dict[str, npt.NDArray[Any]] = {}
        if autoreset != "same_step":
            self.set_autoreset(autoreset)
        self._read_spec()
        for channel in self.spec["channels"]:
            self.channels[channel["name"]] = self._lend(channel)

    def _read_spec(self) -> None:
        self.spec: dict[str, Any] = read_json(lib.bp_embed_spec(self._handle))
        self.rows: int = self.spec["rows"]
        self.agents: int = self.spec["agents"]
        self.ends_episodes: bool = self.spec["options"].get("on_error") == "end_episode"

    def _lend(self, channel: Mapping[str, Any]) -> npt.NDArray[Any]:
        view = ffi.new("bp_view*")
        check(lib.bp_embed_tensor(self._handle, c_text(channel["name"]), view))
        dtype = np.dtype("bool" if channel["role"] in ("terminated", "truncated") else channel["dtype"])
        assert self._memory is not None
        address = int(ffi.cast("uintptr_t", view.data)) + view.byte_offset
        return np.asarray(_Lent(self._memory, address, channel["tensor"], dtype, channel["role"] == "action"))

    def of_role(self, role: str) -> list[dict[str, Any]]:
        """The entries of ``spec["channels"]`` with this role."""
        return [channel for channel in self.spec["channels"] if channel["role"] == role]

    def set_autoreset(self, mode: str) -> None:
        """Sets when a row's next episode begins. A change ends all episodes; call :meth:`reset` next."""
        if mode not in _MODES:
            raise ValueError(f"autoreset: expected one of {', '.join(_MODES)}, got {mode!r}")
        check(lib.bp_embed_autoreset(self._handle, _MODES.index(mode)))
        self._read_spec()

    def check_actions(self, on: bool) -> None:
        """Sets whether a step first rejects actions that are not finite or not in the space. The default is on."""
        check(lib.bp_embed_check_actions(self._handle, on))

    def reset(self, mask: npt.ArrayLike | None = None, seeds: npt.ArrayLike | None = None) -> None:
        """Starts episodes in the rows with ``mask[row]``, or in every row without a mask. Each starts from its seed (``[rows]``, below
        2**64) or from the next one of its series."""
        mask_ = None if mask is None else _of_rows("mask", mask, self.rows, np.bool_)
        seeds_ = None if seeds is None else _of_rows("seeds", seeds, self.rows, np.uint64)
        check(lib.bp_embed_reset(self._handle, _pointer("uint8_t*", mask_), _pointer("uint64_t*", seeds_)))

    def seed(self, seed: int) -> None:
        """Restarts the seeds as if the env was opened with this seed; :meth:`reset` starts its first episodes."""
        check(lib.bp_embed_seed(self._handle, _natural("seed", seed)))
        self._seed = int(seed)

    def set_time_limit(self, steps: int | None) -> None:
        """Sets the steps after which an episode is truncated, instead of the env's limit; None: never. Running episodes keep their length."""
        check(lib.bp_embed_time_limit(self._handle, 0 if steps is None else _natural("time limit", steps)))
        self._read_spec()

    def render(self, row: int = 0) -> npt.NDArray[np.uint8]:
        """Draws a row's state: uint8 [height, width, 3]. Needs the packages vl-convert-python and pillow."""
        from ._pictures import draw

        return draw(self._handle, _natural("row", row))

    def step(self) -> None:
        """Steps all rows with the actions in their channels."""
        check(lib.bp_embed_step(self._handle))

    def step_send(self) -> None:
        """Starts a step. Do not read or write channels until :meth:`step_wait`."""
        check(lib.bp_embed_step_send(self._handle))

    def step_wait(self) -> None:
        check(lib.bp_embed_step_wait(self._handle))

    def error(self, row: int = 0) -> str:
        """Returns the error that ended the row's episode in the last step, or "". Only with ``on_error="end_episode"``."""
        text = lib.bp_embed_error_of(self._handle, _natural("row", row))
        if text == ffi.NULL:
            raise BackplaneError(last_error(), -1)
        return ffi.string(text).decode(errors="replace")

    def errors(self) -> list[str]:
        """Returns :meth:`error` of each row. The first error of this env is also a warning."""
        found = [self.error(row) for row in range(self.rows)] if self.ends_episodes else []
        for text in found:
            if text and not self._has_warned:
                self._has_warned = True
                warnings.warn(f"{text}; its episode is truncated, because on_error is 'end_episode'", RuntimeWarning, stacklevel=4)
        return found if any(found) else []

    def save(self) -> bytes:
        """Saves all rows with their episodes. :meth:`load` resumes them bit for bit, for the same env, version, options and rows."""
        n = ffi.new("uint64_t*")
        check(lib.bp_embed_save(self._handle, ffi.NULL, 0, n))
        buffer = ffi.new("char[]", n[0])
        check(lib.bp_embed_save(self._handle, buffer, n[0], n))
        return bytes(ffi.buffer(buffer, n[0]))

    def load(self, saved: bytes) -> None:
        check(lib.bp_embed_load(self._handle, ffi.from_buffer(saved), len(saved)))

    def state(self, row: int = 0) -> dict[str, npt.NDArray[np.float64]]:
        """Returns a row's state by name, float64: ``{"qpos": [15], "qvel": [14]}`` for Ant, ``{"state": [4]}`` for CartPole. MuJoCo's
        units are m, rad, m/s and rad/s. Empty if the env exposes none."""
        state = {}
        for part in self.spec["state"]:
            values, n = np.empty(part["size"]), ffi.new("uint64_t*")
            check(lib.bp_embed_get_state(self._handle, _natural("row", row), c_text(part["name"]), _pointer("double*", values),
                                         values.size, n))
            state[part["name"]] = values
        return state

    def set_state(self, row: int = 0, state: Mapping[str, npt.ArrayLike] | None = None, /, **parts: npt.ArrayLike) -> None:
        """Sets a row's state as if its reset had drawn it, and updates its observation. Unnamed parts keep their values. The episode
        keeps its length, limit and return."""
        all_parts = {**(state or {}), **parts}
        names = [c_text(name) for name in all_parts]
        values = [np.ascontiguousarray(value, np.float64).ravel() for value in all_parts.values()]
        check(lib.bp_embed_set_state(self._handle, _natural("row", row), len(names), ffi.new("char*[]", names),
                                     ffi.new("double*[]", [_pointer("double*", value) for value in values]),
                                     ffi.new("uint64_t[]", [value.size for value in values])))

    @property
    def closed(self) -> bool:
        return self._memory is None

    def close(self) -> None:
        """Closes the env. Its memory is freed with the last view of a channel."""
        self._memory, self._handle = None, ffi.NULL
        self.channels = {}

    def __enter__(self) -> EmbeddedEnv:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, also in a different process, is a separate env that resumes from the same states."""
        if self.closed:
            raise TypeError("cannot pickle or copy a closed env")
        if not self.spec["snapshot"]:
            raise TypeError(f"cannot pickle or copy {self.spec['id']}, because it offers no snapshots\nhint: pass a function that opens it")
        try:
            saved = self.save()
        except BackplaneError:  # no episode has begun
            saved = None
        return _reopen, (self._arguments, self._seed, self.spec["autoreset"], self.spec["max_episode_steps"], saved)


def _reopen(arguments: dict[str, Any], seed: int, autoreset: str, max_episode_steps: int | None, saved: bytes | None) -> EmbeddedEnv:
    env = EmbeddedEnv(**arguments, seed=seed, autoreset=autoreset)
    if max_episode_steps != env.spec["max_episode_steps"]:
        env.set_time_limit(max_episode_steps)
    if saved is not None:
        env.load(saved)
    return env


class Adapter:
    """Copies of adapters. A subclass opens an env in its constructor, sets the attributes that a copy keeps, and calls :meth:`_bind_to`, whose
    :meth:`_bind` sets the attributes that refer to the env's memory."""

    env: EmbeddedEnv

    def _bind(self) -> None:
        raise NotImplementedError

    def _bind_to(self, env: EmbeddedEnv) -> None:
        self.env = env
        before = set(vars(self))
        self._bind()
        self._bound = (set(vars(self)) - before) | {"env", "_bound"}

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy resumes from the same states, like a copy of :class:`EmbeddedEnv`."""
        return _again, (type(self), self.env, {name: value for name, value in vars(self).items() if name not in self._bound})


def _again(kind: type[Adapter], env: EmbeddedEnv, kept: dict[str, Any]) -> Adapter:
    adapter = kind.__new__(kind)
    vars(adapter).update(kept)
    adapter._bind_to(env)
    return adapter


def open_for(id: str | None, rows: int, options: Mapping[str, Any] | None, more_options: Mapping[str, Any], *,
             max_episode_steps: int | None = None, **arguments: Any) -> EmbeddedEnv:
    """Opens an adapter's env. An unknown keyword raises TypeError like any Python function, which TorchRL expects for "frameskip". The time
    limit is an option of most envs; otherwise the host sets it. -1: no limit, as in Gymnasium."""
    given = {**(options or {}), **more_options}
    if max_episode_steps is None:
        return _open(id, rows, given, more_options, arguments)
    if max_episode_steps != -1 and not 0 < operator.index(max_episode_steps) < 1 << 63:
        raise ValueError(f"max_episode_steps: expected an integer from 1, or -1 for none, got {max_episode_steps!r}")
    if max_episode_steps != -1 and "max_episode_steps" not in given:
        try:
            return _open(id, rows, {**given, "max_episode_steps": max_episode_steps}, more_options, arguments)
        except BackplaneError as error:
            if "max_episode_steps" not in error.unknown_options:
                raise
    env = _open(id, rows, given, more_options, arguments)
    own = env.spec["max_episode_steps"] if "max_episode_steps" in given else None
    env.set_time_limit(None if max_episode_steps == -1 else min(max_episode_steps, own or max_episode_steps))
    return env


def _open(id: str | None, rows: int, options: Mapping[str, Any], more_options: Mapping[str, Any], arguments: Mapping[str, Any]) -> EmbeddedEnv:
    try:
        return EmbeddedEnv(id, rows, options=options, **arguments)
    except BackplaneError as error:
        for name in more_options:
            if name in error.unknown_options:
                raise TypeError(f"got an unexpected keyword argument '{name}': {error}") from error
        raise


def seed_number(seed: Any, name: str = "seed") -> int:
    """Returns the 64 bits of a seed. Gymnasium accepts larger integers, which are hashed."""
    number = operator.index(seed)
    if number < 0:
        raise ValueError(f"{name}: expected an integer from 0, got {seed}")
    return number if number < 1 << 64 else int(np.random.SeedSequence(number).generate_state(1, np.uint64)[0])


def seeds_of(seed: int | Sequence[int | None], rows: int) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.uint64]]:
    """Returns which of the rows have a seed, and their seeds. Row r of an integer has seed + r."""
    if isinstance(seed, (int, np.integer)):
        seed_number(seed)
        seed = [int(seed) + row for row in range(rows)]
    if len(seed) != rows:
        raise ValueError(f"seed: expected one for each of {rows} envs, got {len(seed)}")
    numbers = [0 if each is None else seed_number(each, f"seed[{row}]") for row, each in enumerate(seed)]
    return np.array([each is not None for each in seed]), np.array(numbers, np.uint64)


def render_mode_of(env: EmbeddedEnv, mode: str | None) -> str | None:
    """Checks a render mode. For an env without pictures it raises TypeError like a class without that argument, which SB3 expects."""
    if mode not in (None, "rgb_array"):
        raise ValueError(f"render_mode: expected None or 'rgb_array', got {mode!r}")
    if mode is not None and env.spec["picture"] is None:
        raise TypeError(f"render_mode: expected None, because {env.spec['id']} draws no pictures, got {mode!r}")
    return mode


def metadata_of(env: EmbeddedEnv) -> dict[str, Any]:
    fps = max(1, round(1 / env.spec["step_s"])) if env.spec["step_s"] else 30
    return {"render_modes": ["rgb_array"] if env.spec["picture"] else [], "render_fps": fps}


def end(adapter: Any, *calls: str) -> None:
    """Closes an adapter's env: deletes its views and replaces its ``calls`` by an error, at no cost for an open one."""
    if "env" not in vars(adapter):  # its construction failed, and it is being deleted
        return
    adapter.env.close()
    for name in [name for name, value in vars(adapter).items() if isinstance(value, np.ndarray)]:
        delattr(adapter, name)
    for call in calls:
        setattr(adapter, call, _refuse_closed)


def _refuse_closed(*_: Any, **__: Any) -> NoReturn:
    raise BackplaneError("expected an open env, got a closed one", -1)


def _plain(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"options: expected numbers, strings, lists and dicts, got {type(value).__name__}")


def _natural(name: str, value: Any, bits: int = 64) -> int:
    number = int(value)
    if number != value or not 0 <= number < 1 << bits:
        raise ValueError(f"{name}: expected an integer from 0 to 2**{bits} - 1, got {value!r}")
    return number


def _of_rows(name: str, values: npt.ArrayLike, rows: int, dtype: Any) -> npt.NDArray[Any]:
    array = np.asarray(values)
    if array.shape != (rows,):
        raise ValueError(f"{name}: expected the shape ({rows},), got {array.shape}")
    if dtype == np.uint64 and (array.dtype.kind not in "iu" or (array.dtype.kind == "i" and (array < 0).any())):
        raise ValueError(f"{name}: expected integers from 0 to 2**64 - 1, got {values!r}")
    return np.ascontiguousarray(array, dtype)


def _pointer(kind: str, array: npt.NDArray[Any] | None) -> Any:
    return ffi.NULL if array is None else ffi.cast(kind, array.ctypes.data)
