"""The program of monitor.python, after the parts that it shares with env processes: calls the functions of the user's file.

    3  commands   b"C" and a configuration (JSON): loads the file
                  b"M" and [function, argument] (JSON): calls one; an iteration is an object
                  the end: no more commands
    4  replies    b"V" and JSON: how the file was loaded, or the reason to end the trial, or null
                  b"E" and an error (JSON)
"""

PYTHON_OPTION = "options.python of the monitor"
CALLS = ("on_iteration", "sample", "finish")
PARTS = ("metrics", "episodes", "phases")


class Parts:
    """An object with these attributes: an iteration, or the trial."""

    def __init__(self, values):
        self.__dict__.update(values)

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


class Iteration(Parts):
    """number, env_steps, seconds, sps, ended, metrics, episodes (row, return), phases (thread, name, begin_s, seconds), left_out."""

    def __init__(self, values):
        super().__init__(values)
        self.metrics = {name: math.nan if value is None else value for name, value in self.metrics.items()}


class Trial(Parts):
    """id, attempt, attempt_dir, trial_dir."""


def monitor_in(config):
    """The user's functions: an instance of the class, or the module."""
    module = module_of_file(config["file"])
    if not config["class"]:
        if config["kwargs"]:
            raise Refusal("kwargs: expected `class`, whose constructor gets them, got none")
        return module
    if not isinstance(getattr(module, config["class"], None), type):
        own = [c.__name__ for c in vars(module).values() if isinstance(c, type) and c.__module__ == module.__name__]
        raise Refusal(f"class: '{config['class']}' is not in {config['file']}; classes in it: {', '.join(own) or 'none'}")
    return getattr(module, config["class"])(**config["kwargs"])


def class_hint(module):
    classes = [name for name, value in vars(module).items() if isinstance(value, type) and any(hasattr(value, call) for call in CALLS)]
    return f"\nhint: class: {classes[0]}" if classes else ""


def wanted_parts(monitor):
    parts = getattr(monitor, "wants", ("metrics",))
    if isinstance(parts, str) or not set(parts) <= set(PARTS):
        raise Refusal(f"wants: expected a list of {', '.join(PARTS)}, got {parts!r}")
    return list(parts)


class MonitorWorker:
    monitor, started = None, False

    def create(self, config):
        try:
            self.monitor, self.trial = monitor_in(config), Trial(config["trial"])
            calls = [name for name in CALLS if callable(getattr(self.monitor, name, None))]
            if not calls:
                raise Refusal(f"file: expected a function {', '.join(CALLS[:-1])} or {CALLS[-1]}, got none in {config['file']}"
                              + ("" if config["class"] else class_hint(self.monitor)))
            return {"calls": calls, "wants": wanted_parts(self.monitor)}
        except BaseException as error:  # the file may also call sys.exit
            said = json.loads(report(error, -1, "monitor")[1:])
            raise Refusal("\n".join(filter(None, (said["error"], said.get("traceback"))))) from error

    def call(self, message):
        name, argument = message
        if not self.started:
            self.started = True
            if callable(start := getattr(self.monitor, "start", None)):
                start(self.trial)
        reason = getattr(self.monitor, name)(Iteration(argument) if name == "on_iteration" else argument)
        if reason is not None and not isinstance(reason, str):
            raise Refusal(f"{name}: expected None or a string (the reason to end the trial), got {shortened(repr(reason))}")
        return reason

    def serve(self):
        calls = {b"C": self.create, b"M": self.call}
        while head := os.read(COMMANDS, HEADER.size):
            kind, length = HEADER.unpack(head + read_exactly(HEADER.size - len(head)))
            text = read_exactly(length)
            try:
                reply(b"V" + json.dumps(calls[bytes([kind])](json.loads(text))).encode())
            except BaseException as error:  # a file may also call sys.exit
                reply(report(error, -1, "monitor"))


if __name__ == "__main__":
    prepare()
    MonitorWorker().serve()
