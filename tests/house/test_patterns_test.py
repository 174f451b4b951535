"""test_patterns_test.py: every pattern behind WITH_THREADS, RACES or NIGHTLY of a CMakeLists.txt selects a test of its folder."""
import fnmatch
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CALL = re.compile(r"backplane_add_test\((.*?)\)", re.DOTALL)
TEST = re.compile(r"^\s*TEST(?:_F|_P)?\((\w+), (\w+)\)", re.MULTILINE)
LISTS = ("WITH_THREADS", "RACES", "NIGHTLY")


def words_behind(keyword, words):
    """The words between a keyword and the next word in capitals."""
    after = words[words.index(keyword) + 1:] if keyword in words else []
    end = next((i for i, word in enumerate(after) if re.fullmatch(r"[A-Z_]{3,}", word)), len(after))
    return after[:end]


def names_in(folder):
    """Test names of a folder's sources; a suite with parameters has prefixes and numbers."""
    for source in folder.glob("**/*.cpp"):
        for suite, name in TEST.findall(source.read_text()):
            yield from (f"{suite}.{name}", f"x/{suite}.{name}/0")


def patterns_without_a_test(folder, text):
    names = list(names_in(folder))
    for call in CALL.findall(re.sub(r"#.*", "", text)):
        words = call.split()
        patterns = [pattern for keyword in LISTS for pattern in words_behind(keyword, words) if "$" not in pattern]
        yield from (pattern for pattern in patterns if not fnmatch.filter(names, pattern))


class Patterns(unittest.TestCase):
    def test_select_at_least_one_test(self):
        files = list((ROOT / "tests").rglob("CMakeLists.txt"))
        self.assertGreater(len(files), 20)
        for file in files:
            self.assertEqual([], list(patterns_without_a_test(file.parent, file.read_text())), file)

    def test_finds_patterns_without_a_test(self):
        folder = ROOT / "tests/host/trial/workers"
        call = "backplane_add_test(workers_test SOURCES group_test.cpp WITH_THREADS Group.* NIGHTLY Group.NoSuch* NoSuite.*)"
        self.assertEqual(["Group.NoSuch*", "NoSuite.*"], list(patterns_without_a_test(folder, call)))


unittest.main()
