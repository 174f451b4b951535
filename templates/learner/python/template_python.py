"""The learner. Backplane steps the envs, counts episodes, evaluates, saves, resumes and reports.

This one is REINFORCE with a linear policy, for an env with one observation vector and one discrete action. Change it.
"""
import numpy as np


class Learner:
    horizon = 64  # steps of each env per rollout

    def __init__(self, env, lr=0.02, gamma=0.99):
        """`env` has the channels: env.obs.shape, env.action.n (choices), env.rows. Further arguments are `kwargs` of the file."""
        self.lr, self.gamma = lr, gamma
        self.weights = np.zeros((env.obs.shape[0], env.action.n), np.float32)

    def probabilities(self, obs):
        logits = obs @ self.weights
        odds = np.exp(logits - logits.max(-1, keepdims=True))
        return odds / odds.sum(-1, keepdims=True)

    def act(self, inputs):
        """An action per row. inputs.obs is [rows, ...]; evaluations set inputs.greedy."""
        p = self.probabilities(inputs.obs)
        if inputs.greedy:
            return p.argmax(-1)
        chosen = (p.cumsum(-1) < inputs.rng.random((len(p), 1))).sum(-1)
        return chosen.clip(max=p.shape[-1] - 1)

    def consume(self, rollout):
        """Learns. Arrays are [steps, rows, ...]; rollout.obs has one entry more, after the last step. Returns metrics."""
        steps, rows = rollout.reward.shape
        live = 1 - (rollout.terminated | rollout.truncated)
        returns, ahead = np.zeros((steps, rows), np.float32), np.zeros(rows, np.float32)
        for t in reversed(range(steps)):
            ahead = returns[t] = rollout.reward[t] + self.gamma * live[t] * ahead
        advantage = (returns - returns.mean()) / (returns.std() + 1e-8)
        obs = rollout.obs[:steps]
        gradient = np.eye(self.weights.shape[1], dtype=np.float32)[rollout.action] - self.probabilities(obs)
        self.weights += self.lr * np.einsum("tni,tnj,tn->ij", obs, gradient, advantage) / steps
        return {"return_ahead": returns.mean()}

    def save(self):
        """Everything that learning changes, as numbers, lists, dicts, arrays and tensors. A resumed trial loads it."""
        return {"weights": self.weights}

    def load(self, state):
        self.weights = state["weights"]
