"""Gymnasium's two forms of an env: ``gymnasium.make("backplane/Ant-v5")`` and ``gymnasium.make_vec("backplane/Ant-v5", num_envs=64)``."""
from __future__ import annotations

import enum
import os
from collections.abc import Mapping, Sequence
from typing import Any

from ._library import check, lib, require

require("gymnasium")

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector.utils import batch_space

from .core import Adapter, end, metadata_of, open_for, render_mode_of, seed_number, seeds_of
from .spaces import action_into, only, require_one_agent, space_of

try:
    from gymnasium.vector import AutoresetMode
except ImportError:  # Gymnasium before 1.1, for which only Env is made
    class AutoresetMode(enum.Enum):  # type: ignore[no-redef]
        NEXT_STEP, SAME_STEP, DISABLED = "NextStep", "SameStep", "Disabled"

Array = npt.NDArray[Any]
_MODES = {"same_step": AutoresetMode.SAME_STEP, "next_step": AutoresetMode.NEXT_STEP, "disabled": AutoresetMode.DISABLED}


def _name_of(mode: AutoresetMode | str) -> str:
    for name, known in _MODES.items():
        if mode in (name, known, known.value):
            return name
    raise ValueError(f"autoreset_mode: expected one of {', '.join(_MODES)}, got {mode!r}")


