"""Small batches of trials for scripts/stress, check_checkpoints, check_crash_images and check_full_disk, and the checks of their
results.
"""
import argparse
import contextlib
import csv
import dataclasses
import hashlib
import io
import json
import os
import pathlib
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MARK = "BACKPLANE_BATCH_MARK"  # in the environment of a batch's processes
OWN_MOUNTS = "BACKPLANE_OWN_MOUNTS"
SKIPPED = 77  # exit code of a check that cannot run here
# Columns of `export csv` that differ between runs, in addition to all with the prefix time/.
TIMES = {"sps", "sampling_sps", "wall_s", "trial_s", "attempts", "peak_rss_bytes"}

_COMMON = """budget: {iterations: %(iterations)d}
monitors: []
on_failure: {signal: {retry: 50}}
stop_sweep: {flapping: 0, initial_failures: 0}
"""
_SAVING = "evaluation: {episodes: 4, every_iterations: 20}\ncheckpoint: {every_iterations: 5}\n"


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of experiment. With `iterations`, a trial takes some tenths of a second on one core."""
    name: str
    plugins: tuple
    trials: int
    iterations: int
    text: str

    @property
    def config(self):
        return self.text % {"iterations": self.iterations}

    @property
    def reads_texts(self):
        return "env_summarization" in self.plugins

    def lasting(self, iterations):
        """A copy with a different number of iterations, if one is given."""
        return dataclasses.replace(self, iterations=iterations or self.iterations)

    def with_seeds(self, n):
        """A copy with n seeds per point instead of four."""
        return dataclasses.replace(self, trials=self.trials * n // 4, text=self.text.replace("seeds: {n: 4}", f"seeds: {{n: {n}}}"))

    def missing(self, build):
        """The requirements that are missing."""
        missing = [f"{plugin} in {build}" for plugin in self.plugins if not (build / f"lib/backplane/plugins/{plugin}.so").exists()]
        return missing + (["spm_train of SentencePiece"] if self.reads_texts and not shutil.which("spm_train") else [])


def _by_name(*kinds):
    return {kind.name: kind for kind in kinds}


KINDS = _by_name(
    Kind("random", ("env_cartpole", "learner_random"), 24, 100, """experiment: random
env: {plugin: cartpole}
learner: {plugin: random, options: {horizon: 512}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 16, threads: 1}
sweep:
  grid: {learner.options.horizon: [256, 512], rollout.num_envs_per_env_runner: [8, 16, 32]}
  seeds: {n: 4}
""" + _COMMON),
    Kind("lines", ("env_cartpole", "learner_random"), 8, 1000, """experiment: lines
env: {plugin: cartpole}
learner: {plugin: random, options: {horizon: 16}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 8, threads: 1}
sweep:
  grid: {rollout.num_envs_per_env_runner: [8, 16]}
  seeds: {n: 4}
""" + _COMMON),
    Kind("ppo", ("env_cartpole", "learner_ppo"), 8, 60, """experiment: ppo
env: {plugin: cartpole}
learner: {plugin: ppo, options: {train_batch_size: 128, minibatch_size: 64, num_epochs: 2, hidden: [16]}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 8, threads: 1}
sweep:
  grid: {learner.options.lr: [1.0e-3, 3.0e-4]}
  seeds: {n: 4}
""" + _COMMON + _SAVING),
    Kind("uav_grid", ("env_uav_grid", "learner_mappo"), 8, 20, """experiment: uav_grid
env: {plugin: uav_grid, options: {n_uavs: 3, n_obstacles: 4, grid_size: 12, state_map: none}}
learner: {plugin: mappo, options: {train_batch_size: 128, minibatch_size: 128, num_epochs: 2, hidden: [16, 16]}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 4, threads: 1}
sweep:
  grid: {learner.options.lr: [1.0e-3, 3.0e-4]}
  seeds: {n: 4}
""" + _COMMON + _SAVING),
    Kind("ars", ("env_cartpole", "learner_ars"), 16, 100, """experiment: ars
env: {plugin: cartpole}
learner: {plugin: ars, options: {num_dirs: 2}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 4, threads: 1}
sweep:
  grid: {learner.options.noise_std: [0.05, 0.1]}
  seeds: {n: 8}
""" + _COMMON + _SAVING),
    Kind("summarization", ("env_summarization", "learner_seq2seq"), 8, 20, """experiment: summarization
