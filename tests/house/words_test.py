#!/usr/bin/env python3
"""The hand-written pages of README, docs and plugins keep a budget of words.

usage: words_test.py [-v] | --print

Words of code blocks and of generated tables do not count, nor do decisions, docs/reference, docs/performance.md and the changelog. A new
page needs its words from others: merge pages, and delete text that a generated or linked page repeats. Then lower the budget; never
raise it. --print prints the words of each page.
"""
import pathlib
import re
import sys
import unittest

from english_counter import NOT_READ, count, files

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_WORDS = 45_000
PAGES = re.compile(r"(?:README|(?:docs|plugins)/.*)\.md$")
WRITTEN_BY_SCRIPTS = {"docs/performance.md"}  # scripts/bench --page


def words(root):
    """Page -> words."""
    pages = [name for name in files(root) if PAGES.match(name) and name not in WRITTEN_BY_SCRIPTS]
    return {name: count(name, (root / name).read_text())["docs"].words for name in pages}


class Words(unittest.TestCase):
    def test_pages_keep_the_budget(self):
        self.assertLessEqual(sum(words(ROOT).values()), MOST_WORDS, "words of the pages; --print lists them")

    def test_counts_hand_written_pages(self):
        counted = words(ROOT)
        self.assertLessEqual({"README.md", "docs/reports.md", "docs/guide/env.md", "plugins/learners/ppo/README.md"}, set(counted))
        self.assertFalse([name for name in counted if NOT_READ.match(name) or name.startswith(("bench/", "tests/"))])
        text = "# Two words\n```sh\nbackplane run FILE\n```\n<!-- options: env.x -->\n| a | b |\n<!-- /options -->\n\n| three | more words |\n"
        self.assertEqual(5, count("docs/a.md", text)["docs"].words)


if __name__ == "__main__":
    if sys.argv[1:] == ["--print"]:
        counted = words(ROOT)
        for name in sorted(counted, key=counted.get):
            print(f"{counted[name]:7,} {name}")
        print(f"{sum(counted.values()):7,} in total, budget {MOST_WORDS:,}")
    else:
        unittest.main()
