"""Reads a script's output into figures: name -> {"median", "min", "max", "n"}, with "disturbed" if the script records it."""
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
        raise ValueError("its output contains no JSON object") from None


def as_spread(found):
    return found if isinstance(found, dict) else spread([found])


def figures(text):
    """For scripts that print figures themselves; the last line is {"figures": {NAME: SPREAD or NUMBER}}."""
    return {name: as_spread(found) for name, found in last_json(text)["figures"].items()}


def at(text_or_object, path):
    found = last_json(text_or_object) if isinstance(text_or_object, str) else text_or_object
    for key in path.split("."):
        found = found[int(key)] if isinstance(found, list) else found[key]
    return found


def spreads(**paths):
    """Spreads or numbers of a JSON object, each at a.path.in.it; double underscores in a figure's name become slashes."""
    def read(text):
        found = last_json(text)
        return {name.replace("__", "/"): as_spread(at(found, path)) for name, path in paths.items()}
    return read


def counts(**paths):
    """As spreads(), for counts, which other programs cannot disturb."""
    read = spreads(**paths)
    return lambda text: {name: {**row, "disturbed": False} for name, row in read(text).items()}


def rate(figure, path, times=None):
    """A spread of microseconds as millions per second; `times` is the path of the number of operations in each."""
    def read(text):
        found = last_json(text)
        us, factor = at(found, path), at(found, times) if times else 1
        return {figure: {"median": factor / us["median"], "min": factor / us["max"], "max": factor / us["min"], "n": us["n"]}}
    return read


def pairs(figure, key, **more):
    """Reads the class Pairs of bench/main.cpp: quiet pairs if there are any, else all pairs as disturbed. `more`: further figures, as for
    spreads()."""
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
    """A figure per matching line, from the groups median, min and max (or only median), n and disturbed. `name` makes the figure's name
    from the match."""
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
