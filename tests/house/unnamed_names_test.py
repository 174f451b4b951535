#!/usr/bin/env python3
"""Names in unnamed namespaces are unique in their module, and differ from those in headers of the module and of host/libs. The presets
asan and tsan compile several files as one, where equal names would clash. Overloads are allowed.

usage: unnamed_names_test.py [-v]
"""
import collections
import pathlib
import re
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ("host/*/*", "host/[!i]*/*/*", "tools/*/*", "tools/*/*/*", "plugins/*/*/*")
NOISE = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|//[^\n]*|/\*.*?\*/|^#(?:\\\n|[^\n])*', re.S | re.M)
UNNAMED = re.compile(r"^namespace \{$(.*?)^\}", re.S | re.M)
NAMED = re.compile(r"^namespace backplane \{$(.*?)^\}", re.S | re.M)
TYPE = re.compile(r"(?:struct|class|enum class|enum|union)\s+(\w+)")


def without_blocks(text, opening, closing):
    """The text without the contents of these brackets; the brackets stay."""
    kept, depth = [], 0
    for character in text:
        depth -= character == closing
        if depth == 0:
            kept.append(character)
        depth += character == opening
    return "".join(kept)


def declarations(block):
    """(name, what makes it another one of that name) of each declaration in a namespace."""
    for statement in re.split(r";|(?<=\})(?=\s*\n)", without_blocks(block, "{", "}")):
        statement = re.sub(r"^(?:template\s*<[^\n]*>|\[\[\w+\]\])\s", "", re.sub(r'^(?:\s|"")+', "", statement)).strip()  # behind comments
        if not statement or re.match(r"(using|namespace|extern|friend|static_assert|return)\b", statement):
            continue
        of_type = TYPE.match(statement)
        if of_type:
            yield of_type[1], ""
            continue
        head = re.split(r"[={]", statement)[0]
        function = re.search(r"(\w+)\s*\(", head)
        if function:
            yield function[1], re.sub(r"\s+", " ", re.match(r"\(.*?\)", statement[function.end() - 1 :], re.S)[0])
            continue
        for declarator in without_blocks(without_blocks(statement, "(", ")"), "<", ">").split(","):
            variable = re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)*$", re.split(r"[={]", declarator)[0])
            if variable:
                yield variable[1], ""


def clashes(root):
    modules = collections.defaultdict(lambda: collections.defaultdict(list))
    shared = collections.defaultdict(list)  # of host/libs
    for pattern in SOURCES:
        for file in sorted(root.glob(pattern)):
            if file.suffix not in (".cpp", ".hpp"):
                continue
            text = NOISE.sub('""', file.read_text())
            spaces = UNNAMED if file.suffix == ".cpp" else NAMED
            for space in spaces.finditer(text):
                for name, form in set(declarations(space[1])):
                    modules[file.parent][name].append((file, form))
                    if file.suffix == ".hpp" and "host/libs" in str(file):
                        shared[name].append((file, form))
    for module, names in sorted(modules.items()):
        for name, found in sorted(names.items()):
            others = found + (shared[name] if "plugins/" not in str(module) else [])
            for file, form in found:
                for other, other_form in others:
                    if file.suffix == ".cpp" and (other.suffix == ".hpp" or file < other) and form == other_form:
                        yield f"{file.relative_to(root)} and {other.relative_to(root)}: {name}"


class UnnamedNames(unittest.TestCase):
    def test_no_name_is_used_twice_in_a_module(self):
        self.assertEqual([], sorted(set(clashes(ROOT))))

    def test_finds_a_name_that_is_used_twice(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, inside in {
                "host/cli/run.cpp": 'constexpr int kOne = 1, kTwo = 2;\nvoid Say(int x) {\n  kTwo;\n}\nstruct Row {\n  int kTen;\n};\n',
                "host/cli/stop.cpp": 'const char* kTwo = "kTen, kOne";\nvoid Say(double x) {}  // Row\nstd::vector<int> Row(int a);\n',
                "host/batch/store/csv.cpp": "constexpr int kOne = 1;\nstruct Table {};\n",
            }.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(f"namespace backplane {{\nnamespace {{\n\n{inside}\n}}  // namespace\n}}  // namespace backplane\n")
            (root / "host/libs/text").mkdir(parents=True)
            (root / "host/libs/text/table.hpp").write_text("namespace backplane {\n\ntemplate <class T>\nclass Table {\n};\n\n}\n")
            self.assertEqual(
                [
                    "host/batch/store/csv.cpp and host/libs/text/table.hpp: Table",
                    "host/cli/run.cpp and host/cli/stop.cpp: kTwo",
                ],
                sorted(set(clashes(root))),
            )


if __name__ == "__main__":
    unittest.main()
