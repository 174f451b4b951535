#!/usr/bin/env python3
"""docs/guides.md has a row for each of the 144 things that five guides name, and all that a row names exists.

usage: guides_test.py PROGRAM

- A table per guide, with as many rows as the guide has things.
- A row has a test or a command in its last column. An open row, which ends with `<!-- ISSUE.ITEM -->`, may lack both.
- `Suite.Name` is a test of the sources or of a CMakeLists.txt.
- `backplane ...` is a command with these options. With --dry-run it runs.
- A path below a folder of the repository exists. `scripts/check_gpu --only NAMES` names checks of that script.
- Any other `name` is a key, an option of a plugin, or in a different page, a config or the sources of reports.
"""
import json
import pathlib
import re
import shlex
import sys

from coming_from_test import Program, names_in

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/guides.md"
THINGS = [57, 25, 20, 26, 16]
COLUMNS = 4
ROW = re.compile(r"^\| (?!line |mark |[*])(.*?) \|(?: <!-- ([\d., ]+) -->)?$", re.M)
SPAN = re.compile(r"`([^`]+)`")
TEST = re.compile(r"[A-Z]\w*\.[A-Za-z]\w*")
SOURCE_TEST = re.compile(r"^\s*TEST(?:_F|_P)?\((\w+),\s+(\w+)\)", re.M)
CMAKE_TEST = re.compile(r"add_test\(NAME (\S+)")
VALUE = re.compile(r"([a-z_][\w.]*)(?:=|: )(.*)")


def known_tests():
    """A pattern per test name; a name in CMake may contain variables."""
    sources, lists = ([path.read_text() for path in (ROOT / "tests").rglob(kind)] for kind in ("*.cpp", "CMakeLists.txt"))
    names = {f"{suite}.{name}" for text in sources for suite, name in SOURCE_TEST.findall(text)}
    made = [name for text in lists for name in CMAKE_TEST.findall(text)]
    pattern = "|".join(re.sub(r"\\\$\\\{\w+\\\}", r"\\w+", re.escape(name)) for name in made)
    return names, re.compile(pattern)


def corpus():
    """Texts that show output files, measures, findings and columns."""
    folders = [("docs", "*.md"), ("plugins", "*.md"), ("configs", "*.yaml"), ("tools/report", "*.?pp"),
               ("tests/end_to_end", "*.cpp"), ("host/python", "*.py")]
    paths = (path for folder, kind in folders for path in sorted((ROOT / folder).rglob(kind)))
    return "\n".join(path.read_text() for path in paths if path != PAGE)


class Names:
    def __init__(self, program):
        self.program = Program(program)
        self.tests, self.cmake_tests = known_tests()
        self.options = names_in(json.loads(self.program.call(["config", "schema"])[1])) | self.program.keys
        self.commands = set(re.findall(r"^  ([a-z]+)  ", self.program.call(["--help"])[1], re.M))
        self.text = corpus()
        self.gpu_checks = set(re.findall(r"def check_(\w+)\(", (ROOT / "scripts/check_gpu").read_text()))
        self.folders = {path.name for path in ROOT.iterdir() if path.is_dir()} - {"outputs", "build"}

    def wrong(self, span):
        """The mistake in a `span`, or nothing."""
        words = ["run", *shlex.split(span)] if span.startswith("--") else shlex.split(span)
        for word in words:
            if "/" in word and word.split("/")[0] in self.folders and not list(ROOT.glob(word)):
                return f"there is no file {word}"
        if words[0] == "backplane" or words[0] in self.commands:
            return self.wrong_command(words[words[0] == "backplane":])
        if words[:2] == ["scripts/check_gpu", "--only"]:
            missing = set(words[2].split(",")) - self.gpu_checks
            return f"scripts/check_gpu has no check {', '.join(sorted(missing))}" if missing else ""
        if TEST.fullmatch(span):
            return "" if span in self.tests or self.cmake_tests.fullmatch(span) else "there is no such test"
        setting = VALUE.fullmatch(span)
        whole_word = re.compile(rf"(?<!\w){re.escape(span)}(?!\w)")
        if self.is_name(setting[1] if setting else span) or whole_word.search(self.text) or list(ROOT.glob(span)):
            return ""
        return "no key, option, page, config or report has this name"

    def is_name(self, path):
        return path in self.options or path in self.program.other_names or path.rpartition(".options.")[2] in self.options

    def wrong_command(self, words):
        if not self.program.has([word.split("=")[0] for word in words]):
            return "no such command or option"
        if "--dry-run" not in words:
            return ""
        exit_code, output = self.program.call(words, ROOT)
        return f"expected exit 0, got {exit_code}: {output}" if exit_code else ""


def mistakes(text, things, names):
    tables = text.split("\n## ")[1:]
    counts = [len(ROW.findall(table)) for table in tables]
    if counts != things:
        yield f"expected tables of {things} rows, got {counts}"
    for row, item in (row for table in tables for row in ROW.findall(table)):
        cells = row.split(" | ")
        if len(cells) != COLUMNS or not all(cell.strip() for cell in cells):
            yield f"{row}: expected {COLUMNS} cells with text, got {len(cells)}"
        elif not item:
            if not any(TEST.fullmatch(span) or span.startswith(("backplane ", "scripts/")) for span in SPAN.findall(cells[-1])):
                yield f"{row}: no test and no command shows it"
            for span in SPAN.findall(" ".join(cells[2:])):
                why = names.wrong(span)
                if why:
                    yield f"{cells[0]}: `{span}`: {why}"


# Each has one mistake.
FLAWED = """
| 1 | a | b | `Batch.NoSuchTest` |
| 1 | a | b | `backplane nosuch FILE` |
| 1 | a | b | `backplane report OUT --nosuch` |
| 1 | a | b | `backplane run configs/ppo/ant.yaml --set nosuch=1 --dry-run` |
| 1 | a | b | `scripts/check_gpu --only nosuch` |
| 1 | a | b | - |
| 1 | a | `no_such_option` | `backplane doctor` |
| 1 | a | `vram_near` | `backplane doctor` |
| 1 | a | `nosuch.key=1` | `backplane doctor` |
| 1 | a | `configs/nosuch.yaml` | `backplane doctor` |
| 1 | a | `backplane doctor` |
"""
SOUND = """
| 1 | a | *planned* | `scripts/check_gpu --only ppo` |
| 1 | a | `nosuch` | - | <!-- 1.2, 1.3 -->
| 1 | a | `seed=1` | `backplane doctor` |
"""


def main():
    names = Names(pathlib.Path(sys.argv[1]).resolve())
    wrong = list(mistakes(PAGE.read_text(), THINGS, names))
    for rows, count in ((FLAWED, 1), (SOUND, 0)):
        for row in rows.split("\n")[1:-1]:
            found = list(mistakes(f"\n## T\n{row}\n", [1], names))
            if len(found) != count:
                wrong.append(f"this test: expected {count} mistakes in {row}, got {found}")
    pending = sum(bool(item) for _, item in ROW.findall(PAGE.read_text()))
    print("\n".join(wrong) or f"{sum(THINGS)} rows, {pending} of them open")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
