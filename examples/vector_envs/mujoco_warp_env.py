"""MuJoCo Warp's physics for env.gymnasium: options: {file: mujoco_warp_env.py, vector: QuadrupedStand}.

One call steps all rows, on a GPU if the trial has one, else on the CPU. `WarpEnv` is a model for any MJCF file; `QuadrupedStand` is the task
of env.quadruped_stand, with its options, in float32. The first start compiles the kernels, within half a minute; Warp caches them.
"""
import logging
import pathlib

import warp

warp.config.log_level = logging.ERROR  # else it prints a line per kernel

import gymnasium
import mujoco
import mujoco_warp
import numpy
from gymnasium.vector.utils import batch_space


class WarpEnv(gymnasium.vector.VectorEnv):
    """Rows of one model. A subclass supplies `start`, `observe` and `judge`, and controls of `action` if they differ from the actions."""

    # Each row starts from a seed of its own, without the others.
    metadata = {"autoreset_mode": gymnasium.vector.AutoresetMode.DISABLED, "row_seeds": True}

    def __init__(self, num_envs, model, observations, frame_skip, max_episode_steps, contacts, constraints, device=None):
        """`contacts` and `constraints`: maximum numbers in a row; a GPU reserves memory for them."""
        self.num_envs, self.frame_skip, self.max_episode_steps = num_envs, frame_skip, max_episode_steps
        self.single_observation_space = gymnasium.spaces.Box(-numpy.inf, numpy.inf, (observations,), numpy.float32)
        self.single_action_space = gymnasium.spaces.Box(-1, 1, (model.nu,), numpy.float32)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.steps = numpy.zeros(num_envs, int)
        self.device = warp.get_device(device)
        with warp.ScopedDevice(self.device):
            self.model = mujoco_warp.put_model(model)
            self.data = mujoco_warp.make_data(model, nworld=num_envs, nconmax=contacts, njmax=constraints)
            self.simulate()  # compiles
            self.graph = None
            if self.device.is_cuda:  # one launch instead of some hundred per step
                with warp.ScopedCapture() as capture:
                    self.simulate()
                self.graph = capture.graph

    def simulate(self):
        for _ in range(self.frame_skip):
            mujoco_warp.step(self.model, self.data)

    def controls(self, actions):
        return actions

    def reset(self, *, seed=None, options=None):
        mask = (options or {}).get("reset_mask")
        mask = numpy.ones(self.num_envs, bool) if mask is None else numpy.asarray(mask, bool)
        with warp.ScopedDevice(self.device):
            mujoco_warp.reset_data(self.model, self.data, reset=warp.array(mask, dtype=bool))
            qpos = self.data.qpos.numpy().copy()
            for row in numpy.flatnonzero(mask):
                own = seed[row] if isinstance(seed, (list, tuple)) else None if seed is None else [seed, row]
                self.start(qpos[row], numpy.random.default_rng(own))
            self.data.qpos.assign(qpos)
        self.steps[mask] = 0
        self.started(mask)
        return self.observe(qpos, self.data.qvel.numpy()), {}

    def step(self, actions):
        controls = self.controls(numpy.asarray(actions, numpy.float64))
        with warp.ScopedDevice(self.device):
            self.data.ctrl.assign(controls.astype(numpy.float32))
            self.simulate() if self.graph is None else warp.capture_launch(self.graph)
            qpos, qvel = self.data.qpos.numpy(), self.data.qvel.numpy()
        self.steps += 1
        broken = ~(numpy.isfinite(qpos).all(1) & numpy.isfinite(qvel).all(1))
        if broken.any():  # their episodes end, and their next start replaces these numbers
            qpos, qvel = (numpy.where(broken[:, None], 0, numbers) for numbers in (qpos, qvel))
        rewards, terminated = self.judge(qpos.astype(numpy.float64), qvel.astype(numpy.float64), controls)
        terminated |= broken
        rewards[terminated] = 0
        return self.observe(qpos, qvel), rewards, terminated, self.steps >= self.max_episode_steps, {}


# In phase 1 and phase 2, as in plugins/envs/quadruped_stand/numbers.hpp.
NUMBERS = {
    "z_lo": (0.42, 0.45), "z_hi": (0.52, 0.55), "z_min": (0.22, 0.25), "up_min": (0.80, 0.85), "alive_reward": (0.6, 0.8),
    "stand_reward": (2.5, 3.0), "streak_reward": (0.08, 0.12), "streak_scale": (25, 20), "knee_reward": (2.0, 2.5),
    "knee_cost": (0.8, 1.0), "knee_under_cost": (0.08, 0.10), "knee_over_cost": (0.15, 0.20), "speed_cost": (3, 4),
    "tilt_cost": (0.08, 0.10), "spin_cost": (0.08, 0.10), "drift_cost": (0.12, 0.15), "change_cost": (0.001, 0.0015),
    "ctrl_cost": (0.0002, 0.0003), "crouch": (0.80, 0.75), "pitch": (-0.08, -0.06), "max_episode_steps": (200, 250),
}
OTHERS = {"knee_lo": 0.5, "knee_hi": 0.7, "height_cost": 0.1, "hip_noise": 0.01, "knee_noise": 0.02, "action_repeat": 3}
KNEE_SPAN = 2  # rad
LEAST_UP, GATE, BEST_UP = 0.15, 0.6, 0.98


