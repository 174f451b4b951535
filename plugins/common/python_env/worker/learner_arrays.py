"""Part of the program of learner.python: the host's tensors as arrays, and the objects that the user's methods get."""

HOST = 1 << 63  # set in a place in the host's memory; else it is in the memory that the plugin copies to


class Channel:
    """name, role, space, scope, shape of one row, dtype, low, high (arrays or None), n (choices of DISCRETE), nvec."""

    def __init__(self, said, agents):
        self.name, self.role, self.space, self.scope = said["name"], said["role"], said["space"], said["scope"]
        self.own_shape = tuple(said["shape"])  # without the agents
        self.shape = ((agents,) if self.scope == "agent" else ()) + self.own_shape
        self.dtype = numpy.dtype(said["dtype"])
        self.low, self.high = (self.bounds(said[side]) for side in ("low", "high"))
        self.nvec = numpy.array(said["nvec"]) if said["nvec"] else None
        self.n = said["nvec"][0] if self.space in ("discrete", "tokens") else None

    def bounds(self, said):
        """One number for all elements, or one each; infinity is text."""
        if not said:
            return None
        values = numpy.array([float(bound) for bound in said], numpy.float32)
        return numpy.broadcast_to(values.reshape(self.own_shape) if len(said) > 1 else values[0], self.shape)

    def __repr__(self):
        return f"Channel({self.name!r}, {self.role}, {self.space}, shape={self.shape}, {self.dtype})"


class Env:
    """rows, agents, max_episode_steps (0: no limit), seed of the trial, channels by name; obs and action are the first of their role."""

    def __init__(self, said):
        self.rows, self.agents, self.seed, self.max_episode_steps = (said[k] for k in ("rows", "agents", "seed", "max_episode_steps"))
        self.channels = {c["name"]: Channel(c, self.agents) for c in said["channels"]}
        self.obs, self.action = self.first("obs"), self.first("action")

    def first(self, role):
        return next((c for c in self.channels.values() if c.role == role), None)

    def of_role(self, *roles):
        return [c.name for c in self.channels.values() if c.role in roles]

    def __getitem__(self, name):
        return self.channels[name]


class Batch(dict):
    """Arrays by channel, which are attributes, too: batch["obs"] is batch.obs."""

    _rng = None

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"no channel '{name}' here; there are {', '.join(self) or 'none'}") from None

    @property
    def rng(self):
        """A generator of NumPy that depends only on the trial's seed, the step and the first row."""
        if self._rng is None:
            self._rng = numpy.random.Generator(numpy.random.Philox(key=self.seed | self.step << 64, counter=[0, 0, 0, self.begin]))
        return self._rng


class Limits:
    """The host's limits in `plan`, with C's names. None: no such limit."""

    def __init__(self, said):
        self.__dict__.update(said)


class Memories:
    """Maps the host's memory and the plugin's, and maps them again when they have grown."""

    def __init__(self):
        self.maps = {MEMORY: None, HOST_MEMORY: None}

    def view(self, place, dtype, shape, strides=None):
        """strides: in bytes; None: contiguous."""
        fd, offset = (HOST_MEMORY, place - HOST) if place & HOST else (MEMORY, place)
        steps = strides or [math.prod(shape[i + 1:]) * dtype.itemsize for i in range(len(shape))]
        end = offset + dtype.itemsize + sum((n - 1) * step for n, step in zip(shape, steps)) if math.prod(shape) else offset
        if end == offset:
            return numpy.zeros(shape, dtype)
        if self.maps[fd] is None or end > len(self.maps[fd]):
            self.maps[fd] = mmap.mmap(fd, os.fstat(fd).st_size)  # older views keep the older map
        return numpy.ndarray(shape, dtype, self.maps[fd], offset, steps)


def as_array(value):
    """An array or tensor of the user as NumPy's."""
    return value.detach().cpu().numpy() if is_tensor(value) else numpy.asarray(value)


def fill(name, to, value):
    """Writes an output of `act`, of the same shape."""
    value = as_array(value)
    if value.shape != to.shape:
        raise Refusal(f"act: '{name}': expected shape {to.shape}, got {value.shape}")
    try:
        numpy.copyto(to, value, casting="same_kind")
    except TypeError:
        raise Refusal(f"act: '{name}': expected numbers that fit {to.dtype}, got {value.dtype}") from None


def mixed(*numbers):
    """A number of 64 bits from several: splitmix64."""
    x = 0
    for number in numbers:
        x = (x ^ number) + 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
        x = (x ^ x >> 27) * 0x94D049BB133111EB & 0xFFFFFFFFFFFFFFFF
        x ^= x >> 31
    return x


def seed_generators(*numbers):
    """Seeds the global generators, so that a call's random numbers do not depend on earlier calls: a resumed trial, or one with an
    evaluation more, draws the same numbers."""
    seed = mixed(*numbers)
    random.seed(seed)
    numpy.random.seed(seed & 0xFFFFFFFF)
    if (torch := sys.modules.get("torch")) is not None and hasattr(torch, "default_generator"):
        torch.default_generator.manual_seed(seed >> 1)
        if torch.cuda.is_initialized():
            torch.cuda.manual_seed_all(seed >> 1)
