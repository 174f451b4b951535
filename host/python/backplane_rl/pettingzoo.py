"""PettingZoo's parallel form of an env with several agents: ``backplane_rl.pettingzoo.parallel_env("uav_grid")``."""
from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from ._library import check, lib, require

require("gymnasium", "pettingzoo")

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from pettingzoo import ParallelEnv as _ParallelEnv

from .core import Adapter, EmbeddedEnv, end, metadata_of, open_for, render_mode_of, seed_number
from .spaces import action_into, only, space_of, spaces_of

Array = npt.NDArray[Any]


def parallel_env(id: str | None = None, **arguments: Any) -> ParallelEnv:
    """Opens an env as PettingZoo's ParallelEnv. Accepts the arguments of :class:`ParallelEnv`; unknown names are options of the env."""
    return ParallelEnv(id, **arguments)


def _row_of(channels: dict[str, Array], row: int) -> Any:
    rows = {name: channel[row].copy() for name, channel in channels.items()}
    return rows if len(rows) > 1 else next(iter(rows.values()))


class _Bound(NamedTuple):
    """A group's memory in the env."""

    obs: dict[str, Array]
    action: Array
    mask: Array | None


class _Group:
    """Agents with equal spaces: all, or a group of the env (``spec["groups"]``)."""

    def __init__(self, env: EmbeddedEnv, name: str, number: int, agents: int) -> None:
        self.name, self.number = name, number
        self.agents = [f"{name or 'agent'}_{i}" for i in range(agents)]
        self._prefix = name and name + "/"
        seen, actions = self._of(env, "obs"), self._of(env, "action")
        if any(c["scope"] != "agent" for c in [*seen, *actions]):
            raise TypeError(f"{env.spec['id']}: expected observations and actions per agent, got one set for the whole env\nhint: use gymnasium.make")
        if len(actions) != 1:
            raise TypeError(f"{env.spec['id']}: expected one channel of the role action{' of ' + name if name else ''}, got {len(actions)}; "
                            "backplane_rl.EmbeddedEnv gives access to all")
        self.observation_space, self.action_space = spaces_of(seen), space_of(actions[0])

    def _of(self, env: EmbeddedEnv, role: str) -> list[dict[str, Any]]:
        """The group's channels of a role, with their names in the group."""
        own = [c for c in env.of_role(role) if c["group"] == self.number]
        return [{**c, "name": c["name"].removeprefix(self._prefix), "channel": c["name"]} for c in own]

    def bound(self, env: EmbeddedEnv) -> _Bound:
        masks = self._of(env, "action_mask")
        return _Bound({c["name"]: env.channels[c["channel"]] for c in self._of(env, "obs")},
                      env.channels[self._of(env, "action")[0]["channel"]],
                      env.channels[masks[0]["channel"]] if masks else None)


