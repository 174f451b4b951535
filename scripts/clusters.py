"""Clusters of one machine, for scripts/check_cluster: their daemons are processes of this user in a folder of their own, on loopback,
and need no root. `SlurmCluster` needs Debian's packages slurmctld, slurmd, slurm-client and munge, `RayCluster` the package ray in the
Python that it is given."""
import getpass
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

PROGRAMS = ("slurmctld", "slurmd", "sbatch", "squeue", "scancel", "munged")


def find(program):
    return shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin")


def no_slurm():
    """The reason why Slurm cannot run here; empty if it can."""
    absent = [program for program in PROGRAMS if find(program) is None]
    return f"{', '.join(absent)} not installed: scripts/bootstrap --with slurm" if absent else ""


def free_ports(count):
    held = [socket.socket() for _ in range(count)]
    for one in held:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


def environment_of(pid):
    """Environment variables of a process; empty if it has ended."""
    try:
        entries = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return {}
    return dict(entry.decode(errors="replace").partition("=")[::2] for entry in entries)


def marked(mark, value):
    """Ids of the processes with this variable in their environment, in any session."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if f"{mark}={value}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            pass
    return found


def state_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return "Z"


def kill_all(pids_of):
    """Kills until none is left: a killed process may just have started another."""
    for _ in range(50):
        pids = pids_of()
        if not pids:
            return
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.02)


class SlurmCluster:
    engine = "slurm"
    options = ("--set", "engine.nodes=3")

    def __init__(self, nodes=3, cpus=2):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="slurm-", dir="/tmp"))  # a socket's path is short
        self.nodes = [f"node{i}" for i in range(1, nodes + 1)]
        self.processes = {}
        user, host = getpass.getuser(), socket.gethostname().split(".")[0]
        controller, *ports = free_ports(nodes + 1)
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        lines = ["ClusterName=test", f"SlurmctldHost={host}(127.0.0.1)", f"SlurmctldPort={controller}", f"SlurmUser={user}",
                 f"SlurmdUser={user}", "AuthType=auth/munge", f"AuthInfo=socket={self.folder}/munge.socket", "CryptoType=crypto/munge",
                 f"StateSaveLocation={self.folder}/state", f"SlurmdSpoolDir={self.folder}/spool/%n",
                 f"SlurmctldPidFile={self.folder}/slurmctld.pid", f"SlurmdPidFile={self.folder}/slurmd.%n.pid",
                 "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none", "SwitchType=switch/none", "MpiDefault=none",
                 "SelectType=select/cons_tres", "SelectTypeParameters=CR_CPU", "ReturnToService=2", "SlurmdTimeout=5",
                 "SlurmctldTimeout=10", "KillWait=10", "InactiveLimit=0", "MinJobAge=30", "JobAcctGatherType=jobacct_gather/none",
                 "SchedulerParameters=sched_min_interval=100000,batch_sched_delay=0", "MessageTimeout=10"]
        lines += [f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={cpus} RealMemory=1000 State=UNKNOWN"
                  for node, port in zip(self.nodes, ports)]
        lines.append(f"PartitionName=test Nodes={','.join(self.nodes)} Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO")
        lines.append(f"PartitionName=short Nodes={','.join(self.nodes)} MaxTime=1 State=UP")
        self.conf = self.folder / "slurm.conf"
        self.conf.write_text("\n".join(lines) + "\n")
        self.env = {**os.environ, "SLURM_CONF": str(self.conf), "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}

    def __enter__(self):
        try:
            self.start("munged", "--foreground", "--force", f"--socket={self.folder}/munge.socket", f"--key-file={self.folder}/munge.key",
                       f"--pid-file={self.folder}/munged.pid", f"--log-file={self.folder}/munged.log",
                       f"--seed-file={self.folder}/munge.seed", "--num-threads=2")
            self.until(lambda: (self.folder / "munge.socket").exists(), "munged's socket")
            self.start_controller()
            for node in self.nodes:
                self.start_node(node)
            self.until(lambda: self.ask("sinfo", "--noheader", "--format=%T").strip() == "idle", "idle nodes")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for name in [n for n in self.processes if n != "munged"] + ["munged"]:
            self.end(name)
        kill_all(self.left)  # steps of nodes that were killed
        shutil.rmtree(self.folder, ignore_errors=True)

    def start_controller(self):
        self.start("slurmctld", "-D", "-f", str(self.conf))

    def start_node(self, node):
        self.start("slurmd", "-D", "-N", node, "-f", str(self.conf), name=node)

    def start(self, program, *arguments, name=None):
        log = open(self.folder / f"{name or program}.out", "ab")
        self.processes[name or program] = subprocess.Popen([find(program), *arguments], stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                                           env=self.env, start_new_session=True)

    def end(self, name, how=signal.SIGKILL):
        process = self.processes.pop(name, None)
        if process is not None:
            process.send_signal(how)
            process.wait()

    def kill_node(self, node):
        """Imitates a dying machine: kills the daemon, its steps and all their children at the same time."""
        daemon = self.processes.pop(node)
        daemon.send_signal(signal.SIGSTOP)  # it does not notify the controller
        kill_all(lambda: [pid for pid in marked("SLURMD_NODENAME", node) if pid in self.left()])
        daemon.kill()
        daemon.wait()

    def left(self):
        """Processes of jobs."""
        daemons = {process.pid for process in self.processes.values()}
        return [pid for pid in marked("SLURM_CONF", self.conf) if pid not in daemons and "SLURMD_NODENAME" in environment_of(pid)]

    def node_of(self, trial):
        """The node on which a trial's process runs."""
        return environment_of(trial).get("SLURMD_NODENAME", "")

    def ask(self, *words):
        return subprocess.run(words, env=self.env, capture_output=True, text=True).stdout

    def until(self, holds, what, seconds=40):
        end = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > end:
                raise TimeoutError(f"no {what} within {seconds} s; see {self.logs()}")
            time.sleep(0.1)

    def logs(self):
        return "".join(f"\n== {path.name}\n{path.read_text(errors='replace')[-1500:]}" for path in self.folder.glob("*.out"))


