"""Reads --help of every command: no line is wider than 80 columns or than the terminal, and it names two examples and a docs page.

usage: help_test.py PROGRAM
"""
import importlib.machinery
import importlib.util
import os
import pathlib
import pty
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
NARROW = 60
RAW = re.compile(r"\b(TEXT|UINT|INT|FLOAT|REQUIRED|Needs:|Excludes:)\b|:\{")


def reference():
    """scripts/reference, which lists the commands."""
    loader = importlib.machinery.SourceFileLoader("reference", str(ROOT / "scripts/reference"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("reference", loader))
    loader.exec_module(module)
    return module


def on_terminal(words, columns):
    pid, fd = pty.fork()
    if pid == 0:
        os.execve("/bin/sh", ["sh", "-c", f'stty columns {columns} && exec "$@"', "sh", *words], dict(os.environ, TERM="xterm"))
    text = b""
    while True:
        try:
            part = os.read(fd, 65536)
        except OSError:
            break
        if not part:
            break
        text += part
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(fd)
    if code != 0 or not text.strip():
        sys.exit(f"{' '.join(words)}: expected exit 0 and a text on a terminal of {columns} columns, got {code}: {text.decode()}")
    return text.decode()


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())

    def ask(*words):
        return subprocess.run([program, *words], check=True, capture_output=True, text=True).stdout

    commands_in = reference().commands_in
    root = ask("--help")
    wrong = [] if [line[:-1] for line in root.splitlines() if line.endswith(":") and line[0] != " "][:5] == [
        "Run", "Compare", "Inspect", "Write plugins", "Set up"] else ["expected the groups Run, Compare, Inspect, Write plugins, Set up"]
    commands = [[]]
    for _, command in commands_in(root):
        commands += [[command]] + [[command, below] for _, below in commands_in(ask(command, "--help"))]
    for words in commands:
        text = ask(*words, "--help")
        name = " ".join(["backplane", *words])
        wrong += [f"{name}: {len(line)} columns: {line}" for line in text.splitlines() if len(line) > 80]
        wrong += [f"{name}: a type of CLI11: {line}" for line in text.splitlines() if RAW.search(line)]
        wrong += [f"{name}: {len(line)} columns on {NARROW}: {line}"
                  for line in on_terminal([program, *words, "--help"], NARROW).splitlines() if len(line) > NARROW]
        page = re.search(r"^Docs: (docs/\S+)$", text, re.MULTILINE)
        if len(re.findall(r"^  \S", text.split("\nExamples:\n")[-1], re.MULTILINE)) < 2 or not page or not (ROOT / page[1]).exists():
            wrong.append(f"{name}: expected two examples and a page of docs/, got: {text[-300:]}")
    print("\n".join(wrong) or f"{len(commands)} texts, none wider than 80 columns")
    return bool(wrong) or len(commands) < 30


if __name__ == "__main__":
    sys.exit(main())
