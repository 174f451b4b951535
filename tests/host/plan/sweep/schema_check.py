"""Holds `backplane config schema` against the reader: every shipped experiment file must be good to both, every bad one to neither.

usage: schema_check.py PROGRAM GOOD_FILE... -- BAD_FILE...
"""
import json
import subprocess
import sys

import jsonschema
import yaml


def accepted_by_reader(program, file):
    # Checks only the file, like the schema, because an experiment's corpus may not have been built here.
    return subprocess.run([program, "config", "check", "--file-only", file], capture_output=True, text=True).returncode == 0


def main():
    program, *files = sys.argv[1:]
    good, bad = files[: files.index("--")], files[files.index("--") + 1 :]
    schema = json.loads(subprocess.run([program, "config", "schema"], check=True, capture_output=True, text=True).stdout)
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    wrong = []
    for file in good + bad:
        with open(file) as stream:
            error = jsonschema.exceptions.best_match(validator.iter_errors(yaml.safe_load(stream)))
        wanted = file in good
        if (error is None) != wanted:
            wrong.append(f"{file}: {'refused' if error else 'accepted'} by the schema{': ' + error.message if error else ''}")
        if accepted_by_reader(program, file) != wanted:
            wrong.append(f"{file}: {'refused' if wanted else 'accepted'} by the reader")
    if not good or not bad:
        wrong.append(f"{len(good)} good and {len(bad)} bad files: nothing was compared")
    print("\n".join(wrong) or f"{len(good)} good and {len(bad)} bad files: reader and schema agree")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