class QuadrupedStand(WarpEnv):
    def __init__(self, num_envs, phase=1, obs="joints_vel", up_shape="band", device=None, **changed):
        values = {**{name: pair[phase - 1] for name, pair in NUMBERS.items()}, **OTHERS}
        if unknown := changed.keys() - values.keys():
            raise ValueError(f"expected options of env.quadruped_stand, got {', '.join(sorted(unknown))}")
        values.update(changed)
        self.__dict__.update({name: value for name, value in values.items() if name != "max_episode_steps"})
        self.first, self.ramp = {"joints_vel": 7, "qpos_qvel": 0}[obs], {"band": False, "ramp": True}[up_shape]
        model = mujoco.MjModel.from_xml_path(str(pathlib.Path(__file__).with_name("quadruped_stand.xml")))
        self.last_controls, self.streak = numpy.zeros((num_envs, model.nu)), numpy.zeros(num_envs)
        super().__init__(num_envs, model, model.nq - self.first + model.nv, self.action_repeat, values["max_episode_steps"], 24, 112, device)

    def start(self, qpos, rng):
        """Only the joints are drawn: the torso starts in its place, at rest."""
        qpos[3], qpos[5] = numpy.cos(self.pitch / 2), numpy.sin(self.pitch / 2)
        qpos[7::2] = self.hip_noise * rng.standard_normal(4)
        qpos[8::2] = KNEE_SPAN * (self.crouch + self.knee_noise * rng.standard_normal(4))

    def started(self, mask):
        self.last_controls[mask] = self.streak[mask] = 0

    def controls(self, actions):
        return numpy.tanh(actions)

    def observe(self, qpos, qvel):
        return numpy.concatenate([qpos[:, self.first:], qvel], axis=1)

    def judge(self, qpos, qvel, controls):
        z, up = qpos[:, 2], unit(1 - 2 * (qpos[:, 4] ** 2 + qpos[:, 5] ** 2))
        stands = sigmoid(z - self.z_lo) * sigmoid(self.z_hi - z) * sigmoid(up - self.up_min)  # the README's gate
        self.streak = numpy.where(stands > GATE, self.streak + 1, 0)
        knees = unit(qpos[:, 8::2] / KNEE_SPAN)
        upright = unit((up - self.up_min) / (BEST_UP - self.up_min)) if self.ramp else band(up, self.up_min, BEST_UP)
        spin = qvel[:, 3] ** 2 + qvel[:, 4] ** 2
        height = (below(z, self.z_lo) + below(-z, -self.z_hi)) / (self.z_hi - self.z_lo) ** 2
        rewards = (
            self.alive_reward
            + self.stand_reward * (band(z, self.z_lo, self.z_hi) + upright) / 2
            + self.streak_reward * numpy.tanh(self.streak / self.streak_scale)
            + self.knee_reward * band(knees, self.knee_lo, self.knee_hi).mean(1)
            - self.knee_cost * ((knees - (self.knee_lo + self.knee_hi) / 2) ** 2).mean(1)
            - (self.knee_under_cost * below(knees, self.knee_lo) + self.knee_over_cost * below(-knees, -self.knee_hi)).sum(1)
            - self.speed_cost * qvel[:, 0] ** 2 * stands
            - self.tilt_cost * (1 - up)
            - self.spin_cost * spin
            - self.drift_cost * (qvel[:, 1] ** 2 + spin)
            - self.change_cost * ((controls - self.last_controls) ** 2).sum(1)
            - self.ctrl_cost * (controls ** 2).sum(1)
            - self.height_cost * height
        )
        self.last_controls = controls
        return rewards, (z < self.z_min) | (up < LEAST_UP)


def unit(x):
    return numpy.clip(x, 0, 1)


def sigmoid(x):
    return 1 / (1 + numpy.exp(-30 * x))


def below(x, limit):
    """The squared distance below the limit."""
    return numpy.maximum(limit - x, 0) ** 2


def band(x, low, high):
    """1 in the middle, 0 at both ends and beyond."""
    return unit(1 - 4 * (unit((x - low) / (high - low)) - 0.5) ** 2)
