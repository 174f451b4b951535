#!/usr/bin/env python3
"""Films of episodes, as `backplane render` writes them, read by an XML parser.

  film_test.py BACKPLANE FIXTURES
"""
import base64
import html
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
LONG_GRID = """
experiment: long
env: {plugin: uav_grid, options: {max_steps: 1000, collision: block}}
learner: {plugin: uav_scripted, options: {policy: random_masked}}
budget: {iterations: 1}
evaluation: {episodes: 1}
"""
STRAIGHT = "<script>alert(1)</script> & <b>"
OTHER = """
experiment: other
env: {plugin: %s}
learner: {plugin: random, options: {horizon: 8}}
budget: {iterations: 1}
evaluation: {episodes: %d}
"""
# Seconds per step of each env that simulates time. Envs whose episodes need not end show the duration of 1,000 steps.
CLOCKS = {
    "ant, options: {terminate_when_unhealthy: false}": 0.05,
    "humanoid, options: {terminate_when_unhealthy: false}": 0.015,
    "half_cheetah": 0.05,
    "hopper, options: {terminate_when_unhealthy: false}": 0.008,
    "humanoid_standup": 0.015,
    "inverted_double_pendulum": 0.05,
    "inverted_pendulum": 0.04,
    "pusher, options: {max_episode_steps: 1000}": 0.05,
    "reacher, options: {max_episode_steps: 1000}": 0.02,
    "swimmer": 0.04,
    "walker2d, options: {terminate_when_unhealthy: false}": 0.008,
    "acrobot, options: {max_episode_steps: 1000}": 0.2,
    "quadruped_stand, options: {max_episode_steps: 1000}": 0.006,
    "cartpole": 0.02,
    "pendulum, options: {max_episode_steps: 1000}": 0.05,
    "mountain_car, options: {max_episode_steps: 1000}": 1 / 30,
    "mountain_car_continuous": 1 / 30,
}
# Runs in a film's page and writes its findings to an element at the end.
PROBE = """<script>
const found = {errors: []};
addEventListener('error', event => found.errors.push(event.message));
addEventListener('load', () => {
  const figure = document.querySelector('figure.film'), slider = figure.querySelector('input');
  const moves = figure.querySelector('svg').getAnimations({subtree: true});
  slider.value = 3;
  slider.dispatchEvent(new Event('input'));
  found.said = figure.querySelector('output').textContent;
  found.times = moves.map(move => move.currentTime);
  found.state = moves[0].playState;
  figure.querySelector('button').click();
  found.playing = moves[0].playState;
  const told = document.createElement('pre');
  told.id = 'probe';
  told.textContent = JSON.stringify(found);
  document.body.append(told);
});
</script>"""
MOST_BYTES = 5_000_000  # of 1,000 steps


def check(truth, sentence):
    if not truth:
        raise SystemExit("film_test: " + sentence)


class Program:
    def __init__(self, file, folder, fixtures):
        self.file, self.folder = pathlib.Path(file).resolve(), folder
        self.environment = dict(os.environ, BACKPLANE_PLUGIN_PATH=str(pathlib.Path(fixtures).resolve()))

    def call(self, *words, **environment):
        return subprocess.run([self.file, *words], cwd=self.folder, env=dict(self.environment, **environment), capture_output=True,
                              text=True)

    def run(self, text, out):
        (self.folder / "experiment.yaml").write_text(text)
        done = self.call("run", "experiment.yaml", "--quiet", "--out", out)
        check(done.returncode == 0, "run: " + done.stderr)

    def refused(self, words, sentence, code=1, **environment):
        done = self.call("render", *words, **environment)
        check(done.returncode == code, f"render {words} ended with {done.returncode}")
        check(sentence in done.stderr, f"render {words} does not say '{sentence}' but: {done.stderr}")

    def film(self, *words):
        to = self.folder / "film.svg"
        to.unlink(missing_ok=True)
        done = self.call("render", *words, "--to", to)
        check(done.returncode == 0, "render: " + done.stderr)
        return done.stdout, ElementTree.parse(to).getroot()


def frames_of(root):
    """Pictures, each with the words below it."""
    strip = next(g for g in root.iter(SVG + "g") if g.get("class") == "film-strip")
    return list(zip(strip[::2], strip[1::2]))


