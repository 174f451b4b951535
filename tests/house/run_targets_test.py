"""run_targets_test.py: `scripts/run` builds every plugin of an experiment, and not all plugins for an experiment with few."""
import pathlib
import re
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


unittest.main()
