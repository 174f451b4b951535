#!/usr/bin/env python3
"""env.uav_grid as a NumPy loop: the same maps, rules, OBS, STATE and masks. Prints its speed, ours, and the ratio.

  bench/uav_grid_numpy.py [--steps N] [--build DIR]

Checks itself first: the greedy episodes that tests/plugins/envs/uav_grid_test.cpp holds for the plugin must come out here too. Both fly
at random over the mask. Its resets are left out of its time, ours are in. Needs NumPy, and scripts/build release bench_host env_uav_grid.
"""
import argparse
import json
import pathlib
import subprocess
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOVES = np.array([(0, 0), (0, -1), (0, 1), (-1, 0), (1, 0), (-1, -1), (-1, 1), (1, -1), (1, 1)])
GREEDY = {1: (8, 2, 38, 579.8183), 2: (10, 0, 24, 834.3445), 3: (10, 0, 27, 887.5693), 42: (10, 0, 29, 862.8376)}


def draws(seed):
    """Backplane's generator: Philox4x32-10, key seed, counter n."""
    low = 0xFFFFFFFF
    n = 0
    while True:
        c, k = [n & low, n >> 32, 0, 0], [seed & low, seed >> 32]
        for _ in range(10):
            p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
            c = [(q >> 32) ^ c[1] ^ k[0], q & low, (p >> 32) ^ c[3] ^ k[1], p & low]
            k = [(k[0] + 0x9E3779B9) & low, (k[1] + 0xBB67AE85) & low]
        yield c[1] << 32 | c[0]
        n += 1


