"""A command in its own terminal, for scripts/check_hangs, with its timed output and its processes."""
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import fcntl
import termios
import threading
import time
import uuid

import clusters

MARK = "BACKPLANE_HANG_MARK"  # in the environment of all processes of a session
COLUMNS = 240
# Commands to the terminal, and the terminal's echo of a Ctrl-C.
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[=>78]|\^C")


class Session:
    """Its terminal is real: `type_ctrl_c` types a Ctrl-C, which reaches the foreground group as it does a user's."""

    def __init__(self, words, folder, environment):
        self.mark = uuid.uuid4().hex
        self.began = time.monotonic()
        self.pieces, self.lock, self.over = [], threading.Lock(), threading.Event()
        self.master, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
        self.process = subprocess.Popen(["setsid", "--ctty", *words], cwd=folder, env={**environment, MARK: self.mark, "TERM": "xterm"},
                                        stdin=terminal, stdout=terminal, stderr=terminal)
        os.close(terminal)
        self.ended = self.idle = None  # when the command ended, and when the terminal was last seen without unread text
        self.reader, self.waiter = (threading.Thread(target=work, daemon=True) for work in (self.read, self.wait))
        self.reader.start(), self.waiter.start()

    def wait(self):
        self.process.wait()
        self.ended = time.monotonic()

    def read(self):
        while True:
            ready, _, _ = select.select([self.master], [], [], 0.05)
            if not ready:
                self.idle = time.monotonic()
                if self.over.is_set():
                    return
            try:
                piece = os.read(self.master, 1 << 16) if ready else b""
            except OSError:  # no process has the terminal open
                self.idle = float("inf")
                return
            if piece:
                with self.lock:
                    self.pieces.append((time.monotonic(), piece))

    def text_since(self, begin):
        with self.lock:
            return b"".join(piece for at, piece in self.pieces if at >= begin).decode(errors="replace")

    def lines(self, begin=0.0):
        """The printed lines without colours. A redrawn line counts once per change."""
        found = []
        for line in re.split(r"[\r\n]+", ESCAPES.sub("", self.text_since(begin))):
            if line.strip() and line not in found:
                found.append(line.rstrip())
        return found

    def seconds(self):
        return time.monotonic() - self.began

    def until(self, condition, limit_s):
        """The time at which the condition held, or None if it did not within the limit."""
        end = time.monotonic() + limit_s
        while time.monotonic() < end:
            if condition():
                return time.monotonic()
            time.sleep(0.02)
        return None

    def ends_within(self, limit_s):
        """The time of the command's end, or None. All its output has been read by then."""
        if self.until(lambda: self.ended is not None, limit_s):
            self.until(lambda: (self.idle or 0) > self.ended, 5)
        return self.ended

    def type_ctrl_c(self):
        os.write(self.master, b"\x03")

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)

    def processes(self, *words, without="\0"):
        """Ids of the session's processes, except the command's own, whose command line has all these words and not the other."""
        found = {pid: command_line(pid) for pid in clusters.marked(MARK, self.mark) if pid != self.process.pid}
        return [pid for pid, line in found.items()
                if clusters.state_of(pid) != "Z" and all(word in line for word in words) and without not in line]

    def close(self):
        """Ends the session's processes. Returns the command lines of those that outlived the command."""
        left = [command_line(pid) for pid in self.processes()] if self.ended is not None else []
        self.over.set()
        clusters.kill_all(lambda: [pid for pid in clusters.marked(MARK, self.mark) if clusters.state_of(pid) != "Z"])
        self.waiter.join()
        self.reader.join()
        os.close(self.master)
        return left


def command_line(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""
