#!/usr/bin/env python3
"""A running batch's page in headless Chromium, opened from the disk. Skipped (77) without Chromium.

  live_page_test.py BACKPLANE [ORACLE]

While the batch runs, trials can be sorted, filtered and picked. The address contains the choices, so they survive a reload, which waits
until the reader is idle. A killed writer is started again. Even after a Ctrl-C the page becomes the report and no longer changes. It opens
from a copied folder, and the page of the parent folder links to it. With ORACLE, a virtual environment with axe-core's script, neither page
has a serious finding, at desktop or phone width, in light or dark mode. The writer ends with a killed supervisor.
"""
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from chromium import IN_SIGHT, Chromium

EXPERIMENT = """
experiment: walk
env: {plugin: cartpole}
learner: {plugin: ppo, options: {train_batch_size: 1024, minibatch_size: 32, num_epochs: 20}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 4}
resources: {cpus: 1}
sweep: {list: [{name: short, budget.wall_time: 1s}, {name: long, budget.wall_time: 600s}], seeds: {n: 2}}
budget: {wall_time: 1s}
monitors: [resources]
"""


def check(truth, sentence):
    if not truth:
        raise SystemExit("live_page_test: " + sentence)


def writers(out):
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
        except OSError:
            continue
        if b"--live" in words and str(out).encode() in words:
            found.append(int(entry.name))
    return found


def wait_for(look, seconds, sentence):
    end = time.monotonic() + seconds
    while not (found := look()):
        check(time.monotonic() < end, sentence)
        time.sleep(0.1)
    return found


def look_at_running(browser, out, axe):
    page = out / "index.html"

    def has_two_curves():
        browser.open(page.as_uri())
        return browser.evaluate("picks.length") > 1

    wait_for(has_two_curves, 90, "no page with the curves of two trials came")  # with one alone, a legend has nothing to fade
    rows = "[...document.querySelectorAll('table[data-id=trials] tbody tr:not(.more)')].filter(row => !row.hidden).length"
    check(browser.evaluate(rows) == 4, f"the table should have four trials, not {browser.evaluate(rows)}")
    browser.click("table[data-id=trials] th[data-key=state] button")
    browser.click("table[data-id=trials] input[type=checkbox]")  # it was ticked
    check(len(browser.evaluate("picks")) < browser.evaluate("live.picks.length"), "a box that is emptied should take its curves away")
    browser.click("table[data-id=trials] input[type=checkbox]")
    browser.evaluate("""(() => { const box = document.querySelector('.tools input[type=search]'); box.value = 'seed=1';
                        box.dispatchEvent(new Event('input')); })()""")
    chosen = browser.evaluate("location.hash")
    for word in "sort-trials=state", "filter-trials=seed%3D1", "picks=":
        check(word in chosen, f"the address should say {word}, and is {chosen}")
    check(browser.evaluate(rows) == 2, "two trials have the seed 1")
    pressed = browser.evaluate("dispatchEvent(new Event('keydown')) && (window.isBefore = Date.now())")
    browser.evaluate(IN_SIGHT % "visible")
    browser.wait_for("!window.isBefore && document.documentElement.dataset.figures === 'ready' && " + IN_SIGHT % "hidden", 120)
    stayed = browser.evaluate("performance.timeOrigin") - pressed
    check(stayed >= 5000, f"after a key the page should stay for 5 s, and stayed for {stayed} ms")
    check(browser.evaluate("location.hash") == chosen, "what was chosen should outlive the loading")
    check(browser.evaluate(rows) == 2, "the filter should outlive the loading")
    check(browser.evaluate("document.querySelector('th[data-key=state]').ariaSort") != "none", "the order should outlive the loading")
    lines = "document.querySelectorAll('figure[data-name=curves] .live .mark-line path').length"
    check(browser.evaluate(lines) > 0, "a picked trial has a curve")
    tip = browser.evaluate("""(async () => {
      const point = [...document.querySelectorAll('figure[data-name=curves] .live .role-mark.mark-symbol path')].findLast(one => one.getBoundingClientRect().width);
      const box = point.getBoundingClientRect(), where = {bubbles: true, clientX: box.left + box.width / 2, clientY: box.top + box.height / 2};
      for (const kind of ['pointerover', 'pointermove', 'mouseover', 'mousemove']) {
        point.dispatchEvent(new (kind.startsWith('p') ? PointerEvent : MouseEvent)(kind, where));
      }
      await new Promise(done => setTimeout(done, 200));
      return document.querySelector('#vg-tooltip-element')?.textContent ?? '';
    })()""")
    check("environment steps" in tip and "trials" in tip, f"a pointer on a curve learns '{tip}'")
    faded = "document.querySelectorAll('figure[data-name=curves] .live [opacity=\"0.08\"]').length"
    check(browser.evaluate(faded) == 0, "nothing is faded before a click")
    browser.click("figure[data-name=curves] .role-legend-symbol path")
    browser.wait_for(faded + " > 0")
    browser.evaluate("window.isBefore = true")
    browser.evaluate(IN_SIGHT % "visible")
    browser.wait_for("!window.isBefore && document.documentElement.dataset.figures === 'ready' && " + IN_SIGHT % "hidden", 120)
    browser.wait_for(faded + " > 0")  # the legend's selection survives the reload, too
    look_at_all_sizes(browser, page, axe)
    browser.open(page.as_uri())
    for times in 137, 7777:  # as many steps as a long training has
        browser.evaluate(f"""(async () => {{
          for (const curves of Object.values(live.panels)) {{ for (const curve of Object.values(curves)) {{ curve[0] = curve[0].map(step => step * {times}); }} }}
          for (const figure of figures) {{ await show(figure); }}
        }})()""")
        flaws = browser.flaws_of_words()
        check(not flaws, f"{times} times as many steps: " + "; ".join(flaws[:8]))