class UavGrid:
    def __init__(self, side=40, n=10, obstacles=40, max_steps=200, radius=5, goal_radius=1.5):
        self.side, self.n, self.obstacles, self.max_steps, self.radius, self.goal_radius = side, n, obstacles, max_steps, radius, goal_radius

    def reset(self, seed):
        source = draws(seed)
        while not self.draw_map(source):
            pass
        self.pos, self.last = self.start.copy(), np.zeros((self.n, 2), int)
        self.active, self.arrived = np.ones(self.n, bool), np.zeros(self.n, bool)
        self.t = 0
        return self.observe()

    def draw_map(self, source):
        cells = list(range(self.side * self.side))
        for i in range(self.obstacles + 2 * self.n):
            j = i + (next(source) * (len(cells) - i) >> 64)
            cells[i], cells[j] = cells[j], cells[i]
        as_xy = np.array([(c % self.side, c // self.side) for c in cells[:self.obstacles + 2 * self.n]])
        blocked, ends = as_xy[:self.obstacles], as_xy[self.obstacles:]
        self.start, self.target = ends[::2], ends[1::2]
        self.map = np.zeros((self.side, self.side), np.float32)
        self.map[blocked[:, 1], blocked[:, 0]] = 1
        self.padded = np.pad(self.map, max(self.radius, 1), constant_values=-1)
        near = np.linalg.norm(self.target - self.start, axis=1) < self.goal_radius
        return not near.any() and all(self.reaches(s, t) for s, t in zip(self.start, self.target))

    def reaches(self, start, target):
        seen, front, target = {tuple(start)}, [tuple(start)], tuple(target)
        while front and target not in seen:
            cells = {(x + dx, y + dy) for x, y in front for dx, dy in MOVES}
            front = [(x, y) for x, y in cells - seen if 0 <= x < self.side and 0 <= y < self.side and not self.map[y, x]]
            seen.update(front)
        return target in seen

    def step(self, actions):
        live = np.flatnonzero(self.active)
        before = np.linalg.norm(self.target - self.pos, axis=1)
        new = self.pos + MOVES[actions]
        border = max(self.radius, 1)
        crashed = np.zeros(self.n, bool)
        for i in live:
            crashed[i] = self.padded[new[i, 1] + border, new[i, 0] + border] != 0
        flying = [i for i in live if not crashed[i]]
        for k, i in enumerate(flying):
            for j in flying[:k]:
                vertex = new[i, 0] == new[j, 0] and new[i, 1] == new[j, 1]
                edge = actions[i] != 0 and actions[j] != 0 and (self.pos[i] + new[i] == self.pos[j] + new[j]).all()
                if vertex or edge:
                    crashed[i] = crashed[j] = True
        moves = self.active & ~crashed
        self.last[live] = 0
        self.last[moves] = (new - self.pos)[moves]
        self.pos[moves] = new[moves]
        after = np.linalg.norm(self.target - self.pos, axis=1)
        arrives = moves & (after < self.goal_radius)
        reward = np.where(self.active, -0.1 + before - after + 50 * arrives - 10 * crashed, 0)
        self.arrived |= arrives
        self.active &= ~(arrives | crashed)
        self.t += 1
        if self.arrived.all() and arrives.any():
            reward += 20
        return self.observe(), reward, not self.active.any()

    def observe(self):
        w, r, border, n = self.side - 1, self.radius, max(self.radius, 1), self.n
        time_left = self.t / self.max_steps
        obs = np.zeros((n, 8 + 5 * (n - 1) + (2 * r + 1) ** 2), np.float32)
        mask = np.zeros((n, 9), np.uint8)
        mask[:, 0] = 1
        state = []
        for i in range(n):
            (x, y), (tx, ty) = self.pos[i], self.target[i]
            state += [x / w, y / w, *self.last[i], tx / w, ty / w, self.active[i], self.arrived[i]]
            if not self.active[i]:
                continue
            distance = np.hypot(tx - x, ty - y) / np.hypot(w, w)
            obs[i, :8] = [x / w, y / w, *self.last[i], (tx - x) / w, (ty - y) / w, distance, time_left]
            relative = self.pos - self.pos[i]
            seen = self.active & (np.abs(relative).max(axis=1) <= r)
            others = np.column_stack([np.ones(n), relative / r, self.last]) * seen[:, None]
            obs[i, 8:8 + 5 * (n - 1)] = np.delete(others, i, axis=0).ravel()
            x, y = x + border, y + border
            obs[i, 8 + 5 * (n - 1):] = self.padded[y - r:y + r + 1, x - r:x + r + 1].ravel()
            mask[i, 1:] = [self.padded[y + dy, x + dx] == 0 for dx, dy in MOVES[1:]]
        state = np.concatenate([np.array(state + [time_left], np.float32), self.map.ravel()])
        return obs, state, mask, self.active.astype(np.uint8)


def greedy(env, mask):
    actions = np.zeros(env.n, int)
    for i in range(env.n):
        best = np.inf
        for a in np.flatnonzero(mask[i]):
            cost = np.linalg.norm(env.target[i] - env.pos[i] - MOVES[a])
            if cost < best - 1e-12:
                best, actions[i] = cost, a
    return actions


def check():
    env = UavGrid()
    for seed, wanted in GREEDY.items():
        (_, _, mask, _), total, over = env.reset(seed), 0.0, False
        while not over and env.t < env.max_steps:
            (_, _, mask, _), reward, over = env.step(greedy(env, mask))
            total += reward.sum()
        found = (int(env.arrived.sum()), int((~env.active & ~env.arrived).sum()), env.t, round(float(total), 4))
        if found != wanted:
            raise SystemExit(f"uav_grid_numpy: expected {wanted} for the greedy episode of seed {seed}, got {found}")


def steps_per_second(steps):
    env, rng, spent, seed = UavGrid(), np.random.default_rng(1), 0.0, 0
    _, _, mask, _ = env.reset(seed)
    for _ in range(steps):
        actions = [rng.choice(np.flatnonzero(m)) for m in mask]
        start = time.process_time()
        (_, _, mask, _), _, over = env.step(np.array(actions))
        spent += time.process_time() - start
        if over or env.t == env.max_steps:
            seed += 1
            _, _, mask, _ = env.reset(seed)
    return steps / spent


def ours(build):
    words = ["rows=64", "chunk_rows=16", "horizon=64", "masked=1", "pairs=15"]
    done = subprocess.run([build / "bench/bench_host", "cost", build / "lib/backplane/plugins/env_uav_grid.so", *words],
                          check=True, capture_output=True, text=True)
    return 1e6 / json.loads(done.stdout)["cpu_us"]["median"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=5000, help="of the NumPy loop")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    args = parser.parse_args()
    check()
    a, plain, b = ours(args.build), steps_per_second(args.steps), ours(args.build)
    print(f"NumPy loop  {plain:12,.0f} env steps per CPU second   {10 * plain:12,.0f} agent-steps")
    print(f"uav_grid    {(a + b) / 2:12,.0f} env steps per CPU second   {5 * (a + b):12,.0f} agent-steps   ({a:,.0f} before, {b:,.0f} after)")
    print(f"ratio       {(a + b) / 2 / plain:12,.0f}")
    print(json.dumps({"figures": {"uav_grid_over_numpy": {"median": (a + b) / 2 / plain, "min": min(a, b) / plain, "max": max(a, b) / plain, "n": 2}}}))


if __name__ == "__main__":
    main()
