#!/usr/bin/env python3
"""Installs a wheel's files from a build tree as pip would: the layout, the command `backplane`, and the files that it finds next to itself.

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
import zipfile

import needs

needs.packages("cffi", "gymnasium", "numpy")

ROOT = pathlib.Path(__file__).resolve().parents[2]
CMAKE, BUILD = sys.argv[1], sys.argv[2]
TORCH = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PINS = dict(line.split("==") for line in (ROOT / "scripts/requirements.txt").read_text().splitlines() if "==" in line)
PYTHON = f"python3.{sys.version_info.minor}"
MODULE, FUNCTION = PROJECT["project"]["scripts"]["backplane"].split(":")

LAYOUT = ["bin/backplane", "bin/backplane-archive", "bin/backplane-archive.py", "bin/backplane-author", "bin/backplane-export", "bin/backplane-export.py", "bin/backplane_export_c.py", "bin/backplane_export_python.py", "bin/backplane-policy", "bin/backplane-shim", "bin/backplane-report", "bin/backplane-runs", "bin/backplane-import.py", "bin/backplane-export-runs.py", "bin/backplane_runs/command.py", "bin/backplane-study", "bin/backplane-trial", "bin/backplane-validate", "bin/backplane-figures.py", "bin/backplane-setup-torch.py", "include/backplane/embed.h",
          "lib/libbackplane_embed.so", "lib/backplane/plugins/env_cartpole.so", "lib/cmake/backplane/backplaneConfig.cmake",
          "share/backplane/configs/quickstart.yaml", "share/backplane/presets/cpu.yaml", "share/backplane/licenses/NOTICE",
          "share/backplane/client/backplane_function.py",
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

    def backplane(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Runs the command as pip's script of that name does."""
        return subprocess.run([sys.executable, "-c", f"from {MODULE} import {FUNCTION}; {FUNCTION}()", *words], cwd=self.work,
                              env={**self.surroundings(), **environment}, capture_output=True, text=True)

    def link_torch(self, lib: pathlib.Path) -> None:
        """The build's LibTorch in this folder."""
        shutil.rmtree(lib)
        lib.mkdir()
        for library in (TORCH / "lib").glob("*.so*"):
            (lib / library.name).symlink_to(library)

    def make_wheel_of_torch(self, version: str) -> dict[str, str]:
        """Makes a small wheel named torch. Returns the variables with which pip installs it."""
        info = f"torch-{version}.dist-info"
        files = {"torch/lib/libtorch.so": "", "torch/version.py": f"__version__ = '{version}'\n",
                 f"{info}/METADATA": f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n",
                 f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n", f"{info}/RECORD": ""}
        with zipfile.ZipFile(self.work / f"torch-{version}-py3-none-any.whl", "w") as wheel:
            for name, text in files.items():
                wheel.writestr(name, text)
        return {"BACKPLANE_PYTHON": sys.executable, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.work), "PIP_CONFIG_FILE": os.devnull}

    def test_contains_everything_that_a_bare_machine_needs(self) -> None:
        self.assertEqual([name for name in LAYOUT if not (self.home / name).exists()], [])

    def test_the_command_prints_the_path_of_the_sdk(self) -> None:
        self.assertEqual(self.backplane("sdk", "--cmakedir").stdout, f"{self.home}/lib/cmake/backplane\n")
        self.assertEqual(self.backplane("sdk", "--includedir").stdout, f"{self.home}/include\n")
        self.assertEqual(self.backplane("sdk", "--sharedir").stdout, f"{self.home}/share/backplane\n")

    def test_finds_a_shipped_config_in_an_empty_folder(self) -> None:
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

    def test_bootstrap_installs_the_wheels_requirements(self) -> None:
        self.assertNotIn("torch", str(PROJECT["project"]["dependencies"]) + str(PROJECT["project"]["optional-dependencies"]))
        self.assertIn(f"vl-convert-python=={PINS['vl-convert-python']}", PROJECT["project"]["dependencies"])

    @unittest.skipUnless(TORCH, "built without LibTorch")
    def test_libtorch_has_a_folder_of_its_own(self) -> None:
        (self.work / "torch.yaml").write_text(TORCH_TRIAL)
        (self.site / "torch/lib").mkdir(parents=True)  # the user's torch, of another version
        self.addCleanup(shutil.rmtree, self.site / "torch")
        (self.site / "torch/version.py").write_text("__version__ = '9.9.9'\n")
        for name in ("libtorch.so", "libtorch_cpu.so", "libc10.so"):
            (self.site / "torch/lib" / name).write_text("no library")
        around = {"XDG_DATA_HOME": str(self.work / "data"), "LD_LIBRARY_PATH": str(self.site / "torch/lib")}
        none = self.backplane("run", "torch.yaml", **around)
        self.assertIn("`backplane setup torch`", none.stdout + none.stderr)

        failed = self.backplane("setup", "torch", **around, **self.make_wheel_of_torch("9.9.9"))
        self.assertEqual(failed.returncode, 1, failed.stdout + failed.stderr)
        self.assertEqual(list((self.work / "data/backplane").iterdir()), [])
        done = self.backplane("setup", "torch", **around, **self.make_wheel_of_torch(PINS["torch"]))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        own = self.work / f"data/backplane/torch-{PINS['torch']}/torch"
        self.assertTrue((own / "lib/libtorch.so").exists())
        self.assertIn(f"is already in {own}/lib", self.backplane("setup", "torch", **around).stdout)
        other = self.backplane("setup", "torch", "--index-url", "file:///nowhere", **around, BACKPLANE_TORCH_LIB=str(self.site / "torch/lib"))
        self.assertEqual(other.returncode, 2, other.stdout + other.stderr)
        self.assertIn(f'hint: export BACKPLANE_TORCH_LIB="{own}/lib"', other.stderr)

        self.link_torch(own / "lib")
        trained = self.backplane("run", "torch.yaml", **around)
        self.assertEqual(trained.returncode, 0, trained.stdout + trained.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