env: {plugin: summarization, options: {data: ../texts.csv, tokenizer: ../spm.model, max_source_length: 48, max_target_length: 16}}
learner:
  plugin: seq2seq
  options: {effective_batch_size: 16, per_device_train_batch_size: 8, d_model: 16, encoder_layers: 1, decoder_layers: 1,
            encoder_attention_heads: 2, decoder_attention_heads: 2, encoder_ffn_dim: 32, decoder_ffn_dim: 32}
sweep:
  grid: {learner.options.learning_rate: [1.0e-3, 3.0e-4]}
  seeds: {n: 4}
""" + _COMMON + _SAVING))

# One trial each, with a learner small enough to damage every part of its checkpoint.
_SMALL = """evaluation: {episodes: 2}
monitors: []
checkpoint: {every_iterations: 5}
budget: {iterations: %(iterations)d}
"""
SMALL_KINDS = _by_name(
    Kind("ppo", ("env_cartpole", "learner_ppo"), 1, 12, """experiment: ppo
env: {plugin: cartpole}
learner: {plugin: ppo, options: {train_batch_size: 64, minibatch_size: 32, num_epochs: 2, hidden: [4], normalize_obs: true,
          normalize_rewards: true}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 4, threads: 1}
""" + _SMALL),
    Kind("ars", ("env_cartpole", "learner_ars"), 1, 12, """experiment: ars
env: {plugin: cartpole}
learner: {plugin: ars, options: {num_dirs: 2, top_dirs: 1, episode_length: 40}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 4, threads: 1}
""" + _SMALL),
    Kind("seq2seq", ("env_summarization", "learner_seq2seq"), 1, 12, """experiment: seq2seq
env: {plugin: summarization, options: {data: texts.csv, tokenizer: spm.model, max_source_length: 32, max_target_length: 16}}
learner: {plugin: seq2seq, options: {d_model: 4, encoder_layers: 1, decoder_layers: 1, encoder_attention_heads: 1,
          decoder_attention_heads: 1, encoder_ffn_dim: 4, decoder_ffn_dim: 4, per_device_train_batch_size: 4}}
rollout: {threads: 1}
""" + _SMALL))


class CheckFailed(Exception):
    """A check found a difference or cannot continue. The message is one sentence."""


def add_common_arguments(parser, kinds, known=KINDS):
    """Adds the arguments that all checks share. `kinds` are the default experiments by name."""
    def kinds_of(names):
        if unknown := set(names.split(",")) - set(known):
            raise argparse.ArgumentTypeError(f"expected a list of {', '.join(known)}, got {', '.join(sorted(unknown))}")
        return [known[name] for name in names.split(",")]

    parser.add_argument("--kinds", type=kinds_of, default=kinds, help=f"experiments: a list of {', '.join(known)} (%(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--keep", type=pathlib.Path, help="folder to work in; it is kept")


def chosen_kinds(args):
    """The kinds that this machine can run. Prints the others with their missing requirements."""
    chosen = []
    for kind in args.kinds:
        if missing := kind.missing(args.build):
            print(f"{kind.name}: skipped: no {', no '.join(missing)}", flush=True)
        else:
            chosen.append(kind)
    if not chosen:
        raise CheckFailed(f"none of {', '.join(kind.name for kind in args.kinds)} can run here")
    return chosen


def program_of(args):
    return (args.build / "bin/backplane").resolve()


def run_in_folder(name, args, run):
    """Calls run(args, folder) and exits with its code. The folder is --keep's, or a new one that is removed on success. Otherwise the logs
    stay, and the last line names the folder."""
    folder = (args.keep or pathlib.Path(tempfile.mkdtemp(prefix=f"backplane-{name}-"))).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    code = 1
    try:
        code = run(args, folder)
    except CheckFailed as error:
        print(f"{name}: {error}", file=sys.stderr, flush=True)
    finally:
        if not args.keep and (code == 0 or not any(folder.iterdir())):
            shutil.rmtree(folder)
        else:
            print(f"{name}: the logs are in {folder}", flush=True)
    sys.exit(code)


def write_texts(folder):
    """A data set and a vocabulary of it: texts.csv and spm.model."""
    places, things = ["the island", "the lake", "the tower", "the market", "the bridge"], ["A ferry", "A night train", "A walk"]
    with open(folder / "texts.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["document", "summary"])
        for i in range(90):
            place, thing, hour = places[i % 5], things[i // 5 % 3], 1 + i // 15
            rows.writerow([f'"{thing}" leaves for {place} at {hour},\nand it goes in the rain too.', f"{thing} to {place} at {hour}"])
    # Without paths: the model stores its arguments, and a trial's id depends on its data files' content.
    subprocess.run(["spm_train", "--input=texts.csv", "--model_prefix=spm", "--vocab_size=150", "--hard_vocab_limit=false", "--bos_id=0",
                    "--pad_id=1", "--eos_id=2", "--unk_id=3", "--num_threads=1", "--minloglevel=2"], cwd=folder, check=True,
                   capture_output=True)


def weights_of(trial):
    """The learner's part of the last checkpoint, read without Backplane."""
    data = (trial / "checkpoint/checkpoint.bin").read_bytes()
    size = int.from_bytes(data[8:16], "little")
    at = 8 + 8 + 32 + size
    for part in json.loads(data[48:48 + size])["parts"]:
        if part["name"] == "learner":
            return hashlib.sha256(data[at:at + part["bytes"]]).hexdigest()
        at += part["bytes"]
    raise CheckFailed(f"{trial}: its checkpoint has no learner")


