"""PPO of Stable-Baselines3 on CartPole-v1 with its defaults, evaluated at the end, as in its documentation."""
import argparse

import gymnasium
from stable_baselines3 import PPO
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=51200)
parser.add_argument("--episodes", type=int, default=20)
args = parser.parse_args()

model = PPO("MlpPolicy", "CartPole-v1", seed=args.seed, device="cpu", verbose=1)
model.learn(args.steps)
env = Monitor(gymnasium.make("CartPole-v1"))
env.reset(seed=10_000 + args.seed)
mean, _ = evaluate_policy(model, env, n_eval_episodes=args.episodes)
print(f"env_steps={model.num_timesteps} eval_return={mean}")
