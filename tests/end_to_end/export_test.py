#!/usr/bin/env python3
"""`backplane export`: files of each form, and errors of wrong calls.

  export_test.py PROGRAM
"""
import json
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

EXPERIMENT = """
experiment: two
env: {plugin: cartpole}
learner: {plugin: random, options: {horizon: 32}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 2}
budget: {iterations: 3}
sweep: {grid: {rollout.num_envs_per_env_runner: [2, 4]}, seeds: {n: 2}}
"""


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def call(*words, expect=0):
            done = subprocess.run([program, *words], cwd=folder, capture_output=True, text=True)
            assert done.returncode == expect, f"{words}: exit {done.returncode}\n{done.stdout}{done.stderr}"
            return done

        (folder / "two.yaml").write_text(EXPERIMENT)
        call("run", "two.yaml")

        call("export", "sqlite", "outputs/two", "--to", "copy.sqlite")
        with sqlite3.connect((folder / "copy.sqlite").as_uri() + "?mode=ro", uri=True) as database:
            assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert database.execute("SELECT count(*) FROM trials WHERE state = 'COMPLETED'").fetchall() == [(4,)]
        assert not list(folder.glob("copy.sqlite-*")) and not list(folder.glob("*.tmp"))
        assert "--to" in call("export", "sqlite", "outputs/two", expect=2).stderr

        assert "4 trials" in call("export", "tb", "outputs/two").stdout
        names = {file.parent.name for file in folder.glob("outputs/two/tb/*/*tfevents*")}
        assert names == {f"num_envs_per_env_runner={n}_seed={seed}" for n in (2, 4) for seed in (0, 1)}, names
        call("export", "tb", "outputs/two", "--to", "elsewhere")
        assert len(list(folder.glob("elsewhere/*/*tfevents*"))) == 4

        assert "2 trials by return" in call("export", "optuna", "outputs/two").stdout
        journal = [json.loads(line) for line in (folder / "outputs/two/optuna.journal").read_text().splitlines()]
        assert [line["user_attrs"]["seeds"] for line in journal if line["op_code"] == 4] == [[0, 1], [0, 1]]
        call("export", "optuna", "outputs/two", "--to", "other.journal")
        assert (folder / "other.journal").read_bytes() == (folder / "outputs/two/optuna.journal").read_bytes()

        (folder / "empty").mkdir()
        assert "expected a results folder" in call("export", "tb", "empty", expect=2).stderr
    print("tb, sqlite and optuna are served, wrong calls refused")


if __name__ == "__main__":
    main()
