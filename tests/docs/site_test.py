#!/usr/bin/env python3
"""Builds the site (scripts/docs) and checks it: every link leads to a file and an anchor, no page fetches from another host, search finds words.

usage: site_test.py [--site FOLDER]

Exit 77 if Zensical cannot be installed. With Chromium, a page is also opened from the disk and searched.
"""
import argparse
import html.parser
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/end_to_end"))
from chromium import Chromium  # noqa: E402

SKIPPED = 77
PARTS = ("Start", "Guides", "Concepts", "Reference")
LEAST_PAGES = 100
FETCHED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "video": "src", "object": "data"}
OTHER_HOST = re.compile(r"(?:https?:)?//")
CSS_FETCH = re.compile(r"(?:url\(\s*|@import\s+)[\"']?((?:https?:)?//[^\"')\s]+)")
# Words a reader may look for, each with a page that must be among the results.
WORDS = {"evaluation": "docs/experiment-file.html", "Slurm": "docs/cluster.html", "film": "docs/experiments.html", "resume": "docs/experiments.html",
         "checkpoint": "docs/architecture.html", "seeds": "docs/experiment-file.html", "gate": "docs/comparisons.html",
         "pruner": "docs/search.html", "Gymnasium": "plugins/envs/gymnasium/index.html", "minibatch_size": "plugins/learners/ppo/index.html",
         "exit": "docs/commands.html", "TensorBoard": "plugins/monitors/tensorboard/index.html", "LibTorch": "docs/installation.html",
         "GPU": "docs/limitations.html", "NaN": "docs/troubleshooting.html", "Optuna": "docs/search.html", "Holm": "docs/comparisons.html",
         "MuJoCo": "docs/guide/mujoco-task.html", "RLlib": "docs/coming-from/rllib-tune.html", "shim": "docs/architecture.html",
         "replay buffer": "docs/guide/off-policy-learner.html", "export policy": "docs/reference/commands.html", "onnx": "docs/policies.html",
         **dict.fromkeys(("compare algorithms", "custom environment", "vectorized env", "frame stack", "hyperparameters", "learning rate",
                          "callback", "wrapper", "early stopping", "pruning"), "docs/glossary.html")}

# The search is in a shadow tree. inside(CHECK): the first element of the page for which CHECK holds.
INSIDE = """(() => { const check = %s; const walk = root => { for (const one of root.querySelectorAll('*')) {
  const found = check(one) ? one : one.shadowRoot && walk(one.shadowRoot); if (found) return found; } return null; };
  return walk(document); })()"""
INPUT = INSIDE % "one => one.tagName === 'INPUT' && one.getAttribute('role') === 'combobox'"
RESULTS = INSIDE % "one => !one.children.length && /^[1-9][0-9]* results?$/.test(one.textContent.trim())"


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.fetched = set(), [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.ids |= {values.get("id"), values.get("name")}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if tag in FETCHED and values.get(FETCHED[tag]) and values.get("rel") != "canonical":
            self.fetched.append(values[FETCHED[tag]])


def broken(site, pages):
    for path, page in pages.items():
        for link in page.links + page.fetched:
            url = urllib.parse.urlsplit(link)
            if url.scheme or url.netloc:
                continue
            target = (path.parent / urllib.parse.unquote(url.path)).resolve() if url.path else path
            target = target / "index.html" if target.is_dir() else target
            name = urllib.parse.unquote(url.fragment)
            if not target.exists():
                yield f"{path.relative_to(site)}: {link}: there is no such file"
            elif name and target in pages and name not in pages[target].ids and not name.startswith("__"):
                yield f"{path.relative_to(site)}: {link}: there is no such place in the page"


def fetches(site, pages):
    for path, page in pages.items():
        yield from (f"{path.relative_to(site)}: fetches {link}" for link in page.fetched if OTHER_HOST.match(link))
    for path in site.rglob("*.css"):
        yield from (f"{path.relative_to(site)}: fetches {link}" for link in CSS_FETCH.findall(path.read_text(encoding="utf-8")))


def not_found(site):
    items = json.loads((site / "search.json").read_text(encoding="utf-8"))["items"]
    assert json.loads((site / "search.js").read_text(encoding="utf-8").partition("=")[2].strip(" ;\n"))["items"] == items, "two indexes"
    yield from (f"search: leads to {item['location']}" for item in items if item["location"].startswith(("docs/decisions/", "configs/")))
    for word, page in WORDS.items():
        texts = [item["title"] + item["text"] for item in items if item["location"].partition("#")[0] == page]
        if not any(word.lower() in text.lower() for text in texts):
            yield f"search: '{word}' does not lead to {page}"


def in_browser(site):
    """Requests of a page that leave the disk, also while the search is used."""
    with Chromium() as browser:
        browser.call("Page.navigate", url=(site / "docs/search.html").as_uri())
        browser.wait_for("document.readyState === 'complete'", 200)
        browser.wait_for(f"(document.querySelector('.md-search__button').click(), Boolean({INPUT}))", 60)
        browser.evaluate(f"{INPUT}.focus()")
        browser.call("Input.insertText", text="rollout workers")
        browser.wait_for(f"Boolean({RESULTS})", 100)
        asked = [event["params"]["request"]["url"] for event in browser.events if event.get("method") == "Network.requestWillBeSent"]
    return [f"a request to {url}" for url in asked if not url.startswith(("file:", "data:", "blob:", "about:"))]


def wrong(site):
    site = site.resolve()
    pages = {path: Page(path) for path in site.rglob("*.html") if path.relative_to(site).parts[0] not in ("abi", "gallery", "404.html")}
    if len(pages) < LEAST_PAGES:
        yield f"expected {LEAST_PAGES} pages or more, got {len(pages)}"
    yield from broken(site, pages)
    yield from fetches(site, pages)
    yield from not_found(site)
    start = (site / "index.html").read_text(encoding="utf-8")
    yield from (f"index.html: no part {part}" for part in PARTS if part not in start)
    try:
        yield from in_browser(site)
    except FileNotFoundError as error:
        print(f"not opened in a browser: {error}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--site", type=pathlib.Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        site = args.site or pathlib.Path(folder) / "site"
        if not args.site:
            done = subprocess.run([ROOT / "scripts/docs", "--out", site])
            if done.returncode:
                return SKIPPED if done.returncode == SKIPPED else 1
        found = list(wrong(site))
    print("\n".join(found) or "the site is whole")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
