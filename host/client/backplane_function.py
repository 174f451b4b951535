"""Runs a trial whose objective is a Python function (docs/functions.md).

  backplane_function.py FILE:NAME            calls NAME(config) in a trial: learner.options, and the seed
  backplane_function.py --check FILE:NAME    prints why FILE cannot have such a function; runs no code of FILE

The host starts it. It imports FILE as a module, so the part below `if __name__ == "__main__":` is not executed.
"""
import ast
import difflib
import importlib
import importlib.machinery
import importlib.util
import inspect
import json
import os
import sys
import traceback

import backplane_client

_MOST_NAMES = 5


def _is_main_guard(statement):
    return isinstance(statement, ast.If) and any(isinstance(n, ast.Name) and n.id == "__name__" for n in ast.walk(statement.test))


def _bound(statements):
    """Yields each name that the module's statements bind, with its statement."""
    for statement in statements:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield statement.name, statement
        elif isinstance(statement, (ast.Import, ast.ImportFrom)):
            yield from ((alias.asname or alias.name.split(".")[0], statement) for alias in statement.names)
        else:
            for child in ast.iter_child_nodes(statement):
                if isinstance(child, (ast.expr, ast.withitem)):
                    yield from ((n.id, statement) for n in ast.walk(child) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
            parts = [] if _is_main_guard(statement) else [getattr(statement, "body", [])]
            parts += [getattr(statement, part, []) for part in ("orelse", "finalbody")]
            parts += [inner.body for part in ("handlers", "cases") for inner in getattr(statement, part, [])]
            for part in parts:
                yield from _bound(part)


def _why_no_objective(node, name):
    """A sentence if the statement binds the name to something that cannot be called with one configuration; else empty."""
    if isinstance(node, ast.ClassDef):
        return f"expected a function of one argument, got the class '{name}'"
    if isinstance(node, ast.AsyncFunctionDef):
        return f"expected a plain function, got 'async def {name}'"
    if not isinstance(node, ast.FunctionDef) or node.decorator_list:  # only a call would show
        return ""
    has = node.args
    by_place = len(has.posonlyargs) + len(has.args)
    needed = by_place - len(has.defaults) + sum(default is None for default in has.kw_defaults)
    if needed <= 1 and (by_place >= 1 or has.vararg) and all(has.kw_defaults):
        return ""
    return f"expected a function of one argument such as `def {name}(config):`, got `def {name}({ast.unparse(has)}):`"


def why_not(file, name):
    """Why the file cannot have such a function; empty: it has one. Runs no code of the file."""
    shown = os.path.basename(file)
    try:
        with open(file, "rb") as stream:
            tree = ast.parse(stream.read(), file)
    except SyntaxError as error:
        return f"{shown}:{error.lineno}: SyntaxError: {error.msg}"
    except (OSError, ValueError, RecursionError) as error:
        return f"expected a Python file at '{file}', got {error}"
    names = dict(_bound(tree.body))
    if name in names:
        sentence = _why_no_objective(names[name], name)
        return f"{shown}:{names[name].lineno}: {sentence}" if sentence else ""
    if "*" in names:
        return ""  # `from ... import *` may bring it
    functions = [known for known, node in names.items() if isinstance(node, ast.FunctionDef)]
    near = difflib.get_close_matches(name, functions, n=2) or difflib.get_close_matches(name, names, n=2)
    guarded = {known for statement in tree.body if _is_main_guard(statement) for known, _ in _bound(statement.body)}
    sentence = f"expected a function '{name}' at the top level of {shown}, got none"
    if name in guarded:
        return sentence + ": it is below `if __name__ == \"__main__\":`, which a trial does not execute"
    if near:
        return sentence + "; did you mean " + " or ".join(f"'{word}'" for word in near) + "?"
    return sentence + (f"; its functions: {', '.join(functions[:_MOST_NAMES])}" if functions else "")


def load(file):
    """Imports the file under its own name, so that processes which it starts can import it too."""
    folder, name = os.path.split(os.path.abspath(file))
    parts = [os.path.splitext(name)[0]]
    while os.path.exists(os.path.join(folder, "__init__.py")):  # relative imports need the package
        folder, package = os.path.split(folder)
        parts.insert(0, package)
    sys.path.insert(0, folder)
    if len(parts) > 1:
        importlib.import_module(".".join(parts[:-1]))
    name = ".".join(parts)
    known = sys.modules.get(name)
    if known is not None:
        if os.path.realpath(getattr(known, "__file__", None) or "") == os.path.realpath(file):
            return known
        name = "backplane_function_" + name  # a module of Python has the name
    loader = importlib.machinery.SourceFileLoader(name, file)
    module = importlib.util.module_from_spec(importlib.util.spec_from_file_location(name, file, loader=loader))
    sys.modules[name] = module
    loader.exec_module(module)
    return module


def config_of_trial():
    with open(os.path.join(os.environ["BACKPLANE_TRIAL_DIR"], "trial.json"), encoding="utf-8") as stream:
        config = json.load(stream)["config"]
    return {**(config["learner"]["options"] or {}), "seed": config["seed"]}


def report_all(result):
    """Reports the metrics that the function yields or returns."""
    if inspect.isgenerator(result):
        for values in result:
            report_all(values)
    elif hasattr(result, "__float__"):
        backplane_client.report(value=result)
    elif hasattr(result, "items"):
        backplane_client.report(result)
    elif result is not None:
        print(f"expected a mapping of metrics, a number or nothing, got {type(result).__name__}; it is not reported", file=sys.stderr)


def sentence_of(error, frames, file):
    """The error with the last line of the user's own files; else with the last line of all."""
    own = os.path.dirname(os.path.abspath(file)) + os.sep
    places = [(frame.filename, frame.lineno) for frame in frames]
    if isinstance(error, SyntaxError) and error.filename:
        places.append((error.filename, error.lineno))
    mine = [place for place in places if os.path.abspath(place[0]).startswith(own) and "site-packages" not in place[0]]
    text = "".join(traceback.format_exception_only(type(error), error)).strip()
    text = f"SyntaxError: {error.msg}" if isinstance(error, SyntaxError) else text.splitlines()[0] if text else type(error).__name__
    if isinstance(error, ModuleNotFoundError) and error.name:
        package = error.name.split(".")[0]
        text += f"; install it with `{sys.executable} -m pip install {package}`, or set learner.python to an interpreter that has it"
    if not (mine or places):
        return text
    path, line = (mine or places)[-1]
    return f"{os.path.relpath(path, own) if mine else path}:{line}: {text}"


def run(file, name):
    try:
        backplane_client._loading = os.path.basename(file)  # backplane_rl.run() then rejects calls
        function = getattr(load(file), name)
        backplane_client._loading = None
        report_all(function(config_of_trial()))
    except Exception as error:
        trace = error.__traceback__
        while trace is not None and (trace.tb_frame.f_code.co_filename == __file__ or "importlib" in trace.tb_frame.f_code.co_filename):
            trace = trace.tb_next
        traceback.print_exception(type(error), error, trace)
        backplane_client._send({"error": sentence_of(error, traceback.extract_tb(trace), file)})
        return 1
    return 0


def main(words):
    file, _, name = words[-1].rpartition(":")
    if words[0] == "--check":
        print(why_not(file, name))
        return 0
    sys.argv = [file]
    return run(file, name)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
