"""Part of the env processes' program: plays an env apart from the rows, to find before the start what no trial could use."""

# Classes, and attributes of an env or wrapper, that hold running statistics.
STATISTICS = re.compile(r"running.?(mean|stat|std|var|norm|moment)|mean_?std|welford|normali[sz]e", re.IGNORECASE)
NUMBERS = re.compile(
    r"(^|_)(obs|observation|state|reward|return|ret)s?_(rms|mean|var|std|stats?|filter)$|^_?rms$|running_(mean|var|std)"
)
INNER = ("env", "aec_env", "par_env", "_env")  # attributes that hold the wrapped env


def levels(env):
    """Returns the env, then each env that it wraps, outermost first."""
    found = []
    while env is not None and all(env is not known for known in found):
        found.append(env)
        own = getattr(env, "__dict__", {})
        env = next((own[name] for name in INNER if name in own), None)
    return found


def floats_in(value, depth=3):
    """The floats in a value, its items and its attributes, for a comparison."""
    if isinstance(value, (float, numpy.floating, numpy.ndarray)):
        array = numpy.asarray(value)
        return [array.tobytes()] if array.dtype.kind == "f" else []
    if hasattr(value, "detach"):  # a tensor of PyTorch
        return floats_in(value.detach().cpu().numpy(), 0)
    if depth == 0 or isinstance(value, (str, bytes, type)):
        return []
    if isinstance(value, dict):
        parts = list(value.values())
    elif isinstance(value, (list, tuple)):
        parts = list(value)[:1000]
    else:
        parts = list(getattr(value, "__dict__", {}).values())
    return [found for part in parts for found in floats_in(part, depth - 1)]


def statistics(env):
    """Floats that look like running statistics, by the class and attribute that holds them."""
    found = {}
    for level in levels(env):
        own = {name: value for name, value in getattr(level, "__dict__", {}).items() if name not in INNER}
        named = [name for name, value in own.items() if NUMBERS.search(name) or STATISTICS.search(type(value).__name__)]
        if STATISTICS.search(type(level).__name__) and not named:
            named = list(own)
        found |= {(type(level).__name__, name): floats_in(own[name]) for name in named}
    return found


def refuse_statistics(first, second, config):
    """`first` and `second` were found after resets with the same seed, so what differs has survived a reset."""
    kept = [key for key in second if second[key] != first.get(key)]
    if not kept:
        return
    owner, attribute = kept[0]
    of_rewards = re.search(r"rew|ret", owner + attribute, re.IGNORECASE) and "obs" not in (owner + attribute).lower()
    key, learners = ("normalize_rewards", "learner.ppo") if of_rewards else ("normalize_obs", "learner.ppo or learner.ars")
    hint = (
        f"set learner.options.{key}: true of {learners}, whose statistics serve all rows and the evaluation; "
        "or scale by fixed numbers"
    )
    if config["kind"] == "pettingzoo":
        hint = "scale by fixed numbers, because learner.mappo normalizes only values (value_norm)"
    place = "wrappers: " if owner in json.dumps(config["wrappers"]) else ""
    raise Refusal(
        f"{place}{owner}: expected an env without statistics that survive a reset, got '{attribute}': "
        f"{'' if config['kind'] == 'vector' else 'each row and '}the evaluation would have separate ones\nhint: remove it, and {hint}"
    )