def data_of(root):
    return json.loads(root.find(SVG + "metadata").text)


def record_of(trial):
    return json.loads((trial / "attempt-1/result.json").read_text())


def text_of(element):
    return " ".join(element.itertext())


def grid_films(program):
    program.run(GRID, "fly")
    said, root = program.film("fly", STRAIGHT, "--episode", "1")
    steps = int(re.search(r": (\d+) steps", said)[1])
    frames = frames_of(root)
    check(len(frames) == steps + 1, f"{len(frames)} frames of {steps} steps")
    width = float(root.get("width"))
    check([float(f.get("x")) for f, _ in frames] == [width * i for i in range(steps + 1)], "the frames do not stand in a row")
    strip = next(g for g in root.iter(SVG + "g") if g.get("class") == "film-strip")
    check(strip.get("transform") == f"translate({-width * steps:.0f})", "a still viewer should see the last frame")
    style, round_s = root.find(SVG + "style").text, 0.2 * (steps + 1) + 1.4
    end = re.search(r"steps\((\d+)\) } ([\d.]+)%, 100% { transform: translateX\((-[\d.]+)px\)", style)
    check(int(end[1]) == steps and float(end[3]) == -width * steps, "the strip does not move by a frame at a time")
    check(abs(float(end[2]) / 100 * round_s - 0.2 * steps) < 1e-3, "frames are not 0.2 s apart")
    check(f"film-strip {round_s:.3f}s infinite" in style, "the last frame does not stay for 1.4 s longer")
    for t, (frame, words) in enumerate(frames):
        check(text_of(words).startswith(f"step {t} of {steps}, return "), f"below frame {t} stands '{text_of(words)}'")
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
    """Films of all episodes equal the evaluation bit for bit, and the best film shows the best episode."""
    for trial in (program.folder / "fly/trials").iterdir():
        record = record_of(trial)
        films = [data_of(program.film("fly", trial.name, "--episode", str(episode))[1]) for episode in range(3)]
        returns = [film["returns"][-1] for film in films]
        check(returns == record["evaluation_returns"], f"returns {returns}, evaluated {record['evaluation_returns']}")
        lengths, wanted = [len(film["returns"]) for film in films], record["evaluation"]["metrics"]["ep/length"]["mean"]
        check(sum(lengths) / 3 == wanted, f"{lengths} steps, evaluated {wanted}")
        mean = record["evaluation"]["return"]["mean"]
        check(abs(sum(returns) / 3 - mean) < 1e-9 * abs(mean), f"returns {returns}, their mean {mean}")
        for rank, place in (("worst", 0), ("median", 1), ("best", 2)):
            chosen = program.film("fly", trial.name, "--episode", rank)
            check(data_of(chosen[1])["returns"][-1] == sorted(returns)[place], f"{rank} of {returns} is not what was filmed")
            check(f", the {rank} of 3" in chosen[1].find(SVG + "title").text, f"the title does not say {rank}")


def another_record(program):
    """A film that differs from the evaluation is reported as such; without returns, no episode is the best."""
    trial = next((program.folder / "fly/trials").iterdir())
    file = trial / "attempt-1/result.json"
    kept, record = file.read_text(), record_of(trial)
    record["evaluation_returns"][0] += 1
    file.write_text(json.dumps(record))
    done = program.call("render", "fly", trial.name, "--to", "made/for/it/other.svg")
    check(done.returncode == 0 and "expected the recorded return of this episode" in done.stderr, f"another return: {done.stderr}")
    del record["evaluation_returns"]
    file.write_text(json.dumps(record))
    program.refused(["fly", trial.name, "--episode", "best"], "expected the returns of the evaluation's episodes, got none in")
    file.write_text(kept)


