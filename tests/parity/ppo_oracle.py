"""Computes PPO's iterations from learner.ppo's rollouts; a test compares the resulting weights.

Reads one JSON object per line from stdin and answers each with one JSON line on stdout; "error" holds a message.

  {"options": {..}, "base": {..}, "seed": 1, "choices": [names of channels with choices and bits], "before": hex of the learner's state,
   "after": [hex of it after each iteration], "rollouts": [{name: {"shape": [..], "values": [..]}}], "progress": [..]}
  -> {"distance": {"params": x, ..}, "without": x, "largest": x, "losses": [[policy, value], ..]}
      distance: between the learner's and these results, `params` in lengths of the update. without: the same between these results and
      the results with the options in "base"; it proves that the test would notice an ignored option. largest: difference of a parameter.
      losses: of each gradient step.
"""

import torch_oracle as oracle
from torch_oracle import torch

class State:
    def __init__(self, text):
        saved = oracle.Saved(text)
        _, flags, self.obs, self.actions = saved.take("Q", 4)
        _, self.tanh, self.shared, self.sde, remembers, several, sees = (bool(flags >> bit & 1) for bit in range(7))
        self.memory = saved.take("Q") if remembers else 0
        self.images = [saved.take("Q", 4) for _ in range(saved.take("Q") if sees else 0)]
        plain = [("choice" if flags & 1 else "numbers", self.actions)]
        count = saved.take("Q") if several else 0
        self.parts = [(("numbers", "choice", "bits")[saved.take("Q")], saved.take("Q")) for _ in range(count)] or plain
        self.actor = [int(n) for n in saved.array("<u8")]
        self.critic = [int(n) for n in saved.array("<u8")]
        self.params, self.m, self.v = (saved.array("<f4") for _ in range(3))
        self.steps = saved.take("q")
        self.obs_norm = Norm(saved.take("d"), saved.array("<f8"), saved.array("<f8"))
        self.reward_norm = Norm(saved.take("d"), saved.array("<f8"), saved.array("<f8"))
        self.returns = saved.array("<f8")
        self.lr, self.epochs = saved.take("d"), saved.take("Q")


class Norm:
    """Count, mean and population variance of all values; initial values as in Baselines."""

    def __init__(self, count, mean, var):
        self.count, self.mean, self.var = count, mean, var

    def add(self, x):
        n = len(x)
        total = self.count + n
        second = (self.count * (self.var + self.mean**2) + (x**2).sum(0)) / total
        self.mean = (self.count * self.mean + x.sum(0)) / total
        self.var, self.count = second - self.mean**2, total


class Net:
    def __init__(self, state, params):
        self.state, self.memories = state, []
        act = torch.tanh if state.tanh else torch.relu
        at = 0

        def tower(sizes, outputs, inputs, trunk=None):
            nonlocal at
            layers = [] if trunk is None else trunk
            if trunk is None and state.memory:
                self.memories.append(oracle.Gru(params, at, inputs, state.memory))
                at, inputs = self.memories[-1].end, state.memory
            for size in sizes if trunk is None else []:
                layers.append(oracle.Linear(params, at, inputs, size))
                inputs, at = size, layers[-1].end
            if trunk is not None and trunk:
                inputs = trunk[-1].bias.numel()
            head = oracle.Linear(params, at, inputs, outputs)
            at = head.end
            return layers, head

        self.visions, inputs = [], state.obs
        for image in state.images:
            self.visions.append(Vision(params, at, *image))
            at, inputs = self.visions[-1].end, inputs + 512
        self.trunk, self.policy = tower(state.actor, state.actions, inputs)
        self.critic, self.value = tower(state.critic, 1, inputs, self.trunk if state.shared else None)
        self.log_std = params[at:]
        self.act = act

    def remembered(self, obs, carry, fresh):
        """States of the actor's and of the critic's memory after each entry of obs [T, n, ..], from carry [n, ..]; `fresh` [T, n]: entries
        before which the state is 0. Without a memory, the observations."""
        if not self.memories:
            return obs, obs
        seen = [memory(obs, state, fresh) for memory, state in zip(self.memories, carry.split(self.state.memory, -1))]
        return seen[0], seen[-1]

    def joined(self, obs, images):
        """The features of images, then the observations."""
        return torch.cat([vision(image) for vision, image in zip(self.visions, images)] + [obs], -1)

    def hidden(self, layers, x):
        for layer in layers:
            x = self.act(layer(x))
        return x

    def values(self, obs):
        return self.value(self.hidden(self.critic, obs)).squeeze(-1)

    def log_prob_and_entropy(self, obs, action, mask):
        hidden = self.hidden(self.trunk, obs)
        head = self.policy(hidden)
        return oracle.log_prob_and_entropy(self.state.parts, head, action, mask, lambda own, first: self.deviations(hidden, own, first))

    def deviations(self, hidden, mean, first):
        if self.state.sde:  # the noise sends no gradient to the latent, as in SB3
            std = self.log_std.exp().reshape(-1, self.state.actions)
            return (hidden.detach() ** 2 @ std**2 + 1e-6).sqrt()
        return self.log_std[first : first + mean.shape[-1]].exp().expand_as(mean)


