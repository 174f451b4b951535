"""docs/performance.md: one row per goal, from stored records."""
import string

HEAD = """# Performance

Compare Backplane's speed with other programs and with the goals of this project. `scripts/bench --page` writes this page from measurements;
[bench/README.md](../bench/README.md) explains each part.

- If a ratio is above 1, Backplane is faster than its peer. Both run in turn, with the same nets, settings and cores, unless the row names a
  difference. Some rows compare Backplane with itself or with a part of its work, as the second column shows.
- Figures are medians, with their range and the number of measurements (n).
- `~` marks figures that were measured while other programs used more than 5 % of the machine's CPU time. They have no verdict but
  "disturbed", and `scripts/bench --missing` measures them again.
- The floor is the speed that the project guarantees on this kind of machine. The target is its aim.
- Compare figures within a row only, because rows differ in [machine](#machines) and day.

![Ratios on a logarithmic axis, with a line at 1](images/performance.svg)
"""


def number(value):
    if value == 0:
        return "0"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def found(goal, row):
    """Median, range and n of one figure."""
    text = ("~ " if row["disturbed"] else "") + f"**{number(row['median'])}**" + (f" {goal.unit}" if goal.unit else "")
    if row["n"] > 1:
        text += f" ({number(row['min'])} .. {number(row['max'])}, n {row['n']})"
    return text


def bars(goal, unit=""):
    sign = "≤ " if goal.lower else "≥ "
    told = [number(bar) for bar in dict.fromkeys((goal.floor, goal.target)) if bar is not None]
    return sign + " / ".join(told) + (f" {unit}" if unit else "") if told else ""


def letter(machines, machine):
    if machine not in machines:
        machines.append(machine)
    return string.ascii_uppercase[machines.index(machine)]


def described(machine):
    text = f"{machine['cpu']}, {machine['cores']} cores, {machine['system']}"
    if "compiler" in machine:
        text += f"; {machine['compiler']}, {machine['build_type']}"
    if "mujoco" in machine:
        text += "; libmujoco {version}, {size_bytes:,} bytes, SHA-256 {sha256:.12}".format(**machine["mujoco"])
    return text


def rows_of(parts, records, peers):
    """(goal, row, record) of measured goals and (goal, part) of others, with or without peers."""
    measured, absent = [], []
    for part in parts:
        record = records.get(part.name)
        for goal in part.goals:
            if bool(goal.over) != peers:
                continue
            if record and goal.figure in record["figures"]:
                measured.append((goal, record["figures"][goal.figure], record))
            else:
                absent.append((goal, part))
    return measured, absent


def table(measured, machines, peers):
    head = ["what", *(["compared with"] if peers else []), "found", "floor / target", "", "date, machine", "part"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for goal, row, record in measured:
        when = f"{record['date'][:10]}, {letter(machines, record['machine'])}" + (", quick" if record["quick"] else "")
        cells = [goal.what, *([goal.over] if peers else []), found(goal, row), bars(goal), goal.verdict(row), when, f"`{record['part']}`"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def not_measured(absent):
    lines = ["| what | compared with | floor / target | why |", "|---|---|---|---|"]
    for goal, part in absent:
        why = part.missing
        if not why:
            needs = [f"`{name}`" for name in part.pythons if name != "oracle"]
            why = f"`{part.name}` has not run" + (f"; it needs {', '.join(needs)}" if needs else "") + ("; it needs a corpus" if part.corpus else "")
        lines.append(f"| {goal.what} | {goal.over} | {bars(goal, goal.unit)} | {why} |")
    return "\n".join(lines)


KEPT_BY_TESTS = """
## Guaranteed by tests

Tests check these without a clock, so they hold on any machine:

- the numbers of instructions that the host, envs and matrix products need (`ctest -L gate`, [tests/gates](../tests/gates))
- no heap allocation per env step (`Gate.allocations`)
- no copy of a transition after the env wrote it (tests on pointers)
- the same bits for any number of threads, rows and chunks (`ctest -R SameBits`)

`ctest -R Bench` also checks that the parts above run, in a short form: all parts without peers, and RLtools if it is installed.
"""


def page(parts, records):
    machines = []
    with_peers, absent = rows_of(parts, records, True)
    alone, more = rows_of(parts, records, False)
    tables = ["## Ratios\n", table(with_peers, machines, True), "\n## Our own figures\n", table(alone, machines, False)]
    if absent or more:
        tables += ["\n## Not measured here\n", not_measured([*absent, *more])]
    tables += [KEPT_BY_TESTS, "## Machines\n", *(f"- {string.ascii_uppercase[i]}: {described(machine)}" for i, machine in enumerate(machines))]
    tables += ["\n## Measure again\n", "```sh\nscripts/bench --list              # every part, its needs and its duration\n"
               "scripts/bench                     # the parts without peers\n"
               "scripts/bench --peers             # all parts; installs the peers first, 9 GB; run it again until it exits with 0\n"
               "scripts/bench --peers --missing   # the parts without a figure, or with a disturbed one\n"
               "scripts/bench --only train/s64 --peers\nscripts/bench --page              # this page, from the stored results\n```"]
    return HEAD + "\n" + "\n".join(tables) + "\n"
