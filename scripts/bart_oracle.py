"""Model folders made by transformers and tokenizers, and the numbers that transformers computes from them. scripts/check_bart calls it.

  bart_oracle.py make OUT LINES SIZE       a folder per kind: a tokenizer trained on the lines of a file, and a random model
  bart_oracle.py tokens FOLDER LINES       JSON: ids as source and as target, and the decoded ids, of each line
  bart_oracle.py train FOLDER ROWS UPDATES MICRO   JSON: losses of updates, and ROUGE of generated texts
  bart_oracle.py golden FOLDER             tests/support/bart: small folders with these numbers for the tests of every day

ROWS is a tsv file with a document and a summary per line. 64 rows are learned, the rest is generated.
"""
import json
import math
import pathlib
import sys
import unicodedata

import tokenizers
import torch
import transformers
from rouge_score import rouge_scorer
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import AutoTokenizer, BartConfig, MBartConfig

SOURCE, TARGET = 48, 20  # tokens
LEARNING_RATE, UPDATES = 1e-2, 20
SIZES = {"d_model": 32, "encoder_layers": 4, "decoder_layers": 4, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
         "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "max_position_embeddings": 64, "dropout": 0.1}
SPECIAL = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>", "mask_token": "<mask>"}
BART = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2, "forced_eos_token_id": 2}
KOBART = {"bos_token_id": 1, "pad_token_id": 3, "eos_token_id": 1, "decoder_start_token_id": 1, "forced_eos_token_id": 1}
GENERATION = {"max_length": TARGET, "min_length": 8, "num_beams": 2, "no_repeat_ngram_size": 3}


