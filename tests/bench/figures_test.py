#!/usr/bin/env python3
"""scripts/bench: figures are read from what programs print, judged against their bars, and shown on the page and in the picture."""
import json
import pathlib
import re
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
from figures import page, picture, stored  # noqa: E402
from figures.model import Goal, Part  # noqa: E402
from figures.parts import PARTS  # noqa: E402
from figures.parts_peers import TEXTS  # noqa: E402
from figures.peers import PEERS  # noqa: E402
from figures.readers import figures, joined, last_json, lines, pairs, rate, spreads  # noqa: E402
from figures.run import Failed, Place, Skipped, run  # noqa: E402
from figures.sitting import Sitting, least_disturbed, missing  # noqa: E402

# Modules of bench/ that parts and scripts import; they are not measurements.
IMPORTED = {"report.py", "measured_run.py", "peers/step_peer.py", "peers/raw_rate.py", "peers/train_sb3.py", "peers/train_rllib.py",
            "peers/ars_reference.py", "peers/seq2seq_peer.py", "peers/seq2seq_runs.py", "peers/small_envs.py"}
# EnvPool's tasks in Gymnasium's version, by the names of our plugins. ball_catch and EnvPool's Catch differ in size.
ENVPOOL = {"acrobot", "ant", "cartpole", "half_cheetah", "hopper", "humanoid", "humanoid_standup", "inverted_double_pendulum", "inverted_pendulum",
           "mountain_car", "mountain_car_continuous", "pendulum", "pusher", "reacher", "swimmer", "walker2d"}
# The names at 1475f490 called ratios milliseconds.
RENAMED = {"sweep/ray_tune_ms_per_trial": "sweep/ray_tune_over_ours", "sweep/hydra_ms_per_job": "sweep/hydra_over_ours"}
MACHINE = {"cpu": "a CPU", "cores": 2, "system": "Linux 6"}


def row(median, low=None, high=None, n=5, disturbed=False):
    return {"median": median, "min": median if low is None else low, "max": median if high is None else high, "n": n, "disturbed": disturbed}


def record(part, date="2026-01-02T03:04:05+00:00", machine=MACHINE, **rows):
    return {"part": part, "date": date, "command": f"scripts/bench --only {part}", "quick": False, "others": 0.0, "commit": "abc", "machine": machine,
            "figures": {name.replace("__", "/"): found for name, found in rows.items()}}


class Verdicts(unittest.TestCase):
    def test_between_the_bars_the_floor_is_reached(self):
        goal = Goal("x", "", 0.9, 1.0)
        self.assertEqual(["reached", "floor reached", "BELOW"], [goal.verdict(row(value)) for value in (1.0, 0.95, 0.89)])

    def test_less_is_better_where_the_goal_says_so(self):
        goal = Goal("x", "", 10, 5, lower=True)
        self.assertEqual(["reached", "floor reached", "ABOVE"], [goal.verdict(row(value)) for value in (5, 10, 11)])

    def test_a_disturbed_figure_has_no_verdict(self):
        goal = Goal("x", "", None, 2)
        self.assertEqual(["disturbed", "disturbed"], [goal.verdict(row(value, disturbed=True)) for value in (2.5, 1.5)])

    def test_a_disturbed_ratio_shows_nothing(self):
        self.assertEqual("disturbed", Goal("x", "", None, 2, over="a peer").verdict(row(30, disturbed=True)))

    def test_without_bars_there_is_none(self):
        self.assertEqual("", Goal("x", "").verdict(row(1)))


