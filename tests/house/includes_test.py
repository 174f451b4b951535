#!/usr/bin/env python3
"""The order of the host's modules, and the headers of the host that libraries, plugins, reports and tools may include.

usage: includes_test.py [-v]

The lists in host/CMakeLists.txt and tools/report/CMakeLists.txt define the order, which is the flow of data. A module may include
host/libs, the plugin interface and earlier modules. A batch and a trial share only files: modules of host/trial include no other module
except the shim, and no other module includes them. Tools may include host/libs and the modules of host/plan. Tools of CALLS_PLUGINS may
also include modules of a trial. Modules of tools/report may include host/libs.
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
REPORT = "tools/report/CMakeLists.txt"
TOOLS = "tools/CMakeLists.txt"
CALLS_PLUGINS = {"validate": {"rollout", "data", "trial"}}


def listed(root, variable, file=HOST):
    """The names of `foreach(VARIABLE a b c)` in the file."""
    text = (root / file).read_text()
    return re.search(rf"foreach\({variable} ([\w/\s]+)\)", text)[1].split()


def includes(folder, below=""):
    for pattern in SOURCES:
        for file in sorted(folder.glob(below + pattern)):
            for name in INCLUDE.findall(file.read_text()):
                yield file, name


def is_of_trial(module):
    return module.split("/")[0] == "trial"


def names(modules):
    return {module.split("/")[-1] for module in modules}


def may_include(module, before):
    """The modules before it."""
    if is_of_trial(module):
        return names(other for other in before if is_of_trial(other) or other == "shim")
    return names(other for other in before if not is_of_trial(other))


def wrong_includes(root):
    libraries, modules, report = listed(root, "library"), listed(root, "module"), listed(root, "module", REPORT)
    wrong = []

    def check(folder, allowed, below=""):
        for file, name in includes(folder, below):
            first = name.split("/")[0]
            if "/" in name and first not in allowed and not (file.parent / name).exists():
                wrong.append(f'{file.relative_to(root)} includes "{name}"; it may include of {", ".join(sorted(allowed))}')

    for library in libraries:
        check(root / "host/libs" / library, {INTERFACE, *libraries})
    for i, module in enumerate(modules):
        check(root / "host" / module, {INTERFACE, *libraries, *may_include(module, modules[: i + 1])})
    check(root / "host/embed", {INTERFACE, *libraries, "config", "rollout", "trial", "embed"})
    of_plan = names(module for module in modules if module.startswith("plan/"))
    for i, module in enumerate(report):
        check(root / "tools/report" / module, {INTERFACE, *libraries, *report[: i + 1]})
    for tool in listed(root, "tool", TOOLS):
        check(root / "tools" / tool, {INTERFACE, *libraries, *of_plan, *CALLS_PLUGINS.get(tool, ()), tool})
    shared = {path.name for path in (root / "plugins/common").iterdir() if path.is_dir()}
    check(root / "plugins", {INTERFACE, *libraries, *shared}, below="**/")
    return wrong


class Includes(unittest.TestCase):
    def test_every_module_includes_only_earlier_modules(self):
        self.assertEqual([], wrong_includes(ROOT))

    def test_every_module_is_listed(self):
        for variable, folder, file in ("library", "host/libs", HOST), ("module", "host", HOST), ("tool", "tools", TOOLS):
            there = {str(path.parent.relative_to(ROOT / folder)) for path in (ROOT / folder).rglob("CMakeLists.txt")}
            if variable == "tool":
                there = {name for name in there if "/" not in name}
            if variable == "module":
                there = {name for name in there if not name.startswith("libs/")} - {"embed"}
            self.assertEqual(there - {"."}, set(listed(ROOT, variable, file)))

    def test_finds_a_forbidden_include(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {
                HOST: "foreach(library base)\nforeach(module plan/config\n  trial/rollout batch/store)\n",
                TOOLS: "foreach(tool author validate)\n",
                "tools/author/new.hpp": '#include "base/files.hpp"\n#include "config/key.hpp"\n#include "store/plan.hpp"\n',
                "tools/validate/case.hpp": '#include "rollout/pool.hpp"\n#include "author/new.hpp"\n',
                REPORT: "foreach(module results rules)\n",
                "tools/report/results/set.hpp": '#include "config/key.hpp"\n#include "rules/rule.hpp"\n',
                "host/libs/base/files.hpp": '#include "config/key.hpp"\n',
                "host/plan/config/key.hpp": '#include "base/files.hpp"\n#include "store/plan.hpp"\n',
                "host/trial/rollout/pool.hpp": '#include "base/files.hpp"\n#include "config/key.hpp"\n',
                "host/batch/store/table.hpp": '#include "config/key.hpp"\n#include "rollout/pool.hpp"\n',
                "host/batch/store/plan.hpp": '#include "config/key.hpp"\n#include "backplane/host.h"\n#include "author/new.hpp"\n',
                "plugins/common/nn/net.hpp": '#include "base/files.hpp"\n',
                "plugins/envs/ant/ant.cpp": '#include "nn/net.hpp"\n#include "store/plan.hpp"\n',
            }.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            self.assertEqual(
                ["host/libs/base/files.hpp", "host/plan/config/key.hpp", "host/trial/rollout/pool.hpp", "host/batch/store/plan.hpp",
                 "host/batch/store/table.hpp", *["tools/report/results/set.hpp"] * 2, "tools/author/new.hpp", "tools/validate/case.hpp",
                 "plugins/envs/ant/ant.cpp"],
                [line.split(" includes ")[0] for line in wrong_includes(root)],
            )


if __name__ == "__main__":
    unittest.main()
