"""Parts that bench_host measures, alone or through bench/host.py: envs, stepping, plans and events."""
from .model import Goal, Part
from .readers import counts, joined, pairs, rate, spreads

SCALED = {"ant": "Ant", "humanoid": "Humanoid", "half_cheetah": "HalfCheetah"}  # also measured on 2 threads
# Tasks with a frame_skip, whose plain loop is known.
TASKS = {**SCALED, "hopper": "Hopper", "humanoid_standup": "HumanoidStandup", "inverted_double_pendulum": "InvertedDoublePendulum",
         "inverted_pendulum": "InvertedPendulum", "pusher": "Pusher", "reacher": "Reacher", "swimmer": "Swimmer", "walker2d": "Walker2d"}
PHYSICS = {**TASKS, "quadruped_stand": "QuadrupedStand"}
LOOP = "a plain loop, one `mjData` per row"
RAW = {"ant": (1.03, 1.2), "humanoid": (1.03, 1.05), "half_cheetah": (1.03, 1.15)}  # floors and targets


def cost(file, *words, quick=("pairs=2", "horizon=16")):
    return {"command": ("{bench}/bench_host", "cost", file, *words, "pairs=15"), "quick": quick, "minutes": 0.1}


def pairs_of(goals):
    return "pairs=15" if goals else "pairs=5"


def raw(task, threads):
    figure = f"E_env/{threads}/{task}"
    goals = (Goal(figure, f"stepping {TASKS[task]}, 64 rows, 1 thread", *RAW.get(task, (1.03, None)), over=LOOP),) if threads == 1 else ()
    return Part(figure, f"raw physics / host on {threads} thread{'s' * (threads > 1)}, the same trace, CPU time, {TASKS[task]}",
                command=("{bench}/bench_host", "raw", f"{{plugins}}/env_{task}.so", "rows=64", "horizon=128", f"threads={threads}", pairs_of(goals)),
                quick=("horizon=4", "pairs=1"),
                read=pairs(figure, "E_cpu", **{f"host_cpu_us__{threads}__{task}": "host_cpu_us", f"raw_cpu_us__{threads}__{task}": "raw_cpu_us"}),
                targets=("bench_host", f"env_{task}"), minutes=0.6 if goals and task in ("ant", "humanoid") else 0.2, goals=goals)


# rows -> (chunk, floors and targets of some tasks)
SCALING = {64: (16, {"ant": (0.95, 0.98), "humanoid": (0.90, 0.95)}), 8: (1, {"ant": (0.90, 0.95)}), 2: (1, {"ant": (0.85, 0.91)})}


def scaling(task, rows):
    chunk, bars = SCALING[rows]
    figure, steps = f"S_2/{rows}/{task}", 128 * 64 // rows
    goals = (Goal(figure, f"{PHYSICS[task]}, {rows} rows: steps/s on 2 threads / (2 x steps/s on 1), wall time", *bars[task]),) if task in bars else ()
    beside = {f"{name}__{rows}__{task}": name for name in ("balance", "wall_eff", "sps")}
    return Part(figure, f"steps/s on 2 threads / (2 x steps/s on 1), {rows} rows, {PHYSICS[task]}",
                command=("{bench}/bench_host", "threads", f"{{plugins}}/env_{task}.so", f"rows={rows}", f"chunk_rows={chunk}", f"horizon={steps}",
                         "threads=2", pairs_of(goals)),
                quick=(f"horizon={256 // rows}", "pairs=1"), read=pairs(figure, "S_wall", **beside), targets=("bench_host", f"env_{task}"),
                minutes=0.5 if goals else 0.1 if task in ("half_cheetah", "quadruped_stand") else 0.2, goals=goals)


STEPPING = [part for task in PHYSICS for part in (*((raw(task, 1),) if task in TASKS else ()), *((raw(task, 2),) if task in SCALED else ()),
                                                  *((scaling(task, rows) for rows in SCALING) if task in SCALED or task not in TASKS else ()))]

def grid(name, title, floor, target, *options):
    figure = f"uav_grid{name}"
    return Part(figure, f"million agent-steps per CPU second of env.uav_grid, 64 rows x 64 steps, {title}",
                **cost("{plugins}/env_uav_grid.so", "rows=64", "chunk_rows=16", "horizon=64", "masked=1", *options),
                targets=("bench_host", "env_uav_grid"),
                read=joined(rate(f"{figure}_M_per_s", "cpu_us", "agents"), counts(**{f"{figure}_allocations_per_step": "allocations_per_step"})),
                goals=(Goal(f"{figure}_M_per_s", f"UAV grid, {title}, one core", floor, target, unit="M agent-steps/s"),))


