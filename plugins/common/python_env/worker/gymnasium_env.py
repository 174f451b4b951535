"""Part of the env processes' program: rows of gymnasium.Env."""


class GymnasiumRows(Rows):
    """Rows of gymnasium.Env."""

    def describe(self, env):
        self.observations = Observations(env.observation_space, self.named, self.notice)
        self.actions = Actions(env.action_space)
        number = {"name": "reward", "role": "reward", "shape": (), "dtype": "f32", "space": "box"}
        flags = [
            {"name": name, "role": name, "shape": (), "dtype": "u8", "space": "multi_binary"}
            for name in ("terminated", "truncated")
        ]
        self.first = Observations(env.observation_space, self.named, self.notice)
        channels = self.observations.channels()
        return [*channels, *self.actions.leaves, number, *flags, *first_of(channels)]

    def bind(self, arrays):
        self.observations.bind(arrays)
        self.first.bind({channel["name"]: arrays["first/" + channel["name"]] for channel in self.first.channels()})
        self.ended = arrays["terminated"], arrays["truncated"]
        self.writers = self.observations.writers()
        self.acted = [arrays[leaf["name"]] for leaf in self.actions.leaves]
        self.rewards = memoryview(arrays["reward"])
        self.terminated = memoryview(arrays["terminated"]).cast("?")  # accepts any truth value
        self.truncated = memoryview(arrays["truncated"]).cast("?")

    def step(self, begin, end):
        steps, writers, rewards = self.steps, self.writers, self.rewards
        terminated, truncated = self.terminated, self.truncated
        i = begin - 1
        try:
            for i, action in enumerate(self.actions.build([a[begin:end] for a in self.acted]), begin):
                observation, reward, terminated[i], truncated[i], _ = steps[i](action)
                try:
                    rewards[i] = reward
                    writers[i][:] = observation
                except (TypeError, ValueError):
                    rewards[i] = float(reward)
                    self.observations.put(i, observation)
        except BaseException:
            self.at = i if i >= begin else -1
            raise
        if self.starts_early:
            terminated, truncated = self.ended
            over = terminated[begin:end] | truncated[begin:end]
            if over.any():
                self.start_next((numpy.flatnonzero(over) + begin).tolist())

    def start_next(self, places):
        """Starts the next episodes of rows whose seeds are known, so that no further message is needed."""
        for i in places:
            if self.next[i] == OFFERED:
                self.at = i
                observation, _ = self.resets[i](seed=seed_of(self.next_seeds[i]))
                self.first.put(i, observation)
                self.next[i] = STARTED
        self.at = -1

    def reset(self, places, seeds):
        for i in places:
            self.at = i
            observation, _ = self.resets[i](seed=seed_of(seeds[i]))
            self.observations.put(i, observation)
        self.at = -1

    def time_limit(self, env):
        """Steps after which a wrapper truncates an episode; 0: no wrapper does."""
        limits = []
        while isinstance(env, gymnasium.Wrapper):
            if isinstance(env, gymnasium.wrappers.TimeLimit):
                limits.append(int(env._max_episode_steps))
            env = env.env
        return min(limits, default=0)

    def goes_on(self, env):
        """Checks that a pickled copy steps like the env; returns the reason if it does not."""
        env.action_space.seed(0)
        env.reset(seed=0)
        env.step(env.action_space.sample())
        other = pickle.loads(pickle.dumps(env, protocol=5))
        action = env.action_space.sample()
        here, there = env.step(action), other.step(copy.deepcopy(action))
        same = all(
            numpy.array_equal(a, b)
            for a, b in [
                (spaces.flatten(env.observation_space, here[0]), spaces.flatten(env.observation_space, there[0])),
                *zip(here[1:4], there[1:4]),
            ]
        )
        return "" if same else "a copy by pickle steps differently"


def gymnasium_maker(config):
    """Returns the function that creates the env of a row. Looks up wrappers in `places`."""
    import gymnasium

    places = [gymnasium.wrappers]
    if config["file"]:
        module = module_of_file(config["file"])
        places.insert(0, module)
        make = class_in(module, config)
    else:
        make = functools.partial(gymnasium.make, registered(gymnasium, config["id"]))

    def made(**more):
        env = make(**copy.deepcopy(config["kwargs"]), **more)
        for attribute in ("reset", "step", "observation_space", "action_space"):
            if not hasattr(env, attribute):
                raise Refusal(f"expected a Gymnasium env, got '{config['id'] or config['class']}', which has no '{attribute}'")
        return wrapped(env, config["wrappers"], places)

    return made


def registered(gymnasium, name):
    """The spec of an env by id, without the wrappers that only check callers."""
    module, colon, name = name.rpartition(":")
    try:
        if colon:
            importlib.import_module(module)
        spec = copy.deepcopy(gymnasium.spec(name))
    except (gymnasium.error.Error, ImportError) as e:
        raise Refusal(f"id: {e}{cure(e)}") from e
    spec.order_enforce = False
    spec.disable_env_checker = True
    return spec
