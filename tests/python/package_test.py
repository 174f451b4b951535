#!/usr/bin/env python3
"""Puts what a wheel holds, from a build tree, where pip would: the layout, the command `backplane`, and what it finds beside itself.

  package_test.py CMAKE BUILD [TORCH]    TORCH: folder of the wheel that the build has, if it has one
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import unittest

import needs

needs.packages("cffi", "gymnasium", "numpy")

ROOT = pathlib.Path(__file__).resolve().parents[2]
CMAKE, BUILD = sys.argv[1], sys.argv[2]
TORCH = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PINS = dict(line.split("==") for line in (ROOT / "scripts/requirements.txt").read_text().splitlines() if "==" in line)
PYTHON = f"python3.{sys.version_info.minor}"
MODULE, FUNCTION = PROJECT["project"]["scripts"]["backplane"].split(":")

LAYOUT = ["bin/backplane", "bin/backplane-author", "bin/backplane-shim", "bin/backplane-report", "bin/backplane-study", "bin/backplane-trial", "bin/backplane-validate", "bin/backplane-figures.py", "include/backplane/embed.h",
          "lib/libbackplane_embed.so", "lib/backplane/plugins/env_cartpole.so", "lib/cmake/backplane/backplaneConfig.cmake",
          "share/backplane/configs/quickstart.yaml", "share/backplane/presets/cpu.yaml", "share/backplane/licenses/NOTICE",
          "_library.py", "py.typed"]

TORCH_TRIAL = """\
experiment: torch
env: cartpole
learner: {plugin: ppo, options: {update_path: torch, train_batch_size: 64, minibatch_size: 64, num_epochs: 1}}
budget: {iterations: 1}
"""


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = pathlib.Path(tempfile.mkdtemp()).resolve()
        cls.site = cls.folder / "lib" / PYTHON / "site-packages"
        cls.home = cls.site / "backplane_rl"
        for component in PROJECT["tool"]["scikit-build"]["install"]["components"]:
            subprocess.run([CMAKE, "--install", BUILD, "--component", component, "--prefix", cls.home], check=True, stdout=subprocess.DEVNULL)
        for package in PROJECT["tool"]["scikit-build"]["wheel"]["packages"]:
            shutil.copytree(ROOT / package, cls.site / pathlib.Path(package).name, dirs_exist_ok=True)
        for record in ("torch.json", "python.json"):  # name places of the build, which no package does
            (cls.home / "lib/backplane" / record).unlink(missing_ok=True)
        (cls.folder / "bin").mkdir()
        (cls.folder / "bin" / PYTHON).symlink_to(sys.executable)

    @classmethod
    def tearDownClass(cls) -> None:
        shutil.rmtree(cls.folder)

    def setUp(self) -> None:
        self.work = self.folder / "work"
        self.work.mkdir()
        self.addCleanup(shutil.rmtree, self.work)

    def surroundings(self) -> dict[str, str]:
        ours = ("BACKPLANE_", "PYTHONPATH")
        return {**{name: value for name, value in os.environ.items() if not name.startswith(ours)}, "PYTHONPATH": str(self.site)}

    def backplane(self, *words: str) -> subprocess.CompletedProcess[str]:
        """What pip's script of that name does."""
        return subprocess.run([sys.executable, "-c", f"from {MODULE} import {FUNCTION}; {FUNCTION}()", *words], cwd=self.work,
                              env=self.surroundings(), capture_output=True, text=True)

    def link_torch(self, version: str) -> None:
        """The build's LibTorch as a package of this Python, of any version."""
        torch = self.site / "torch"
        if torch.exists():
            shutil.rmtree(torch)
        (torch / "lib").mkdir(parents=True)
        for library in (TORCH / "lib").glob("*.so*"):
            (torch / "lib" / library.name).symlink_to(library)
        (torch / "version.py").write_text(f"__version__ = '{version}'\n")

    def test_holds_what_a_bare_machine_needs(self) -> None:
        self.assertEqual([name for name in LAYOUT if not (self.home / name).exists()], [])

    def test_the_command_says_where_the_sdk_lies(self) -> None:
        self.assertEqual(self.backplane("sdk", "--cmakedir").stdout, f"{self.home}/lib/cmake/backplane\n")
        self.assertEqual(self.backplane("sdk", "--includedir").stdout, f"{self.home}/include\n")

    def test_a_config_that_ships_is_read_where_none_lies(self) -> None:
        shipped = self.backplane("config", "check", "configs/ppo/cartpole.yaml")
        self.assertEqual(shipped.returncode, 0, shipped.stderr)
        self.assertIn(f"{self.home}/share/backplane/configs/ppo/cartpole.yaml", shipped.stderr)
        own = self.work / "configs/ppo/cartpole.yaml"
        own.parent.mkdir(parents=True)
        own.write_text("env: cartpole\nlearner: no_such_learner\n")
        self.assertIn("no_such_learner", self.backplane("config", "check", "configs/ppo/cartpole.yaml").stderr)

    def test_figures_are_drawn_by_the_python_that_has_the_package(self) -> None:
        self.assertRegex(self.backplane("doctor").stdout, rf"figures .* {re.escape(str(self.folder))}/bin/{re.escape(PYTHON)}")

    def test_an_env_steps_in_this_python(self) -> None:
        program = "import backplane_rl; env = backplane_rl.make_vec('cartpole', 2); env.reset(seed=1); print(backplane_rl._library.home)"
        done = subprocess.run([sys.executable, "-c", program], cwd=self.work, env=self.surroundings(), capture_output=True, text=True)
        self.assertEqual(done.stdout, f"{self.home}\n", done.stderr)

    def test_an_installation_holds_the_python_package_too(self) -> None:
        prefix = self.work / "prefix"
        subprocess.run([CMAKE, "--install", BUILD, "--component", "python", "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
        (prefix / "lib/libbackplane_embed.so").symlink_to(self.home / "lib/libbackplane_embed.so")
        (prefix / "include").symlink_to(self.home / "include")
        done = subprocess.run([sys.executable, "-c", "import backplane_rl; print(backplane_rl._library.home)"], capture_output=True, text=True,
                              env={**self.surroundings(), "PYTHONPATH": str(prefix / "lib/python3/dist-packages")})
        self.assertEqual(done.stdout, f"{prefix}\n", done.stderr)

    def test_what_bootstrap_installs_is_what_the_wheel_wants(self) -> None:
        self.assertEqual(PROJECT["project"]["optional-dependencies"]["torch"], [f"torch=={PINS['torch']}"])
        self.assertIn(f"vl-convert-python=={PINS['vl-convert-python']}", PROJECT["project"]["dependencies"])

    @unittest.skipUnless(TORCH, "built without LibTorch")
    def test_libtorch_is_the_one_of_this_python(self) -> None:
        (self.work / "torch.yaml").write_text(TORCH_TRIAL)
        none = self.backplane("run", "torch.yaml")
        self.assertIn("pip install 'backplane[torch]'", none.stdout + none.stderr)
        self.link_torch("9.9.9")
        other = self.backplane("run", "torch.yaml")
        self.assertRegex(other.stdout + other.stderr, r"was built against LibTorch \S+, this process has 9.9.9")
        self.link_torch(f"{PINS['torch']}+another.build")
        same = self.backplane("run", "torch.yaml")
        self.assertEqual(same.returncode, 0, same.stdout + same.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
