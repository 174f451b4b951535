"""Types every line of first_words.txt in order, and compares the answers with the file.

usage: first_words_test.py PROGRAM PAGE
"""
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

LEAST = 40
ROW = re.compile(r"\| `(backplane[^`]*)` \| (\d+) \| `([^`]+)` \|")


def plain(text):
    """On one line, without the backquotes that a table cannot hold."""
    return " ".join(text.replace("`", "").split())


def main():
    program, page = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    text = page.read_text()
    rows, file = ROW.findall(text), re.search(r"```yaml\n(.*?)```", text, re.DOTALL)[1]
    wrong = [] if len(rows) >= LEAST else [f"{len(rows)} lines, wanted {LEAST}"]
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "cartpole.yaml").write_text(file)
        for typed, code, wanted in rows:
            done = subprocess.run([program, *shlex.split(typed)[1:]], cwd=folder, capture_output=True, text=True, timeout=300)
            answer = plain(done.stdout + done.stderr)
            if done.returncode != int(code) or wanted not in answer:
                wrong.append(f"{typed}: wanted {code} and '{wanted}', found {done.returncode} and: {answer[:400]}")
    print("\n".join(wrong) or f"{len(rows)} lines, each does the obvious or names it")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
