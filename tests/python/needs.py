"""Checks for packages that a test of the Python package needs: `import needs; needs.packages("gymnasium", ...)` before anything else."""
import importlib.util
import os
import sys


def packages(*names: str) -> None:
    """Ends the test as skipped (77) if a package is not installed, or as failed in continuous integration."""
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    if missing:
        print(f"{sys.executable} has no {', '.join(missing)}: scripts/test makes .venv-oracle, scripts/test_adapters the others")
        sys.exit(1 if os.environ.get("CI") == "true" else 77)


def python_of_oracle() -> str:
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    python = os.path.join(root, ".venv-oracle", "bin", "python")
    return python if os.path.exists(python) else sys.executable


# needs.py FILE [ARGUMENTS]: runs it with the packages of .venv-oracle.
if __name__ == "__main__":
    if sys.argv[1] != "--here":
        python = python_of_oracle()
        os.execv(python, [python, os.path.abspath(__file__), "--here", *sys.argv[1:]])
    packages("cffi", "gymnasium", "numpy")
    os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