def look_at_all_sizes(browser, page, axe):
    for width, height, dark in ((1440, 900, False), (1440, 900, True), (390, 844, False), (390, 844, True)):
        browser.open(page.as_uri(), width, height, dark)
        where = f"{page.parent.name}, {width} pixels{', dark' if dark else ''}: "
        flaws = browser.flaws_of_words()
        check(not flaws, where + "; ".join(flaws[:8]))
        check(browser.evaluate("document.documentElement.scrollWidth") == width, where + "it scrolls sideways")
        found = browser.barriers(axe) if axe else []
        check(not found, where + f"axe finds {found}")


def look_at_the_end(browser, folder, out, axe):
    page = out / "index.html"
    browser.evaluate(IN_SIGHT % "visible")
    browser.wait_for("document.querySelector('#live') === null && document.documentElement.dataset.figures === 'ready'", 60)
    before = page.read_bytes()
    browser.evaluate("window.untouched = true")
    time.sleep(7)
    check(browser.evaluate("window.untouched") is True, "after the end the page should not load itself anew")
    check(page.read_bytes() == before, "after the end nobody should write the page")
    links = browser.evaluate("[...document.querySelectorAll('#files a, table a')].map(link => decodeURIComponent(link.pathname))")
    missing = [link for link in links if not pathlib.Path(link).exists()]
    check(len(links) > 8 and not missing, f"links that lead nowhere: {missing} of {len(links)}")
    copy = folder / "copied"
    shutil.copytree(out.parent, copy)
    look_at_all_sizes(browser, copy / out.name / "index.html", axe)
    browser.call("Page.navigate", url=(copy / "index.html").as_uri())
    browser.wait_for("document.querySelector('table[data-id=experiments] a')?.textContent === 'walk'")
    browser.evaluate("document.querySelector('table[data-id=experiments] a').click()")
    browser.wait_for("document.querySelector('nav') && location.pathname.endsWith('/copied/walk/index.html')")


def main(program, oracle=None):
    program, axe = os.path.abspath(program), next(pathlib.Path(oracle or "/nowhere").glob("lib/*/site-packages/axe_playwright_python/axe.min.js"), None)
    try:
        browser = Chromium()
    except FileNotFoundError as error:
        print(error)
        sys.exit(77)
    with browser, tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = pathlib.Path(name)
        out = folder / "results" / "walk"
        (folder / "walk.yaml").write_text(EXPERIMENT)
        batch = subprocess.Popen([program, "run", "walk.yaml", "--quiet", "--jobs", "1", "--out", str(out)], cwd=folder, stdout=subprocess.DEVNULL)
        stack.callback(lambda: batch.poll() is None and (batch.kill(), batch.wait(), time.sleep(2)))
        wait_for((out / "index.html").exists, 90, "no page came")
        first = wait_for(lambda: writers(out), 5, "nobody writes the page")
        look_at_running(browser, out, axe)
        os.kill(first[0], signal.SIGKILL)
        wait_for(lambda: [pid for pid in writers(out) if pid != first[0]], 30, "nobody started the writer again")
        batch.send_signal(signal.SIGINT)
        check(batch.wait(60) == 130, "the batch should end as asked for")
        check(not writers(out), "the writer should end with the batch")
        look_at_the_end(browser, folder, out, axe)
        check(not browser.complaints(), f"scripts and network: {browser.complaints()}")

        batch = subprocess.Popen([program, "run", "walk.yaml", "--quiet", "--jobs", "1", "--out", str(out) + "_killed"], cwd=folder, stdout=subprocess.DEVNULL)
        killed = pathlib.Path(str(out) + "_killed")
        wait_for(lambda: writers(killed), 90, "nobody writes the page")
        batch.kill()
        batch.wait()
        wait_for(lambda: not writers(killed), 5, "the writer of a killed supervisor should end")
        time.sleep(1)  # its trials see it, too
    print("the page lives while its batch does")


if __name__ == "__main__":
    main(*sys.argv[1:])
