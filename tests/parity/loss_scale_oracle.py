"""Scales losses by torch.amp.GradScaler with its defaults.

  {"overflows": [true, false, ..]}, one per update
  -> {"scale": [..], "growth": [..], "applied": [..]} after each update
"""

import json
import sys

from torch_oracle import torch


class Descent:
    """Gradient descent with the interface that GradScaler uses; torch.optim imports packages that the wheel lacks."""

    def __init__(self, weight):
        self.param_groups = [{"params": [weight]}]

    def step(self):
        weight, = self.param_groups[0]["params"]
        weight.data -= weight.grad


def scales(request):
    scaler = torch.amp.GradScaler("cpu")
    weight = torch.nn.Parameter(torch.zeros(1))
    optimizer = Descent(weight)
    scaler.scale(torch.ones(1))  # creates its state
    out = {"scale": [], "growth": [], "applied": []}
    for overflow in request["overflows"]:
        before = weight.item()
        weight.grad = torch.tensor([float("inf") if overflow else scaler.get_scale()])
        scaler.step(optimizer)
        scaler.update()
        out["scale"].append(scaler.get_scale())
        out["growth"].append(scaler._get_growth_tracker())
        out["applied"].append(weight.item() == before - 1)  # divided by the scale of its own update
    return out


for line in sys.stdin:
    try:
        answer = scales(json.loads(line))
    except Exception as error:  # the test prints it
        answer = {"error": "%s: %s" % (type(error).__name__, error)}
    print(json.dumps(answer), flush=True)
