"""Part of the env processes' program: rows of pettingzoo.ParallelEnv."""


class ParallelRows(Rows):
    """Rows of pettingzoo.ParallelEnv: arrays have a part for each possible agent, in order."""

    def describe(self, env):
        self.agents = list(env.possible_agents)
        observed = self.space_of_all(env.observation_space, "observation_space")
        self.masked = is_masked(observed)
        if self.masked:
            observed = observed["observation"]
        self.observations = Observations(observed)
        self.actions = Actions(self.space_of_all(env.action_space, "action_space"))
        self.has_state = True
        try:
            env.reset(seed=0)
            shape = numpy.asarray(env.state()).shape
        except (AttributeError, NotImplementedError):
            self.has_state = False
        agent = {"scope": "agent", "shape": ()}
        flag = {"dtype": "u8", "space": "multi_binary", "shape": ()}
        number = {"dtype": "f32", "space": "box"}
        channels = [self.observations.channel() | {"scope": "agent"}]
        channels += [leaf | {"scope": "agent"} for leaf in self.actions.leaves]
        if self.masked:
            shape_of_mask = (int(self.actions.space.n),)
            channels.append({"name": "action_mask", "role": "action_mask", "scope": "agent", **flag, "shape": shape_of_mask})
        channels.append({"name": "alive", "role": "alive", **flag, **agent})
        if self.has_state:
            channels.append({"name": "state", "role": "state", **number, "shape": shape})
        channels.append({"name": "reward", "role": "reward", **number, **agent})
        channels.append({"name": "agent_ended", "role": "info", **flag, **agent})
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

    def bind(self, arrays):
        self.arrays = arrays
        self.acted = [arrays[leaf["name"]] for leaf in self.actions.leaves]

    def show(self, i, observations, live):
        """Writes the observations of a row's agents; agents that have left get zeros."""
        arrays = self.arrays
        for a, agent in enumerate(self.agents):
            row = arrays["obs"][i, a]
            alive = agent in live and agent in observations
            arrays["alive"][i, a] = alive
            if not alive:
                row[...] = 0
                if self.masked:
                    arrays["action_mask"][i, a] = 1
                continue
            observation = observations[agent]
            if self.masked:
                arrays["action_mask"][i, a] = observation["action_mask"]
                observation = observation["observation"]
            self.observations.put(row, observation)
        if self.has_state:
            arrays["state"][i] = self.envs[i].state()

    def step(self, begin, end):
        arrays = self.arrays
        actions = self.actions.build([a[begin:end].reshape(-1, *a.shape[2:]) for a in self.acted])
        n = len(self.agents)
        for i in range(begin, end):
            self.at = i
            env = self.envs[i]
            live = list(env.agents)
            first = (i - begin) * n
            chosen = {agent: actions[first + a] for a, agent in enumerate(self.agents) if agent in live}
            observations, rewards, terminations, truncations, _ = self.steps[i](chosen)
            for a, agent in enumerate(self.agents):
                arrays["reward"][i, a] = rewards.get(agent, 0)
                arrays["agent_ended"][i, a] = bool(terminations.get(agent, False))
            is_over = not env.agents
            arrays["terminated"][i] = is_over and all(terminations.get(agent, False) for agent in live)
            arrays["truncated"][i] = is_over and not arrays["terminated"][i]
            # At the end of an episode, the agents that just left have the last observations.
            self.show(i, observations, set(live if is_over else env.agents))
        self.at = -1

    def reset(self, places, seeds):
        for i in places:
            self.at = i
            observations, _ = self.resets[i](seed=seed_of(seeds[i]))
            self.show(i, observations, set(self.envs[i].agents))
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


def is_masked(space):
    """True for PettingZoo's observation with an action mask."""
    return isinstance(space, spaces.Dict) and set(space.spaces) == {"observation", "action_mask"}


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
