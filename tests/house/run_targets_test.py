"""run_targets_test.py: `scripts/run` builds the plugins that an experiment names, passes signals on, and offers the installation."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGETS = {folder.name: f"{folder.parent.name[:-1]}_{folder.name}" for folder in ROOT.glob("plugins/*s/*") if folder.parent.name != "common"}


def targets_of(*words):
    return set(subprocess.run([ROOT / "scripts/run", "--targets", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split())


class RunTargets(unittest.TestCase):
    def test_contain_every_plugin_of_shipped_files(self):
        files = [file for file in ROOT.glob("configs/**/*.yaml") if file.parent.name != "presets"]
        self.assertGreater(len(files), 30)
        for file in files:
            named = set(re.findall(r"^[^#\n]*\bplugin: *([a-z_]+)", file.read_text(), re.MULTILINE))
            wanted = {TARGETS[name] for name in named if name in TARGETS}
            self.assertLessEqual(wanted | {"backplane"}, targets_of(file), file)

    def test_follow_the_base_of_a_file(self):
        self.assertIn("learner_seq2seq", targets_of("configs/batch_optimization/05a_small_batch_high_accum.yaml"))

    def test_omit_unused_plugins(self):
        self.assertEqual({"backplane", "env_cartpole", "learner_ppo", "monitor_resources"}, targets_of("configs/quickstart.yaml"))

    def test_read_arguments_and_the_names_of_gymnasium(self):
        self.assertIn("env_cartpole", targets_of("absent.yaml", "--set", "env.plugin=CartPole-v1", "--set", "learner.plugin=random"))

    def test_find_the_file_behind_options(self):
        self.assertIn("learner_ppo", targets_of("--set", "env.plugin=ant", "configs/quickstart.yaml"))

    def test_end_at_a_file_that_is_its_own_base(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "x.yaml")
            file.write_text("base: 'x.yaml'\nenv: cartpole\n")
            self.assertIn("plugins/all", targets_of(file))

    def test_are_all_plugins_if_no_known_one_is_named(self):
        self.assertIn("plugins/all", targets_of("absent.yaml"))


class RunEnd(unittest.TestCase):
    """scripts/run in a tree whose other programs do nothing."""

    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        (self.root / "scripts").mkdir()
        shutil.copy(ROOT / "scripts/run", self.root / "scripts/run")
        for name in ("scripts/bootstrap", "scripts/build"):
            self.write(name, "")

    def write(self, name, text):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text("#!/bin/bash\n" + text)
        (self.root / name).chmod(0o755)

    def start(self, path="/usr/bin:/bin"):
        return subprocess.Popen([self.root / "scripts/run", "x.yaml"], env={**os.environ, "PATH": path}, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def test_last_line_offers_the_installation(self):
        self.write("build/release/bin/backplane", 'echo "$@"; exit 3')
        run = self.start()
        out, err = run.communicate()
        self.assertEqual((out, run.returncode), ("run x.yaml\n", 3))
        self.assertIn("scripts/install", err.splitlines()[-1])

    def test_last_line_is_omitted_if_the_shell_has_the_command(self):
        self.write("build/release/bin/backplane", "exit 3")
        run = self.start(f"{self.root}/build/release/bin:/usr/bin:/bin")
        self.assertEqual((run.communicate()[1], run.returncode), ("", 3))

    def test_signals_reach_the_program(self):
        self.write("build/release/bin/backplane", "trap 'exit 7' TERM\necho ready\nwhile :; do sleep 0.05; done")
        run = self.start()
        self.assertEqual(run.stdout.readline(), "ready\n")
        run.send_signal(signal.SIGTERM)
        run.communicate()
        self.assertEqual(run.returncode, 7)


unittest.main()