class Vision:
    """PyTorch's convolutions over weights [patch, filters], whose patches have the order of the image: [channel, y, x] if it is planar,
    else [y, x, channel]; then 512 features of [y, x, channel]."""

    def __init__(self, params, at, height, width, channels, planar):
        self.shape = (channels, height, width) if planar else (height, width, channels)
        self.order, self.planar, self.layers = (0, 3, 1, 2), planar, []
        for filters, kernel, stride in ((32, 8, 4), (64, 4, 2), (64, 3, 1)):
            layer = oracle.Linear(params, at, kernel * kernel * channels, filters)
            first_planar = planar and not self.layers
            weight = layer.weight.T.reshape((filters, channels, kernel, kernel) if first_planar else (filters, kernel, kernel, channels))
            self.layers.append((weight if first_planar else weight.permute(self.order), layer.bias, stride))
            at, channels, height, width = layer.end, filters, (height - kernel) // stride + 1, (width - kernel) // stride + 1
        self.dense = oracle.Linear(params, at, channels * height * width, 512)
        self.end = self.dense.end

    def __call__(self, pixels):
        x = pixels.reshape(-1, *self.shape).double() / 255
        x = x if self.planar else x.permute(self.order)
        for weight, bias, stride in self.layers:
            x = torch.relu(torch.conv2d(x, weight, bias, stride))
        x = torch.relu(self.dense(x.permute(0, 2, 3, 1).flatten(1)))
        return x.reshape(*pixels.shape[:-3], 512)


