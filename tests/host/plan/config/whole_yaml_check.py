#!/usr/bin/env python3
"""Checks the table whole_yaml.jsonl against PyYAML: the same values, or an error at the same mark.

usage: whole_yaml_check.py whole_yaml.jsonl
"""
import json
import sys

import yaml

# If a value is missing, PyYAML names the end of the text.
WITHOUT_OPENING = "while parsing a flow node"


def opens_at(text):
    """The parser's context and the line and column of the unclosed mark, or None."""
    try:
        yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = error.context_mark or error.problem_mark
        # Columns of the reader are bytes.
        column = len(text.splitlines()[mark.line][: mark.column].encode()) + 1 if mark.line < len(text.splitlines()) else 1
        return error.context, [mark.line + 1, column]
    return None


def main():
    wrong = 0
    for line in open(sys.argv[1], encoding="utf-8"):
        row = json.loads(line)
        text = row["text"]
        if "value" in row:
            good = yaml.safe_load(text + "\n") == row["value"]
            good = good and yaml.safe_load(text) == row.get("value_without_line_break", row["value"])
        else:
            found = opens_at(text + "\n")
            good = found is not None and ("error" in row or found[0] == WITHOUT_OPENING or found[1] == row["opens"])
        if not good:
            print(f"PyYAML disagrees: {row}")
            wrong += 1
    print(f"{wrong} disagreements")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
