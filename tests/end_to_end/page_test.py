#!/usr/bin/env python3
"""A report's page in headless Chromium: its figures are live, and it makes no requests. Skipped (77) without Chromium.

  page_test.py BACKPLANE [CHROMIUM]

At desktop and phone width, no script fails and an interactive figure replaces every drawing. Words neither overlap nor are cut. Pointing
at a mark shows its numbers, and a click on a legend fades the other series. Curves can be smoothed and can have a log axis. A figure can be
saved in three forms. The page sends no network request.
"""
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import made_search
from chromium import WORDS

EXPERIMENT = """
experiment: walk
env: {plugin: cartpole}
learner: {plugin: random, options: {horizon: 64}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 1}
budget: {iterations: 6}
monitors: [resources]
sweep: {grid: {rollout.num_env_runners: [1, 2], rollout.num_envs_per_env_runner: [1, 2]}, seeds: {n: 2}}
report: {kind: %s%s}
"""

# Runs in the page and writes its findings to an element at the end.
PROBE = "const found = {errors: [], texts: []};" + WORDS + r"""
addEventListener('error', event => found.errors.push(event.message));
addEventListener('unhandledrejection', event => found.errors.push(String(event.reason)));
document.addEventListener('securitypolicyviolation', event => found.errors.push('refused: ' + event.blockedURI + ' ' + event.violatedDirective));
for (const level of ['log', 'info', 'warn', 'error']) { console[level] = (...words) => found.errors.push(`console.${level}: ${words.join(' ')}`); }
const wait = ms => new Promise(done => setTimeout(done, ms));
async function probe() {
  for (let i = 0; i < 200 && document.documentElement.dataset.figures !== 'ready'; ++i) { await wait(100); }
  const figures = [...document.querySelectorAll('figure.figure')];
  found.live = Object.fromEntries(figures.map(figure => [figure.dataset.name, figure.dataset.live]));
  figures.forEach(wordsOf);
  const points = [...document.querySelectorAll('.live .mark-symbol path, .live .mark-rect path')];
  for (const point of points) {
    const box = point.getBoundingClientRect();
    if (!box.width) { continue; }
    const where = {bubbles: true, clientX: box.left + box.width / 2, clientY: box.top + box.height / 2};
    for (const kind of ['pointerover', 'pointermove', 'mouseover', 'mousemove']) {
      point.dispatchEvent(new (kind.startsWith('p') ? PointerEvent : MouseEvent)(kind, where));
    }
    await wait(20);
    found.tip = document.querySelector('#vg-tooltip-element')?.textContent ?? '';
    if (/seeds|state/.test(found.tip)) { break; }
  }
  const legend = document.querySelector('.live .role-legend-entry .role-legend-symbol path, .live .role-legend-symbol path');
  if (legend) {
    const before = document.querySelectorAll('.live [opacity="0.08"]').length;
    const box = legend.getBoundingClientRect();
    const where = {bubbles: true, clientX: box.left + 2, clientY: box.top + 2};
    for (const kind of ['pointerdown', 'pointerup', 'click']) {
      legend.dispatchEvent(new (kind.startsWith('p') ? PointerEvent : MouseEvent)(kind, where));
    }
    await wait(500);
    found.faded = document.querySelectorAll('.live [opacity="0.08"]').length - before;
  }
  const curves = figures.find(figure => figure.querySelector('.tools select') && figure.querySelector('.tools input'));
  if (curves) {
    const drawn = () => [...curves.querySelectorAll('.live .mark-line path')].map(path => path.getAttribute('d')).join();
    const change = async input => {
      const before = drawn();
      input.dispatchEvent(new Event('change'));
      await wait(1000);
      return drawn() !== before;
    };
    const select = curves.querySelector('.tools select'), log = curves.querySelector('.tools input');
    select.value = '5';
    found.smooths = await change(select);
    log.checked = true;
    found.logs = await change(log);
    found.saved = [];
    HTMLAnchorElement.prototype.click = function () { found.saved.push(this.download + ' ' + this.href.slice(0, 5)); };
    for (const button of curves.querySelectorAll('.tools button')) { button.click(); await wait(1500); }
  }
  found.asked = performance.getEntriesByType('resource').map(entry => entry.name);
  const place = document.createElement('pre');
  place.id = 'probe';
  place.textContent = JSON.stringify(found);
  document.body.append(place);
}
addEventListener('load', probe);
"""


def check(truth, sentence):
    if not truth:
        raise SystemExit("page_test: " + sentence)


def look(chromium, page, width, folder):
    arguments = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--log-level=3", "--disable-background-networking",
                 "--disable-component-update", "--no-first-run", f"--user-data-dir={folder / 'profile'}", "--host-resolver-rules=MAP * ~NOTFOUND",
                 f"--window-size={width},1200", "--virtual-time-budget=60000", "--dump-dom", page.as_uri()]
    dump = subprocess.run(arguments, capture_output=True, text=True, timeout=300).stdout
    told = re.search(r'<pre id="probe">(.*?)</pre>', dump, re.S)
    check(told, "the page's script did not come to its end")
    return json.loads(html.unescape(told.group(1)))


def main(program, chromium=None):
    program = os.path.abspath(program)
    chromium = chromium or shutil.which("chromium")
    if not chromium:
        print("no chromium (Debian package chromium)")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for kind, more, figure in (("parallel_efficiency", "", "parallel_efficiency_analysis"),
                                   ("comparison", ", baseline: {rollout.num_env_runners: 1, rollout.num_envs_per_env_runner: 1}", "training_curves"),
                                   ("search", "", "best_so_far")):
            (folder / "walk.yaml").write_text(EXPERIMENT % (kind, more))
            out = folder / kind
            if kind == "search":
                made_search.make(out, trials=40, options=8)
                subprocess.run([program, "report", str(out)], cwd=folder, check=True, stdout=subprocess.DEVNULL)
            else:
                subprocess.run([program, "run", "walk.yaml", "--quiet", "--out", str(out)], cwd=folder, check=True)
            page = out / "report" / f"{kind}_report.html"
            text = page.read_text()
            page.write_text(text.replace("<body>", f"<body><script>{PROBE}</script>", 1))
            for width in (1440, 500):
                found = look(chromium, page, width, folder)
                where = f"{kind} at {width} pixels: "
                check(not found["errors"], where + f"scripts fail: {found['errors']}")
                check(figure in found["live"] and set(found["live"].values()) == {"yes"}, where + f"figures: {found['live']}")
                check(not found["texts"], where + "; ".join(found["texts"][:8]))
                check(("number" if kind == "search" else "seeds") in found["tip"], where + f"a pointer learns '{found['tip']}'")
                check(found.get("faded", 0) > 0, where + "a click on the legend fades nothing")
                if kind == "comparison":
                    check(found["smooths"] and found["logs"], where + "smoothing or the log axis changes no curve")
                    names = [saved.split()[0] for saved in found["saved"]]
                    check(names == ["training_curves.svg", "training_curves.png", "training_curves.csv"], where + f"saved {found['saved']}")
                check(not found["asked"], where + f"asked for {found['asked']}")
    print("the page lives: figures, tips, legends, no network")


if __name__ == "__main__":
    main(*sys.argv[1:])
