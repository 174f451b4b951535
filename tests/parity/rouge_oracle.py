"""Scores texts with PyPI's rouge-score and rouge and stems words with NLTK, as references for plugins/common/rouge.

Reads one JSON object per line from stdin and answers each with one JSON line on stdout; "error" holds a message. Texts are bytes in
hexadecimal, because some are no UTF-8: the packages get them decoded with errors="replace". Ends when stdin ends.

  {"do": "pairs", "seed": 1, "count": 1000}  -> {"pairs": [{"prediction", "references": [..], "scores": {CONFIGURATION: [15 numbers]}}]}
      CONFIGURATION: "impl/tokenizer/stem or plain/max or mean"; its numbers are null if the package rejects the texts.
      Numbers: precision, recall, f of rouge1, rouge2, rougeL, rougeLsum, rouge3 (rouge: its rouge-l stands for both).
  {"do": "stems"}        -> {"words": [..], "stems": [..]}
  {"do": "code_points"}  -> {"google": {"212a": [tokens of "x", it and "y"]}, "spaces": ["20", ..], "composed": {"212a": hex of its NFC}}
      google: code points that do not separate; composed: those that NFC changes. Covers planes 0 to 3 without surrogates.
"""

import itertools
import json
import os
import pathlib
import random
import re
import sys
import types
import unicodedata

import nltk.stem.porter
import rouge
import rouge_score.rouge_scorer
import rouge_score.tokenizers

TYPES = ["rouge1", "rouge2", "rougeL", "rougeLsum", "rouge3"]
PLTRDY = ["rouge-1", "rouge-2", "rouge-l", "rouge-l", "rouge-3"]
STDLIB = pathlib.Path(os.__file__).parent


def characters(text):
    return [c for c in unicodedata.normalize("NFC", text) if not c.isspace()]


TOKENIZERS = {
    ("google", False): rouge_score.tokenizers.DefaultTokenizer(False).tokenize,
    ("google", True): rouge_score.tokenizers.DefaultTokenizer(True).tokenize,
    ("whitespace", False): str.split,
    ("char", False): characters,
}


def google(tokenizer, stem):
    scorer = rouge_score.rouge_scorer.RougeScorer(TYPES, tokenizer=types.SimpleNamespace(tokenize=TOKENIZERS[tokenizer, stem]))

    def score(prediction, reference):
        scores = scorer.score(reference, prediction)
        return [[s.precision, s.recall, s.fmeasure] for s in map(scores.get, TYPES)]

    return score


def pltrdy(tokenizer, stem):
    scorer = rouge.Rouge(metrics=sorted(set(PLTRDY)))

    def prepared(text):
        return text if tokenizer == "whitespace" else " ".join(TOKENIZERS[tokenizer, stem](text))

    def score(prediction, reference):
        (scores,) = scorer.get_scores(prepared(prediction), prepared(reference))
        return [[s["p"], s["r"], s["f"]] for s in map(scores.get, PLTRDY)]

    return score


CONFIGURATIONS = {
    f"{impl.__name__}/{tokenizer}/{'stem' if stem else 'plain'}": impl(tokenizer, stem)
    for impl, (tokenizer, stem) in itertools.product([google, pltrdy], TOKENIZERS)
}


def scores(prediction, references):
    prediction, *references = [text.decode("utf-8", "replace") for text in (prediction, *references)]
    out = {}
    for name, score in CONFIGURATIONS.items():
        try:
            each = [score(prediction, reference) for reference in references]
        except ValueError:  # "Hypothesis is empty."
            out[f"{name}/max"] = out[f"{name}/mean"] = None
            continue
        by_type = list(zip(*each))
        out[f"{name}/max"] = sum((max(of_type, key=lambda s: s[2]) for of_type in by_type), [])  # the first of equals
        out[f"{name}/mean"] = [sum(column) / len(each) for of_type in by_type for column in zip(*of_type)]
    return out


