#!/usr/bin/env python3
"""A search's report, its best setting and its export, from a folder whose scores come from a formula (made_search.py). If PyPI's Optuna is
installed, it opens the export and finds the same.

  search_report_test.py BACKPLANE [ORACLE]
"""
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

import made_search

OPTUNA = """
import json, sys
import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
optuna.logging.set_verbosity(optuna.logging.ERROR)
storage = JournalStorage(JournalFileBackend(sys.argv[1]))
study, = [optuna.load_study(study_name=name, storage=storage) for name in optuna.get_all_study_names(storage)]
complete = [trial for trial in study.trials if trial.state.name == "COMPLETE"]
print(json.dumps({
    "name": study.study_name, "direction": study.direction.name, "metric": study.metric_names,
    "best": study.best_trial.number if complete else None,
    "importance": optuna.importance.get_param_importances(study) if len(complete) > 9 else {},
    "trials": [{"number": t.number, "state": t.state.name, "params": t.params, "value": t.value, "attrs": t.user_attrs,
                "steps": sorted(t.intermediate_values.items()), "s": t.duration and t.duration.total_seconds()} for t in study.trials]}))
"""


class Check:
    def __init__(self, program, oracle, folder):
        self.program, self.oracle, self.folder = program, oracle, folder

    def call(self, *words, expect=0, draws=False):
        """Without a Python to draw with, a report has no figures and is quick."""
        environment = os.environ if draws else {**os.environ, "BACKPLANE_PYTHON": "/nonexistent"}
        done = subprocess.run([self.program, *map(str, words)], cwd=self.folder, capture_output=True, text=True, env=environment)
        assert done.returncode == expect, f"{words}: exit {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    def report(self, out, draws=False):
        self.call("report", out, draws=draws)
        return json.loads((out / "report" / "search_results.json").read_text())

    def opened(self, journal):
        done = subprocess.run([self.oracle, "-c", OPTUNA, journal], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


def table(report, name):
    return next(block for section in report["sections"] for block in section["blocks"] if block.get("id") == name)


def told(maker):
    """Each suggestion as the folder's events record it, parsed by this script."""
    trials = {}
    for event in maker.events:
        request, reply = event.get("request", {}), event.get("reply", {})
        if request.get("op") == "ask":
            trials[reply["number"]] = {"params": reply["params"], "state": "RUNNING", "value": None, "steps": []}
        elif request.get("op") == "report":
            trials[request["number"]]["steps"].append([request["step"], request["value"]])
        elif request.get("op") == "tell":
            trial = trials[request["number"]]
            trial["state"] = {"complete": "COMPLETE", "pruned": "PRUNED", "fail": "FAIL"}[request["state"]]
            trial["value"] = request.get("value", trial["steps"][-1][1] if request["state"] == "pruned" else None)
    return trials


def check_export(check, out, maker):
    said = check.call("export", "optuna", out)
    assert "trials by eval/return" in said, said
    journal = out / "optuna.journal"
    for line in journal.read_text().splitlines():
        json.loads(line, parse_constant=lambda word: sys.exit(f"{word} is no JSON"))
    if not check.oracle:
        return
    opened, expected = check.opened(journal), told(maker)
    text = {number: {path: json.dumps(value, separators=(",", ":")) if isinstance(value, (dict, list)) else value
                     for path, value in trial["params"].items()} for number, trial in expected.items()}
    assert (opened["name"], opened["metric"]) == ("made", ["eval/return"])
    assert opened["direction"] == maker.direction.upper()
    assert len(opened["trials"]) == len(expected)
    for trial in opened["trials"]:
        one = expected[trial["number"]]
        assert trial["state"] == one["state"], trial
        assert trial["params"] == text[trial["number"]], trial
        assert trial["value"] == one["value"], trial
        assert trial["steps"] == one["steps"], trial
    scores = {number: one["value"] for number, one in expected.items() if one["state"] == "COMPLETE"}
    if scores:
        best = (max if maker.direction == "maximize" else min)(scores, key=scores.get)
        assert opened["best"] == best
        assert opened["trials"][best]["attrs"]["seeds"] == [0]


def check_whole(check):
    out = check.folder / "whole"
    maker = made_search.make(out, trials=40, options=4)
    report = check.report(out, draws=True)
    assert report["verdict"][0].startswith(("Best setting: ", "Leading setting, ")), report["verdict"]
    assert any("the lead in the search" in sentence for sentence in report["verdict"]), report["verdict"]
    assert len(table(report, "confirmed")["rows"]) == 3
    assert len(table(report, "suggestions")["rows"]) == 40
    names = [figure["name"] for figure in report["figures"]]
    assert names == ["best_so_far", "importance", "parallel_coordinates", "intermediate_values"], names
    check_export(check, out, maker)


def check_dashboard(check):
    """If the dashboard is installed: on the path, or at BACKPLANE_OPTUNA_DASHBOARD."""
    dashboard = shutil.which(os.environ.get("BACKPLANE_OPTUNA_DASHBOARD", "optuna-dashboard"))
    if not dashboard:
        return ""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([dashboard, "--host", "127.0.0.1", "--port", str(port), check.folder / "whole/optuna.journal"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        for _ in range(600):
            try:
                with direct.open(f"http://127.0.0.1:{port}/api/studies") as answer:
                    studies = json.load(answer)["study_summaries"]
                break
            except OSError:
                assert server.poll() is None, "optuna-dashboard ended"
                time.sleep(0.2)
        assert [study["study_name"] for study in studies] == ["made"], studies
        with direct.open(f"http://127.0.0.1:{port}/api/studies/0?after=0") as answer:
            states = [trial["state"] for trial in json.load(answer)["trials"]]
        assert len(states) == 40 and states.count("Pruned") == 7, states
    finally:
        server.terminate()
        server.wait()
    return ", optuna-dashboard lists it"


def check_importance(check):
    """The formula's two most important options are also Optuna's first two."""
    out = check.folder / "many"
    made_search.make(out, trials=200, options=4, confirm=0)
    ours = [row["option"] for row in table(check.report(out), "importance")["rows"]]
    assert ours[:2] == ["learner.options.lr", "learner"], ours
    check.call("export", "optuna", out)
    if check.oracle:
        theirs = check.opened(out / "optuna.journal")["importance"]
        assert sorted(theirs, key=theirs.get, reverse=True)[:2] == ours[:2], (ours, theirs)


def check_best_runs(check):
    """The space has this learner's own options, so the file runs."""
    out = check.folder / "runs"
    made_search.SPACE = {"rollout.num_envs_per_env_runner": {"int": [2, 16]}, "learner.options.horizon": {"int": [8, 64], "step": 8}}
    config = made_search.Maker.config
    made_search.Maker.config = lambda self, params, seed: {**config(self, {**params, "learner": {"plugin": "random"}}, seed)}
    made_search.make(out, trials=4, options=2, confirm=2, confirm_seeds=2)
    said = check.call("report", out)
    command = next(line.split("next:")[1].split() for line in said.splitlines() if "next:" in line)
    assert command[1] == "run" and command[2].endswith("best_search.yaml"), said
    check.call(*command[1:])
    assert (check.folder / "outputs/made_best/trials").is_dir()


def check_states(check):
    for name, arguments in {"running": {"trials": 3, "running": 2, "confirm": 0, "why_ended": ""}, "none": {"trials": 0, "why_ended": ""},
                            "one": {"trials": 1, "confirm": 0}, "least": {"trials": 12, "options": 8, "direction": "minimize"}}.items():
        out = check.folder / name
        maker = made_search.make(out, **arguments)
        check.report(out)
        check_export(check, out, maker)
    running = json.loads((check.folder / "running/report/search_results.json").read_text())
    assert any("2 running" in sentence for sentence in running["verdict"]), running["verdict"]


def main():
    oracle = sys.argv[2] if len(sys.argv) > 2 else ""
    has_optuna = oracle and subprocess.run([oracle, "-c", "import optuna"], capture_output=True).returncode == 0
    with tempfile.TemporaryDirectory() as name:
        check = Check(sys.argv[1], oracle if has_optuna else "", pathlib.Path(name))
        check_whole(check)
        listed = check_dashboard(check)
        check_states(check)
        check_importance(check)
        check_best_runs(check)
    print("the report, the best setting and the export say the same" + listed + ("" if has_optuna else "; no Optuna to open the export with"))


if __name__ == "__main__":
    main()
