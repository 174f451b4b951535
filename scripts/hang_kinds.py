"""The kinds of hang that scripts/check_hangs makes: for each an experiment, the component that hangs, and the name to be printed."""
import dataclasses

from hang_steps import checks, fifo, finished_batch, halts_terminal, has_process, hold_database, orphan_trial, own_programs, runs, sends_stop_to
from hang_texts import (DEAF, ENDLESS, FIGURES_HANG, HANGS, ON_PATH, PROGRAM, QUIET, REPORT_CHECK_HANGS, REPORT_HANGS, CHECKED, SHORT, SIDE,
                        command, faulty, monitored, python_env, search, slurm, unruly)

HANG_S = 3     # resources.hang_timeout of most kinds
PYTHON_S = 10  # of kinds that import Gymnasium, which takes seconds on a busy machine
NEVER_S = 300  # of kinds with a stop: the hang must not end by itself
AFTER_S = 10   # a batch must end or resume within its hang_timeout plus this
STOPPED_S = 2 * HANG_S + AFTER_S  # the same for a trial that is in state T
GRACE_S = 30   # from a request to end until a trial is killed


@dataclasses.dataclass(frozen=True)
class Stop:
    """A way to stop a run, and the condition for the stop: the run waits."""
    how: str             # ctrl_c, sigterm, stop, twice
    during: object       # session, folder -> whether the wait has begun
    settle_s: float = 1  # from then to the stop


@dataclasses.dataclass(frozen=True)
class Kind:
    name: str
    family: str
    files: dict                              # texts by name; x.yaml is the experiment
    names: str                               # pattern: the component that hangs, in the first line that reports a problem
    exits: tuple = (1,)
    limit_s: float = HANG_S + AFTER_S        # from the start of the command, or from the stop
    hang_s: int = HANG_S                     # resources.hang_timeout
    words: tuple = ("run", "x.yaml")
    stop: Stop = None
    prepare: object = None                   # folder, run -> an object that is closed at the end, or None
    meanwhile: object = None                 # session, folder -> whether it has done its part; called until then
    attempts: int = 0                        # expected starts of its trials in total; 0: any number
    environment: dict = dataclasses.field(default_factory=dict)
    needs_gymnasium: bool = False
    quick: bool = False
OWN = ("own/bin/backplane", "run", "x.yaml")


def plugin_calls():
    for call in ("create", "reset", "step", "destroy"):
        yield Kind(f"env_{call}_sleeps", "plugin call", faulty(env=f"{call}_sleeps"), r"env\.faulty", exits=(1, 2))
    yield Kind("env_step_spins", "plugin call", faulty(env="step_spins"), r"env\.faulty", quick=True)
    for call in ("create", "plan", "act", "consume", "destroy"):
        yield Kind(f"learner_{call}_sleeps", "plugin call", faulty(learner=f"{call}_sleeps"), r"learner\.faulty",
                   exits=(1, 2))
    yield Kind("learner_save_sleeps", "plugin call", faulty(learner="save_sleeps", more="checkpoint: {every_iterations: 1}\n"),
               r"learner\.faulty")
    for call in ("act", "consume"):
        yield Kind(f"learner_{call}_spins", "plugin call", faulty(learner=f"{call}_spins"), r"learner\.faulty")
    # Returns only after the monitor, so that the stack is the learner's.
    yield Kind("learner_consume_sleeps_next_to_a_monitor", "plugin call",
               {"x.yaml": faulty(learner="consume_sleeps")["x.yaml"].replace("monitors: []", "monitors: [resources]")},
               r"learner\.faulty")


def rule_checks():
    # The first `run` of a plugin tries a few cases of `plugin validate`.
    yield Kind("env_step_sleeps_in_the_rules", "plugin call", faulty(env="step_sleeps"), r"env\.faulty", exits=(1, 2),
               environment={"BACKPLANE_VALIDATE": "on"})


