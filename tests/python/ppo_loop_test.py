#!/usr/bin/env python3
"""PPO in one file over gymnasium.make learns on one of our envs.

  ppo_loop_test.py    (BACKPLANE_HOME: the build tree)
"""
import unittest

import needs

needs.packages("cffi", "gymnasium", "torch")

import gymnasium
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

import backplane_rl  # noqa: F401  its import registers the envs

ENVS, STEPS, UPDATES, EPOCHS, MINIBATCH, GAMMA, LAMBDA, CLIP = 8, 64, 30, 4, 128, 0.99, 0.95, 0.2


def make_env():
    return gymnasium.wrappers.RecordEpisodeStatistics(gymnasium.make("backplane/CartPole-v1"))


def network(n_out, gain):
    layers = [nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, n_out)]
    for layer in layers[::2]:
        nn.init.orthogonal_(layer.weight, gain if layer is layers[-1] else np.sqrt(2))
        nn.init.zeros_(layer.bias)
    return nn.Sequential(*layers)


def train(envs):
    """Returns of the episodes in the order in which they ended."""
    actor, critic = network(2, 0.01), network(1, 1.0)
    optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=1e-3, eps=1e-5)
    obs, dones = torch.tensor(envs.reset(seed=1)[0]), torch.zeros(ENVS)
    returns = []
    for _ in range(UPDATES):
        steps = []
        for _ in range(STEPS):
            with torch.no_grad():
                policy, value = Categorical(logits=actor(obs)), critic(obs).flatten()
            action = policy.sample()
            next_obs, reward, terminated, truncated, infos = envs.step(action.numpy())
            steps.append((obs, action, policy.log_prob(action), value, torch.tensor(reward, dtype=torch.float32), dones))
            obs, dones = torch.tensor(next_obs), torch.tensor(terminated | truncated, dtype=torch.float32)
            if "final_info" in infos:
                returns += list(infos["final_info"]["episode"]["r"][infos["_final_info"]])
        all_obs, actions, logprobs, values, rewards, begun = (torch.stack(each) for each in zip(*steps))
        advantages, last = torch.zeros_like(rewards), torch.zeros(ENVS)
        next_value, alive = critic(obs).flatten().detach(), 1 - dones
        for t in reversed(range(STEPS)):
            last = rewards[t] + GAMMA * next_value * alive - values[t] + GAMMA * LAMBDA * alive * last
            advantages[t], next_value, alive = last, values[t], 1 - begun[t]
        flat = [each.reshape(ENVS * STEPS, *each.shape[2:]) for each in (all_obs, actions, logprobs, advantages, advantages + values)]
        for _ in range(EPOCHS):
            for chosen in torch.randperm(ENVS * STEPS).split(MINIBATCH):
                o, a, old, advantage, target = (each[chosen] for each in flat)
                policy = Categorical(logits=actor(o))
                ratio = (policy.log_prob(a) - old).exp()
                advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
                loss = -torch.min(ratio * advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * advantage).mean()
                loss += 0.5 * (critic(o).flatten() - target).square().mean() - 0.01 * policy.entropy().mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_([*actor.parameters(), *critic.parameters()], 0.5)
                optimizer.step()
    return returns


class PpoLoop(unittest.TestCase):
    def test_learns(self):
        torch.set_num_threads(1)
        torch.manual_seed(1)
        envs = gymnasium.vector.SyncVectorEnv([make_env] * ENVS, autoreset_mode=gymnasium.vector.AutoresetMode.SAME_STEP)
        returns = train(envs)
        self.assertGreater(np.mean(returns[-20:]), 2 * np.mean(returns[:20]))


if __name__ == "__main__":
    unittest.main()
