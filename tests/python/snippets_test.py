#!/usr/bin/env python3
"""Runs the Python snippets of docs/embedding.md and docs/coming-from, each in its own process, in a folder with the experiment that they name.

  snippets_test.py [PACKAGE]    those that import PACKAGE, else all whose packages are there    (BACKPLANE_HOME: the build tree)
"""
import ast
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import needs

needs.packages("cffi", "gymnasium")

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Packages that a snippet needs without importing them.
HIDDEN = {"backplane_rl.pettingzoo": "pettingzoo", "results.trials": "pandas"}


def packages_of(snippet: str) -> set[str]:
    found = {package for text, package in HIDDEN.items() if text in snippet}
    for node in ast.walk(ast.parse(snippet)):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module.split(".")[0])
    return found


def main() -> int:
    pages = [ROOT / "docs/embedding.md", *sorted(ROOT.glob("docs/coming-from/*.md"))]
    snippets = [(page.relative_to(ROOT), snippet) for page in pages
                for snippet in re.findall(r"^```python\n(.*?)^```", page.read_text(), re.S | re.M)]
    wanted = set(sys.argv[1:])
    ran = failed = 0
    for page, snippet in snippets:
        packages = packages_of(snippet)
        if not wanted <= packages or any(importlib.util.find_spec(package) is None for package in packages):
            continue
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(ROOT / "configs/ppo/cartpole.yaml", pathlib.Path(folder, "cartpole.yaml"))
            pathlib.Path(folder, "snippet.py").write_text(snippet)
            done = subprocess.run([sys.executable, "snippet.py"], cwd=folder, capture_output=True, text=True,
                                  env={**os.environ, "RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0"})
        ran += 1
        if done.returncode != 0:
            failed += 1
            print(f"-- this snippet of {page} fails:\n{snippet}\n{done.stdout}{done.stderr}")
    print(f"{ran - failed} passed, {failed} failed, of {len(snippets)} snippets")
    return failed > 0 or ran == 0


if __name__ == "__main__":
    sys.exit(main())
