"""gymnax's JAX envs for env.gymnasium: options: {file: gymnax_env.py, vector: Gymnax, kwargs: {env_id: CartPole-v1}}.

A model for envs on an accelerator that start a row's next episode by themselves: the mode is SAME_STEP. The last observations of
ended rows are infos["final_obs"]; an env without them has {"final_obs": False} in its metadata.
"""
import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

import gymnasium
import gymnax
import jax
import numpy
from gymnasium.vector.utils import batch_space


class Gymnax(gymnasium.vector.VectorEnv):
    metadata = {"autoreset_mode": gymnasium.vector.AutoresetMode.SAME_STEP}

    def __init__(self, num_envs, env_id, **parameters):
        self.num_envs = num_envs
        env, defaults = gymnax.make(env_id)
        values = defaults.replace(**parameters)
        self.single_observation_space = gymnasium_space(env.observation_space(values))
        self.single_action_space = gymnasium_space(env.action_space(values))
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.max_episode_steps = int(getattr(values, "max_steps_in_episode", 0))

        def start(key):
            return jax.vmap(env.reset, in_axes=(0, None))(jax.random.split(key, num_envs), values)

        def step(key, state, actions):
            key, now = jax.random.split(key)
            result = jax.vmap(env.step, in_axes=(0, 0, 0, None))(jax.random.split(now, num_envs), state, actions, values)
            observations, state, rewards, terminated, truncated, info = result
            return key, state, observations, rewards, terminated, truncated, info["final_observation"]

        self.start, self.advance = jax.jit(start), jax.jit(step)

    def reset(self, *, seed=None, options=None):
        self.key = jax.random.key(seed or 0)
        observations, self.state = self.start(self.key)
        return numpy.asarray(observations), {}

    def step(self, actions):
        self.key, self.state, observations, rewards, terminated, truncated, last = self.advance(self.key, self.state, actions)
        return observations, rewards, terminated, truncated, {"final_obs": last}


def gymnasium_space(space):
    """The space of gymnax as one of Gymnasium."""
    if hasattr(space, "n"):
        return gymnasium.spaces.Discrete(int(space.n))
    return gymnasium.spaces.Box(*(numpy.broadcast_to(v, space.shape).astype(numpy.float32) for v in (space.low, space.high)))