def rows_of(program, out):
    """Rows of `export csv`, without times."""
    text = subprocess.run([program, "export", "csv", out], check=True, capture_output=True, text=True).stdout
    return [{k: v for k, v in row.items() if k not in TIMES and not k.startswith("time/")} for row in csv.DictReader(io.StringIO(text))]


def processes(mark):
    """Ids of the processes whose environment holds the mark."""
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        try:
            state = (folder / "stat").read_text().rsplit(")", 1)[1].split()[0]
            if state != "Z" and mark.encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:
            pass
    return found


def kill(pid):
    """Returns False if the process had already ended."""
    try:
        os.kill(pid, signal.SIGKILL)
        return True
    except ProcessLookupError:
        return False


class Batch:
    """A batch with its results in `out`, by default next to its file and log."""

    def __init__(self, program, folder, kind, out=None):
        self.program, self.folder, self.kind, self.out = program, folder, kind, out or folder / "out"
        self.mark = f"{MARK}={os.getpid()}-{folder.name}"
        self.said_before = 0  # bytes of the log before the last command
        self.config = folder / f"{kind.name}.yaml"
        folder.mkdir(parents=True)
        # In the parent folder: a trial's id contains its data files' paths, and batches must be comparable.
        if kind.reads_texts and not (folder.parent / "spm.model").exists():
            write_texts(folder.parent)
        self.config.write_text(kind.config)

    def start(self, *options):
        name, value = self.mark.split("=")
        with open(self.folder / "log", "ab") as log:
            self.said_before = log.tell()
            return subprocess.Popen([self.program, "run", self.config, "--out", self.out, "--jobs", "2", *options], stdout=log, stderr=log,
                                    env={**os.environ, name: value})

    def log_text(self):
        """The output of the last started command."""
        return (self.folder / "log").read_bytes()[self.said_before:].decode(errors="replace")

    def log(self):
        """The end of the log, for printing."""
        return self.log_text()[-3000:]

    def rows(self):
        return rows_of(self.program, self.out)

    def events(self):
        return events(self.out)

    def wait_until_gone(self, seconds=60):
        """True if the batch's processes end by themselves within that time."""
        deadline = time.monotonic() + seconds
        while processes(self.mark):
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True

    def complaint(self):
        """The error in the finished batch, or None."""
        completed = set()
        for event in self.events():
            if event["kind"] == "attempt.start" and event["trial_id"] in completed:
                return f"trial {event['trial_id']} was started again after it had completed"
            if event["kind"] == "attempt.end" and event["state"] == "COMPLETED":
                completed.add(event["trial_id"])
        return self.unlike_a_finished_batch(completed)

    def unlike_a_finished_batch(self, completed):
        wanted = self.kind.trials
        if len(completed) != wanted:
            return f"{len(completed)} of {wanted} trials completed"
        finished = [p for p in self.out.glob("trials/*/attempt-*/result.json") if json.loads(p.read_text())["state"] == "COMPLETED"]
        if len(finished) != wanted:
            return f"{len(finished)} attempts completed, expected {wanted}"
        with contextlib.closing(sqlite3.connect(self.out / "results.sqlite")) as database:
            stored = database.execute("SELECT count(*) FROM trials WHERE state = 'COMPLETED'").fetchone()[0]
        if stored != wanted:
            return f"results.sqlite has {stored} of {wanted} trials COMPLETED"
        progress = json.loads((self.out / "progress.json").read_text())
        if progress["state"] != "done" or progress["counts"].get("COMPLETED") != wanted:
            return f"progress.json reports {progress['state']}, {progress['counts']}"
        if not self.wait_until_gone():
            return f"processes are left: {processes(self.mark)}"
        return None


