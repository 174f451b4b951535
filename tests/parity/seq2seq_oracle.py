"""Computes updates of a BART model from learner.seq2seq's micro-batches; a test compares the resulting weights.

The network follows the paper (Lewis et al., arXiv 1910.13461) and the names of HuggingFace's modeling_bart.py. AdamW and its groups of
weights are as in HuggingFace's Trainer. Dropout is 0. Reads one JSON object per line from stdin and answers each with one line:

  {"options": {..}, "base": {..}, "config": {..}, "before": hex of the learner's state, "after": [hex of it after each update],
   "groups": [[[{"source": [ids], "label": [ids]}]]] (updates, micro-batches, texts), "total": number of updates,
   "said": [{"loss": x, "norm": x, "lr": x}]}
  -> {"distance": {"params": x, ..}, "without": x}, as ppo_oracle.py
"""

import math

import torch_oracle as oracle
from torch_oracle import torch

F = torch.nn.functional


def shapes(c):
    """Names and shapes in the learner's order: matrices, then vectors, then untrained tensors."""
    d, named = c["d_model"], [("model.shared.weight", (c["vocab_size"], c["d_model"]))]

    def linear(name, out, into):
        named.extend([(name + ".weight", (out, into)), (name + ".bias", (out,))])

    def norm(name):
        named.extend([(name + ".weight", (d,)), (name + ".bias", (d,))])

    def attention(name):
        for part in "k", "v", "q", "out":
            linear(f"{name}.{part}_proj", d, d)
        norm(name + "_layer_norm")

    for side in "encoder", "decoder":
        named.append((f"model.{side}.embed_positions.weight", (c["max_position_embeddings"] + 2, d)))
        norm(f"model.{side}.layernorm_embedding")
        for i in range(c[side + "_layers"]):
            layer = f"model.{side}.layers.{i}."
            attention(layer + "self_attn")
            if side == "decoder":
                attention(layer + "encoder_attn")
            linear(layer + "fc1", c[side + "_ffn_dim"], d)
            linear(layer + "fc2", d, c[side + "_ffn_dim"])
            norm(layer + "final_layer_norm")
    matrices = [each for each in named if len(each[1]) == 2]
    vectors = [each for each in named if len(each[1]) == 1]
    return matrices, vectors, [("final_logits_bias", (1, c["vocab_size"]))]


class State:
    def __init__(self, text, config):
        saved = oracle.Saved(text)
        _, count = saved.take("Q", 2)
        saved.take("Q", count)
        matrices, vectors, fixed = shapes(config)
        self.decayed = [name for name, _ in matrices]
        self.fixed = [name for name, _ in fixed]

        def cut(flat, named):
            tensors, at = {}, 0
            for name, shape in named:
                size = math.prod(shape)
                tensors[name] = flat[at : at + size].reshape(shape)
                at += size
            assert at == len(flat), "the state has another layout"
            return tensors

        self.weights = cut(saved.array("<f4"), matrices + vectors + fixed)
        self.m, self.v = (cut(saved.array("<f4"), matrices + vectors) for _ in range(2))
        self.updates = saved.take("Q")

    def flat(self):
        """Trained tensors without the keys' biases: a softmax cancels them, so their gradient is only rounding."""
        return torch.cat([w.flatten() for name, w in self.weights.items() if name not in self.fixed and not name.endswith("k_proj.bias")])


