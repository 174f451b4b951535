"""A small GPT-2 learns the prose of Python's manual, byte by byte, without any code for Backplane.

It follows the library's tutorial of its Trainer. The model comes from a configuration and the texts come with Python, so it needs no
download. It saves to --output_dir and resumes from the newest whole checkpoint.
"""
import argparse
import json
import pathlib
import pydoc_data.topics

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, default_data_collator, set_seed

BLOCK = 64  # bytes that the model sees


class Blocks(torch.utils.data.Dataset):
    """Neighbouring bytes, BLOCK at a time. The labels are the same bytes; the model shifts them itself."""

    def __init__(self, text):
        self.bytes = torch.frombuffer(bytearray(text), dtype=torch.uint8).long()

    def __len__(self):
        return len(self.bytes) // BLOCK

    def __getitem__(self, index):
        block = self.bytes[index * BLOCK:(index + 1) * BLOCK]
        return {"input_ids": block, "labels": block}


def last_whole_checkpoint(folder):
    """The newest checkpoint whose last file is whole. An interrupted save leaves a folder without that file or with a part of it."""
    for checkpoint in sorted(folder.glob("checkpoint-*"), key=lambda path: int(path.name.split("-")[1]), reverse=True):
        try:
            json.loads((checkpoint / "trainer_state.json").read_text())
            return str(checkpoint)
        except (OSError, ValueError):
            continue
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--learning_rate", type=float, default=1e-3)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--max_steps", type=int, default=200)
    parser.add_argument("--output_dir", type=pathlib.Path, default=pathlib.Path("checkpoints"))
    args = parser.parse_args()

    set_seed(args.seed)
    text = "".join(pydoc_data.topics.topics.values()).encode()
    cut = len(text) * 9 // 10
    model = GPT2LMHeadModel(GPT2Config(vocab_size=256, n_positions=BLOCK, n_embd=64, n_layer=args.layers, n_head=4,
                                       bos_token_id=0, eos_token_id=0))
    training = TrainingArguments(
        output_dir=str(args.output_dir), seed=args.seed, max_steps=args.max_steps, learning_rate=args.learning_rate, warmup_steps=20,
        per_device_train_batch_size=16, per_device_eval_batch_size=64, logging_steps=10, eval_strategy="steps", eval_steps=50,
        save_steps=25, save_total_limit=2, report_to="tensorboard", use_cpu=True)
    trainer = Trainer(model=model, args=training, train_dataset=Blocks(text[:cut]), eval_dataset=Blocks(text[cut:][:64 * 1024]),
                      data_collator=default_data_collator)
    trainer.train(resume_from_checkpoint=last_whole_checkpoint(args.output_dir))
    print(trainer.evaluate())


if __name__ == "__main__":
    main()
