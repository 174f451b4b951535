"""Presses the tabulator key in real shells: bash always, zsh and fish where they are installed.

usage: completion_test.py PROGRAM
"""
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

# What is typed, and what the line must hold after the key, or be offered.
CASES = [
    ("backplane repo", "report"),
    ("backplane run cart", "cartpole.yaml"),
    ("backplane run cartpole.yaml --dry", "--dry-run"),
    ("backplane run cartpole.yaml learner.options.train_b", "learner.options.train_batch_size="),
    ("backplane run cartpole.yaml --set env.plugin=mountain", "mountain_car_continuous"),
    ("backplane plugin describe env.cart", "env.cartpole"),
    ("backplane status outputs/car", "outputs/cartpole"),
    ("backplane replay outputs/cartpole seed=", "seed=0"),
    ("backplane report --explain update_b", "update_bound"),
    ("backplane completion z", "zsh"),
]
SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], "source <(backplane completion bash)\n"),
    "zsh": (["zsh", "-f", "-i"], "source <(backplane completion zsh)\n"),
    "fish": (["fish", "--no-config", "--interactive"], "backplane completion fish | source\n"),
}
PATIENCE_S = 20
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08]")


class Terminal:
    def __init__(self, command, folder, env):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, env)
        self.seen = ""

    def send(self, text):
        os.write(self.fd, text.encode())

    def read_until(self, wanted, seconds):
        end = time.monotonic() + seconds
        while wanted not in self.seen and time.monotonic() < end:
            if select.select([self.fd], [], [], 0.1)[0]:
                self.seen += CONTROL.sub("", os.read(self.fd, 65536).decode(errors="replace"))
        return wanted in self.seen

    def close(self):
        os.kill(self.pid, 9)
        os.close(self.fd)
        os.waitpid(self.pid, 0)


def try_shell(shell, folder, env):
    command, load = SHELLS[shell]
    wrong = []
    terminal = Terminal(command, folder, env)
    terminal.send(load + "echo loa''ded\n")
    if not terminal.read_until("loaded", PATIENCE_S):
        wrong.append(f"{shell}: does not come up: {terminal.seen[-300:]}")
    for typed, wanted in CASES if not wrong else []:
        terminal.send("\x15")  # an empty line
        time.sleep(0.2)
        terminal.seen = ""
        terminal.send(typed)
        terminal.read_until(typed[-3:], PATIENCE_S)
        time.sleep(0.2)
        terminal.seen = typed  # what the shell adds comes behind it
        terminal.send("\t")
        if not terminal.read_until(wanted, PATIENCE_S):
            wrong.append(f"{shell}: {typed!r}: wanted {wanted!r}, found {terminal.seen[-300:]!r}")
    terminal.close()
    return wrong


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    wrong, tried = [], []
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "cartpole.yaml").write_text("env: cartpole\nlearner: ppo\nbudget: {iterations: 1}\n")
        subprocess.run([program, "run", "cartpole.yaml", "--quiet"], cwd=folder, check=True)
        env = dict(os.environ, PATH=f"{program.parent}:{os.environ['PATH']}", TERM="xterm", PS1="$ ", HOME=folder, LANG="C.UTF-8")
        for shell in SHELLS:
            if shutil.which(shell):
                tried.append(shell)
                wrong += try_shell(shell, folder, env)
    print("\n".join(wrong) or f"{', '.join(tried)}: {len(CASES)} lines each")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
