#!/usr/bin/env python3
"""Checks the promises of the fuzz driver on a target with known faults.

usage: driver_check.py PROGRAM [--coverage]

--coverage: the program reports its coverage, so the driver must find a word of five letters without a hint.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

program = sys.argv[1]
failures = []


def run(folder, *arguments):
    return subprocess.run([program, "--failures", folder, "--limit-s", "1", *arguments], capture_output=True, text=True, timeout=240,
                          env={**os.environ, "TMPDIR": f"{folder}/scratch"})


def expect(what, holds, result):
    if not holds:
        failures.append(f"{what}\n  exit {result.returncode}\n{result.stdout}{result.stderr}")


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    corpus = folder / "corpus"
    corpus.mkdir()
    scratch = folder / "scratch"
    scratch.mkdir()
    (corpus / "harmless").write_text("abc")
    for word, sentence in {"abort": "", "recurse": "", "spin": "longer than its limit", "sleep": "longer than its limit", "memory": "memory|allocat|longer"}.items():
        file = folder / word
        file.write_text(word)
        result = run(name, str(file))
        told = any(part in result.stdout + result.stderr for part in sentence.split("|"))
        expect(f"an input that does '{word}' ends the program and is named", result.returncode != 0 and told
               and f"run it again: {program} {file}" in result.stderr, result)

    same = [run(name, "--corpus", str(corpus), "--runs", "300", "--seed", "7").stdout.split(" edges")[0].split(",")[-1] for _ in range(2)]
    if same[0] != same[1]:
        failures.append(f"the same seed reaches the same edges: {same}")

    result = run(name, "--corpus", str(corpus), "--runs", "5")
    expect("an input without a fault ends with 0", result.returncode == 0 and "1 replayed, 5 made" in result.stdout, result)
    for wrong in (["--runs", "x"], ["--no-such", "1"], ["--corpus", str(folder / "none")], ["--runs"]):
        result = run(name, *wrong)
        expect(f"{wrong} is refused", result.returncode == 2, result)

    if "--coverage" in sys.argv:
        result = run(name, "--corpus", str(corpus), "--runs", "3000000", "--seconds", "120", "--seed", "3", "--max-bytes", "12")
        found = sorted(folder.glob("failure-*"))
        expect("the driver finds a word by the code that it opens", result.returncode != 0 and len(found) == 1, result)
        if found:
            again = run(name, str(found[0]))
            expect("the file that it wrote fails again", again.returncode != 0, again)
    if list(scratch.iterdir()):
        failures.append(f"folders of programs that have ended are left: {list(scratch.iterdir())}")

print("\n".join(failures) or "the driver keeps its promises")
sys.exit(1 if failures else 0)
