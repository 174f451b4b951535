"""Random search of a linear policy for CartPole, in plain Python: a training script without any code for Backplane.

It keeps its state in --checkpoint, resumes from there, and prints a line per iteration.
"""
import argparse
import json
import math
import os
import random

LIMIT = 500  # steps of an episode, as in CartPole-v1


def episode(weights, rng):
    """Steps until the pole falls, by the equations of Barto, Sutton and Anderson, as in Gymnasium's CartPole."""
    x, speed, angle, spin = (rng.uniform(-0.05, 0.05) for _ in range(4))
    for step in range(LIMIT):
        force = 10.0 if weights[0] * x + weights[1] * speed + weights[2] * angle + weights[3] * spin > 0 else -10.0
        sine, cosine = math.sin(angle), math.cos(angle)
        pull = (force + 0.05 * spin * spin * sine) / 1.1
        spin_up = (9.8 * sine - cosine * pull) / (0.5 * (4.0 / 3.0 - 0.1 * cosine * cosine / 1.1))
        speed_up = pull - 0.05 * spin_up * cosine / 1.1
        x, speed, angle, spin = x + 0.02 * speed, speed + 0.02 * speed_up, angle + 0.02 * spin, spin + 0.02 * spin_up
        if abs(x) > 2.4 or abs(angle) > 12 * math.pi / 180:
            return step + 1
    return LIMIT


def unit(weights):
    """The same policy with length 1. Only the sign of its sum counts, so --sigma has the same meaning for all policies."""
    length = math.sqrt(sum(weight * weight for weight in weights)) or 1.0
    return [weight / length for weight in weights]


def save(path, state):
    with open(path + ".new", "w") as file:
        json.dump(state, file)
    os.replace(path + ".new", path)  # a whole file or none


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sigma", type=float, default=0.5, help="distance of a candidate from the best policy so far")
    parser.add_argument("--iterations", type=int, default=40)
    parser.add_argument("--episodes", type=int, default=5, help="episodes per candidate")
    parser.add_argument("--checkpoint", default="checkpoint.json")
    args = parser.parse_args()

    rng = random.Random(args.seed)
    state = {"iteration": 0, "steps": 0, "best": unit([rng.gauss(0, 1) for _ in range(4)]), "score": 0.0}
    if os.path.exists(args.checkpoint):
        with open(args.checkpoint) as file:
            state, words = json.load(file)
        rng.setstate((words[0], tuple(words[1]), words[2]))
    while state["iteration"] < args.iterations:
        weights = unit([weight + rng.gauss(0, args.sigma) for weight in state["best"]])
        lengths = [episode(weights, rng) for _ in range(args.episodes)]
        score = sum(lengths) / len(lengths)
        if score >= state["score"]:
            state["best"], state["score"] = weights, score
        state["iteration"] += 1
        state["steps"] += sum(lengths)
        print(f"step={state['steps']} return={score:.1f} best={state['score']:.1f}", flush=True)
        save(args.checkpoint, [state, rng.getstate()])


if __name__ == "__main__":
    main()
