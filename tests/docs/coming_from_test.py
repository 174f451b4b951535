#!/usr/bin/env python3
"""The pages for users of other tools, docs/coming-from: their experiment files pass, their commands run and their keys exist.

usage: coming_from_test.py PROGRAM [PAGE...]

- A yaml block is the file that its first line names, `# ant.yaml`. Each needs a command.
- A command with --dry-run runs and prints the text of its comment. Any other needs an existing command with these options.
- In a table, the second column has keys, options of the page's plugins, words of a sweep, commands or options of `run`.
- In a sentence "These names work unchanged in `learner.options`: ...", the names are options of the learner or other names of keys.
- In a sentence "These names work unchanged at the top of the file: ...", the names are other names of keys.
"""
import csv
import importlib.machinery
import importlib.util
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = 6
LEAST_KEYS = 8  # of a page
YAML = re.compile(r"^```yaml\n# (\S+\.yaml)\n(.*?)^```", re.M | re.S)
CELL = re.compile(r"^\|[^|]*\|([^|]*)\|", re.M)
SPAN = re.compile(r"`([^`]+)`")
UNCHANGED = re.compile(r"work unchanged (in `learner\.options`|at the top of the file): (.*?)\.(?:\s|$)", re.S)
PATH = re.compile(r"([a-z_]+(?:\.[a-z_]+)*)(?:=.*)?")
WORDS_OF_RESULTS = {"return", "eval/return", "ep/length", "report/best_search.yaml"}


