"""The registry: every part, in the order of the page and of a run."""
from .model import Goal, Part
from .parts_host import PLANS, SMALL, STEPPING, TRAINING
from .parts_peers import STEP, TEXTS, TRAINERS
from .parts_programs import PROGRAMS

# Goals that no script measures here, with the reason. When a part measures one, move it to a table above.
OPEN = [
    Part("agents_envpool", "agent-steps per second of a 4-agent env and EnvPool's", missing="EnvPool's package has no such env",
         goals=(Goal("agents_over_envpool", "4 agents, 1,024 rows, agent-steps/s", None, 50, over="EnvPool"),)),
    Part("ant_4000", "core-seconds until PPO has a return of 4,000 on Ant", missing="needs 5 seeds of several hours",
         goals=(Goal("ant_4000_core_s", "Ant to a return of 4,000, cores x wall time", 3000, 2000, unit="core-seconds", lower=True),)),
    Part("gpu", "a machine with a GPU: CPU use while collecting, and steps/s", missing="needs a GPU",
         goals=(Goal("gpu_cpu_use", "with a GPU: CPU use while collecting", 0.85, 0.95),
                Goal("gpu_share", "with a GPU: steps/s / steps/s of the slower part (collecting or updating) alone", 0.85, 0.92))),
]

PARTS = [*STEPPING, *SMALL, *PLANS, *TRAINING, *PROGRAMS, *STEP, *TRAINERS, *TEXTS, *OPEN]
