"""Plays episodes in the official Gymnasium, as references for the same episodes in a plugin.

Reads one JSON object per line from stdin and answers each with one JSON line on stdout. If the answer has "bytes", that many bytes
follow it. "error" holds a message. Ends when stdin ends.

  {"do": "open", "env": "Ant-v5", "kwargs": {...}, "info": [names]}   makes the env; the later requests are about it
      -> {"state_size", "max_episode_steps"}
  {"do": "play", "state": [state_size], "actions": [n][n_action]}     an episode from this state: no action may follow its end
      -> bytes: obs float32 [n + 1][n_obs], the first one after the reset; reward float32 [n]; info float32 [n][all values of
         the names, one after the other]; terminated uint8 [n]; truncated uint8 [n]
  {"do": "arguments", "env": "Ant-v5"}  -> {"arguments": names of the constructor's own arguments}
  {"do": "assets"}                      -> {"folder": folder of Gymnasium's MuJoCo models}
  {"do": "sha256", "library": "libmujoco", "file": path}
      -> {"theirs": hash of the loaded library with this prefix, "ours": hash of the file}
"""

import hashlib
import inspect
import json
import os
import sys

import gymnasium
import numpy as np


class Mujoco:
    """State: qpos, then qvel."""

    def __init__(self, env):
        self.env = env
        self.state_size = env.model.nq + env.model.nv

    def begin(self, state):
        import mujoco

        # As MujocoEnv.reset and reset_model do, but with this state instead of a random one.
        mujoco.mj_resetData(self.env.model, self.env.data)
        self.env.set_state(state[: self.env.model.nq], state[self.env.model.nq :])
        return self.env._get_obs()


class ClassicControl:
    """State: the env's own array, of the type that it has after a reset."""

    def __init__(self, env):
        self.env = env
        env.reset(seed=0)
        self.state_size, self.dtype = len(env.state), np.asarray(env.state).dtype

    def begin(self, state):
        self.env.state = state.astype(self.dtype)
        for observe in ("_get_obs", "_get_ob"):
            if hasattr(self.env, observe):
                return getattr(self.env, observe)()
        return np.array(state, dtype=np.float32)


def element(info, name):
    """An info value; element i of the array "name" is our "name_i"."""
    if name in info:
        return info[name]
    array, _, i = name.rpartition("_")
    return info[array][int(i)]


class Oracle:
    def open(self, env, kwargs, info):
        # make() adds TimeLimit. The checker is off because it warns about the tested actions beyond the bounds.
        self.env = gymnasium.make(env, disable_env_checker=True, **kwargs)
        inner = self.env.unwrapped
        self.start = Mujoco(inner) if hasattr(inner, "model") else ClassicControl(inner)
        self.info = info
        limit = kwargs.get("max_episode_steps", gymnasium.spec(env).max_episode_steps)
        return {"state_size": int(self.start.state_size), "max_episode_steps": limit}

    def play(self, state, actions):
        discrete = isinstance(self.env.action_space, gymnasium.spaces.Discrete)
        self.env.reset(seed=0)
        obs = [self.start.begin(np.array(state, dtype=np.float64))]
        rewards, infos, terminated, truncated = [], [], [], []
        for action in actions:
            action = int(action[0]) if discrete else np.array(action, dtype=np.float32)
            seen, reward, end, cut, info = self.env.step(action)
            obs.append(seen)
            rewards.append(reward)
            infos.append([element(info, name) for name in self.info])
            terminated.append(end)
            truncated.append(cut)
        parts = [obs, rewards, infos]
        flags = [terminated, truncated]
        return b"".join(
            [np.array(part).astype(np.float32).tobytes() for part in parts]
            + [np.array(flag, dtype=np.uint8).tobytes() for flag in flags]
        )

    def arguments(self, env):
        entry = gymnasium.envs.registration.load_env_creator(gymnasium.spec(env).entry_point)
        kinds = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
        names = [p.name for p in inspect.signature(entry).parameters.values() if p.kind not in kinds]
        return {"arguments": names}

    def assets(self):
        from gymnasium.envs import mujoco

        return {"folder": os.path.join(os.path.dirname(mujoco.__file__), "assets")}

    def sha256(self, library, file):
        import mujoco  # noqa: F401  loads the library

        with open("/proc/self/maps") as maps:
            mapped = {line.split()[-1] for line in maps if os.path.basename(line.split()[-1]).startswith(library)}
        digests = []
        for path in [*mapped, file]:
            with open(path, "rb") as content:
                digests.append(hashlib.sha256(content.read()).hexdigest())
        theirs, ours = digests  # exactly one library is mapped
        return {"theirs": theirs, "ours": ours}


def main():
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # MuJoCo and Gymnasium print warnings to stdout, which would mix with the answers
    oracle = Oracle()
    for line in sys.stdin:
        request = json.loads(line)
        data = b""
        try:
            answer = getattr(oracle, request.pop("do"))(**request)
            if isinstance(answer, bytes):
                answer, data = {"bytes": len(answer)}, answer
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer).encode() + b"\n" + data)
        answers.flush()


if __name__ == "__main__":
    main()
