"""Backplane's driver for Ray: a child process of the supervisor that submits one task per trial.

Reads JSON lines: first {"address", "backplane", "at_least": {...}}, then {"open": {folder, token, shared, out}} and, for each
trial, {"submit": {job, cpus, gpus, memory}}. Answers {"ping": n} with {"pong": n} at any time. Writes JSON lines:
{"ready": {cpus, gpus, sizes, job}} or {"error"}, then {"opened": error}, {"done": job}, {"lost": job, "why"} and, while tasks are
submitted, {"room": {cpus, free_cpus, gpus, free_gpus, nodes}}. Ends when its input ends; Ray then ends its tasks. `join` and `use_token` are in ray_join.py.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

LOOK_S = 0.02  # interval of the check for ended tasks
TALK_S = 0.5  # interval between messages of a task without a shared folder
ROOM_S = 2  # interval between messages about the cluster's room


def say(**what):
    with SAYING:
        REPLIES.write(json.dumps(what) + "\n")
        REPLIES.flush()


def sentence(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    first = lines[0] if lines else type(error).__name__
    return first.split(". ")[0].rstrip(".")[:300]


def alive(ray):
    """The resources of the living nodes."""
    return [node["Resources"] for node in ray.nodes() if node["Alive"]]


def look(folder, token):
    """Runs on a node: returns whether it sees the supervisor's folder."""
    try:
        return pathlib.Path(folder, "session").read_text() == token
    except OSError:
        return False


def work(backplane, folder, token, job):
    """Runs the trial on a node. `backplane work` ends with this process, by the parent-death signal."""
    words = [backplane, "work", f"--folder={folder}", f"--token={token}", f"--worker=ray.{job}", f"--job={job}"]
    # Workers of the trial (`rollout.workers`) are actors of this cluster (trial/start_workers.cpp).
    environment = {"BACKPLANE_WORKERS": "ray:auto", "BACKPLANE_PYTHON": sys.executable, **os.environ}
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment, check=False)
    return done.returncode, done.stderr.decode(errors="replace")


def read_tree(root):
    """The contents of the files below a folder, by relative path."""
    files = {}
    for path in sorted(pathlib.Path(root).rglob("*")):
        if path.is_file():
            try:
                files[str(path.relative_to(root))] = path.read_bytes()
            except OSError:
                pass  # renamed meanwhile
    return files


