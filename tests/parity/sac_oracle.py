"""Computes SAC's gradient steps from learner.sac's stored transitions; a test compares the resulting weights and losses.

Reads one JSON object per line from stdin and answers each with one JSON line on stdout; "error" holds a message.

  {"options": {..}, "base": {..}, "seed": 1, "rows": 2, "before": hex of the learner's state, "after": hex of it after the steps,
   "frames": [frames stored at each gradient step], "losses": {name: [..]},
   "stored": {"obs": [..], "action": [..], "reward": [..], "terminated": [..], "truncated": [..], "next_obs": [..]}}
  -> {"distance": {"actor": x, ..}, "without": x}
      distance: between the learner's and these results. without: between these weights and those with the options in "base"; it proves
      that the test would notice an ignored option.
"""

import math

import replay_oracle as shared
import torch_oracle as oracle
from torch_oracle import torch


class State:
    def __init__(self, text):
        saved = oracle.Saved(text)
        _, kind, self.obs, self.actions = saved.take("Q", 4)
        self.tanh = bool(kind & 1)
        self.hidden = [int(n) for n in saved.array("<u8")]
        self.critic_hidden = [int(n) for n in saved.array("<u8")]
        self.actor, self.actor_steps = [saved.array("<f4") for _ in range(3)], saved.take("q")
        self.critics, self.critic_steps = [saved.array("<f4") for _ in range(3)], saved.take("q")
        self.targets = saved.array("<f4")
        self.alpha, self.alpha_steps = list(saved.take("d", 3)), saved.take("q")
        self.updates = saved.take("Q")

    def tensors(self):
        return {"actor": self.actor[0], "critics": self.critics[0], "targets": self.targets}


class Agent:
    """Nets on the parameters of a state, in PyTorch."""

    def __init__(self, state):
        self.state, self.act = state, torch.tanh if state.tanh else torch.relu

    def sample(self, params, obs, noise):
        forward, _ = shared.mlp(params, 0, self.state.obs, self.state.hidden, 2 * self.state.actions, self.act)
        mean, log_std = forward(obs).chunk(2, -1)
        std = log_std.clamp(-20, 2).exp()
        u = mean + std * noise
        # Change of variables for a = tanh(u), of the density before tanh.
        logp = torch.distributions.Normal(mean, std).log_prob(u) - 2 * (math.log(2) - u - torch.nn.functional.softplus(-2 * u))
        return torch.tanh(u), logp.sum(-1)

    def values(self, params, obs, action):
        x, at, out = torch.cat([obs, action], -1), 0, []
        for _ in range(2):
            forward, at = shared.mlp(params, at, self.state.obs + self.state.actions, self.state.critic_hidden, 1, self.act)
            out.append(forward(x).squeeze(-1))
        return torch.stack(out)


def update(state, replay, count, o, losses):
    agent, number = Agent(state), state.updates
    starts, weight = replay.draw(count, number)
    obs, action, reward, discount, next_obs = replay.batch(starts)
    n = len(starts)
    noise, next_noise = (
        torch.tensor(shared.normals(oracle.key_of(replay.seed, oracle.LEARNER, row, number), n * state.actions)).reshape(n, -1) for row in (2, 3)
    )
    learned = str(o["ent_coef"]).startswith("auto")
    alpha = math.exp(state.alpha[0]) if learned else float(o["ent_coef"])
    rate = {k: o["lr"] if o[k] == "auto" else o[k] for k in ("critic_lr", "alpha_lr")}

    with torch.no_grad():
        following, following_logp = agent.sample(state.actor[0], next_obs, next_noise)
        target = reward + discount * (agent.values(state.targets, next_obs, following).min(0).values - alpha * following_logp)
    params = state.critics[0].clone().requires_grad_(True)
    q = agent.values(params, obs, action)
    critic_loss = 0.5 * (weight * (q - target) ** 2).mean(-1).sum()
    critic_loss.backward()
    state.critic_steps += 1
    shared.step(state.critics, params.grad, state.critic_steps, rate["critic_lr"], o["grad_clip"])
    if o["prioritized_replay"]:
        replay.prioritize(starts, (q - target).detach().abs().mean(0))

    params = state.actor[0].clone().requires_grad_(True)
    chosen, logp = agent.sample(params, obs, noise)
    actor_loss = (alpha * logp - agent.values(state.critics[0], obs, chosen).min(0).values).mean()
    actor_loss.backward()
    state.actor_steps += 1
    shared.step(state.actor, params.grad, state.actor_steps, o["lr"], o["grad_clip"])

    if learned:
        goal = -state.actions if o["target_entropy"] == "auto" else o["target_entropy"]
        log_alpha = torch.tensor(state.alpha[0], requires_grad=True)
        (-(log_alpha * (logp + goal).detach()).mean()).backward()
        state.alpha_steps += 1
        shared.step(state.alpha, log_alpha.grad, state.alpha_steps, rate["alpha_lr"])
        state.alpha = [float(x) for x in state.alpha]
    state.updates += 1
    if state.updates % o["target_update_interval"] == 0:
        state.targets = (1 - o["tau"]) * state.targets + o["tau"] * state.critics[0]
    for name, value in (("critic_loss", critic_loss), ("actor_loss", actor_loss), ("alpha", alpha), ("entropy", -logp.mean()), ("q", q.mean())):
        losses.setdefault(name, []).append(float(torch.as_tensor(value).detach()))


def simulate(request, options, state, losses):
    replay = shared.Replay(request, options, state.obs, state.actions)
    for count in request["frames"]:
        update(state, replay, count, options, losses)


def temperatures(ours, theirs):
    return {"log alpha": abs(ours.alpha[0] - theirs.alpha[0]) if ours.alpha_steps or theirs.alpha_steps else 0.0}


shared.serve(State, simulate, ("actor_steps", "critic_steps", "updates"), temperatures)
