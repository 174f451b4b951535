"""What a test of the Python package needs besides it: `import needs; needs.packages("gymnasium", ...)` before anything else."""
import importlib.util
import os
import sys


def packages(*names: str) -> None:
    """Ends the test as skipped (77) where one is not installed; in continuous integration that is a failure."""
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    if missing:
        print(f"{sys.executable} has no {', '.join(missing)}: scripts/test makes .venv-oracle, scripts/test_adapters the others")
        sys.exit(1 if os.environ.get("CI") == "true" else 77)


def in_oracle(test: str) -> None:
    """Runs a test with the packages of .venv-oracle, if that is there."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    python = os.path.join(root, ".venv-oracle", "bin", "python")
    python = python if os.path.exists(python) else sys.executable
    os.execv(python, [python, test])


if __name__ == "__main__":
    in_oracle(sys.argv[1])
