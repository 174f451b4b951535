#!/usr/bin/env python3
"""Installs LibTorch from the wheel of torch into a folder that no Python imports from. `backplane setup torch` starts it.

  backplane-setup-torch.py RELEASE FOLDER INDEX    INDEX: of pip; empty: the default of pip if that has a CPU build, else CPU_INDEX

FOLDER/torch has include/ and lib/. It appears when it is complete. An older one is kept until then.
"""
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

CPU_INDEX = "https://download.pytorch.org/whl/cpu"
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]


def die(text):
    sys.exit(f"backplane setup torch: {text}\nnothing was changed")


def default_index(requirement):
    """The index with a CPU build, and pip's error if it cannot describe its default wheel. A wheel for CUDA requires packages of NVIDIA."""
    asked = subprocess.run([*PIP, "install", "--quiet", "--dry-run", "--ignore-installed", "--no-deps", "--report", "-", requirement],
                           capture_output=True, text=True)
    if asked.returncode != 0:
        return CPU_INDEX, asked.stderr.strip()  # pip < 22.2 has no --report
    needed = [line for item in json.loads(asked.stdout)["install"] for line in item["metadata"].get("requires_dist", [])]
    needs_cuda = any(line.startswith(("nvidia-", "cuda-")) and "extra ==" not in line for line in needed)
    return CPU_INDEX if needs_cuda else "", ""


def install(requirement, index, folder):
    error = ""
    if not index:
        index, error = default_index(requirement)
    words = [*PIP, "install", "--quiet", "--target", folder, *(["--index-url", index] if index else []), requirement]
    if subprocess.run([*words, "--no-deps"]).returncode != 0:
        die(f"pip could not install {requirement} (see above)" + (f"\npip could not describe its default wheel, either: {error}" if error else ""))
    if (folder / "torch/lib/libtorch_cuda.so").exists() and subprocess.run([*words, "--upgrade"]).returncode != 0:
        die("pip could not install the libraries of this CUDA build (see above)")


def put(whole, folder):
    """Moves the new folder to its place. The old one is renamed first, so a failed rename loses neither."""
    old = folder.with_name(f"{folder.name}.old")
    if folder.exists():
        shutil.rmtree(old, ignore_errors=True)
        folder.rename(old)
    try:
        whole.rename(folder)
    except BaseException:
        if old.exists():
            old.rename(folder)
        raise
    shutil.rmtree(old, ignore_errors=True)


def main():
    release, folder, index = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    if importlib.util.find_spec("pip") is None:
        die(f"expected a Python with pip, got {sys.executable}\nhint: install the package python3-pip, or set BACKPLANE_PYTHON")
    print(f"installing LibTorch {release} in {folder} (CPU build: about 200 MB to fetch, 800 MB on disk) ...", flush=True)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=folder.name, dir=folder.parent) as part:
            install(f"torch=={release}", index, pathlib.Path(part, "whole"))
            if not pathlib.Path(part, "whole/torch/lib/libtorch.so").exists():
                die(f"expected lib/libtorch.so in the wheel of torch {release}, got none")
            put(pathlib.Path(part, "whole"), folder)
    except OSError as error:
        die(str(error))
    print(f"done: {folder}/torch")


if __name__ == "__main__":
    main()
