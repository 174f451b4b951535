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

# The typed line, then the expected line after Tab, or the expected offers.
CASES = [
    ("backplane repo", "report"),
    ("backplane run cart", "cartpole.yaml"),
    ("backplane run cartpole.yaml --dry", "--dry-run"),
    ("backplane run cartpole.yaml learner.options.train_b", "learner.options.train_batch_size="),
    ("backplane run cartpole.yaml --set env.plugin=mountain_car_", "mountain_car_continuous"),
    ("backplane plugin describe env.cart", "env.cartpole"),
    ("backplane status outputs/car", "outputs/cartpole"),
    ("backplane replay outputs/cartpole seed=", "seed=0"),
    ("backplane report --explain update_b", "update_bound"),
    ("backplane completion z", "zsh"),
]
# Names that a shell would execute or change without quotes, each with a different first letter.
NAMES = [
    "a`touch EVIL`.yaml", "b$(touch EVIL).yaml", "c;touch EVIL;.yaml", "d|touch EVIL.yaml", "e&touch EVIL&.yaml", "f>EVIL.yaml", "g<x.yaml",
    "h two words.yaml", "i'quote.yaml", 'j"quote.yaml', "k\\back.yaml", "l*.yaml", "m?.yaml", "n[a].yaml", "o{1,2}.yaml", "p#hash.yaml",
    "q!bang.yaml", "r~tilde.yaml", "s^caret.yaml", "t(x).yaml", "u$HOME.yaml", "v=x.yaml", "w%x.yaml", "xäö.yaml", "~y.yaml", "#z.yaml",
]
# (typed text, completed name): names that begin in quotes or with a backslash.
BEGUN = {
    "bash": [("h\\ tw", "h two words.yaml"), ("'h tw", "h two words.yaml"), ('"h tw', "h two words.yaml"), ('"a', "a`touch EVIL`.yaml"),
             ('"b', "b$(touch EVIL).yaml"), ("'a", "a`touch EVIL`.yaml"), ("'i", "i'quote.yaml"), ('"j', 'j"quote.yaml')],
    "zsh": [("h\\ tw", "h two words.yaml"), ("'h tw", "h two words.yaml"), ('"a', "a`touch EVIL`.yaml"), ("'a", "a`touch EVIL`.yaml")],
    "fish": [("h\\ tw", "h two words.yaml"), ("'h tw", "h two words.yaml"), ('"b', "b$(touch EVIL).yaml"), ("'a", "a`touch EVIL`.yaml")],
}
# Replaces the program: prints its arguments, and lets the program answer the shell's questions.
ECHOES = """#!/bin/sh
case $1 in complete | completion) exec {program} "$@" ;; esac
printf 'got<%s>' "$@"
echo
"""
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


def begun(shell, folder, env):
    """A terminal with a shell that has loaded the completion, and the errors so far."""
    command, load = SHELLS[shell]
    terminal = Terminal(command, folder, env)
    terminal.send(load + "echo loa''ded\n")
    came_up = terminal.read_until("loaded", PATIENCE_S)
    return terminal, [] if came_up else [f"{shell}: does not come up: {terminal.seen[-300:]}"]


def try_shell(shell, folder, env):
    terminal, wrong = begun(shell, folder, env)
    for typed, wanted in CASES if not wrong else []:
        terminal.send("\x15")  # an empty line
        time.sleep(0.2)
        terminal.seen = ""
        terminal.send(typed)
        terminal.read_until(typed[-3:], PATIENCE_S)
        time.sleep(0.2)
        terminal.seen = typed  # the shell appends its text
        terminal.send("\t")
        if not terminal.read_until(wanted, PATIENCE_S):
            wrong.append(f"{shell}: {typed!r}: expected {wanted!r}, got {terminal.seen[-300:]!r}")
    terminal.close()
    return wrong


def typed_of(name):
    """The typed part of a name: its first letter, quoted if it is special in a shell."""
    return name[0] if name[0].isalpha() else "\\" + name[0]


def try_names(shell, folder, env):
    """Completes names that are dangerous if they are not quoted, presses Enter, and compares the arguments of the program."""
    terminal, wrong = begun(shell, folder, env)
    for typed, name in [(typed_of(name), name) for name in NAMES] + BEGUN[shell] if not wrong else []:
        terminal.send("\x15")
        time.sleep(0.2)
        terminal.seen = ""
        terminal.send(f"backplane run {typed}")
        terminal.read_until(typed[-2:], PATIENCE_S)
        time.sleep(0.2)
        terminal.send("\t")
        if not terminal.read_until(".yaml", PATIENCE_S):
            wrong.append(f"{shell}: {typed!r}: expected {name!r}, got {terminal.seen[-300:]!r}")
            continue
        time.sleep(0.2)
        terminal.seen = ""
        terminal.send("\n")
        if not terminal.read_until(f"got<run>got<{name}>", PATIENCE_S):
            wrong.append(f"{shell}: {typed!r}: expected the word {name!r}, got {terminal.seen[-300:]!r}")
        evil = list(pathlib.Path(folder).glob("EVIL*"))
        if evil:
            wrong.append(f"{shell}: {typed!r}: ran what the name holds")
            for file in evil:
                file.unlink()
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
        names = pathlib.Path(folder) / "names"
        (names / "bin").mkdir(parents=True)
        (names / "bin/backplane").write_text(ECHOES.format(program=program))
        (names / "bin/backplane").chmod(0o755)
        (names / "here").mkdir()
        for name in NAMES:
            (names / "here" / name).write_text("")
        for shell in tried:
            wrong += try_names(shell, names / "here", dict(env, PATH=f"{names / 'bin'}:{os.environ['PATH']}"))
    print("\n".join(wrong) or f"{', '.join(tried)}: {len(CASES)} lines and {len(NAMES)} names each")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
