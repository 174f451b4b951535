"""Parts that measure peers, each in its own Python (peers.py), with the same nets and settings in both arms."""
from .model import Goal, Part
from .parts_host import SCALED, TASKS
from .readers import figures, joined, lines, spreads

HERE = "{here}/peers/"
BUILD = ("--build", "{build}")
PLUGINS = ("backplane", "env_ant", "learner_ppo")


def step(task, title, shipped, rows="64 rows, 2 threads"):
    figure = f"step/{task}/envpool"
    return Part(f"step/{task}", f"stepping {title}, compared with EnvPool and Gymnasium, {rows}",
                command=(HERE + "step.py", "--venv", "{gymnasium.parent.parent}", "--task", task, *BUILD), quick=("--rounds", "1", "--seconds", "0.1"),
                pythons=("gymnasium",), targets=("bench_host", f"env_{task}"), minutes=3,
                goals=(Goal(figure, f"stepping {title}, as shipped", *shipped, over="EnvPool's best mode"),
                       Goal(figure + "/by_raw_rates", f"stepping {title}, each relative to a plain loop on its own MuJoCo", 0.98, 1.0,
                            over="EnvPool's best mode"),
                       Goal(f"step/{task}/gymnasium", f"stepping {title}, as shipped", over="Gymnasium's best mode")))


STEP = [
    step("ant", "Ant", (1.15, 1.22)), step("humanoid", "Humanoid", (1.25, 1.35)), step("half_cheetah", "HalfCheetah", (1.2, 1.3)),
    *(step(task, title, (1.25, None)) for task, title in TASKS.items() if task not in SCALED),
    *(Part(f"step/{task}", f"stepping {title}, compared with EnvPool and Gymnasium's sync, 1,024 rows, one core",
           command=(HERE + "step.py", "--venv", "{gymnasium.parent.parent}", "--task", task, *BUILD), quick=("--rounds", "1", "--seconds", "0.1"),
           pythons=("gymnasium",), targets=("bench_host", f"env_{task}"), minutes=0.6,
           goals=(Goal(f"step/{task}/envpool", f"stepping {title}, 1,024 rows, one core", over="EnvPool"),
                  Goal(f"step/{task}/gymnasium", f"stepping {title}, 1,024 rows, one core", over="Gymnasium's sync")))
      for task, title in (("acrobot", "Acrobot"), ("mountain_car", "MountainCar"))),
    Part("step/cartpole", "stepping CartPole, compared with EnvPool and Gymnasium's NumPy vector env, 1,024 rows, one core",
         command=(HERE + "step.py", "--venv", "{gymnasium.parent.parent}", "--task", "cartpole", *BUILD), quick=("--rounds", "1", "--seconds", "0.1"),
         pythons=("gymnasium",), targets=("bench_host", "env_cartpole"), minutes=0.6,
         goals=(Goal("step/cartpole/envpool", "stepping CartPole, 1,024 rows, one core", over="EnvPool"),
                Goal("step/cartpole/gymnasium", "stepping CartPole, 1,024 rows, one core", over="Gymnasium's NumPy vector env"))),
    Part("adapters/gymnasium", "our vector env in Python and Gymnasium's sync and async, Ant, 64 rows, 2 threads",
         command=("{gymnasium}", "{here}/adapters.py", "gymnasium"), quick=("--rounds", "1", "--seconds", "0.2"), pythons=("gymnasium",),
         targets=("backplane_embed", "env_ant"), minutes=0.7,
         goals=(Goal("adapters/gymnasium_sync", "our vector env in Python, Ant", over="Gymnasium's sync"),
                Goal("adapters/gymnasium_async", "our vector env in Python, Ant", over="Gymnasium's async"))),
    Part("adapters/envpool", "our vector env in Python and EnvPool, Ant, 64 rows, 2 threads",
         command=("{gymnasium}", "{here}/adapters.py", "envpool"), quick=("--rounds", "1", "--seconds", "0.2"), pythons=("gymnasium",),
         targets=("backplane_embed", "env_ant"), minutes=0.5, goals=(Goal("adapters/envpool", "our vector env in Python, Ant", over="EnvPool"),)),
    Part("python_envs", "envs written in Python under env.gymnasium and under Gymnasium's vector envs, 64 rows on two cores",
         command=("{gymnasium}", "{here}/python_envs.py", *BUILD), quick=("--rounds", "1", "--seconds", "0.2", "--skip-async", "--envs", "CartPole-v1"),
         pythons=("gymnasium",), targets=("backplane", "env_gymnasium", "learner_random"), minutes=2,
         goals=(Goal("python_envs/CartPole-v1/sync", "CartPole written in Python, under env.gymnasium", over="Gymnasium's sync"),
                Goal("python_envs/LunarLander-v3/sync", "LunarLander in Python, under env.gymnasium", over="Gymnasium's sync"))),
]

