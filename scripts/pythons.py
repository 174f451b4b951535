"""Virtual environments with the packages of peers and trainers, for scripts/test_adapters and scripts/bench."""
import pathlib
import subprocess
import sys
import venv


def made(folder: pathlib.Path, packages: list[list[str]]) -> bool:
    """True if the environment exists with exactly these packages. Its stamp, written last, lists them."""
    stamp = folder / "backplane-packages"
    return stamp.exists() and stamp.read_text() == repr(packages)


def python_of(folder: pathlib.Path, packages: list[list[str]], who: str) -> pathlib.Path:
    """The environment's Python. It is rebuilt when its packages change. Each list is one call of pip, because torch must come first:
    a package installed before it would fetch a different build."""
    if not made(folder, packages):
        print(f"{who}: making {folder.name} with {', '.join(sum(packages, []))} ...", file=sys.stderr, flush=True)
        venv.create(folder, clear=True, with_pip=True)
        for together in packages:
            subprocess.run([folder / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *together], check=True)
        (folder / "backplane-packages").write_text(repr(packages))
    return folder / "bin/python"