def small(task, title, floor):
    return Part(task, f"million {title} steps per CPU second, 1,024 rows in calls of 256",
                **cost(f"{{plugins}}/env_{task}.so", "rows=1024", "chunk_rows=256", "horizon=128"), targets=("bench_host", f"env_{task}"),
                read=joined(rate(f"{task}_M_per_s", "cpu_us"), counts(**{f"{task}_allocations_per_step": "allocations_per_step"})),
                goals=(Goal(f"{task}_M_per_s", f"{title}, 1,024 rows, one core", floor, unit="M steps/s"),))


SMALL = [
    Part("null_env", "CPU time per env step of an env that does nothing, 64 rows, autoreset and statistics on",
         **cost("{tests}/env_null.so", "rows=64", "chunk_rows=64", "horizon=2000"), targets=("bench_host", "env_null"),
         read=joined(spreads(null_us="cpu_us"), counts(null_allocations_per_step="allocations_per_step")),
         goals=(Goal("null_us", "an env that does nothing, CPU per env step", 0.05, 0.02, unit="us", lower=True),
                Goal("null_allocations_per_step", "heap allocations per env step", 0, 0, lower=True))),
    Part("cartpole", "million CartPole steps per CPU second, 1,024 rows in calls of 256",
         **cost("{plugins}/env_cartpole.so", "rows=1024", "chunk_rows=256", "horizon=128"), targets=("bench_host", "env_cartpole"),
         read=joined(rate("cartpole_M_per_s", "cpu_us"), counts(cartpole_allocations_per_step="allocations_per_step")),
         goals=(Goal("cartpole_M_per_s", "CartPole, 1,024 rows, one core", 17, 40, unit="M steps/s"),)),
    Part("cartpole_loop", "CPU time of a plain C loop over the same CartPole episodes / of the host, 1,024 rows in calls of 256",
         command=("{bench}/bench_host", "cartpole", "{plugins}/env_cartpole.so", "rows=1024", "chunk_rows=256", "horizon=128", "pairs=15"),
         quick=("pairs=1", "horizon=16"), targets=("bench_host", "env_cartpole"), minutes=0.1,
         read=joined(pairs("cartpole_over_loop", "ratio_cpu"), rate("cartpole_loop_M_per_s", "loop_cpu_us")),
         goals=(Goal("cartpole_over_loop", "CartPole, 1,024 rows, one core", None, 0.9, over="a plain loop in C"),)),
    small("acrobot", "Acrobot", 2),
    small("mountain_car", "MountainCar", 30),
    Part("agents", "CPU time per env step of a 4-agent env, 4,096 rows / 64 rows, rows x steps constant",
         command=("{here}/host.py", "agents", "--build", "{build}"), quick=("--quick", "--pairs", "1"), targets=("bench_host", "env_null_agents"),
         goals=(Goal("agents_4096_over_64", "4 agents: cost at 4,096 rows / at 64", 1.5, 1.1, lower=True),)),
    grid("", "10 UAVs, all channels", 2, 4),
    grid("_no_map", "10 UAVs, `state_map: none`", 2, 10, "env.state_map=none"),
    grid("_int8", "10 UAVs, all channels, `patch_dtype: int8`", 4, 10, "env.patch_dtype=int8"),
    grid("_int8_no_map", "10 UAVs, `state_map: none`, `patch_dtype: int8`", 4, 14, "env.patch_dtype=int8", "env.state_map=none"),
    Part("uav_grid_1000", "CPU time of a UAV's step among 1,000 on 400 x 400 cells / among 10 on 40 x 40, `others: patches`",
         command=("{here}/host.py", "many_uavs", "--build", "{build}"), quick=("--quick", "--pairs", "1"), targets=("bench_host", "env_uav_grid"),
         minutes=0.5, goals=(Goal("uav_grid_1000_over_10", "UAV grid: cost per agent-step, 1,000 UAVs / 10", None, 1.3, lower=True),)),
    Part("uav_grid_tensor", "million agent-steps per second of the grid as tensors and of the scalar one, by rows and threads",
         command=("{here}/host.py", "tensor_grid", "--build", "{build}"), quick=("--quick", "--pairs", "1"), minutes=1,
         targets=("bench_host", "env_uav_grid", "env_uav_grid_tensor")),
    Part("uav_grid_numpy", "env.uav_grid and the same env as a NumPy loop, which must first reproduce known episodes",
         command=("{oracle}", "{here}/uav_grid_numpy.py", "--build", "{build}"), quick=("--steps", "50"), pythons=("oracle",),
         targets=("bench_host", "env_uav_grid"),
         goals=(Goal("uav_grid_over_numpy", "UAV grid, 10 UAVs, env steps per CPU second", None, 200, over="the same env as a NumPy loop"),)),
]

