"""A whole trial of RLlib's PPO on Ant-v5: starts Ray and the algorithm, trains, stops both. Prints one JSON object.

  RLLIB_PYTHON train_rllib.py NUM_ENV_RUNNERS NUM_ENVS_PER_ENV_RUNNER ITERATIONS [shared|separate]

256-256, minibatch 128, 10 epochs, train batch 4,000; actor and critic share the hidden layers (default) or have their own.
`sps`: env steps per second, learning included, without the first iteration.
`ready_at`, `trained_at`: time.time() when the algorithm was built and when the last iteration had ended.
"""
import json
import os
import sys
import time

os.environ.setdefault("RAY_worker_niceness", "0")  # otherwise Ray's workers are niced
import ray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig


def main(runners, envs, iterations, net="shared"):
    config = (PPOConfig().environment("Ant-v5")
              .env_runners(num_env_runners=int(runners), num_envs_per_env_runner=int(envs))
              .learners(num_learners=0)
              .training(train_batch_size_per_learner=4000, minibatch_size=128, num_epochs=10)
              .rl_module(model_config=DefaultModelConfig(fcnet_hiddens=[256, 256], vf_share_layers=net == "shared")))
    ray.init(address="local")  # never an existing cluster
    algorithm = config.build_algo()
    counts, start, ready_at = [], None, time.time()
    for _ in range(int(iterations)):
        result = algorithm.train()
        start = start or time.perf_counter()
        counts.append(result["num_env_steps_sampled_lifetime"])
    if len(counts) < 2:
        raise SystemExit("at least 2 iterations are needed")
    sps, trained_at = (counts[-1] - counts[0]) / (time.perf_counter() - start), time.time()
    algorithm.stop()
    ray.shutdown()
    print(json.dumps({"tool": "rllib", "version": ray.__version__, "runners": int(runners), "envs": int(envs), "net": net,
                      "sps": sps, "env_steps": counts[-1], "ready_at": ready_at, "trained_at": trained_at}))


if __name__ == "__main__":
    main(*sys.argv[1:])
