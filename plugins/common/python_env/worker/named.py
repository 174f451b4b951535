"""Part of the env processes' program: finds envs and wrappers by name or in a file."""


def named(name, places):
    """The class `name`: "module:Class", or "Class" in one of the places."""
    module, colon, attribute = name.rpartition(":")
    if colon:
        try:
            places = [importlib.import_module(module)]
        except ImportError as e:
            raise Refusal(f"cannot import '{name}': {e}{cure(e)}") from e
    for place in places:
        if hasattr(place, attribute):
            return getattr(place, attribute)
    where = " or ".join(place.__name__ for place in places)
    raise Refusal(f"'{attribute}' is not in {where}")


def module_of_file(path):
    folder, file = os.path.split(path)
    name = os.path.splitext(file)[0]
    if name in sys.modules or importlib.util.find_spec(name) is not None:
        name = "env_" + name  # it may have the name of a package that it imports
    sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None:
        raise Refusal(f"file: expected a Python file, got '{path}'")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # for pickle
    spec.loader.exec_module(module)
    return module


def classes_like_envs(module):
    own = [c for c in vars(module).values() if isinstance(c, type) and c.__module__ == module.__name__]
    return ", ".join(c.__name__ for c in own if hasattr(c, "step") and hasattr(c, "reset")) or "none"


def wrapped(env, wrappers, places):
    """`wrappers` is a list of names, or of mappings of one name to its arguments, innermost first."""
    for entry in wrappers:
        if isinstance(entry, dict) and len(entry) == 1:
            (name, arguments), = entry.items()
        else:
            name, arguments = entry, {}
        if not isinstance(name, str) or not isinstance(arguments or {}, dict):
            raise Refusal(f"wrappers: expected a name, or {{name: {{argument: value}}}}, got {json.dumps(entry)}")
        try:
            env = named(name, places)(env, **(arguments or {}))
        except Refusal as e:
            raise Refusal(f"wrappers: {e}") from e
    return env


def versions():
    """Versions of the code in use: facts in which two trials may differ."""
    found = {"python": ".".join(map(str, sys.version_info[:3]))}
    tops = {name.partition(".")[0] for name in sys.modules}
    for name in sorted(tops - set(sys.stdlib_module_names)):
        if name.startswith("_"):
            continue
        try:
            version = importlib.metadata.version(name)
        except (importlib.metadata.PackageNotFoundError, ValueError):
            version = getattr(sys.modules[name], "__version__", None)
        if isinstance(version, str):
            found[name] = version
    return found


def class_in(module, config):
    if not hasattr(module, config["class"]):
        raise Refusal(f"class: '{config['class']}' is not in {config['file']}; envs in it: {classes_like_envs(module)}")
    return getattr(module, config["class"])
