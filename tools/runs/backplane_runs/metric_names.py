"""Names of metrics as reports can type them in expressions."""
from __future__ import annotations

import re

# Measures of the host, whose meaning is fixed.
RESERVED = {"env_steps", "episodes", "t", "iteration_s", "sps", "sampling_sps", "iterations", "wall_s", "minutes", "attempt_s", "cpu_s", "threads",
            "balance", "measured_s", "seconds_per_episode", "steps_per_episode", "learner_threads", "chunk_rows", "iteration", "rss_peak_mb", "vram_peak_mb"}
RESERVED_GROUPS = ("phase/", "resources/", "precision/", "floor_zero/", "floor_uniform/")
WORDS = {"and", "or", "not", "in", "true", "false", "null", "True", "False", "None"}


def typed_name(name: str) -> str:
    """"val-loss (mean)" -> "val_loss_mean". Letters of other languages stay."""
    clean = re.sub(r"_+", "_", re.sub(r"[^0-9A-Za-z_/.\u0080-\U0010ffff]", "_", name.replace("\\", "/")))
    parts = [part.strip(".") for part in clean.split("/")]
    clean = "/".join(part.strip("_") or part for part in parts if part) or "metric"
    clean = re.sub(r"\.{2,}", ".", clean)
    if clean[0].isascii() and not clean[0].isalpha() and clean[0] != "_" or clean in WORDS:
        clean = "_" + clean
    return f"reported/{clean}" if clean in RESERVED or clean.startswith(RESERVED_GROUPS) else clean


def typed_names(names: list[str]) -> dict[str, str]:
    """The name in reports for each logged name; two names never become one."""
    taken: set[str] = set()
    out = {}
    for name in sorted(names, key=lambda name: (typed_name(name) != name, name)):
        clean, number = typed_name(name), 2
        while clean in taken:
            clean, number = f"{typed_name(name)}_{number}", number + 1
        taken.add(clean)
        out[name] = clean
    return out