def monitors():
    yield Kind("monitor_create_rejects", "monitor", monitored("{plugin: flawed, options: {flaw: default_fails}}"), r"monitor\.flawed",
               exits=(1, 2), quick=True)
    for call in ("create", "interests", "on_events", "sample", "finish", "destroy"):
        yield Kind(f"monitor_{call}_sleeps", "monitor", unruly(call, "hang"), r"monitor\.unruly", exits=(0,), limit_s=2 + HANG_S + AFTER_S)
    yield Kind("monitor_on_events_spins", "monitor", unruly("on_events", "spin"), r"monitor\.unruly", exits=(0,),
               limit_s=2 + HANG_S + AFTER_S)


def workers():
    text = """experiment: x
env: {plugin: cartpole}
learner: {plugin: ars, options: {num_dirs: 6, top_dirs: 3, episodes_per_dir: 2}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 2, threads: 1, workers: 2}
budget: {wall_time: 8s}
""" + QUIET
    yield Kind("one_worker_stopped", "rollout worker", {"x.yaml": text}, r"worker \d", exits=(0,), limit_s=8 + 2 * HANG_S + AFTER_S,
               meanwhile=sends_stop_to("play"), quick=True)
    yield Kind("all_workers_stopped", "rollout worker", {"x.yaml": text}, r"worker \d", exits=(0,), limit_s=8 + 2 * HANG_S + AFTER_S,
               meanwhile=sends_stop_to("play", how_many=2))


def python_envs():
    def kind(name, names=r"env\.gymnasium|worker \d", **options):
        return Kind(name, "Python env", python_env(**options), names, exits=(1, 2), needs_gymnasium=True, hang_s=PYTHON_S,
                    limit_s=PYTHON_S + AFTER_S, quick=name == "python_stops_itself")
    # The check before the first trial steps each row once; an env that waits longer hangs in the trial.
    yield kind("python_import_sleeps", at_import="time.sleep(3600)")
    yield kind("python_step_sleeps_in_the_check", step="time.sleep(3600)")
    later = "if self.steps > 20: "
    yield kind("python_step_sleeps", step=later + "time.sleep(3600)")
    yield kind("python_step_spins", step="while self.steps > 20: pass")
    yield kind("python_step_sleeps_with_timeout", step=later + "time.sleep(3600)", timeout_s=1, names=r"worker \d")
    yield kind("python_reset_sleeps", reset="if self.resets > 3: time.sleep(3600)")
    yield kind("python_stops_itself", step=later + "os.kill(os.getpid(), signal.SIGSTOP)")


def working_for(time):
    return faulty()["x.yaml"].replace("budget: {iterations: 3}", f"budget: {{wall_time: {time}}}")


def commands():
    yield Kind("command_prints_nothing", "command", command("import time\ntime.sleep(3600)\n"), PROGRAM, quick=True)
    yield Kind("command_ignores_sigterm", "command", command(DEAF.replace("while True: print", "time.sleep(3600), print")), PROGRAM)
    yield Kind("command_ignores_sigterm_at_its_budget", "command", command(DEAF, "budget: {wall_time: 2s}\n"),
               "", exits=(0,), limit_s=2 + GRACE_S + AFTER_S)
    leaves = "import subprocess\nsubprocess.Popen(['sleep', '3600']{})\nprint('left')\n"
    yield Kind("command_leaves_a_child_with_its_pipe", "command", command(leaves.format("")), "", exits=(0, 1))
    yield Kind("command_leaves_a_session_with_its_pipe", "command", command(leaves.format(", start_new_session=True")), "", exits=(0, 1))
    stops = "import os, signal, time\n{}\ntime.sleep(3600)\n"
    yield Kind("command_stops_itself", "command", command(stops.format("os.kill(os.getpid(), signal.SIGSTOP)")), PROGRAM,
               limit_s=STOPPED_S)
    yield Kind("command_stops_its_group", "command", command(stops.format("os.killpg(0, signal.SIGSTOP)")), PROGRAM,
               limit_s=STOPPED_S)
    yield Kind("trial_stopped", "command", {"x.yaml": working_for("600s")}, r"stopped|state T|SIGSTOP", limit_s=STOPPED_S,
               meanwhile=sends_stop_to("run-trial", "/trial.json"))
    yield Kind("shim_stopped_and_step_sleeps", "command", faulty(env="step_sleeps"), r"env\.faulty|stopped|state T",
               limit_s=HANG_S + STOPPED_S, meanwhile=sends_stop_to("backplane-shim", "/trial.json", without="\0"))
    yield Kind("command_trial_stopped", "command", command("import time\nwhile True: print('a', flush=True), time.sleep(0.2)\n"),
               r"stopped|state T|SIGSTOP", limit_s=STOPPED_S, meanwhile=sends_stop_to("run-trial", "/trial.json"))


