"""Small trainings of every kind of policy, for scripts/check_export and scripts/check_kinds."""
import dataclasses

PPO = "train_batch_size: 64, minibatch_size: 32, num_epochs: 1, hidden: [8]"
REPLAY = "hidden: [16], batch_size: 8, horizon: 32, learning_starts: 32, buffer_size: 400"
# Choose the observed numbers, with a space of actions by name; images are noise.
SPACES = '''import gymnasium
import numpy
from gymnasium import spaces

NUMBERS = spaces.Box(-1, 1, (3,), numpy.float32)
IMAGES = {"last": spaces.Box(0, 255, (36, 40, 2), numpy.uint8), "first": spaces.Box(0, 255, (1, 40, 36), numpy.uint8)}
ACTIONS = {"choices": spaces.MultiDiscrete([3, 2, 4]), "bits": spaces.MultiBinary(3), "numbers": spaces.Box(-0.5, 0.5, (3,), numpy.float32)}
ACTIONS["mixed"] = spaces.Dict({**ACTIONS, "choice": spaces.Discrete(3)})


class Spaces(gymnasium.Env):
    metadata = {"render_modes": ["rgb_array"]}

    def __init__(self, actions, images=False, render_mode=None):
        self.action_space, self.render_mode, self.images = ACTIONS[actions], render_mode, IMAGES if images else {}
        self.observation_space = spaces.Dict({"a": NUMBERS, "b": NUMBERS, **self.images})

    def seen(self):
        self.target = self.np_random.uniform(-1, 1, 3).astype(numpy.float32)
        pictures = {name: self.np_random.integers(0, 256, space.shape, numpy.uint8) for name, space in self.images.items()}
        return {"a": self.target, "b": self.target[::-1].copy(), **pictures}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        return self.seen(), {}

    def step(self, action):
        assert self.action_space.contains(action), action
        parts, self.t = list(action.values()) if isinstance(action, dict) else [action], self.t + 1
        reward = -sum(float(numpy.abs(numpy.asarray(part, numpy.float64) - self.target[: numpy.size(part)]).sum()) for part in parts)
        return self.seen(), reward, False, self.t == 16, {}

    def render(self):
        return numpy.full((32, 32, 3), int(127 * (1 + self.target[0])), numpy.uint8)
'''
# Agents choose the observed numbers.
AGENTS = '''import gymnasium
import numpy
from gymnasium import spaces
from pettingzoo import ParallelEnv

ACTIONS = {"numbers": spaces.Box(-1, 1, (2,), numpy.float32), "choices": spaces.MultiDiscrete([3, 2])}
ACTIONS["mixed"] = spaces.Dict({**ACTIONS, "bits": spaces.MultiBinary(2)})


class Agents(ParallelEnv):
    metadata = {"name": "agents", "render_modes": ["rgb_array"]}
    possible_agents = ["a", "b"]

    def __init__(self, actions, render_mode=None):
        self.actions, self.render_mode = ACTIONS[actions], render_mode

    def observation_space(self, agent):
        return spaces.Box(-1, 1, (2,), numpy.float32)

    def action_space(self, agent):
        return self.actions

    def seen(self):
        self.targets = {agent: self.draw.uniform(-1, 1, 2).astype(numpy.float32) for agent in self.possible_agents}
        return {agent: self.targets[agent] for agent in self.agents}

    def reset(self, seed=None, options=None):
        self.draw, self.steps, self.agents = numpy.random.default_rng(seed), 0, list(self.possible_agents)
        return self.seen(), {agent: {} for agent in self.agents}

    def step(self, actions):
        self.steps, were, off = self.steps + 1, self.agents, {}
        for agent in were:
            assert self.actions.contains(actions[agent]), actions
            parts = list(actions[agent].values()) if isinstance(actions[agent], dict) else [actions[agent]]
            off[agent] = -sum(float(abs(numpy.asarray(part, numpy.float64) - self.targets[agent]).sum()) for part in parts)
        cut = {agent: self.steps == 16 for agent in were}
        seen, self.agents = self.seen(), [] if self.steps == 16 else were
        return seen or {agent: self.targets[agent] for agent in were}, off, {agent: False for agent in were}, cut, {agent: {} for agent in were}

    def state(self):
        return numpy.concatenate([self.targets[agent] for agent in self.possible_agents])

    def render(self):
        return numpy.full((32, 32, 3), int(127 * (1 + self.targets["a"][0])), numpy.uint8)
'''
FILES = {"spaces_env.py": SPACES, "agents_env.py": AGENTS}  # no names of modules that they import


@dataclasses.dataclass(frozen=True)
class Kind:
    env: str  # YAML; %(python)s is an interpreter with the packages
    learner: str
    needs: str = ""  # a package of the env


def _spaces(actions, options="", images=False):
    kwargs = f"{{actions: {actions}, images: {str(images).lower()}}}"
    return Kind(f"{{plugin: gymnasium, options: {{file: spaces_env.py, class: Spaces, observations: named, kwargs: {kwargs}, python: %(python)s}}}}",
                f"{{plugin: ppo, options: {{{PPO}{options}}}}}", "gymnasium")


def _agents(actions, options=""):
    return Kind(f"{{plugin: pettingzoo, options: {{file: agents_env.py, class: Agents, kwargs: {{actions: {actions}}}, python: %(python)s}}}}",
                f"{{plugin: mappo, options: {{train_batch_size: 128, minibatch_size: 64, num_epochs: 1, hidden: [8]{options}}}}}", "pettingzoo")


_PENDULUM = "{plugin: pendulum, options: {max_episode_steps: 40}}"
KINDS = {
    "sac": Kind(_PENDULUM, f"{{plugin: sac, options: {{{REPLAY}}}}}"),
    "td3": Kind(_PENDULUM, f"{{plugin: td3, options: {{{REPLAY}}}}}"),
    "dqn": Kind("cartpole", f"{{plugin: dqn, options: {{{REPLAY}}}}}"),
    "dqn_dueling": Kind("cartpole", f"{{plugin: dqn, options: {{{REPLAY}, dueling: true, double_q: true, prioritized_replay: true, n_step: 2}}}}"),
    "ppo_numbers": _spaces("numbers", ", normalize_obs: true"),
    "ppo_choices": _spaces("choices"),
    "ppo_bits": _spaces("bits", ", activation: relu"),
    "ppo_mixed": _spaces("mixed", ", normalize_obs: true"),
    "ppo_images": _spaces("mixed", ", normalize_obs: true", images=True),
    "ppo_gru": Kind("{plugin: cartpole, options: {observe: positions}}",
                    f"{{plugin: ppo, options: {{{PPO}, memory: {{kind: gru, size: 6, sequence: 8}}}}}}"),
    "ppo_gru_mixed": _spaces("mixed", ", memory: {kind: gru, size: 6, sequence: 8}"),
    "mappo_numbers": _agents("numbers"),
    "mappo_mixed": _agents("mixed", ", memory: {kind: gru, size: 6, sequence: 8}"),
}


def write_files(folder):
    for name, text in FILES.items():
        (folder / name).write_text(text)
