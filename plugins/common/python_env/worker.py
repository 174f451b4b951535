"""One env process of a plugin whose envs are written in Python: it runs every n-th row of a trial.

The plugin contains this text and starts it with these descriptors (numbers are little-endian):

    3  commands   b"S" or b"R", first row, row after the last (8 bytes each): step or reset my rows among them
                  another letter, a length (8 bytes), as many bytes: see Worker.ANSWERS
                  the end: no more commands
    4  replies    a length (4 bytes), as many bytes: none, or b"V" and an answer, or b"E" and an error (JSON, at most
                  64 KiB)
    5  memory     one array per channel, seeds and mask; the rows of one worker are adjacent
    6  this text
    7  a pipe that closes when the trial's process ends for any reason

Row r belongs to worker r % n, so a row's numbers do not depend on n. Its output goes to descriptors 1 and 2, as always.
"""

import copy
import errno
import faulthandler
import fcntl
import functools
import importlib
import importlib.metadata
import importlib.util
import json
import mmap
import os
import pickle
import signal
import struct
import sys
import traceback
import zlib

COMMANDS, REPLIES, MEMORY, SOURCE, LIFE = range(3, 8)
RANGE = struct.Struct("<BQQ")
HEADER = struct.Struct("<BQ")
STEP, RESET = b"S"[0], b"R"[0]
MOST_TRACEBACK = 2500  # characters of a traceback or message in an error


OUT_OF_MEMORY = b'E{"oom": true, "error": "MemoryError"}'  # prepared, because an error may leave no memory for its message


class Refusal(Exception):
    """The env cannot be used as configured; the message needs no traceback."""


