#!/usr/bin/env python3
"""Films of episodes, as `backplane render` writes them, read by an XML parser.

  film_test.py BACKPLANE FIXTURES
"""
import base64
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

SVG = "{http://www.w3.org/2000/svg}"
GRID = """
experiment: fly
env: {plugin: uav_grid, options: {n_uavs: 12, n_obstacles: 30, grid_size: 20, max_steps: 60}}
learner: {plugin: uav_scripted}
budget: {iterations: 1}
evaluation: {episodes: 3}
sweep: {list: [{name: "<script>alert(1)</script> & <b>", learner.options.policy: greedy}, {name: stay, learner.options.policy: stay}]}
"""
STRAIGHT = "<script>alert(1)</script> & <b>"
OTHER = """
experiment: other
env: {plugin: %s}
learner: {plugin: random, options: {horizon: 8}}
budget: {iterations: 1}
evaluation: {episodes: 2}
"""


def check(truth, sentence):
    if not truth:
        raise SystemExit("film_test: " + sentence)


class Program:
    def __init__(self, file, folder, fixtures):
        self.file, self.folder = pathlib.Path(file).resolve(), folder
        self.environment = dict(os.environ, BACKPLANE_PLUGIN_PATH=str(pathlib.Path(fixtures).resolve()))

    def call(self, *words):
        return subprocess.run([self.file, *words], cwd=self.folder, env=self.environment, capture_output=True, text=True)

    def run(self, text, out):
        (self.folder / "experiment.yaml").write_text(text)
        done = self.call("run", "experiment.yaml", "--quiet", "--out", out)
        check(done.returncode == 0, "run: " + done.stderr)

    def refused(self, words, sentence):
        done = self.call("render", *words)
        check(done.returncode == 1, f"render {words} ended with {done.returncode}")
        check(sentence in done.stderr, f"render {words} does not say '{sentence}' but: {done.stderr}")

    def film(self, *words):
        to = self.folder / "film.svg"
        to.unlink(missing_ok=True)
        done = self.call("render", *words, "--to", to)
        check(done.returncode == 0, "render: " + done.stderr)
        return done.stdout, ElementTree.parse(to).getroot()


def frames_of(root):
    return [g for g in root.iter(SVG + "g") if g.get("class", "").split()[:1] == ["f"]]


def text_of(element):
    return " ".join(element.itertext())


def grid_films(program):
    program.run(GRID, "fly")
    said, root = program.film("fly", STRAIGHT, "--episode", "1")
    steps = int(re.search(r": (\d+) steps", said)[1])
    frames = frames_of(root)
    check(len(frames) == steps + 1, f"{len(frames)} frames of {steps} steps")
    check([f.get("visibility") for f in frames] == ["hidden"] * steps + ["visible"], "a still viewer should see the last frame")
    delays = [float(re.search(r"animation-delay: (-[\d.]+)s", f.get("style"))[1]) for f in frames]
    check(all(abs(b - a - 0.2) < 1e-6 for a, b in zip(delays, delays[1:])), f"frames are not 0.2 s apart: {delays}")
    for t, frame in enumerate(frames):
        counts = re.search(r"t = (\d+) of 60: (\d+) flying, (\d+) arrived, (\d+) crashed", text_of(frame))
        check(counts and int(counts[1]) == t, f"frame {t} does not tell its time: {text_of(frame)}")
        flying, arrived, crashed = (int(counts[i]) for i in (2, 3, 4))
        check(flying + arrived + crashed == 12, f"frame {t} has lost a UAV")
        kinds = [child.tag for child in frame.iter()]
        check(kinds.count(SVG + "circle") == flying, f"frame {t} draws {kinds.count(SVG + 'circle')} UAVs and not {flying}")
    check(f"success rate {arrived / 12:.4g}" in text_of(root), "the caption is of another episode")
    check(not list(root.iter(SVG + "script")) and not list(root.iter(SVG + "b")), "a name has become markup")
    check(STRAIGHT in root.find(SVG + "title").text, "the title lost the point's name")
    again = program.film("fly", STRAIGHT, "--episode", "1")[0]
    check(again == said, "the same episode was played twice with different results")
    check(program.film("fly", STRAIGHT, "--episode", "2")[0] != said, "two episodes are one")


def same_as_the_evaluation(program):
    """The mean over films of all episodes is the evaluation's."""
    for trial in (program.folder / "fly/trials").iterdir():
        wanted = json.loads((trial / "attempt-1/result.json").read_text())["evaluation"]
        returns, lengths = [], []
        for episode in range(3):
            said = program.film("fly", trial.name, "--episode", str(episode))[0]
            returns.append(float(re.search(r"return (-?[\d.]+)", said)[1]))
            lengths.append(int(re.search(r": (\d+) steps", said)[1]))
        length = wanted["metrics"]["ep/length"]["mean"]
        check(sum(lengths) / 3 == length, f"{lengths} steps, evaluated {length}")
        check(abs(sum(returns) / 3 - wanted["return"]["mean"]) < 0.1, f"returns {returns}, evaluated {wanted['return']}")


def other_formats_and_refusals(program):
    program.refused(["fly"], "has 2 trials: name one")
    program.refused(["fly", "nobody"], "no trial of fly has the name 'nobody'")
    program.refused(["nowhere"], "nowhere is no results folder")
    for name in ("film.gif", "film"):
        done = program.call("render", "fly", STRAIGHT, "--to", name)
        check(done.returncode == 2 and "ends in .svg" in done.stderr, f"--to {name}: {done.returncode} {done.stderr}")
        check(not (program.folder / name).exists(), f"{name} was written")
    program.run(OTHER % "cartpole", "poles")
    program.refused(["poles"], "draws no pictures")
    program.run(OTHER % "draws_png", "pixels")
    said, root = program.film("pixels")
    images = list(root.iter(SVG + "image"))
    check(len(images) == 4 and "3 steps" in said, f"{len(images)} images of 3 steps")
    for image in images:
        head, data = image.get("href").split(",", 1)
        check(head == "data:image/png;base64" and base64.b64decode(data).endswith(b"IEND\xaeB`\x82"), "an image is not whole")
    trial = next((program.folder / "pixels/trials").iterdir())
    shutil.rmtree(trial / "checkpoint")
    program.refused(["pixels"], "has no checkpoint in")
    check([f.name for f in trial.iterdir() if f.name.startswith("render-")] == [], "render left its workplace behind")


def main():
    with tempfile.TemporaryDirectory(prefix="backplane-film-") as folder:
        program = Program(sys.argv[1], pathlib.Path(folder), sys.argv[2])
        grid_films(program)
        same_as_the_evaluation(program)
        other_formats_and_refusals(program)


main()