def real_time(program):
    """Films of envs with a clock run in real time at up to 25 frames a second, and are small."""
    for i, (env, step_s) in enumerate(CLOCKS.items()):
        program.run(OTHER % (env, 1), f"clock-{i}")
        root = program.film(f"clock-{i}")[1]
        film, size = data_of(root), (program.folder / "film.svg").stat().st_size
        steps, frames = len(film["returns"]), len(frames_of(root))
        check(frames == film["frames"] == -(-steps // film["every"]) + 1, f"{env}: {frames} frames of {steps} steps")
        check(abs(film["frame_s"] - step_s * film["every"] * film["slower"]) < 1e-9, f"{env}: {film['frame_s']} s a frame")
        check(film["frame_s"] >= 1 / 50 and (film["every"] == 1 or film["frame_s"] <= 1 / 24), f"{env}: {film['frame_s']} s a frame")
        check(film["slower"] == 1 or steps * step_s * film["slower"] < 5, f"{env}: {film['slower']} times slower")
        check(steps >= 999 or env in ("cartpole", "inverted_double_pendulum", "inverted_pendulum"), f"{env}: an episode of {steps} steps says little about sizes")
        check(size <= MOST_BYTES, f"{env}: {size} bytes")
        record = record_of(next((program.folder / f"clock-{i}/trials").iterdir()))
        check(film["returns"][-1] == record["evaluation_returns"][0], f"{env}: the film is of another episode")


def many_uavs(program):
    program.run(LONG_GRID, "long")
    steps = len(data_of(program.film("long")[1])["returns"])
    size = (program.folder / "film.svg").stat().st_size
    check(steps == 1000 and size <= MOST_BYTES, f"{steps} steps of ten UAVs: {size} bytes")


def player(program):
    """The slider shows its step, and play resumes from there, in headless Chromium if there is one."""
    page = program.folder / "film.html"
    check(program.call("render", "fly", STRAIGHT, "--to", page).returncode == 0, "no page")
    text = page.read_text()
    check("figure.film" in text and "<b>" not in text, "the page has no controls, or a name's markup")
    film = json.loads(re.search(r"<metadata>(.*?)</metadata>", text)[1])
    chromium = shutil.which("chromium")
    if not chromium:
        return print("no chromium: the player is not tested")
    page.write_text(text.replace("</body>", PROBE + "</body>"))
    dump = subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu", "--log-level=3", "--no-first-run",
                           "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={program.folder / 'profile'}",
                           "--virtual-time-budget=20000", "--dump-dom", page.as_uri()], capture_output=True, text=True, timeout=300).stdout
    told = re.search(r'<pre id="probe">(.*?)</pre>', dump, re.S)
    check(told, "the page's script did not come to its end")
    found = json.loads(html.unescape(told[1]))
    check(not found["errors"], f"the page's scripts fail: {found['errors']}")
    returns, frame_ms = film["returns"], 1000 * film["frame_s"]
    said = f"step 3 of {len(returns)}, reward {returns[2] - returns[1]:.3f}, return {returns[2]:.{3 if abs(returns[2]) < 100 else 1}f}"
    check(found["said"] == said, f"at step 3 the page says '{found['said']}', wanted '{said}'")
    check(found["times"] == [3.5 * frame_ms] * 2, f"at step 3 the animations stand at {found['times']} ms")
    check(found["state"] == "paused" and found["playing"] == "running", f"states {found['state']}, {found['playing']}")


def in_the_report(program):
    """The page of the report contains films that are in the folders of trials."""
    check(program.call("render", "fly", STRAIGHT, "--episode", "1").returncode == 0, "render without --to")
    done = program.call("report", "fly")
    check(done.returncode == 0, "report: " + done.stderr)
    page = next((program.folder / "fly/report").glob("*_report.html")).read_text()
    check(page.count('<figure class="film">') == 1 and "episode 1" in page, "the report's page has no film")
    film = next((program.folder / "fly/trials").glob("*/episode-1.svg"))
    check(json.dumps(json.loads(re.search(r"<metadata>(.*?)</metadata>", page)[1])) ==
          json.dumps(json.loads(re.search(r"<metadata>(.*?)</metadata>", film.read_text())[1])), "the report has another film")
    check("episode-1.svg" in next((program.folder / "fly/report").glob("*_report.txt")).read_text(), "the text names no film")


