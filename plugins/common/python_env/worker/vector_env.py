"""Part of the env processes' program: rows of one gymnasium.vector.VectorEnv."""


class VectorRows(Rows):
    """Rows of a gymnasium.vector.VectorEnv, which steps all of them as one batch."""

    DRAWS = False

    def build(self):
        env = self.make()
        self.envs = [env]
        self.mode = autoreset_mode(env)
        self.same_step = self.mode == "SAME_STEP"
        self.gives_final = not self.same_step or bool(env.metadata.get("final_obs", True))
        is_own = isinstance(env.unwrapped, (gymnasium.vector.SyncVectorEnv, gymnasium.vector.AsyncVectorEnv))
        # Others accept a seed per row only if they declare it; else they get the first row's.
        self.seeds_rows = is_own or bool(env.metadata.get("row_seeds", False))
        if self.mode == "NEXT_STEP" and not is_own and not env.metadata.get("reset_mask", False):
            check_partial_reset(env)
        self.started = False
        self.over = numpy.zeros(self.n, bool)  # ended in the last step

    def sample(self):
        return self.envs[0]

    def probe(self, env, config):
        """Plays a step only if there are statistics to compare, because the rows have no other env."""
        if statistics(env):
            env.reset(seed=0)
            first = statistics(env)
            env.step(gymnasium.vector.utils.batch_space(env.single_action_space, self.n).sample())
            env.reset(seed=0)
            refuse_statistics(first, statistics(env), config)
        return []

    def how_kept(self):
        return "a vector env is one object for all rows", False

    def describe(self, env):
        self.observations = Observations(env.single_observation_space, self.named, self.notice)
        self.is_box = isinstance(env.single_observation_space, spaces.Box)
        self.actions = Actions(env.single_action_space)
        number = {"name": "reward", "role": "reward", "shape": (), "dtype": "f32", "space": "box"}
        flag = {"shape": (), "dtype": "u8", "space": "multi_binary"}
        flags = [{"name": name, "role": name, **flag} for name in ("terminated", "truncated")]
        if not self.gives_final:
            flags.append({"name": "no_final_obs", "role": "info", **flag})
        channels = self.observations.channels()
        self.names = [channel["name"] for channel in channels]
        if self.same_step:
            flags += first_of(channels)
        return [*channels, *self.actions.leaves, number, *flags]

    def bind(self, arrays):
        self.observations.bind(arrays)
        self.observed = [arrays[name] for name in self.names]
        self.first = [arrays["first/" + name] for name in self.names] if self.same_step else []
        self.acted = [arrays[leaf["name"]] for leaf in self.actions.leaves]
        self.rewards, self.terminated, self.truncated = (arrays[name] for name in ("reward", "terminated", "truncated"))
        self.no_final = arrays.get("no_final_obs")

    def step(self, begin, end):
        if (begin, end) != self.playing:
            raise Refusal(
                "vector: expected a learner that plays all rows together, got one that steps rows "
                f"{begin} to {end - 1} after a reset of rows {self.playing[0]} to {self.playing[1] - 1}"
            )
        observations, rewards, terminated, truncated, infos = self.envs[0].step(self.chosen())
        self.rewards[:] = self.per_row("rewards", rewards)
        self.terminated[:] = terminated = self.per_row("terminations", terminated).astype(bool)
        self.truncated[:] = truncated = self.per_row("truncations", truncated).astype(bool)
        self.show(slice(None), observations)
        self.over = over = terminated | truncated
        if self.no_final is not None:
            self.no_final[:] = truncated & ~terminated
        if not over.any():
            return
        if self.same_step:
            for first, observed in zip(self.first, self.observed):
                first[over] = observed[over]
            for i in numpy.flatnonzero(over).tolist():
                self.next[i] = STARTED_AS_IT_CHOSE
            if self.gives_final:
                self.show(numpy.flatnonzero(over), final_of(infos))
        elif end - begin < self.n:  # the others do not play, so the host does not reset them
            others = numpy.flatnonzero(over)
            others = others[(others < begin) | (others >= end)]
            if len(others):
                self.restart(others)

    def reset(self, places, seeds):
        if self.started and not self.same_step and (len(places) < self.n or self.over.all()):
            self.restart(places, seeds)
        elif self.started and len(places) < self.n:
            raise Refusal(
                "vector: the autoreset mode is SAME_STEP, so expected a start of all rows, or of rows that the env has just ended, got "
                f"a start of row {places[0]}, whose episode was cut; let the env cut episodes, and play all candidates at the same time"
            )
        else:
            seed = self.seeds_of(places, seeds) if self.seeds_rows else seed_of(seeds[places[0]])
            observations, _ = self.envs[0].reset(seed=seed)
            self.show(slice(None), observations)
            self.started = True
        self.over[places] = False

    def restart(self, places, seeds=None):
        """Starts episodes in some of the rows."""
        mask = numpy.zeros(self.n, bool)
        mask[places] = True
        seed = self.seeds_of(places, seeds) if self.seeds_rows and seeds is not None else None
        observations, _ = self.envs[0].reset(seed=seed, options={"reset_mask": mask})
        self.show(places, observations)

    def seeds_of(self, places, seeds):
        own = [None] * self.n
        for i in places:
            own[i] = seed_of(seeds[i])
        return own

    def chosen(self):
        """The actions as a batch of the env's space; a copy, because an env may keep it and the next step overwrites the memory."""
        space = self.actions.space
        if parts_of(space) is not None:
            batch = gymnasium.vector.utils.create_empty_array(space, self.n)
            return gymnasium.vector.utils.concatenate(space, self.actions.build(self.acted), batch)
        if isinstance(space, spaces.Box) and numpy.issubdtype(space.dtype, numpy.integer):
            return numpy.rint(self.acted[0]).astype(space.dtype)
        return (self.acted[0] + getattr(space, "start", 0)).astype(space.dtype)

    def show(self, places, batch):
        """Writes the observations of rows from a batch of all rows."""
        kind = getattr(batch, "dtype", None)
        own = self.observed[0]
        if self.is_box and kind is not None and kind != object and (own.dtype != numpy.uint8 or kind == numpy.uint8):
            if kind == numpy.float64:
                self.notice("cast", "observation is float64 and is cast to float32")
            own[places] = self.per_row("observations", batch, own.shape[1:])[places]
            return
        for self.at in numpy.arange(self.n)[places].tolist():
            self.observations.put(self.at, row_of(batch, self.at))
        self.at = -1

    def per_row(self, what, values, shape=()):
        values = numpy.asarray(values)
        if values.shape != (self.n, *shape):
            raise ValueError(f"expected {what} of shape {(self.n, *shape)}, one per row, got {values.shape}")
        return values

    def time_limit(self, env):
        """Steps after which the env truncates an episode, if it declares them; else 0."""
        for limit in (getattr(env.spec, "max_episode_steps", None), getattr(env.unwrapped, "max_episode_steps", None)):
            if isinstance(limit, int) and limit > 0:
                return limit
        return 0


