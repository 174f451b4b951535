#!/usr/bin/env python3
"""Imports of files made by hand: every run, setting, seed and point is read, and damage is a sentence.

usage: import_test.py
"""
import fcntl
import json
import math
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import tracemalloc
import unittest
import unittest.mock

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
TOOL = HERE.parents[2] / "tools/runs"
sys.path[:0] = [str(HERE), str(TOOL)]

import made_by_hand as made  # noqa: E402
from backplane_runs import event_files  # noqa: E402
from backplane_runs.directions import direction  # noqa: E402
from backplane_runs.find import Finder  # noqa: E402
from backplane_runs.metric_names import typed_names  # noqa: E402
from backplane_runs.model import Run  # noqa: E402
from backplane_runs.plain_values import SimpleYaml, as_mapping  # noqa: E402
from backplane_runs.results_folder import lines_of  # noqa: E402


def points(run, name):
    return list(zip(run.curves[name].steps, run.curves[name].values))


class InFolder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="backplane-import-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def put(self, name, content):
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file

    def runs(self, name="."):
        return Finder(self.folder / name).runs()

    def one(self, name="."):
        runs = self.runs(name)
        self.assertEqual(len(runs), 1, [run.name for run in runs])
        return runs[0]

    def command(self, *words):
        """(exit code, standard output, standard error)"""
        end = subprocess.run([sys.executable, "-B", str(TOOL / "backplane-import.py"), *map(str, words)], cwd=self.folder, capture_output=True, text=True)
        return end.returncode, end.stdout, end.stderr

    def plan(self, out="out"):
        return [json.loads(line) for line in (self.folder / out / "plan.jsonl").read_text().splitlines()]

    def rows(self, trial, out="out"):
        return [json.loads(line) for line in (self.folder / out / "trials" / trial / "attempt-1/metrics.jsonl").read_text().splitlines()]


