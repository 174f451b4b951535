"""Part of the worker programs: errors of Python as sentences for a person."""

PYTHON_OPTION = "env.options.python"

# Packages whose name differs from the module's. Others have the same name.
PIP_NAMES = {
    "Box2D": '"gymnasium[box2d]"',
    "PIL": "pillow",
    "ale_py": "ale-py",
    "cv2": "opencv-python-headless",
    "mujoco": '"gymnasium[mujoco]"',
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}
APIS = {  # an older API, and the present one
    "gymnasium": (
        "the API of gym before 0.26",
        "hint: `def reset(self, *, seed=None, options=None)` returns (observation, info), and `def step(self, action)` returns "
        "(observation, reward, terminated, truncated, info); a time limit sets truncated",
    ),
    "pettingzoo": (
        "an older API of PettingZoo",
        "hint: `def reset(self, seed=None, options=None)` returns (observations, infos), and `def step(self, actions)` returns "
        "(observations, rewards, terminations, truncations, infos), dicts by agent",
    ),
}


def short(path):
    """A file below a folder from which Python imports, without that folder."""
    folders = [folder for folder in sys.path if folder and path.startswith(folder + os.sep)]
    return path[len(max(folders, key=len)) + 1:] if folders else path


def is_library(path):
    standard = os.path.dirname(os.__file__) + os.sep
    return path.startswith(("<", standard)) or f"{os.sep}site-packages{os.sep}" in path


def place_of(error, of_library=True):
    """The user's line that raised, " (walk.py:31)", or else a library's; empty: neither."""
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({short(error.filename)}:{error.lineno})"
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename != __file__ and not f.filename.startswith("<")]
    own = [f for f in frames if not is_library(f.filename)] or (frames if of_library else [])
    return f" ({short(own[-1].filename)}:{own[-1].lineno})" if own else ""


def text_of(error):
    """The exception as the last line of a traceback, but without notes and the place of a SyntaxError."""
    kind = type(error)
    name = kind.__qualname__ if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}.{kind.__qualname__}"
    try:
        text = error.msg if isinstance(error, SyntaxError) else str(error)
    except Exception:
        text = "<its text cannot be read>"
    return f"{name}: {text}" if text else name


def sentence_of(error):
    first, line_break, rest = text_of(error).partition("\n")
    return first + place_of(error) + line_break + rest


def install_hint(package):
    """How to install a package for this interpreter."""
    python = shlex.quote(sys.executable)
    if sys.prefix == sys.base_prefix and os.path.exists(os.path.join(os.path.dirname(os.__file__), "EXTERNALLY-MANAGED")):
        venv = f"python3 -m venv .venv && .venv/bin/python -m pip install {package}"
        return f"hint: `{venv}`, then set {PYTHON_OPTION}: .venv/bin/python"
    return f"hint: `{python} -m pip install {package}`, or set {PYTHON_OPTION} to an interpreter that has it"


def cure(error):
    """A line with the command that installs the missing package behind an error; empty if none is missing."""
    seen = set()
    while error is not None and not isinstance(error, ModuleNotFoundError) and id(error) not in seen:
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    name = (getattr(error, "name", None) or "").partition(".")[0]
    if not name or name in sys.modules or importlib.util.find_spec(name) is not None:
        return ""  # a part of an installed package
    if name == "gym":
        return "\nhint: write `import gymnasium as gym`; gym has ended, and Gymnasium continues it"
    return "\n" + install_hint(PIP_NAMES.get(name, name))


def is_missing_package(error):
    """An import failed, or a package of Gymnasium reports its absence."""
    return isinstance(error, ImportError) or type(error).__name__ == "DependencyNotInstalled"


def is_out_of_memory(error):
    return isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM)


def broken_call(error, name=None):
    """The env's method, "reset" or "step", that its caller could not use; `name` if that is this file. None: another error."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames or not (frames[-1].filename == __file__ or is_library(frames[-1].filename)):
        return None
    called = re.search(r"\b(reset|step)s?\b *[\[(]", frames[-1].line or "")
    method = name if name and frames[-1].filename == __file__ else called and called[1]
    is_argument = isinstance(error, TypeError) and re.search(r"unexpected keyword argument '(seed|options)'", str(error))
    is_answer = isinstance(error, (TypeError, ValueError)) and "unpack" in str(error)
    return method if is_argument or is_answer else None


def of_older_api(kind):
    older, hint = APIS.get(kind, APIS["gymnasium"])
    return f"this is {older}\n{hint}"


def report(error, row, kind):
    """The error as a reply: JSON with a sentence and, unless the sentence is enough, the traceback outside this file."""
    if isinstance(error, Refusal):
        said = {"row": -1, "config": True, "error": str(error)}
    elif kind not in ("learner", "monitor") and (call := broken_call(error)) is not None:
        said = {"row": -1, "config": True, "error": f"{call}: {text_of(error)}: " + of_older_api(kind)}
    elif is_missing_package(error):
        said = {"row": -1, "config": True, "error": text_of(error) + place_of(error, of_library=False) + cure(error)}
    else:
        at = error.__traceback__
        while at is not None and at.tb_frame.f_code.co_filename.startswith((__file__, "<frozen importlib")):
            at = at.tb_next
        has_lines = at is not None or isinstance(error, SyntaxError)
        lines = traceback.format_exception(error.with_traceback(at)) if has_lines else []
        said = {"row": row, "config": False, "error": sentence_of(error), "traceback": shortened("".join(lines).rstrip())}
    said |= {"error": shortened(said["error"]), "oom": is_out_of_memory(error)}
    return b"E" + json.dumps(said).encode()


def shortened(text):
    text = text.encode("utf-8", "replace").decode()  # JSON does not allow lone surrogates
    return text if len(text) <= MOST_TRACEBACK else text[:200] + "\n  ...\n" + text[200 - MOST_TRACEBACK:]