def leave_with_the_trial():
    """Lets the kernel end this process when the trial's process ends, even during a step that hangs."""
    for fd in range(COMMANDS, LIFE + 1):
        os.set_inheritable(fd, False)  # processes that an env starts must not inherit it
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1, all_threads=True)  # sent when a call takes too long
    for ignored in (signal.SIGINT, signal.SIGTERM):  # the trial handles Ctrl-C
        signal.signal(ignored, signal.SIG_IGN)
    # SIGIO, which ends the process by default, comes when the other end of the pipe closes. PR_SET_PDEATHSIG would come when the
    # thread that started the worker ends. The owner belongs to the open file description, which all workers share, so reopen
    # the pipe.
    life = os.open(f"/proc/self/fd/{LIFE}", os.O_RDONLY | os.O_NONBLOCK)
    os.close(LIFE)
    fcntl.fcntl(life, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(life, fcntl.F_SETFL, fcntl.fcntl(life, fcntl.F_GETFL) | os.O_ASYNC)
    try:
        gone = os.read(life, 1) == b""
    except BlockingIOError:
        gone = False
    if gone:
        os._exit(0)


# ---- Envs by name or file


def named(name, places):
    """The class `name`: "module:Class", or "Class" in one of the places."""
    module, colon, attribute = name.rpartition(":")
    if colon:
        try:
            places = [importlib.import_module(module)]
        except ImportError as e:
            raise Refusal(f"cannot import '{name}': {e}") from e
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


# ---- Spaces as channels


def bounds(values):
    """One value if all elements are equal; JSON has no infinity."""
    flat = values.reshape(-1)
    if flat.size and (flat == flat[0]).all():
        flat = flat[:1]
    return [float(v) if numpy.isfinite(v) else str(float(v)) for v in flat]


def box_bounds(low, high):
    if numpy.isinf(low).all() and numpy.isinf(high).all():
        return {}
    low, high = bounds(low), bounds(high)
    n = max(len(low), len(high))
    return {"low": low * (n if len(low) == 1 else 1), "high": high * (n if len(high) == 1 else 1)}


def refuse_space(what, space):
    raise Refusal(
        f"{what}: expected Box, Discrete, MultiDiscrete, MultiBinary, or Dict and Tuple of them, got {type(space).__name__}; "
        "use a wrapper to convert it"
    )


def parts_of(space):
    """The spaces in a Dict or Tuple, by name; None for other spaces."""
    if isinstance(space, spaces.Dict):
        return list(space.spaces.items())
    if isinstance(space, spaces.Tuple):
        return [(str(i), part) for i, part in enumerate(space.spaces)]
    return None


def check_space(what, space):
    parts = parts_of(space)
    if parts is not None:
        for name, part in parts:
            check_space(f"{what}['{name}']", part)
    elif not isinstance(space, (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)):
        refuse_space(what, space)


class Observations:
    """One float32 channel: a Box unchanged, another space as flattened by gymnasium.spaces.flatten."""

    def __init__(self, space, what="observation_space"):
        check_space(what, space)
        self.space = space
        self.is_box = isinstance(space, spaces.Box)
        self.flat = space if self.is_box else spaces.flatten_space(space)
        self.shape = tuple(self.flat.shape)

    def channel(self):
        limits = box_bounds(numpy.asarray(self.flat.low, float), numpy.asarray(self.flat.high, float))
        return {"role": "obs", "name": "obs", "shape": self.shape, "dtype": "f32", "space": "box", **limits}

    def writers(self, view):
        """The target of each row's observation, for `writer[:] = obs`; if that raises, use `put`."""
        if self.is_box and len(self.shape) == 1 and self.space.dtype == numpy.float32:
            return [memoryview(row) for row in view]  # fastest, but accepts only this shape and type
        return [None] * len(view)

    def put(self, row, observation):
        value = numpy.asarray(observation if self.is_box else spaces.flatten(self.space, observation))
        if value.shape != self.shape:
            raise ValueError(f"expected an observation of shape {self.shape}, as in observation_space, got {value.shape}")
        row[...] = value


class Actions:
    """The action's leaves, each a channel; a single one is named 'action'."""

    def __init__(self, space, what="action_space"):
        check_space(what, space)
        self.space = space
        self.leaves = []
        self.build = self._add(space, "action")
        if len(self.leaves) == 1:
            self.leaves[0]["name"] = "action"

    def _add(self, space, name):
        """Records the leaves; returns a function that converts their arrays to a list of values of the space."""
        parts = parts_of(space)
        if parts is None:
            return self._leaf(space, name)
        builders = [self._add(part, f"{name}/{key}") for key, part in parts]
        keys = [key for key, _ in parts]
        is_dict = isinstance(space, spaces.Dict)

        def build(arrays):
            columns = zip(*(b(arrays) for b in builders))
            return [dict(zip(keys, values)) if is_dict else tuple(values) for values in columns]

        return build

    def _leaf(self, space, name):
        index = len(self.leaves)
        dtype = space.dtype
        leaf = {"role": "action", "name": name, "shape": tuple(space.shape)}
        self.leaves.append(leaf)
        if isinstance(space, spaces.Discrete):
            leaf.update(dtype="i32", space="discrete", nvec=[int(space.n)], shape=())
            start = int(space.start)
            # Plain integers: every env accepts them, and Space.contains is fastest for them.
            return lambda arrays: (arrays[index] + start if start else arrays[index]).tolist()
        if isinstance(space, spaces.MultiDiscrete):
            leaf.update(dtype="i32", space="multi_discrete", nvec=[int(n) for n in space.nvec.reshape(-1)])
            return lambda arrays: list(arrays[index].astype(dtype) + space.start)
        if isinstance(space, spaces.MultiBinary):
            leaf.update(dtype="u8", space="multi_binary")
            return lambda arrays: list(arrays[index].astype(dtype))
        leaf.update(dtype="f32", space="box", **box_bounds(numpy.asarray(space.low, float), numpy.asarray(space.high, float)))
        if numpy.issubdtype(dtype, numpy.integer):
            return lambda arrays: list(numpy.rint(arrays[index]).astype(dtype))
        # A copy, because an env may keep it and the next step overwrites the memory.
        return lambda arrays: list(arrays[index].astype(dtype))


# ---- Rows


class Rows:
    """The envs of a worker's rows, by index; common to all kinds of envs."""

    def __init__(self, make, n):
        self.make = make
        self.n = n
        self.envs = []
        self.at = -1  # current row, for errors
        self.seconds = 0.0

    def build(self):
        for self.at in range(self.n):
            self.envs.append(self.make())
        self.at = -1
        self.refresh()

    def refresh(self):
        self.steps = [env.step for env in self.envs]
        self.resets = [env.reset for env in self.envs]

    def get_states(self):
        states = []
        for self.at, env in enumerate(self.envs):
            states.append(pickle.dumps(env, protocol=5))
        self.at = -1
        return states

    def set_states(self, states):
        for self.at, state in enumerate(states):
            self.envs[self.at].close()
            self.envs[self.at] = pickle.loads(state)
        self.at = -1
        self.refresh()

    def close(self):
        for env in self.envs:
            env.close()


def seed_of(seed):
    """The low 31 bits, which every env accepts: many pass the seed to numpy.random.seed or to C."""
    return seed & 0x7FFFFFFF


class GymnasiumRows(Rows):
    """Rows of gymnasium.Env."""

    def describe(self, env):
        self.observations = Observations(env.observation_space)
        self.actions = Actions(env.action_space)
        number = {"name": "reward", "role": "reward", "shape": (), "dtype": "f32", "space": "box"}
        flags = [
            {"name": name, "role": name, "shape": (), "dtype": "u8", "space": "multi_binary"}
            for name in ("terminated", "truncated")
        ]
        return [self.observations.channel(), *self.actions.leaves, number, *flags]

    def bind(self, arrays):
        self.observed = arrays["obs"]
        self.writers = self.observations.writers(self.observed)
        self.acted = [arrays[leaf["name"]] for leaf in self.actions.leaves]
        self.rewards = memoryview(arrays["reward"])
        self.terminated = memoryview(arrays["terminated"]).cast("?")  # accepts any truth value
        self.truncated = memoryview(arrays["truncated"]).cast("?")

    def step(self, begin, end):
        steps, writers, rewards = self.steps, self.writers, self.rewards
        terminated, truncated = self.terminated, self.truncated
        i = begin - 1
        try:
            for i, action in enumerate(self.actions.build([a[begin:end] for a in self.acted]), begin):
                observation, reward, terminated[i], truncated[i], _ = steps[i](action)
                try:
                    rewards[i] = reward
                    writers[i][:] = observation
                except (TypeError, ValueError):
                    rewards[i] = float(reward)
                    self.observations.put(self.observed[i], observation)
        except BaseException:
            self.at = i if i >= begin else -1
            raise

    def reset(self, places, seeds):
        for i in places:
            self.at = i
            observation, _ = self.resets[i](seed=seed_of(seeds[i]))
            self.observations.put(self.observed[i], observation)
        self.at = -1

    def time_limit(self, env):
        """Steps after which a wrapper truncates an episode; 0: no wrapper does."""
        limits = []
        while isinstance(env, gymnasium.Wrapper):
            if isinstance(env, gymnasium.wrappers.TimeLimit):
                limits.append(int(env._max_episode_steps))
            env = env.env
        return min(limits, default=0)

    def goes_on(self, env):
        """Checks that a pickled copy steps like the env; returns the reason if it does not."""
        env.action_space.seed(0)
        env.reset(seed=0)
        env.step(env.action_space.sample())
        other = pickle.loads(pickle.dumps(env, protocol=5))
        action = env.action_space.sample()
        here, there = env.step(action), other.step(copy.deepcopy(action))
        same = all(
            numpy.array_equal(a, b)
            for a, b in [
                (spaces.flatten(env.observation_space, here[0]), spaces.flatten(env.observation_space, there[0])),
                *zip(here[1:4], there[1:4]),
            ]
        )
        return "" if same else "a copy by pickle steps differently"


class ParallelRows(Rows):
    """Rows of pettingzoo.ParallelEnv: arrays have a part for each possible agent, in order."""

    def describe(self, env):
        self.agents = list(env.possible_agents)
        observed = self.space_of_all(env.observation_space, "observation_space")
        self.masked = is_masked(observed)
        if self.masked:
            observed = observed["observation"]
        self.observations = Observations(observed)
        self.actions = Actions(self.space_of_all(env.action_space, "action_space"))
        self.has_state = True
        try:
            env.reset(seed=0)
            shape = numpy.asarray(env.state()).shape
        except (AttributeError, NotImplementedError):
            self.has_state = False
        agent = {"scope": "agent", "shape": ()}
        flag = {"dtype": "u8", "space": "multi_binary", "shape": ()}
        number = {"dtype": "f32", "space": "box"}
        channels = [self.observations.channel() | {"scope": "agent"}]
        channels += [leaf | {"scope": "agent"} for leaf in self.actions.leaves]
        if self.masked:
            shape_of_mask = (int(self.actions.space.n),)
            channels.append({"name": "action_mask", "role": "action_mask", "scope": "agent", **flag, "shape": shape_of_mask})
        channels.append({"name": "alive", "role": "alive", **flag, **agent})
        if self.has_state:
            channels.append({"name": "state", "role": "state", **number, "shape": shape})
        channels.append({"name": "reward", "role": "reward", **number, **agent})
        channels.append({"name": "agent_ended", "role": "info", **flag, **agent})
        channels += [{"name": name, "role": name, **flag} for name in ("terminated", "truncated")]
        return channels

    def space_of_all(self, space_of, what):
        """One policy controls all agents, so their spaces must be equal."""
        first = space_of(self.agents[0])
        for agent in self.agents[1:]:
            if space_of(agent) != first:
                raise Refusal(
                    f"{what}: expected the same space for all agents, got {first} for '{self.agents[0]}' and {space_of(agent)} for "
                    f"'{agent}'; use a wrapper to pad them"
                )
        return first

    def bind(self, arrays):
        self.arrays = arrays
        self.acted = [arrays[leaf["name"]] for leaf in self.actions.leaves]

    def show(self, i, observations, live):
        """Writes the observations of a row's agents; agents that have left get zeros."""
        arrays = self.arrays
        for a, agent in enumerate(self.agents):
            row = arrays["obs"][i, a]
            alive = agent in live and agent in observations
            arrays["alive"][i, a] = alive
            if not alive:
                row[...] = 0
                if self.masked:
                    arrays["action_mask"][i, a] = 1
                continue
            observation = observations[agent]
            if self.masked:
                arrays["action_mask"][i, a] = observation["action_mask"]
                observation = observation["observation"]
            self.observations.put(row, observation)
        if self.has_state:
            arrays["state"][i] = self.envs[i].state()

    def step(self, begin, end):
        arrays = self.arrays
        actions = self.actions.build([a[begin:end].reshape(-1, *a.shape[2:]) for a in self.acted])
        n = len(self.agents)
        for i in range(begin, end):
            self.at = i
            env = self.envs[i]
            live = list(env.agents)
            first = (i - begin) * n
            chosen = {agent: actions[first + a] for a, agent in enumerate(self.agents) if agent in live}
            observations, rewards, terminations, truncations, _ = self.steps[i](chosen)
            for a, agent in enumerate(self.agents):
                arrays["reward"][i, a] = rewards.get(agent, 0)
                arrays["agent_ended"][i, a] = bool(terminations.get(agent, False))
            is_over = not env.agents
            arrays["terminated"][i] = is_over and all(terminations.get(agent, False) for agent in live)
            arrays["truncated"][i] = is_over and not arrays["terminated"][i]
            # At the end of an episode, the agents that just left have the last observations.
            self.show(i, observations, set(live if is_over else env.agents))
        self.at = -1

    def reset(self, places, seeds):
        for i in places:
            self.at = i
            observations, _ = self.resets[i](seed=seed_of(seeds[i]))
            self.show(i, observations, set(self.envs[i].agents))
        self.at = -1

    def time_limit(self, env):
        """PettingZoo's own envs have `max_cycles`; 0: this env has none."""
        limit = getattr(getattr(env, "unwrapped", env), "max_cycles", None)
        return limit if isinstance(limit, int) and limit > 0 else 0

    def goes_on(self, env):
        for agent in self.agents:
            env.action_space(agent).seed(0)
        env.reset(seed=0)
        env.step({agent: env.action_space(agent).sample() for agent in env.agents})
        other = pickle.loads(pickle.dumps(env, protocol=5))
        actions = {agent: env.action_space(agent).sample() for agent in env.agents}
        here, there = env.step(actions), other.step(copy.deepcopy(actions))
        same = here[1:4] == there[1:4] and here[0].keys() == there[0].keys() and all(
            numpy.array_equal(spaces.flatten(env.observation_space(a), here[0][a]), spaces.flatten(env.observation_space(a), there[0][a]))
            for a in here[0]
        )
        return "" if same else "a copy by pickle steps differently"


def is_masked(space):
    """True for PettingZoo's observation with an action mask."""
    return isinstance(space, spaces.Dict) and set(space.spaces) == {"observation", "action_mask"}


def pettingzoo_maker(config):
    import pettingzoo  # noqa: F401 report its absence first

    places = []
    if config["file"]:
        module = module_of_file(config["file"])
        places.insert(0, module)
        make = class_in(module, config)
    else:
        try:
            module = importlib.import_module(config["id"])
        except ImportError as e:
            raise Refusal(f"id: {e}; expected a module with `parallel_env`, such as pettingzoo.butterfly.pistonball_v6") from e
        if not hasattr(module, "parallel_env"):
            raise Refusal(f"id: expected a Parallel env of PettingZoo, got '{config['id']}', which has no `parallel_env`")
        make = module.parallel_env

    def made(**more):
        env = make(**copy.deepcopy(config["kwargs"]), **more)
        for attribute in ("reset", "step", "observation_space", "action_space", "possible_agents"):
            if not hasattr(env, attribute):
                raise Refusal(f"expected a Parallel env of PettingZoo, got '{config['id'] or config['class']}', which has no '{attribute}'")
        return wrapped(env, config["wrappers"], places)

    return made


def class_in(module, config):
    if not hasattr(module, config["class"]):
        raise Refusal(f"class: '{config['class']}' is not in {config['file']}; envs in it: {classes_like_envs(module)}")
    return getattr(module, config["class"])


def gymnasium_maker(config):
    """Returns the function that creates the env of a row. Looks up wrappers in `places`."""
    import gymnasium

    places = [gymnasium.wrappers]
    if config["file"]:
        module = module_of_file(config["file"])
        places.insert(0, module)
        make = class_in(module, config)
    else:
        make = functools.partial(gymnasium.make, registered(gymnasium, config["id"]))

    def made(**more):
        env = make(**copy.deepcopy(config["kwargs"]), **more)
        for attribute in ("reset", "step", "observation_space", "action_space"):
            if not hasattr(env, attribute):
                raise Refusal(f"expected a Gymnasium env, got '{config['id'] or config['class']}', which has no '{attribute}'")
        return wrapped(env, config["wrappers"], places)

    return made


def registered(gymnasium, name):
    """The spec of an env by id, without the wrappers that only check callers."""
    module, colon, name = name.rpartition(":")
    try:
        if colon:
            importlib.import_module(module)
        spec = copy.deepcopy(gymnasium.spec(name))
    except (gymnasium.error.Error, ImportError) as e:
        raise Refusal(f"id: {e}") from e
    spec.order_enforce = False
    spec.disable_env_checker = True
    return spec


def png(pixels):
    """An image of numbers [height, width] or [height, width, 1, 3 or 4] as a PNG file."""
    pixels = numpy.ascontiguousarray(pixels, dtype=numpy.uint8)
    if pixels.ndim == 2:
        pixels = pixels[..., None]
    height, width, depth = pixels.shape
    colour = {1: 0, 3: 2, 4: 6}[depth]

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    lines = numpy.zeros((height, 1 + width * depth), numpy.uint8)  # each starts with its filter type: none
    lines[:, 1:] = pixels.reshape(height, -1)
    head = struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)
    data = zlib.compress(lines.tobytes(), 6)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


