#!/usr/bin/env python3
"""Damaged bytes end in a sentence within bounds; a longer form is scripts/check_import --fuzz.

usage: import_fuzz_test.py
"""
import importlib.util
import random
import sqlite3
import sys
import time
import unittest
import unittest.mock

sys.dont_write_bytecode = True

import import_test  # noqa: E402
import made_by_hand as made  # noqa: E402
from backplane_runs import model, npz, tables  # noqa: E402
from backplane_runs.model import Damaged, Mistake  # noqa: E402


class Fuzz(import_test.InFolder):
    def test_damaged_files_end_in_a_sentence(self):
        draw = random.Random(1)
        originals = {
            "events.out.tfevents.1.h": made.events(made.event(0, 1, made.hparams({"lr": 0.1})), *made.curve("a", [(i, 1.0) for i in range(20)])),
            "run-a.wandb": made.wandb_run("a", {"lr": 0.1}, [(i, {"loss": 0.1}) for i in range(20)]),
            "evaluations.npz": made.npz(timesteps=made.npy("<i8", (2,), [1, 2]), results=made.npy("<f8", (2, 2), [1.0] * 4)),
            "progress.csv": b"time/total_timesteps,rollout/ep_rew_mean\n1,2\n2,3\n",
            "monitor.csv": b'#{"t_start": 1.0, "env_id": "x"}\nr,l,t\n1,2,3\n',
            "trainer_state.json": b'{"log_history": [{"step": 1, "loss": 2}], "global_step": 1, "max_steps": 2}',
            "study.log": b'{"op_code": 0, "study_name": "s", "directions": [2]}\n{"op_code": 4, "study_id": 0}\n',
            "a.jsonl": b'{"step": 1, "loss": 2}\n{"step": 2, "loss": 3}\n',
        }
        end = time.monotonic() + 8
        for name, data in originals.items():
            for _ in range(150):
                if time.monotonic() > end:
                    break
                damaged = bytearray(data)
                for _ in range(draw.randint(1, 4)):
                    place = draw.randrange(len(damaged))
                    damaged[place:place + draw.randint(0, 3)] = bytes(draw.randrange(256) for _ in range(draw.randint(0, 3)))
                self.put(f"f/{name}", bytes(damaged))
                try:
                    runs = self.runs("f")
                except (Mistake, Damaged):
                    runs = []
                self.assertLess(sum(run.points() for run in runs), 1000, name)
                (self.folder / "f" / name).unlink()

    def test_odd_cells_of_a_database_become_text(self):
        database = sqlite3.connect(self.folder / "mlflow.db")
        database.executescript("""
            CREATE TABLE experiments (experiment_id, name); INSERT INTO experiments VALUES (1, 'e');
            CREATE TABLE runs (run_uuid, name, status, start_time, lifecycle_stage, experiment_id);
            INSERT INTO runs VALUES ('u', 'r', 'FINISHED', 9e999, 'active', 1);
            CREATE TABLE params (key, value, run_uuid); INSERT INTO params VALUES (x'ff00', '1', 'u'), ('lr', '2', 'u');
            CREATE TABLE metrics (key, value, timestamp, run_uuid, step, is_nan);
            INSERT INTO metrics VALUES (x'ff', 1.0, 9e999, 'u', 1, 0), ('loss', 2.0, 9e999, 'u', 1, 0);""")
        database.commit()
        database.close()
        run = self.one("mlflow.db")
        self.assertEqual(run.settings, {"b'\\xff\\x00'": 1, "lr": 2})
        self.assertEqual(set(run.curves), {"b'\\xff'", "loss"})
        self.assertEqual(self.command("mlflow.db", "--to", "out", "--metric", "loss")[0], 0)

    def test_a_clock_of_trackio_may_be_unreadable(self):
        database = sqlite3.connect(self.folder / "p.db")
        database.executescript("""
            CREATE TABLE configs (run_id, run_name, config); INSERT INTO configs VALUES ('a', 'r', '{}');
            CREATE TABLE metrics (id, run_id, run_name, timestamp, step, metrics); INSERT INTO metrics VALUES (1, 'a', 'r', 'yesterday', 1, '{"loss": 2}');""")
        database.commit()
        database.close()
        self.assertEqual(self.command("p.db", "--to", "out")[0], 0)

    def test_aliases_of_yaml_never_explode(self):
        self.put("f/progress.csv", "step,loss\n1,2\n")
        for first, other in (("[x, x, x]", "[{}]"), ("{a: 1, b: 2}", "{{k: {}, m: {}}}"), ("{a: 1}", "{{<<: [{}]}}")):
            lines = [f"a0: &a0 {first}"] + [f"a{i}: &a{i} " + other.format(*[", ".join([f"*a{i - 1}"] * 9 if "[" in other else [f"*a{i - 1}"])] * 2)
                                            for i in range(1, 25)]
            self.put("f/config.yaml", "\n".join(lines))
            begin = time.monotonic()
            run = self.one("f")
            self.assertLess(time.monotonic() - begin, 5)
            if importlib.util.find_spec("yaml"):
                self.assertIn("aliases", " ".join(run.notes))
        self.put("f/config.yaml", "lr: &x 0.1\nother: *x\nown: &own [*own]\n")
        self.one("f")

    def test_bounds_lines_points_and_arrays(self):
        self.put("csv/progress.csv", "step,loss\n1," + "1" * 200 + "\n")
        self.put("monitor/monitor.csv", "#{}\nr,l,t\n" + "1" * 200)
        self.put("mlruns/0/meta.yaml", "name: e\n")
        self.put("mlruns/0/a/meta.yaml", "run_name: a\nstatus: 3\n")
        self.put("mlruns/0/a/metrics/loss", "1 " + "1" * 200 + " 1\n")
        self.put("npz/evaluations.npz", made.npz(timesteps=made.npy("<i8", (2,), [1, 2]), results=made.npy("<f8", (2, 2), [1.0] * 4)))
        self.put("points/a.jsonl", '{"step": 1, "loss": 2, "x": 3}\n{"step": 2, "loss": 3}\n')
        with unittest.mock.patch.object(tables, "MOST_LINE", 100), unittest.mock.patch.object(npz, "MOST_BYTES", 100), \
                unittest.mock.patch.object(model, "MOST_POINTS", 2):
            for name, sentence in (("csv", "a line has more than"), ("monitor", "a line has more than"), ("mlruns", "a line has more than"),
                                   ("npz", "expected arrays of at most"), ("points", "more than 2 points")):
                self.assertIn(sentence, self.one(name).why)


if __name__ == "__main__":
    unittest.main()
