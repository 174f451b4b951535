#!/usr/bin/env python3
"""Compares fingerprints.bin with hashes of PyPI's xxhash over bytes that the script knows without the host.

  fingerprints_oracle.py PROGRAM FIXTURES        runs in .venv-oracle, which has xxhash

The script parses the file by its documented format. Tensors are made by hand or taken from the trial's checkpoint.
"""
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

import numpy
import xxhash

# 3 rows: a step's rows are padded to 64 bytes. With `policy: zero` every action is 0, and CartPole pays 1.
ZEROS = """
experiment: zeros
env: cartpole
learner: {plugin: random, options: {horizon: 5, policy: zero}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 3}
budget: {iterations: 4}
"""
# Item i has 1 + 5 i % 6 numbers, all equal to i. Sorted by length, the items are 1, 2, 3, 4, 5, 0, each one number shorter.
ITEMS = """
experiment: items
env: {plugin: numbers, options: {items: 6, capacity: 6}}
learner: {plugin: adds, options: {group: 6, micro_batch: MICRO}}
budget: {iterations: 2}
"""
ARS = """
experiment: ars
env: cartpole
learner: {plugin: ars, options: {num_dirs: 4, normalize_obs: false, bias: false}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 8}
budget: {iterations: 3}
"""


def xxh3(data):
    return xxhash.xxh3_64_intdigest(bytes(data))


def read(file):
    """{iteration: {(phase, tensor): hash}}, parsed entry by entry."""
    data, at, columns, found = file.read_bytes(), 0, None, {}
    while at < len(data):
        (first,) = struct.unpack_from("<Q", data, at)
        if first == 2**64 - 1:
            (size,) = struct.unpack_from("<Q", data, at + 8)
            table = json.loads(data[at + 16 : at + 16 + size])
            assert (table["version"], table["hash"], size % 8) == (1, "XXH3_64", 0), table
            columns = [(column["phase"], column["tensor"]) for column in table["columns"]]
            end = at + 16 + size
        else:
            end = at + 8 + 8 * len(columns)
            found[first] = dict(zip(columns, struct.unpack_from(f"<{len(columns)}Q", data, at + 8)))
        assert xxh3(data[at:end]) == struct.unpack_from("<Q", data, end)[0], f"check of the entry at byte {at}"
        at = end + 8
    return found


def learner_state(trial):
    file = (trial / "checkpoint/checkpoint.bin").read_bytes()
    size = int.from_bytes(file[8:16], "little")
    at = 48 + size
    for part in json.loads(file[48:at])["parts"]:
        if part["name"] == "learner":
            return file[at : at + part["bytes"]]
        at += part["bytes"]
    raise AssertionError("no state of the learner")


class Runs:
    def __init__(self, program, fixtures, folder):
        self.program, self.folder = pathlib.Path(program).resolve(), folder
        shipped = self.program.parent.parent / "lib/backplane/plugins"
        # Fixtures break the contract on purpose.
        self.environment = {**os.environ, "BACKPLANE_PLUGIN_PATH": f"{shipped}:{fixtures}", "BACKPLANE_VALIDATE": "off"}

    def run(self, name, text):
        (self.folder / f"{name}.yaml").write_text(text)
        done = subprocess.run([self.program, "run", f"{name}.yaml", "--out", name, "--quiet"], cwd=self.folder, env=self.environment,
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        (trial,) = (self.folder / name / "trials").iterdir()
        return trial, read(trial / "attempt-1/fingerprints.bin")


def expect(what, found, wanted):
    assert found == wanted, f"{what}: wanted {wanted:016x}, found {found:016x}"


def main():
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(sys.argv[1], sys.argv[2], pathlib.Path(folder))
        trial, found = runs.run("zeros", ZEROS)
        assert sorted(found) == [1, 2, 3, 4], sorted(found)
        for iteration in found.values():
            expect("action", iteration["actions", "action"], xxh3(numpy.zeros((5, 3), "<i4")))
            expect("reward", iteration["rewards", "reward"], xxh3(numpy.ones((5, 3), "<f4")))
        expect("state", found[4]["weights", "state"], xxh3(learner_state(trial)))
        assert found[1]["observations", "obs"] != found[2]["observations", "obs"]

        for micro in ("6", "2"):  # however the group is cut
            _, found = runs.run(f"items{micro}", ITEMS.replace("MICRO", micro))
            items = [1, 2, 3, 4, 5, 0]
            lengths = [6, 5, 4, 3, 2, 1]
            numbers = numpy.concatenate([numpy.full(n, i, "<f4") for i, n in zip(items, lengths)])
            for iteration in found.values():
                expect("obs", iteration["observations", "obs"], xxh3(numbers))
                expect("obs_length", iteration["observations", "obs_length"], xxh3(numpy.array(lengths, "<i4")))
                expect("weight", iteration["observations", "weight"], xxh3(numpy.array(lengths, "<f4")))
                assert len(iteration) == 3, iteration  # of a learner that would have to be asked to save: nothing

        trial, found = runs.run("ars", ARS)
        state, size = learner_state(trial), 4 * 2
        at = state.index(struct.pack("<Q", size) + state[-16 - 8 * size : -16])  # before seed and iteration
        expect("policy", found[3]["weights", "policy.0.weight"], xxh3(state[at + 8 : at + 8 + 8 * size]))
        assert ("rewards", "fitness") in found[3] and ("rewards", "ep_length") in found[3], found[3]
    print("all hashes are those of bytes that are known")


if __name__ == "__main__":
    main()