def write_tree(root, files):
    for name, content in files.items():
        path = pathlib.Path(root, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = path.with_name(path.name + ".part")
        whole.write_bytes(content)
        os.replace(whole, path)


def work_apart(backplane, token, job, out, order, files, relay):
    """Runs the trial on a node without the results folder: in a folder of its own; the task carries the files both ways."""
    import ray

    here = tempfile.mkdtemp(prefix="backplane-")
    try:
        folder = pathlib.Path(here, "engine", "1")
        for name in ("orders", "taken", "stop", "ended", "workers", "logs"):
            (folder / name).mkdir(parents=True)
        moved = {name: content.replace(out.encode(), here.encode()) if name.endswith("trial.json") else content
                 for name, content in files.items()}
        write_tree(here, moved)
        order = json.loads(json.dumps(order).replace(out, here))
        pathlib.Path(order["status_file"]).parent.mkdir(parents=True, exist_ok=True)
        name = f"{job:08}"
        (folder / "session").write_text(token)
        (folder / "orders" / name).write_text(json.dumps(order))
        words = [backplane, "work", f"--folder={folder}", f"--token={token}", f"--worker=ray.{job}", f"--job={job}"]
        beats = 0
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            while True:
                beats += 1
                (folder / "alive").write_text(str(beats))
                try:
                    process.wait(TALK_S)
                    break
                except subprocess.TimeoutExpired:
                    pass
                try:
                    status = pathlib.Path(order["status_file"]).read_bytes()
                except OSError:
                    status = b""
                for how in ray.get(relay.look.remote(job, status)):
                    (folder / "stop" / f"{name}.{how}").write_text("")
            said = process.stderr.read().decode(errors="replace")
        ended = folder / "ended" / name
        trial = pathlib.Path(order["status_file"]).parent.parent
        left = {str((trial / part).relative_to(here)): content for part, content in read_tree(trial).items()}
        left = {part: content for part, content in left.items() if files.get(part) != content and not part.endswith("trial.json")}
        return process.returncode, said, ended.read_text() if ended.exists() else "", left
    finally:
        shutil.rmtree(here, ignore_errors=True)


class Relay:
    """Passes stop orders to tasks that share no folder, and their status back."""

    def __init__(self):
        self.stops, self.status = {}, {}

    def look(self, job, status):
        self.status[job] = status
        return self.stops.get(job, [])

    def tell(self, stops):
        self.stops = stops
        status, self.status = self.status, {}
        return status


class Driver:
    def __init__(self, ray, first):
        self.ray = ray
        self.backplane = first["backplane"]
        self.jobs = {}  # ref of the task -> job
        self.lock = threading.Lock()
        self.apart = None  # the relay, if the nodes do not see the results folder
        self.told_at = self.reported_at = 0
        self.taken, self.withdrawn = set(), set()  # jobs of tasks without a shared folder

    def open(self, folder, token, shared, out):
        self.folder, self.token, self.out = folder, token, out.rstrip("/")
        if shared:
            seen = self.ask_nodes(folder, token)
            blind = [node for node, sees in seen.items() if not sees]
            return "" if not blind else (
                f"Ray's node {blind[0]} does not see {folder}; use a results folder that all nodes share under the same name, "
                "or engine.shared: false")
        self.apart = self.ray.remote(num_cpus=0)(Relay).remote()
        return ""

    def ask_nodes(self, folder, token):
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy as On

        ask = self.ray.remote(num_cpus=0, max_retries=0)(look)
        nodes = [node for node in self.ray.nodes() if node["Alive"]]
        refs = {node["NodeManagerHostname"] + " " + node["NodeID"][:6]: ask.options(
            scheduling_strategy=On(node_id=node["NodeID"], soft=False)).remote(folder, token) for node in nodes}
        answers, gone = {}, None
        for name, ref in refs.items():
            try:
                answers[name] = self.ray.get(ref)
            except self.ray.exceptions.RayError as error:
                gone = error  # Ray may list a dead node as alive for a while
        if gone and not answers:
            raise gone
        return answers

    def submit(self, job, cpus, gpus, memory):
        options = {"num_cpus": cpus, "num_gpus": gpus, "max_retries": 0, "name": f"backplane-{job}"}
        if memory:
            options["memory"] = memory
        if self.apart is None:
            ref = self.ray.remote(**options)(work).remote(self.backplane, self.folder, self.token, job)
        else:
            order_file = pathlib.Path(self.folder, "orders", f"{job:08}")
            order = json.loads(order_file.read_text())
            files = {}
            trial = pathlib.Path(order["status_file"]).parent.parent
            wanted = [trial]
            start = json.loads((trial / "trial.json").read_text()).get("start_from") or {}
            wanted += [pathlib.Path(folder) for folder in [start.get("checkpoint_dir", "")] if folder.startswith(self.out)]
            for folder in wanted:
                for part, content in read_tree(folder).items():
                    files[str((folder / part).relative_to(self.out))] = content
            ref = self.ray.remote(**options)(work_apart).remote(self.backplane, self.token, job, self.out, order, files, self.apart)
        with self.lock:
            self.jobs[ref] = job

    def look_for_ends(self):
        with self.lock:
            refs = list(self.jobs)
        if not refs:
            time.sleep(LOOK_S)
            return
        done, _ = self.ray.wait(refs, num_returns=1, timeout=LOOK_S)
        for ref in done:
            with self.lock:
                job = self.jobs.pop(ref)
            try:
                result = self.ray.get(ref)
            except Exception as error:  # raised by Ray: the worker or its node died
                say(lost=job, why="its node was lost: " + sentence(error))
                continue
            code, said = result[:2]
            if len(result) > 2:
                write_tree(self.out, result[3])
                if result[2]:
                    write_tree(self.folder, {f"ended/{job:08}": result[2].encode()})
            if code != 0:
                say(lost=job, why="backplane work could not run the trial: " + sentence(said))
            else:
                say(done=job)

    def take(self, job):
        """Removes the order of a task that runs now. The supervisor may have withdrawn it while it was in Ray's queue."""
        if job in self.taken:
            return
        self.taken.add(job)
        try:
            pathlib.Path(self.folder, "orders", f"{job:08}").unlink()
        except FileNotFoundError:
            self.withdrawn.add(job)

    def report_room(self):
        with self.lock:
            idle = not self.jobs
        if idle or time.monotonic() - self.reported_at < ROOM_S:
            return
        self.reported_at = time.monotonic()
        nodes, free = alive(self.ray), self.ray.available_resources()
        say(room={"cpus": sum(node.get("CPU", 0) for node in nodes), "free_cpus": free.get("CPU", 0), "nodes": len(nodes),
                  "gpus": sum(node.get("GPU", 0) for node in nodes), "free_gpus": free.get("GPU", 0)})

    def talk(self):
        if self.apart is None or time.monotonic() - self.told_at < TALK_S:
            return
        self.told_at = time.monotonic()
        stops = {}
        for path in pathlib.Path(self.folder, "stop").iterdir():
            name, _, how = path.name.partition(".")
            if name.isdigit() and how in ("ask", "kill", "where"):
                stops.setdefault(int(name), []).append(how)
        for job in self.withdrawn:
            stops.setdefault(job, []).append("kill")
        for job, status in self.ray.get(self.apart.tell.remote(stops)).items():
            self.take(job)
            place = self.places.get(job)
            if place and status:
                pathlib.Path(place).write_bytes(status)

    places = {}  # job -> its status file


def main():
    first = json.loads(sys.stdin.readline())
    use_token()
    try:
        import ray
    except ImportError:
        return say(error=f"engine.kind ray: {sys.executable} does not have the package ray; "
                         f"run `{sys.executable} -m pip install ray`, or set engine.python to a different interpreter")
    try:
        if not join(ray, first["address"], lambda why: say(error="engine.kind ray: " + why), configure_logging=True):
            return None
    except Exception as error:
        return say(error=f"engine.kind ray: no cluster answers at engine.address {first['address']}: {sentence(error)}; "
                         "`ray start --head` starts one")
    driver = Driver(ray, first)
    sizes = [{"cpus": int(node.get("CPU", 0)), "gpus": node.get("GPU", 0), "memory": node.get("memory", 0)} for node in alive(ray)]
    say(ready={"cpus": sum(one["cpus"] for one in sizes), "gpus": sum(one["gpus"] for one in sizes), "sizes": sizes,
               "job": ray.get_runtime_context().get_job_id()})

    def hear():
        for line in sys.stdin:
            told = json.loads(line)
            try:
                if "ping" in told:
                    say(pong=told["ping"])
                elif "open" in told:
                    say(opened=driver.open(**told["open"]))
                elif "submit" in told:
                    order = told["submit"]
                    driver.places[order["job"]] = order.pop("status_file")
                    driver.submit(**order)
            except Exception as error:
                if "submit" in told:
                    say(lost=told["submit"]["job"], why="Ray did not accept the trial: " + sentence(error))
                else:
                    say(opened=sentence(error))
        os._exit(0)  # the supervisor has closed it or is dead

    threading.Thread(target=hear, daemon=True).start()
    while True:
        driver.look_for_ends()
        driver.talk()
        driver.report_room()


SAYING = threading.Lock()
REPLIES = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # Ray's prints must not mix with the replies
main()