class Readers(unittest.TestCase):
    def test_the_last_object_counts(self):
        self.assertEqual({"b": 2}, last_json('table\n{"a": 1}\nmore\n{"b": 2}\n'))
        self.assertEqual({"a": [1]}, last_json('{\n "a": [1]\n}\n'))
        with self.assertRaises(ValueError):
            last_json("nothing")

    def test_a_number_is_a_spread_of_one(self):
        self.assertEqual({"x": {"median": 3, "min": 3, "max": 3, "n": 1}}, figures('{"figures": {"x": 3}}'))

    def test_paths_lead_into_lists_and_double_underscores_are_slashes(self):
        self.assertEqual(7, spreads(a__1="rows.1.value")('{"rows": [{"value": 1}, {"value": 7}]}')["a/1"]["median"])

    def test_microseconds_become_millions_a_second(self):
        found = rate("m", "us", "agents")('{"us": {"median": 2.0, "min": 1.0, "max": 4.0, "n": 3}, "agents": 10}')
        self.assertEqual({"m": {"median": 5.0, "min": 2.5, "max": 10.0, "n": 3}}, found)

    def test_of_pairs_the_quiet_ones_count_and_else_all_disturbed(self):
        all_, quiet = {"E": row(0.5)}, {"E": row(0.9)}
        read = joined(pairs("E/1", "E"), spreads(us="us"))
        calm = read(json.dumps({"all": all_, "quiet": quiet, "us": 3}))
        loud = read(json.dumps({"all": all_, "quiet": {"E": None}, "us": 3}))
        self.assertEqual((0.9, False, 3), (calm["E/1"]["median"], calm["E/1"]["disturbed"], calm["us"]["median"]))
        self.assertEqual((0.5, True), (loud["E/1"]["median"], loud["E/1"]["disturbed"]))

    def test_lines_have_named_numbers(self):
        read = lines(r"^(?P<what>\w+): (?P<median>[\d.,]+) \((?P<min>\d+) to (?P<max>\d+)\)", lambda match: "it/" + match["what"])
        self.assertEqual({"it/a": {"median": 1500.5, "min": 1, "max": 2000, "n": 1}}, read("head\na: 1,500.5 (1 to 2000)\nb: none\n"))

    def test_tables_of_texts_are_read(self):
        generate = TEXTS[0].read("greedy, 1 core               54.0/s      51.9/s          1.05 (0.99 .. 1.07)  bar 1.3: BELOW\n"
                                 "4 beams, 2 cores             40.7/s      33.5/s          1.22 (1.17 .. 1.23)  bar 2.0: disturbed\n")
        self.assertEqual({"generate/greedy/1", "generate/4_beams/2"}, set(generate))
        self.assertEqual((1.05, 0.99, 1.07), tuple(generate["generate/greedy/1"][key] for key in ("median", "min", "max")))
        self.assertTrue(generate["generate/4_beams/2"]["disturbed"])
        training = TEXTS[1].read("  ours / hf                                    ~ 1.41 (1.18 .. 1.44)  by CPU time  1.49 (1.44 .. 1.55)  3 of 3 disturbed\n"
                                 "  ours_parallel / hf or hf_2threads              1.93 (1.72 .. 2.10)  by CPU time  1.00 (1.00 .. 1.00)  0 of 3 disturbed\n")
        self.assertTrue(training["seq2seq_training/ours/hf"]["disturbed"])
        self.assertEqual(1.93, training["seq2seq_training/ours_parallel/hforhf_2threads"]["median"])


