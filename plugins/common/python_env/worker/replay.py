"""Part of the env processes' program: copies of envs that pickle does not keep, by playing their episodes again."""

MOST_REPLAYED = 100_000  # steps of an episode; longer ones are not kept


class Recorder:
    """An env that keeps the seed and the actions of its episode. If equal seeds and actions give equal steps, they are its state. No
    env may have its names; `state` is one of PettingZoo's."""

    def __init__(self, env):
        self.env = env
        self.recorded_seed, self.recorded_actions, self.recorded_step = None, [], None

    def __getattr__(self, name):
        return getattr(self.env, name)

    def reset(self, seed):
        self.recorded_seed, self.recorded_actions, self.recorded_step = seed, [], None
        return self.env.reset(seed=seed)

    def step(self, action):
        if len(self.recorded_actions) <= MOST_REPLAYED:
            self.recorded_actions.append(kept(action))
        self.recorded_step = self.env.step(action)
        return self.recorded_step

    def recorded(self):
        if len(self.recorded_actions) > MOST_REPLAYED:
            return self.recorded_seed, [], None
        last = self.recorded_step
        return self.recorded_seed, self.recorded_actions, last and last[:-1]  # infos may contain anything

    def play_recorded(self, state):
        """Plays an episode of a new env up to a saved state. Returns False if its last step differs."""
        seed, actions, last = state
        if seed is None:
            return True
        self.reset(seed)
        for action in actions:
            self.step(action)
        return last is None or same(self.recorded_step[:-1], last)


def kept(action):
    if isinstance(action, numpy.ndarray):
        return action.copy()
    if isinstance(action, dict):
        return {key: kept(part) for key, part in action.items()}
    return tuple(map(kept, action)) if isinstance(action, tuple) else action


def same(a, b):
    """Compares results of steps."""
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (tuple, list)):
        return isinstance(b, (tuple, list)) and len(a) == len(b) and all(map(same, a, b))
    return numpy.array_equal(a, b) or pickle.dumps(a) == pickle.dumps(b)  # the latter also for NaN


def random_action(env):
    if hasattr(env, "possible_agents"):
        return {agent: env.action_space(agent).sample() for agent in env.agents}
    return env.action_space.sample()


def seed_actions(env):
    for space in map(env.action_space, env.possible_agents) if hasattr(env, "possible_agents") else [env.action_space]:
        space.seed(0)


def has_ended(env, step):
    return not env.agents if hasattr(env, "possible_agents") else bool(step[2] or step[3])


def replays(make):
    """Checks that an env which has played before equals a new one that plays only its last episode."""
    env, other = Recorder(make()), Recorder(make())
    try:
        seed_actions(env)
        for seed, steps in ((0, 20), (1, 8)):
            env.reset(seed)
            for _ in range(steps):
                if has_ended(env, env.step(random_action(env))):
                    env.reset(seed)
        if not other.play_recorded(pickle.loads(pickle.dumps(env.recorded()))):
            return False
        for _ in range(3):
            action = random_action(env)
            here, there = env.step(kept(action)), other.step(action)
            if not same(here[:-1], there[:-1]):
                return False
            if has_ended(env, here):
                break
        return True
    finally:
        env.close()
        other.close()
