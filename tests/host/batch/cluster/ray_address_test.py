#!/usr/bin/env python3
"""Calls of Ray that cannot succeed are reported immediately with their reason, although Ray itself would retry for minutes. The package
`ray` is a fake; scripts/check_cluster makes the same checks with the real one.

  ray_address_test.py RAY_JOIN RAY_DRIVER RAY_WORKERS
"""
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile

INIT = "def init(**how):\n    raise SystemExit('ray.init was asked')\n"
# Prints the lines that Ray 2.60.0 printed when its cluster rejected a token, and fails as it did after 20 s.
REJECTS = """
import os, time
LINE = (b"[2026-11-29 19:17:09,963 W 19388 19388] gcs_client.cc:210: Failed to get cluster ID from GCS server: Unauthenticated: RPC error: "
        b"InvalidAuthToken: Authentication token is missing or incorrect\\n")
def init(address, **how):
    for _ in range(20):
        os.write(2, LINE)
        time.sleep(1)
    raise ConnectionError(f"Failed to connect to Ray cluster at {address}")
"""
NO_TOKEN = """
class AuthenticationError(Exception): pass
def init(**how): raise AuthenticationError("Token authentication is enabled but no authentication token was found. See the page")
"""
MODE = "import os\ndef init(**how): raise SystemExit('mode ' + os.environ.get('RAY_AUTH_MODE', 'none'))\n"


def nobody():
    """An address of this machine without a listener."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"


class Programs:
    def __init__(self, join, driver, workers, folder):
        self.package, self.environment = pathlib.Path(folder, "ray"), {"PYTHONPATH": folder, "HOME": folder}
        (self.package / "_private").mkdir(parents=True)
        (self.package / "_private/__init__.py").write_text("")
        self.driver, self.workers = (pathlib.Path(join).read_text() + pathlib.Path(one).read_text() for one in (driver, workers))

    def ray(self, text):
        (self.package / "__init__.py").write_text(text)

    def driver_says(self, address, **environment):
        first = json.dumps({"address": address, "backplane": "backplane", "at_least": {}})
        run = subprocess.run([sys.executable, "-B", "-c", self.driver], input=first + "\n", env={**os.environ, **self.environment, **environment},
                             text=True, capture_output=True, timeout=60, check=False)
        return run.stdout + run.stderr

    def workers_say(self, address, **environment):
        ours, theirs = socket.socketpair()
        with ours, subprocess.Popen([sys.executable, "-B", "-c", self.workers, str(theirs.fileno()), address], pass_fds=[theirs.fileno()],
                                    env={**os.environ, **self.environment, **environment}, stderr=subprocess.PIPE, text=True) as run:
            theirs.close()
            said = ours.makefile().readline()
            return said + run.stderr.read()


def check_addresses(programs):
    programs.ray(INIT)
    # The address file of a cluster that was killed.
    services = programs.package / "_private/services.py"
    services.write_text(f"def get_ray_address_from_environment(address, folder):\n    return {nobody()!r}\n")
    for said in (programs.driver_says("auto"), programs.driver_says(nobody()), programs.workers_say(nobody())):
        assert "refused" in said and "ray.init was asked" not in said, said
    assert "no cluster answers at engine.address auto" in programs.driver_says("auto")
    # If the meaning of `auto` is unknown, Ray resolves it.
    services.unlink()
    assert "ray.init was asked" in programs.driver_says("auto")


def check_tokens(programs):
    home = pathlib.Path(programs.environment["HOME"])
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        address = "127.0.0.1:%d" % listener.getsockname()[1]
        for says in (programs.driver_says, programs.workers_say):
            (home / ".ray/auth_token").unlink(missing_ok=True)
            programs.ray(REJECTS)
            said = says(address)
            assert f"Ray's cluster at {address} requires an authentication token, and this machine has none; write the token" in said, said
            assert "no cluster answers" not in said, said
            programs.ray(NO_TOKEN)
            assert "requires an authentication token, and this machine has none" in says(address, RAY_AUTH_MODE="token")
            programs.ray(MODE)
            assert "mode none" in says(address)
            assert "mode token" in says(address, RAY_AUTH_TOKEN="abc")
            (home / ".ray").mkdir(exist_ok=True)
            (home / ".ray/auth_token").write_text("abc")
            assert "mode token" in says(address), "the token that an earlier ray.init() wrote"
            assert "mode disabled" in says(address, RAY_AUTH_MODE="disabled"), "the user's choice"
            programs.ray(REJECTS)
            assert f"rejects the authentication token of {home}/.ray/auth_token" in says(address)
            assert "unset RAY_AUTH_MODE" in says(address, RAY_AUTH_MODE="disabled")


def check_cores(programs):
    names = {"__name__": "workers"}
    exec(programs.workers, names)  # without its main
    why_never = names["why_never"]
    for nodes, threads in (([4], [2, 2]), ([2, 2], [2, 1]), ([3, 1], [1, 1, 2]), ([8], [1] * 8)):
        assert why_never(nodes, threads) == "", (nodes, threads)
    for nodes, threads in (([4], [2, 3]), ([2, 2], [3]), ([3, 3], [2, 2, 2]), ([], [1]), ([1, 0], [1, 1])):
        assert f"{len(threads)} workers need" in why_never(nodes, threads), (nodes, threads)
    assert why_never([3, 1.5], [2, 2]) == ("2 workers need 2, 2 cores, but the nodes of the cluster have 3, 1.5; change rollout.workers or "
                                           "rollout.threads")


def main():
    for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"):
        os.environ.pop(name, None)
    with tempfile.TemporaryDirectory() as folder:
        programs = Programs(*sys.argv[1:], folder)
        check_addresses(programs)
        check_tokens(programs)
        check_cores(programs)


if __name__ == "__main__":
    main()
