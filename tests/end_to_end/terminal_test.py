"""Compares screens of a real terminal (tmux) with golden captures, and checks the bytes sent to it.

usage: terminal_test.py PROGRAM GOLDENS [--write]

Numbers that differ from run to run stand as '#' in the captures.
"""
import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

WIDTHS = (40, 80, 120, 200)
FILES = {
    # Four settings and two seeds. Two names share a long prefix, and one name is Korean.
    "sweep.yaml": """env: cartpole
learner: ppo
budget: {iterations: 2}
monitors: []
sweep:
  grid: {rollout.num_env_runners: [1, 2], rollout.num_envs_per_env_runner: [1, 2]}
  seeds: {n: 2}
""",
    "names.yaml": """env: cartpole
learner: random
budget: {iterations: 1}
monitors: []
sweep:
  list:
    - {name: 기준선, rollout.num_env_runners: 1}
    - {name: 여러_환경_실행기, rollout.num_env_runners: 2}
""",
}
SCREENS = {
    "status": "backplane status outputs/sweep",
    "names": "backplane status outputs/names",
    "plan": "backplane run sweep.yaml --dry-run",
}
# Measured values, with the blanks that depend on their width.
NUMBER = re.compile(r" *\d+\.\d [KMG]iB| *(\d[\d,.]*(:\d\d)+|\b\d{1,3}(,\d{3})+|(?<![\w=])\d+\.\d+)(?=\s|$)|  +\d+(?=  |\s*$)|\d+ MB|"
                    r"\d+ trials? at the same time")


def tmux(socket, *words, **more):
    return subprocess.run(["tmux", "-L", socket, "-f", "/dev/null", *words], check=True, capture_output=True, text=True, **more).stdout


def capture(socket, command, width, colour, folder, env):
    done = pathlib.Path(folder) / "done"
    done.unlink(missing_ok=True)
    tmux(socket, "new-session", "-d", "-x", str(width), "-y", "50", "-s", "s",
         f"cd {folder} && {command} --color {colour}; touch done; exec cat", env=env)
    for _ in range(600):
        if done.exists():
            break
        time.sleep(0.05)
    time.sleep(0.2)
    screen = tmux(socket, "capture-pane", "-p", "-t", "s", *(["-e"] if colour == "always" else []))
    tmux(socket, "kill-session", "-t", "s")
    return screen.rstrip("\n") + "\n"


def alike(screen):
    screen = re.sub(r"\b[0-9a-f]{16}\b", "a trial's id    ", screen)
    return "".join(NUMBER.sub(" #", line).rstrip() + "\n" for line in screen.splitlines())


def rows_of(screen):
    """Names of a table's rows: the text before the state."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", screen)
    return [m[1] for m in re.finditer(r"^  (\S.*?)  +(?:completed|failed|planned|running)\b", plain, re.MULTILINE)]


def live_bytes(program, folder, env):
    """Raw bytes that a run sends to a terminal of 80 columns."""
    import pty
    import select
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execve(program, [str(program), "run", "sweep.yaml", "--fresh"], dict(env, COLUMNS="80"))
    sent = b""
    while True:
        try:
            if select.select([fd], [], [], 60)[0]:
                sent += os.read(fd, 65536)
        except OSError:
            break
    os.waitpid(pid, 0)
    return sent.decode(errors="replace")


def main():
    program, goldens = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    if not shutil.which("tmux"):
        print("no tmux")
        return 77
    wrong = []
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as ending:
        for name, text in FILES.items():
            (pathlib.Path(folder) / name).write_text(text)
        env = dict(os.environ, PATH=f"{program.parent}:{os.environ['PATH']}", LC_ALL="C.UTF-8", TERM="xterm-256color")
        for name in FILES:
            subprocess.run([program, "run", name, "--quiet", "--jobs", "1"], cwd=folder, check=True, capture_output=True)
        socket = f"backplane{os.getpid()}"
        # A server exits with its last session, and the next session may find it exiting.
        tmux(socket, "new-session", "-d", "-s", "stays", "exec cat", env=env)
        ending.callback(tmux, socket, "kill-server")
        for name, command in SCREENS.items():
            for width in WIDTHS:
                for colour in ("never", "always"):
                    screen = alike(capture(socket, command, width, colour, folder, env))
                    golden = goldens / f"{name}_{width}_{'colour' if colour == 'always' else 'plain'}.txt"
                    if "--write" in sys.argv:
                        golden.parent.mkdir(exist_ok=True)
                        golden.write_text(screen)
                    elif not golden.exists() or golden.read_text() != screen:
                        wrong.append(f"{golden.name} differs:\n{screen}")
                    rows = rows_of(screen)
                    if name == "status" and (len(rows) != 8 or len(set(rows)) != len(rows)):
                        wrong.append(f"{golden.name}: wanted 8 rows with names of their own, found {rows}")
        sent = live_bytes(program, folder, env)
    for what, sequence in (("a hidden cursor", "\x1b[?25l"), ("updates at once", "\x1b[?2026h")):
        if sequence not in sent:
            wrong.append(f"a live batch has no {what}")
    if sent.rfind("\x1b[?25h") < sent.rfind("\x1b[?25l"):
        wrong.append("the cursor stays hidden")
    if sent.count("\x1b[?2026h") != sent.count("\x1b[?2026l"):
        wrong.append("an update has no end")
    print("\n".join(wrong) or f"{len(SCREENS) * len(WIDTHS) * 2} screens are as they were")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
