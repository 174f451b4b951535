"""Gymnasium's spaces of a channel, and the parts of an env that an adapter with one agent uses."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from .core import EmbeddedEnv


def _bounds(values: list[float | None], none: float, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    if dtype.kind != "f":
        info = np.iinfo(dtype)
        none = info.min if none < 0 else info.max
    numbers = np.array([none if value is None else value for value in values or [none]], dtype)
    return np.broadcast_to(numbers, (int(np.prod(shape)),)).reshape(shape) if numbers.size > 1 else np.full(shape, numbers[0], dtype)


def space_of(channel: Mapping[str, Any]) -> spaces.Space[Any]:
    """Returns the space of one row or agent. Missing bounds are infinite."""
    shape, dtype, kind = tuple(channel["shape"]), np.dtype(channel["dtype"]), channel["space"]
    if kind == "discrete" and not shape:
        return spaces.Discrete(channel["nvec"][0])
    if kind == "discrete":
        return spaces.MultiDiscrete(np.full(shape, channel["nvec"][0]))
    if kind == "multi_discrete":
        return spaces.MultiDiscrete(np.reshape(channel["nvec"], shape))
    if kind == "multi_binary":
        return spaces.MultiBinary(shape)
    return spaces.Box(_bounds(channel["low"], -np.inf, shape, dtype), _bounds(channel["high"], np.inf, shape, dtype), shape, dtype.type)


def only(env: EmbeddedEnv, role: str) -> dict[str, Any]:
    """Returns the only channel of this role, for adapters that support one."""
    found = env.of_role(role)
    if len(found) != 1:
        raise TypeError(f"{env.spec['id']}: expected one channel of the role {role}, got {len(found)}; "
                        "backplane_rl.EmbeddedEnv gives access to all")
    return found[0]


def spaces_of(channels: Sequence[Mapping[str, Any]]) -> spaces.Space[Any]:
    """Returns the space of a role's channels: the channel's own if it is the only one, otherwise a Dict by name."""
    return space_of(channels[0]) if len(channels) == 1 else spaces.Dict({c["name"]: space_of(c) for c in channels})


def require_one_agent(env: EmbeddedEnv) -> None:
    if env.agents != 1 or only(env, "obs")["scope"] != "row":
        raise TypeError(f"{env.spec['id']}: expected an env with one agent, got {env.agents}; "
                        "use backplane_rl.pettingzoo.parallel_env")


def action_into(channel: np.ndarray[Any, Any], actions: Any) -> None:
    """Copies actions into their channel. Requires the exact shape and a type that keeps their values."""
    given = np.asarray(actions)
    if given.shape != channel.shape:
        raise ValueError(f"actions: expected the shape {channel.shape}, got {given.shape}")
    if given.dtype.kind not in ("fiub" if channel.dtype.kind == "f" else "iub"):
        raise ValueError(f"actions: expected numbers of the type {channel.dtype}, got {given.dtype}")
    channel[...] = given
    if channel.dtype.kind != "f" and given.dtype != channel.dtype and (channel != given).any():
        raise ValueError(f"actions: expected numbers that {channel.dtype} can represent, got {given[channel != given][0]}")
