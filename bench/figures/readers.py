"""From what a script prints to its figures: name -> {"median", "min", "max", "n"} and, where the script knows it, "disturbed"."""
import json
import re
import statistics


def spread(values):
    values = list(values)
    return {"median": statistics.median(values), "min": min(values), "max": max(values), "n": len(values)}


def last_json(text):
    for line in reversed(text.splitlines()):
        if line.startswith("{") and line.endswith("}"):
            try:
                return json.loads(line)
            except ValueError:
                continue
    try:
        return json.loads(text[text.index("{"):])  # over several lines
    except ValueError:
        raise ValueError("no JSON object in what it printed") from None


def as_spread(found):
    return found if isinstance(found, dict) else spread([found])


def figures(text):
    """A script that says it itself: its last line is {"figures": {NAME: SPREAD or NUMBER}}."""
    return {name: as_spread(found) for name, found in last_json(text)["figures"].items()}


def at(text_or_object, path):
    found = last_json(text_or_object) if isinstance(text_or_object, str) else text_or_object
    for key in path.split("."):
        found = found[int(key)] if isinstance(found, list) else found[key]
    return found


def spreads(**paths):
    """Spreads or numbers of a JSON object, each at a.path.in.it; double underscores of a figure's name stand for slashes."""
    def read(text):
        found = last_json(text)
        return {name.replace("__", "/"): as_spread(at(found, path)) for name, path in paths.items()}
    return read


def counts(**paths):
    """As spreads(), of what is counted and not timed: nothing disturbs it."""
    read = spreads(**paths)
    return lambda text: {name: {**row, "disturbed": False} for name, row in read(text).items()}


def rate(figure, path, times=None):
    """A spread of microseconds as millions a second; `times` is the path of a number that each counts for."""
    def read(text):
        found = last_json(text)
        us, factor = at(found, path), at(found, times) if times else 1
        return {figure: {"median": factor / us["median"], "min": factor / us["max"], "max": factor / us["min"], "n": us["n"]}}
    return read


def pairs(figure, key, **more):
    """What the class Pairs of bench/main.cpp prints: the quiet pairs where there is one, else all of them, which are then disturbed.
    `more`: figures beside it, as for spreads()."""
    def read(text):
        found = last_json(text)
        quiet = found["quiet"][key]
        return {figure: {**(quiet or found["all"][key]), "disturbed": quiet is None}, **spreads(**more)(text)}
    return read


def joined(*readers):
    def read(text):
        return {name: row for reader in readers for name, row in reader(text).items()}
    return read


def lines(pattern, name):
    """Of each line that the pattern finds: groups median, min and max (or median alone), n and disturbed where they are there. `name` is
    the figure's, made of the match."""
    compiled = re.compile(pattern, re.MULTILINE)

    def number(match, group):
        text = match.groupdict().get(group)
        return None if text is None else float(text.replace(",", ""))

    def read(text):
        found = {}
        for match in compiled.finditer(text):
            median = number(match, "median")
            low, high = number(match, "min"), number(match, "max")
            row = {"median": median, "min": median if low is None else low, "max": median if high is None else high, "n": int(number(match, "n") or 1)}
            if match.groupdict().get("disturbed"):
                row["disturbed"] = True
            found[name(match)] = row
        return found
    return read