def iterate(state, rollout, options, choices, seed, progress):
    """One iteration, in place; returns the expected log-probabilities and values of the actor's steps, and the losses of each gradient
    step."""
    o = options
    rows, steps = rollout.reward.shape[1], rollout.reward.shape[0]

    def normalized(x):
        norm = state.obs_norm
        return ((x - norm.mean) / (norm.var + 1e-8).sqrt()).clamp(-10, 10) if o["normalize_obs"] else x

    obs = normalized(rollout.obs.double())
    images = [getattr(rollout, "obs/image")] if state.images else []
    action = oracle.Action.of(rollout, choices)
    mask = rollout.action_mask[:steps] if rollout.has("action_mask") else None
    net = Net(state, state.params)
    done = rollout.terminated.bool() | rollout.truncated.bool()
    fresh = torch.cat([torch.zeros(1, rows, dtype=torch.bool), done])
    carry = rollout.memory.double() if state.memory else torch.zeros(steps + 1, rows, 0)
    with torch.no_grad():
        seen, valued = net.remembered(net.joined(obs, images), carry[0], fresh)
        old_logp, _ = net.log_prob_and_entropy(seen[:steps], action, mask)
        values = net.values(valued)
        following = values[1:].clone().reshape(-1)
        if len(rollout.final_index):
            last = rollout.final_index.long()
            after = [each[:steps].reshape(steps * rows, -1)[last] for each in ((seen, valued) if len(net.memories) > 1 else (seen,))]
            _, valued = net.remembered(
                net.joined(normalized(rollout.final_obs.double()), [getattr(rollout, "final_obs/image")] if images else []).unsqueeze(0), torch.cat(after, -1), torch.zeros(1, len(last), dtype=torch.bool)
            )
            following[last] = net.values(valued[0])
        following = following.reshape(steps, rows)
    losses = []
    said = (old_logp, values[:steps], losses)
    terminated = rollout.terminated.bool()

    reward = rollout.reward.double().clone()
    if o["normalize_rewards"]:
        for t in range(steps):
            state.returns = state.returns * o["gamma"] + reward[t]
            state.reward_norm.add(state.returns.unsqueeze(1))
            reward[t] = (reward[t] / (state.reward_norm.var + 1e-8).sqrt()).clamp(-10, 10)
            state.returns = torch.where(done[t], 0.0, state.returns)
    advantage = oracle.advantages(reward, values[:steps], following, (~terminated).double(), (~done).double(), o["gamma"], o["lambda"])
    target = advantage + values[:steps]

    def flat(x):
        return x.reshape(rows * steps, *x.shape[2:])

    def linear(name):
        return 1 - progress if o[name] == "linear" else 1.0

    lr = state.lr if o["lr_schedule"] == "kl_adaptive" else o["lr"] * linear("lr_schedule")
    clip = o["clip_param"] * linear("clip_schedule")
    entropy_coeff = o["entropy_coeff"] * linear("entropy_schedule")
    vf_clip = (o["vf_clip_param"] or clip) if o["vf_clip"] else 0
    # Samples, or sequences of one row: [(first step, row), ..].
    length = min(o["memory"]["sequence"], steps) if state.memory else 1
    starts = [(t, row) for t in range(0, steps, length) for row in range(rows)]
    pieces = [torch.arange(t, min(t + length, steps)) * rows + row for t, row in starts]
    n, most = len(pieces), o["minibatch_size"] // (o["memory"]["sequence"] if state.memory else 1)

    def again(net, t, row):
        part = slice(t, min(t + length, steps)), slice(row, row + 1)
        return net.remembered(obs[part], carry[t, row : row + 1], fresh[part])

    action, images = action.map(flat), [flat(each[:steps]) for each in images]
    columns = [flat(x) for x in (obs[:steps], old_logp, advantage, target, values[:steps])] + [flat(mask) if mask is not None else None]
    kls, stopped = [], False
    for _ in range(o["num_epochs"]):
        order = torch.tensor(oracle.shuffled(n, seed, state.epochs))
        state.epochs += 1
        for begin, end in oracle.parts(n, -(-n // most)):
            picked = torch.cat([pieces[i] for i in order[begin:end]])
            x, before, adv, goal, value, allowed = (c[picked] if c is not None else None for c in columns)
            taken = action.map(lambda each: each[picked])
            if o["normalize_advantages"] and len(adv) > 1:
                adv = (adv - adv.mean()) / (adv.std() + 1e-8)
            params = state.params.clone().requires_grad_(True)
            net = Net(state, params)
            valued = x = net.joined(x, [each[picked] for each in images])
            if state.memory:
                seen = [again(net, *starts[i]) for i in order[begin:end]]
                x, valued = (torch.cat([both[k] for both in seen]).squeeze(1) for k in range(2))
            logp, entropy = net.log_prob_and_entropy(x, taken, allowed)
            log_ratio = logp - before
            of_policy = oracle.policy_loss(log_ratio.exp(), adv, clip)
            of_value = oracle.value_loss(net.values(valued), value, goal, vf_clip, 0)
            losses.append([float(of_policy.detach()), float(of_value.detach())])
            loss = of_policy - entropy_coeff * entropy.mean() + o["vf_loss_coeff"] * of_value
            kl = float((log_ratio.exp() - 1 - log_ratio).mean().detach())
            kls.append(kl)
            if o["lr_schedule"] != "kl_adaptive" and o["kl_target"] > 0 and kl > 1.5 * o["kl_target"]:
                stopped = True
                break
            loss.backward()
            oracle.clip([params.grad], o["grad_clip"])
            state.steps += 1
            state.params, state.m, state.v = oracle.adam(params.detach(), params.grad, state.m, state.v, state.steps, lr)
        if stopped:
            break
    if o["normalize_obs"]:
        state.obs_norm.add(flat(rollout.obs[:steps].double()))
    mean_kl = sum(kls) / len(kls)
    if o["lr_schedule"] == "kl_adaptive":
        if mean_kl > 2 * o["kl_target"]:
            state.lr = max(state.lr / 1.5, 1e-6)
        elif mean_kl < o["kl_target"] / 2:
            state.lr = min(state.lr * 1.5, 1e-2)
    return said


def answer(request):
    rollouts = [oracle.Rollout(each) for each in request["rollouts"]]
    distance, without, largest, losses = {}, 0.0, 0.0, []
    # Each iteration begins with the learner's own state, so that rounding does not accumulate.
    states = [request["before"]] + request["after"]
    for rollout, before, after, progress in zip(rollouts, states, states[1:], request["progress"]):
        ours, theirs, plain = State(before), State(after), State(before)
        begin = ours.params.clone()
        logp, value, each = iterate(ours, rollout, request["options"], request["choices"], request["seed"], progress)
        losses += each
        largest = max(largest, float((theirs.params - ours.params).abs().max()))
        found = {
            "params": oracle.apart(theirs.params, ours.params, begin),
            "steps": abs(theirs.steps - ours.steps),
            "epochs": abs(theirs.epochs - ours.epochs),
            "first moments": oracle.away(theirs.m, ours.m),
            "second moments": oracle.away(theirs.v, ours.v),
            "logp": oracle.away(rollout.logp.double(), logp),
            "value": oracle.away(rollout.value.double(), value),
            "lr": abs(theirs.lr / ours.lr - 1),
            "observations' mean": oracle.away(theirs.obs_norm.mean, ours.obs_norm.mean) if ours.obs_norm.count > 1 else 0.0,
            "observations' variance": oracle.away(theirs.obs_norm.var, ours.obs_norm.var),
            "returns' variance": oracle.away(theirs.reward_norm.var, ours.reward_norm.var),
            "running returns": oracle.away(theirs.returns, ours.returns) if ours.reward_norm.count > 1 else 0.0,
        }
        for name, x in found.items():
            distance[name] = max(distance.get(name, 0.0), x)
        if request.get("base"):
            iterate(plain, rollout, request["base"], request["choices"], request["seed"], progress)
            without = max(without, oracle.apart(plain.params, ours.params, begin))
    return {"distance": distance, "without": without, "largest": largest, "losses": losses}


oracle.serve(answer)
