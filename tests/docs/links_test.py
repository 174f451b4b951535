#!/usr/bin/env python3
"""Every relative link of every Markdown page has a target: a file or folder, and a heading if the link names one. README.md leads to every
page.

usage: links_test.py [-v]

Links to the web are not followed. A heading's anchor is the one that GitHub makes.
"""
import contextlib
import pathlib
import re
import subprocess
import tempfile
import unittest
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
MADE_HERE = {("build",), ("data",), ("outputs",)}  # ignored by git, so a link into them works only on one machine

FENCE = re.compile(r"^ {0,3}(```|~~~).*?^ {0,3}\1[`~]*[ \t]*$", re.M | re.S)
CODE_SPAN = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.S)
INLINE = re.compile(r"\]\(\s*<?([^)\s>]+)>?(?:\s+[\"'(][^)]*)?\)")
REFERENCE = re.compile(r"^ {0,3}\[[^\]^]+\]:\s*<?([^\s>]+)", re.M)
HTML = re.compile(r"<(?:a|img|source)\b[^>]*?\b(?:href|src|srcset)=[\"']([^\"']+)", re.I)
HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(.+?)[ \t]*#*[ \t]*$", re.M)
NAMED = re.compile(r"<a\b[^>]*?\b(?:id|name)=[\"']([^\"']+)", re.I)


def pages(root):
    for path in sorted(root.rglob("*.md")):
        parts = path.relative_to(root).parts
        if parts[:1] not in MADE_HERE and not any(part.startswith(".") for part in parts):
            yield path


def anchor(heading):
    """As GitHub does it: the text without its markup, in lower case, punctuation removed, each blank a dash."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r" ", "-", re.sub(r"[^\w\- ]", "", text.lower()))


def anchors(text):
    text = FENCE.sub("", text)
    found = set(NAMED.findall(text))
    for heading in HEADING.findall(text):
        name = first = anchor(heading)
        number = 0
        while name in found:
            number += 1
            name = f"{first}-{number}"
        found.add(name)
    return found


def targets(text):
    text = CODE_SPAN.sub("", FENCE.sub("", text))
    for pattern in (INLINE, REFERENCE, HTML):
        yield from pattern.findall(text)


def broken(root):
    """(page, target, reason) of each broken link."""
    for page in pages(root):
        for target in targets(page.read_text(encoding="utf-8")):
            if re.match(r"[a-z][a-z0-9+.-]*:", target, re.I):
                continue
            where, _, name = target.partition("#")
            path = (page.parent / urllib.parse.unquote(where)).resolve() if where else page
            shown = str(page.relative_to(root))
            if not path.is_relative_to(root):
                yield shown, target, "it leaves the tree"
            elif not path.exists():
                yield shown, target, "there is no such file"
            elif path.relative_to(root).parts[:1] in MADE_HERE:
                yield shown, target, "git ignores what is there"
            elif name and (path.suffix != ".md" or urllib.parse.unquote(name) not in anchors(path.read_text(encoding="utf-8"))):
                yield shown, target, "it has no such heading"


def is_known_to_git(page):
    """Also without git. A plugin under development has a page before anything names it."""
    asked = subprocess.run(["git", "-C", ROOT, "ls-files", "--", page], capture_output=True, text=True)
    return asked.returncode != 0 or bool(asked.stdout.strip())


def unreached(root):
    """Pages that README.md does not lead to. A link to a folder leads to its pages."""
    missing, follow = set(pages(root)), [root / "README.md"]
    while follow:
        page = follow.pop()
        if page not in missing:
            continue
        missing.remove(page)
        for target in targets(page.read_text(encoding="utf-8")):
            path = (page.parent / urllib.parse.unquote(target.partition("#")[0])).resolve()
            follow += path.glob("*.md") if path.is_dir() else [path]
    return sorted(str(page.relative_to(root)) for page in missing)


@contextlib.contextmanager
def tree(files):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder).resolve() / "tree"
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        yield root


class Links(unittest.TestCase):
    def test_every_link_has_a_target(self):
        self.assertGreater(len(list(pages(ROOT))), 40)
        self.assertEqual([], [f"{page}: ({target}): {why}" for page, target, why in broken(ROOT)])

    def test_the_readme_leads_to_every_page(self):
        self.assertEqual([], [page for page in unreached(ROOT) if is_known_to_git(page)])

    def test_the_index_lists_every_decision(self):
        folder = ROOT / "docs" / "decisions"
        index = re.findall(r"^\| \[(\d+)\]\((\d+)-\S+\.md\)", (folder / "README.md").read_text(encoding="utf-8"), re.M)
        self.assertEqual([], [pair for pair in index if int(pair[0]) != int(pair[1])])
        self.assertEqual(sorted(page.name[:4] for page in folder.glob("[0-9]*.md")), sorted(number for _, number in index))

    def test_finds_a_page_without_links_to_it(self):
        files = {"README.md": "[a](docs/a.md#x) [b](docs/all)", "docs/a.md": "[up](../README.md)", "docs/all/b.md": "[c](../c.md)",
                 "docs/c.md": "", "docs/lost.md": "[other](lost_too.md)", "docs/lost_too.md": "[a](a.md)"}
        with tree(files) as root:
            self.assertEqual(["docs/lost.md", "docs/lost_too.md"], unreached(root))

    # The anchors are those that GitHub gives these headings.
    def test_anchors_equal_githubs(self):
        for heading, expected in [("The trial contract", "the-trial-contract"),
                                  ("`kind: parallel_efficiency`", "kind-parallel_efficiency"),
                                  ("Foo & bar", "foo--bar"),
                                  ("What stands, and what only earns", "what-stands-and-what-only-earns"),
                                  ("[0.1.0] - 2026-11-24", "010---2026-11-24"),
                                  ("An [env](env.md) in C++", "an-env-in-c"),
                                  ("I ♥ unicode", "i--unicode"),
                                  ("Grüße", "grüße")]:
            self.assertEqual(expected, anchor(heading))

    def test_numbers_a_second_heading_of_the_same_name(self):
        self.assertEqual({"a", "a-1", "a-2", "own"}, anchors('# A\n## A\n```sh\n# no heading\n```\n### A\n<a id="own"></a>\n'))

    def test_finds_only_broken_links(self):
        files = {
            "README.md": "[a](docs/a.md) [b](docs/a.md#one) [top](#here) ![p](docs/p.png) [web](https://example.org/#x) [d](docs)\n"
                         "# Here\n`[not](a_link)` [r] <img src=\"docs/q.png\">\n\n[r]: docs/missing.md 'title'\n",
            "docs/a.md": "# One\n[up](../README.md#here) [gone](b.md) [no](#two) [out](../../x.md) [made](../build/x)\n"
                         "```sh\n[code](nowhere)\n```\n[picture](p.png#x) [titled](c.md \"c\") [absolute](/docs/a.md)\n",
            "docs/p.png": b"\x89PNG", "build/x": "", "build/page.md": "[ignored](nowhere)", ".venv/page.md": "[ignored](nowhere)",
            "../x.md": "",
        }
        with tree(files) as root:
            self.assertEqual({("README.md", "docs/missing.md"), ("README.md", "docs/q.png"), ("docs/a.md", "b.md"),
                              ("docs/a.md", "#two"), ("docs/a.md", "../../x.md"), ("docs/a.md", "../build/x"),
                              ("docs/a.md", "p.png#x"), ("docs/a.md", "c.md"), ("docs/a.md", "/docs/a.md")},
                             {(page, target) for page, target, _ in broken(root)})


if __name__ == "__main__":
    unittest.main()