RLTOOLS_QUICK = ("--rounds", "1", "--iterations", "1", "--blas", "OpenBLAS")

TRAINERS = [
    Part("train/s64", "PPO on Ant, 64 envs x 64 steps, 256-256, compared with Stable-Baselines3's best mode, 2 cores",
         command=(HERE + "train.py", "s64", "--python", "{sb3}", *BUILD), quick=("--rounds", "1", "--iterations", "2", "--modes", "1", "--peer-steps", "8192"),
         pythons=("sb3",), targets=PLUGINS,
         minutes=2.5, goals=(Goal("train/s64", "PPO on Ant, 64 envs x 64 steps, nets of 256-256, 2 cores", 2.3, 3.2, over="SB3's best mode"),)),
    Part("train/defaults", "PPO on Ant with SB3's own settings and 8 envs, 2 cores",
         command=(HERE + "train.py", "defaults", "--python", "{sb3}", *BUILD), quick=("--rounds", "1", "--iterations", "2", "--modes", "1"), pythons=("sb3",),
         targets=PLUGINS, minutes=3, goals=(Goal("train/defaults", "PPO on Ant, SB3's defaults, 8 envs, 2 cores", 4, 6.3, over="SB3's best mode"),)),
    Part("rltools", "PPO on Ant, 64 envs x 64 steps, 256-256, compared with RLtools, compiled here: per CPU second on one core, and on 2 cores",
         command=(HERE + "train_rltools.py", "--venv", "{rltools.parent.parent}", *BUILD), quick=RLTOOLS_QUICK, pythons=("rltools",), targets=PLUGINS,
         minutes=5, goals=(Goal("rltools/1", "PPO on Ant, 64 envs x 64 steps, nets of 256-256, one core, per CPU second", 0.90, 1.10, over="RLtools"),
                           Goal("rltools/2", "PPO on Ant, 64 envs x 64 steps, nets of 256-256, 2 cores", 1.6, 1.9, over="one process of RLtools"))),
    Part("rltools/amp", "the same on one core with `use_amp: true`, where the processor has products of bf16",
         command=(HERE + "train_rltools.py", "--amp", "--venv", "{rltools.parent.parent}", *BUILD), quick=RLTOOLS_QUICK, pythons=("rltools",),
         targets=PLUGINS, minutes=3, processor="avx512_bf16",
         goals=(Goal("rltools/1/amp", "PPO on Ant, the same with `use_amp: true`, one core, per CPU second", None, 1.15, over="RLtools"),)),
    Part("adapters/sb3", "rollouts of SB3's PPO on our vector env and on its SubprocVecEnv",
         command=("{sb3}", "{here}/adapters.py", "sb3"), quick=("--rounds", "1", "--steps", "32", "--rows", "2"),
         pythons=("sb3",), targets=("backplane_embed", "env_ant"),
         minutes=1, goals=(Goal("adapters/sb3_SubprocVecEnv", "rollouts of SB3's PPO on our envs, Ant, 8 rows", over="its SubprocVecEnv"),)),
    Part("train/recurrent", "PPO with a GRU on CartPole without velocities, compared with a PyTorch loop whose update ignores ends of episodes",
         command=(HERE + "recurrent_ppo.py", "--python", "{sb3}", "--uncut", *BUILD), quick=("--rounds", "1"), pythons=("sb3",),
         targets=("backplane", "env_cartpole", "learner_ppo"), minutes=3,
         goals=(Goal("train/recurrent/torch", "PPO with a GRU, CPU seconds per step", 4.0, over="PyTorch's nn.GRU"),)),
    Part("train/sac/sb3", "SAC on HalfCheetah, one gradient step of 256 transitions per env step, compared with SB3's `learn`, one thread",
         command=(HERE + "train_sac.py", "sb3", "--python", "{sb3}", *BUILD), quick=("--rounds", "1"), pythons=("sb3",),
         targets=("backplane", "env_half_cheetah", "learner_sac"), minutes=5,
         goals=(Goal("train/sac/sb3/256", "SAC on HalfCheetah, 256-256, CPU seconds per step", 1.5, over="SB3's SAC"),
                Goal("train/sac/sb3/64", "SAC on HalfCheetah, 64-64, CPU seconds per step", 4.0, over="SB3's SAC"))),
    Part("train/sac/rltools", "SAC on Pendulum, the same settings, compared with RLtools' loop with MKL, compiled here, one thread",
         command=(HERE + "train_sac.py", "rltools", "--python", "{rltools}", *BUILD), quick=("--rounds", "1"), pythons=("rltools",),
         targets=("backplane", "env_pendulum", "learner_sac"), minutes=4,
         goals=(Goal("train/sac/rltools/256", "SAC on Pendulum, 256-256, CPU seconds per step", 1.0, over="RLtools"),
                Goal("train/sac/rltools/64", "SAC on Pendulum, 64-64, CPU seconds per step", 1.0, over="RLtools"))),
    Part("ars/half_cheetah", "ARS on HalfCheetah and the paper's loop in NumPy, env steps per CPU second, one core",
         command=(HERE + "ars.py", "half_cheetah", "--python", "{oracle}", *BUILD), quick=("--rounds", "1", "--steps", "0.1"), pythons=("oracle",),
         targets=("backplane", "env_half_cheetah", "learner_ars"), minutes=1,
         goals=(Goal("ars/half_cheetah", "ARS on HalfCheetah, one core", over="the paper's loop"),)),
    Part("ars/cartpole", "ARS on CartPole and the paper's loop in NumPy, env steps per CPU second, one core",
         command=(HERE + "ars.py", "cartpole", "--python", "{oracle}", *BUILD), quick=("--rounds", "1", "--steps", "0.1"), pythons=("oracle",),
         targets=("backplane", "env_cartpole", "learner_ars"), minutes=0.5,
         goals=(Goal("ars/cartpole", "ARS on CartPole, one core", None, 10, over="the paper's loop"),)),
    Part("train/rllib", "PPO on Ant with RLlib's settings, 2 runners x 2 envs, the same nets in both, 2 cores",
         command=(HERE + "train.py", "rllib", "--python", "{rllib}", *BUILD), quick=("--rounds", "1", "--iterations", "2", "--modes", "1"), pythons=("rllib",),
         targets=PLUGINS, minutes=10,
         goals=(Goal("train/rllib/separate", "PPO on Ant, RLlib's settings, 2 env runners x 2 envs, separate nets", 4, 6, over="RLlib's best"),
                Goal("train/rllib/shared", "PPO on Ant, RLlib's settings, 2 env runners x 2 envs, shared layers", 4, 6, over="RLlib's best"))),
    Part("parallel_efficiency", "whole trials of 3 iterations, ours and RLlib's, start and stop included, 1 to 2 runners of 1 to 2 envs",
         command=(HERE + "parallel_efficiency.py", "--python", "{rllib}", "--rounds", "3", "--rllib-net", "separate", *BUILD), quick=("--rounds", "1"),
         read=spreads(trial__1x1="settings.0.ratio_trial", trial__2x2="settings.3.ratio_trial"), pythons=("rllib",), targets=PLUGINS, minutes=9,
         goals=(Goal("trial/1x1", "whole PPO trial of 3 iterations, 1 env runner x 1 env", 5, 8, over="RLlib's"),
                Goal("trial/2x2", "whole PPO trial of 3 iterations, 2 env runners x 2 envs", 5, 8, over="RLlib's"))),
    Part("sweep/ray", "a batch of trials that do next to nothing, and the same in Ray Tune with a process per trial",
         command=(HERE + "sweep.py", "--ray-python", "{rllib}", *BUILD), quick=("--rounds", "1", "--trials", "2"), pythons=("rllib",),
         targets=("backplane", "env_cartpole", "learner_random"), minutes=4,
         goals=(Goal("sweep/ray_tune_ms_per_trial", "a trial that does nothing, wall time, one at a time", over="Ray Tune, a process per trial"),)),
    Part("sweep/hydra", "the same in Hydra, which runs all in one process", command=(HERE + "sweep.py", "--hydra-python", "{hydra}", *BUILD),
         quick=("--rounds", "1", "--trials", "2"), pythons=("hydra",), targets=("backplane", "env_cartpole", "learner_random"), minutes=0.5,
         goals=(Goal("sweep/hydra_ms_per_job", "a trial that does nothing, wall time, one at a time", over="Hydra, all in one process"),)),
]