class EventFiles(InFolder):
    NAME = "events.out.tfevents.1000.host"

    def test_reads_every_point(self):
        values = [(i * 10, math.sin(i)) for i in range(12_000)]
        self.put(f"실험/{self.NAME}", made.events(*made.curve("loss/훈련", values)))
        run = self.one()
        self.assertEqual(run.name, "실험")
        for (step, value), (own_step, own) in zip(values, points(run, "loss/훈련"), strict=True):
            self.assertEqual(step, own_step)
            self.assertAlmostEqual(value, own, delta=1e-7)

    def test_keeps_several_values_of_one_step(self):
        self.put(self.NAME, made.events(*made.curve("r", [(1, 1.0), (1, 2.0), (2, math.nan)])))
        self.assertEqual(points(self.one(), "r")[:2], [(1, 1.0), (1, 2.0)])
        self.assertTrue(math.isnan(points(self.one(), "r")[2][1]))

    def test_a_later_file_counts_from_its_first_step(self):
        self.put(self.NAME, made.events(*made.curve("a", [(1, 1.0), (2, 2.0), (3, 3.0)]), *made.curve("b", [(3, 9.0)], 1004.0)))
        self.put("events.out.tfevents.2000.host", made.events(*made.curve("a", [(2, 20.0)], 2000.0)))
        run = self.one()
        self.assertEqual(points(run, "a"), [(1, 1.0), (2, 20.0)])
        self.assertNotIn("b", run.curves)
        self.assertIn("discards 3 points", " ".join(run.notes))

    def test_two_writers_at_the_same_time_are_an_error(self):
        self.put(self.NAME, made.events(*made.curve("a", [(1, 1.0), (2, 2.0)])))
        self.put("events.out.tfevents.1001.host", made.events(*made.curve("a", [(1, 1.0), (2, 2.0)], 1000.5)))
        run = self.one()
        self.assertEqual(run.state, "FAILED")
        self.assertIn(self.NAME, run.why)
        self.assertIn("events.out.tfevents.1001.host", run.why)

    def test_distinguishes_a_cut_tail_from_a_bad_checksum(self):
        data = made.events(*made.curve("a", [(1, 1.0), (2, 2.0), (3, 3.0)]))
        self.put(self.NAME, data[:-5])
        run = self.one()
        self.assertEqual(points(run, "a"), [(1, 1.0), (2, 2.0)])
        self.assertIn("incomplete", run.notes[0])
        flipped = bytearray(data)
        flipped[-6] ^= 1  # in the last record's data
        self.put(self.NAME, bytes(flipped))
        run = self.one()
        self.assertEqual(points(run, "a"), [(1, 1.0), (2, 2.0)])
        self.assertIn("checksum", run.notes[0])

    def test_a_subfolder_of_hyperparameters_adds_no_run(self):
        self.put(f"run/{self.NAME}", made.events(*made.curve("loss", [(1, 1.0)])))
        self.put(f"run/1732219200.123/{self.NAME}", made.events(made.event(0, 1005, made.hparams({"lr": 0.5, "seed": 3, "opt": "adam", "fast": True}))))
        run = self.one()
        self.assertEqual(run.name, "run")
        self.assertEqual(run.settings, {"lr": 0.5, "seed": 3, "opt": "adam", "fast": True})

    def test_reads_the_settings_of_cleanrl(self):
        table = "|param|value|\n|-|-|\n|seed|7|\n|env_id|CartPole-v1|\n|lr|2.5e-4|\n|cuda|True|\n|entity|None|"
        self.put(f"CartPole-v1__ppo__7__1732219200/{self.NAME}", made.events(made.event(0, 1000, made.text("hyperparameters", table)), *made.curve("r", [(1, 1.0)])))
        self.assertEqual(self.one().settings, {"seed": 7, "env_id": "CartPole-v1", "lr": 2.5e-4, "cuda": True, "entity": None})

    def test_joins_the_folders_of_add_scalars_and_keras(self):
        self.put(f"a/{self.NAME}", made.events(*made.curve("x", [(1, 1.0)])))
        self.put(f"a/loss_train/{self.NAME}", made.events(*made.curve("loss", [(1, 2.0)])))
        self.put(f"b/train/{self.NAME}", made.events(*made.curve("epoch_loss", [(0, 2.0), (1, 1.0)])))
        self.put(f"b/validation/{self.NAME}", made.events(*made.curve("epoch_loss", [(0, 3.0), (1, 2.0)])))
        a, b = self.runs()
        self.assertEqual((a.name, sorted(a.curves)), ("a", ["loss/train", "x"]))
        self.assertEqual((b.name, sorted(b.curves)), ("b", ["train/epoch_loss", "validation/epoch_loss"]))

    def test_a_table_in_the_same_folder_is_the_same_run(self):
        self.put(f"run/{self.NAME}", made.events(*made.curve("a", [(1, 1.0)])))
        self.put("run/log.csv", "step,b\n1,2\n")
        run = self.one()
        self.assertEqual((points(run, "a"), points(run, "b")), ([(1, 1.0)], [(1, 2.0)]))

    def test_sorts_steps_that_go_back(self):
        self.put(self.NAME, made.events(*made.curve("a", [(1, 1.0), (3, 3.0), (2, 2.0)])))
        run = self.one()
        self.assertEqual(points(run, "a"), [(1, 1.0), (2, 2.0), (3, 3.0)])
        self.assertIn("smaller step", run.notes[0])

    def test_skips_large_records(self):
        image = made.field(1, "image") + made.field(4, made.field(4, b"\1" * (3 << 20)))
        small = made.curve("a", [(1, 1.0)])
        head = len(made.events())
        data = made.events() + small[0]
        big = made.field(1, 5.0) + made.field(2, 5) + made.field(5, made.field(1, image))
        import struct
        size = struct.pack("<Q", len(big))
        self.put(self.NAME, data + size + struct.pack("<I", made.masked(size)) + big + b"\0\0\0\0" + made.curve("a", [(2, 2.0)])[0])
        self.assertGreater(head, 0)
        self.assertEqual(points(self.one(), "a"), [(1, 1.0), (2, 2.0)])

    def test_checks_large_records_only_if_they_are_used(self):
        def damaged(*values):
            data = bytearray(made.event(2, 1002, *values))
            data[100] ^= 1
            return bytes(data)

        histogram = made.field(1, "weights") + made.field(5, b"\1" * 3000)
        first, last = made.curve("a", [(1, 1.0), (3, 3.0)])
        self.put(self.NAME, made.events(first, damaged(histogram), last))
        run = self.one()
        self.assertEqual((points(run, "a"), run.notes), ([(1, 1.0), (3, 3.0)], []))
        self.put(self.NAME, made.events(first, damaged(histogram, made.scalar("a", 2.0)), last))
        run = self.one()
        self.assertEqual(points(run, "a"), [(1, 1.0)])
        self.assertIn("checksum", run.notes[0])

    def test_reads_scalars_of_any_form(self):
        backwards = made.record(made.field(5, made.field(1, made.single(2, 7.0) + made.field(1, "a"))) + made.field(2, 7) + made.field(1, 7.0))
        long = "t" * 200
        self.put(self.NAME, made.events(*made.curve("a", [(5, 5.0), (300, -0.5)]), backwards, made.event(2**40, 9, made.scalar(long, 1.0), made.scalar("a", 2.0))))
        run = self.one()
        self.assertEqual(points(run, "a"), [(5, 5.0), (7, 7.0), (300, -0.5), (2**40, 2.0)])
        self.assertEqual(points(run, long), [(2**40, 1.0)])

    def test_bounds_points_and_restarts(self):
        start = made.record(made.field(1, 7.0) + made.field(2, 5) + made.field(7, made.field(1, 1)))
        self.put(self.NAME, made.events(*[start] * 1001))
        self.assertIn("more than 1,000 restarts", self.one().why)
        self.put(self.NAME, made.events(*made.curve("a", [(i, 1.0) for i in range(5)])))
        for form in ("usual", "any"):
            with unittest.mock.patch.multiple(event_files, MOST_POINTS=4, **({} if form == "usual" else {"ONE_SCALAR": re.compile(b"x")})):
                self.assertIn("more than 4 points", self.one().why)

    def test_lines_need_no_memory_for_all_rows(self):
        run = Run("r", "TensorBoard")
        for step in range(20_000):
            run.add("a", step, 0.5, step)
            run.add("b", step, 0.5, step)
        tracemalloc.start()
        count = sum(1 for _ in lines_of(run, {"a": "a", "b": "b"}))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        self.assertEqual(count, 20_000)
        self.assertLess(peak, 1_000_000)  # the rows would need 6 MB