class Bart:
    def __init__(self, config, weights):
        self.c, self.w = config, weights

    def linear(self, name, x):
        return F.linear(x, self.w[name + ".weight"], self.w[name + ".bias"])

    def norm(self, name, x):
        return F.layer_norm(x, x.shape[-1:], self.w[name + ".weight"], self.w[name + ".bias"])

    def attend(self, name, heads, x, memory, hidden):
        def split(y):
            return y.reshape(len(y), -1, heads, self.c["d_model"] // heads).transpose(1, 2)

        q, k, v = (split(self.linear(f"{name}.{part}_proj", y)) for part, y in (("q", x), ("k", memory), ("v", memory)))
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        mixed = scores.masked_fill(hidden, -torch.inf).softmax(-1) @ v
        return self.norm(name + "_layer_norm", x + self.linear(name + ".out_proj", mixed.transpose(1, 2).reshape(x.shape)))

    def stack(self, side, ids, hidden, memory=None, memory_hidden=None):
        x = F.embedding(ids, self.w["model.shared.weight"], padding_idx=self.c["pad_token_id"])
        x = x * (math.sqrt(self.c["d_model"]) if self.c["scale_embedding"] else 1)
        x = self.norm(f"model.{side}.layernorm_embedding", x + self.w[f"model.{side}.embed_positions.weight"][2 : 2 + ids.shape[1]])
        heads = self.c[side + "_attention_heads"]
        for i in range(self.c[side + "_layers"]):
            layer = f"model.{side}.layers.{i}."
            x = self.attend(layer + "self_attn", heads, x, x, hidden)
            if memory is not None:
                x = self.attend(layer + "encoder_attn", heads, x, memory, memory_hidden)
            x = self.norm(layer + "final_layer_norm", x + self.linear(layer + "fc2", F.gelu(self.linear(layer + "fc1", x))))
        return x

    def log_probs(self, source, length, labels):
        padding = (torch.arange(source.shape[1]) >= length.unsqueeze(1))[:, None, None, :]
        memory = self.stack("encoder", source, padding)
        start = torch.full((len(labels), 1), self.c["decoder_start_token_id"])
        later = torch.ones(labels.shape[1], labels.shape[1], dtype=torch.bool).triu(1)
        hidden = self.stack("decoder", torch.cat([start, labels[:, :-1]], 1), later, memory, padding)
        return (hidden @ self.w["model.shared.weight"].T + self.w["final_logits_bias"]).log_softmax(-1)


def summed_loss(model, texts, smoothing):
    """Sums over the texts' labels, and their number."""

    def padded(side):
        rows = [torch.tensor(text[side]) for text in texts]
        pad = model.c["pad_token_id"]
        return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=pad), torch.tensor([len(row) for row in rows])

    (source, length), (labels, label_length) = padded("source"), padded("label")
    log_probs = model.log_probs(source, length, labels)
    there = torch.arange(labels.shape[1]) < label_length.unsqueeze(1)
    own = -log_probs.gather(-1, labels.unsqueeze(-1)).squeeze(-1)[there]
    spread = -log_probs.mean(-1)[there]
    return ((1 - smoothing) * own + smoothing * spread).sum(), len(own)


def rate(o, done, total):
    warmup = o["warmup_steps"] if o["warmup_steps"] >= 1 else math.ceil(o["warmup_steps"] * total)
    kind = o["lr_scheduler_type"]
    if kind != "constant" and done < warmup:
        return o["learning_rate"] * done / warmup
    passed = (done - warmup) / (total - warmup)
    return o["learning_rate"] * {"linear": 1 - passed, "cosine": 0.5 * (1 + math.cos(math.pi * passed))}.get(kind, 1.0)


def update(state, group, options, config, done, total):
    o = options
    leaves = {name: w.clone().requires_grad_(name not in state.fixed) for name, w in state.weights.items()}
    model = Bart(config, leaves)
    losses = [summed_loss(model, texts, o["label_smoothing_factor"]) for texts in group]
    if o["loss_normalization"] == "token":
        loss = sum(x for x, _ in losses) / sum(n for _, n in losses)
    else:
        loss = sum(x / n for x, n in losses) / len(losses)
    loss.backward()
    trained = {name: w for name, w in leaves.items() if name not in state.fixed}
    norm = oracle.clip([w.grad for w in trained.values()], o["max_grad_norm"])
    lr = rate(o, done, total)
    betas, state.updates = (o["adam_beta1"], o["adam_beta2"]), state.updates + 1
    for name, w in trained.items():
        decay = o["weight_decay"] if name in state.decayed else 0.0
        state.weights[name], state.m[name], state.v[name] = oracle.adam(
            w.detach(), w.grad, state.m[name], state.v[name], state.updates, lr, betas, o["adam_epsilon"], decay
        )
    return {"loss": float(loss.detach()), "norm": norm, "lr": lr}


def answer(request):
    distance, without, config = {}, 0.0, request["config"]
    states = [request["before"]] + request["after"]
    for done, (group, before, after, said) in enumerate(zip(request["groups"], states, states[1:], request["said"])):
        ours, theirs, plain = (State(text, config) for text in (before, after, before))
        begin = ours.flat()
        computed = update(ours, group, request["options"], config, done, request["total"])
        found = {name: abs(said[name] - x) / max(abs(x), 1e-12) for name, x in computed.items()}
        if computed["lr"] > 0:
            found["params"] = oracle.apart(theirs.flat(), ours.flat(), begin)
            if request.get("base"):
                update(plain, group, request["base"], config, done, request["total"])
                without = max(without, oracle.apart(plain.flat(), ours.flat(), begin))
        for name, x in found.items():
            distance[name] = max(distance.get(name, 0.0), x)
    return {"distance": distance, "without": without}


oracle.serve(answer)
