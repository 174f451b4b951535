"""A plain PyTorch loop for scripts/check_curves, without any code for Backplane: it learns a sum, saves every 25 steps, and resumes exactly.

usage: python3 training_loop.py FOLDER STEPS
"""
import os
import pathlib
import sys

import torch

folder, steps = pathlib.Path(sys.argv[1]), int(sys.argv[2])
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
first, file = 0, folder / "state.pt"
if file.exists():
    state = torch.load(file)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    torch.set_rng_state(state["random"])
    first = state["step"]

print("step=0 lr=0.001 width=32")
for step in range(first + 1, steps + 1):
    x = torch.randn(256, 8)
    loss = torch.nn.functional.mse_loss(model(x), x.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step={step} loss={loss.item()}")
    if step % 20 == 0:
        with torch.no_grad():
            x = torch.linspace(-1, 1, 8).repeat(4, 1)
            print(f"step={step} test_loss={torch.nn.functional.mse_loss(model(x), x.sum(1, keepdim=True)).item()}")
    if step % 25 == 0:
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "random": torch.get_rng_state(), "step": step}
        torch.save(state, file.with_suffix(".new"))
        os.replace(file.with_suffix(".new"), file)