def autoreset_mode(env):
    """NEXT_STEP, SAME_STEP or DISABLED, from the metadata: an AutoresetMode, its value or its name."""
    mode = (getattr(env, "metadata", None) or {}).get("autoreset_mode")
    word = str(getattr(mode, "value", mode)).replace("_", "").lower()
    modes = {"nextstep": "NEXT_STEP", "samestep": "SAME_STEP", "disabled": "DISABLED"}
    if word not in modes:
        raise Refusal(f"vector: expected the env's metadata['autoreset_mode'], one of gymnasium.vector.AutoresetMode, got {mode!r}")
    return modes[word]


def check_partial_reset(env):
    """Rejects an env that resets a row only within the next step, because this step of the row would be no transition."""
    try:
        before, _ = env.reset(seed=0)
        for _ in range(8):
            now, *_ = env.step(env.action_space.sample())
        mask = numpy.arange(env.num_envs) == 0
        after, _ = env.reset(options={"reset_mask": mask})
        same = env.num_envs == 1 or all(numpy.array_equal(row_of(now, i), row_of(after, i)) for i in range(1, env.num_envs))
    except Exception:  # an env that does not know the option may raise anything
        same = False
    if not same:
        raise Refusal(
            "vector: the autoreset mode is NEXT_STEP, so expected an env that starts single rows by reset(options={'reset_mask': "
            "mask}), got one that does not: it resets a row within the next step of all rows, and that step is no transition; use "
            "SAME_STEP or DISABLED, or for an id `kwargs: {vectorization_mode: sync}`"
        )


def final_of(infos):
    """The last observations of rows that ended, as a batch or an array of objects."""
    for key in ("final_obs", "final_observation"):
        if key in infos:
            return infos[key]
    raise ValueError(
        "expected infos['final_obs'] in a step that ends an episode, because the autoreset mode is SAME_STEP; if the env has no last "
        "observations, set its metadata['final_obs'] to False"
    )


def row_of(batch, i):
    if isinstance(batch, dict):
        return {key: row_of(part, i) for key, part in batch.items()}
    if isinstance(batch, tuple):
        return tuple(row_of(part, i) for part in batch)
    return batch[i]


def vector_maker(config):
    """Returns the function that creates the vector env: a class of the file, an entry point `module:Class`, or an id."""
    import gymnasium.vector
    import gymnasium.wrappers.vector

    places = [gymnasium.wrappers.vector]
    name = config["vector"]
    if config["file"]:
        module = module_of_file(config["file"])
        places.insert(0, module)
        make = called("vector", class_in, module, config | {"class": name})
    elif ":" in name and name.rpartition(":")[2].isidentifier():
        make = called("vector", named, name, [])
    else:
        make = functools.partial(gymnasium.make_vec, name)

    def made():
        try:
            env = make(num_envs=config["rows"], **copy.deepcopy(config["kwargs"]))
        except (gymnasium.error.UnregisteredEnv, gymnasium.error.VersionNotFound) as e:
            raise Refusal(f"vector: {e}") from e
        for attribute in ("reset", "step", "single_observation_space", "single_action_space", "num_envs"):
            if not hasattr(env, attribute):
                raise Refusal(f"vector: expected a gymnasium.vector.VectorEnv, got '{name}', which has no '{attribute}'")
        if env.num_envs != config["rows"]:
            raise Refusal(f"vector: expected num_envs {config['rows']}, the trial's rows, got {env.num_envs}")
        return wrapped(env, config["wrappers"], places)

    return made


def called(option, function, *arguments):
    """Calls it; its refusals name the option."""
    try:
        return function(*arguments)
    except Refusal as e:
        raise Refusal(f"{option}: {str(e).removeprefix('class: ')}") from e