def check_commands():
    """The script that runs the other pages' commands, for its parser of snippets and its data set."""
    sys.path.insert(0, str(ROOT / "scripts"))
    loader = importlib.machinery.SourceFileLoader("check_commands", str(ROOT / "scripts" / "check_commands"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    sys.modules[loader.name] = module
    loader.exec_module(module)
    return module


class Program:
    def __init__(self, path):
        self.path, self.helps, self.options = path, {}, {}
        schema = json.loads(self.call(["config", "schema"])[1])
        self.keys = set(paths_of(schema))
        self.other_names = {name for name, value in schema["properties"].items()
                            if value.get("$comment", "").startswith("another name of")}
        self.words_of_sweeps = names_in(schema["properties"]["sweep"])

    def call(self, words, folder=None):
        done = subprocess.run([self.path, *words], cwd=folder, capture_output=True, text=True, timeout=300)
        return done.returncode, done.stdout + done.stderr

    def help(self, words):
        """The text of --help of the longest command that the words begin with, or nothing."""
        command = []
        for word in words:
            if not re.fullmatch(r"[a-z-]+", word):
                break
            command.append(word)
        for length in range(len(command), 0, -1):
            exit_code, text = self.helps.setdefault(tuple(command[:length]), None) or self.call([*command[:length], "--help"])
            self.helps[tuple(command[:length])] = exit_code, text
            if exit_code == 0:
                return text
        return ""

    def has(self, words):
        text = self.help(words)
        return bool(text) and all(re.search(rf"(^|[\s,]){re.escape(word)}\b", text) for word in words if word.startswith("--"))

    def options_of(self, plugin):
        """Every name of its options, or nothing if there is no such plugin."""
        if plugin not in self.options:
            exit_code, text = self.call(["plugin", "describe", plugin, "--json"])
            info = json.loads(text) if exit_code == 0 else {"options": [], "id": ""}
            self.options[plugin] = info["id"].split(".")[0], {name for option in info["options"]
                                                              for name in (option["path"], *option["aliases"])}
        return self.options[plugin]


def branches(schema):
    yield schema
    for each in schema.get("anyOf", []):
        yield from branches(each)


def paths_of(schema, prefix=""):
    for branch in branches(schema):
        for name, value in branch.get("properties", {}).items():
            yield prefix + name
            yield from paths_of(value, prefix + name + ".")


def names_in(schema):
    """Every name of a property, at any depth."""
    if isinstance(schema, list):
        return set().union(*map(names_in, schema))
    if not isinstance(schema, dict):
        return set()
    return set(schema.get("properties", {})).union(*map(names_in, schema.values()))


class Page:
    def __init__(self, path, program, scripts, folder):
        self.name, self.text = str(path.relative_to(ROOT)), path.read_text()
        self.program, self.scripts, self.folder = program, scripts, folder
        self.wrong, self.checked = [], 0
        self.files = dict(YAML.findall(self.text))
        yaml = "".join(self.files.values())
        plugins = re.findall(r"\b(?:plugin|env|learner): ([\w-]+)", yaml)
        self.options = {"env": set(), "learner": set(re.findall(r"\{(\w+)\}", yaml))}
        for kind, names in map(program.options_of, plugins):
            if kind:
                self.options[kind] |= names

    def fail(self, what, why):
        self.wrong.append(f"{self.name}: {what}: {why}")

    def expect(self, holds, what, why):
        self.checked += 1
        if not holds:
            self.fail(what, why)

    def write_files(self):
        """The page's files and, with little or no content, those that they name. Returns files that cannot run here."""
        for name, text in self.files.items():
            (self.folder / name).write_text(text)
            for script in re.findall(r"\w+\.py\b", text):
                (self.folder / script).touch()
        (self.folder / "conf").mkdir()
        (self.folder / "conf" / "config.yaml").touch()
        with_texts = {name for name, text in self.files.items() if "spm.model" in text}
        if not with_texts or not shutil.which("spm_train"):
            return with_texts
        self.scripts.batches.write_texts(self.folder)
        with open(self.folder / "texts.csv", newline="") as file:
            rows = [("article", "highlights"), *((row["document"], row["summary"]) for row in csv.DictReader(file))]
        for name in ("train.csv", "dev.csv"):
            with open(self.folder / name, "w", newline="") as file:
                csv.writer(file).writerows(rows)
        return set()

    def check_commands(self):
        left_out = self.write_files()
        self.expect(self.files, "yaml blocks", "no file is named")
        needed = set(self.files) - left_out
        for command, comment in self.scripts.documented(self.text):
            words = shlex.split(command)[1:]
            if left_out & set(words):
                print(f"left out: {self.name}: {command}   # spm_train of SentencePiece is not installed")
            elif "--dry-run" in words:
                needed -= set(words)
                exit_code, output = self.program.call(words, self.folder)
                self.expect(exit_code == 0 and comment and comment in output, command,
                            f"expected exit 0 and '{comment}', got exit {exit_code} and: {output[-1500:]}")
            else:
                self.expect(self.program.has(words), command, "no such command or option")
        needed -= {base for text in self.files.values() for base in re.findall(r"^base: (\S+)", text, re.M)}
        self.expect(not needed, ", ".join(sorted(needed)), "no command with --dry-run runs it")

    def knows(self, path):
        section, _, option = path.partition(".options.")
        if option and section in self.options:
            return option in self.options[section]
        return path in self.program.keys or path in self.program.words_of_sweeps

    def check_span(self, span):
        if span.startswith(("{", "[")) or span in WORDS_OF_RESULTS:
            return
        if span.startswith("backplane "):
            self.expect(self.program.has(shlex.split(span)[1:]), span, "no such command or option")
        elif span.startswith("--"):
            option, *values = shlex.split(span)
            self.expect(self.program.has(["run", option]), span, "run has no such option")
            for value in values:
                self.check_span(value)
        else:
            path = PATH.fullmatch(span)
            self.expect(path and self.knows(path[1]), span, "neither a key, nor an option of the page's plugins, nor a word of a sweep")

    def check_tables(self):
        before = self.checked
        for cell in CELL.findall(re.sub(r"^```.*?^```", "", self.text, flags=re.M | re.S)):
            for span in SPAN.findall(cell):
                self.check_span(span)
        self.expect(self.checked - before >= LEAST_KEYS, "tables", f"expected {LEAST_KEYS} names or more, got {self.checked - before}")

    def check_unchanged(self):
        for where, names in UNCHANGED.findall(self.text):
            known = self.program.other_names | (self.options["learner"] if where.startswith("in") else set())
            for name in SPAN.findall(names):
                self.expect(name in known, name, f"does not work unchanged {where}")


def main():
    program = Program(pathlib.Path(sys.argv[1]).resolve())
    pages = [pathlib.Path(name).resolve() for name in sys.argv[2:]] or sorted((ROOT / "docs" / "coming-from").glob("*.md"))
    scripts = check_commands()
    wrong = [] if sys.argv[2:] or len(pages) == PAGES else [f"expected {PAGES} pages, got {len(pages)}"]
    for path in pages:
        with tempfile.TemporaryDirectory() as folder:
            page = Page(path, program, scripts, pathlib.Path(folder))
            page.check_commands()
            page.check_tables()
            page.check_unchanged()
            wrong += page.wrong
            print(f"{page.name}: {page.checked} checks, {len(page.wrong)} failed")
    print("\n".join(wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
