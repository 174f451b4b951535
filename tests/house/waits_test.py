#!/usr/bin/env python3
"""Every place where a process of this project waits has a row in waits.tsv, and every row is true.

usage: waits_test.py [-v | --list]

A wait is a call of a function in CALLS, in a source of host/, plugins/ or tools/. The table's second column has its file and name:
`batch/local_engine.cpp` Wait, poll. A path is relative to a folder of PREFIXES. A folder, a pattern, or a name that ends with / means all
its files. The last column names tests of tests/, or kinds of scripts/check_hangs. A mutex that is held for a few instructions does not
count. --list prints the places without a row.
"""
import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = "tests/house/waits.tsv"
COLUMNS = 6
SOURCES = ("host", "plugins", "tools")
PREFIXES = ("host/libs", "host/plan", "host/batch", "host/trial", "host", "plugins", "tools", "")

PLAIN = r"(?<![.>:\w])(?:::)?"  # no member and no other namespace
CPP = [
    PLAIN + r"(poll|ppoll|epoll_wait|epoll_pwait|select|pselect|read|readv|recv|recvmsg|recvfrom|write|send|sendmsg|accept4?|connect|getaddrinfo)\(",
    PLAIN + r"(waitpid|waitid|wait3|wait4|pause|sleep|usleep|nanosleep|clock_nanosleep|flock|lockf|sigwait|sigwaitinfo|sigtimedwait|"
    r"sigsuspend|fgets|popen|system|pthread_join|sched_yield|posix_spawnp?|RunProcess|CallPlugin|dlopen)\(",
    r"\b(sleep_for|sleep_until|regex_match|regex_search|regex_replace)\(",
    r"\b(boost::dll::shared_library|F_SETLKW|F_OFD_SETLKW|SYS_futex|yield|std::async|std::cin|std::barrier|std::latch|std::counting_semaphore|"
    r"std::jthread|std::(?:shared_)?future|std::call_once|std::cout|std::cerr)\b",
    r"\b(std::(?:unique|shared)_lock<std::shared_mutex>)",
    # Streams may be pipes and terminals.
    r"(?<![.>:\w])(?:std::|::)?(fflush|fputs|fputc|puts|putchar|fwrite|fread|fgetc|getchar|printf|fprintf|vfprintf)\(",
    r"\b(fmt::print(?:ln)?)\(",
    r"\blogger\.(log)\(",
    r"\bstd::(c?regex_iterator|s?regex_iterator)\b",
    r"\b(RE2)::(?:\w*Match\w*|Consume|FindAndConsume)\b",
    r"(?:\.|->)(join|wait|wait_for|wait_until|Wait|setBusyTimeout)\(",
    r"(?:\.|->)(Call|Match)\(",
    r"\b(sqlite3_busy_timeout|SQLite::Database)\b",
    r"\bg_\w+\.(lock)\(",
]
PYTHON = [
    r"\b(subprocess\.\w+|time\.sleep|os\.read|os\.write|os\.waitpid|os\.system|select\.\w+|ray\.get|ray\.wait|ray\.init|sqlite3\.connect|"
    r"fcntl\.flock|socket\.create_connection|urlopen|webbrowser\.\w+|print|input)\(",
    r"\.(wait|communicate|readline|acquire|recv|accept|sendall|flush|result)\(",
    r"\.(join)\(\)",
    r"\b(?:stdin|stdout|stderr)\.(read|write)\(",
    r"\bwith ([\w.]+):",  # a lock
    r"\bfor \w+ in ((?:\w+\.)*(?:stdin|stdout|requests))\b",
]
SHELL = [r"(?<![-\w./])(read|wait|sleep|flock|cat|printf|echo) "]
CALLS = {".cpp": CPP, ".hpp": CPP, ".h": CPP, ".c": CPP, ".py": PYTHON, ".sh": SHELL}
# Strings, comments, and the first lines of functions hold no call.
C_NOISE = r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/|^[\w:<>&*, \[\]]+[ *&](?:\w+::)*\w+\([^;{}]*\)[\w ]*\{'
PYTHON_NOISE = r'"""(?:.*?)"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|#[^\n]*'
NOISE = {**dict.fromkeys((".cpp", ".hpp", ".h", ".c"), C_NOISE), ".py": PYTHON_NOISE, ".sh": r"#[^\n]*"}
# Variables and callbacks that have the name of a call.
NO_CALLS = {("host/libs/arguments/arguments.cpp", "read"), ("host/libs/record/attempt_files.cpp", "read"), ("host/trial/data/data_loader.cpp", "read"),
            ("plugins/envs/uav_grid_tensor/board.cpp", "write")}


def language_of(file):
    """The suffix that stands for its language. A Python program may have none."""
    if file.suffix in CALLS or file.suffix:
        return file.suffix if file.suffix in CALLS else None
    with file.open("rb") as stream:
        return ".py" if re.match(rb"#!.*python", stream.readline()) else None


def waits(root):
    """(file, call) of each wait in the sources."""
    found = set()
    for file in sorted(file for folder in SOURCES for file in (root / folder).rglob("*") if file.is_file()):
        language = language_of(file)
        if language:
            text = re.sub(NOISE[language], "", file.read_text(), flags=re.S | re.M)
            calls = {call for pattern in CALLS[language] for call in re.findall(pattern, text, re.M)}
            found |= {(str(file.relative_to(root)), call) for call in calls}
    return found - NO_CALLS


def rows(root):
    """The cells of each row of the table, without its head."""
    return [line.split("\t") for line in (root / TABLE).read_text().splitlines()[1:]]


def files_of(root, name):
    for prefix in PREFIXES:
        found = sorted(file for file in (root / prefix).glob(name + "*" if name.endswith("/") else name) if file.is_file())
        if found:
            return [str(file.relative_to(root)) for file in found]
    return []


def places(root, row):
    """(name, files, calls) of each place that a row names."""
    for name, calls in re.findall(r"`([\w./*-]+)` ([^;`]+)", row[1]):
        yield name, files_of(root, name), {call.strip() for call in calls.split(",")}


def test_names(root):
    names = set()
    for file in (root / "tests").rglob("*_test.cpp"):
        names |= {f"{suite}.{name}" for suite, name in re.findall(r"^TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", file.read_text(), re.M)}
    for file in (root / "tests").rglob("CMakeLists.txt"):
        names |= set(re.findall(r"add_test\(NAME\s+([\w.]+)\s", file.read_text()))
        names |= {f"Python.{name}" for name in re.findall(r"backplane_add_python_test\(\S+ (\w+)", file.read_text())}
    kinds = root / "scripts/hang_kinds.py"
    if kinds.exists():
        sys.path.insert(0, str(kinds.parent))
        import hang_kinds
        names |= {kind.name for kind in hang_kinds.KINDS} | {kind.family for kind in hang_kinds.KINDS}
    return names


def without_row(root):
    named = {(file, call) for row in rows(root) for _, files, calls in places(root, row) for file in files for call in calls}
    return sorted(f"{file}: {call}" for file, call in waits(root) - named)


def wrong_rows(root):
    """The false claims of the rows."""
    found, tests, wrong = waits(root), test_names(root), []
    for row in rows(root):
        if len(row) != COLUMNS or not all(row):
            wrong.append(f"{row[0]}: expected {COLUMNS} cells with text, got {len(row)}")
            continue
        for name, files, calls in places(root, row):
            used = {call for file, call in found if file in files}
            if not files:
                wrong.append(f"{row[0]}: there is no file {name}")
            wrong += [f"{row[0]}: {name} does not call {call}" for call in sorted(calls - used) if files]
        names = re.findall(r"`([\w. ]+)`", row[-1])
        wrong += [f"{row[0]}: there is no test {name}" for name in names if name not in tests]
        if not names:
            wrong.append(f"{row[0]}: names no test")
    return wrong


ROWS = """who\twhere\tlimit\ta stop\tprinted\ttest
a, b\t`shim/shim.cpp` poll, read\t1 s\tends it\tits name\t`Shim.Ends`
"""


class Waits(unittest.TestCase):
    def test_every_wait_has_a_row(self):
        self.assertEqual([], without_row(ROOT), f"no row in {TABLE}")

    def test_every_row_is_true(self):
        self.assertEqual([], wrong_rows(ROOT))

    def tree(self, files):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = pathlib.Path(folder.name)
        for name, text in {TABLE: ROWS, "tests/shim_test.cpp": "TEST_F(Shim, Ends) {}\n", "plugins/a.py": "", **files}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return root

    def test_finds_a_wait_without_a_row(self):
        root = self.tree({
            "host/shim/shim.cpp": "// waitpid(pid)\nvoid poll(int x) {\n  poll(&fds, 1, -1);\n  read(fd, text, 1);\n  in.read(text);\n}\n",
            "host/shim/other.cpp": "thread_.join();\nchanged_.wait(lock);\nstd::this_thread::sleep_for(kTick);\n::flock(fd, LOCK_EX);\n",
            "plugins/side": "#!/usr/bin/env python3\nfor line in sys.stdin: subprocess.run(words)\n", "host/client.sh": "  sleep 1\n",
            "host/shim/streams.cpp": "std::fflush(stdout);\nstd::unique_lock<std::shared_mutex> lock;\nfmt::print(stderr, text);\n",
            "host/shim/streams.py": "with self.lock:\n    film.stdin.write(png)\n",
        })
        self.assertEqual(["fflush", "fmt::print", "std::unique_lock<std::shared_mutex>", "self.lock", "write"],
                         [line.split(": ")[1] for line in without_row(root) if "streams" in line])
        self.assertEqual([*(f"host/shim/other.cpp: {call}" for call in ("flock", "join", "sleep_for", "wait"))], without_row(root)[1:5])
        self.assertEqual(["host/client.sh: sleep", "plugins/side: subprocess.run", "plugins/side: sys.stdin"],
                         [line for line in without_row(root) if "shim" not in line])
        self.assertEqual([], wrong_rows(root))

    def test_finds_a_row_of_a_removed_wait_or_test(self):
        root = self.tree({"host/shim/shim.cpp": "poll(&fds, 1, -1);\n", "tests/shim_test.cpp": "TEST(Shim, Waits) {}\n"})
        self.assertEqual(["a, b: shim/shim.cpp does not call read", "a, b: there is no test Shim.Ends"], wrong_rows(root))
        (root / "host/shim/shim.cpp").unlink()
        self.assertEqual("a, b: there is no file shim/shim.cpp", wrong_rows(root)[0])


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    if sys.argv[1:] == ["--list"]:
        print("\n".join(without_row(ROOT)))
    else:
        unittest.main()
