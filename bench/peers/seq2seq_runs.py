"""Runs of the seq2seq comparison: one folder of data and first weights, and one command a run, ours or the peer's, with the same figures
of each update: wall_s, cpu_s, real_tokens, padded_tokens, loss (nats per label token), grad_norm (before clipping)."""
import itertools
import json
import os
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from measured_run import measure  # noqa: E402

GROUP = 64  # items an update
PURPOSE_SOURCE = 4  # BP_PURPOSE_SOURCE


def philox(counter, key):
    """Philox4x32-10, as in backplane/rng.h."""
    (c0, c1, c2, c3), (k0, k1), low = counter, key, 0xFFFFFFFF
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = p1 >> 32 ^ c1 ^ k0, p1 & low, p0 >> 32 ^ c3 ^ k1, p0 & low
        k0, k1 = k0 + 0x9E3779B9 & low, k1 + 0xBB67AE85 & low
    return c0, c1


def seed_of(seed, purpose, n):
    """bp_seed(seed, purpose, 0, n)."""
    low, high = philox((n & 0xFFFFFFFF, n >> 32, 0, purpose), (seed & 0xFFFFFFFF, seed >> 32))
    return high << 32 | low


def first_epoch(items):
    """Order of our trial's first epoch with seed 0: a Fisher-Yates shuffle by the epoch's seed."""
    key, order = seed_of(0, PURPOSE_SOURCE, 0), list(range(items))
    for n, i in enumerate(range(items, 1, -1)):
        k = seed_of(key, 0, n) * i >> 64
        order[i - 1], order[k] = order[k], order[i - 1]
    return order


def write_data(folder, data, tokenizer, items):
    """Rows evenly spaced over the file `data`, their order, and the SentencePiece model."""
    header, *rows = data.read_text(encoding="utf-8").rstrip("\n").split("\n")
    if len(rows) < items:
        sys.exit(f"{data}: expected {items} rows or more, got {len(rows)}; lower --updates to need fewer")
    chosen = [rows[i * len(rows) // items] for i in range(items)]
    (folder / "rows.tsv").write_text("\n".join([header, *chosen]) + "\n", encoding="utf-8")
    (folder / "order.json").write_text(json.dumps(first_epoch(items)))
    shutil.copy(tokenizer, folder / "spm.model")


class Runner:
    """`cores`: two processors to run on. A run uses the last `n` of them; LibTorch's thread pool has only the requested threads."""

    def __init__(self, folder, build, python, cores, dropout):
        self.folder, self.build, self.python, self.cores, self.dropout = folder, build, python, cores, dropout
        self.numbers = itertools.count()

    def measured(self, command, cores, threads):
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads), "TOKENIZERS_PARALLELISM": "false"}
        return measure(["taskset", "-c", ",".join(map(str, self.cores[-cores:])), *command], env=environment).check()

    def peer(self, settings, cores=1, processes=1):
        launch = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", processes] if processes > 1 else []
        run = self.measured([self.python, *launch, HERE / "seq2seq_peer.py", self.folder, json.dumps(settings)], cores,
                            settings.get("threads", 1))
        return {**json.loads(run.stdout.splitlines()[-1]), **facts(run)}

    def ours(self, updates, cores=1, **options):
        """The trial's own figures from metrics.jsonl. Its peak memory is before its checkpoint, which the peer does not write."""
        out = self.folder / f"ours-{next(self.numbers)}"
        config = out.with_suffix(".yaml")
        config.write_text(json.dumps({  # JSON is YAML
            "experiment": "train_seq2seq",
            "env": {"plugin": "summarization", "options": {"data": str(self.folder / "rows.tsv"),
                                                           "tokenizer": str(self.folder / "spm.model"),
                                                           "max_source_length": 128, "max_target_length": 32}},
            "learner": {"plugin": "seq2seq", "options": {"model_name_or_path": str(self.folder / "model"), "effective_batch_size": GROUP,
                                                         "learning_rate": 5e-4, "lr_scheduler_type": "constant",
                                                         "dropout": self.dropout, **options}},
            "budget": {"iterations": updates}, "resources": {"cpus": cores}, "monitors": ["resources"]}))
        run = self.measured([self.build / "bin/backplane", "run", config, "--out", out, "--quiet"], cores, 1)
        attempt = next(out.glob("trials/*/attempt-1"))
        lines = [json.loads(line) for line in (attempt / "metrics.jsonl").read_text().splitlines()]
        found, t = [], 0.0
        for line in lines:
            metrics, machine, wall = line["metrics"], line["time"]["machine"], line["time"]["t"] - t
            t = line["time"]["t"]
            found.append({"wall_s": wall, "cpu_s": wall * machine["resources/cpu_cores_used"],
                          **{key: metrics[f"train/{key}"] for key in ("real_tokens", "padded_tokens", "loss", "grad_norm")}})
        result = json.loads((attempt / "result.json").read_text())
        return {"updates": found, "peak_rss_bytes": lines[-1]["time"]["machine"]["resources/rss_peak_mb"] * 2**20,
                "threads": result["learner_threads"], "torch": result["versions"]["libtorch"], **facts(run)}


def facts(run):
    return {"command_wall_s": run.wall_s, "command_cpu_s": run.cpu_s, "others": run.others}