class Tables(InFolder):
    def test_a_column_names_the_run(self):
        self.put("scores.csv", "algo,seed,step,score\n" + "".join(f"{a},{s},{t},{s + t}\n" for a in ("x", "y") for s in (1, 2) for t in (10, 20)))
        runs = self.runs()
        self.assertEqual(sorted((run.settings["algo"], run.settings["seed"]) for run in runs), [("x", 1), ("x", 2), ("y", 1), ("y", 2)])
        self.assertEqual(points(runs[0], "score"), [(10, 11.0), (20, 21.0)])

    def test_the_seed_may_be_beside_the_name_of_the_run(self):
        self.put("t.csv", "run,seed,step,score\na,5,1,2\nb,6,1,3\n")
        self.assertEqual([(run.settings["seed"], points(run, "score")) for run in self.runs()], [(5, [(1, 2.0)]), (6, [(1, 3.0)])])

    def test_large_integers_stay_exact(self):
        self.put("t.csv", "seed,step,score\n18446744073709551615,18446744073709551614,1\n18446744073709551615,,2\n")
        run = self.one("t.csv")
        self.assertEqual(run.settings["seed"], 2**64 - 1)
        self.assertIn((2**64 - 2, 1.0), points(run, "score"))

    def test_a_line_without_its_end_is_left_out(self):
        self.put("log.csv", "step,loss\n1,0.5\n2,12")
        run = self.one()
        self.assertEqual(points(run, "loss"), [(1, 0.5)])
        self.assertIn("still being written", " ".join(run.notes))

    def test_a_half_line_of_json_is_ignored_and_damage_is_an_error(self):
        self.put("a.jsonl", '{"step": 1, "loss": 0.5}\n{"step": 2, "lo')
        self.assertEqual(points(self.one(), "loss"), [(1, 0.5)])
        self.put("a.jsonl", '{"step": 1, "loss": 0.5}\n{"step" 2}\n{"step": 3, "loss": 0.1}\n')
        run = self.one()
        self.assertEqual(run.state, "FAILED")
        self.assertIn("a.jsonl:2", run.why)

    def test_each_metric_is_read_by_itself(self):
        self.put("v/metrics.csv", "epoch,step,train_loss,val_loss\n0,9,0.5,\n0,9,,0.7\n1,19,0.4,\n")
        self.put("v/hparams.yaml", "lr: 0.1\nseed: 4\n")
        run = self.one()
        self.assertEqual((points(run, "train_loss"), points(run, "val_loss")), ([(9, 0.5), (19, 0.4)], [(9, 0.7)]))
        self.assertEqual((run.settings["lr"], run.settings["seed"]), (0.1, 4))


