"""Parts measured by their own script or program, without a peer or with one from .venv-oracle."""
from .model import Goal, Part
from .readers import last_json, lines, spreads

SEQ2SEQ_RATIO = r"^(?P<what>.+?) +(?P<median>[\d.]+) \((?P<min>[\d.]+)[^\d]+(?P<max>[\d.]+)\)"

MINIBATCHES = ((128, 0.80), (256, 0.88), (1024, 0.92))


def ppo_update(text):
    """For each net and minibatch: {"share": SPREAD, "verdict": WORD}."""
    return {f"ppo_update/{name}": {**found["share"], "disturbed": found["verdict"] == "disturbed"} for name, found in last_json(text).items()}


def null_trials(text):
    found = last_json(text)
    return {"null_trial_cpu_ms": {**found["trial_ms"], "disturbed": found["disturbed"]}, "null_trial_starts_of_true": found["starts_of_true"]}


PROGRAMS = [
    Part("ppo_update", "the PPO update on 2 threads / two updates of one thread side by side, on data like an Ant rollout",
         command=("{bench}/bench_ppo_update",), quick=("quick",), targets=("bench_ppo_update",), minutes=2, read=ppo_update,
         goals=tuple(Goal(f"ppo_update/{net}/{minibatch}", f"PPO update on 2 threads, net of {net[1:-1].replace(',', '-')}, minibatch {minibatch:,}", None, bar,
                          over="two one-thread updates side by side") for net in ("[64,64]", "[256,256]") for minibatch, bar in MINIBATCHES)),
    Part("ppo_amp", "CPU time of the PPO update in float32 / with `use_amp: true`, two nets of 256-256, minibatch 2,048, one thread, in turn",
         command=("{bench}/bench_ppo_update", "amp"), quick=("quick",), targets=("bench_ppo_update",), minutes=0.2, processor="avx512_bf16",
         read=spreads(ppo_amp="gain", ppo_amp__ms="bf16_ms", ppo_amp__float32_ms="float32_ms"),
         goals=(Goal("ppo_amp", "PPO update, two nets of 256-256, one thread, `use_amp: true`", 1.4, 1.7, over="the same in float32"),)),
    Part("monitors", "what monitors cost a trial of PPO on Ant: blocks on, off, off, on", command=("{here}/monitors.py", "--build", "{build}", "--blocks", "3"),
         quick=("--blocks", "2", "--iterations", "1"), targets=("backplane", "env_ant", "learner_ppo", "monitor_resources", "monitor_tensorboard"),
         minutes=2.4, exits=(0, 1), read=spreads(monitors_share="monitor_share", monitors_wall_ratio="wall.ratio"),
         goals=(Goal("monitors_share", "monitors, 1 Hz and per iteration: share of the trial's CPU time", 0.02, 0.005, lower=True),)),
    Part("null_trials", "CPU time of a trial that does nothing, with its shim and its share of the supervisor",
         command=("{here}/null_trials.py", "--build", "{build}"), quick=("--quick",), targets=("backplane", "env_cartpole", "learner_random"), minutes=0.6,
         read=null_trials, goals=(Goal("null_trial_cpu_ms", "a trial that does nothing, CPU", None, 12, unit="ms", lower=True),)),
    Part("command_overhead", "CPU time of run-trial on top of the trial's command", command=("{here}/command_overhead.py", "--build", "{build}"),
         quick=("--rounds", "1"), targets=("backplane",), exits=(0, 1),
         goals=(Goal("command_overhead_ms/true", "a trial by command: CPU time on top of the command", None, 50, unit="ms", lower=True),)),
    Part("supervisor_memory", "how the supervisor's memory grows from the first tenth of 4,000 trials to the last",
         command=("{here}/supervisor_memory.py", "--build", "{build}", "--trials", "4000"),
         targets=("backplane", "env_cartpole", "learner_random"), minutes=1.2, exits=(0, 1),
         tested="Memory.OfTheSupervisorStaysWhereItWas",
         goals=(Goal("supervisor_grown_mib", "growth of the supervisor's memory over 3,600 trials", None, 2, unit="MiB", lower=True),)),
    Part("status_of_many", "`backplane status` of 20,000 finished trials, whose files are in the page cache",
         command=("{here}/status_of_many.py", "--build", "{build}"), quick=("--quick",), targets=("backplane", "env_cartpole", "learner_random"),
         minutes=2, read=spreads(status_of_many_s="wall_s"),
         goals=(Goal("status_of_many_s", "`status` of 20,000 trials", None, 1, unit="s", lower=True),)),
    Part("live_page", "CPU time of each writing of the page of 200 trials, two of which run", command=("{here}/live_page.py", "--build", "{build}"),
         quick=("--trials", "4", "--iterations", "20", "--seconds", "2"), targets=("backplane", "backplane-report", "env_cartpole", "learner_ppo"),
         minutes=1.2),
    Part("dev_rebuilds", "how soon a build runs under `backplane dev`: 20 rebuilds, half-written files, crashes and hangs among them",
         command=("{here}/dev_rebuilds.py", "--program", "{program}"), quick=("--builds", "4"), targets=("backplane", "learner_ppo"), minutes=1, exits=(0, 1),
         goals=(Goal("dev_rebuild_slowest_s", "`backplane dev`: the slowest of 20 rebuilds until it runs", None, 2, unit="s", lower=True),)),
    Part("adapters/call", "CPU time of a step of 64 rows that do nothing, from Python",
         command=("{oracle}", "{here}/adapters.py", "call", "{tests}/env_null.so"), pythons=("oracle",), targets=("backplane_embed", "env_null"),
         tested="Python.ACallCostsLittle",
         goals=(Goal("adapters/call_us", "a call of `step` from Python, 64 rows, CPU", None, 10, unit="us", lower=True),)),
    Part("rouge", "our ROUGE and PyPI's rouge-score, CPU time, on the descriptions of this machine's packages",
         command=("{oracle}", "{here}/rouge_speed.py", "--build", "{build}"), quick=("--rounds", "1", "--seconds", "0.01"), pythons=("oracle",),
         targets=("bench_rouge",), minutes=0.6,
         goals=(Goal("rouge/sentence", "ROUGE of first sentences, pairs per CPU second", over="rouge-score"),
                Goal("rouge/half", "ROUGE of long texts, pairs per CPU second", over="rouge-score"))),
    Part("calibration", "error rates of host/libs/statistics on data with known truth", command=("{bench}/bench_calibration",),
         quick=("quick",), read=lines(r"^(?P<median>\d+) figures are off$", lambda _: "calibration_off"), targets=("bench_calibration",),
         tested="Calibration.quick", minutes=0.7, exits=(0, 1),
         goals=(Goal("calibration_off", "error rates of our statistics outside their expected range", 0, 0, lower=True),)),
    Part("summarization", "CPU time to read and to load a corpus",
         command=("{bench}/bench_summarization", "{corpus}/train.tsv", "{corpus}/spm.model", "5"), targets=("bench_summarization",), corpus=True,
         minutes=0.3, read=spreads(summarization_load_cpu_s="load_cpu_s")),
    Part("seq2seq", "cost of an update of learner.seq2seq by micro-batch, sorting, threads, checkpointing and bfloat16",
         command=("{bench}/bench_seq2seq", "{corpus}/train.tsv", "{corpus}/spm.model"), targets=("bench_seq2seq",), corpus=True, minutes=2,
         read=lines(SEQ2SEQ_RATIO, lambda match: "seq2seq/" + match["what"])),
]
