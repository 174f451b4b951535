#!/usr/bin/env python3
"""Measures the parts of bench/figures/parts*.py, prints and stores their figures, and writes docs/performance.md from them.

Every ratio is a median over pairs measured in turn (A B A B), with its range. `~` marks figures disturbed by other programs, which used
more than 5 % of the machine's CPU time: in every pair if pairs are recorded, else over the whole part. bench/README.md describes the parts.
"""
import argparse
import json
import pathlib
import subprocess
import sys

from figures import page, picture, stored
from figures.parts import PARTS
from figures.peers import PEERS, ROOT, Pythons
from figures.run import Failed, Place, Skipped, run
from figures.sitting import STOPPED, Sitting, least_disturbed, missing
from measured_run import adopt_orphans

PAGE, DATA, PICTURE = ROOT / "docs/performance.md", ROOT / "docs/performance.json", ROOT / "docs/images/performance.svg"


def chosen(args):
    parts = [part for part in PARTS if not args.only or any(word in part.name for word in args.only)]
    if not parts:
        raise SystemExit(f"bench: no part has a name with {' or '.join(map(repr, args.only))} in it; see --list")
    if not args.only and not args.peers:
        named = {*args.python, "oracle"}
        parts = [part for part in parts if set(part.pythons) <= named]
    return missing(parts, stored.newest(stored.of_page(DATA), stored.of_folder(args.out))) if args.missing else parts


def words_of(part):
    needs = [*(f"peer {name}" for name in part.pythons if name != "oracle"), *([".venv-oracle"] if "oracle" in part.pythons else []),
             *(["a corpus"] if part.corpus else []), *([part.processor] if part.processor else [])]
    return f"needs {', '.join(needs)}" if needs else ""


def show_list(parts):
    for part in parts:
        time = f"{part.minutes:4g} min" if part.command else "     --  "
        print(f"{part.name:22} {time}  {part.what}{'; ' + words_of(part) if words_of(part) else ''}{'; ' + part.missing if part.missing else ''}")
    own = sum(part.minutes for part in PARTS if part.command and set(part.pythons) <= {"oracle"})
    print(f"{own:.0f} minutes without peers, {sum(part.minutes for part in PARTS):.0f} with all of them")


def line_of(part, name, row):
    goal = next((goal for goal in part.goals if goal.figure == name), None)
    told = f"  {page.bars(goal):16} {goal.verdict(row)}" if goal else ""
    return f"{name:38} {'~' if row['disturbed'] else ' '}{row['median']:>10.4g}  {row['min']:>10.4g} .. {row['max']:<10.4g} n {row['n']:<3}{told}".rstrip()


def measure_part(part, place, args):
    """Measures, prints and stores a part. True if it failed."""
    if args.quick and part.tested:
        print(f"-- {part.name}: run by the test {part.tested}")
        return False
    if lacks := place.lacks(part):
        print(f"-- {part.name}: not measured here: {lacks}")
        return False
    print(f"-- {part.name}: {part.what}", flush=True)
    try:
        record = least_disturbed(part, lambda: run(part, place, args.quick), **({"tries": 1} if args.quick else {}))
    except Skipped as why:
        print(f"-- {part.name}: not measured here: {why}")
        return False
    except Failed as error:
        print(f"{part.name} FAILED: {error}", flush=True)
        return True
    stored.save(args.out / "quick" if args.quick else args.out, record)
    for name, row in record["figures"].items():
        print(line_of(part, name, row), flush=True)
    return False


def measure_all(args, sitting):
    """True if all parts are finished."""
    place = Place(args.build, args.corpus, Pythons(args.python, args.peers))
    adopt_orphans()
    if unlisted := place.unlisted_tasks():
        print(f"-- {', '.join(unlisted)}: MuJoCo tasks that no part steps; see figures/parts_host.py")
        sitting.failed += unlisted
    left = sitting.left(PARTS)
    for k, part in enumerate(left):
        if not sitting.has_time_for(part):
            print(f"-- {len(left) - k} of {len(sitting.names)} parts are left; the same command resumes with {part.name}")
            return False
        sitting.finish(part, measure_part(part, place, args))
    sitting.end()
    return True