class Trainers(InFolder):
    def test_a_monitor_without_a_header_loses_no_episode(self):
        self.put("run/monitor.csv", "10.5,100,1.0\n20.5,50,2.0\n")
        self.assertEqual(points(self.one(), "monitor/return"), [(100, 10.5), (150, 20.5)])

    def test_a_monitor_of_a_restarted_run_repeats_its_header(self):
        head = '#{"t_start": 5.0, "env_id": "CartPole-v1"}\nr,l,t\n'
        self.put("run/monitor.csv", head + "1,10,1.0\n" + head + "2,20,0.5\n")
        run = self.one()
        self.assertEqual(points(run, "monitor/return"), [(10, 1.0), (30, 2.0)])
        self.assertEqual(run.settings["env"], "CartPole-v1")

    def test_monitors_of_several_envs_are_one_run(self):
        for env, rows in enumerate(("1,10,1.0\n3,10,3.0\n", "2,10,2.0\n")):
            self.put(f"run/{env}.monitor.csv", '#{"t_start": 5.0, "env_id": "x"}\nr,l,t\n' + rows)
        self.put("other_seed3.monitor.csv", "r,l,t\n7,5,1.0\n")
        of_envs, of_a_run = sorted(self.runs(), key=lambda run: run.name != "run")
        self.assertEqual(points(of_envs, "monitor/return"), [(10, 1.0), (20, 2.0), (30, 3.0)])
        self.assertEqual((of_a_run.name, points(of_a_run, "monitor/return")), ("other_seed3", [(5, 7.0)]))

    def test_evaluations_are_means_and_never_unpickled(self):
        self.put("run/evaluations.npz", made.npz(timesteps=made.npy("<i8", (2,), [100, 200]), results=made.npy("<f8", (2, 2), [1.0, 3.0, 5.0, 7.0])))
        self.assertEqual(points(self.one(), "eval/mean_reward"), [(100, 2.0), (200, 6.0)])
        bad = made.npy("<f8", (1,), [1.0]).replace(b"'<f8'", b"'|O8'")
        self.put("run/evaluations.npz", made.npz(timesteps=bad, results=bad))
        run = self.one()
        self.assertEqual(run.state, "FAILED")
        self.assertIn("never unpickled", run.why)

    def test_csv_of_sb3_wins_over_single_precision(self):
        self.put("run/progress.csv", "time/total_timesteps,rollout/ep_rew_mean\n100,0.1\n200,0.2\n")
        self.put("run/events.out.tfevents.1000.h", made.events(*made.curve("rollout/ep_rew_mean", [(100, 0.1), (200, 0.2)]), *made.curve("train/loss", [(100, 1.0)])))
        run = self.one()
        self.assertEqual(points(run, "rollout/ep_rew_mean"), [(100, 0.1), (200, 0.2)])
        self.assertEqual(points(run, "train/loss"), [(100, 1.0)])

    def test_the_settings_of_the_zoo_need_no_objects(self):
        self.put("ppo/CartPole-v1_1/evaluations.npz", made.npz(timesteps=made.npy("<i8", (1,), [100]), results=made.npy("<f8", (1, 1), [1.0])))
        args = "!!python/object/apply:collections.OrderedDict\n- - - algo\n    - ppo\n  - - env\n    - CartPole-v1\n  - - seed\n    - 9\n"
        self.put("ppo/CartPole-v1_1/CartPole-v1/args.yml", args)
        self.put("ppo/CartPole-v1_1/CartPole-v1/config.yml", args.replace("seed", "batch_size"))
        settings = self.one().settings
        self.assertEqual((settings["algo"], settings["env"], settings["seed"], settings["batch_size"]), ("ppo", "CartPole-v1", 9, 9))
        self.assertEqual(as_mapping(SimpleYaml(args).document()), {"algo": "ppo", "env": "CartPole-v1", "seed": 9})

    def test_a_restored_trial_of_tune_counts_its_later_record(self):
        rows = [{"training_iteration": i, "score": v, "config": {"lr": 0.1}, "done": i == 3} for i, v in ((1, 1.0), (2, 2.0), (2, 20.0), (3, 3.0))]
        self.put("t/result.json", "".join(json.dumps(row) + "\n" for row in rows))
        self.put("t/params.json", '{"lr": 0.1, "seed": 2}')
        self.put("t/progress.csv", "training_iteration,score\n1,99\n")
        run = self.one()
        self.assertEqual(points(run, "score"), [(1, 1.0), (2, 20.0), (3, 3.0)])
        self.assertEqual((run.settings, run.state), ({"lr": 0.1, "seed": 2}, "COMPLETED"))
        self.assertNotIn("config/lr", run.curves)

    def test_counters_of_rllib_are_floats(self):
        rows = [{"training_iteration": i, "num_env_steps_sampled_lifetime": 200.0 * i + 1, "env_runners": {"episode_return_mean": i}} for i in (1, 2)]
        self.put("t/result.json", "".join(json.dumps(row) + "\n" for row in rows))
        self.assertEqual(points(self.one(), "env_runners/episode_return_mean"), [(201, 1.0), (401, 2.0)])

    def test_a_summary_row_of_the_trainer_is_no_point(self):
        history = [{"step": 5, "loss": 2.0}, {"step": 10, "loss": 1.0}, {"step": 10, "train_runtime": 3.0, "train_loss": 1.5, "epoch": 1.0}]
        for name, step in (("checkpoint-5", 5), ("checkpoint-10", 10)):
            state = {"global_step": step, "max_steps": 20, "log_history": history[:1] if step == 5 else history}
            self.put(f"out/{name}/trainer_state.json", json.dumps(state))
        run = self.one()
        self.assertEqual((run.name, points(run, "loss")), ("out", [(5, 2.0), (10, 1.0)]))
        self.assertNotIn("train_loss", run.curves)
        self.assertEqual(run.state, "UNFINISHED")

    def test_hydra_references_are_resolved_and_nothing_is_executed(self):
        self.put("0/.hydra/config.yaml", "seed: 3\nlr: 0.1\ncopy: ${lr}\nevil: ${oc.env:HOME}\n")
        self.put("0/log.csv", "step,loss\n1,0.5\n")
        settings = self.one().settings
        self.assertEqual((settings["seed"], settings["copy"], settings["evil"]), (3, 0.1, "${oc.env:HOME}"))