class Registry(unittest.TestCase):
    def test_names_are_unique_and_every_part_is_measured_or_says_why_not(self):
        self.assertEqual(len(PARTS), len({part.name for part in PARTS}))
        goals = [goal.figure for part in PARTS for goal in part.goals]
        self.assertEqual(len(goals), len(set(goals)))
        for part in PARTS:
            self.assertNotEqual(bool(part.command), bool(part.missing), part.name)
            self.assertLessEqual(set(part.pythons), {*PEERS, "oracle"}, part.name)

    def test_goals_of_the_first_measurement_keep_names_and_floors(self):
        """goals.json: every figure at 1475f490. A floor may rise."""
        now = {goal.figure: goal for part in PARTS for goal in part.goals}
        for figure, then in json.loads(pathlib.Path(__file__).with_name("goals.json").read_text()).items():
            with self.subTest(figure):
                goal = now[RENAMED.get(figure, figure)]
                self.assertEqual(then["lower"], goal.lower)
                for bar in ("floor", "target"):
                    if then[bar] is not None:
                        (self.assertLessEqual if goal.lower else self.assertGreaterEqual)(getattr(goal, bar), then[bar])

    def test_ratios_are_not_named_by_a_unit(self):
        units = re.compile(r"_(ms|us|s|M)(_per_|$|/)")
        self.assertEqual([], [goal.figure for part in PARTS for goal in part.goals if goal.over and units.search(goal.figure)])

    def test_every_shared_task_of_envpool_has_a_row(self):
        tasks = {file.name for file in (ROOT / "plugins/envs").iterdir()} & ENVPOOL
        self.assertEqual(set(), tasks - {goal.figure.split("/")[1] for part in PARTS for goal in part.goals if goal.figure.endswith("/envpool")})

    def test_every_script_is_run_by_a_part(self):
        """A script that only people run breaks unnoticed."""
        run = {word.removeprefix("{here}/") for part in PARTS for word in part.command}
        scripts = {str(file.relative_to(ROOT / "bench")) for folder in ("bench", "bench/peers") for file in (ROOT / folder).glob("*.py")}
        self.assertEqual(set(), scripts - run - IMPORTED)
        self.assertEqual(set(), {word for word in run if word.endswith(".py")} - scripts)


class Runs(unittest.TestCase):
    def tried(self, script):
        return run(Part("it", "", command=("sh", "-c", script)), Place(pathlib.Path("nowhere"), pathlib.Path("nowhere"), None), quick=True)

    def test_a_script_that_can_not_measure_here_says_why_and_is_no_failure(self):
        with self.assertRaisesRegex(Skipped, "^no such processor$"):
            self.tried("echo looking; echo no such processor; exit 77")
        with self.assertRaisesRegex(Failed, "exit 1"):
            self.tried("exit 1")


class Sittings(unittest.TestCase):
    PARTS = [Part(name, "", command=("x",), minutes=5, goals=(Goal(name, ""),)) for name in ("a", "b", "c")]

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file, self.now = pathlib.Path(folder.name) / "new/sitting.json", 0.0

    def sitting(self, minutes=None, only=None):
        return Sitting(self.file, {"only": only}, [part.name for part in self.PARTS], minutes, clock=lambda: self.now)

    def names(self, sitting):
        return [part.name for part in sitting.left(self.PARTS)]

    def test_the_same_choice_resumes_and_another_begins_again(self):
        first = self.sitting()
        first.finish(self.PARTS[0], failed=True)
        resumed = self.sitting()
        self.assertEqual((["b", "c"], ["a"]), (self.names(resumed), resumed.failed))
        self.assertEqual(["a", "b", "c"], self.names(self.sitting(only=["a"])))
        resumed.end()
        self.assertEqual(["a", "b", "c"], self.names(self.sitting()))

    def test_a_part_begins_only_if_three_times_its_minutes_are_left(self):
        sitting = self.sitting(minutes=20)
        self.assertTrue(self.sitting(minutes=1).has_time_for(self.PARTS[0]), "a sitting measures at least one part")
        sitting.finish(self.PARTS[0], failed=False)
        self.now = 5 * 60
        self.assertTrue(sitting.has_time_for(self.PARTS[1]))
        self.now = 6 * 60
        self.assertFalse(sitting.has_time_for(self.PARTS[1]))

    def test_a_disturbed_part_is_measured_again_and_the_best_record_kept(self):
        part = self.PARTS[0]
        tries = iter([record("a", a=row(1, disturbed=True)), record("a", a=row(2)), record("a", a=row(3))])
        self.assertEqual(2, least_disturbed(part, lambda: next(tries))["figures"]["a"]["median"])
        self.assertEqual(3, next(tries)["figures"]["a"]["median"], "the second record was calm")
        always = iter([record("a", a=row(k, disturbed=True)) for k in range(9)])
        self.assertEqual(0, least_disturbed(part, lambda: next(always), tries=2)["figures"]["a"]["median"])
        self.assertEqual(2, next(always)["figures"]["a"]["median"])

    def test_absent_and_disturbed_figures_are_missing(self):
        records = {"a": record("a", a=row(1)), "b": record("b", b=row(1, disturbed=True))}
        self.assertEqual(["b", "c"], [part.name for part in missing(self.PARTS, records)])


