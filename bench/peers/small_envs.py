"""Small envs of PyPI packages whose spaces are MultiDiscrete, MultiBinary or Dict, for scripts/check_scores.

They need stable-baselines3, gymnasium-robotics and minigrid.
"""
import gymnasium
import numpy
from gymnasium import spaces
from stable_baselines3.common.envs import IdentityEnvMultiBinary, IdentityEnvMultiDiscrete, SimpleMultiObsEnv


class Choices(IdentityEnvMultiDiscrete):
    """Repeat two observed choices of four."""

    def __init__(self):
        super().__init__(dim=4)


class Bits(IdentityEnvMultiBinary):
    """Repeat four observed bits."""

    def __init__(self):
        super().__init__(dim=4)


class GridImages(SimpleMultiObsEnv):
    """Find the way in a grid whose columns are vectors and whose rows are images of 64 x 64."""

    def init_state_mapping(self, num_col, num_row):
        state = numpy.random.get_state()  # the class draws its vectors and images from it
        numpy.random.seed(1)
        super().init_state_mapping(num_col, num_row)
        numpy.random.set_state(state)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state = int(self.np_random.integers(0, self.max_state))
        return self.get_state_mapping(), {}


class PointMaze(gymnasium.Wrapper):
    """Roll a ball through a maze; observes its state, its place and the goal's."""

    def __init__(self):
        super().__init__(gymnasium.make("gymnasium_robotics:PointMaze_UMazeDense-v3"))


class EmptyRoom(gymnasium.ObservationWrapper):
    """Reach the corner of an empty room; observes the view as numbers, and the direction, without the text."""

    def __init__(self):
        super().__init__(gymnasium.make("minigrid:MiniGrid-Empty-5x5-v0"))
        given = self.env.observation_space
        self.observation_space = spaces.Dict({"view": spaces.Box(0, 255, given["image"].shape, numpy.float32),
                                              "direction": given["direction"]})

    def observation(self, observation):
        return {"view": observation["image"].astype(numpy.float32), "direction": observation["direction"]}
