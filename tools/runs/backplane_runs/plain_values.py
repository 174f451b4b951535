"""Texts to values: numbers, YAML and JSON files. No object is constructed or unpickled."""
from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

from .model import Damaged

MOST_SETTINGS_BYTES = 8 << 20
MOST_VALUES = 200_000  # of a YAML file
INTEGER = re.compile(r"[+-]?\d{1,20}")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
WORDS = {"true": True, "false": False, "null": None, "none": None, "~": None, "nan": math.nan, ".nan": math.nan, "inf": math.inf,
         "-inf": -math.inf, ".inf": math.inf, "-.inf": -math.inf, "infinity": math.inf, "-infinity": -math.inf, "+inf": math.inf}


def plain(text: str) -> Any:
    """The value of a word: "3" -> 3, "1e-3" -> 0.001, "True" -> True, any other text -> itself."""
    text = text.strip()
    if INTEGER.fullmatch(text):
        return int(text)
    if NUMBER.fullmatch(text):
        return float(text)
    return WORDS.get(text.lower(), text)


def number(text: str) -> float | int | None:
    """The number in a cell of a table; None: it is none."""
    value = plain(text)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def read_text(file: Path, most: int = MOST_SETTINGS_BYTES) -> str:
    if not file.is_file():
        raise Damaged(f"{file}: expected a file")
    if file.stat().st_size > most:
        raise Damaged(f"{file}: expected at most {most >> 20} MiB, got {file.stat().st_size >> 20} MiB")
    return file.read_bytes().decode("utf-8", errors="replace")


def parse_json(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise Damaged(f"{place}: nested too deeply") from None
    except ValueError as error:
        raise Damaged(f"{place}: not JSON: {error}") from None


def read_yaml(file: Path) -> Any:
    text = read_text(file)
    try:
        import yaml
    except ImportError:
        return SimpleYaml(text).document()
    try:
        return yaml.load(text, Loader=_plain_loader(yaml))  # derives from SafeLoader
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise Damaged(f"{file}: not YAML: {' '.join(str(error).split())[:200]}") from None


def _plain_loader(yaml: Any) -> Any:
    """Reads objects of unknown tags as their parts: an OrderedDict of Python as a mapping. YAML 1.1's `1e-3` is a number."""

    class Loader(yaml.SafeLoader):
        def get_single_node(self) -> Any:
            node = super().get_single_node()
            if _expanded(node, {}) > MOST_VALUES:
                raise yaml.YAMLError(f"with its aliases expanded, it has more than {MOST_VALUES:,} values")
            return node

    def parts(loader: Any, suffix: str, node: Any) -> Any:
        if isinstance(node, yaml.MappingNode):
            return loader.construct_mapping(node, deep=True)
        if isinstance(node, yaml.SequenceNode):
            return as_mapping(loader.construct_sequence(node, deep=True))
        return loader.construct_scalar(node)

    Loader.add_multi_constructor("", parts)
    Loader.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(r"[+-]?\d+(\.\d*)?[eE][+-]?\d+$"), list("+-0123456789"))
    return Loader


def _expanded(node: Any, known: dict[int, int]) -> int:
    """The values below a node of YAML. An alias counts as often as it is used; one that contains itself is too many."""
    if node is None or isinstance(node.value, str):
        return 1
    if id(node) not in known:
        known[id(node)] = MOST_VALUES + 1
        known[id(node)] = 1 + sum(_expanded(part, known) for pair in node.value for part in (pair if isinstance(pair, tuple) else (pair,)))
    return known[id(node)]


def as_mapping(value: Any) -> Any:
    """[[["a", 1], ["b", 2]]], the parts of an OrderedDict, as {"a": 1, "b": 2}."""
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
        value = value[0]
    if isinstance(value, list) and value and all(isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) for pair in value):
        return dict(value)
    return value


class SimpleYaml:
    """Block mappings and sequences of scalars, for Pythons without PyYAML. Anything else is read as text."""

    def __init__(self, text: str) -> None:
        self.lines: list[tuple[int, str]] = []
        for line in text.splitlines():
            bare = re.sub(r"(^|\s)#.*$", "", line).rstrip()
            if bare.strip() and not bare.startswith(("---", "%", "...")):
                self._add(len(bare) - len(bare.lstrip()), bare.strip())
        self.at = 0

    def _add(self, indent: int, text: str) -> None:
        """Splits "- - a" and "- key: value" into lines of their own indent."""
        while text.startswith("- ") and len(text) > 2:
            self.lines.append((indent, "-"))
            rest = text[2:].lstrip()
            indent += len(text) - len(rest)
            text = rest
        self.lines.append((indent, text))

    def document(self) -> Any:
        if self.lines and self.lines[0][1].startswith("!"):
            self.at = 1
        return as_mapping(self._block(-1, 0)) if self.at < len(self.lines) else None

    def _block(self, above: int, depth: int) -> Any:
        if self.at >= len(self.lines) or self.lines[self.at][0] <= above or depth > 64:
            return None
        indent, text = self.lines[self.at]
        if text == "-":
            return self._sequence(indent, depth)
        if re.match(r"[^\s\[{'\"][^:]*:(\s|$)", text) or re.match(r"(['\"]).*?\1:(\s|$)", text):
            return self._mapping(indent, depth)
        self.at += 1
        return scalar(text)

    def _sequence(self, indent: int, depth: int) -> list[Any]:
        items = []
        while self.at < len(self.lines) and self.lines[self.at] == (indent, "-"):
            self.at += 1
            items.append(self._block(indent, depth + 1))
        return items

    def _mapping(self, indent: int, depth: int) -> dict[str, Any]:
        items: dict[str, Any] = {}
        while self.at < len(self.lines) and self.lines[self.at][0] == indent and ":" in self.lines[self.at][1]:
            key, _, rest = self.lines[self.at][1].partition(":")
            self.at += 1
            # A sequence below a key may have the key's own indent.
            below = indent - 1 if self.at < len(self.lines) and self.lines[self.at] == (indent, "-") else indent
            rest = "" if rest.strip().startswith("!") else rest.strip()
            items[str(scalar(key))] = scalar(rest) if rest else self._block(below, depth + 1)
        return items


def scalar(text: str) -> Any:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    if text[:1] in "[{":
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            inner = text[1:-1]
            return [scalar(part.strip()) for part in inner.split(",") if part.strip()] if text[0] == "[" and "[" not in inner else text
    return plain(text)
