#!/usr/bin/env python3
"""TensorBoard's own writer against learner.tensorboard: each scalar that a command writes to event files is a measure of its trial.

  event_reader_test.py PROGRAM        runs in .venv-oracle, which has TensorBoard's writer and reader
"""
import json
import math
import pathlib
import subprocess
import sys
import tempfile

from tensorboard.backend.event_processing import event_accumulator

SCRIPT = '''
import sys, time
import numpy as np
from tensorboard.compat.proto import event_pb2, summary_pb2
from tensorboard.summary.writer.event_file_writer import EventFileWriter
from tensorboard.util import tensor_util

def write(writer, step, **value):
    writer.add_event(event_pb2.Event(wall_time=time.time(), step=step, summary=summary_pb2.Summary(value=[summary_pb2.Summary.Value(**value)])))

old, new = EventFileWriter("runs/old"), EventFileWriter("runs/deep/er/new")
other = EventFileWriter("elsewhere")
for step in range(0, 300, 3):
    write(old, step, tag="charts/episodic_return", simple_value=step / 7)
    write(old, step, tag="loss", simple_value=float("nan") if step == 9 else 1 / (step + 1))
    scalar = summary_pb2.SummaryMetadata(plugin_data=summary_pb2.SummaryMetadata.PluginData(plugin_name="scalars"))
    write(new, step, tag="tensor/float", tensor=tensor_util.make_tensor_proto(np.float32(step * 1.5)), metadata=scalar)
    write(new, step, tag="tensor/double", tensor=tensor_util.make_tensor_proto(np.float64(step * 2.5)), metadata=scalar)
    write(new, step, tag="histogram", tensor=tensor_util.make_tensor_proto(np.ones((4, 3))))
    write(new, step, tag="text", tensor=tensor_util.make_tensor_proto("words"))
    write(other, step, tag="elsewhere", simple_value=1)
    if step == 150:
        old.flush(); time.sleep(1.5)  # the trial reads it half-written
for writer in (old, new, other): writer.close()
'''
EXPERIMENT = """
experiment: events
learner: {command: [%s, writes.py], tensorboard: "runs/**"}
"""


def wanted(folder):
    """TensorBoard's values by tag: (step, value)."""
    read = event_accumulator.EventAccumulator(str(folder), size_guidance={event_accumulator.SCALARS: 0, event_accumulator.TENSORS: 0})
    read.Reload()
    found = {tag: [(e.step, e.value) for e in read.Scalars(tag)] for tag in read.Tags()["scalars"]}
    for tag in ("tensor/float", "tensor/double"):
        if tag in read.Tags()["tensors"]:
            found[tag] = [(e.step, (e.tensor_proto.float_val or e.tensor_proto.double_val)[0]) for e in read.Tensors(tag)]
    return found


def same(a, b):
    return a[0] == b[0] and (a[1] == b[1] or (a[1] is None and math.isnan(b[1])) or math.isclose(a[1], b[1], rel_tol=1e-7))


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "writes.py").write_text(SCRIPT)
        (folder / "events.yaml").write_text(EXPERIMENT % json.dumps(sys.executable))
        run = subprocess.run([program, "run", "events.yaml"], cwd=folder, capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(f"run ended with {run.returncode}: {run.stderr}{run.stdout}")
        attempt = next((folder / "outputs/events/trials").glob("*/attempt-1"))
        series = {}
        for line in (attempt / "metrics.jsonl").read_text().splitlines():
            line = json.loads(line)
            values = dict(line.get("metrics", {}))
            if line.get("return"):
                values["charts/episodic_return"] = line["return"]["mean"]
            for tag, value in values.items():
                series.setdefault(tag, []).append((line["step"], value))
        expected = {**wanted(attempt / "runs/old"), **wanted(attempt / "runs/deep/er/new")}
        if sorted(series) != sorted(expected) or len(expected) != 4:
            sys.exit(f"wanted the tags {sorted(expected)}, found {sorted(series)}")
        for tag, points in expected.items():
            if len(points) != len(series[tag]) or not all(map(same, sorted(series[tag]), points)):
                sys.exit(f"{tag}: TensorBoard reads {points[:5]}..., metrics.jsonl has {series[tag][:5]}...")
        print(f"{sum(map(len, expected.values()))} scalars of {len(expected)} tags, as TensorBoard reads them")


if __name__ == "__main__":
    main()
