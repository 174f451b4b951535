"""Computes MAPPO's iterations from learner.mappo's rollouts; a test compares the resulting weights.

Request and answer are as in ppo_oracle.py. "agents" is the number per row, and rollouts have AgentRollout's names. With "groups", [[name,
agents], ...], each group has its own nets, and its channels are named "NAME/obs" and so on.
"""

import torch_oracle as oracle
from torch_oracle import torch


class Shape:
    """The nets of a group."""

    def __init__(self, saved, magic):
        self.tanh, self.obs, self.state, self.actions = saved.take("Q", 4)
        kind = magic.to_bytes(8, "little")
        self.memory = saved.take("Q") if kind in (b"BPMPPOM\0", b"BPMPPO2\0") else 0
        parts = saved.take("Q") if kind == b"BPMPPO2\0" else 0
        self.parts = [(("numbers", "choice", "bits")[saved.take("Q")], saved.take("Q")) for _ in range(parts)] or [("choice", self.actions)]
        self.actor = [int(n) for n in saved.array("<u8")]
        self.critic = [int(n) for n in saved.array("<u8")]


class State:
    def __init__(self, text):
        saved = oracle.Saved(text)
        magic = saved.take("Q")
        if magic.to_bytes(8, "little") == b"BPMPPOG\0":
            self.shapes = [Shape(saved, saved.take("Q")) for _ in range(saved.take("Q"))]
        else:
            self.shapes = [Shape(saved, magic)]
        self.params, self.m, self.v = (saved.array("<f4") for _ in range(3))
        self.steps = saved.take("q")
        self.norms = [ValueNorm(saved.take("d", 3)) for _ in self.shapes]
        self.epochs = saved.take("Q")

    def ends(self):
        """The last parameter of each group's nets."""
        ends = []
        for shape in self.shapes:
            ends.append(Net(shape, self.params, ends[-1] if ends else 0).end)
        return ends


class ValueNorm:
    """valuenorm.py of marlbenchmark/on-policy, with its beta and least values."""

    def __init__(self, sums):
        self.mean_sum, self.square_sum, self.weight = sums

    def add(self, x):
        keep = 0.99999
        self.mean_sum = keep * self.mean_sum + (1 - keep) * float(x.mean())
        self.square_sum = keep * self.square_sum + (1 - keep) * float((x**2).mean())
        self.weight = keep * self.weight + (1 - keep)

    @property
    def mean(self):
        return self.mean_sum / max(self.weight, 1e-5)

    @property
    def deviation(self):
        return max(self.square_sum / max(self.weight, 1e-5) - self.mean**2, 0.01) ** 0.5

    def sums(self):
        return torch.tensor([self.mean_sum, self.square_sum, self.weight])


class Net:
    def __init__(self, state, params, at=0):
        self.act, self.state = (torch.tanh if state.tanh else torch.relu), state
        self.towers = []
        for sizes, inputs, outputs in ((state.actor, state.obs, state.actions), (state.critic, state.state + state.obs, 1)):
            layers = []
            if state.memory and not self.towers:
                self.memory = oracle.Gru(params, at, inputs, state.memory)
                inputs, at = state.memory, self.memory.end
            for size in sizes + [outputs]:
                layers.append(oracle.Linear(params, at, inputs, size))
                inputs, at = size, layers[-1].end
            self.towers.append(layers)
            if len(self.towers) == 1:
                numbers = sum(n for kind, n in state.parts if kind == "numbers")
                self.log_std = params[at : at + numbers]
                at = self.split = at + numbers
        self.end = at

    def run(self, tower, x):
        for layer in self.towers[tower][:-1]:
            x = self.act(layer(x))
        return self.towers[tower][-1](x)

    def log_prob_and_entropy(self, obs, action, mask):
        def deviations(mean, first):
            return self.log_std[first : first + mean.shape[-1]].exp().expand_as(mean)

        return oracle.log_prob_and_entropy(self.state.parts, self.run(0, obs), action, mask, deviations)

    def values(self, obs, state):
        return self.run(1, torch.cat([state, obs], -1) if self.state.state > 0 else obs).squeeze(-1)


