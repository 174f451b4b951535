"""Joins a running cluster of Ray. CMake puts this text before the programs that call Ray (ray_driver.py, ray_workers.py)."""
import os
import socket
import tempfile
import threading

WATCH_S = 0.2
REJECTION = b"InvalidAuthToken"  # in the lines that Ray's C++ code prints while it tries again
MOST_READ = 1 << 20


def token_source():
    """The place of Ray's authentication token; empty if this machine has none."""
    if os.environ.get("RAY_AUTH_TOKEN"):
        return "RAY_AUTH_TOKEN"
    path = os.environ.get("RAY_AUTH_TOKEN_PATH") or os.path.expanduser("~/.ray/auth_token")
    return path if os.path.isfile(path) else ""


def use_token():
    """Call it before `import ray`. Ray 2.60 uses a token only for an address that it finds itself, although `ray start` then requires
    it. A cluster without authentication ignores it."""
    if token_source():
        os.environ.setdefault("RAY_AUTH_MODE", "token")


def rejection(address):
    """A sentence with a fix."""
    if os.environ.get("RAY_AUTH_MODE", "disabled").lower() != "token" and token_source():
        return f"Ray's cluster at {address} requires an authentication token, but RAY_AUTH_MODE turns it off; unset RAY_AUTH_MODE"
    why = f"rejects the authentication token of {token_source()}" if token_source() else "requires an authentication token, and this machine has none"
    return (f"Ray's cluster at {address} {why}; write the token that `ray get-auth-token` prints on its head to ~/.ray/auth_token, "
            "or set RAY_AUTH_TOKEN to it")


def knock(address):
    """Fails fast: Ray itself tries for minutes, for example if `auto` finds the address of a killed cluster."""
    if address == "auto":
        try:
            from ray._private.services import get_ray_address_from_environment
        except ImportError:  # a different version of Ray: skip the check
            return
        address = get_ray_address_from_environment(address, None)
    host, _, port = address.rpartition(":")
    if port.isdigit() and "/" not in host:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()


def join(ray, address, reject, **options):
    """Returns False if the cluster rejected the token; `reject` then got a sentence. Raises Ray's error if no cluster answers."""
    knock(address)
    joined, own_stderr = threading.Event(), os.dup(2)

    def watch():  # Ray tries again for 20 s and then only reports that it failed to connect
        while not joined.wait(WATCH_S):
            if REJECTION in os.pread(printed.fileno(), MOST_READ, 0):
                reject(rejection(address))
                os._exit(1)

    with tempfile.TemporaryFile() as printed:
        os.dup2(printed.fileno(), 2)
        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            ray.init(address=address, log_to_driver=False, logging_level="ERROR", **options)
            return True
        except Exception as error:
            if type(error).__name__ != "AuthenticationError":  # absent in older versions of Ray
                raise
            reject(rejection(address))
            return False
        finally:
            joined.set()
            watcher.join()
            os.dup2(own_stderr, 2)
            os.close(own_stderr)
            os.write(2, os.pread(printed.fileno(), MOST_READ, 0))
