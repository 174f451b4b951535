#!/usr/bin/env python3
"""The order of the host's modules, and the limits on what libraries, plugins, reports and tools include of the host.

usage: includes_test.py [-v]

The order is read from host/CMakeLists.txt and host/report/CMakeLists.txt, whose lists say in which order data travels: a module
includes host/libs, the plugin interface and the modules before it. A batch and a trial share only files: OF_BATCH and OF_TRIAL do not include
each other. Tools include host/libs and the modules of OF_PLAN; the tools of CALLS_PLUGINS include modules of a trial as well.
"""
import pathlib
import re
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'^#include "([\w./-]+)"', re.M)
SOURCES = ("*.cpp", "*.hpp", "*.h", "*.c")
INTERFACE = "backplane"
HOST = "host/CMakeLists.txt"
REPORT = "host/report/CMakeLists.txt"
TOOLS = "tools/CMakeLists.txt"
OF_BATCH = {"config", "sweep", "input", "store", "search", "supervise", "cluster"}
OF_TRIAL = {"rollout", "data", "workers", "trial", "command", "trial_program"}
OF_PLAN = {"plugin", "config", "sweep", "input"}  # modules that tools may include: they run no trials
CALLS_PLUGINS = {"validate": {"rollout", "data", "trial"}}


def listed(root, variable, file=HOST):
    """The names of `foreach(VARIABLE a b c)` in the file."""
    text = (root / file).read_text()
    return re.search(rf"foreach\({variable} ([\w ]+)\)", text)[1].split()


def includes(folder):
    for pattern in SOURCES:
        for file in sorted(folder.rglob(pattern)):
            for name in INCLUDE.findall(file.read_text()):
                yield file, name


def wrong_includes(root):
    libraries, modules, report = listed(root, "library"), listed(root, "module"), listed(root, "module", REPORT)
    wrong = []

    def check(folder, allowed):
        for file, name in includes(folder):
            first = name.split("/")[0]
            if "/" in name and first not in allowed and not (file.parent / name).exists():
                wrong.append(f'{file.relative_to(root)} includes "{name}"; it may include of {", ".join(sorted(allowed))}')

    for library in libraries:
        check(root / "host/libs" / library, {INTERFACE, *libraries})
    for i, module in enumerate(modules):
        other = OF_TRIAL if module in OF_BATCH else OF_BATCH if module in OF_TRIAL else set()
        check(root / "host/src" / module, {INTERFACE, *libraries, *modules[: i + 1]} - other)
    check(root / "host/embed", {INTERFACE, *libraries, "plugin", "config", "rollout", "embed"})
    for i, module in enumerate(report):
        check(root / "host/report" / module, {INTERFACE, *libraries, *report[: i + 1]})
    for tool in listed(root, "tool", TOOLS):
        check(root / "tools" / tool, {INTERFACE, *libraries, *OF_PLAN, *CALLS_PLUGINS.get(tool, ()), tool})
    shared = {path.name for path in (root / "plugins/common").iterdir() if path.is_dir()}
    check(root / "plugins", {INTERFACE, *libraries, *shared})
    return wrong


class Includes(unittest.TestCase):
    def test_every_module_knows_only_what_stands_before_it(self):
        self.assertEqual([], wrong_includes(ROOT))

    def test_every_module_is_listed(self):
        for variable, folder, file in ("library", "host/libs", HOST), ("module", "host/src", HOST), ("tool", "tools", TOOLS):
            there = {path.parent.name for path in (ROOT / folder).glob("*/CMakeLists.txt")}
            self.assertEqual(there, set(listed(ROOT, variable, file)))

    def test_an_include_that_is_not_allowed_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {
                HOST: "foreach(library base)\nforeach(module config rollout store)\n",
                TOOLS: "foreach(tool author validate)\n",
                "tools/author/new.hpp": '#include "base/files.hpp"\n#include "plugin/catalog.hpp"\n#include "store/plan.hpp"\n',
                "tools/validate/case.hpp": '#include "trial/contract.hpp"\n#include "author/new.hpp"\n',
                REPORT: "foreach(module results rules)\n",
                "host/report/results/set.hpp": '#include "config/key.hpp"\n#include "rules/rule.hpp"\n',
                "host/libs/base/files.hpp": '#include "config/key.hpp"\n',
                "host/src/config/key.hpp": '#include "base/files.hpp"\n#include "store/plan.hpp"\n',
                "host/src/rollout/pool.hpp": '#include "base/files.hpp"\n#include "config/key.hpp"\n',
                "host/src/store/table.hpp": '#include "config/key.hpp"\n#include "rollout/pool.hpp"\n',
                "host/src/store/plan.hpp": '#include "config/key.hpp"\n#include "backplane/host.h"\n#include "author/new.hpp"\n',
                "plugins/common/nn/net.hpp": '#include "base/files.hpp"\n',
                "plugins/envs/ant/ant.cpp": '#include "nn/net.hpp"\n#include "store/plan.hpp"\n',
            }.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            self.assertEqual(
                ["host/libs/base/files.hpp", "host/src/config/key.hpp", "host/src/rollout/pool.hpp", "host/src/store/plan.hpp",
                 "host/src/store/table.hpp", *["host/report/results/set.hpp"] * 2, "tools/author/new.hpp", "tools/validate/case.hpp",
                 "plugins/envs/ant/ant.cpp"],
                [line.split(" includes ")[0] for line in wrong_includes(root)],
            )


if __name__ == "__main__":
    unittest.main()
