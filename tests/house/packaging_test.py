"""packaging_test.py: the Dockerfile, the conda recipe and the release workflow agree with the tree.

Exits with 77 without PyYAML, which .venv-oracle has.
"""
import importlib.machinery
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tomllib
import unittest

try:
    import yaml
except ImportError:
    print("no PyYAML in this Python: run scripts/test, which makes .venv-oracle")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
VERSION = re.search(r"project\(backplane VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]

sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts"))
loader = importlib.machinery.SourceFileLoader("docker_script", str(ROOT / "scripts/docker"))
spec = importlib.util.spec_from_loader(loader.name, loader)
docker = importlib.util.module_from_spec(spec)
sys.modules[loader.name] = docker
loader.exec_module(docker)


class Packaging(unittest.TestCase):
    def check_commands(self, script, place):
        """The shell can parse the script, and has the repository's programs that it starts."""
        parsed = subprocess.run(["bash", "-n"], input=re.sub(r"\$\{\{.*?\}\}", "x", script), capture_output=True, text=True)
        self.assertEqual(parsed.returncode, 0, f"{place}: {script}: {parsed.stderr}")
        for program in re.findall(r"(?<![\w/.-])scripts/\w+", script):
            self.assertTrue(os.access(ROOT / program, os.X_OK), f"{place}: {program}")

    def test_the_dockerfile_has_stages_that_follow_from_each_other(self):
        stages = docker.read_stages((ROOT / "Dockerfile").read_text())
        self.assertEqual(len(stages), 2)
        names = []
        for stage in stages:
            self.assertRegex(stage.base, r"^debian:[a-z]+(-slim)?$")
            for word, text in stage.steps:
                self.assertIn(word, {"ARG", "CMD", "COPY", "ENTRYPOINT", "ENV", "RUN", "WORKDIR"}, text)
                if word == "RUN":
                    self.check_commands(text, "Dockerfile")
                if word == "COPY" and text.startswith("--from="):
                    self.assertIn(text.split()[0].removeprefix("--from="), names)
                    self.assertIn(docker.PACKAGES, text)
            names.append(stage.name)
        ignored = (ROOT / ".dockerignore").read_text().split()
        self.assertLessEqual({".git", "build", "outputs"}, set(ignored))

    def test_the_recipe_has_the_version_and_needs_of_the_wheel(self):
        recipe = yaml.safe_load((ROOT / "packaging/conda/recipe.yaml").read_text())
        self.assertEqual(recipe["context"]["version"], VERSION)
        self.assertEqual(recipe["package"]["name"], PROJECT["project"]["name"])
        needs = {re.split(r"[ ><=]", line)[0] for line in recipe["requirements"]["run"]} - {"python", "__glibc"}
        self.assertEqual(needs, {re.split(r"[><=]", line)[0] for line in PROJECT["project"]["dependencies"]})
        self.assertIn(f"python {PROJECT['project']['requires-python']}", recipe["requirements"]["run"])
        self.assertIn(PROJECT["project"]["name"].replace("-", "_"), recipe["tests"][0]["python"]["imports"])
        self.assertFalse(recipe["build"]["dynamic_linking"]["binary_relocation"])
        for line in [recipe["build"]["script"], *recipe["tests"][1]["script"]]:
            self.check_commands(line, "recipe.yaml")

    def test_the_workflow_runs_what_the_tree_has(self):
        workflow = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())
        self.assertEqual(workflow[True]["push"]["tags"], ["v*"])  # YAML 1.1 reads the key `on` as true
        self.assertEqual(workflow["permissions"], {"contents": "read"})
        jobs = workflow["jobs"]
        self.assertEqual(set(jobs), {"packages", "image", "site", "publish"})
        made = set()
        for name, job in jobs.items():
            needs = job.get("needs", [])
            self.assertLessEqual(set([needs] if isinstance(needs, str) else needs), made, name)
            made.add(name)
            self.assertIn("timeout-minutes", job, name)
            for step in job["steps"]:
                self.assertTrue(("run" in step) != ("uses" in step), f"{name}: {step}")
                self.assertRegex(step.get("uses", "a/b@v1"), r"^[\w.-]+/[\w./-]+@(v\d+|release/v\d+)$", name)
                if "run" in step:
                    self.assertIn("name", step, name)
                    self.assertNotIn("${{", step["run"], f"{name}: expressions belong in `env`")
                    self.check_commands(step["run"], f"release.yml, {name}")

    def test_the_tag_is_compared_with_the_version(self):
        steps = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())["jobs"]["packages"]["steps"]
        script = next(step["run"] for step in steps if "tag" in step.get("name", ""))
        for tag, code in ((f"v{VERSION}", 0), (f"v{VERSION}.1", 1)):
            self.assertEqual(subprocess.run(["bash", "-c", script], cwd=ROOT, env={**os.environ, "TAG": tag}).returncode, code, tag)

    def test_the_docs_list_what_has_not_run(self):
        page = (ROOT / "docs/releases.md").read_text().split("## Not yet run")[1]
        for file in ("Dockerfile", "packaging/conda/recipe.yaml", ".github/workflows/release.yml"):
            self.assertIn(f"(../{file})", page)


if __name__ == "__main__":
    unittest.main()