WORDS = "the of a to and in is for this that with package library provides tools running runs studies quickly geology enjoys".split()
SUFFIXES = ["", "s", "ed", "ing", "ly", "ation", "er", "ies", "fully", "ness", "ability"]
SYLLABLES = [chr(0xAC00 + i * 571) for i in range(18)]
ODD = ["\u0130", "\u212a", "caf\u00e9", "cafe\u0301", "\u4f1a\u8b70", "\U0001f600", "\u1112\u1161\u11ab", "\u3131", "\0", "3.14", "U.S."]
SPACES = [" "] * 24 + ["\n"] * 3 + [". ", ".", "..", ", ", "\u00a0", "\u3000", "\t", "\r\n", "\u200b", "\u2028", "\n\n", " . ", "-"]
BROKEN = [b"\xff", b"\xe2\x84", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf0\x9f\x98", b"\xf4\x90\x80\x80", b"\xc4"]


def word(rng):
    kind = rng.random()
    if kind < 0.5:
        return rng.choice([str.lower, str.title, str.upper])(rng.choice(WORDS) + rng.choice(SUFFIXES))
    if kind < 0.9:
        form = rng.choice(["NFC", "NFC", "NFD"])
        return unicodedata.normalize(form, "".join(rng.choices(SYLLABLES, k=rng.randint(1, 4))))
    return rng.choice(ODD)


def joined(rng, words):
    text = "".join(w + rng.choice(SPACES) for w in words).encode()
    while text and rng.random() < 0.15:
        at = rng.randint(0, len(text))
        text = text[:at] + rng.choice(BROKEN) + text[at:]
    return text


def changed(rng, words):
    """Omits, replaces, doubles or moves some words."""
    out = []
    for w in words:
        out += rng.choice([[w], [w], [w], [w], [], [word(rng)], [w, w]])
    if rng.random() < 0.5:
        at = rng.randint(0, len(out))
        out = out[at:] + out[:at]
    return out


def pair(rng):
    length = rng.choice([0, 1, 2, 5, 10, 20, 40]) if rng.random() < 0.98 else 90
    words = [word(rng) for _ in range(length)]
    references = [joined(rng, words)]
    while rng.random() < 0.15:
        references.append(joined(rng, changed(rng, words)))
    prediction = changed(rng, words) if rng.random() < 0.8 else [word(rng) for _ in range(rng.randint(0, 15))]
    return joined(rng, prediction), references


def pairs(seed, count):
    rng = random.Random(seed)
    out = []
    for _ in range(count):
        prediction, references = pair(rng)
        out.append({"prediction": prediction.hex(), "references": [r.hex() for r in references], "scores": scores(prediction, references)})
    return {"pairs": out}


def stems():
    """Installed words, words with each of Porter's endings, and random words of the letters in his rules."""
    rng = random.Random(1)
    texts = [*pathlib.Path("/usr/share/common-licenses").glob("*"), *STDLIB.glob("*.py"), *STDLIB.glob("*/*.py")]
    words = set()
    for text in texts:
        words.update(re.findall("[a-z0-9]+", text.read_text(errors="replace").lower()))
    bases = rng.sample(sorted(w for w in words if w.isalpha() and 2 <= len(w) <= 8), 600)
    endings = """s es ies ied ss sses ed eed ing y ly ational tional enci anci izer bli abli alli entli eli ousli ization ation ator alism
        iveness fulness ousness aliti iviti biliti fulli logi icate ative alize iciti ical ful ness al ance ence er ic able ible ant ement ment
        ent ion sion tion ou ism ate iti ous ive ize e ll lle ings ying yed""".split()
    words.update(base + ending for base in bases for ending in endings)
    words.update("".join(rng.choices("aeioyybdlnstwz", k=rng.randint(1, 8))) + rng.choice(endings) for _ in range(30000))
    words.update(["", "skies", "dying", "lying", "tying", "innings", "outings", "cannings", "howe", "proceed", "exceed", "succeed"])
    stemmer = nltk.stem.porter.PorterStemmer()
    words = sorted(words)
    return {"words": words, "stems": [stemmer.stem(w) for w in words]}


def code_points():
    tokenize = TOKENIZERS["google", False]
    every = [chr(c) for c in range(0x40000) if not 0xD800 <= c < 0xE000]
    between = {c: tokenize(f"x{c}y") for c in every}
    composed = {c: unicodedata.normalize("NFC", c) for c in every}
    return {
        "google": {f"{ord(c):x}": tokens for c, tokens in between.items() if tokens != ["x", "y"]},
        "spaces": [f"{ord(c):x}" for c in every if c.isspace()],
        "composed": {f"{ord(c):x}": nfc.encode().hex() for c, nfc in composed.items() if nfc != c},
    }


def main():
    sys.setrecursionlimit(100000)  # rouge reads its table recursively
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = {"pairs": pairs, "stems": stems, "code_points": code_points}[request.pop("do")](**request)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
