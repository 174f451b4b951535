"""Part of the env processes' program: rows of pettingzoo.ParallelEnv."""


class ParallelRows(Rows):
    """Rows of pettingzoo.ParallelEnv: arrays have a part for each possible agent, in order."""

    def describe(self, env):
        self.agents = list(env.possible_agents)
        observed = self.space_of_all(env.observation_space, "observation_space")
        self.actions = Actions(self.space_of_all(env.action_space, "action_space"))
        first = ParallelProbe(env, "pettingzoo")  # names an older API
        first.reset(0)
        self.mask_in = self.place_of_mask(observed, first.infos or {})
        self.observations = Observations(without_mask(observed) if self.mask_in == "observation" else observed, self.named, self.notice)
        self.is_plain = is_plain(observed)
        self.state_shape = self.shape_of_state(env)
        agent = {"scope": "agent", "shape": ()}
        flag = {"dtype": "u8", "space": "multi_binary", "shape": ()}
        number = {"dtype": "f32", "space": "box"}
        channels = [channel | {"scope": "agent"} for channel in self.observations.channels()]
        channels += [leaf | {"scope": "agent"} for leaf in self.actions.leaves]
        if self.mask_in:
            shape_of_mask = (int(self.actions.space.n),)
            channels.append({"name": "action_mask", "role": "action_mask", "scope": "agent", **flag, "shape": shape_of_mask})
        channels.append({"name": "alive", "role": "alive", **flag, **agent})
        if self.state_shape is not None:
            channels.append({"name": "state", "role": "state", **number, "shape": self.state_shape})
        channels.append({"name": "reward", "role": "reward", **number, **agent})
        channels += [{"name": name, "role": "info", **flag, **agent} for name in ("agent_ended", "agent_truncated")]
        channels += [{"name": name, "role": name, **flag} for name in ("terminated", "truncated")]
        return channels

    def space_of_all(self, space_of, what):
        """One policy controls all agents, so their spaces must be equal."""
        first = space_of(self.agents[0])
        for agent in self.agents[1:]:
            if space_of(agent) != first:
                raise Refusal(
                    f"{what}: expected the same space for all agents, got {first} for '{self.agents[0]}' and {space_of(agent)} for "
                    f"'{agent}'; use a wrapper to pad them"
                )
        return first

    def place_of_mask(self, observed, infos):
        """The owner of the action masks: "observation", "infos" or "" if there are none."""
        place = "observation" if is_masked(observed) else "infos" if any(map(has_mask, infos.values())) else ""
        if not place or isinstance(self.actions.space, spaces.Discrete):
            return place
        if place == "observation":
            raise Refusal(
                f"action_mask: expected a Discrete action_space, got {type(self.actions.space).__name__}; use a wrapper to convert it"
            )
        self.notice("mask", "infos have an action_mask, which is ignored: it needs a Discrete action_space")
        return ""

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
        self.observations.bind(arrays)
        self.acted = [arrays[leaf["name"]] for leaf in self.actions.leaves]

    def show(self, i, observations, infos, shown, alive, acting):
        """Writes the observations of the agents in `shown`, and masks of those that act next; other agents get zeros."""
        arrays = self.arrays
        for a, agent in enumerate(self.agents):
            arrays["alive"][i, a] = agent in alive
            if self.mask_in:
                arrays["action_mask"][i, a] = 1
            if agent not in shown:
                self.observations.clear((i, a))
                continue
            observation = observations[agent]
            if self.mask_in and agent in acting:
                self.put_mask(i, a, observation if self.mask_in == "observation" else infos.get(agent, {}))
            if self.mask_in == "observation" and self.is_plain:
                observation = observation["observation"]
            self.observations.put((i, a), observation)
        if self.state_shape is not None:
            state = numpy.asarray(self.envs[i].state())
            if state.shape != self.state_shape:
                raise ValueError(f"state(): expected the shape {self.state_shape} of the first one, got {state.shape}")
            arrays["state"][i, ...] = state

    def put_mask(self, i, a, source):
        if "action_mask" not in source:
            raise ValueError(f"infos of agent '{self.agents[a]}': expected an action_mask, as in reset, got {sorted(source)}")
        mask = numpy.asarray(source["action_mask"]).reshape(-1)
        n = int(self.actions.space.n)
        if len(mask) != n:
            raise ValueError(f"action_mask of agent '{self.agents[a]}': expected {n} flags, got {len(mask)}")
        self.arrays["action_mask"][i, a] = mask != 0

    def step(self, begin, end):
        actions = self.actions.build([a[begin:end].reshape(-1, *a.shape[2:]) for a in self.acted])
        n = len(self.agents)
        for i in range(begin, end):
            self.at = i
            env = self.envs[i]
            live = list(env.agents)
            first = (i - begin) * n
            chosen = {agent: actions[first + a] for a, agent in enumerate(self.agents) if agent in live}
            self.take(i, live, self.steps[i](chosen))
        self.at = -1

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
