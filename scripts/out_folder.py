"""The folder of --out of a script that replaces its content. Only a folder of the script's own is emptied."""
import pathlib
import shutil
import sys


class OutFolder:
    def __init__(self, script, out, default):
        """Ends the script with exit 2 if the folder contains anything that the script did not make."""
        self.path = pathlib.Path(out).resolve()
        self.marker = None if self.path == default.resolve() else self.path / f".made-by-{script}"
        is_own = self.marker is None or self.marker.exists()
        if self.path.exists() and not (self.path.is_dir() and (is_own or not any(self.path.iterdir()))):
            hint = self.path / script if self.path.is_dir() else self.path.with_name(f"{self.path.name}-{script}")
            print(f"scripts/{script}: --out: expected a new or empty folder, or one that scripts/{script} made, got {self.path}\n"
                  f"hint: --out {hint}", file=sys.stderr)
            sys.exit(2)

    def make_empty(self):
        shutil.rmtree(self.path, ignore_errors=True)
        self.path.mkdir(parents=True, exist_ok=True)
        if self.marker:
            self.marker.touch()