def bart(lines, size):
    """Byte-level BPE."""
    trained = tokenizers.Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trained.train_from_iterator(lines, trainers.BpeTrainer(vocab_size=size, special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
                                                           initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    model = json.loads(trained.to_str())["model"]
    return transformers.BartTokenizerFast(vocab=model["vocab"], merges=[tuple(pair) for pair in model["merges"]]), BartConfig, BART


def kobart(lines, size):
    """BPE of characters with marked spaces. It adds no special tokens."""
    trained = tokenizers.Tokenizer(models.BPE(unk_token="<unk>"))
    trained.normalizer = normalizers.NFKC()
    trained.pre_tokenizer = pre_tokenizers.Metaspace()
    trained.decoder = decoders.Metaspace()
    trained.train_from_iterator(lines, trainers.BpeTrainer(vocab_size=size, limit_alphabet=size // 3, show_progress=False,
                                                           special_tokens=["<s>", "</s>", "<usr>", "<pad>", "<unk>", "<mask>"]))
    names = {**SPECIAL, "bos_token": "</s>"}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=trained, clean_up_tokenization_spaces=True, **names), BartConfig, KOBART


def unigram(lines, size):
    trained = tokenizers.Tokenizer(models.Unigram())
    trained.pre_tokenizer = pre_tokenizers.Metaspace()
    trained.train_from_iterator(lines, trainers.UnigramTrainer(vocab_size=size, special_tokens=["<s>", "<pad>", "</s>", "<unk>"],
                                                               unk_token="<unk>", show_progress=False))
    return [tuple(each) for each in json.loads(trained.to_str())["model"]["vocab"]]


def mbart(lines, size):
    tokenizer = transformers.MBartTokenizer(vocab=unigram(lines, size), src_lang="en_XX", tgt_lang="ko_KR")
    return tokenizer, MBartConfig, {**BART, "decoder_start_token_id": tokenizer.convert_tokens_to_ids("ko_KR"), "scale_embedding": True}


def mbart50(lines, size):
    tokenizer = transformers.MBart50Tokenizer(vocab=unigram(lines, size), src_lang="ko_KR", tgt_lang="en_XX")
    return tokenizer, MBartConfig, {**BART, "forced_bos_token_id": tokenizer.convert_tokens_to_ids("en_XX")}


def wordpiece(lines, size):
    """Words in lower case without accents, with spaces before punctuation to clean up."""
    trained = tokenizers.Tokenizer(models.WordPiece(unk_token="<unk>"))
    trained.normalizer = normalizers.BertNormalizer(lowercase=True)
    trained.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trained.decoder = decoders.WordPiece(cleanup=False)
    trained.train_from_iterator(lines, trainers.WordPieceTrainer(vocab_size=size, limit_alphabet=size // 3, show_progress=False,
                                                                 special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"]))
    trained.post_processor = processors.TemplateProcessing(single="<s> $A </s>", pair="<s> $A </s> $B </s>",
                                                           special_tokens=[("<s>", 0), ("</s>", 2)])
    return transformers.PreTrainedTokenizerFast(tokenizer_object=trained, clean_up_tokenization_spaces=True, **SPECIAL), BartConfig, BART


KINDS = {made.__name__: made for made in (bart, kobart, mbart, mbart50, wordpiece)}


def make(out, lines, size, kinds=tuple(KINDS), sizes=SIZES):
    torch.manual_seed(1)
    for name in kinds:
        made = KINDS[name]
        tokenizer, config, ids = made(lines, size)
        ids = dict(ids)
        forced = {key: ids.pop(key) for key in ("forced_bos_token_id", "forced_eos_token_id") if key in ids}
        kind = transformers.MBartForConditionalGeneration if config is MBartConfig else transformers.BartForConditionalGeneration
        model = kind(config(vocab_size=len(tokenizer), **sizes, **ids))
        for parameter in model.parameters():  # defaults would hide swapped LayerNorms and biases
            if parameter.dim() == 1:
                parameter.data += 0.1 * torch.randn_like(parameter)
        model.final_logits_bias.normal_(std=0.1)
        numbers = {key: ids[key] for key in ids if key.endswith("_id")}
        model.generation_config = transformers.GenerationConfig(**GENERATION, **forced, **numbers)
        model.save_pretrained(out / name)
        tokenizer.save_pretrained(out / name)


class Folder:
    def __init__(self, path):
        self.path, self.tokenizer, self.config = path, AutoTokenizer.from_pretrained(path), json.loads((path / "config.json").read_text())

    def source(self, text):
        return self.tokenizer(text, truncation=True, max_length=SOURCE).input_ids

    def target(self, text):
        ids = self.tokenizer(text_target=text, truncation=True, max_length=TARGET).input_ids
        if self.config["model_type"] == "bart" and ids[-1] != self.config["eos_token_id"]:  # KoBART's users append it
            ids = ids[:TARGET - 1] + [self.config["eos_token_id"]]
        return ids


def tokens(folder, lines):
    folder = Folder(folder)
    sources, targets = [folder.source(line) for line in lines], [folder.target(line) for line in lines]
    return {"class": type(folder.tokenizer).__name__, "sources": sources, "targets": targets,
            "texts": folder.tokenizer.batch_decode(sources, skip_special_tokens=True)}


def padded(lists, filling):
    most = max(map(len, lists))
    return torch.tensor([ids + [filling] * (most - len(ids)) for ids in lists])


def batch(folder, rows):
    sources, targets = [folder.source(row[0]) for row in rows], [folder.target(row[1]) for row in rows]
    pad = folder.config["pad_token_id"]
    inputs = padded(sources, pad)
    mask = padded([[1] * len(ids) for ids in sources], 0)
    return {"input_ids": inputs, "attention_mask": mask}, padded(targets, -100)


class Characters:
    """Words of ROUGE, because rouge_score's own tokenizer drops Hangul."""

    def tokenize(self, text):
        return [c for c in unicodedata.normalize("NFC", text) if not c.isspace()]


def rouge(summaries, texts):
    names = ["rouge1", "rouge2", "rougeL"]
    scorer = rouge_scorer.RougeScorer(names, tokenizer=Characters())
    scores = [scorer.score(*pair) for pair in zip(summaries, texts, strict=True)]
    return {name: sum(score[name].fmeasure for score in scores) / len(scores) for name in names}


def train(path, rows, updates, micro):
    """As configs/batch_optimization: AdamW without decay of vectors, 64 rows per update, the loss per label token of all 64."""
    folder = Folder(path)
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(path, dropout=0.0)
    model.train()
    decayed = [p for p in model.parameters() if p.dim() == 2]
    others = [p for p in model.parameters() if p.dim() != 2]
    optimizer = torch.optim.AdamW([{"params": decayed, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}], lr=LEARNING_RATE)
    schedule = transformers.get_linear_schedule_with_warmup(optimizer, math.ceil(0.1 * updates), updates)
    learned, losses = rows[:64], []
    for _ in range(updates):
        n, total = sum(len(folder.target(row[1])) for row in learned), 0.0
        for at in range(0, 64, micro):
            inputs, labels = batch(folder, learned[at:at + micro])
            logits = model(**inputs, labels=labels).logits
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100, reduction="sum") / n
            loss.backward()
            total += loss.item()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        losses.append(total)
    model.eval()
    texts = []
    for row in rows[64:]:
        ids = model.generate(**batch(folder, [row])[0])
        texts += folder.tokenizer.batch_decode(ids, skip_special_tokens=True)
    return {"losses": losses, "generated": texts, "rouge": rouge([row[1] for row in rows[64:]], texts)}


def notices():
    """84 fictitious notices in English and Korean."""
    places = [("the island", "섬"), ("the lake", "호수"), ("the tower", "탑"), ("the market", "시장"), ("the bridge", "다리")]
    things = [("A ferry", "배"), ("A night train", "밤 기차"), ("A walk", "산책")]
    rows = []
    for i in range(42):
        (place, ort), (thing, ding), hour = places[i % 5], things[i // 5 % 3], 1 + i // 15
        rows.append((f"{thing} leaves for {place} at {hour}, and it goes in the rain too.", f"{thing} to {place} at {hour}"))
        rows.append((f"{ort}에서 {hour}시에 떠나는 {ding}, 비가 와도 갑니다.", f"{ort} {ding} {hour}시"))
    return rows


def table(rows):
    return "document\tsummary\n" + "".join(f"{source}\t{target}\n" for source, target in rows)


def golden(out):
    rows = notices()
    (out / "pairs.tsv").write_text(table(rows), encoding="utf-8")
    make(out, [text for row in rows for text in row] * 4, 320, ("bart", "kobart", "mbart"),
         {**SIZES, "d_model": 8, "encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16})
    odd = ["Rain at 9 , in 섬 .", "unknown: 龘 ☃", "a  b", "half </s> of it", "한국어 words"]
    shown = rows[:8] + [(text, text * 9) for text in odd]
    for folder in (out / name for name in ("bart", "kobart", "mbart")):
        (folder / "rows.tsv").write_text(table(shown), encoding="utf-8")
        numbers = tokens(folder, [source for source, _ in shown])
        numbers["targets"] = tokens(folder, [target for _, target in shown])["targets"]
        (folder / "golden.json").write_text(json.dumps(numbers | train(folder, rows, UPDATES, 8), ensure_ascii=False) + "\n", encoding="utf-8")


def main():
    task, path = sys.argv[1], pathlib.Path(sys.argv[2])
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    if task == "golden":
        return golden(path)
    lines = pathlib.Path(sys.argv[3]).read_text(encoding="utf-8").split("\n")[:-1]
    if task == "make":
        make(path, lines, int(sys.argv[4]))
    elif task == "tokens":
        print(json.dumps(tokens(path, lines)))
    else:
        print(json.dumps(train(path, [line.split("\t") for line in lines], int(sys.argv[4]), int(sys.argv[5]))))


if __name__ == "__main__":
    main()
