"""Part of the env processes' program: rows of pettingzoo.ParallelEnv."""


class AgentGroup:
    """Agents with equal spaces; their channels are named "NAME/obs" and so on, or "obs" if all agents belong to it."""

    def __init__(self, agents, observed, acted):
        self.agents, self.observed, self.acted = agents, observed, acted
        self.name, self.number = "", 0

    def place_mask(self, infos, notice):
        """Sets the owner of the action masks: "observation", "infos" or "" if there are none."""
        self.actions = Actions(self.acted)
        own = [infos.get(agent) for agent in self.agents]
        self.mask_in = "observation" if is_masked(self.observed) else "infos" if any(map(has_mask, own)) else ""
        if not self.mask_in or isinstance(self.acted, spaces.Discrete):
            return
        if self.mask_in == "observation":
            raise Refusal(f"action_mask: expected a Discrete action_space, got {type(self.acted).__name__}; use a wrapper to convert it")
        notice("mask", "infos have an action_mask, which is ignored: it needs a Discrete action_space")
        self.mask_in = ""

    def channels(self, named, notice):
        space = without_mask(self.observed) if self.mask_in == "observation" else self.observed
        self.observations = Observations(space, named, notice)
        self.is_plain = is_plain(self.observed)
        channels = self.observations.channels() + self.actions.leaves
        if self.mask_in:
            flag = {"role": "action_mask", "dtype": "u8", "space": "multi_binary"}
            channels.append({"name": "action_mask", **flag, "shape": (int(self.acted.n),)})
        prefix = self.name and self.name + "/"
        return [one | {"name": prefix + one["name"], "scope": "agent", "group": self.number} for one in channels]

    def bind(self, arrays):
        prefix = self.name and self.name + "/"
        arrays = {name[len(prefix):]: array for name, array in arrays.items() if name.startswith(prefix)}
        self.observations.bind(arrays)
        self.taken = [arrays[leaf["name"]] for leaf in self.actions.leaves]
        self.mask = arrays.get("action_mask")

    def show(self, i, observations, infos, shown, acting):
        """Writes the observations of the agents in `shown`, and masks of those that act next; other agents get zeros."""
        for a, agent in enumerate(self.agents):
            if self.mask_in:
                self.mask[i, a] = 1
            if agent not in shown:
                self.observations.clear((i, a))
                continue
            observation = observations[agent]
            if self.mask_in and agent in acting:
                self.put_mask(i, a, observation if self.mask_in == "observation" else infos.get(agent, {}))
            if self.mask_in == "observation" and self.is_plain:
                observation = observation["observation"]
            self.observations.put((i, a), observation)

    def put_mask(self, i, a, source):
        if "action_mask" not in source:
            raise ValueError(f"infos of agent '{self.agents[a]}': expected an action_mask, as in reset, got {sorted(source)}")
        mask = numpy.asarray(source["action_mask"]).reshape(-1)
        n = int(self.acted.n)
        if len(mask) != n:
            raise ValueError(f"action_mask of agent '{self.agents[a]}': expected {n} flags, got {len(mask)}")
        self.mask[i, a] = mask != 0

    def choices(self, begin, end):
        """The actions of rows [begin, end): a list of an action per agent for each."""
        actions = self.actions.build([a[begin:end].reshape(-1, *a.shape[2:]) for a in self.taken])
        n = len(self.agents)
        return [actions[at:at + n] for at in range(0, n * (end - begin), n)]


def groups_of(env):
    """The agents by their spaces, in the order of possible_agents, which also orders the groups."""
    groups = []
    for agent in env.possible_agents:
        observed, acted = env.observation_space(agent), env.action_space(agent)
        for group in groups:
            if group.observed == observed and group.acted == acted:
                group.agents.append(agent)
                break
        else:
            groups.append(AgentGroup([agent], observed, acted))
    if len(groups) > 1:
        name_groups(groups)
    return groups


def name_groups(groups):
    """Names and numbers groups: "adversary" for adversary_0 and adversary_1, an agent's own name if two groups have that name."""
    stems = [common_stem(group.agents) for group in groups]
    for number, (group, stem) in enumerate(zip(groups, stems), start=1):
        taken = {other.name for other in groups}
        own = str(group.agents[0]).replace("/", "_")
        choices = [stem if stems.count(stem) == 1 else "", own if len(group.agents) == 1 else "", f"group_{number}"]
        group.name, group.number = next(name for name in choices if name and name not in taken), number


def common_stem(agents):
    """The agents' common name without its number; "" if they have none."""
    stems = {re.sub(r"[_-]?[0-9]+$", "", str(agent)).replace("/", "_") for agent in agents}
    return stems.pop() if len(stems) == 1 else ""


