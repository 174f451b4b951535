#!/usr/bin/env python3
"""The CI files that users copy (examples/ci, docs/continuous-integration) are valid, and their `backplane` commands exist.

usage: ci_examples_test.py PROGRAM

Exit 77 without PyYAML.
"""
import pathlib
import re
import shlex
import subprocess
import sys

try:
    import yaml
except ImportError:
    print("skipped: no PyYAML")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
GITHUB = [ROOT / "examples/ci/github.yml", ROOT / "docs/continuous-integration/gate.yml", ROOT / "templates/common/.github/workflows/ci.yml"]
GITLAB = [ROOT / "examples/ci/gitlab.yml"]
WORDS_OF_GITLAB = {"image", "variables", "before_script", "stages", "default"}
COMMAND = re.compile(r"(?:^|[\n;|(]|&&)\s*(backplane [^\n|;)&]*)")


def github_lines(name, file):
    """The shell lines of a workflow; wrong form is an AssertionError."""
    assert True in file or "on" in file, f"{name}: no triggers"  # YAML 1.1 reads `on` as true
    assert "permissions" in file, f"{name}: no permissions"
    for job_name, job in file["jobs"].items():
        assert {"runs-on", "timeout-minutes", "steps"} <= set(job), f"{name}: {job_name} lacks runs-on, timeout-minutes or steps"
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step), f"{name}: {job_name}: expected one of uses and run in {step}"
            yield step.get("run", "")


def gitlab_lines(name, file):
    yield from file["before_script"]
    jobs = {key: job for key, job in file.items() if key not in WORDS_OF_GITLAB}
    assert jobs, f"{name}: no jobs"
    for job_name, job in jobs.items():
        assert job.get("script"), f"{name}: {job_name} has no script"
        yield from job["script"]


def help_of(program, words):
    """--help of the longest command that the words begin with, or nothing."""
    for length in (2, 1):
        if len(words) >= length and all(re.fullmatch(r"[a-z-]+", word) for word in words[:length]):
            done = subprocess.run([program, *words[:length], "--help"], capture_output=True, text=True)
            if done.returncode == 0:
                return done.stdout
    return ""


def check_command(program, name, command):
    words = [word for word in shlex.split(re.sub(r"\$\{\{.*?\}\}", "VALUE", command))[1:] if word != ">>"]
    text = help_of(program, words)
    assert text, f"{name}: no such command: {command}"
    for word in words:
        if word.startswith("--"):
            assert word.partition("=")[0] in text, f"{name}: no option {word}: {command}"


def main():
    program, commands = sys.argv[1], 0
    for paths, lines_of in ((GITHUB, github_lines), (GITLAB, gitlab_lines)):
        for path in paths:
            name = str(path.relative_to(ROOT))
            for line in lines_of(name, yaml.safe_load(path.read_text())):
                for command in COMMAND.findall(line):
                    check_command(program, name, command)
                    commands += 1
    assert commands >= 8, f"expected 8 commands or more, got {commands}"
    print(f"{commands} commands of {len(GITHUB) + len(GITLAB)} files")


if __name__ == "__main__":
    main()