class VectorEnv(Adapter, gymnasium.vector.VectorEnv):
    """Copies of one env as Gymnasium's vector env. After :meth:`reset` with the seed s, env r plays the same episode as
    ``gymnasium.make`` of this env after ``reset(seed=s + r)``.

    Observations are [num_envs, ...] in the env's type (float32 for all shipped ones), rewards float64 [num_envs], flags bool [num_envs].
    An episode that reaches its limit is truncated in that step. ``infos`` contains the env's own numbers, each with a mask as in
    Gymnasium's vector envs. Numbers of whole episodes ("ep/...") appear when an episode ends. The mode SAME_STEP adds ``final_obs`` and
    ``final_info``; an env that has just restarted keeps the numbers of the step that ended its last episode.

    Args:
        plugin: "ant", "env.ant" or "Ant-v5".
        num_envs: number of copies.
        max_episode_steps: time limit instead of the env's default; -1: none.
        threads: threads that step envs, including the caller's; 0: one for each granted core.
        autoreset_mode: default NEXT_STEP, as in Gymnasium; always SAME_STEP for an env that resets itself.
        copy: False returns views that the next call overwrites; rewards stay float32.
        infos: False omits the env's own numbers.
        options, **more_options: the env's options, and ``on_error``: with "end_episode", a step that fails or is not finite truncates
            the env's episode; ``infos["error"]`` has the reason.
        seed: seed of the episodes before the first ``reset(seed=...)``; None: random.
        file: a plugin file instead of an installed env.
        render_mode: "rgb_array": :meth:`render` draws each env.
    """

    def __init__(self, plugin: str | None = None, num_envs: int = 1, *, threads: int = 1,
                 autoreset_mode: AutoresetMode | str | None = None, copy: bool = True, infos: bool = True,
                 options: Mapping[str, Any] | None = None, seed: int | None = None, file: str | os.PathLike[str] | None = None,
                 render_mode: str | None = None, max_episode_steps: int | None = None, **more_options: Any) -> None:
        if not hasattr(gymnasium.vector, "AutoresetMode"):
            raise ImportError(f"VectorEnv: expected Gymnasium 1.1 or newer, got {gymnasium.__version__}\nhint: pip install 'gymnasium>=1.2'")
        self.env = env = open_for(plugin, num_envs, options, more_options, max_episode_steps=max_episode_steps, seed=seed,
                                  threads=threads, file=file)
        require_one_agent(env)
        default = "same_step" if env.spec["resets_itself"] else "next_step"
        mode = default if autoreset_mode is None else _name_of(autoreset_mode)
        env.set_autoreset(mode)
        self.num_envs = num_envs
        self.metadata = {"autoreset_mode": _MODES[mode], **metadata_of(env)}
        self.render_mode = render_mode_of(env, render_mode)
        self.copy = copy
        self.single_observation_space, self.single_action_space = space_of(only(env, "obs")), space_of(only(env, "action"))
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._in_same_step = mode == "same_step"
        names = [channel["name"] for channel in env.of_role("info")] if infos else []
        self._step_infos = [name for name in names if not name.startswith("ep/")]
        self._episode_infos = [name for name in names if name.startswith("ep/")]
        self._bind_to(env)

    def _bind(self) -> None:
        channels = self.env.channels
        self._obs, self._action, self._reward = (channels[only(self.env, role)["name"]] for role in ("obs", "action", "reward"))
        self._terminated, self._truncated, self._final_obs = (channels[name] for name in ("terminated", "truncated", "final_obs"))
        self._all = np.ones(self.num_envs, bool)
        self._nothing_ended = bytes(self.num_envs)

    def reset(self, *, seed: int | Sequence[int | None] | None = None,
              options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Starts episodes in every env, or only where ``options["reset_mask"]`` (bool [num_envs]) is True. With an integer ``seed``, env r
        starts from seed + r. A list has one seed per env; None is the next one of its series."""
        if isinstance(seed, (int, np.integer)):
            super().reset(seed=int(seed))
        mask = (options or {}).get("reset_mask")
        if mask is not None and not (isinstance(mask, np.ndarray) and mask.dtype == np.bool_ and mask.any()):
            raise ValueError(f"options['reset_mask']: expected a bool array with at least one True, got {mask!r}")
        if seed is None:
            self.env.reset(mask)
        else:
            self._reset_from(seed, mask)
        return self._obs.copy() if self.copy else self._obs, self._own_infos(None)

    def _reset_from(self, seed: int | Sequence[int | None], mask: Array | None) -> None:
        given, seeds = seeds_of(seed, self.num_envs)
        wanted = self._all if mask is None else mask
        if (wanted & given).any():
            self.env.reset(wanted & given, seeds)
        if (wanted & ~given).any():
            self.env.reset(wanted & ~given)

    def step(self, actions: Any) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        action_into(self._action, actions)
        check(lib.bp_embed_step(self.env._handle))
        ended = None
        if self._terminated.tobytes() != self._nothing_ended or self._truncated.tobytes() != self._nothing_ended:
            ended = self._terminated | self._truncated
        infos = self._own_infos(ended)
        if ended is not None and (errors := self.env.errors()):
            infos["error"] = np.array([error or None for error in errors], object)
            infos["_error"] = np.array([bool(error) for error in errors])
        if ended is not None and self._in_same_step:
            self._add_final(infos, ended)
        if not self.copy:
            return self._obs, self._reward, self._terminated, self._truncated, infos
        return self._obs.copy(), self._reward.astype(np.float64), self._terminated.copy(), self._truncated.copy(), infos

    def _own_infos(self, ended: Array | None) -> dict[str, Any]:
        infos: dict[str, Any] = {}
        for name in self._step_infos:
            value = self.env.channels[name]
            infos[name], infos["_" + name] = value.copy() if self.copy else value, self._all.copy()
        if ended is not None:
            for name in self._episode_infos:
                infos[name], infos["_" + name] = np.where(ended, self.env.channels[name], 0), ended
        return infos

    def _add_final(self, infos: dict[str, Any], ended: Array) -> None:
        """Adds an object array with None for envs whose episode continues, like SyncVectorEnv."""
        final = np.full(self.num_envs, None, object)
        for row in np.flatnonzero(ended):
            final[row] = self._final_obs[row].copy()
        own = {name: value for name, value in infos.items() if not name.startswith("_")}
        infos["final_obs"], infos["_final_obs"] = final, ended
        infos["final_info"] = {key: value for name in own for key, value in ((name, own[name]), ("_" + name, ended))}
        infos["_final_info"] = ended

    def state(self, row: int = 0) -> dict[str, npt.NDArray[np.float64]]:
        """See :meth:`backplane_rl.EmbeddedEnv.state`."""
        return self.env.state(row)

    def set_state(self, row: int = 0, state: Mapping[str, npt.ArrayLike] | None = None, /, **parts: npt.ArrayLike) -> Array:
        """See :meth:`backplane_rl.EmbeddedEnv.set_state`. Returns the row's observation from there."""
        self.env.set_state(row, state, **parts)
        return self._obs[row].copy()

    def render(self) -> tuple[Array, ...] | None:
        """Draws all envs, if ``render_mode`` is "rgb_array": uint8 [height, width, 3] each."""
        return None if self.render_mode is None else tuple(self.env.render(row) for row in range(self.num_envs))

    def close_extras(self, **_: Any) -> None:
        end(self, "reset", "step")

    def __enter__(self) -> VectorEnv:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"backplane_rl.VectorEnv({self.env.spec['id'] if not self.env.closed else 'closed'}, num_envs={self.num_envs})"


class Env(Adapter, gymnasium.Env[Any, Any]):
    """One row as Gymnasium's env: observations of the env's type, rewards as float. See :class:`VectorEnv` for the arguments.

    ``gymnasium.make`` puts a TimeLimit around it, as around its own envs. Numbers of whole episodes ("ep/...") are then in the infos of
    every step, because the env does not know which step is the last."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 30}

    def __init__(self, plugin: str | None = None, *, options: Mapping[str, Any] | None = None, seed: int | None = None,
                 file: str | os.PathLike[str] | None = None, render_mode: str | None = None, max_episode_steps: int | None = None,
                 **more_options: Any) -> None:
        self.env = env = open_for(plugin, 1, options, more_options, max_episode_steps=max_episode_steps, seed=seed, file=file)
        require_one_agent(env)
        if not env.spec["resets_itself"]:
            env.set_autoreset("disabled")
        self.metadata, self.render_mode = metadata_of(env), render_mode_of(env, render_mode)
        self.observation_space, self.action_space = space_of(only(env, "obs")), space_of(only(env, "action"))
        self._spec: Any = None
        self._has_time_limit = False  # around it
        self._bind_to(env)

    def _bind(self) -> None:
        env = self.env
        self._obs, self._action, self._reward = (env.channels[only(env, role)["name"]] for role in ("obs", "action", "reward"))
        self._terminated, self._truncated = env.channels["terminated"], env.channels["truncated"]
        if env.spec["resets_itself"]:
            self._final_obs = env.channels["final_obs"]
        self._infos = [channel["name"] for channel in env.of_role("info")]

    @property
    def spec(self) -> Any:  # type: ignore[override]
        return self._spec

    @spec.setter
    def spec(self, spec: Any) -> None:
        """Called by ``gymnasium.make``, which then adds a TimeLimit of the registered steps or of those that its caller wants. The env's own
        limit must not end episodes before."""
        self._spec = spec
        registered = gymnasium.registry.get(spec.id) if spec is not None else None
        limit = self.env.spec["max_episode_steps"]
        if registered is not None and limit is not None and registered.max_episode_steps == limit:
            self.env.set_time_limit(None)
            self._has_time_limit = True

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        super().reset(seed=seed)
        self.env.reset(seeds=None if seed is None else np.array([seed_number(seed)], np.uint64))
        return self._obs[0].copy(), self._own_infos(False)

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        action_into(self._action[0, ...], action)
        check(lib.bp_embed_step(self.env._handle))
        terminated, truncated = bool(self._terminated[0]), bool(self._truncated[0])
        ended = terminated or truncated
        obs = self._final_obs if ended and self.env.spec["resets_itself"] else self._obs
        infos = self._own_infos(ended or self._has_time_limit)
        if ended and (errors := self.env.errors()):
            infos["error"] = errors[0]
        return obs[0].copy(), float(self._reward[0]), terminated, truncated, infos

    def _own_infos(self, ended: bool) -> dict[str, Any]:
        return {name: self.env.channels[name][0].item() if self.env.channels[name].ndim == 1 else self.env.channels[name][0].copy()
                for name in self._infos if ended or not name.startswith("ep/")}

    def render(self) -> Array | None:
        """Draws the present state if ``render_mode`` is "rgb_array": uint8 [height, width, 3]."""
        return None if self.render_mode is None else self.env.render()

    state, set_state = VectorEnv.state, VectorEnv.set_state

    def close(self) -> None:
        end(self, "reset", "step")
