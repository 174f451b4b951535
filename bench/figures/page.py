"""docs/performance.md: one row a goal, from stored records."""
import string

HEAD = """# Performance

What each goal is measured against, and what was found. `scripts/bench` measures, `scripts/bench --page` writes this page of what was measured;
no figure here is written by hand. [bench/README.md](../bench/README.md) says what each part is and how it is measured.

- A ratio is ours over the peer's, or the peer's time over ours: above 1 we are faster. Both sides run in turn, with the same nets, settings and cores.
- Figures are medians, with their range and number. `~`: other programs took more than 5 % of the machine's CPU time. A ratio then shows nothing,
  as the peer may have suffered more, and its verdict is "disturbed"; so is that of a figure of our own that missed its bar beside them.
- The floor is what the project promises on this kind of machine, the target what it aims at.
- Compare figures of one row only: those of different machines or days say nothing about each other.
- `scripts/bench --only PART` measures a row again; beside peers that are installed with `--peers`. Machines have their letters at the end.

![Ratios to peers on a logarithmic axis, with a line at 1](images/performance.svg)
"""


def number(value):
    if value == 0:
        return "0"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def found(goal, row):
    """Median, range and number of one figure."""
    text = ("~ " if row["disturbed"] else "") + f"**{number(row['median'])}**" + (f" {goal.unit}" if goal.unit else "")
    if row["n"] > 1:
        text += f" ({number(row['min'])} .. {number(row['max'])}, n {row['n']})"
    return text


def bars(goal):
    sign = "≤ " if goal.lower else "≥ "
    told = [number(bar) for bar in dict.fromkeys((goal.floor, goal.target)) if bar is not None]
    return sign + " / ".join(told) if told else ""


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
    """(goal, row, record) of what was measured, and (goal, part) of what was not; with peers or without."""
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
    head = ["what", *(["over"] if peers else []), "found", "floor / target", "", "date, machine", "part"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for goal, row, record in measured:
        when = f"{record['date'][:10]}, {letter(machines, record['machine'])}" + (", quick" if record["quick"] else "")
        cells = [goal.what, *([goal.over] if peers else []), found(goal, row), bars(goal), goal.verdict(row), when, f"`{record['part']}`"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def not_measured(absent):
    lines = ["| what | over | floor / target | why |", "|---|---|---|---|"]
    for goal, part in absent:
        why = part.missing
        if not why:
            needs = [f"`{name}`" for name in part.pythons if name != "oracle"]
            why = f"`{part.name}` has not run" + (f"; it needs {', '.join(needs)}" if needs else "") + ("; it needs a corpus" if part.corpus else "")
        lines.append(f"| {goal.what} | {goal.over} | {bars(goal)} | {why} |")
    return "\n".join(lines)


KEPT_BY_TESTS = """
## Kept by tests

Not timed, so they hold on any machine: the costs of the host, of envs and of products in instructions (`ctest -L gate`,
[tests/gates](../tests/gates)), no heap allocation per env step (`Gate.allocations`), no copy of a transition after the env wrote it (tests on
pointers), the same bits for any number of threads, rows and chunks (`ctest -R SameBits`), and the quick form of every part above
(`ctest -R Bench`).
"""


def page(parts, records):
    machines = []
    with_peers, absent = rows_of(parts, records, True)
    alone, more = rows_of(parts, records, False)
    tables = ["## Beside peers\n", table(with_peers, machines, True), "\n## Our own figures\n", table(alone, machines, False)]
    if absent or more:
        tables += ["\n## Not measured here\n", not_measured([*absent, *more])]
    tables += [KEPT_BY_TESTS, "## Machines\n", *(f"- {string.ascii_uppercase[i]}: {described(machine)}" for i, machine in enumerate(machines))]
    tables += ["\n## Again\n", "```sh\nscripts/bench --list              # every part, what it needs and how long it takes\n"
               "scripts/bench                     # all that need no peer's packages\n"
               "scripts/bench --peers             # and those that do: makes their Pythons first, 9 GB\n"
               "scripts/bench --only train/s64 --peers\nscripts/bench --page              # this page, of what was measured\n```"]
    return HEAD + "\n" + "\n".join(tables) + "\n"