def videos(program):
    program.refused(["fly", STRAIGHT, "--to", "film.webm"], "no .webm: ffmpeg is not on PATH", PATH="/nowhere")
    python = pathlib.Path(__file__).resolve().parents[2] / ".venv/bin/python"
    bare = {"BACKPLANE_PYTHON": str(program.folder / "bare-python")}
    (program.folder / "bare-python").write_text(f"#!/bin/sh\nexec {sys.executable} -S -I \"$@\"\n")
    (program.folder / "bare-python").chmod(0o755)
    program.refused(["fly", STRAIGHT, "--to", "film.gif"], "no .gif: No module named 'PIL'", **bare)
    for ending in ("gif", "webm"):
        check(not list(program.folder.glob(f"film.{ending}*")), f"an unfinished .{ending} was left")
    has = lambda module: python.exists() and subprocess.run([python, "-c", "import " + module], capture_output=True).returncode == 0
    if not has("vl_convert"):
        return print("no vl_convert: videos are not tested")
    # Replaces ffmpeg by a program that keeps its input.
    (program.folder / "ffmpeg").write_text("#!/bin/sh\nfor to; do :; done\nexec cat > \"$to\"\n")
    (program.folder / "ffmpeg").chmod(0o755)
    path = f"{program.folder}:{os.environ['PATH']}"
    done = program.call("render", "fly", STRAIGHT, "--to", "film.webm", PATH=path)
    check(done.returncode == 0, "webm: " + done.stderr)
    steps = int(re.search(r": (\d+) steps", done.stdout)[1])
    pictures = (program.folder / "film.webm").read_bytes().count(b"\x89PNG\r\n")
    check(pictures == steps + 1, f"ffmpeg was given {pictures} pictures of {steps} steps")
    (program.folder / "ffmpeg").write_text("#!/bin/sh\necho no such encoder >&2\nexit 3\n")
    program.refused(["fly", STRAIGHT, "--to", "film.webm"], "ffmpeg ended with 3: no such encoder", PATH=path)
    if not has("PIL"):
        return print("no Pillow: a .gif is not tested")
    done = program.call("render", "fly", STRAIGHT, "--to", "film.gif")
    check(done.returncode == 0, "gif: " + done.stderr)
    gif = "from PIL import Image; i = Image.open('film.gif'); print(i.n_frames, [i.seek(n) or i.info['duration'] for n in range(i.n_frames)])"
    said = subprocess.run([python, "-c", gif], cwd=program.folder, capture_output=True, text=True, check=True).stdout
    check(said.strip() == f"{steps + 1} {[200] * steps + [1600]}", f"the .gif has {said}")


def other_formats_and_refusals(program):
    program.refused(["fly"], "has 2 trials; name one")
    (program.folder / "fly/trials/0123456789abcdef").mkdir()  # of another plan in the same folder
    program.refused(["fly", "nobody"], "no trial of fly has the name 'nobody' or an id that starts with it; trials: ")
    program.refused(["fly", "nobody"], " (stay); of other plans, by id: 0123456789abcdef")
    (program.folder / "fly/trials/0123456789abcdef").rmdir()
    program.refused(["nowhere"], "nowhere: expected a results folder")
    for name in ("film.mp4", "film"):
        program.refused(["fly", STRAIGHT, "--to", name], f"ends in one of .svg, .html, .gif, .webm, got '{name}'", code=2)
        check(not (program.folder / name).exists(), f"{name} was written")
    for episode in ("first", "-1", "1.5", "5000000000"):
        program.refused(["fly", STRAIGHT, f"--episode={episode}"], "expected best, worst, median or a whole number, got", code=2)
    program.refused(["fly", STRAIGHT, "--episode", "3"], "evaluates 3 episodes: expected 0 to 2, got 3")
    program.run(OTHER % ("good", 2), "plain")
    program.refused(["plain"], "cannot draw pictures")
    program.run(OTHER % ("cartpole", 0), "unseen")
    program.refused(["unseen", "--episode", "best"], "has no evaluation (evaluation.episodes)")
    check(len(data_of(program.film("unseen", "--episode", "7")[1])["returns"]) > 0, "the start of an episode 7 was not filmed")
    program.run(OTHER % ("draws_png", 2), "pixels")
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
        another_record(program)
        real_time(program)
        many_uavs(program)
        player(program)
        in_the_report(program)
        videos(program)
        other_formats_and_refusals(program)


main()
