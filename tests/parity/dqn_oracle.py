"""Computes DQN's gradient steps from learner.dqn's stored transitions; a test compares the resulting weights and losses (see sac_oracle.py)."""

import replay_oracle as shared
import torch_oracle as oracle
from torch_oracle import torch


class State:
    def __init__(self, text):
        saved = oracle.Saved(text)
        _, kind, self.obs, self.choices = saved.take("Q", 4)
        self.act, self.dueling, self.masked = torch.tanh if kind & 1 else torch.relu, bool(kind & 2), bool(kind & 4)
        self.hidden = [int(n) for n in saved.array("<u8")]
        self.net, self.steps = [saved.array("<f4") for _ in range(3)], saved.take("q")
        self.target = saved.array("<f4")
        self.updates = saved.take("Q")

    def tensors(self):
        return {"net": self.net[0], "target": self.target}

    def values(self, params, obs):
        forward, _ = shared.mlp(params, 0, self.obs, self.hidden, self.choices + self.dueling, self.act)
        out = forward(obs)
        if not self.dueling:
            return out
        advantage, value = out[:, :-1], out[:, -1:]
        return value + advantage - advantage.mean(-1, keepdim=True)


def update(state, replay, count, o, losses):
    starts, weight = replay.draw(count, state.updates)
    obs, action, reward, discount, next_obs = replay.batch(starts)
    with torch.no_grad():
        following = state.values(state.target, next_obs)
        judged = state.values(state.net[0], next_obs) if o["double_q"] else following
        if replay.allowed is not None:
            judged = judged.masked_fill(replay.allowed == 0, -torch.inf)
        target = reward + discount * following.gather(1, judged.argmax(-1, keepdim=True)).squeeze(1)
    params = state.net[0].clone().requires_grad_(True)
    q = state.values(params, obs).gather(1, action[:, :1].long()).squeeze(1)
    loss = (weight * torch.nn.functional.smooth_l1_loss(q, target, reduction="none")).mean()
    loss.backward()
    state.steps += 1
    shared.step(state.net, params.grad, state.steps, o["lr"], o["grad_clip"])
    if o["prioritized_replay"]:
        replay.prioritize(starts, (q - target).detach().abs())
    state.updates += 1
    for name, value in (("loss", loss), ("q", q.mean())):
        losses.setdefault(name, []).append(float(value.detach()))


def simulate(request, options, state, losses):
    replay = shared.Replay(request, options, state.obs, 1 + (state.choices if state.masked else 0), state.masked)
    period = max(options["target_update_interval"] // replay.rows, 1)
    for frame in range(1, len(replay.data["reward"]) + 1):
        if frame % period == 0:
            state.target = (1 - options["tau"]) * state.target + options["tau"] * state.net[0]
        for _ in range(request["frames"].count(frame)):
            update(state, replay, frame, options, losses)


shared.serve(State, simulate, ("steps", "updates"))
