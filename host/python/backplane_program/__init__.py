"""The command ``backplane`` of a wheel: the program in the package's folder takes the place of the Python that was started. A package of
its own, as ``import backplane_rl`` opens a library and takes a tenth of a second."""
import importlib.util
import os
import shutil
import sys


def main() -> None:
    package = importlib.util.find_spec("backplane_rl")  # which finds the folder and imports nothing
    folders = list(package.submodule_search_locations or []) if package else []
    programs = [program for folder in folders if os.access(program := os.path.join(folder, "bin", "backplane"), os.X_OK)]
    if not programs:
        sys.exit(f"backplane: cannot find the program bin/backplane of the package in {', '.join(folders) or 'no folder'}")
    # The program repeats the typed name in the commands that it suggests.
    typed = "backplane" if shutil.which("backplane") == sys.argv[0] else sys.argv[0]
    os.execv(programs[0], [typed, *sys.argv[1:]])
