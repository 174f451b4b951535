#!/usr/bin/env python3
"""Installs the package next to a torch of any version, and trains with the LibTorch of `backplane setup torch`.

  own_torch_test.py    in an environment that has torch (BACKPLANE_HOME: the build tree); scripts/test_adapters makes two
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import needs

needs.packages("cffi", "numpy", "torch")

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from wheel_of_build import make_wheel  # noqa: E402

import torch  # noqa: E402

LIB = pathlib.Path(torch.__file__).parent / "lib"
EXPERIMENT = """\
experiment: torch
env: cartpole
learner: {plugin: ppo, options: {update_path: torch, train_batch_size: 64, minibatch_size: 64, num_epochs: 1}}
budget: {iterations: 2}
"""
PROGRAM = """\
import FIRST, SECOND
import torch, backplane_rl
env = backplane_rl.EmbeddedEnv("cartpole", 2, seed=1)
assert torch.ones(2, requires_grad=True).sum().backward() is None
env.reset()
assert not backplane_rl.run("torch.yaml", arguments=["--fresh"]).cancelled
"""


class OwnTorch(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = pathlib.Path(tempfile.mkdtemp()).resolve()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        wheel = make_wheel(pathlib.Path(os.environ["BACKPLANE_HOME"]), cls.folder)
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--force-reinstall", wheel], check=True)
        ours = ("BACKPLANE_", "PYTHONPATH")
        cls.around = {name: value for name, value in os.environ.items() if not name.startswith(ours)} | {"XDG_DATA_HOME": str(cls.folder)}
        cls.run_in_folder(str(pathlib.Path(sys.executable).parent / "backplane"), "setup", "torch")
        (cls.folder / "torch.yaml").write_text(EXPERIMENT)

    @classmethod
    def run_in_folder(cls, *words: str, **environment: str) -> str:
        done = subprocess.run(words, cwd=cls.folder, env={**cls.around, **environment}, capture_output=True, text=True)
        if done.returncode != 0:
            raise AssertionError(f"{words}: exit {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def test_both_are_imported_in_either_order(self) -> None:
        for first, second in (("torch", "backplane_rl"), ("backplane_rl", "torch")):
            self.run_in_folder(sys.executable, "-c", PROGRAM.replace("FIRST", first).replace("SECOND", second))

    def test_the_path_of_libraries_leads_to_the_other_torch(self) -> None:
        program = str(pathlib.Path(sys.executable).parent / "backplane")
        self.run_in_folder(program, "run", "torch.yaml", "--fresh", LD_LIBRARY_PATH=str(LIB))
        self.assertRegex(self.run_in_folder(program, "doctor", LD_LIBRARY_PATH=str(LIB)), rf"LibTorch .* in {re.escape(str(self.folder))}")


if __name__ == "__main__":
    print(f"torch {torch.__version__}", flush=True)
    unittest.main(argv=sys.argv[:1])
