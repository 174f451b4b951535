#!/usr/bin/env python3
"""Compares the Python adapters with the trainers' own envs, in turn, in env steps per second, and measures the cost of a call.

  adapters.py gymnasium [--env Ant-v5]    our vector env, 2 threads, and make_vec sync and async       (Python: build/adapters/gymnasium)
  adapters.py envpool   [--env Ant-v5]    our vector env and EnvPool, both 2 threads                   (needs envpool)
  adapters.py sb3       [--env Ant-v5]    rollouts of Stable-Baselines3's PPO on ours and on SubprocVecEnv    (build/adapters/sb3)
  adapters.py returns   [--seeds 5]       returns of its PPO on CartPole-v1, on ours and on SubprocVecEnv, by Welch's test      (build/adapters/sb3)
  adapters.py call FILE [--at-most-us 10] CPU time of a step of 64 rows of tests/support/env_null.cpp

BACKPLANE_HOME is the build tree or the installation. Each round runs every env once, in rotating order; the figure is the median over
rounds of the ratio within a round. If the machine's pressure between rounds exceeds 10 %, the result is "disturbed".
"""
import argparse
import json
import os
import re
import statistics
import sys
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np

ROWS = 64


def pressure_pct() -> float:
    """Share of the last 10 s in which some process waited for a core."""
    try:
        with open("/proc/pressure/cpu") as file:
            return float(file.readline().split("avg10=")[1].split()[0])
    except OSError:
        return 0.0


def compare(runs, rounds: int, ours: str) -> None:
    """runs: name -> function that returns env steps per second."""
    names, rates, disturbed = list(runs), {name: [] for name in runs}, 0
    for round_ in range(rounds):
        for name in names[round_ % len(names):] + names[:round_ % len(names)]:
            rates[name].append(runs[name]())
        disturbed += pressure_pct() > 10
    figures = {}
    for name in names:
        ratios = [a / b for a, b in zip(rates[ours], rates[name])]
        ratio = statistics.median(ratios)
        print(f"{name:32} {statistics.median(rates[name]):10.0f} steps/s   ours / it = {ratio:.2f}")
        figures["adapters/" + re.sub(r" [\d.]+$", "", name).replace(" ", "_")] = {"median": ratio, "min": min(ratios), "max": max(ratios), "n": rounds}
    if disturbed:
        print(f"disturbed: others waited for or used the cores in {disturbed} of {rounds} rounds")
    print(json.dumps({"figures": figures}))


def stepper(envs, seconds: float):
    space = envs.action_space
    space.seed(1)
    if space.shape[:1] == (ROWS,):
        actions = [space.sample() for _ in range(64)]
    else:  # EnvPool returns one row
        draw = np.random.default_rng(1)
        actions = [draw.uniform(space.low, space.high, (ROWS, *space.shape)).astype(space.dtype) for _ in range(64)]
    envs.reset()

    def run() -> float:
        start, calls = time.perf_counter(), 0
        while calls % 8 or time.perf_counter() - start < seconds:
            envs.step(actions[calls % 64])
            calls += 1
        return calls * ROWS / (time.perf_counter() - start)

    return run


def bench_gymnasium(arguments) -> None:
    import gymnasium

    import backplane_rl

    runs = {"ours": stepper(backplane_rl.make_vec(arguments.env, ROWS, threads=2), arguments.seconds)}
    for mode in ("sync", "async"):
        runs[f"gymnasium {mode}"] = stepper(gymnasium.make_vec(arguments.env, num_envs=ROWS, vectorization_mode=mode), arguments.seconds)
    compare(runs, arguments.rounds, "ours")


def bench_envpool(arguments) -> None:
    import envpool

    import backplane_rl

    theirs = envpool.make_gymnasium(arguments.env, num_envs=ROWS, num_threads=2, seed=1)
    compare({"ours": stepper(backplane_rl.make_vec(arguments.env, ROWS, threads=2), arguments.seconds),
             f"envpool {envpool.__version__}": stepper(theirs, arguments.seconds)}, arguments.rounds, "ours")