class ParallelEnv(Adapter, _ParallelEnv[str, Any, Any]):
    """Agents "agent_0", "agent_1", ... of one episode. If the env's agents form groups, they have the groups' names: "adversary_0",
    "adversary_1", "good_0". An agent that leaves gets its last observation, reward and flags in that step, and is not in ``agents``
    afterwards.

    Observations have the env's type; with several observation channels they are dicts by name. Rewards are floats. If the env masks
    actions, ``infos[agent]["action_mask"]`` is int8 [number of actions], 1 for valid actions.

    Args:
        id: "uav_grid" or "env.uav_grid".
        options, **more_options: the env's options.
        seed: seed of the episodes before the first ``reset(seed=...)``; None: random.
        file: a plugin file instead of an installed env.
        render_mode: "rgb_array": :meth:`render` draws the env.
        max_episode_steps: time limit instead of the env's default; -1: none.
    """

    def __init__(self, id: str | None = None, *, options: Mapping[str, Any] | None = None, seed: int | None = None,
                 file: str | os.PathLike[str] | None = None, render_mode: str | None = None, max_episode_steps: int | None = None,
                 **more_options: Any) -> None:
        self.env = env = open_for(id, 1, options, more_options, max_episode_steps=max_episode_steps, seed=seed, autoreset="disabled", file=file)
        self.metadata = {"name": env.spec["id"].removeprefix("env."), **metadata_of(env), "is_parallelizable": True}
        self.render_mode = render_mode_of(env, render_mode)
        sizes = [(group["name"], number, group["agents"]) for number, group in enumerate(env.spec["groups"], start=1)]
        self._groups = [_Group(env, *size) for size in sizes or [("", 0, env.agents)]]
        self.possible_agents = [agent for group in self._groups for agent in group.agents]
        self.agents: list[str] = []
        self._number = {agent: i for i, agent in enumerate(self.possible_agents)}  # in channels of all agents
        self._place = {agent: (g, i) for g, group in enumerate(self._groups) for i, agent in enumerate(group.agents)}
        if states := env.of_role("state"):
            self.state_space = spaces_of(states)
        self._bind_to(env)

    def _bind(self) -> None:
        env, channels = self.env, self.env.channels
        self._bound_groups = [group.bound(env) for group in self._groups]
        self._state = {c["name"]: channels[c["name"]] for c in env.of_role("state")}
        self._reward = channels["reward"]
        self._reward_is_shared = only(env, "reward")["scope"] == "row"
        self._terminated, self._truncated = channels["terminated"], channels["truncated"]
        self._alive = self._of("alive")
        self._infos = [c["name"] for c in env.of_role("info") if c["scope"] == "agent"]
        self._episode_infos = [c["name"] for c in env.of_role("info") if c["scope"] == "row"]

    def _of(self, role: str) -> Array | None:
        found = self.env.of_role(role)
        return self.env.channels[found[0]["name"]] if found else None

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self._groups[self._place[agent][0]].observation_space

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self._groups[self._place[agent][0]].action_space

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        self.env.reset(seeds=None if seed is None else np.array([seed_number(seed)], np.uint64))
        self.agents = self._living(self.possible_agents)
        return self._observations(self.agents), {agent: self._info(agent, False) for agent in self.agents}

    def step(self, actions: dict[str, Any]) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool],
                                                     dict[str, dict[str, Any]]]:
        """Steps with one action for each agent in ``agents``; agents that left have none. After the last has left, it does nothing, like
        PettingZoo's own envs."""
        acting = self.agents
        if not acting and not actions:
            return {}, {}, {}, {}, {}
        if set(actions) != set(acting):
            raise ValueError(f"actions: expected one for each of {', '.join(acting) or 'no agent (reset starts an episode)'}, got "
                             f"{', '.join(map(str, actions)) or 'none'}")
        for group in self._bound_groups:
            group.action[...] = 0
        for agent, action in actions.items():
            g, i = self._place[agent]
            action_into(self._bound_groups[g].action[i, ...], action)
        check(lib.bp_embed_step(self.env._handle))
        terminated, truncated = bool(self._terminated[0]), bool(self._truncated[0])
        stay = [] if terminated or truncated else self._living(acting)
        rewards = {agent: float(self._reward[0 if self._reward_is_shared else self._number[agent]]) for agent in acting}
        # An agent that left is terminated, unless the env marks it as truncated on its own.
        living, ended, cut = set(self._living(acting)), self._flagged("agent_ended", acting), self._flagged("agent_truncated", acting)
        terminations = {agent: terminated or agent in ended or (agent not in living and agent not in cut) for agent in acting}
        truncations = {agent: (truncated or agent in cut) and not terminations[agent] for agent in acting}
        self.agents = stay
        infos = {agent: self._info(agent, terminated or truncated) for agent in acting}
        if truncated and (errors := self.env.errors()):
            infos = {agent: {**info, "error": errors[0]} for agent, info in infos.items()}
        return self._observations(acting), rewards, terminations, truncations, infos

    def _living(self, agents: list[str]) -> list[str]:
        return [agent for agent in agents if self._alive is None or self._alive[self._number[agent]]]

    def _flagged(self, name: str, agents: list[str]) -> set[str]:
        flags = self.env.channels.get(name)
        return {agent for agent in agents if flags is not None and flags[self._number[agent]]}

    def _observations(self, agents: list[str]) -> dict[str, Any]:
        places = {agent: self._place[agent] for agent in agents}
        return {agent: _row_of(self._bound_groups[g].obs, i) for agent, (g, i) in places.items()}

    def _info(self, agent: str, ended: bool) -> dict[str, Any]:
        i = self._number[agent]
        info = {name: self.env.channels[name][i].tolist() for name in self._infos}
        if ended:
            info.update({name: self.env.channels[name][0].tolist() for name in self._episode_infos})
        g, place = self._place[agent]
        mask = self._bound_groups[g].mask
        if mask is not None:
            info["action_mask"] = mask[place].astype(np.int8)
        return info

    def state(self) -> Any:
        """Returns the global state for a centralized critic, [size] in the env's type, or a dict if it has several channels."""
        if not self._state:
            raise NotImplementedError(f"{self.env.spec['id']} has no channel of the role state")
        return _row_of(self._state, 0)

    def render(self) -> Array | None:
        """Draws the present state if ``render_mode`` is "rgb_array": uint8 [height, width, 3]."""
        return None if self.render_mode is None else self.env.render()

    def close(self) -> None:
        if not self.env.closed:
            end(self, "reset", "step")