def single_trials():
    yield Kind("replay_stopped", "replay", {"x.yaml": working_for("3s")}, "the trial's process", words=("replay", "out", ""),
               limit_s=STOPPED_S, prepare=finished_batch, meanwhile=sends_stop_to("run-trial", "/trial.json"))


def terminals():
    # Results wait 30 s for the terminal, then they count as unwritten.
    text = working_for("3s") + "sweep: {seeds: {n: 2}}\n"
    yield Kind("terminal_halted", "terminal", {"x.yaml": text}, "", limit_s=2 * 3 + GRACE_S + AFTER_S, meanwhile=halts_terminal, attempts=2)


def searches():
    # Loading Optuna and torch from a cold disk takes longer than an answer.
    yield Kind("search_open_never", "side process", search("open_never"), r"search|Optuna|side", exits=(1, 2), limit_s=120 + AFTER_S,
               environment=SIDE)
    yield Kind("search_lacks_hangs", "side process", search("lacks_hangs"), r"side\.py|Optuna", exits=(0, 2), limit_s=60 + AFTER_S,
               environment=SIDE, words=("run", "x.yaml", "--dry-run"))
    for mode in ("ask_never", "ask_half", "tell_never"):
        yield Kind(f"search_{mode}", "side process", search(mode), r"search|Optuna|side", exits=(1, 2, 3), environment=SIDE,
                   quick=mode == "ask_half")
    for mode in ("open_nonsense", "ask_nonsense", "ask_empty"):
        yield Kind(f"search_{mode}", "side process", search(mode), r"search|Optuna|side", exits=(1, 2, 3), environment=SIDE)


def clusters():
    def kind(name, names, exits=(2,), limit_s=HANG_S + AFTER_S, quick=False, attempts=0, **programs):
        return Kind(name, "cluster program", slurm(**programs), names, exits=exits, limit_s=limit_s, environment=ON_PATH, quick=quick,
                    attempts=attempts)
    # Cluster programs have 30 s: a busy controller answers late.
    slow = 30 + AFTER_S
    yield kind("sbatch_version_hangs", "sbatch", sbatch=HANGS, limit_s=slow)
    yield kind("sbatch_hangs", "sbatch", sbatch='#!/bin/sh\ntest "$1" = --version && exec echo slurm 22\nexec sleep 3600\n', limit_s=slow)
    yield kind("sbatch_prints_no_number", "sbatch", sbatch='#!/bin/sh\ntest "$1" = --version && exec echo slurm 22\necho\n', quick=True)
    never = '#!/bin/sh\ntest "$1" = --version && exec echo slurm 22\necho 12\n'
    yield kind("squeue_fails_before_a_worker", "squeue", sbatch=never, squeue="#!/bin/sh\nexit 1\n", limit_s=2 * slow)
    yield kind("squeue_hangs_before_a_worker", "squeue", sbatch=never, squeue=HANGS, limit_s=4 * slow)
    yield kind("squeue_hangs_next_to_a_worker", "", squeue=HANGS, exits=(0,), limit_s=slow, attempts=1)
    yield kind("squeue_fails_next_to_a_worker", "", squeue="#!/bin/sh\nexit 1\n", exits=(0,), limit_s=slow, attempts=1)
    yield kind("squeue_prints_nonsense_next_to_a_worker", "", squeue="#!/bin/sh\necho '!!'\n", exits=(0,), limit_s=slow, attempts=1)
    yield kind("scancel_hangs", "scancel", scancel=HANGS, exits=(0,), limit_s=8 + slow)


