#!/usr/bin/env python3
"""Trains HuggingFace's BART for some updates and prints one JSON object. train_seq2seq.py starts it and writes FOLDER.

  VENV/bin/python seq2seq_peer.py FOLDER SETTINGS

FOLDER: rows.tsv (header, columns `document` and `summary`), order.json (rows in the order of the epoch), spm.model, and model/, a folder
of `save_pretrained` that SETTINGS {"program": "prepare", "dropout": p} writes. SETTINGS, a JSON object, of a run:
  program        trainer: Seq2SeqTrainer as shipped. fixed: with a loss by tokens. loop: a plain PyTorch loop, by tokens
  micro_batch, steps   items per micro-batch; micro-batches per update over all processes
  updates, threads, bf16, sampling   sampling: sequential (the order of order.json) or group_by_length
{"program": "generate", "model": name, "texts": n, "batch": n, "beams": n, "threads": n} writes texts for the first rows with the model of
that folder in FOLDER.
Under torch.distributed.run the processes share an update's micro-batches.
"""
import ctypes
import json
import pathlib
import resource
import sys
import tempfile
import time

import sentencepiece
import torch
import transformers
from torch.nn.functional import cross_entropy
from transformers import BartConfig, BartForConditionalGeneration, Seq2SeqTrainer, Seq2SeqTrainingArguments, TrainerCallback

SOURCE_MAX, TARGET_MAX = 128, 32  # tokens, including begin and end
BOS, PAD, EOS = 0, 1, 2
RATE = 5e-4


def prepare(folder, dropout):
    """Writes a model of 7,646,208 parameters as initialised by transformers."""
    torch.manual_seed(1)
    sizes = {f"{part}_{name}": n for part in ("encoder", "decoder")
             for name, n in (("layers", 3), ("attention_heads", 4), ("ffn_dim", 1024))}
    model = BartForConditionalGeneration(BartConfig(
        vocab_size=sentencepiece.SentencePieceProcessor(str(folder / "spm.model")).get_piece_size(), d_model=256, **sizes,
        max_position_embeddings=130, dropout=dropout, attention_dropout=0.0, activation_dropout=0.0, activation_function="gelu",
        init_std=0.02, scale_embedding=False, bos_token_id=BOS, pad_token_id=PAD, eos_token_id=EOS, decoder_start_token_id=EOS,
        forced_eos_token_id=EOS))
    model.save_pretrained(folder / "model")
    return {"parameters": model.num_parameters(), "transformers": transformers.__version__, "torch": torch.__version__}


def read_items(folder):
    """Token lists {"input_ids", "labels"} in the order of the epoch, cut as env.summarization cuts."""
    header, *rows = [line.split("\t") for line in (folder / "rows.tsv").read_text(encoding="utf-8").rstrip("\n").split("\n")]
    source, target = header.index("document"), header.index("summary")
    encode = sentencepiece.SentencePieceProcessor(str(folder / "spm.model")).encode

    def tokens(text, longest):
        return [BOS, *encode(text)[:longest - 2], EOS]

    items = [{"input_ids": tokens(row[source], SOURCE_MAX), "labels": tokens(row[target], TARGET_MAX)} for row in rows]
    return [items[i] for i in json.loads((folder / "order.json").read_text())]


class Collator:
    """Batches with the keys of DataCollatorForSeq2Seq(model=...). Keeps (real, padded) tokens of each micro-batch in its order."""

    def __init__(self):
        self.counts = []

    def __call__(self, items):
        def padded(key, fill):
            width = max(len(item[key]) for item in items)
            return torch.tensor([item[key] + [fill] * (width - len(item[key])) for item in items])

        source, labels = padded("input_ids", PAD), padded("labels", -100)
        shifted = torch.cat([torch.full((len(items), 1), EOS), labels[:, :-1]], 1)
        real = sum(len(item["input_ids"]) + len(item["labels"]) for item in items)
        self.counts.append((real, source.numel() + labels.numel()))
        return {"input_ids": source, "attention_mask": (source != PAD).long(), "labels": labels,
                "decoder_input_ids": shifted.masked_fill(shifted == -100, PAD)}


class Clock(TrainerCallback):
    """(wall, CPU) seconds at the start and at the end of each update."""

    def __init__(self):
        self.times = []

    def tick(self):
        self.times.append((time.perf_counter(), time.process_time()))

    def on_train_begin(self, *args, **kwargs):
        self.tick()

    def on_step_end(self, *args, **kwargs):
        self.tick()


def token_loss(outputs, labels, num_items_in_batch):
    return cross_entropy(outputs.logits.float().flatten(0, 1), labels.flatten(), ignore_index=-100, reduction="sum") / num_items_in_batch