class ParallelRows(Rows):
    """Rows of pettingzoo.ParallelEnv: arrays have a part for each possible agent, group by group."""

    def describe(self, env):
        self.groups = groups_of(env)
        self.agents = [agent for group in self.groups for agent in group.agents]
        first = ParallelProbe(env, "pettingzoo")  # names an older API
        first.reset(0)
        for group in self.groups:
            group.place_mask(first.infos or {}, self.notice)
        self.mask_in = any(group.mask_in for group in self.groups)
        self.state_shape = self.shape_of_state(env)
        agent = {"scope": "agent", "shape": ()}
        flag = {"dtype": "u8", "space": "multi_binary", "shape": ()}
        number = {"dtype": "f32", "space": "box"}
        channels = [channel for group in self.groups for channel in group.channels(self.named, self.notice)]
        channels.append({"name": "alive", "role": "alive", **flag, **agent})
        if self.state_shape is not None:
            channels.append({"name": "state", "role": "state", **number, "shape": self.state_shape})
        channels.append({"name": "reward", "role": "reward", **number, **agent})
        channels += [{"name": name, "role": "info", **flag, **agent} for name in ("agent_ended", "agent_truncated")]
        channels += [{"name": name, "role": name, **flag} for name in ("terminated", "truncated")]
        if self.has_groups():
            channels += [{"name": f"ep/return/{group.name}", "role": "info", **number, "shape": ()} for group in self.groups]
        return channels

    def has_groups(self):
        return len(self.groups) > 1

    def shape_of_state(self, env):
        """None: the env has no method `state`. An attribute of this name is the env's own."""
        layer = env
        while layer is not None:
            if not callable(getattr(layer, "state", None)):
                return None
            inner = getattr(layer, "__dict__", {})
            layer = inner.get("env", inner.get("aec_env"))
        try:
            return numpy.asarray(env.state()).shape
        except NotImplementedError:
            return None

    def bind(self, arrays):
        self.arrays = arrays
        for group in self.groups:
            group.bind(arrays)
        self.returns = numpy.zeros((self.n, len(self.groups)))  # of the rows' episodes so far

    def show(self, i, observations, infos, shown, alive, acting):
        arrays = self.arrays
        for a, agent in enumerate(self.agents):
            arrays["alive"][i, a] = agent in alive
        for group in self.groups:
            group.show(i, observations, infos, shown, acting)
        if self.state_shape is not None:
            state = numpy.asarray(self.envs[i].state())
            if state.shape != self.state_shape:
                raise ValueError(f"state(): expected the shape {self.state_shape} of the first one, got {state.shape}")
            arrays["state"][i, ...] = state

    def step(self, begin, end):
        actions = [group.choices(begin, end) for group in self.groups]
        for i in range(begin, end):
            self.at = i
            live = list(self.envs[i].agents)
            chosen = {agent: action for group, rows in zip(self.groups, actions)
                      for agent, action in zip(group.agents, rows[i - begin]) if agent in live}
            self.take(i, live, self.steps[i](chosen))
        self.at = -1

    def add_returns(self, i):
        """Adds a step's rewards to the return of each group, which the host averages over the episodes that end."""
        first = 0
        for g, group in enumerate(self.groups):
            self.returns[i, g] += self.arrays["reward"][i, first:first + len(group.agents)].sum(dtype=float)
            self.arrays[f"ep/return/{group.name}"][i] = self.returns[i, g]
            first += len(group.agents)

    def get_states(self):
        states = super().get_states()
        return [pickle.dumps((state, own)) for state, own in zip(states, self.returns)] if self.has_groups() else states

    def set_states(self, states):
        if self.has_groups():
            pairs = [pickle.loads(state) for state in states]
            states = [state for state, _ in pairs]
            self.returns[:] = [own for _, own in pairs]
        super().set_states(states)

    def take(self, i, live, result):
        """Writes the result of a step in which the agents `live` acted."""
        arrays, env = self.arrays, self.envs[i]
        observations, rewards, terminations, truncations, infos = result
        terminated = {agent for agent in live if terminations.get(agent, False)}
        truncated = {agent for agent in live if truncations.get(agent, False)} - terminated
        staying = set(live) - terminated - truncated
        check_agents(set(env.agents), set(live), staying)
        for a, agent in enumerate(self.agents):
            reward = rewards.get(agent, 0)
            if agent not in live and reward:
                self.notice("reward", f"agent '{agent}' got a reward of {reward} after it had left; such rewards are left out")
            arrays["reward"][i, a] = reward if agent in live else 0
            arrays["agent_ended"][i, a] = agent in terminated
            arrays["agent_truncated"][i, a] = agent in truncated
        if self.has_groups():
            self.add_returns(i)
        is_over = not staying
        arrays["terminated"][i] = is_over and not truncated
        arrays["truncated"][i] = is_over and bool(truncated)
        if not self.mask_in and any(has_mask(infos.get(agent)) for agent in staying):
            self.notice("mask", "infos have an action_mask, which is ignored, because the first reset returned none")
        for agent in staying | truncated:
            if agent not in observations:
                raise ValueError(f"step: expected an observation of agent '{agent}', which acted and is not terminated, got none")
        # A learner needs the last observation of an agent that is truncated, and of all agents at the end of an episode.
        shown = set(observations).intersection(live) if is_over else staying | truncated
        self.show(i, observations, infos, shown, shown if is_over else staying, staying)

    def reset(self, places, seeds):
        for i in places:
            self.at = i
            observations, infos = self.resets[i](seed=seed_of(seeds[i]))
            self.returns[i] = 0
            agents = set(self.envs[i].agents)
            if not agents or not agents <= set(self.agents) or not agents <= set(observations):
                raise ValueError(
                    f"reset: expected env.agents among possible_agents {self.agents}, each with an observation, got agents "
                    f"{self.envs[i].agents} and observations of {list(observations)}"
                )
            self.show(i, observations, infos, agents, agents, agents)
        self.at = -1

    def time_limit(self, env):
        """PettingZoo's own envs have `max_cycles`; 0: this env has none."""
        limit = getattr(getattr(env, "unwrapped", env), "max_cycles", None)
        return limit if isinstance(limit, int) and limit > 0 else 0

    def goes_on(self, env):
        for agent in self.agents:
            env.action_space(agent).seed(0)
        env.reset(seed=0)
        env.step({agent: env.action_space(agent).sample() for agent in env.agents})
        other = pickle.loads(pickle.dumps(env, protocol=5))
        actions = {agent: env.action_space(agent).sample() for agent in env.agents}
        here, there = env.step(actions), other.step(copy.deepcopy(actions))
        same = here[1:4] == there[1:4] and here[0].keys() == there[0].keys() and all(
            numpy.array_equal(spaces.flatten(env.observation_space(a), here[0][a]), spaces.flatten(env.observation_space(a), there[0][a]))
            for a in here[0]
        )
        return "" if same else "a copy by pickle steps differently"


