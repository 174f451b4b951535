#!/usr/bin/env python3
"""Every file keeps its budget of findings: constructions that STYLE.md rules out.

usage: english_test.py [-v] | --list FILE... | --counts | --update

Budgets are in english_budget.json. A file without one may have the target of its kind. --list prints the findings of files, --counts the
findings per 1,000 words of the tree. --update lowers budgets to the present counts and never raises one.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from english_counter import KINDS, RULES, count, count_tree, files

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUDGET = pathlib.Path(__file__).resolve().with_name("english_budget.json")
TARGETS = {"docs": 2, "program": 2, "comments": 4, "tests": 6}  # findings per 1,000 words


def read_budgets(path):
    """kind -> file -> findings, or None before the first --update."""
    return json.loads(path.read_text()) if path.exists() else None


def allowances(kind, counted, budgets):
    """file -> findings it may have. A moved file keeps its budget if its name stays."""
    if budgets is None:
        return {name: len(counts.findings) for name, counts in counted.items()}
    budget = budgets.get(kind, {})
    moved = {pathlib.Path(name).name: most for name, most in budget.items() if name not in counted}
    targets = {name: TARGETS[kind] * counts.words // 1000 for name, counts in counted.items()}
    return {name: budget.get(name, max(target, moved.get(pathlib.Path(name).name, 0))) for name, target in targets.items()}


def over_budget(tree, budgets):
    """A message with the place and rule of each finding, per file above its budget."""
    for kind in KINDS:
        for name, most in allowances(kind, tree[kind], budgets).items():
            findings = tree[kind][name].findings
            if len(findings) > most:
                places = "".join(f"\n  {name}:{line}: {rule}: {text}" for line, rule, text in findings)
                yield f"{name}: {len(findings)} findings in {kind}, budget {most} (STYLE.md){places}"


def lowered(tree, budgets):
    """The new budgets: files above the target of their kind."""
    new = {}
    for kind in KINDS:
        target = allowances(kind, tree[kind], {})
        most = allowances(kind, tree[kind], budgets)
        new[kind] = {name: min(most[name], len(counts.findings)) for name, counts in sorted(tree[kind].items())
                     if min(most[name], len(counts.findings)) > target[name]}
    return new


def tree_of(**texts):
    """The counts of made pages: docs_a="text" is the page docs/a.md."""
    tree = {kind: {} for kind in KINDS}
    for name, text in texts.items():
        for kind, counts in count(f"{name.replace('_', '/')}.md", text).items():
            tree[kind][f"{name.replace('_', '/')}.md"] = counts
    return tree


def rules_in(name, text):
    return [(kind, found.line, found.rule) for kind, counts in count(name, text).items() for found in counts.findings]


SENTENCES = {  # a finding, and the same without
    "of-start": ("Of a sweep the first trial runs.", "A sweep runs its first trial. Of course."),
    "headless": ("Which option fits is unclear.", "The right option is unclear. How to start"),
    "that-of": ("The limit is that of the group.", "The group's limit applies. It uses that."),
    "go-on": ("The trial goes on with one worker.", "The trial resumes with one worker."),
    "beside": ("It can not run.", "It cannot run, not once."),
    "refuse": ("A short file is refused.", "A short file is rejected."),
    "nobody": ("The direction is clear to nobody.", "The direction is unclear."),
    "tell": ("The file says so.", "The file contains it."),
    "wanted": ("--rounds: wanted at least 1, got 0", "--rounds: expected 1 or more, got 0"),
}


class Rules(unittest.TestCase):
    def test_find_the_bad_sentence_and_accept_the_good_one(self):
        self.assertEqual(list(RULES), list(SENTENCES))
        for rule, (bad, good) in SENTENCES.items():
            self.assertEqual([("docs", 1, rule)], rules_in("a.md", bad), bad)
            self.assertEqual([], rules_in("a.md", good), good)


class Pieces(unittest.TestCase):
    def test_pages_omit_code_and_generated_tables(self):
        text = "a\n\n```sh\nit says\n```\nthe `says\nso` key\n<!-- options: by x -->\n| it says |\n<!-- /options -->\n\n- two\n  lines say, or it\n  says\n\n| a | it says |\n"
        self.assertEqual([("docs", 12, "tell"), ("docs", 16, "tell")], rules_in("docs/a.md", text))

    def test_cpp_has_comments_and_sentences(self):
        text = 'int a;  // it says\n\n// a file that\n// says so\n/* it\n   says */\nF("says", "the file of a trial "\n  "says so");\nG(R"(a long raw text that says so)");\nH(\'"\', 1);\n'
        self.assertEqual([("comments", line, "tell") for line in (1, 3, 5)] + [("program", line, "tell") for line in (7, 9)],
                         rules_in("host/a.cpp", text))

    def test_python_has_docstrings_comments_and_sentences(self):
        text = '#!/usr/bin/says\n"""It says."""\nA = """a long text which says so"""\nB = \'a long text which says so\'  #it says\n'
        self.assertEqual([("comments", 2, "tell"), ("comments", 4, "tell"), ("program", 3, "tell"), ("program", 4, "tell")],
                         sorted(rules_in("tools/a.py", text)))

    def test_tests_have_comments_and_names(self):
        text = 'TEST(Sweep, SaysNothingOfSeeds) { F("a long text which says so"); }  // it says\n'
        self.assertEqual([("tests", 1, "nobody"), ("tests", 1, "tell"), ("tests", 1, "tell")], sorted(rules_in("tests/a_test.cpp", text)))

    def test_other_files_have_comments_or_sentences(self):
        self.assertEqual([("comments", 1, "tell")], rules_in("a/CMakeLists.txt", 'set(A "a long text which says so")\n'.replace("set", "# it says\nset")))
        self.assertEqual([("program", 1, "tell")], rules_in("a.json", '{"a": "a long text which says so"}'))
        self.assertEqual([], rules_in("docs/a.json", '{"a": "a long text which says so"}'))


class Budgets(unittest.TestCase):
    LONG = "word " * 1000

    def test_a_new_file_has_the_target_of_its_kind(self):
        self.assertEqual([], list(over_budget(tree_of(docs_a=self.LONG + "It says so and he says so."), {})))
        self.assertEqual(["docs/a.md: 1 findings in docs, budget 0 (STYLE.md)\n  docs/a.md:1: tell: It says so."],
                         list(over_budget(tree_of(docs_a="It says so."), {})))

    def test_a_file_above_its_budget_fails(self):
        tree = tree_of(docs_a="It says so and he says so.")
        self.assertEqual(1, len(list(over_budget(tree, {"docs": {"docs/a.md": 1}}))))
        self.assertEqual([], list(over_budget(tree, {"docs": {"docs/a.md": 2}})))

    def test_a_moved_file_keeps_its_budget(self):
        self.assertEqual([], list(over_budget(tree_of(docs_a="It says so."), {"docs": {"a.md": 1}})))

    def test_updates_lower_and_never_raise(self):
        tree = tree_of(docs_a="It says so.", docs_b="It says so and he says so.", docs_c="Good.", docs_d="It says so.")
        new = lowered(tree, {"docs": {"docs/a.md": 3, "docs/b.md": 1, "docs/c.md": 2, "docs/gone.md": 7}})
        self.assertEqual({"docs/a.md": 1, "docs/b.md": 1}, new["docs"])
        self.assertEqual({"docs/a.md": 1, "docs/b.md": 2, "docs/d.md": 1}, lowered(tree, None)["docs"])

    def test_every_file_keeps_its_budget(self):
        over = list(over_budget(count_tree(ROOT), read_budgets(BUDGET) or {}))
        self.assertFalse(over, "\n" + "\n".join(over))


class Files(unittest.TestCase):
    def test_are_listed_with_and_without_git(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name in ("README.md", "docs/decisions/1.md", "CHANGELOG.md", "build/a.cpp", "host/a.cpp", "host/a.png"):
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text("")
            self.assertEqual(["README.md", "host/a.cpp"], files(root))
            (root / ".gitignore").write_text("/build\n")
            subprocess.run(["git", "init", "-q", folder], check=True)
            self.assertEqual(["README.md", "host/a.cpp"], files(root))


def print_counts():
    for kind, counted in count_tree(ROOT).items():
        words, found = sum(c.words for c in counted.values()), sum(len(c.findings) for c in counted.values())
        print(f"{kind:10}{words:>10,} words{found:>7} findings{1000 * found / max(1, words):>7.2f} per 1,000, target {TARGETS[kind]}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--list"]:
        for path in map(pathlib.Path, sys.argv[2:]):
            name = str(path.resolve().relative_to(ROOT))
            for kind, counts in count(name, path.read_text()).items():
                for line, rule, text in counts.findings:
                    print(f"{name}:{line}: {kind}: {rule}: {text}")
    elif sys.argv[1:] == ["--counts"]:
        print_counts()
    elif sys.argv[1:] == ["--update"]:
        new = lowered(count_tree(ROOT), read_budgets(BUDGET))
        BUDGET.write_text(json.dumps(new, indent=1) + "\n")
        print(", ".join(f"{kind}: {sum(budget.values())} findings allowed in {len(budget)} files" for kind, budget in new.items()))
    else:
        unittest.main()
