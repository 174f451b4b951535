"""Settings and seeds in the names of folders."""
from __future__ import annotations

import re
from typing import Any

from .model import Mistake
from .plain_values import plain

CLEANRL = re.compile(r"(?P<env>.+?)__(?P<exp_name>.+)__(?P<seed>\d+)__\d{9,11}")
SEED = re.compile(r"(?:^|(?<=[_\-.=, ]))(?:seed|s)[_\-=]?(\d{1,20})(?=$|[_\-., ])", re.IGNORECASE)
STAMP = re.compile(r"\d{4}[-_]?\d{2}[-_]?\d{2}([-_T ]*\d{2}[-_:.]?\d{2}([-_:.]?\d{2})?)?(\.\d+)?|\d{9,}(\.\d+)?|[0-9a-f]{16,}")
COUNTER = re.compile(r"([_\-](version|run|trial|attempt))?[_\-]\d+$|^(version|run|trial|attempt)?[_\-]?\d+$", re.IGNORECASE)
PAIR = re.compile(r"(?:^|(?<=[,_ ]))([A-Za-z][\w.]*?)=([^=,]+?)(?=$|,|[_ ][A-Za-z][\w.]*=)")


def pattern_of(text: str) -> re.Pattern[str]:
    """'{env}__{algo}__{seed}__*' as a regular expression for the last parts of a name."""
    out = ""
    for piece in re.split(r"(\{[^{}]*\}|\*)", text):
        if piece == "*":
            out += "[^/]*"
        elif piece.startswith("{") and piece.endswith("}"):
            if not piece[1:-1].isidentifier():
                raise Mistake(f"--name: expected names in braces, such as {{seed}}, got '{piece}'")
            out += f"(?P<{piece[1:-1]}>[^/]+?)"
        else:
            out += re.escape(piece)
    try:
        return re.compile(out)
    except re.error as error:
        raise Mistake(f"--name: expected each name once, got '{text}' ({error})") from None


def match(pattern: re.Pattern[str], text: str, name: str) -> dict[str, Any] | None:
    """Matches the last parts of the name, as many as the pattern has."""
    count = text.count("/") + 1
    found = pattern.fullmatch("/".join(name.split("/")[-count:]))
    return {key: plain(value) for key, value in found.groupdict().items()} if found else None


def facts(name: str) -> tuple[dict[str, Any], int | None, list[str]]:
    """(settings, seed, labels): labels are the parts without seeds, times and counters."""
    settings: dict[str, Any] = {}
    seed: int | None = None
    labels = []
    for part in name.split("/"):
        if found := CLEANRL.fullmatch(part):
            settings.update({key: plain(value) for key, value in found.groupdict().items() if key != "seed"})
            seed = int(found["seed"])
            continue
        for key, value in PAIR.findall(part):
            if key.lower() == "seed":
                seed = int(value) if value.isdigit() else seed
            else:
                settings[key] = plain(value)
        rest = PAIR.sub("", part)
        if found := SEED.search(rest):
            seed = int(found[1])
        rest = STAMP.sub("", SEED.sub("", rest))
        rest = COUNTER.sub("", rest).strip("_-. ,")
        labels.append(rest)
    return settings, seed, labels
