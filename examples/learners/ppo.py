"""PPO in PyTorch, with the nets and defaults of Stable-Baselines3."""
import torch
from torch import nn
from torch.distributions import Categorical, Independent, Normal


def mlp(inputs, hidden, outputs):
    sizes = [inputs, *hidden]
    layers = [layer for a, b in zip(sizes, sizes[1:]) for layer in (nn.Linear(a, b), nn.Tanh())]
    return nn.Sequential(*layers, nn.Linear(sizes[-1], outputs))


class PPO:
    extra = {"logp": (), "value": ()}  # outputs of act besides the action; consume gets them, too

    def __init__(self, env, horizon=128, hidden=(64, 64), lr=3e-4, epochs=10, minibatch=64, gamma=0.99, lam=0.95, clip=0.2, entropy=0.0):
        self.horizon, self.epochs, self.minibatch = horizon, epochs, minibatch
        self.gamma, self.lam, self.clip, self.entropy = gamma, lam, clip, entropy
        self.discrete = env.action.space == "discrete"
        actions = env.action.n if self.discrete else env.action.shape[0]
        self.actor, self.critic = (mlp(env.obs.shape[0], hidden, outputs) for outputs in (actions, 1))
        self.log_std = nn.Parameter(torch.zeros(actions))
        self.params = [*self.actor.parameters(), *self.critic.parameters(), self.log_std]
        self.optimizer = torch.optim.Adam(self.params, lr, eps=1e-5, foreach=True)
        self.n_params = sum(p.numel() for p in self.params)

    def policy(self, obs):
        out = self.actor(obs)
        if self.discrete:
            return Categorical(logits=out, validate_args=False)
        return Independent(Normal(out, self.log_std.exp().expand_as(out), validate_args=False), 1, validate_args=False)

    def act(self, inputs):
        with torch.no_grad():
            obs = torch.from_numpy(inputs.obs)
            policy = self.policy(obs)
            action = policy.mode if inputs.greedy else policy.sample()
            return {"action": action, "logp": policy.log_prob(action), "value": self.critic(obs)[:, 0]}

    def consume(self, rollout):
        data = {name: torch.from_numpy(array) for name, array in rollout.items()}
        steps, rows = data["reward"].shape
        with torch.no_grad():
            reward, last = data["reward"].clone(), self.critic(data["obs"][-1])[:, 0]
            cut = data["truncated"].flatten()[data["final_index"]] == 1  # a time limit is no end of the task
            at = data["final_index"][cut]
            reward.view(-1)[at] += self.gamma * self.critic(data["final_obs"][cut])[:, 0]
            live = 1.0 - (data["terminated"] | data["truncated"]).float()
            advantage, next_value, ahead = torch.zeros_like(reward), last, torch.zeros(rows)
            for t in reversed(range(steps)):
                delta = reward[t] + self.gamma * next_value * live[t] - data["value"][t]
                ahead = advantage[t] = delta + self.gamma * self.lam * live[t] * ahead
                next_value = data["value"][t]
            target = advantage + data["value"]
        batch = [x.flatten(0, 1) for x in (data["obs"][:-1], data["action"], data["logp"], advantage, target)]
        for _ in range(self.epochs):
            for part in torch.randperm(steps * rows).split(self.minibatch):
                loss = self.loss(*(x[part] for x in batch))
                self.optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.params, 0.5)
                self.optimizer.step()
        return {"loss": loss.item(), "std": self.log_std.exp().mean().item()}

    def loss(self, obs, action, logp, advantage, target):
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        policy = self.policy(obs)
        ratio = (policy.log_prob(action) - logp).exp()
        surrogate = torch.min(advantage * ratio, advantage * ratio.clamp(1 - self.clip, 1 + self.clip)).mean()
        value_loss = (self.critic(obs)[:, 0] - target).square().mean()
        return 0.5 * value_loss - surrogate - self.entropy * policy.entropy().mean()

    def save(self):
        return {"params": [p.data for p in self.params], "optimizer": self.optimizer.state_dict()}

    def load(self, state):
        for param, value in zip(self.params, state["params"]):
            param.data.copy_(value)
        self.optimizer.load_state_dict(state["optimizer"])
