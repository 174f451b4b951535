"""Passes of torch.nn.GRU in float64 through sequences whose state returns to 0 at some entries, with gradients by autograd.

  {"inputs": n, "size": n, "params": [..] in the order of nn/gru.hpp, "sequences": [{"x": [[..], ..], "start": [..], "fresh": [0, 1, ..],
   "weight": [[..], ..]}, ..]}
  -> {"state": [[..], ..] after each entry of each sequence, "gradient": [..] of the sum of state * weight, like params}
"""

import torch_oracle as oracle
from torch_oracle import torch


def answer(request):
    n, m = request["inputs"], request["size"]
    given = torch.tensor(request["params"])
    cuts = [n * 3 * m, 3 * m, m * 3 * m, 3 * m]
    weight_ih, bias_ih, weight_hh, bias_hh = given.split(cuts)
    gru = torch.nn.GRU(n, m)
    with torch.no_grad():
        gru.weight_ih_l0.copy_(weight_ih.reshape(n, 3 * m).T)
        gru.weight_hh_l0.copy_(weight_hh.reshape(m, 3 * m).T)
        gru.bias_ih_l0.copy_(bias_ih)
        gru.bias_hh_l0.copy_(bias_hh)
    states, total = [], 0
    for sequence in request["sequences"]:
        x, weight = torch.tensor(sequence["x"]), torch.tensor(sequence["weight"])
        state, seen = torch.tensor(sequence["start"]).reshape(1, 1, m), []
        # One call per run without a fresh entry.
        starts = [0] + [t for t, fresh in enumerate(sequence["fresh"]) if fresh and t > 0] + [len(x)]
        for begin, end in zip(starts, starts[1:]):
            if sequence["fresh"][begin]:
                state = torch.zeros(1, 1, m)
            out, state = gru(x[begin:end].unsqueeze(1), state)
            seen.append(out.squeeze(1))
        seen = torch.cat(seen)
        total = total + (seen * weight).sum()
        states += seen.tolist()
    total.backward()
    grads = [gru.weight_ih_l0.grad.T, gru.bias_ih_l0.grad, gru.weight_hh_l0.grad.T, gru.bias_hh_l0.grad]
    return {"state": states, "gradient": torch.cat([g.reshape(-1) for g in grads]).tolist()}


oracle.serve(answer)