def bench_sb3(arguments) -> None:
    import torch
    from stable_baselines3 import PPO
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.vec_env import SubprocVecEnv

    import backplane_rl

    torch.set_num_threads(1)

    class Timed(PPO):
        def collect_rollouts(self, *words, **named):
            start = time.perf_counter()
            done = super().collect_rollouts(*words, **named)
            self.rollout_s = time.perf_counter() - start
            return done

        def train(self):
            pass

    def runner(envs):
        model = Timed("MlpPolicy", envs, n_steps=arguments.steps, batch_size=256, device="cpu", seed=0)

        def run() -> float:
            model.learn(arguments.steps * envs.num_envs)
            return arguments.steps * envs.num_envs / model.rollout_s

        return run

    theirs = make_vec_env(arguments.env, arguments.rows, seed=0, vec_env_cls=SubprocVecEnv)
    compare({"ours": runner(backplane_rl.sb3.make(arguments.env, arguments.rows, threads=arguments.threads)),
             "sb3 SubprocVecEnv": runner(theirs)}, arguments.rounds, "ours")
    theirs.close()


def bench_returns(arguments) -> None:
    """Trains on either and evaluates both in Gymnasium's own env, over 20 episodes."""
    import gymnasium
    import torch
    from scipy import stats
    from stable_baselines3 import PPO
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.evaluation import evaluate_policy
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import SubprocVecEnv

    import backplane_rl

    torch.set_num_threads(1)

    def score(envs, seed: int) -> float:
        model = PPO("MlpPolicy", envs, n_steps=128, batch_size=256, device="cpu", seed=seed)
        model.learn(30_000)
        envs.close()
        own = Monitor(gymnasium.make("CartPole-v1"))
        own.reset(seed=1000 + seed)
        return float(evaluate_policy(model, own, n_eval_episodes=20)[0])

    ours, theirs = [], []
    for seed in range(arguments.seeds):
        ours.append(score(backplane_rl.sb3.make("cartpole", arguments.rows, seed=seed), seed))
        theirs.append(score(make_vec_env("CartPole-v1", arguments.rows, seed=seed, vec_env_cls=SubprocVecEnv), seed))
        print(f"seed {seed}: ours {ours[-1]:.1f}, sb3 SubprocVecEnv {theirs[-1]:.1f}", flush=True)
    test = stats.ttest_ind(ours, theirs, equal_var=False)
    low, high = test.confidence_interval()
    verdict = "not shown to differ" if test.pvalue > 0.05 else "better" if test.statistic > 0 else "worse"
    print(f"ours: {verdict}; difference {np.mean(ours) - np.mean(theirs):.1f} ({low:.1f} to {high:.1f}), p = {test.pvalue:.2f}, n = {arguments.seeds}")


def bench_call(arguments) -> None:
    import backplane_rl

    envs = backplane_rl.make_vec(None, ROWS, file=arguments.file, autoreset_mode="same_step")
    envs.reset(seed=0)
    actions, calls = np.zeros((ROWS, 1), np.float32), 2000

    def cpu_us(step) -> float:
        start = time.thread_time()
        for _ in range(calls):
            step()
        return (time.thread_time() - start) / calls * 1e6

    whole = min(cpu_us(lambda: envs.step(actions)) for _ in range(5))
    inside = min(cpu_us(envs.env.step) for _ in range(5))
    print(f"a step of {ROWS} rows: {whole:.2f} us of CPU, {inside:.2f} us of it the env, the host and the bare call")
    print(json.dumps({"figures": {"adapters/call_us": whole}}))
    if whole > arguments.at_most_us:
        sys.exit(f"wanted at most {arguments.at_most_us} us")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("gymnasium", "envpool", "sb3", "returns", "call"))
    parser.add_argument("file", nargs="?")
    parser.add_argument("--env", default="Ant-v5")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0, help="of a run")
    parser.add_argument("--steps", type=int, default=256, help="of a rollout of sb3")
    parser.add_argument("--rows", type=int, default=8, help="of sb3")
    parser.add_argument("--seeds", type=int, default=5, help="of returns")
    parser.add_argument("--threads", type=int, default=2, help="of our rows in sb3")
    parser.add_argument("--at-most-us", type=float, default=float("inf"))
    arguments = parser.parse_args()
    globals()[f"bench_{arguments.what}"](arguments)


if __name__ == "__main__":
    main()