# ---- The process


KINDS = {"gymnasium": (gymnasium_maker, GymnasiumRows), "pettingzoo": (pettingzoo_maker, ParallelRows)}
TYPES = {"f32": "float32", "i32": "int32", "u8": "uint8"}


def read_exactly(n):
    data = b""
    while len(data) < n:
        more = os.read(COMMANDS, n - len(data))
        if not more:
            sys.exit(0)
        data += more
    return data


def write_all(data):
    view = memoryview(data)
    while view:
        view = view[os.write(REPLIES, view):]


def reply(body=b""):
    write_all(struct.pack("<I", len(body)) + body)


def shortened(text):
    return text if len(text) <= MOST_TRACEBACK else text[:200] + "\n  ...\n" + text[200 - MOST_TRACEBACK:]


class Worker:
    def create(self, text):
        """b"C" and the configuration: creates the envs of my rows. The first worker answers with a description."""
        global gymnasium, numpy, spaces
        config = json.loads(text)
        self.index, self.workers = config["worker"], config["workers"]
        try:
            import gymnasium.spaces
            import gymnasium.wrappers
            import numpy
        except ImportError as e:
            raise Refusal(f"python: {sys.executable}: a package is missing: {e}") from e
        spaces = gymnasium.spaces
        maker, rows = KINDS[config["kind"]]
        self.own = range(self.index, config["rows"], self.workers)
        self.make = maker(config)
        self.rows = rows(self.make, len(self.own))
        self.rows.build()
        self.channels = self.rows.describe(self.rows.envs[0])
        return json.dumps(self.describe()).encode() if self.index == 0 else b""

    def describe(self):
        """Describes the envs by probing a separate one, so that no row is affected."""
        sample = self.make()
        try:
            not_kept = self.rows.goes_on(sample)
        except Exception as e:  # an env's objects may raise anything when pickled
            not_kept = f"{type(e).__name__}: {e}"
        metadata = getattr(sample, "metadata", None) or {}
        modes = metadata.get("render_modes") or []
        said = {
            "agents": len(getattr(self.rows, "agents", [0])),
            "channels": self.channels,
            "versions": versions(),
            "not_kept": not_kept,
            "pictures": "rgb_array" in modes,
            "fps": float(metadata.get("render_fps") or 0),
            "max_episode_steps": self.rows.time_limit(sample),
        }
        sample.close()
        return said

    def bind(self, text):
        """b"L" and the offsets of each channel's array, the seeds and the mask in the shared memory."""
        layout = json.loads(text)
        self.memory = mmap.mmap(MEMORY, layout["bytes"])
        n = len(self.own)

        def array(key, shape, dtype):
            # The rows of the workers before me come first; row r is the r // workers-th of its worker.
            count = int(numpy.prod(shape, dtype=numpy.int64))
            first = layout["starts"][self.index] * count * numpy.dtype(dtype).itemsize
            flat = numpy.frombuffer(self.memory, dtype, n * count, layout["offsets"][key] + first)
            return flat.reshape((n, *shape))

        def channel(c):
            agents = (len(self.rows.agents),) if c.get("scope") == "agent" else ()
            return array(c["name"], (*agents, *c["shape"]), TYPES[c["dtype"]])

        self.rows.bind({c["name"]: channel(c) for c in self.channels})
        self.seeds = array("seeds", (), "uint64")
        self.mask = array("mask", (), "uint8")

    def size(self, _):
        """b"Z": width and height of a picture, from a separate env."""
        env = self.make(render_mode="rgb_array")
        env.reset(seed=0)
        height, width = numpy.asarray(env.render()).shape[:2]
        env.close()
        return struct.pack("<II", width, height)

    def picture(self, text):
        """b"P" and one of my rows: its picture as a PNG file."""
        env = self.rows.envs[self.place(struct.unpack("<Q", text)[0])]
        inner = env.unwrapped
        before = inner.render_mode
        inner.render_mode = "rgb_array"  # only here, because some envs are slower in that mode
        try:
            return png(env.render())
        finally:
            inner.render_mode = before

    def save(self, _):
        """b"G": a length and a pickle per row."""
        return b"".join(struct.pack("<Q", len(state)) + state for state in self.rows.get_states())

    def load(self, data):
        """b"U" and the output of `save` for my rows."""
        states, at = [], 0
        for _ in self.own:
            length, = struct.unpack_from("<Q", data, at)
            states.append(data[at + 8:at + 8 + length])
            at += 8 + length
        self.rows.set_states(states)

    ANSWERS = {b"C": create, b"L": bind, b"Z": size, b"P": picture, b"G": save, b"U": load}

    def place(self, row):
        """The index of my first row that is at least `row`."""
        return max(0, (row - self.index + self.workers - 1) // self.workers)

    def reset(self, begin, end):
        places = range(self.place(begin), self.place(end))
        mask = self.mask[places.start:places.stop].tolist()
        seeds = dict(zip(places, self.seeds[places.start:places.stop].tolist()))
        self.rows.reset([i for i, wanted in zip(places, mask) if wanted], seeds)

    def serve(self):
        done = struct.pack("<I", 0)
        while message := os.read(COMMANDS, RANGE.size):
            try:
                if message[0] in (STEP, RESET):
                    if len(message) < RANGE.size:
                        message += read_exactly(RANGE.size - len(message))
                    kind, begin, end = RANGE.unpack(message)
                    if kind == STEP:
                        self.rows.step(self.place(begin), self.place(end))
                    else:
                        self.reset(begin, end)
                    os.write(REPLIES, done)
                    continue
                if len(message) < HEADER.size:
                    message += read_exactly(HEADER.size - len(message))
                kind, length = HEADER.unpack_from(message)
                text = message[HEADER.size:] + read_exactly(HEADER.size + length - len(message))
                answer = self.ANSWERS[bytes([kind])](self, text)
                reply(b"" if answer is None else b"V" + answer)
            except BaseException as e:  # an env may also raise SystemExit
                if isinstance(e, SystemExit) and e.code == 0:
                    raise
                try:
                    said = self.report(e)
                except MemoryError:
                    said = OUT_OF_MEMORY
                reply(said)
        self.rows.close()

    def report(self, error):
        """The error as JSON, with the traceback from the first line outside this file."""
        place = self.rows.at if hasattr(self, "rows") else -1
        said = {
            "row": self.own[place] if place >= 0 else -1,
            "config": isinstance(error, Refusal),
            "oom": isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM),
        }
        if said["config"]:
            said |= {"row": -1, "error": shortened(str(error))}
        else:
            at = error.__traceback__
            while at.tb_next and at.tb_frame.f_code.co_filename == __file__:
                at = at.tb_next
            lines = "".join(traceback.format_exception(error.with_traceback(at))).rstrip()
            last = traceback.format_exception_only(error)[-1].strip()
            said |= {"error": shortened(last), "traceback": shortened(lines)}
        return b"E" + json.dumps(said).encode()


def main():
    leave_with_the_trial()
    if not getattr(sys.flags, "safe_path", False):
        del sys.path[0]  # the folder of this text, which does not exist
    Worker().serve()


if __name__ == "__main__":
    main()