def iterations_for(program, folder, kind, seconds):
    """The iterations for which a trial of the kind takes about that long on this machine."""
    probe = Batch(program, folder / "probe", kind)
    if probe.start().wait() != 0:
        raise CheckFailed(f"the batch '{kind.name}' does not run:\n{probe.log()}")
    wall = [json.loads(p.read_text())["wall_s"] for p in probe.out.glob("trials/*/attempt-1/result.json")]
    return max(20, int(kind.iterations * seconds / max(sorted(wall)[len(wall) // 2], 1e-4)))


def whole_lines(file):
    """The complete lines of a file; none if the file is missing."""
    try:
        return file.read_bytes().split(b"\n")[:-1]
    except FileNotFoundError:
        return []


def events(out):
    return [json.loads(line) for line in whole_lines(out / "events.jsonl")]


def finished_attempts(out):
    """The last completion event of each trial, unless the trial was started again later."""
    last = {}
    for event in events(out):
        if event["kind"] == "attempt.start":
            last.pop(event["trial_id"], None)
        elif event["kind"] == "attempt.end" and event["state"] == "COMPLETED":
            last[event["trial_id"]] = event
    return list(last.values())


def not_whole(out):
    """Errors of trials recorded as completed whose metrics or result differ from their record; [] if all agree. Older versions recorded no
    file sizes; result.json then contains the number of iterations."""
    complaints = []
    for event in finished_attempts(out):
        trial = out / "trials" / event["trial_id"]
        attempt = trial / f"attempt-{event['attempt']}"
        said = event.get("files", {})
        try:
            content = (attempt / "result.json").read_bytes()
            result = json.loads(content)
        except (OSError, ValueError) as error:
            complaints.append(f"trial {event['trial_id']} is COMPLETED, but its result.json cannot be read: {error}")
            continue
        if said.get("result") and hashlib.sha256(content).hexdigest() != said["result"]["sha256"]:
            complaints.append(f"trial {event['trial_id']} is COMPLETED with a different result.json")
        # A resumed trial has its first iterations in the files of earlier attempts.
        iterations = set()
        for file in trial.glob("attempt-*/metrics.jsonl"):
            for line in whole_lines(file):
                try:
                    iterations.add(json.loads(line)["iteration"])
                except (ValueError, KeyError, TypeError):
                    complaints.append(f"trial {event['trial_id']}: {file.parent.name}/metrics.jsonl has a malformed line: {line[:60]}")
        here = len(set(range(1, result["iterations"] + 1)) & iterations)
        if here != result["iterations"]:
            complaints.append(f"trial {event['trial_id']} is COMPLETED, but has {here} of {result['iterations']} iterations in its metrics")
        wanted, found = said.get("metrics_lines", 0), len(whole_lines(attempt / "metrics.jsonl"))
        if found < wanted:
            complaints.append(f"trial {event['trial_id']} is COMPLETED: expected {wanted} lines of metrics, got {found}")
    return complaints


def unmount(folder, mark):
    """Unmounts a file system after killing the batch's remaining processes, which may survive an error. Returns False if it was still in
    use; it then disappears when its users end."""
    for _ in range(50):
        for pid in processes(mark):
            kill(pid)
        if subprocess.run(["umount", folder], capture_output=True).returncode == 0:
            return True
        time.sleep(0.1)
    subprocess.run(["umount", "--lazy", folder], check=True)
    return False


def with_own_mounts(why, may_be_root_of_its_own=False):
    """Restarts the program with its own mounts and process ids, which disappear when it ends. Exits with SKIPPED and a message if the
    machine forbids that. Checks without devices may use a namespace in which the user is root."""
    if os.environ.get(OWN_MOUNTS):
        return
    # If this process dies, `unshare` (which ignores SIGTERM) and everything in the namespaces die too.
    command = ["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation",
               "private"]
    if os.geteuid() != 0:
        if not may_be_root_of_its_own:
            skip(f"{why}, which needs root")
        command.append("--map-root-user")
    installed = shutil.which("unshare") and shutil.which("setpriv")
    if not installed or subprocess.run([*command, "true"], capture_output=True).returncode != 0:
        skip(f"{why}, but this machine does not allow `{shlex.join(command)}`")
    sys.exit(subprocess.run([*command, sys.executable, *sys.argv], env={**os.environ, OWN_MOUNTS: "1"}).returncode)


def skip(sentence):
    print(f"skipped: {sentence}", flush=True)
    sys.exit(SKIPPED)