class Trackers(InFolder):
    def test_a_resumed_run_of_wandb_is_one_run(self):
        first = made.wandb_run("id1", {"lr": {"value": 0.1}, "seed": 5}, [(0, {"loss": 1.0}), (1, {"loss": 0.9}), (2, {"loss": 0.8})], None, 1000)
        second = made.wandb_run("id1", {"lr": 0.1, "seed": 5}, [(2, {"loss": 0.7}), (3, {"loss": math.nan, "other": 1})], 0, 2000)
        self.put("wandb/offline-run-1-id1/run-id1.wandb", first)
        self.put("wandb/offline-run-2-id1/run-id1.wandb", second)
        run = self.one()
        self.assertEqual(points(run, "loss")[:3], [(0, 1.0), (1, 0.9), (2, 0.7)])
        self.assertTrue(math.isnan(points(run, "loss")[3][1]))
        self.assertEqual((points(run, "other"), run.state), ([(3, 1.0)], "COMPLETED"))

    def test_a_history_may_begin_late_and_span_blocks(self):
        rows = [(61_010 + i, {"loss": i / 7, "text": "x" * 9000}) for i in range(30)]
        self.put("w/run-a.wandb", made.wandb_run("a", {}, rows))
        self.assertEqual(points(self.one(), "loss"), [(step, values["loss"]) for step, values in rows])

    def test_a_crashed_run_of_wandb_is_counted(self):
        self.put("a/run-a.wandb", made.wandb_run("a", {}, [(0, {"x": 1})], 1))
        self.put("b/run-b.wandb", made.wandb_run("b", {}, [(0, {"x": 1})], None)[:-3])
        self.assertEqual([run.state for run in self.runs()], ["FAILED", "UNFINISHED"])

    def test_infinity_and_nan_of_mlflow(self):
        database = sqlite3.connect(self.folder / "mlflow.db")
        database.executescript("""
            CREATE TABLE experiments (experiment_id INTEGER, name TEXT); INSERT INTO experiments VALUES (1, '실험');
            CREATE TABLE runs (run_uuid TEXT, name TEXT, status TEXT, start_time INTEGER, lifecycle_stage TEXT, experiment_id INTEGER);
            INSERT INTO runs VALUES ('u', 'r', 'FINISHED', 1000, 'active', 1), ('v', 's', 'RUNNING', 1000, 'active', 1), ('w', 't', 'FINISHED', 1, 'deleted', 1);
            CREATE TABLE params (key TEXT, value TEXT, run_uuid TEXT); INSERT INTO params VALUES ('seed', '3', 'u'), ('lr', '1e-3', 'u');
            CREATE TABLE metrics (key TEXT, value REAL, timestamp INTEGER, run_uuid TEXT, step INTEGER, is_nan INTEGER);
            INSERT INTO metrics VALUES ('m', 1.0, 1000, 'u', 0, 0), ('m', 1.7976931348623157e308, 1000, 'u', 1, 0), ('m', 0, 1000, 'u', 2, 1);""")
        database.commit()
        database.close()
        finished, running = self.runs()
        self.assertEqual(points(finished, "m")[:2], [(0, 1.0), (1, math.inf)])
        self.assertTrue(math.isnan(points(finished, "m")[2][1]))
        self.assertEqual((finished.settings, running.state), ({"seed": 3, "lr": 0.001}, "UNFINISHED"))

    def test_a_folder_of_mlflow_has_the_last_value_by_time(self):
        self.put("mlruns/0/meta.yaml", "name: Default\n")
        self.put("mlruns/0/abc/meta.yaml", "run_name: r\nstatus: 3\nlifecycle_stage: active\nstart_time: 1000\n")
        self.put("mlruns/0/abc/params/seed", "2")
        self.put("mlruns/0/abc/metrics/a/loss", "1000 0.5 1\n3000 0.3 1\n2000 0.4 1\n")
        self.assertEqual(points(self.one(), "a/loss"), [(1, 0.5), (1, 0.4), (1, 0.3)])

    def test_a_journal_of_optuna(self):
        lines = [{"op_code": 0, "study_name": "s", "directions": [2]}]
        for trial, (state, value) in enumerate(((1, [0.5]), (2, [0.2]), (3, None), (0, None))):
            lines += [{"op_code": 4, "study_id": 0}, {"op_code": 5, "trial_id": trial, "param_name": "act", "param_value_internal": 1,
                       "distribution": json.dumps({"name": "CategoricalDistribution", "attributes": {"choices": ["a", "b"]}})},
                      {"op_code": 7, "trial_id": trial, "step": 4, "intermediate_value": math.inf}]
            lines += [{"op_code": 6, "trial_id": trial, "state": state, "values": value}] if state else []
        self.put("study.log", "".join(json.dumps(line) + "\n" for line in lines) + '{"op_code": 4, "stu')
        runs = self.runs()
        self.assertEqual([run.state for run in runs], ["COMPLETED", "PRUNED", "FAILED", "UNFINISHED"])
        self.assertEqual((points(runs[0], "objective"), points(runs[0], "intermediate_objective")), ([(4, 0.5)], [(4, math.inf)]))
        self.assertEqual((runs[0].settings, runs[0].directions["objective"]), ({"act": "b"}, 1))