class Own:
    """A rollout as a group sees it; without groups the rollout itself."""

    OF_ALL = ("reward", "alive", "agent_ended", "agent_truncated")

    def __init__(self, rollout, prefix, is_first, agents, everyone):
        self.rollout, self.prefix, self.agents, self.everyone = rollout, prefix, agents, everyone
        self.names = {} if is_first or not prefix else {"final_obs": f"final_{prefix}obs"}

    def name(self, name):
        own = self.names.get(name, self.prefix + name)
        return own if self.rollout.has(own) else name

    def has(self, name):
        of_another = self.prefix and name in ("action", "action/bits", "raw_action", "action_mask")
        return self.rollout.has(self.prefix + name if of_another else self.name(name))

    def __getattr__(self, name):
        found = getattr(self.rollout, self.name(name))
        if name not in self.OF_ALL or not self.prefix:
            return found
        return found.reshape(len(found), -1, self.everyone)[:, :, self.agents].reshape(len(found), -1)


def views_of(rollout, groups, agents):
    """The rollout and the number of agents of each group."""
    if not groups:
        return [(Own(rollout, "", True, slice(None), agents), agents)]
    views, first, everyone = [], 0, sum(n for _, n in groups)
    for name, n in groups:
        views.append((Own(rollout, name + "/", first == 0, slice(first, first + n), everyone), n))
        first += n
    return views


