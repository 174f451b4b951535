"""Gradient descent with a noisy slope, as a function that Backplane calls: fit.yaml, docs/functions.md."""
import json, os, random
from backplane_client import checkpoint_dir, report


def train(config):
    rng = random.Random(config["seed"])
    saved = checkpoint_dir() / "state.json"
    state = json.loads(saved.read_text()) if saved.exists() else {"step": 0, "x": 10.0}
    while state["step"] < 100:
        slope = 2 * state["x"] + rng.gauss(0, config["noise"]["sd"])
        state["x"] -= config["lr"] * slope
        state["step"] += 1
        report({"loss": state["x"] ** 2}, step=state["step"])
        if state["step"] % 10 == 0:
            fresh = saved.with_suffix(".new")
            fresh.write_text(json.dumps(state))
            os.replace(fresh, saved)
    return {"eval/loss": state["x"] ** 2}
