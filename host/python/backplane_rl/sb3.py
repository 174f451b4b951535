"""Stable-Baselines3: ``PPO("MlpPolicy", backplane_rl.sb3.make("ant", 64))``."""
from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

from ._library import check, lib, require

require("stable_baselines3")

import numpy as np
import numpy.typing as npt
from stable_baselines3.common.vec_env import VecEnv as _VecEnv

from .core import Adapter, end, metadata_of, open_for, render_mode_of, seeds_of
from .spaces import action_into, only, require_one_agent, space_of

Array = npt.NDArray[Any]


def make(id: str, num_envs: int = 1, **arguments: Any) -> VecEnv:
    """Opens copies of one env as Stable-Baselines3's vector env. Accepts the arguments of :class:`VecEnv`; unknown names are options of
    the env."""
    return VecEnv(id, num_envs, **arguments)


class VecEnv(Adapter, _VecEnv):
    """Observations [num_envs, ...] in the env's type, rewards float32 [num_envs], dones bool [num_envs]. An env whose episode ends restarts
    in the same step; its info then has ``terminal_observation``, ``TimeLimit.truncated`` and, like SB3's Monitor, ``episode`` (``r``, ``l``
    and ``t`` in s).

    Args:
        id: "ant", "env.ant" or "Ant-v5".
        num_envs: number of copies.
        max_episode_steps: time limit instead of the env's default; -1: none.
        threads: threads that step envs, including the caller's; 0: one for each granted core.
        copy: False returns views that the next step overwrites; not for SB3's own algorithms.
        infos: True adds the env's own numbers to every info; otherwise only at the end of an episode.
        options, **more_options: the env's options, and ``on_error``: with "end_episode", a step that fails or is not finite truncates
            the env's episode; its info then has ``error``.
        seed: seed of all episodes, unless you call ``seed()``; None: random.
        file: a plugin file instead of an installed env.
        render_mode: "rgb_array": ``get_images()`` draws each env.
    """

    def __init__(self, id: str | None = None, num_envs: int = 1, *, threads: int = 1, copy: bool = True, infos: bool = False,
                 options: Mapping[str, Any] | None = None, seed: int | None = None, file: str | os.PathLike[str] | None = None,
                 render_mode: str | None = None, max_episode_steps: int | None = None, **more_options: Any) -> None:
        self.env = env = open_for(id, num_envs, options, more_options, max_episode_steps=max_episode_steps, seed=seed, threads=threads,
                                  file=file)
        require_one_agent(env)
        mode = render_mode_of(env, render_mode)
        self._attributes: list[dict[str, Any]] = [{"render_mode": mode, "spec": None, "metadata": metadata_of(env)} for _ in range(num_envs)]
        super().__init__(num_envs, space_of(only(env, "obs")), space_of(only(env, "action")))
        self._copy, self._all_infos = copy, infos
        self._start_s = time.perf_counter()
        self._bind_to(env)

    def _bind(self) -> None:
        channels = self.env.channels
        self._obs, self._action, self._reward = (channels[only(self.env, role)["name"]] for role in ("obs", "action", "reward"))
        self._terminated, self._truncated, self._final_obs = (channels[name] for name in ("terminated", "truncated", "final_obs"))
        self._return, self._length = channels["ep_return"], channels["ep_length"]
        self._infos = [channel["name"] for channel in self.env.of_role("info")]
        self._nothing_ended = bytes(self.num_envs)

    def reset(self) -> Array:
        given, seeds = seeds_of(self._seeds, self.num_envs)
        if given.any():
            self.env.reset(given, seeds)
        if not given.all():
            self.env.reset(~given)
        self.reset_infos = [{} for _ in range(self.num_envs)]
        self._reset_seeds()
        self._reset_options()
        return self._obs.copy() if self._copy else self._obs

    def step_async(self, actions: Any) -> None:
        action_into(self._action, actions)
        check(lib.bp_embed_step_send(self.env._handle))

    def step_wait(self) -> tuple[Array, Array, Array, list[dict[str, Any]]]:
        check(lib.bp_embed_step_wait(self.env._handle))
        return self._take()

    def step(self, actions: Any) -> tuple[Array, Array, Array, list[dict[str, Any]]]:
        action_into(self._action, actions)  # directly, so no waiting thread is woken
        check(lib.bp_embed_step(self.env._handle))
        return self._take()

    def _take(self) -> tuple[Array, Array, Array, list[dict[str, Any]]]:
        infos: list[dict[str, Any]] = [{"TimeLimit.truncated": False} for _ in range(self.num_envs)]
        dones = self._terminated | self._truncated
        if self._all_infos:
            for name in self._infos:
                if not name.startswith("ep/"):
                    for info, value in zip(infos, self.env.channels[name].tolist()):
                        info[name] = value
        if dones.tobytes() != self._nothing_ended:
            for row in np.flatnonzero(dones):
                self._end(infos[row], row)
            for info, error in zip(infos, self.env.errors()):
                if error:
                    info["error"] = error
        if not self._copy:
            return self._obs, self._reward, dones, infos
        return self._obs.copy(), self._reward.copy(), dones, infos

    def _end(self, info: dict[str, Any], row: int) -> None:
        for name in self._infos:
            info[name] = self.env.channels[name][row].tolist()
        info["TimeLimit.truncated"] = bool(self._truncated[row] and not self._terminated[row])
        info["terminal_observation"] = self._final_obs[row].copy()
        info["episode"] = {"r": round(float(self._return[row]), 6), "l": int(self._length[row]),
                           "t": round(time.perf_counter() - self._start_s, 6)}

    def state(self, row: int = 0) -> dict[str, npt.NDArray[np.float64]]:
        """See :meth:`backplane_rl.EmbeddedEnv.state`."""
        return self.env.state(row)

    def set_state(self, row: int = 0, state: Mapping[str, npt.ArrayLike] | None = None, /, **parts: npt.ArrayLike) -> Array:
        """See :meth:`backplane_rl.EmbeddedEnv.set_state`. Returns the row's observation from there."""
        self.env.set_state(row, state, **parts)
        return self._obs[row].copy()

    def close(self) -> None:
        end(self, "reset", "step", "step_async", "step_wait")

    # A row is no object of its own: its attributes stand here, its methods are those with a `row` above.
    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        rows = list(self._get_indices(indices))
        if any(attr_name not in self._attributes[row] for row in rows):
            raise AttributeError(f"{attr_name}: no such attribute; set_attr adds one")
        return [self._attributes[row][attr_name] for row in rows]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        for row in self._get_indices(indices):
            self._attributes[row][attr_name] = value

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        if method_name not in ("state", "set_state"):
            raise AttributeError(f"method: expected state or set_state, got {method_name}")
        return [getattr(self, method_name)(row, *method_args, **method_kwargs) for row in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Any = None) -> list[bool]:
        return [False for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[Any]:
        return [self.env.render(row) if self._attributes[row]["render_mode"] else None for row in range(self.num_envs)]

    def __enter__(self) -> VecEnv:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
