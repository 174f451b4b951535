#!/usr/bin/env python3
"""Budgets of the host's code: lines per module, and places that read JSON by a key instead of through a record.

usage: size_test.py [-v] | --print [ROOT]

If a module exceeds its budget, delete or merge code, or raise the budget in a separate commit that gives the reason. --print prints the
present counts of the tree at ROOT (default: this one).
"""
import collections
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = {".cpp", ".hpp", ".h"}
# Lines of C++ when the budgets were set, plus 3 %.
BUDGETS = {
    "host/batch": 9810,
    "host/cli": 4790,
    "host/client": 90,
    "host/embed": 2345,
    "host/libs/arguments": 1430,
    "host/libs/base": 2990,
    "host/libs/contract": 2345,
    "host/libs/expression": 680,
    "host/libs/log": 130,
    "host/libs/machine": 1555,
    "host/libs/plugin": 2465,
    "host/libs/record": 6735,
    "host/libs/statistics": 1930,
    "host/libs/text": 1310,
    "host/libs/tf_events": 550,
    "host/libs/yaml": 1640,
    "host/plan": 9670,
    "host/screen": 1820,
    "host/seal": 40,
    "host/shim": 1200,
    "host/trial": 23055,
    "tools/archive": 285,
    "tools/author": 320,
    "tools/export": 155,
    "tools/policy": 910,
    "tools/report": 20860,
    "tools/runs": 200,
    "tools/study": 4090,
    "tools/validate": 6460,
}
# JSON has its keys in records, in the reader of experiment files, and in the documents that reports write.
KEYS_ALLOWED_IN = ("/record/", "/config/", "/report/", "host/include/")
TEXT = r'"[^"\n]*"'
BY_KEY = re.compile(rf"\[{TEXT}\]|\.(?:at|value|contains|find)\({TEXT}")
MOST_BY_KEY = 103  # searches in texts match, too


def sources(root):
    """Paths of the C++ files under host/ and tools/, without the interface of plugins."""
    listed = subprocess.run(["git", "ls-files", "host", "tools"], cwd=root, capture_output=True, text=True)
    names = listed.stdout.split() if listed.returncode == 0 else [str(p.relative_to(root)) for d in ("host", "tools") for p in (root / d).rglob("*")]
    return [name for name in names if pathlib.Path(name).suffix in SOURCES and not name.startswith("host/include/") and (root / name).exists()]


def module_of(name):
    """host/trial/rollout/pool.cpp -> host/trial; a library of host/libs and a tool count as one module each."""
    parts = name.split("/")
    return "/".join(parts[:3] if parts[1] == "libs" else parts[:2])


def lines(root):
    counts = collections.Counter()
    for name in sources(root):
        counts[module_of(name)] += len((root / name).read_text().splitlines())
    return counts


def keys(root):
    """Places that take a value of JSON by its key, by file."""
    counts = collections.Counter()
    for name in sources(root):
        if not any(part in name for part in KEYS_ALLOWED_IN):
            counts[name] += len(BY_KEY.findall((root / name).read_text()))
    return +counts


class Size(unittest.TestCase):
    def test_modules_keep_their_budgets(self):
        counts = lines(ROOT)
        self.assertEqual(set(BUDGETS), set(counts), "modules with a budget, modules there are")
        self.assertEqual([], [f"{name}: {counts[name]} lines, budget {BUDGETS[name]}" for name in sorted(counts) if counts[name] > BUDGETS[name]])

    def test_json_is_read_through_records(self):
        self.assertLessEqual(sum(keys(ROOT).values()), MOST_BY_KEY, keys(ROOT).most_common(10))

    def test_a_key_is_counted(self):
        found = BY_KEY.findall('a["x"] = b.at("y/z"); c.find("k"); v.value("k", 0); if (m.contains("k")) n[0] = o.at(key);')
        self.assertEqual(['["x"]', '.at("y/z"', '.find("k"', '.value("k"', '.contains("k"'], found)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--print"]:
        root = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else ROOT
        counts = lines(root)
        for name in sorted(counts):
            print(f"{counts[name]:6} {name}")
        host = sum(count for name, count in counts.items() if name.startswith("host/"))
        print(f"{host:6} host\n{sum(counts.values()) - host:6} tools\n{sum(keys(root).values()):6} JSON by key")
    else:
        unittest.main()