def pages(records):
    kept = stored.for_page(records, PARTS)
    measured, _ = page.rows_of(PARTS, records, True)
    return {PAGE: page.page(PARTS, records), PICTURE: picture.picture([(goal, row) for goal, row, _ in measured]), DATA: json.dumps(kept, indent=1) + "\n"}


def write_page(folder):
    for file, text in pages(stored.newest(stored.of_page(DATA), stored.of_folder(folder))).items():
        file.write_text(text)
        print(f"written to {file.relative_to(ROOT)}")


def check_page():
    """True if the page matches its data and the current parts."""
    wrong = [str(file.relative_to(ROOT)) for file, text in pages(stored.of_page(DATA)).items() if file.read_text() != text]
    if wrong:
        raise SystemExit(f"bench: {', '.join(wrong)}: not what scripts/bench --page writes; run it")


def named_python(text):
    name, _, path = text.partition("=")
    if name not in PEERS or not pathlib.Path(path).exists():
        raise argparse.ArgumentTypeError(f"expected NAME=PATH with a NAME of {', '.join(PEERS)}, got '{text}'")
    return name, pathlib.Path(path).absolute()


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", metavar="NAME", help="the parts whose name contains NAME; may be given again")
    parser.add_argument("--list", action="store_true", help="print the parts, their requirements and approximate times")
    parser.add_argument("--peers", action="store_true", help="also measure peers; first makes their Pythons in build/peers (pip, 9 GB)")
    parser.add_argument("--missing", action="store_true", help="only the parts without a figure, or with a disturbed one")
    parser.add_argument("--minutes", type=float, metavar="N", help="stop after about N minutes, and exit with 75 if parts are left; with --peers 40")
    parser.add_argument("--python", action="append", default=[], type=named_python, metavar="NAME=PATH", help="a Python that has the packages of the peer NAME")
    parser.add_argument("--corpus", type=pathlib.Path, default=ROOT / "data/debian_descriptions", help="what plugins/envs/summarization/build_corpus wrote")
    parser.add_argument("--quick", action="store_true", help="runs everything for a moment: no figure to quote, and not for the page")
    parser.add_argument("--page", action="store_true", help="write docs/performance.md, its data and its picture without measuring")
    parser.add_argument("--check", action="store_true", help="exit 1 if the page is not what --page writes of its data")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "outputs/bench", help="where figures are kept, one file a part")
    parser.add_argument("--build", type=pathlib.Path, help="a build tree that is there; else build/release is built")
    args = parser.parse_args()
    args.python, args.corpus = dict(args.python), args.corpus.absolute()
    args.minutes = args.minutes or (40 if args.peers else None)
    return args


def main():
    args = arguments()
    if args.check:
        return check_page()
    if args.page:
        return write_page(args.out)
    parts = chosen(args)
    if args.list:
        return show_list(parts)
    if args.build is None:
        targets = dict.fromkeys(target for part in parts for target in ("bench_host", *part.targets))
        subprocess.run([ROOT / "scripts/build", "release", *targets], check=True)
    args.build = (args.build or ROOT / "build/release").resolve()
    choice = {"only": args.only, "peers": args.peers, "missing": args.missing, "pythons": sorted(args.python)}
    sitting = Sitting(args.out / ("quick" if args.quick else "") / "sitting.json", choice, [part.name for part in parts], args.minutes)
    finished = measure_all(args, sitting)
    print(f"kept in {args.out}; bench/README.md describes the parts")
    if not finished:
        return STOPPED
    return f"bench: failed: {', '.join(sitting.failed)}" if sitting.failed else 0


if __name__ == "__main__":
    sys.exit(main())