def plain(space, action):
    """A sample as rows pass it to the env: choices of a Discrete are plain integers."""
    if isinstance(space, spaces.Dict):
        return {key: plain(part, action[key]) for key, part in space.spaces.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(plain(part, value) for part, value in zip(space.spaces, action))
    return int(action) if isinstance(space, spaces.Discrete) else action


def defined_at(env, name):
    """The place of an env's method, " (walk.py:12)"."""
    function = getattr(type(levels(env)[-1]), name, None)
    code = getattr(inspect.unwrap(function), "__code__", None) if function else None
    return f" ({short(code.co_filename)}:{code.co_firstlineno})" if code else ""


class Probe:
    """Plays episodes of one env in the same calls as a row, and checks the form of its answers."""

    def __init__(self, env, kind):
        self.env, self.kind = env, kind

    def check(self, call, answer, names):
        if not isinstance(answer, (tuple, list)):
            got = type(answer).__name__
        elif len(answer) != len(names):
            got = f"{len(answer)} values"
        elif answer[-1] is None or isinstance(answer[-1], Mapping):
            return
        else:
            got = f"{type(answer[-1]).__name__} as {names[-1]}"
        expected = f"expected {len(names)} values, {', '.join(names)}"
        raise Refusal(f"{call}{defined_at(self.env, call)}: {expected}, got {got}: {of_older_api(self.kind)}")

    def call(self, name, *arguments, **named):
        try:
            return getattr(self.env, name)(*arguments, **named)
        except (TypeError, ValueError) as e:
            if broken_call(e, name) != name:
                raise
            raise Refusal(f"{name}{defined_at(self.env, name)}: {e}: {of_older_api(self.kind)}") from e

    def reset(self, seed):
        answer = self.call("reset", seed=seed)
        self.check("reset", answer, self.RESET)
        self.seen, self.infos = answer
        return self.seen

    def step(self, random):
        answer = self.call("step", self.action(random))
        self.check("step", answer, self.STEP)
        self.seen, self.infos = answer[0], answer[-1]
        return answer

    def play(self, seed):
        """An episode of at most two steps: its observations, rewards and flags, and the statistics after its reset."""
        random = numpy.random.default_rng(seed)
        returned = [self.numbers_in(self.reset(seed))]
        statistics_now = statistics(self.env)
        for _ in range(2):
            if self.is_over():
                break
            answer = self.step(random)
            returned += [self.numbers_in(answer[0]), *map(self.flat, answer[1:4])]
        return numpy.concatenate(returned), statistics_now


class GymnasiumProbe(Probe):
    RESET = ("observation", "info")
    STEP = ("observation", "reward", "terminated", "truncated", "info")

    def action(self, random):
        space = self.env.action_space
        space.seed(int(random.integers(1 << 31)))
        mask = self.infos.get("action_mask") if isinstance(self.infos, Mapping) and isinstance(space, spaces.Discrete) else None
        return plain(space, space.sample() if mask is None else space.sample(numpy.asarray(mask, numpy.int8)))

    def reset(self, seed):
        self.over = False
        return super().reset(seed)

    def step(self, random):
        answer = super().step(random)
        self.over = bool(answer[2]) or bool(answer[3])
        return answer

    def is_over(self):
        return self.over

    def numbers_in(self, observation):
        return self.flat(spaces.flatten(self.env.observation_space, observation))

    def flat(self, value):
        return numpy.asarray(value, numpy.float64).reshape(-1)


class ParallelProbe(Probe):
    RESET = ("observations", "infos")
    STEP = ("observations", "rewards", "terminations", "truncations", "infos")

    def action(self, random):
        actions = {}
        for agent in self.env.agents:
            space = self.env.action_space(agent)
            space.seed(int(random.integers(1 << 31)))
            mask = None
            for place in ((self.infos or {}).get(agent), self.seen.get(agent)):
                if isinstance(place, Mapping) and "action_mask" in place and isinstance(space, spaces.Discrete):
                    mask = numpy.asarray(place["action_mask"], numpy.int8)
            actions[agent] = plain(space, space.sample() if mask is None else space.sample(mask))
        return actions

    def is_over(self):
        return not self.env.agents

    def numbers_in(self, observations):
        return self.flat({a: spaces.flatten(self.env.observation_space(a), o) for a, o in observations.items()})

    def flat(self, values):
        parts = [numpy.asarray(values[agent], numpy.float64).reshape(-1) for agent in sorted(values)]
        return numpy.concatenate([numpy.zeros(0), *parts])


def alike(a, b):
    """True if two episodes differ by less than a normaliser changes them. Solvers of contacts keep small differences."""
    if a.shape != b.shape:
        return False
    with numpy.errstate(invalid="ignore"):
        return bool(numpy.allclose(a, b, rtol=0, atol=0.05 * max(1, numpy.nanmax(numpy.abs(a), initial=0)), equal_nan=True))


def probe(make, env, config):
    """Raises an error for an env that no trial can use; returns warnings. Plays `env`, which is no row."""
    kind = config["kind"]
    play = {"gymnasium": GymnasiumProbe, "pettingzoo": ParallelProbe}[kind]
    first = play(env, kind)
    try:
        played, before = first.play(0)
        first.play(1)
        again, after = first.play(0)
    except Exception as e:
        if config["on_error"] == "end_episode" and not isinstance(e, Refusal):
            return []  # errors end its episodes
        raise
    refuse_statistics(before, after, config)
    if alike(played, again):
        return []
    other = make()
    try:
        is_deterministic = alike(played, play(other, kind).play(0)[0])
    finally:
        other.close()
    if not is_deterministic:
        return []  # it is not deterministic, with or without a past
    return [
        "plays a seed differently after other episodes, so the env keeps a state that survives a reset. Each row has its own "
        "state, and evaluations start without one; if the env normalizes, use the learner's normalize_obs or normalize_rewards"
    ]
