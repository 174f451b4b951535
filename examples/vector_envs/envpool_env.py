"""EnvPool's envs for env.gymnasium: options: {file: envpool_env.py, vector: EnvPool, kwargs: {task_id: Ant-v4}}.

A model for pools that can reset single rows: the mode is DISABLED, and `reset` starts the rows of `reset_mask`.
"""
import functools

import envpool
import gymnasium
import numpy
from gymnasium.vector.utils import batch_space


class EnvPool(gymnasium.vector.VectorEnv):
    metadata = {"autoreset_mode": gymnasium.vector.AutoresetMode.DISABLED}

    def __init__(self, num_envs, task_id, num_threads=1, **options):
        self.num_envs = num_envs
        self.make = functools.partial(envpool.make_gymnasium, task_id, num_envs=num_envs, num_threads=num_threads, **options)
        spec = envpool.make_spec(task_id, num_envs=num_envs, **options)
        self.single_observation_space, self.single_action_space = spec.gymnasium_observation_space, spec.gymnasium_action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.max_episode_steps = spec.config.max_episode_steps
        self.pool = None

    def reset(self, *, seed=None, options=None):
        mask = (options or {}).get("reset_mask")
        if self.pool is None or mask is None:
            self.pool = self.make(seed=seed or 0)  # a pool accepts its seed only here
            self.observations, info = self.pool.reset()
        else:
            observations, info = self.pool.reset(numpy.flatnonzero(mask).astype(numpy.int32))
            self.observations[info["env_id"]] = observations  # it returns only these rows
        return self.observations, {}

    def step(self, actions):
        self.observations, rewards, terminated, truncated, _ = self.pool.step(actions)
        return self.observations, rewards, terminated, truncated, {}
