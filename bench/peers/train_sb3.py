"""Steps per second, learning included, of Stable-Baselines3's PPO on Ant-v5. Prints one JSON object.

  PEERS_PYTHON train_sb3.py s64|defaults dummy|subproc ENV_STEPS [TORCH_THREADS]

s64: 64 envs x 64 steps, 4 epochs, minibatch 2,048, separate actor and critic of 256-256 ReLU, normalised observations of 27 numbers.
defaults: SB3's own settings with 8 envs (n_steps 2,048, minibatch 64, 10 epochs, 64-64 tanh).
The first rollout and update are left out: they page in the buffers.
"""
import json
import sys
import time

import torch
from stable_baselines3 import PPO, __version__
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecNormalize

S64 = dict(n_steps=64, batch_size=2048, n_epochs=4, learning_rate=3e-4, gamma=0.99, gae_lambda=0.95,
           policy_kwargs=dict(net_arch=dict(pi=[256, 256], vf=[256, 256]), activation_fn=torch.nn.ReLU))
OBS_27 = dict(include_cfrc_ext_in_observation=False)


class FromSecondRollout(BaseCallback):
    start = steps = None

    def _on_step(self):
        return True

    def _on_rollout_start(self):
        if self.start is None and self.num_timesteps > 0:
            self.start, self.steps = time.perf_counter(), self.num_timesteps


def main(setting, mode, env_steps, threads="1"):
    torch.set_num_threads(int(threads))
    vec_env = SubprocVecEnv if mode == "subproc" else DummyVecEnv
    if setting == "s64":
        env = VecNormalize(make_vec_env("Ant-v5", 64, env_kwargs=OBS_27, vec_env_cls=vec_env), norm_reward=False)
        model = PPO("MlpPolicy", env, device="cpu", seed=0, **S64)
    else:
        model = PPO("MlpPolicy", make_vec_env("Ant-v5", 8, vec_env_cls=vec_env), device="cpu", seed=0)
    clock = FromSecondRollout()
    model.learn(int(env_steps), callback=clock)
    if clock.start is None:
        raise SystemExit(f"{env_steps} steps are one rollout; at least two are needed")
    sps = (model.num_timesteps - clock.steps) / (time.perf_counter() - clock.start)
    print(json.dumps({"tool": "sb3", "version": __version__, "setting": setting, "mode": mode, "torch_threads": int(threads), "sps": sps}))


if __name__ == "__main__":
    main(*sys.argv[1:])