class Samples:
    """A group's samples of an iteration, with advantages and returns."""

    def __init__(self, state, g, at, rollout, agents, options):
        o, shape, self.at = options, state.shapes[g], at
        self.norm, self.shape = state.norms[g], shape
        steps, everyone = rollout.reward.shape
        action = oracle.Action.of(rollout, [name for name in ("action", "action/bits") if rollout.has(name)])
        rows = everyone // agents
        obs = rollout.obs.double()

        def per_agent(x):  # repeats a row's values for each of its agents
            return x.repeat_interleave(agents, 1)

        world = per_agent(rollout.state.double()) if rollout.has("state") else None
        alive = rollout.alive.bool() if rollout.has("alive") else torch.ones(steps + 1, everyone, dtype=torch.bool)
        ended = rollout.agent_ended.bool() if rollout.has("agent_ended") else torch.zeros(steps, everyone, dtype=torch.bool)
        over, cut = per_agent(rollout.terminated.bool()), per_agent(rollout.truncated.bool())
        mask = rollout.action_mask[:steps] if rollout.has("action_mask") else None

        net = Net(shape, state.params, at)
        carry = rollout.memory.double() if shape.memory else None
        self.remembered = 0.0
        with torch.no_grad():
            seen = obs[:steps]
            if shape.memory:
                never = torch.zeros(1, everyone, dtype=torch.bool)
                seen = torch.cat([net.memory(obs[t : t + 1], carry[t], never) for t in range(steps)])
                # The state of an agent that does not live stays as it is.
                after = torch.where(alive[:steps].unsqueeze(-1), seen, carry[:steps])
                self.remembered = oracle.away(carry[1:], torch.where((over | cut).unsqueeze(-1), 0.0, after))
            self.old_logp, _ = net.log_prob_and_entropy(seen, action, mask)
            predicted = net.values(obs, world)
            following = predicted[1:].clone()
            for end, place in enumerate(rollout.final_index.tolist()):
                t, row = divmod(place, rows)
                last = rollout.final_obs.double().reshape(-1, agents, shape.obs)[end]
                seen = rollout.final_state.double()[end].expand(agents, -1) if world is not None else None
                following[t, row * agents : (row + 1) * agents] = net.values(last, seen)
        norm = self.norm
        value, after = ((x * norm.deviation + norm.mean if o["value_norm"] else x) for x in (predicted[:steps], following))
        goes_on = ~over & ~ended & (cut | alive[1:])
        reward = rollout.reward.double() * o["reward_scale"]
        advantage = oracle.advantages(reward, value, after, goes_on.double(), (goes_on & ~cut).double(), o["gamma"], o["lambda"])

        self.there = there = alive[:steps]
        step_of = (torch.arange(steps).unsqueeze(1) * rows + torch.arange(everyone) // agents)[there]
        self.taken = action.map(lambda each: each[there])
        self.columns = [x[there] if x is not None else None for x in (obs[:steps], world[:steps] if world is not None else None, self.old_logp,
                                                                     advantage, advantage + value, predicted[:steps], mask)]
        if o["normalize_advantages"] == "iteration":
            a = self.columns[3]
            self.columns[3] = (a - a.mean()) / (a.std(correction=0) + 1e-5)
        # Samples of an env step, or sequences of some env steps of a row.
        self.runs, self.each = [list(torch.nonzero(step_of == step)) for step in step_of.unique()], 1
        if shape.memory:
            self.each, self.runs, self.starts = o["memory"]["sequence"], [], {}
            number = torch.full((steps, everyone), -1)
            number[there] = torch.arange(len(step_of))
            for begin in range(0, steps, self.each):
                for row in range(rows):
                    self.runs.append([])
                    for agent in range(row * agents, (row + 1) * agents):
                        times = [t for t in range(begin, min(begin + self.each, steps)) if there[t, agent]]
                        if times:
                            done = (over | cut)[:, agent]
                            fresh = [False] + [bool(done[a:b].any()) for a, b in zip(times, times[1:])]
                            self.runs[-1].append(number[times, agent])
                            self.starts[int(self.runs[-1][-1][0])] = (carry[times[0], agent], torch.tensor(fresh).unsqueeze(1))
        self.n = sum(map(len, self.runs))

    def shuffle(self, seed, epoch):
        self.order = sum((self.runs[i] for i in oracle.shuffled(len(self.runs), seed, epoch)), [])

    def losses(self, params, count, part, o, entropy_coeff):
        """The loss of minibatch `part` of `count`, its KL, and the losses of policy and value; None without samples."""
        begin, end = oracle.parts(self.n, count)[part]
        if begin == end:
            return None
        picked = torch.cat(self.order[begin:end])
        x, world_x, before, adv, goal, old, allowed = (c[picked] if c is not None else None for c in self.columns)
        if o["normalize_advantages"] == "minibatch" and len(adv) > 1:
            adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        if o["value_norm"]:
            self.norm.add(goal)
            goal = (goal - self.norm.mean) / self.norm.deviation
        net = Net(self.shape, params, self.at)
        self.split, self.end = net.split, net.end
        seen = x
        if self.shape.memory:
            runs = [(self.columns[0][samples].unsqueeze(1), *self.starts[int(samples[0])]) for samples in self.order[begin:end]]
            seen = torch.cat([net.memory(own, first.unsqueeze(0), fresh).squeeze(1) for own, first, fresh in runs])
        logp, entropy = net.log_prob_and_entropy(seen, self.taken.map(lambda each: each[picked]), allowed)
        log_ratio = logp - before
        of_policy = oracle.policy_loss(log_ratio.exp(), adv, o["clip_param"])
        vf_clip = (o["vf_clip_param"] or o["clip_param"]) if o["vf_clip"] else 0
        of_value = oracle.value_loss(net.values(x, world_x), old, goal, vf_clip, o["huber_delta"])
        loss = of_policy - entropy_coeff * entropy.mean() + o["vf_loss_coeff"] * of_value
        kl = float((log_ratio.exp() - 1 - log_ratio).mean().detach())
        return loss, kl, float(of_policy.detach()), float(of_value.detach()), end - begin


def step(state, groups, count, part, o, lr, entropy_coeff):
    """One gradient step, in place: each group's loss is the mean over its samples, and its norm is limited separately. Returns the losses of
    policy and value over all samples and whether the KL ends the update."""
    params = state.params.clone().requires_grad_(True)
    found = [group.losses(params, count, part, o, entropy_coeff) for group in groups]
    there = [one for one in found if one]
    total = sum(one[4] for one in there)
    kl, of_policy, of_value = (sum(one[k] * one[4] for one in there) / total for k in (1, 2, 3))
    if o["kl_target"] > 0 and kl > 1.5 * o["kl_target"]:
        return (of_policy, of_value), True
    sum(one[0] for one in there).backward()
    for group, one in zip(groups, found):
        if not one:
            continue
        begin, split, end = group.at, group.split, group.end
        for a, b in ((begin, split), (split, end)) if o["separate_grad_clip"] else ((begin, end),):
            oracle.clip([params.grad[a:b]], o["grad_clip"])
    state.steps += 1
    state.params, state.m, state.v = oracle.adam(params.detach(), params.grad, state.m, state.v, state.steps, lr)
    return (of_policy, of_value), False


def iterate(state, rollout, options, seed, progress, agents, groups):
    """One iteration, in place; returns each group's samples, and the losses of each gradient step."""
    o, ends = options, state.ends()
    views = views_of(rollout, groups, agents)
    own = [Samples(state, g, ends[g - 1] if g else 0, view, n, o) for g, (view, n) in enumerate(views)]
    n, each = sum(group.n for group in own), own[0].each
    count = -(-n // (o["minibatch_size"] // each)) if o["minibatch_size"] > 0 else min(o["num_minibatches"], n)
    lr = o["lr"] * (1 - progress if o["lr_schedule"] == "linear" else 1)
    entropy_coeff = o["entropy_coeff"] * (1 - progress if o["entropy_schedule"] == "linear" else 1)
    losses = []
    for _ in range(o["num_epochs"]):
        for group in own:
            group.shuffle(seed, state.epochs)
        state.epochs += 1
        for part in range(count):
            loss, stops = step(state, own, count, part, o, lr, entropy_coeff)
            losses.append(loss)
            if stops:
                return own, losses
    return own, losses


def answer(request):
    distance, without, largest, losses = {}, 0.0, 0.0, []
    states = [request["before"]] + request["after"]
    # Each iteration begins with the learner's own state, so that rounding does not accumulate.
    for tensors, before, after, progress in zip(request["rollouts"], states, states[1:], request["progress"]):
        rollout, agents, groups = oracle.Rollout(tensors), request["agents"], request.get("groups")
        ours, theirs, plain = State(before), State(after), State(before)
        begin = ours.params.clone()
        own, more = iterate(ours, rollout, request["options"], request["seed"], progress, agents, groups)
        losses += more
        largest = max(largest, float((theirs.params - ours.params).abs().max()))
        found = {
            "params": oracle.apart(theirs.params, ours.params, begin),
            "steps": abs(theirs.steps - ours.steps),
            "epochs": abs(theirs.epochs - ours.epochs),
            "first moments": oracle.away(theirs.m, ours.m),
            "second moments": oracle.away(theirs.v, ours.v),
            "logp": max(oracle.away(view.logp.double()[one.there], one.old_logp[one.there])
                        for one, (view, _) in zip(own, views_of(rollout, groups, agents))),
            "memory": max(one.remembered for one in own),
            "value norm": max(oracle.away(a.sums(), b.sums()) for a, b in zip(theirs.norms, ours.norms)) if request["options"]["value_norm"] else 0.0,
        }
        for name, x in found.items():
            distance[name] = max(distance.get(name, 0.0), x)
        if request.get("base"):
            iterate(plain, rollout, request["base"], request["seed"], progress, agents, groups)
            without = max(without, oracle.apart(plain.params, ours.params, begin))
    return {"distance": distance, "without": without, "largest": largest, "losses": losses}


oracle.serve(answer)