class Page(unittest.TestCase):
    PARTS = [Part("fast", "", command=("x",), goals=(Goal("fast/a", "stepping", 1, 2, over="a peer"), Goal("fast/us", "a step", None, 5, unit="us", lower=True))),
             Part("far", "", command=("x",), pythons=("sb3",), goals=(Goal("far/b", "training", 1, 3, over="SB3"),)),
             Part("open", "", missing="no script yet", goals=(Goal("open/c", "flying"),))]

    def test_a_row_says_what_over_whom_bars_verdict_date_machine_and_part(self):
        text = page.page(self.PARTS, {"fast": record("fast", fast__a=row(1.5, 1.25, 1.75), fast__us=row(6, disturbed=True, n=1))})
        self.assertIn("| stepping | a peer | **1.5** (1.25 .. 1.75, n 5) | ≥ 1 / 2 | floor reached | 2026-01-02, A | `fast` |", text)
        self.assertIn("| a step | ~ **6** us | ≤ 5 | disturbed | 2026-01-02, A | `fast` |", text)
        self.assertIn("| training | SB3 | ≥ 1 / 3 | `far` has not run; it needs `sb3` |", text)
        self.assertIn("| flying |  |  | no script yet |", text)
        self.assertIn("- A: a CPU, 2 cores, Linux 6", text)

    def test_another_machine_has_another_letter(self):
        text = page.page(self.PARTS, {"fast": record("fast", fast__a=row(1)), "far": record("far", machine={**MACHINE, "cores": 4}, far__b=row(1))})
        self.assertIn("2026-01-02, B | `far` |", text)

    def test_the_newest_record_counts_and_what_is_kept_gives_the_same_page(self):
        old, new = record("fast", fast__a=row(1.0)), record("fast", date="2026-02-02T00:00:00+00:00", fast__a=row(1.123456789))
        found = stored.newest({"fast": new}, {"fast": old})
        self.assertEqual(1.123456789, found["fast"]["figures"]["fast/a"]["median"])
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            file = folder / "performance.json"
            file.write_text(json.dumps(stored.for_page(found, self.PARTS)))
            self.assertEqual(page.page(self.PARTS, found), page.page(self.PARTS, stored.of_page(file)))
            stored.save(folder / "runs", new)
            self.assertEqual(found, {name: {key: value for key, value in kept.items() if key != "schema"}
                                     for name, kept in stored.of_folder(folder / "runs").items()})


class Picture(unittest.TestCase):
    def test_equal_ratios_are_equally_far_apart_and_disturbed_ones_open(self):
        goals = [Goal(f"g{ratio}", "what", None, 2, over="a peer") for ratio in (1, 10, 100)]
        rows = [row(1), row(10, disturbed=True), row(100)]
        drawn = xml.fromstring(picture.picture(list(zip(goals, rows))))
        circles = [element for element in drawn.iter() if element.tag.endswith("circle")]
        one, ten, hundred = (float(circle.get("cx")) for circle in circles)
        self.assertAlmostEqual(ten - one, hundred - ten, delta=0.2)
        self.assertEqual("#fff", circles[1].get("fill"))
        self.assertNotEqual("#fff", circles[0].get("fill"))
        self.assertEqual(3, sum("a peer" in "".join(element.itertext()) for element in drawn.iter() if element.tag.endswith("text")))


if __name__ == "__main__":
    unittest.main()
