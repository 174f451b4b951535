"""Stores results: a file per part in outputs/bench, and a summary in docs/performance.json, the source of docs/performance.md. The page can
be rewritten without measuring, and parts may be measured on different days."""
import json

SCHEMA = 2


def file_of(folder, name):
    return folder / (name.replace("/", "-") + ".json")


def save(folder, record):
    folder.mkdir(parents=True, exist_ok=True)
    file = file_of(folder, record["part"])
    file.write_text(json.dumps({"schema": SCHEMA, **record}, indent=1) + "\n")
    return file


def of_folder(folder):
    found = [json.loads(file.read_text()) for file in sorted(folder.glob("*.json"))]  # the file of a sitting has no schema
    return {record["part"]: record for record in found if record.get("schema") == SCHEMA}


def of_page(file):
    if not file.exists():
        return {}
    found = json.loads(file.read_text())
    machines = found["machines"]
    return {name: {**record, "part": name, "machine": machines[record["machine"]]} for name, record in found["parts"].items()}


def newest(*several):
    found = {}
    for records in several:
        for name, record in records.items():
            if name not in found or record["date"] >= found[name]["date"]:
                found[name] = record
    return found


def short(value):
    return float(f"{value:.6g}") if isinstance(value, float) else value


def for_page(records, parts):
    """Figures that have a goal, with each machine once."""
    machines, kept = [], {}
    for part in parts:
        record = records.get(part.name)
        if record is None:
            continue
        if record["machine"] not in machines:
            machines.append(record["machine"])
        rows = {goal.figure: {key: short(value) for key, value in record["figures"][goal.figure].items()}
                for goal in part.goals if goal.figure in record["figures"]}
        kept[part.name] = {"date": record["date"], "command": record["command"], "quick": record["quick"], "others": record["others"],
                           "commit": record["commit"], "machine": machines.index(record["machine"]), "figures": rows}
    return {"schema": SCHEMA, "machines": machines, "parts": kept}
