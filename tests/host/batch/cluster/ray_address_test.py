#!/usr/bin/env python3
"""A dead address is reported immediately, although Ray itself would retry for minutes. The package `ray` is a fake.

  ray_address_test.py RAY_DRIVER RAY_WORKERS
"""
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile

INIT = "def init(**how):\n    raise SystemExit('ray.init was asked')\n"


def nobody():
    """An address of this machine without a listener."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"


def driver_says(program, folder, address):
    first = json.dumps({"address": address, "backplane": "backplane", "at_least": {}})
    run = subprocess.run([sys.executable, program], input=first + "\n", env={**os.environ, "PYTHONPATH": folder}, text=True,
                         capture_output=True, timeout=60, check=False)
    return run.stdout + run.stderr


def workers_say(program, folder, address):
    ours, theirs = socket.socketpair()
    with ours, subprocess.Popen([sys.executable, program, str(theirs.fileno()), address], pass_fds=[theirs.fileno()],
                                env={**os.environ, "PYTHONPATH": folder}, stderr=subprocess.PIPE, text=True) as run:
        theirs.close()
        said = ours.makefile().readline()
        return said + run.stderr.read()


def main():
    driver, workers = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        package = pathlib.Path(folder, "ray")
        (package / "_private").mkdir(parents=True)
        (package / "__init__.py").write_text(INIT)
        (package / "_private/__init__.py").write_text("")
        # The address file of a cluster that was killed.
        (package / "_private/services.py").write_text(f"def get_ray_address_from_environment(address, folder):\n    return {nobody()!r}\n")
        for said in (driver_says(driver, folder, "auto"), driver_says(driver, folder, nobody()), workers_say(workers, folder, nobody())):
            assert "refused" in said and "ray.init was asked" not in said, said
        assert "no cluster answers at engine.address auto" in driver_says(driver, folder, "auto")
        # If the meaning of `auto` is unknown, Ray resolves it.
        (package / "_private/services.py").unlink()
        assert "ray.init was asked" in driver_says(driver, folder, "auto")


if __name__ == "__main__":
    main()