def train_trainer(model, items, s, collator, clock):
    processes = torch.distributed.get_world_size() if torch.distributed.is_initialized() else 1
    with tempfile.TemporaryDirectory() as scratch:
        arguments = Seq2SeqTrainingArguments(
            output_dir=scratch, use_cpu=True, per_device_train_batch_size=s["micro_batch"],
            gradient_accumulation_steps=s["steps"] // processes, max_steps=s["updates"], learning_rate=RATE,
            lr_scheduler_type="constant", bf16=s["bf16"], train_sampling_strategy=s["sampling"], logging_steps=1, disable_tqdm=True,
            save_strategy="no", report_to="none", ddp_backend="gloo" if processes > 1 else None)
        trainer = Seq2SeqTrainer(model, arguments, train_dataset=items, data_collator=collator, callbacks=[clock],
                                 compute_loss_func=token_loss if s["program"] == "fixed" else None)
        trainer.train()
    logged = [(line["loss"], line["grad_norm"]) for line in trainer.state.log_history if "grad_norm" in line]
    return logged, {"accepts_loss_kwargs": trainer.model_accepts_loss_kwargs, "optim": str(arguments.optim.value)}


def train_loop(model, items, s, collator, clock):
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.0, fused=True)
    group, m, logged = s["micro_batch"] * s["steps"], s["micro_batch"], []
    model.train()
    clock.tick()
    for begin in range(0, s["updates"] * group, group):
        window, total = items[begin:begin + group], 0.0
        tokens = sum(len(item["labels"]) for item in window)
        for k in range(0, group, m):
            batch = collator(window[k:k + m])
            labels = batch.pop("labels")
            with torch.autocast("cpu", torch.bfloat16, enabled=s["bf16"]):
                outputs = model(**batch)
            loss = token_loss(outputs, labels, tokens)
            loss.backward()
            total += loss.item()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        logged.append((total, norm.item()))
        clock.tick()
    return logged, {}


def generate(folder, s):
    """Times only generation, in batches padded to their longest text; returns the texts, too."""
    model = BartForConditionalGeneration.from_pretrained(folder / s["model"]).eval()
    _, *rows = (folder / "rows.tsv").read_text(encoding="utf-8").rstrip("\n").split("\n")
    header = (folder / "rows.tsv").read_text(encoding="utf-8").split("\n")[0].split("\t")
    encode = sentencepiece.SentencePieceProcessor(str(folder / "spm.model")).encode
    texts = [[BOS, *encode(row.split("\t")[header.index("document")])[:SOURCE_MAX - 2], EOS] for row in rows[:s["texts"]]]
    written, wall, cpu = [], time.perf_counter(), time.process_time()
    for begin in range(0, len(texts), s["batch"]):
        batch = texts[begin:begin + s["batch"]]
        width = max(map(len, batch))
        ids = torch.tensor([text + [PAD] * (width - len(text)) for text in batch])
        with torch.no_grad():
            out = model.generate(input_ids=ids, attention_mask=(ids != PAD).long(), num_beams=s["beams"], max_length=TARGET_MAX,
                                 do_sample=False)
        # The visible text: without start, begin and end tokens.
        written += [[token for token in row if token not in (BOS, PAD, EOS)] for row in out.tolist()]
    return {"wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu, "texts": written}


def of_all_processes(mine):
    """The values of all processes, in order of rank."""
    if not torch.distributed.is_initialized():
        return [mine]
    found = [None] * torch.distributed.get_world_size()
    torch.distributed.all_gather_object(found, mine)
    return found


def updates_of(s, collator, clock, logged):
    """One dictionary per update, with counts and CPU time of all processes. The sampler may read ahead, so there may be extra counts."""
    ranks = of_all_processes((collator.counts, [b[1] - a[1] for a, b in zip(clock.times, clock.times[1:])]))
    steps, found = s["steps"] // len(ranks), []
    for u, (loss, norm) in enumerate(logged):
        counts = [count for rank, _ in ranks for count in rank[u * steps:(u + 1) * steps]]
        found.append({"wall_s": clock.times[u + 1][0] - clock.times[u][0], "cpu_s": sum(cpu[u] for _, cpu in ranks),
                      "real_tokens": sum(real for real, _ in counts), "padded_tokens": sum(padded for _, padded in counts),
                      "loss": loss, "grad_norm": norm})
    return found


def main():
    folder, s = pathlib.Path(sys.argv[1]), json.loads(sys.argv[2])
    if s["program"] == "prepare":
        print(json.dumps(prepare(folder, s["dropout"])))
        return
    # Same values of M_MMAP_THRESHOLD, M_TRIM_THRESHOLD, M_TOP_PAD as in our trial's process.
    if any(ctypes.CDLL(None).mallopt(key, value) != 1 for key, value in ((-3, 1 << 30), (-1, 2**31 - 1), (-2, 64 << 20))):
        sys.exit("this C library rejects the malloc settings of our trial")
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(s["threads"])
    if s["program"] == "generate":
        print(json.dumps(generate(folder, s)))
        return
    if torch.distributed.is_torchelastic_launched():
        torch.distributed.init_process_group("gloo")
    model = BartForConditionalGeneration.from_pretrained(folder / "model")
    model.config.use_cache = False  # as BART sets it for labels, which a custom loss removes
    collator, clock = Collator(), Clock()
    train = train_loop if s["program"] == "loop" else train_trainer
    logged, facts = train(model, read_items(folder), s, collator, clock)
    # Read first: so far only training has used memory.
    rss = sum(of_all_processes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024))
    found = {"updates": updates_of(s, collator, clock, logged), "peak_rss_bytes": rss, "threads": torch.get_num_threads(), **facts}
    if not torch.distributed.is_initialized() or torch.distributed.get_rank() == 0:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
