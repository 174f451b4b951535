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

import torch_oracle as oracle
from torch_oracle import np, torch


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


def mlp(params, at, inputs, hidden, outputs, act):
    layers = []
    for size in hidden + [outputs]:
        layers.append(oracle.Linear(params, at, inputs, size))
        inputs, at = size, layers[-1].end

    def forward(x):
        for layer in layers[:-1]:
            x = act(layer(x))
        return layers[-1](x)

    return forward, at


class Agent:
    """Nets on the parameters of a state, in PyTorch."""

    def __init__(self, state):
        self.state, self.act = state, torch.tanh if state.tanh else torch.relu

    def sample(self, params, obs, noise):
        forward, _ = mlp(params, 0, self.state.obs, self.state.hidden, 2 * self.state.actions, self.act)
        mean, log_std = forward(obs).chunk(2, -1)
        std = log_std.clamp(-20, 2).exp()
        u = mean + std * noise
        # Change of variables for a = tanh(u), of the density before tanh.
        logp = torch.distributions.Normal(mean, std).log_prob(u) - 2 * (math.log(2) - u - torch.nn.functional.softplus(-2 * u))
        return torch.tanh(u), logp.sum(-1)

    def values(self, params, obs, action):
        x, at, out = torch.cat([obs, action], -1), 0, []
        for _ in range(2):
            forward, at = mlp(params, at, self.state.obs + self.state.actions, self.state.critic_hidden, 1, self.act)
            out.append(forward(x).squeeze(-1))
        return torch.stack(out)