CHECKED = "(pettingzoo.test.parallel_api_test checks this)"


def check_agents(agents, live, staying):
    """PettingZoo's rule: agents leave env.agents in the step in which they are terminated or truncated, and never return."""
    if agents == staying:
        return
    late, lost, new = agents & live - staying, staying - agents, agents - live
    if late:
        what = f"are terminated or truncated, and env.agents still has them: remove them there {CHECKED}"
    elif lost:
        what = f"have left env.agents, but are neither terminated nor truncated: set one of these flags {CHECKED}"
    else:
        what = "are new in env.agents: agents that join or return within an episode are not supported"
    names = ", ".join(sorted(f"'{agent}'" for agent in late or lost or new))
    raise ValueError(f"step: agents {names} {what}")


def has_mask(info):
    return isinstance(info, dict) and "action_mask" in info


def is_masked(space):
    """True for an observation with an action mask."""
    return isinstance(space, spaces.Dict) and "action_mask" in space.spaces and len(space.spaces) > 1


def is_plain(space):
    """True for PettingZoo's usual observation with an action mask, in which `observation` is all the rest."""
    return isinstance(space, spaces.Dict) and set(space.spaces) == {"observation", "action_mask"}


def without_mask(space):
    if is_plain(space):
        return space["observation"]
    return spaces.Dict({key: part for key, part in space.spaces.items() if key != "action_mask"})


def pettingzoo_maker(config):
    import pettingzoo  # noqa: F401 report its absence first

    places = []
    if config["file"]:
        module = module_of_file(config["file"])
        places.insert(0, module)
        make = class_in(module, config)
    else:
        try:
            module = importlib.import_module(config["id"])
        except ImportError as e:
            raise Refusal(f"id: {e}; expected a module with `parallel_env`, such as pettingzoo.butterfly.pistonball_v6{cure(e)}") from e
        if not hasattr(module, "parallel_env"):
            raise Refusal(f"id: expected a Parallel env of PettingZoo, got '{config['id']}', which has no `parallel_env`")
        make = module.parallel_env

    def made(**more):
        env = make(**copy.deepcopy(config["kwargs"]), **more)
        for attribute in ("reset", "step", "observation_space", "action_space", "possible_agents"):
            if not hasattr(env, attribute):
                raise Refusal(f"expected a Parallel env of PettingZoo, got '{config['id'] or config['class']}', which has no '{attribute}'")
        return wrapped(env, config["wrappers"], places)

    return made
