"""Computes MAPPO's iterations from learner.mappo's rollouts; a test compares the resulting weights.

Request and answer are as in ppo_oracle.py. "agents" is the number per row, and rollouts have AgentRollout's names.
"""

import torch_oracle as oracle
from torch_oracle import torch


class State:
    def __init__(self, text):
        saved = oracle.Saved(text)
        magic, self.tanh, self.obs, self.state, self.actions = saved.take("Q", 5)
        kind = magic.to_bytes(8, "little")
        self.memory = saved.take("Q") if kind in (b"BPMPPOM\0", b"BPMPPO2\0") else 0
        parts = saved.take("Q") if kind == b"BPMPPO2\0" else 0
        self.parts = [(("numbers", "choice", "bits")[saved.take("Q")], saved.take("Q")) for _ in range(parts)] or [("choice", self.actions)]
        self.actor = [int(n) for n in saved.array("<u8")]
        self.critic = [int(n) for n in saved.array("<u8")]
        self.params, self.m, self.v = (saved.array("<f4") for _ in range(3))
        self.steps = saved.take("q")
        self.norm = ValueNorm(saved.take("d", 3))
        self.epochs = saved.take("Q")


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
    def __init__(self, state, params):
        self.act, self.state, at = (torch.tanh if state.tanh else torch.relu), state, 0
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


