#!/usr/bin/env python3
"""Installs LibTorch from the wheel of torch into a folder that no Python imports from. `backplane setup torch` starts it.

  backplane-setup-torch.py RELEASE FOLDER INDEX    INDEX: of pip; empty: the default of pip if that has a CPU build, else CPU_INDEX

FOLDER/torch has include/ and lib/. It appears when it is complete.
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


def needs_cuda(requirement):
    """True if the wheel that pip would install is built for CUDA: it then requires packages of NVIDIA."""
    asked = subprocess.run([*PIP, "install", "--quiet", "--dry-run", "--ignore-installed", "--no-deps", "--report", "-", requirement],
                           capture_output=True, text=True)
    if asked.returncode != 0:
        return False  # the installation prints the reason
    needed = [line for item in json.loads(asked.stdout)["install"] for line in item["metadata"].get("requires_dist", [])]
    return any(line.startswith(("nvidia-", "cuda-")) and "extra ==" not in line for line in needed)


def install(requirement, index, folder):
    if not index and needs_cuda(requirement):
        index = CPU_INDEX
    words = [*PIP, "install", "--quiet", "--target", folder, *(["--index-url", index] if index else []), requirement]
    if subprocess.run([*words, "--no-deps"]).returncode != 0:
        die(f"pip could not install {requirement} (see above)")
    if (folder / "torch/lib/libtorch_cuda.so").exists() and subprocess.run([*words, "--upgrade"]).returncode != 0:
        die("pip could not install the libraries of this CUDA build (see above)")


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
            shutil.rmtree(folder, ignore_errors=True)
            pathlib.Path(part, "whole").rename(folder)
    except OSError as error:
        die(str(error))
    print(f"done: {folder}/torch")


if __name__ == "__main__":
    main()