def normals(key, n):
    """Box and Muller from Philox blocks; runs of 64 numbers, the order of plugins/common/nn/normals.hpp."""
    out = []
    for i in range(n):
        run, word, block = i // 64, i % 64 // 16, i % 16
        words = oracle.philox([run * 16 + block, 0, 0, 0], [key & 0xFFFFFFFF, key >> 32])
        first, second = words[word // 2 * 2], words[word // 2 * 2 + 1]
        turn = (second - 2**32 if second >= 2**31 else second) * 2**-32
        radius = math.sqrt(-2 * math.log(((first >> 8) + 0.5) * 2**-24))
        out.append(radius * (math.sin if word % 2 else math.cos)(2 * math.pi * turn))
    return out


class Replay:
    """The newest transitions of the stored frames, with the learner's stream of draws."""

    def __init__(self, request, options, state):
        rows = request["rows"]
        sizes = {"obs": (state.obs,), "action": (state.actions,), "next_obs": (state.obs,)}
        self.data = {k: torch.tensor(v).double().reshape(-1, rows, *sizes.get(k, ())) for k, v in request["stored"].items()}
        self.rows, self.o, self.seed = rows, options, request["seed"]
        self.capacity = -(-options["buffer_size"] // rows)
        self.priorities, self.most, self.known = {}, 1.0, 0

    def starts(self, count):
        """All admissible (frame, row), oldest first."""
        return [(f, r) for f in range(max(0, count - self.capacity), count - self.o["n_step"] + 1) for r in range(self.rows)]

    def draw(self, count, number):
        n, starts, key = self.o["batch_size"], self.starts(count), oracle.key_of(self.seed, oracle.LEARNER, 0, number)
        draws = [oracle.key_of(key, 0, 0, i) for i in range(n)]
        if not self.o["prioritized_replay"]:
            return [starts[d * len(starts) >> 64] for d in draws], torch.ones(n)
        for start in starts:
            self.priorities.setdefault(start, self.most)
        p = np.array([self.priorities[s] for s in starts])
        mass = (np.arange(n) + np.array([(d >> 11) * 2.0**-53 for d in draws])) * p.sum() / n
        chosen = np.searchsorted(np.cumsum(p), mass, side="right")
        weight = torch.tensor((len(starts) * p[chosen] / p.sum()) ** -self.o["priority_beta"])
        return [starts[i] for i in chosen], weight / weight.max()

    def window(self, frame, row):
        total, discount, d = 0.0, 1.0, self.data
        for f in range(frame, frame + self.o["n_step"]):
            total, discount = total + discount * d["reward"][f, row], discount * self.o["gamma"]
            if d["terminated"][f, row] or d["truncated"][f, row]:
                break
        return total, 0.0 if d["terminated"][f, row] else discount, d["next_obs"][f, row]

    def batch(self, starts):
        windows = [self.window(*s) for s in starts]
        pick = lambda name: torch.stack([self.data[name][s] for s in starts])  # noqa: E731
        return pick("obs"), pick("action"), *(torch.stack([torch.as_tensor(w[i]) for w in windows]) for i in range(3))

    def prioritize(self, starts, errors):
        for start, error in zip(starts, errors.tolist()):
            self.priorities[start] = float(np.float32((error + self.o["priority_eps"]) ** self.o["priority_alpha"]))
            self.most = max(self.most, self.priorities[start])


def step(values, gradient, steps, lr, limit=0):
    """Adam in place on [weights, m, v]."""
    oracle.clip([gradient], limit)
    values[:] = oracle.adam(values[0], gradient, values[1], values[2], steps, lr, eps=1e-8)


def update(state, replay, count, o, losses):
    agent, number = Agent(state), state.updates
    starts, weight = replay.draw(count, number)
    obs, action, reward, discount, next_obs = replay.batch(starts)
    n = len(starts)
    noise, next_noise = (
        torch.tensor(normals(oracle.key_of(replay.seed, oracle.LEARNER, row, number), n * state.actions)).reshape(n, -1) for row in (2, 3)
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
    step(state.critics, params.grad, state.critic_steps, rate["critic_lr"], o["grad_clip"])
    if o["prioritized_replay"]:
        replay.prioritize(starts, (q - target).detach().abs().mean(0))

    params = state.actor[0].clone().requires_grad_(True)
    chosen, logp = agent.sample(params, obs, noise)
    actor_loss = (alpha * logp - agent.values(state.critics[0], obs, chosen).min(0).values).mean()
    actor_loss.backward()
    state.actor_steps += 1
    step(state.actor, params.grad, state.actor_steps, o["lr"], o["grad_clip"])

    if learned:
        goal = -state.actions if o["target_entropy"] == "auto" else o["target_entropy"]
        log_alpha = torch.tensor(state.alpha[0], requires_grad=True)
        (-(log_alpha * (logp + goal).detach()).mean()).backward()
        state.alpha_steps += 1
        step(state.alpha, log_alpha.grad, state.alpha_steps, rate["alpha_lr"])
        state.alpha = [float(x) for x in state.alpha]
    state.updates += 1
    if state.updates % o["target_update_interval"] == 0:
        state.targets = (1 - o["tau"]) * state.targets + o["tau"] * state.critics[0]
    for name, value in (("critic_loss", critic_loss), ("actor_loss", actor_loss), ("alpha", alpha), ("entropy", -logp.mean()), ("q", q.mean())):
        losses.setdefault(name, []).append(float(torch.as_tensor(value).detach()))


def run(request, options):
    state, losses = State(request["before"]), {}
    replay = Replay(request, options, state)
    for count in request["frames"]:
        update(state, replay, count, options, losses)
    return state, losses


def largest(ours, theirs):
    return max((abs(a - b) for a, b in zip(ours, theirs, strict=True)), default=0.0)


def answer(request):
    ours, losses = run(request, request["options"])
    theirs = State(request["after"])
    distance = {
        "actor": float((ours.actor[0] - theirs.actor[0]).abs().max()),
        "critics": float((ours.critics[0] - theirs.critics[0]).abs().max()),
        "targets": float((ours.targets - theirs.targets).abs().max()),
        "log alpha": abs(ours.alpha[0] - theirs.alpha[0]) if ours.alpha_steps or theirs.alpha_steps else 0.0,
        "steps": abs(ours.actor_steps - theirs.actor_steps) + abs(ours.critic_steps - theirs.critic_steps) + abs(ours.updates - theirs.updates),
    }
    for name, values in losses.items():
        distance[name] = largest(values, request["losses"][name])
    without = 0.0
    if request.get("base"):
        plain, _ = run(request, request["base"])
        without = max(float((getattr(plain, k)[0] - getattr(ours, k)[0]).abs().max()) for k in ("actor", "critics"))
        without = max(without, float((plain.targets - ours.targets).abs().max()), abs(plain.alpha[0] - ours.alpha[0]))
    return {"distance": distance, "without": without}


oracle.serve(answer)