PLANS = [
    Part("plan", "CPU time to plan a sweep of 10,000 points: 3 axes over PPO on Ant, from the file to the last trial's id",
         command=("{bench}/bench_host", "plan", "{plugins}", "pairs=7"), quick=("pairs=1",), targets=("bench_host", "env_ant", "learner_ppo"),
         read=spreads(plan_ms__10000="cpu_ms", plan_wall_ms__10000="wall_ms"),
         goals=(Goal("plan_ms/10000", "planning 10,000 points, CPU", 1000, 370, unit="ms", lower=True),)),
    Part("events", "milliseconds to read 100,000 events of a batch: what `run`, `status` and `store rebuild` do first",
         command=("{bench}/bench_host", "events", "pairs=7"), quick=("pairs=1",), targets=("bench_host",),
         read=spreads(events_ms="wall_ms", events_cpu_ms="cpu_ms"),
         goals=(Goal("events_cpu_ms", "reading 100,000 events, CPU", 1000, 310, unit="ms", lower=True),)),
    Part("dry_run", "`run --dry-run` of a sweep of 10,000 points, wall time",
         command=("{here}/host.py", "dry_run", "--build", "{build}"), quick=("--quick",), targets=("backplane", "env_ant", "learner_ppo"), minutes=0.3,
         goals=(Goal("dry_run_s", "`run --dry-run` of 10,000 points", None, 1, unit="s", lower=True),)),
    Part("start", "load the plugin, make, bind and reset 64 rows: wall time until the first step can begin, a fresh process each",
         command=("{here}/host.py", "start", "--build", "{build}"), quick=("--quick",), targets=("bench_host", *(f"env_{task}" for task in (*SCALED, "quadruped_stand"))),
         goals=(Goal("start_ms/ant", "plugin and 64 rows of Ant ready for the first step", 60, 15, unit="ms", lower=True),)),
    Part("shim", "cost of the shim above each trial: /bin/true with and without it, from a trial's death to Wait's return, 64 shims",
         command=("{bench}/bench_host", "shim", "{program}", "pairs=100"), quick=("pairs=1",), targets=("bench_host", "backplane"), minutes=0.3,
         read=spreads(shim_adds_ms="shim_adds_ms", exit_to_wait_ms="exit_to_wait_ms", shim_private_bytes="many.private_each")),
]

TRAINING = [
    Part("phases", "shares of a short PPO run on Ant, 2 runners x 32 rows", command=("{here}/host.py", "phases", "--build", "{build}"),
         quick=("--quick",), targets=("backplane", "env_ant", "learner_ppo"), minutes=0.3),
    Part("e_train", "PPO on Ant with one core, a shared 64-64 net, 4 epochs, minibatch 512 / a plain loop that only steps, in turn",
         command=("{here}/host.py", "e_train", "--build", "{build}"), quick=("--quick",), targets=("bench_host", "backplane", "env_ant", "learner_ppo"),
         minutes=0.8, goals=(Goal("e_train", "PPO on Ant, one net of 64-64, 4 epochs, minibatch 512, one core", 0.88, 0.93,
                                  over="a plain loop that only steps"),)),
    Part("candidates", "evaluation of 128 candidates of ARS on Ant, 2 threads / the bare loop over the same episodes, CPU time",
         command=("{bench}/bench_host", "candidates", "{plugins}/env_ant.so", "rows=128", "horizon=1000", "threads=2", "pairs=5"),
         quick=("horizon=8", "pairs=1"), read=pairs("ars_over_raw", "E_cpu"), targets=("bench_host", "env_ant"), minutes=1.8,
         goals=(Goal("ars_over_raw", "ARS, 64 directions on Ant, 2 threads", 0.93, 0.97, over=LOOP),)),
    Part("products", "GFLOP/s of the products of plugins/common/nn", command=("{bench}/bench_products", "480", "256", "256"), targets=("bench_products",),
         read=spreads(**{name: name for way in ("", "_bf16") for name in
                         (f"forward{way}_gflop_per_s", f"gradient{way}_gflop_per_s", f"packing{way}_us")})),
    Part("amp", "steps/s of PPO on Ant with `use_amp: true` / in float32, in turn: 64 x 64, two nets of 256-256, 4 epochs, minibatch 2,048, one core",
         command=("{here}/host.py", "amp", "--build", "{build}"), quick=("--quick",), targets=("backplane", "env_ant", "learner_ppo"), minutes=1.2,
         processor="avx512_bf16", goals=(Goal("amp", "PPO on Ant, 64 envs x 64 steps, nets of 256-256, one core, `use_amp: true`", None, 1.05,
                                              over="the same in float32"),)),
]