TEXTS = [
    Part("generate", "evaluations of `backplane run` with a 7.65 M BART and transformers' `generate` in batches of 8, 96 texts",
         command=(HERE + "generate_seq2seq.py", "--venv", "{transformers.parent.parent}", "--corpus", "{corpus}", *BUILD),
         quick=("--rounds", "1", "--texts", "8", "--updates", "2"), pythons=("transformers",), corpus=True,
         targets=("backplane", "env_summarization", "learner_seq2seq"), minutes=4,
         read=lines(r"^(?P<how>greedy|4 beams), (?P<cores>\d) cores? .*?/s.*?/s +(?P<median>[\d.]+) \((?P<min>[\d.]+) \.\. (?P<max>[\d.]+)\)"
                    r"  bar [\d.]+: (?P<disturbed>disturbed)?", lambda match: f"generate/{match['how'].replace(' ', '_')}/{match['cores']}"),
         goals=tuple(Goal(f"generate/{how.replace(' ', '_')}/{cores}", f"texts of an evaluation, {how}, {cores} core{'s' * (cores > 1)}", None, bar,
                          over="transformers' `generate`")
                     for how in ("greedy", "4 beams") for cores, bar in ((1, 1.3), (2, 2.0)))),
    Part("seq2seq_training", "real tokens per second of training a 7.65 M BART, 64 items an update, compared with HuggingFace's Seq2SeqTrainer",
         command=(HERE + "train_seq2seq.py", "--venv", "{transformers.parent.parent}", "--corpus", "{corpus}", *BUILD,
                  "--sides", "hf", "hf_2threads", "hf_2processes", "ours", "ours_unsorted", "ours_parallel"),
         quick=("--rounds", "1", "--updates", "1"), pythons=("transformers",), corpus=True,
         targets=("backplane", "env_summarization", "learner_seq2seq", "monitor_resources"),
         minutes=8, read=lines(r"^  (?P<what>\S+ / \S+(?: or \S+)*) +(?P<disturbed>~)? *(?P<median>[\d.]+) \((?P<min>[\d.]+) \.\. (?P<max>[\d.]+)\)  by CPU",
                               lambda match: "seq2seq_training/" + match["what"].replace(" ", "")),
         goals=(Goal("seq2seq_training/ours/hf", "summarisation, 8 micro-batches of 8 texts, sorted, one core", None, 1.8, over="Seq2SeqTrainer"),
                Goal("seq2seq_training/ours_unsorted/hf", "summarisation, 8 micro-batches of 8 texts, unsorted, one core", None, 1.5, over="Seq2SeqTrainer"),
                Goal("seq2seq_training/ours_parallel/hforhf_2threadsorhf_2processes", "summarisation, 8 micro-batches of 8 texts, two cores", 1.5, 2.0,
                     over="Seq2SeqTrainer, threads or processes"))),
]