def disks():
    yield Kind("fifo_as_experiment", "disk", {}, r"x\.yaml", exits=(2,), prepare=fifo("x.yaml"))
    yield Kind("fifo_as_base", "disk", {"x.yaml": "base: b.yaml\n" + faulty()["x.yaml"]}, r"b\.yaml", exits=(2,), prepare=fifo("b.yaml"))
    for name in ("events.jsonl", "plan.jsonl", "lock"):
        yield Kind(f"fifo_as_{name.split('.')[0]}", "disk", faulty(), name.replace(".", r"\."), exits=(1, 2), prepare=fifo(f"out/{name}"),
                   quick=name == "events.jsonl")
    yield Kind("fifo_as_progress", "disk", faulty(), "", exits=(0,), prepare=fifo("out/progress.json"))
    # The trial has 30 s to save its state. Then the same command resumes it for its budget and another 30 s.
    yield Kind("lock_held_by_an_orphan", "disk", command(DEAF, "budget: {wall_time: 2s}\n"), "", exits=(0,), limit_s=2 * (GRACE_S + AFTER_S),
               prepare=orphan_trial)
    yield Kind("database_locked", "disk", faulty(), r"results\.sqlite", exits=(0,), limit_s=HANG_S + 2 * AFTER_S, prepare=hold_database)


def reports():
    yield Kind("report_check_hangs", "report", CHECKED, "backplane-report", exits=(0,), words=OWN, prepare=own_programs(REPORT_CHECK_HANGS),
               quick=True)
    yield Kind("figures_hang", "report", {**SHORT, "python": FIGURES_HANG}, "figure|drawn", exits=(0, 1), limit_s=120 + AFTER_S,
               environment={"BACKPLANE_PYTHON": "@FOLDER@/python"})


WAYS = ("ctrl_c", "sigterm", "stop", "twice")


def ways_to_stop(name, files, during, words=("run", "x.yaml"), limit_s=GRACE_S + 4, settle_s=1, ways=WAYS, **more):
    for how in ways:
        at_most = 2 if how == "twice" else limit_s
        yield Kind(f"{how}_during_{name}", "stop", files, "", exits=(130,), words=words, limit_s=at_most, hang_s=NEVER_S,
                   stop=Stop(how, during, settle_s), **more)


def stops():
    yield from ways_to_stop("check", faulty(env="create_sleeps"), checks)
    yield from ways_to_stop("hanging_trial", faulty(env="step_sleeps"), runs)
    yield from ways_to_stop("trial", {"x.yaml": working_for("600s")}, runs, limit_s=5, quick=True)
    endless = python_env(over="False", more=ENDLESS.replace(", wall_time: 3s", ""))
    yield from ways_to_stop("evaluation", endless, runs, limit_s=GRACE_S + 4, settle_s=4, needs_gymnasium=True)
    yield from ways_to_stop("ask", search("ask_never"), has_process("side.py", "/proc/self/fd"), limit_s=3, environment=SIDE)
    yield from ways_to_stop("lock", command(DEAF), lambda session, folder: True, limit_s=3, settle_s=2,
                            prepare=orphan_trial)
    yield from ways_to_stop("report", SHORT, has_process("sleep 3600"), words=OWN, limit_s=3, prepare=own_programs(REPORT_HANGS))
    yield from ways_to_stop("figures", {**SHORT, "python": FIGURES_HANG}, has_process("sleep 3600"), limit_s=3,
                            environment={"BACKPLANE_PYTHON": "@FOLDER@/python"})
    yield from ways_to_stop("squeue", slurm(sbatch='#!/bin/sh\ntest "$1" = --version && exec echo slurm 22\necho 12\n', squeue=HANGS),
                            has_process("sleep 3600"), limit_s=8, environment=ON_PATH)


def evaluations():
    yield Kind("evaluation_without_end", "evaluation", python_env(over="False", more=ENDLESS), r"budget\.wall_time|evaluation|max_episode_steps",
               exits=(0, 1), limit_s=3 + PYTHON_S + AFTER_S, hang_s=PYTHON_S, needs_gymnasium=True, quick=True)
    yield Kind("evaluation_without_end_or_budget", "evaluation", python_env(over="False", more=ENDLESS.replace(", wall_time: 3s", "")),
               r"max_episode_steps|evaluation", exits=(0, 1), limit_s=120, hang_s=PYTHON_S, needs_gymnasium=True)


KINDS = [kind for family in (plugin_calls, rule_checks, monitors, workers, python_envs, commands, single_trials, terminals,
                               evaluations, searches, clusters, disks, reports, stops)
         for kind in family()]