def iterate(state, rollout, options, seed, progress, agents):
    """One iteration, in place; returns which agents live, the expected log-probabilities of their actions and states of their memories, and
    the losses of each gradient step."""
    o = options
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

    net = Net(state, state.params)
    carry = rollout.memory.double() if state.memory else None
    remembered = 0.0
    with torch.no_grad():
        seen = obs[:steps]
        if state.memory:
            never = torch.zeros(1, everyone, dtype=torch.bool)
            seen = torch.cat([net.memory(obs[t : t + 1], carry[t], never) for t in range(steps)])
            # The state of an agent that does not live stays as it is.
            after = torch.where(alive[:steps].unsqueeze(-1), seen, carry[:steps])
            remembered = oracle.away(carry[1:], torch.where((over | cut).unsqueeze(-1), 0.0, after))
        old_logp, _ = net.log_prob_and_entropy(seen, action, mask)
        predicted = net.values(obs, world)
        following = predicted[1:].clone()
        for end, place in enumerate(rollout.final_index.tolist()):
            t, row = divmod(place, rows)
            last = rollout.final_obs.double().reshape(-1, agents, state.obs)[end]
            seen = rollout.final_state.double()[end].expand(agents, -1) if world is not None else None
            following[t, row * agents : (row + 1) * agents] = net.values(last, seen)
    norm = state.norm
    value, after = ((x * norm.deviation + norm.mean if o["value_norm"] else x) for x in (predicted[:steps], following))
    goes_on = ~over & ~ended & (cut | alive[1:])
    reward = rollout.reward.double() * o["reward_scale"]
    advantage = oracle.advantages(reward, value, after, goes_on.double(), (goes_on & ~cut).double(), o["gamma"], o["lambda"])

    there = alive[:steps]
    step_of = (torch.arange(steps).unsqueeze(1) * rows + torch.arange(everyone) // agents)[there]
    taken = action.map(lambda each: each[there])
    columns = [x[there] if x is not None else None for x in (obs[:steps], world[:steps] if world is not None else None, old_logp, advantage,
                                                            advantage + value, predicted[:steps], mask)]
    n = len(step_of)
    if o["normalize_advantages"] == "iteration":
        a = columns[3]
        columns[3] = (a - a.mean()) / (a.std(correction=0) + 1e-5)
    # Samples of an env step, or sequences of some env steps of a row.
    groups, each = [list(torch.nonzero(step_of == step)) for step in step_of.unique()], 1
    if state.memory:
        each, groups, starts = o["memory"]["sequence"], [], {}
        number = torch.full((steps, everyone), -1)
        number[there] = torch.arange(n)
        for begin in range(0, steps, each):
            for row in range(rows):
                groups.append([])
                for agent in range(row * agents, (row + 1) * agents):
                    times = [t for t in range(begin, min(begin + each, steps)) if there[t, agent]]
                    if times:
                        done = (over | cut)[:, agent]
                        fresh = [False] + [bool(done[a:b].any()) for a, b in zip(times, times[1:])]
                        groups[-1].append(number[times, agent])
                        starts[int(groups[-1][-1][0])] = (carry[times[0], agent], torch.tensor(fresh).unsqueeze(1))
    n = sum(map(len, groups))
    count = -(-n // (o["minibatch_size"] // each)) if o["minibatch_size"] > 0 else min(o["num_minibatches"], n)
    lr = o["lr"] * (1 - progress if o["lr_schedule"] == "linear" else 1)
    entropy_coeff = o["entropy_coeff"] * (1 - progress if o["entropy_schedule"] == "linear" else 1)
    vf_clip = (o["vf_clip_param"] or o["clip_param"]) if o["vf_clip"] else 0
    stopped, losses = False, []
    for _ in range(o["num_epochs"]):
        order = sum((groups[i] for i in oracle.shuffled(len(groups), seed, state.epochs)), [])
        state.epochs += 1
        for begin, end in oracle.parts(n, count):
            picked = torch.cat(order[begin:end])
            x, world_x, before, adv, goal, old, allowed = (c[picked] if c is not None else None for c in columns)
            if o["normalize_advantages"] == "minibatch" and len(adv) > 1:
                adv = (adv - adv.mean()) / (adv.std() + 1e-8)
            if o["value_norm"]:
                norm.add(goal)
                goal = (goal - norm.mean) / norm.deviation
            params = state.params.clone().requires_grad_(True)
            net = Net(state, params)
            seen = x
            if state.memory:
                runs = [(columns[0][samples].unsqueeze(1), *starts[int(samples[0])]) for samples in order[begin:end]]
                seen = torch.cat([net.memory(own, first.unsqueeze(0), fresh).squeeze(1) for own, first, fresh in runs])
            logp, entropy = net.log_prob_and_entropy(seen, taken.map(lambda each: each[picked]), allowed)
            log_ratio = logp - before
            of_policy = oracle.policy_loss(log_ratio.exp(), adv, o["clip_param"])
            of_value = oracle.value_loss(net.values(x, world_x), old, goal, vf_clip, o["huber_delta"])
            loss = of_policy - entropy_coeff * entropy.mean() + o["vf_loss_coeff"] * of_value
            losses.append((float(of_policy.detach()), float(of_value.detach())))
            if o["kl_target"] > 0 and float((log_ratio.exp() - 1 - log_ratio).mean().detach()) > 1.5 * o["kl_target"]:
                stopped = True
                break
            loss.backward()
            halves = [params.grad[: net.split], params.grad[net.split :]] if o["separate_grad_clip"] else [params.grad]
            for half in halves:
                oracle.clip([half], o["grad_clip"])
            state.steps += 1
            state.params, state.m, state.v = oracle.adam(params.detach(), params.grad, state.m, state.v, state.steps, lr)
        if stopped:
            break
    return there, old_logp, remembered, losses


def answer(request):
    distance, without, largest, losses = {}, 0.0, 0.0, []
    states = [request["before"]] + request["after"]
    # Each iteration begins with the learner's own state, so that rounding does not accumulate.
    for tensors, before, after, progress in zip(request["rollouts"], states, states[1:], request["progress"]):
        rollout, agents = oracle.Rollout(tensors), request["agents"]
        ours, theirs, plain = State(before), State(after), State(before)
        begin = ours.params.clone()
        there, logp, remembered, more = iterate(ours, rollout, request["options"], request["seed"], progress, agents)
        losses += more
        largest = max(largest, float((theirs.params - ours.params).abs().max()))
        found = {
            "params": oracle.apart(theirs.params, ours.params, begin),
            "steps": abs(theirs.steps - ours.steps),
            "epochs": abs(theirs.epochs - ours.epochs),
            "first moments": oracle.away(theirs.m, ours.m),
            "second moments": oracle.away(theirs.v, ours.v),
            "logp": oracle.away(rollout.logp.double()[there], logp[there]),
            "memory": remembered,
            "value norm": oracle.away(theirs.norm.sums(), ours.norm.sums()) if request["options"]["value_norm"] else 0.0,
        }
        for name, x in found.items():
            distance[name] = max(distance.get(name, 0.0), x)
        if request.get("base"):
            iterate(plain, rollout, request["base"], request["seed"], progress, agents)
            without = max(without, oracle.apart(plain.params, ours.params, begin))
    return {"distance": distance, "without": without, "largest": largest, "losses": losses}


oracle.serve(answer)