class Commands(InFolder):
    def csv_run(self, name, score, steps=(1, 2, 3)):
        self.put(f"{name}/log.csv", "step,score\n" + "".join(f"{step},{score + step}\n" for step in steps))

    def test_points_and_seeds_of_folder_names(self):
        for algo in ("a", "b"):
            for seed in (4, 5):
                self.csv_run(f"runs/{algo}_seed{seed}_2026-11-30_10-20-30", seed)
        code, out, err = self.command("runs", "--to", "out")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual([(line["name"], line["seed"]) for line in self.plan()], [("a", 4), ("a", 5), ("b", 4), ("b", 5)])
        self.assertEqual([(row["step"], row["metrics"]) for row in self.rows(self.plan()[0]["trial_id"])], [(1, {"score": 5.0}), (2, {"score": 6.0}), (3, {"score": 7.0})])
        self.assertIn("found 4 runs", out)

    def test_a_pattern_names_settings(self):
        for seed in (1, 2):
            self.csv_run(f"runs/Ant__ppo__{seed}__x", seed)
        self.assertEqual(self.command("runs", "--to", "out", "--name", "{env}__{algo}__{seed}__*")[0], 0)
        trial = json.loads(next((self.folder / "out/trials").glob("*/trial.json")).read_text())
        self.assertEqual((trial["config"]["env"]["plugin"], trial["config"]["learner"]["options"]), ("Ant", {"algo": "ppo"}))
        code, _, err = self.command("runs", "--to", "out2", "--name", "{env}-{seed}")
        self.assertEqual(code, 2)
        self.assertIn("fits 0 of 2 runs", err)

    def test_folder_numbers_are_no_seeds(self):
        self.csv_run("runs/PPO_1", 1)
        self.csv_run("runs/PPO_7", 2)
        code, out, _ = self.command("runs", "--to", "out")
        self.assertEqual((code, [line["seed"] for line in self.plan()]), (0, [0, 1]))
        self.assertIn("seeds of some runs are unknown", out)

    def test_runs_that_continue_each_other_are_offered_as_one(self):
        self.csv_run("runs/PPO_1", 1, (10, 20, 30))
        self.csv_run("runs/PPO_2", 2, (40, 50, 60))
        code, _, err = self.command("runs", "--to", "out")
        self.assertEqual(code, 2)
        self.assertIn("--join yes", err)
        self.assertEqual(self.command("runs", "--to", "out", "--join", "yes")[0], 0)
        self.assertEqual([row["step"] for row in self.rows(self.plan()[0]["trial_id"])], [10, 20, 30, 40, 50, 60])

    def test_the_only_setting_that_differs_is_the_seed(self):
        for lr in (0.1, 0.2):
            for number in (0, 1, 2):
                self.csv_run(f"runs/{lr}-{number}", 1)
                self.put(f"runs/{lr}-{number}/config.json", json.dumps({"lr": lr, "rng": number, "hidden": 64}))
        code, out, _ = self.command("runs", "--to", "out")
        self.assertEqual((code, [(line["name"], line["seed"]) for line in self.plan()]), (0, [(f"lr={lr}", n) for lr in (0.1, 0.2) for n in (0, 1, 2)]))
        self.assertIn("'rng' is the only setting that differs", out)

    def test_an_unknown_direction_is_asked_for(self):
        self.put("runs/log.csv", "step,zeal\n1,2\n")
        code, _, err = self.command("runs", "--to", "out")
        self.assertEqual(code, 2)
        self.assertIn("hint: backplane import runs --to out --metric zeal --direction up".replace(" --to out", ""), err)
        self.assertFalse((self.folder / "out").exists())
        self.assertEqual(self.command("runs", "--to", "out", "--metric", "zeal", "--direction", "up")[0], 0)

    def test_importing_again_adds_what_is_new(self):
        self.csv_run("runs/a_seed1", 1)
        self.assertEqual(self.command("runs", "--to", "out")[0], 0)
        before = self.plan()
        self.assertIn("unchanged since", self.command("runs", "--to", "out")[1])
        self.csv_run("runs/a_seed2", 2)
        self.assertEqual(self.command("runs", "--to", "out")[0], 0)
        self.assertEqual(len(self.plan()), 2)
        self.assertEqual(self.plan()[0]["seed"], before[0]["seed"])
        self.put("other/a_seed3/log.csv", "step,score\n1,2\n")
        self.assertEqual(self.command("other", "--to", "out")[0], 0)
        self.assertEqual([line["seed"] for line in self.plan()], [1, 2, 3])

    def test_only_imports_into_the_same_folder_wait(self):
        self.csv_run("runs/a", 1)
        self.csv_run("more/b", 2)
        self.assertEqual(self.command("runs", "--to", "outs/one")[0], 0)
        lock = os.open(self.folder / "outs/one", os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        self.assertEqual(self.command("runs", "--to", "outs/two")[0], 0)
        waiting = subprocess.Popen([sys.executable, "-B", str(TOOL / "backplane-import.py"), "more", "--to", "outs/one"], cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertIn("waiting for a different import into outs/one", waiting.stderr.readline())
        os.close(lock)
        self.assertIn("2 trials", waiting.communicate(timeout=60)[0])
        self.assertEqual(waiting.returncode, 0)
        self.put("broken.csv", "x\n")
        self.assertEqual(self.command("broken.csv", "--to", "outs/three")[0], 2)
        self.assertFalse((self.folder / "outs/three").exists())

    def test_a_foreign_folder_is_never_overwritten(self):
        self.csv_run("runs/a", 1)
        self.put("mine/thesis.txt", "x")
        code, _, err = self.command("runs", "--to", "mine")
        self.assertEqual(code, 2)
        self.assertIn("expected a new folder", err)
        self.assertEqual(sorted(os.listdir(self.folder / "mine")), ["thesis.txt"])

    def test_several_values_of_a_step_are_several_lines(self):
        self.put("runs/a/events.out.tfevents.1.h", made.events(*made.curve("return", [(1, 1.0), (1, 2.0), (2, math.inf)])))
        self.assertEqual(self.command("runs", "--to", "out")[0], 0)
        rows = self.rows(self.plan()[0]["trial_id"])
        self.assertEqual([(row["iteration"], row["step"], row["metrics"]["return"]) for row in rows], [(1, 1, 1.0), (2, 1, 2.0), (3, 2, None)])

    def test_results_of_backplane_below_a_folder_are_left_out(self):
        self.csv_run("runs/a_seed1", 1)
        self.assertEqual(self.command("runs", "--to", "runs/out")[0], 0)
        self.csv_run("runs/a_seed2", 1)
        code, out, _ = self.command("runs", "--to", "runs/out")
        self.assertEqual((code, len(self.plan("runs/out"))), (0, 2))
        self.assertIn("is left out", out)

    def test_an_entry_point_reads_a_format_of_its_own(self):
        self.put("packages/mine.py", """
def read(path):
    if path.suffix == ".mylog":
        points = [tuple(map(float, line.split())) for line in path.read_text().splitlines()]
        yield {"name": path.stem, "settings": {"lr": 0.1, "seed": 3}, "metrics": {"loss": [(int(step), loss) for step, loss in points]}}
""")
        self.put("packages/mine-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
        self.put("packages/mine-1.0.dist-info/entry_points.txt", "[backplane.importers]\nmylog = mine:read\n")
        self.put("runs/x.mylog", "1 0.5\n2 0.25\n")
        sys.path.insert(0, str(self.folder / "packages"))
        self.addCleanup(sys.path.remove, str(self.folder / "packages"))
        run = self.one("runs")
        self.assertEqual((run.kind, run.settings, points(run, "loss")), ("mylog", {"lr": 0.1, "seed": 3}, [(1, 0.5), (2, 0.25)]))

    def test_tasks_need_every_arm(self):
        for env in ("x", "y"):
            for algo in ("p", "q"):
                self.put(f"runs/{env}/{algo}/log.csv", "step,score\n1,2\n2,3\n")
                self.put(f"runs/{env}/{algo}/config.json", json.dumps({"env": env, "algo": algo, "seed": 1}))
        self.put("references.json", json.dumps({"x": [0, 10], "y": [5, 1]}))
        self.assertEqual(self.command("runs", "--to", "out", "--reference", "references.json")[0], 0)
        config = json.loads("\n".join((self.folder / "out/config.yaml").read_text().splitlines()[1:]))
        self.assertEqual(config["compare"]["tasks"], [{"name": "x", "reference": [0.0, 10.0]}, {"name": "y", "reference": [5.0, 1.0]}])
        self.put("references.json", json.dumps({"x": [0, 10]}))
        self.assertEqual(self.command("runs", "--to", "out2", "--reference", "references.json")[0], 2)
        self.assertEqual(sorted(os.listdir(self.folder)), ["out", "references.json", "runs"])
        self.assertEqual(sorted(line["name"] for line in self.plan()), ["p on x", "p on y", "q on x", "q on y"])

    def test_wrong_lines_exit_with_2(self):
        self.put("empty/readme.txt", "x")
        for words in (["nowhere"], ["empty"], ["empty", "--to", "."]):
            code, _, err = self.command(*words)
            self.assertEqual((code, err[:11]), (2, "backplane: "), words)
        for path in ("empty", "empty/readme.txt"):
            self.assertEqual(self.command(path, "--folder-only"), (3, "", ""), path)


class Names(unittest.TestCase):
    def test_known_directions(self):
        for name, way in (("eval/mean_reward", 1), ("charts/episodic_return", 1), ("val_loss", -1), ("Loss/train", -1), ("eval_accuracy", 1), ("time/fps", 1),
                          ("rollout/ep_len_mean", 0), ("train/learning_rate", 0), ("zeal", 0), ("losses/policy_loss", -1)):
            self.assertEqual(direction(name), way, name)

    def test_two_names_never_become_one(self):
        names = typed_names(["val-loss", "val loss", "val_loss", "env_steps", "보상", "1st", "a//b"])
        self.assertEqual(len(set(names.values())), len(names))
        self.assertEqual((names["val_loss"], names["env_steps"], names["보상"], names["1st"]), ("val_loss", "reported/env_steps", "보상", "_1st"))


if __name__ == "__main__":
    unittest.main()