class RayCluster:
    """A head and further nodes, each a raylet with its workers, of `cpus` CPUs each. It has an authentication token of its own, so that
    a token of this user, which Ray writes at the first local `ray.init()`, changes nothing. `token`: require it."""
    engine = "ray"

    def __init__(self, python, nodes=2, cpus=1, token=True):
        self.python, self.cpus = pathlib.Path(python), cpus
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ray-", dir="/tmp"))
        self.nodes = [f"node{i}" for i in range(1, nodes + 1)]
        self.port, = free_ports(1)
        self.address = f"127.0.0.1:{self.port}"
        self.options = ("--set", f"engine.address={self.address}", "--set", f"engine.python={self.python}")
        (self.folder / "auth_token").write_text(os.urandom(32).hex())
        own = {name: value for name, value in os.environ.items() if not name.startswith("RAY_AUTH_")}
        self.env = {**own, "RAY_AUTH_TOKEN_PATH": str(self.folder / "auth_token"), "RAY_USAGE_STATS_ENABLED": "0", "RAY_health_check_initial_delay_ms": "1000",
                    "RAY_health_check_period_ms": "1000", "RAY_health_check_failure_threshold": "15", "RAY_ADDRESS": self.address}
        self.ray_env = {**self.env, "RAY_AUTH_MODE": "token" if token else "disabled"}  # for programs that do not look for the token
        self.processes = {}

    def __enter__(self):
        try:
            self.start_node(self.nodes[0], "--head", f"--port={self.port}", "--include-dashboard=false", f"--temp-dir={self.folder}")
            self.until(lambda: self.alive() >= 1, "head")
            for node in self.nodes[1:]:
                self.start_node(node, f"--address={self.address}")
            self.until(lambda: self.alive() == len(self.nodes), "joined nodes")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for node in list(self.processes):
            self.kill_node(node)
        shutil.rmtree(self.folder, ignore_errors=True)

    def start_node(self, node, *arguments):
        log = open(self.folder / f"{node}.out", "ab")
        self.processes[node] = subprocess.Popen(
            [self.python.parent / "ray", "start", "--block", "--disable-usage-stats", "--node-ip-address=127.0.0.1", f"--num-cpus={self.cpus}",
             "--object-store-memory=80000000", *arguments],
            stdout=log, stderr=log, stdin=subprocess.DEVNULL, env={**self.ray_env, "BACKPLANE_CHECK_NODE": self.name(node)}, start_new_session=True)

    def name(self, node):
        return f"{self.folder.name}-{node}"

    def kill_node(self, node):
        """Imitates a dying machine: kills the raylet, its workers and all their children."""
        process = self.processes.pop(node)
        kill_all(lambda: [pid for pid in marked("BACKPLANE_CHECK_NODE", self.name(node)) if state_of(pid) != "Z"])
        process.kill()
        process.wait()

    def node_of(self, trial):
        """The node on which a trial's process runs."""
        return next((node for node in self.nodes if trial in marked("BACKPLANE_CHECK_NODE", self.name(node))), "")

    def alive(self):
        code = ("import ray, sys; ray.init(address=sys.argv[1], log_to_driver=False, logging_level='ERROR'); "
                "print(sum(n['Alive'] for n in ray.nodes()))")
        done = subprocess.run([self.python, "-c", code, self.address], env=self.ray_env, capture_output=True, text=True)
        return int(done.stdout.split()[-1]) if done.returncode == 0 and done.stdout.split() else 0

    until, logs = SlurmCluster.until, SlurmCluster.logs
