"""Runs one command and measures it with all its children: wall and CPU time, peak memory, and the CPU time of other programs.

Linux only. One command at a time: it measures all descendants of the calling process.
"""
import contextlib
import ctypes
import dataclasses
import os
import pathlib
import resource
import signal
import statistics
import subprocess
import sys
import threading
import time

SAMPLE_S = 0.2
GRACE_S = 10  # time for leftover processes to end by themselves
TICK_S = 1 / os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
PR_SET_CHILD_SUBREAPER = 36


@dataclasses.dataclass
class MeasuredRun:
    command: list
    exit: int
    stdout: str
    stderr: str
    began: float  # time.time() just before the process was started
    wall_s: float  # until the process that was started had ended
    cpu_s: float  # of the whole tree; for processes without a waiting parent, only from samples
    others: float  # CPU time of other programs / (cores x wall)
    peak_rss_bytes: int = 0  # largest sum over the tree: pages that processes share count in each
    peak_pss_bytes: int = 0  # the same sum with shared pages divided among those that share them; 0 where it may not be read
    left_behind: int = 0  # processes that still ran GRACE_S after the end and were killed

    def check(self):
        if self.exit != 0:
            raise SystemExit(f"{' '.join(self.command)}\nexit {self.exit}\n{self.stderr[-3000:]}")
        return self


def adopt_orphans():
    """Makes every orphan below this process its child, so that processes that left their group or session are still found and ended."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # to end the started processes, too
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise SystemExit(f"prctl(PR_SET_CHILD_SUBREAPER): {os.strerror(ctypes.get_errno())}")


def descendants():
    """pid -> (start time, CPU seconds) of all live descendants of this process."""
    children, facts = {}, {}
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        try:
            text = pathlib.Path(entry.path, "stat").read_text()
        except OSError:
            continue  # it has just ended
        fields = text[text.rindex(")") + 2:].split()  # the name before it may contain spaces and brackets
        if fields[0] not in "ZX":
            facts[int(entry.name)] = fields[19], (int(fields[11]) + int(fields[12])) * TICK_S
        children.setdefault(int(fields[1]), []).append(int(entry.name))
    found, todo = {}, list(children.get(os.getpid(), []))
    while todo:
        pid = todo.pop()
        todo += children.get(pid, [])
        if pid in facts:
            found[pid] = facts[pid]
    return found


def rss_bytes(pid):
    try:
        return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE_BYTES
    except OSError:
        return 0


def pss_bytes(pid):
    try:
        for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass  # it has just ended, or is another user's
    return 0


class Sampler(threading.Thread):
    """Samples the tree every SAMPLE_S until it is stopped."""

    def __init__(self):
        super().__init__(daemon=True)
        self.stopped = threading.Event()
        self.cpu_s, self.rss, self.pss, self.pss_at = {}, 0, 0, 0

    def run(self):
        while not self.stopped.wait(SAMPLE_S):
            self.sample()

    def sample(self):
        tree = descendants()
        for pid, (started, cpu_s) in tree.items():
            self.cpu_s[pid, started] = cpu_s
        rss = sum(map(rss_bytes, tree))
        self.rss = max(self.rss, rss)
        # Adding up PSS walks the page tables of every process. Doing that in each sample would slow down the side with more processes, so
        # do it only when the resident memory reaches a new peak.
        if rss > 1.01 * self.pss_at:
            self.pss, self.pss_at = max(self.pss, sum(map(pss_bytes, tree))), rss

    def stop(self):
        self.stopped.set()
        if self.is_alive():
            self.join()


def busy_s():
    """CPU seconds that the whole machine was not idle."""
    user, nice, system, _, _, irq, softirq, steal = map(int, pathlib.Path("/proc/stat").read_text().split()[1:9])
    return (user + nice + system + irq + softirq + steal) * TICK_S


def waited_for_s():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def end_leftovers():
    """Waits for orphans of the last command, kills those that remain, and returns their number."""
    deadline, killed = time.monotonic() + GRACE_S, set()
    while True:
        try:
            while os.waitpid(-1, os.WNOHANG)[0] != 0:
                pass
        except ChildProcessError:
            return len(killed)
        if time.monotonic() > deadline:
            for pid in descendants():
                killed.add(pid)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)


class Reader(threading.Thread):
    """Empties a pipe. Popen.communicate would wait for an orphan that holds the pipe."""

    def __init__(self, pipe):
        super().__init__(daemon=True)
        self.pipe, self.found = pipe, ""
        self.start()

    def run(self):
        self.found = self.pipe.read()

    def text(self):
        self.join()
        return self.found


def measure(command, memory=True, **options):
    """Runs `command` to its end and kills leftover processes. Call adopt_orphans() once before. `options` go to subprocess.Popen.

    Without `memory` it takes no samples, and the peaks are 0."""
    command, sampler = [str(word) for word in command], Sampler()
    own, busy, waited = time.process_time(), busy_s(), waited_for_s()
    began, start = time.time(), time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", **options)
    try:
        readers = [Reader(process.stdout), Reader(process.stderr)]
        if memory:
            sampler.start()
        process.wait()
        wall, busy, own = time.perf_counter() - start, busy_s() - busy, time.process_time() - own
    finally:
        sampler.stop()
        if process.poll() is None:  # interrupted
            process.terminate()
        left = end_leftovers()
    stdout, stderr = (reader.text() for reader in readers)
    cpu = max(sum(sampler.cpu_s.values()), waited_for_s() - waited)
    others = max(0.0, (busy - own - cpu) / (wall * os.cpu_count()))
    return MeasuredRun(command, process.returncode, stdout, stderr, began, wall, cpu, others, sampler.rss, sampler.pss, left)


def spread(values):
    """Median, range and number, as the other benchmarks write them."""
    return {"median": statistics.median(values), "min": min(values), "max": max(values), "n": len(values)}
