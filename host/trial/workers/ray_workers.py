"""Workers of a trial as actors of Ray. The trial starts this program and exchanges lines of JSON with it over one socket.

usage: ray_workers.py FD ADDRESS

It sends {"node": IP} when it is in the cluster, and receives {"program", "arguments", "threads", "token"} with the arguments
and threads of each worker. It sends {"ended": NUMBER, "how": SENTENCE, "words": TEXT} for each that ends, or {"failed": SENTENCE}. It kills the
worker of each {"end": NUMBER}, starts it again for {"again": NUMBER}, and ends with the socket, as do the actors.
`join` and `use_token` are in ray_join.py.
"""
import json
import os
import socket
import subprocess
import sys
import threading

PR_SET_PDEATHSIG, SIGKILL = 1, 9


def die_with_parent():
    import ctypes

    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, SIGKILL)


def how_it_ended(code):
    return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"


def why_never(nodes, threads):
    """The reason why the nodes, with these numbers of cores, can never hold all workers; empty if they may."""
    some = min(threads)
    if nodes and max(threads) <= max(nodes) and sum(threads) <= sum(nodes) and sum(int(cores // some) for cores in nodes) >= len(threads):
        return ""
    return (f"{len(threads)} workers need {', '.join(map(str, threads))} cores, but the nodes of the cluster have "
            f"{', '.join(f'{cores:g}' for cores in nodes)}; change rollout.workers or rollout.threads")


class Player:
    """An actor: one worker's process on its node."""

    def play(self, program, arguments, token):
        environment = {**os.environ, "BACKPLANE_WORKER_TOKEN": token}
        try:
            process = subprocess.Popen([program, *arguments], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, preexec_fn=die_with_parent)
        except OSError as error:
            return f"could not be started: {error}", ""
        words = []
        for line in process.stdout:
            words = [*words, line.decode(errors="replace").strip()][-3:]
        return f"process {process.pid} {how_it_ended(process.wait())}", " | ".join(words)


def main():
    link = socket.socket(fileno=int(sys.argv[1]))
    lines = link.makefile("rw", encoding="utf-8")
    lock = threading.Lock()

    def say(**what):
        with lock:
            lines.write(json.dumps(what) + "\n")
            lines.flush()

    use_token()
    try:
        import ray
    except ImportError:
        return say(failed=f"{sys.executable} does not have the package ray; set BACKPLANE_PYTHON to a Python that has it", lasting=True)
    try:
        if not join(ray, sys.argv[2], lambda why: say(failed=why, lasting=True), namespace=f"backplane-{os.getpid()}"):
            return None
        own = ray.get_runtime_context().get_node_id()
        say(node=next(node["NodeManagerAddress"] for node in ray.nodes() if node["NodeID"] == own))
    except Exception as error:  # Ray raises many types
        return say(failed=f"cannot join the cluster at {sys.argv[2]}: {error}")
    order = json.loads(lines.readline())
    if why := why_never([node["Resources"].get("CPU", 0) for node in ray.nodes() if node["Alive"]], order["threads"]):
        return say(failed=why, lasting=True)
    actor = ray.remote(max_restarts=0, scheduling_strategy="SPREAD")(Player)
    players = {}

    def watch(number, player):
        arguments = order["arguments"][number - 1]
        try:
            how, words = ray.get(player.play.remote(order["program"], arguments, order["token"]))
        except ray.exceptions.RayError as error:
            how, words = f"its actor is gone ({type(error).__name__})", ""
        if players.get(number) is player:
            say(ended=number, how=how, words=words)

    def start(number):
        players[number] = actor.options(num_cpus=order["threads"][number - 1]).remote()
        threading.Thread(target=watch, args=(number, players[number]), daemon=True).start()

    for number in range(1, len(order["threads"]) + 1):
        start(number)
    while line := lines.readline():
        asked = json.loads(line)
        if number := asked.get("again"):
            ray.kill(players[number])
            start(number)
        else:
            ray.kill(players[asked["end"]])
    for player in players.values():
        ray.kill(player)
    ray.shutdown()
    os._exit(0)


if __name__ == "__main__":
    main()
