"""Writes golden.safetensors: results of transformers 5.23.0's BART for a tiny model, for seq2seq_*_test.cpp.

    pip install torch==2.13.0 transformers==5.23.0
    python make_golden.py golden.safetensors

Weights are random (also of LayerNorms and biases, whose first values would hide swapped names) and exact in half precision.
  weights/NAME float16; config: JSON in the metadata
  source int64 [3, 12], source_length; labels int64 [3, 8], -100 where there is none
  encoder/I, decoder/I [3, T, 32]: after the embedding (0) and after each layer; logits, loss; grad/NAME: every third element
  scaled/logits, scaled/loss: with scale_embedding; smoothed/loss: label smoothing 0.1
  adamw/loss, adamw/norm, adamw/lr [20]: the loss before each of 20 updates, the gradient's norm before clipping, the rate
  generate/I/ids [3, n], generate/I/scores [3] for the settings in the metadata's "generate"
"""

import json
import sys

import torch
import transformers
from safetensors.torch import save_file
from transformers import BartConfig, BartForConditionalGeneration, GenerationConfig
from transformers.trainer_pt_utils import get_parameter_names

assert transformers.__version__ == "5.23.0", transformers.__version__
torch.manual_seed(1)
torch.set_num_threads(1)
SIZES = dict(
    vocab_size=97, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
    encoder_ffn_dim=64, decoder_ffn_dim=64, max_position_embeddings=40, dropout=0.0, attention_dropout=0.0,
    activation_dropout=0.0, activation_function="gelu", init_std=0.02, scale_embedding=False, bos_token_id=0, pad_token_id=1,
    eos_token_id=2, decoder_start_token_id=2, forced_eos_token_id=2,
)  # fmt: skip


def model_of(weights, **more):
    model = BartForConditionalGeneration(BartConfig(**{**SIZES, **more}, attn_implementation="eager"))
    model.load_state_dict(weights, strict=False)
    model.tie_weights()
    return model.train()


def random_weights():
    model = BartForConditionalGeneration(BartConfig(**SIZES))
    tied = ("lm_head.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight")
    weights = {}
    for name, tensor in model.state_dict().items():
        if not name.endswith(tied):
            mean = 1.0 if "norm" in name and name.endswith("weight") else 0.0
            weights[name] = (mean + 0.3 * torch.randn_like(tensor)).half()
    weights["final_logits_bias"][0, 2] += 3.3  # makes generated texts end
    return weights


def batch():
    def rows(lengths, width, fill):
        out = torch.full((len(lengths), width), fill)
        for row, n in enumerate(lengths):
            out[row, :n] = torch.cat([torch.tensor([0]), torch.randint(4, 97, (n - 2,)), torch.tensor([2])])
        return out

    source_length = torch.tensor([9, 5, 12])
    source = rows(source_length.tolist(), 12, 1)
    mask = (torch.arange(12)[None] < source_length[:, None]).long()
    return dict(input_ids=source, attention_mask=mask, labels=rows([7, 4, 8], 8, -100)), source_length


def groups(model):
    forbidden = [r"bias", r"layernorm", r"rmsnorm", r"(?:^|\.)norm(?:$|\.)", r"_norm(?:$|\.)"]
    decayed = set(get_parameter_names(model, [torch.nn.LayerNorm], forbidden))
    named = list(model.named_parameters())
    return [
        dict(params=[p for n, p in named if n in decayed], weight_decay=0.01),
        dict(params=[p for n, p in named if n not in decayed], weight_decay=0.0),
    ]


def train(weights, data, out):
    model = model_of(weights)
    adamw = torch.optim.AdamW(groups(model), lr=2e-3, betas=(0.9, 0.98), eps=1e-8)
    schedule = transformers.get_linear_schedule_with_warmup(adamw, 3, 20)
    record = {"loss": [], "norm": [], "lr": []}
    for _ in range(20):
        loss = model(**data).loss
        loss.backward()
        record["norm"].append(torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0))
        record["lr"].append(schedule.get_last_lr()[0])
        record["loss"].append(loss.detach())
        adamw.step(), schedule.step(), adamw.zero_grad()
    for name, values in record.items():
        out["adamw/" + name] = torch.tensor(values)


SETTINGS = [
    dict(num_beams=1),
    dict(num_beams=1, no_repeat_ngram_size=2, min_length=6),
    dict(num_beams=4, length_penalty=0.5, min_length=3),
    dict(num_beams=4, length_penalty=1.0, early_stopping=True, min_length=4),
    dict(num_beams=4, length_penalty=2.0, early_stopping="never"),
    dict(num_beams=4, length_penalty=2.0, no_repeat_ngram_size=3, min_length=5),
    dict(num_beams=3, length_penalty=1.0, no_repeat_ngram_size=2, early_stopping=True, min_length=5, forced_bos_token_id=0),
    dict(num_beams=4, length_penalty=-0.5, early_stopping="never", max_length=9),
    dict(num_beams=2, length_penalty=0.0, max_length=5, forced_eos_token_id=2),
]


def generate(weights, data, out):
    model = model_of(weights).eval()
    ids = dict(bos_token_id=0, pad_token_id=1, eos_token_id=2, decoder_start_token_id=2)
    for i, setting in enumerate(SETTINGS):
        config = GenerationConfig(**{"max_length": 20, "length_penalty": 1.0, **ids, **setting}, do_sample=False)
        made = model.generate(
            data["input_ids"], attention_mask=data["attention_mask"], generation_config=config,
            return_dict_in_generate=True, output_scores=True,
        )  # fmt: skip
        out[f"generate/{i}/ids"] = made.sequences
        print(i, setting, made.sequences.tolist(), file=sys.stderr)
        if setting["num_beams"] > 1:
            out[f"generate/{i}/scores"] = made.sequences_scores


def main(path):
    weights = random_weights()
    data, source_length = batch()
    out = {"weights/" + name: tensor for name, tensor in weights.items()}
    out |= {"source": data["input_ids"], "source_length": source_length, "labels": data["labels"]}

    model = model_of(weights)
    seen = model(**data, output_hidden_states=True)
    seen.loss.backward()
    for side in ("encoder", "decoder"):
        for i, state in enumerate(getattr(seen, side + "_hidden_states")):
            out[f"{side}/{i}"] = state.detach()
    out |= {"logits": seen.logits.detach(), "loss": seen.loss.detach()}
    for name, parameter in model.named_parameters():
        out["grad/" + name] = parameter.grad.flatten()[::3].clone()

    scaled = model_of(weights, scale_embedding=True)(**data)
    out |= {"scaled/logits": scaled.logits.detach(), "scaled/loss": scaled.loss.detach()}
    labels = data["labels"].flatten()
    out["smoothed/loss"] = torch.nn.functional.cross_entropy(seen.logits.view(-1, 97), labels, label_smoothing=0.1).detach()
    train(weights, data, out)
    generate(weights, data, out)
    metadata = {"config": json.dumps({"model_type": "bart", **SIZES}), "generate": json.dumps(SETTINGS)}
    save_file({name: tensor.contiguous() for name, tensor in out.items()}, path, metadata)


main(sys.argv[1])
