"""The Pythons that peers run in, with pins: build/peers/NAME, made by `scripts/bench --peers`."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
from pythons import made, python_of  # noqa: E402

FOLDER = ROOT / "build/peers"
TORCH = ["torch==2.13.0"]
# mujoco 4.0.0 is the newest wheel with Python bindings; its trajectories equal our 4.0.1's.
MUJOCO = ["gymnasium[box2d]==1.4.0", "mujoco==4.0.0", "imageio==2.38.1", "packaging"]

# name: (packages, one list per call of pip; approximate size in GB)
PEERS = {
    "gymnasium": ([[*MUJOCO, "envpool==1.2.5", "cffi"]], 0.5),
    "sb3": ([TORCH, [*MUJOCO, "stable-baselines3==2.9.2", "scipy", "cffi"]], 2),
    "rllib": ([TORCH, ["ray[rllib]==2.60.0", "gymnasium[mujoco]", "mujoco==4.0.0"]], 3),
    "hydra": ([["hydra-core==1.3.2"]], 0.1),
    "rltools": ([["rltools==2.2.1", "scipy-openblas32==0.3.34.481.3", "mkl==2026.2.0", "mkl-include==2026.2.0"]], 1),
    "transformers": ([TORCH, ["transformers==5.23.0", "accelerate", "sentencepiece"]], 2),
}


class Pythons:
    """The Python of a peer: named by the user, made here before, or missing (None)."""

    def __init__(self, named, make):
        self.named, self.make = named, make

    def find(self, name):
        if name in self.named:
            return self.named[name]
        packages, _ = PEERS[name]
        folder = FOLDER / name
        if self.make:
            return python_of(folder, packages, "bench")
        return folder / "bin/python" if made(folder, packages) else None
