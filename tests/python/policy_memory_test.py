#!/usr/bin/env python3
"""A loaded policy with a memory, with a policy.py written by hand whose state sums the observations.

  policy_memory_test.py    (BACKPLANE_HOME: the build tree)
"""
import pathlib
import tempfile

import needs

needs.packages("cffi", "numpy")

import numpy  # noqa: E402

import backplane_rl  # noqa: E402

SUMS = """import numpy as np
ARRAYS = {"memory.hidden.weight": np.zeros((2, 6), np.float32)}
def step(obs, state, mask=None):
    assert state.dtype == np.float32 and state.shape == np.shape(obs)[:-1] + (2,), state
    return state[..., :1].copy(), state + np.asarray(obs, np.float32)
"""
PLAIN = """ARRAYS = {}
def act(obs, mask=None):
    return obs
"""


def loaded(text):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "policy.py")
        file.write_text(text)
        return backplane_rl.Policy(file)


policy = loaded(SUMS)
one = numpy.ones((3, 2), numpy.float32)
assert policy(one)[:, 0].tolist() == [0, 0, 0]
assert policy(2 * one)[:, 0].tolist() == [1, 1, 1]
assert policy(one)[:, 0].tolist() == [3, 3, 3]
policy.reset([1])
assert policy(one)[:, 0].tolist() == [4, 0, 4]
policy.reset(numpy.array([True, False, False]))
assert policy(one)[:, 0].tolist() == [0, 1, 5]
try:
    policy(one[:2])
except ValueError as error:
    assert "expected shape (3, '...') as in the last call, got (2, 2)" in str(error), error
else:
    raise AssertionError("another number of rows was accepted")
policy.reset()
assert policy(one[:2])[:, 0].tolist() == [0, 0]
policy.reset()
assert policy(one[0]).tolist() == [0] and policy(one[0]).tolist() == [1], "one observation"
plain = loaded(PLAIN)
plain.reset(), plain.reset([0])
assert plain(one) is one
print("a loaded policy keeps its memory by row")
