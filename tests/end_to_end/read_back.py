#!/usr/bin/env python3
"""Reads every file of a batch and its report with third-party readers, and compares the values.

  read_back.py BACKPLANE

Python's own modules read JSON and CSV, its sqlite3 reads SQLite while the program is not running, and an XML parser reads the page's
inline SVG. The data in the figures' specifications equals the report's CSV.
"""
import csv
import json
import math
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

EXPERIMENT = """
experiment: walk
env: {plugin: cartpole}
learner: {plugin: random, options: {horizon: 64}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 1}
budget: {iterations: 4}
monitors: [resources]
sweep: {grid: {rollout.num_env_runners: [1, 2]}, seeds: {n: 2}}
report: {kind: parallel_efficiency}
"""


def check(truth, sentence):
    if not truth:
        raise SystemExit("read_back: " + sentence)


def read_json(out):
    for file in sorted(out.rglob("*.json")):
        json.loads(file.read_text())
    for file in sorted(out.rglob("*.jsonl")):
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        check(lines, f"{file.name} is empty")


def read_tables(out):
    for file in sorted(out.rglob("*.csv")):
        with open(file, newline="") as stream:
            rows = list(csv.reader(stream))
        check(rows and all(len(row) == len(rows[0]) for row in rows), f"{file.name}: its rows differ in length")


def compare_with_database(out, program):
    database = sqlite3.connect(f"file:{out / 'results.sqlite'}?mode=ro", uri=True)
    speeds = dict(database.execute("select id, sps from trials"))
    check(len(speeds) == 4, f"results.sqlite has {len(speeds)} trials and not 4")
    for trial_id, speed in speeds.items():
        result = json.loads((out / "trials" / trial_id / "attempt-1" / "result.json").read_text())
        check(math.isclose(speed, result["sps"]), f"{trial_id}: results.sqlite has another speed than result.json")
    copy = out.parent / "copy.sqlite"
    subprocess.run([program, "export", "sqlite", str(out), "--to", str(copy)], check=True)
    check(dict(sqlite3.connect(copy).execute("select id, sps from trials")) == speeds, "the exported database differs")


def compare_with_report(out):
    report = out / "report"
    document = json.loads((report / "parallel_efficiency_results.json").read_text())
    tables = {block["id"]: block for section in document["sections"] for block in section["blocks"] if block["block"] == "table"}
    with open(report / "parallel_efficiency_results.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    check(len(rows) == len(tables["results"]["rows"]) == 2, "a row for each setting")
    for row, told in zip(rows, tables["results"]["rows"]):
        check(math.isclose(float(row["sps"]), told["sps"]["value"]), "CSV and JSON tell different speeds")
        check(told["sps"]["n"] == 2 and told["sps"]["of"] == "seeds", "a speed is over two seeds")


def compare_figures_with_report(out):
    report = out / "report"
    with open(report / "parallel_efficiency_results.csv", newline="") as stream:
        speeds = {row["setting"]: row for row in csv.DictReader(stream)}
    figure = json.loads((report / "figures" / "parallel_efficiency_analysis.vl.json").read_text())
    rows = [row for row in figure["data"]["values"] if row["panel"] == "Throughput"]
    means = [row for row in rows if row["kind"] == "mean"]
    check(len(means) == 2 and len(rows) == 2 + 4, "two means and four seeds are drawn")
    for row in means:
        told = speeds[row["name"]]
        for key, column in (("value", "sps"), ("low", "sps_low"), ("high", "sps_high")):
            value = told.get(column, "")  # with few seeds there is no interval
            check(math.isclose(row[key], float(value)) if value else key not in row, f"{row['name']}: the figure has another {key} than the CSV")
    drawn = {file.name for file in report.glob("*.png")}
    wanted = {file.name.removesuffix(".vl.json") + ".png" for file in (report / "figures").glob("*.vl.json")}
    check(drawn and drawn == wanted, f"pictures: {drawn}")


def read_page(out):
    page = (out / "report" / "parallel_efficiency_report.html").read_text()
    drawings, depth, begin = [], 0, 0
    for tag in re.finditer(r"<svg\b|</svg>", page):  # a drawing may hold others
        begin = tag.start() if depth == 0 else begin
        depth += 1 if tag.group() == "<svg" else -1
        if depth == 0:
            drawings.append(page[begin:tag.end()])
    check(drawings, "the page has no figure")
    for drawing in drawings:
        xml.etree.ElementTree.fromstring(drawing)
    page = re.sub(r"<script>.*?</script>", "", page, flags=re.S)  # page_test.py watches what scripts do
    check(not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", page), "the page wants something from the network")


def main(program):
    program = os.path.abspath(program)
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "walk.yaml").write_text(EXPERIMENT)
        subprocess.run([program, "run", "walk.yaml", "--quiet"], cwd=folder, check=True)
        out = pathlib.Path(folder) / "outputs" / "walk"
        read_json(out)
        read_tables(out)
        compare_with_database(out, program)
        compare_with_report(out)
        compare_figures_with_report(out)
        read_page(out)
    print("read back: JSON, CSV, SQLite, figures, SVG")


if __name__ == "__main__":
    main(*sys.argv[1:])
