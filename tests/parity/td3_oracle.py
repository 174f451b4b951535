"""Computes TD3's gradient steps from learner.td3's stored transitions; a test compares the resulting weights and losses (see sac_oracle.py)."""

import replay_oracle as shared
import torch_oracle as oracle
from torch_oracle import torch


class State:
    def __init__(self, text):
        saved = oracle.Saved(text)
        _, kind, self.obs, self.actions = saved.take("Q", 4)
        self.act = torch.tanh if kind & 1 else torch.relu
        self.hidden = [int(n) for n in saved.array("<u8")]
        self.critic_hidden = [int(n) for n in saved.array("<u8")]
        self.actor, self.actor_steps = [saved.array("<f4") for _ in range(3)], saved.take("q")
        self.critics, self.critic_steps = [saved.array("<f4") for _ in range(3)], saved.take("q")
        self.actor_target, self.targets = saved.array("<f4"), saved.array("<f4")
        self.updates = saved.take("Q")

    def tensors(self):
        return {"actor": self.actor[0], "critics": self.critics[0], "actor_target": self.actor_target, "targets": self.targets}

    def policy(self, params, obs):
        forward, _ = shared.mlp(params, 0, self.obs, self.hidden, self.actions, self.act)
        return torch.tanh(forward(obs))

    def values(self, params, obs, action):
        x, at, out = torch.cat([obs, action], -1), 0, []
        for _ in range(2):
            forward, at = shared.mlp(params, at, self.obs + self.actions, self.critic_hidden, 1, self.act)
            out.append(forward(x).squeeze(-1))
        return torch.stack(out)


def update(state, replay, count, o, losses):
    number = state.updates
    starts, weight = replay.draw(count, number)
    obs, action, reward, discount, next_obs = replay.batch(starts)
    noise = shared.normals(oracle.key_of(replay.seed, oracle.LEARNER, 3, number), len(starts) * state.actions)
    noise = (torch.tensor(noise).reshape(len(starts), -1) * o["target_noise"]).clamp(-o["target_noise_clip"], o["target_noise_clip"])
    with torch.no_grad():
        following = (state.policy(state.actor_target, next_obs) + noise).clamp(-1, 1)
        target = reward + discount * state.values(state.targets, next_obs, following).min(0).values
    params = state.critics[0].clone().requires_grad_(True)
    q = state.values(params, obs, action)
    critic_loss = sum(0.5 * (weight * (each - target) ** 2).mean() for each in q)
    critic_loss.backward()
    state.critic_steps += 1
    shared.step(state.critics, params.grad, state.critic_steps, o["lr"] if o["critic_lr"] == "auto" else o["critic_lr"], o["grad_clip"])
    if o["prioritized_replay"]:
        replay.prioritize(starts, (q - target).detach().abs().mean(0))
    for name, value in (("critic_loss", critic_loss), ("q", q.mean())):
        losses.setdefault(name, []).append(float(value.detach()))

    state.updates += 1
    if state.updates % o["policy_delay"]:
        return
    params = state.actor[0].clone().requires_grad_(True)
    actor_loss = -state.values(state.critics[0], obs, state.policy(params, obs))[0].mean()
    actor_loss.backward()
    state.actor_steps += 1
    shared.step(state.actor, params.grad, state.actor_steps, o["lr"], o["grad_clip"])
    losses.setdefault("actor_loss", []).append(float(actor_loss.detach()))
    state.targets = (1 - o["tau"]) * state.targets + o["tau"] * state.critics[0]
    state.actor_target = (1 - o["tau"]) * state.actor_target + o["tau"] * state.actor[0]


def simulate(request, options, state, losses):
    replay = shared.Replay(request, options, state.obs, state.actions)
    for count in request["frames"]:
        update(state, replay, count, options, losses)


shared.serve(State, simulate, ("actor_steps", "critic_steps", "updates"))
