"""Part of the env processes' program: spaces as channels."""


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
    if type(space).__module__.startswith("gym."):
        raise Refusal(f"{what}: expected a space of gymnasium, got one of gym\nhint: write `import gymnasium as gym`")
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


class Part:
    """A space in an observation that contains no others; `where` names it in errors."""

    def __init__(self, space, where, path, notice):
        self.space, self.where, self.path, self.notice = space, where, path, notice
        if isinstance(space, (spaces.Box, spaces.MultiBinary)):
            self.shape = self.own_shape = tuple(space.shape)
            self.write = self.numbers if isinstance(space, spaces.Box) else self.bits
            return
        is_choice = isinstance(space, spaces.Discrete)
        self.start = numpy.asarray(space.start, numpy.int64).reshape(-1)
        self.choices = numpy.asarray(space.n if is_choice else space.nvec, numpy.int64).reshape(-1)
        self.first = numpy.cumsum(self.choices) - self.choices
        self.low, self.n = int(self.start[0]), int(self.choices[0])
        self.shape = (int(self.choices.sum()),)
        self.write = self.choice if is_choice else self.one_hot

    def refuse(self, expected, got):
        raise ValueError(f"{self.where}: expected {expected}, as in observation_space, got {got}")

    def array(self, value):
        value = numpy.asarray(value)
        if value.shape != self.own_shape:
            self.refuse(f"an observation of shape {self.own_shape}", value.shape)
        return value

    # The writers: `out` is an array of at least one dimension.

    def numbers(self, out, value):
        value = self.array(value)
        if value.dtype == numpy.float64 and self.notice:
            self.notice("cast", f"{self.where} is float64 and is cast to float32")
            self.notice = None
        out[...] = value if value.shape == out.shape else value.reshape(out.shape)

    def bytes(self, out, value):
        value = self.array(value)
        if value.dtype != numpy.uint8:
            whole = value.astype(numpy.uint8)
            if not numpy.array_equal(whole, value):
                self.refuse("whole numbers from 0 to 255", f"{value.dtype} with {value[whole != value].flat[0]}")
            value = whole
        out[...] = value.reshape(out.shape)

    def bits(self, out, value):
        value = self.array(value)
        if not ((value == 0) | (value == 1)).all():
            self.refuse("0 or 1", value.tolist())
        out[...] = value.reshape(out.shape)

    def choice(self, out, value):
        try:
            at = operator.index(value) - self.low
        except TypeError:
            return self.one_hot(out, value)
        if not 0 <= at < self.n:
            self.refuse_choice(0, value)
        out.fill(0)
        out[at] = 1

    def one_hot(self, out, value):
        value = numpy.asarray(value)
        if value.dtype.kind not in "iub" or value.size != len(self.choices):
            self.refuse("a whole number" if self.space.shape == () else f"{len(self.choices)} whole numbers", value.tolist())
        at = value.reshape(-1).astype(numpy.int64) - self.start
        outside = (at < 0) | (at >= self.choices)
        if outside.any():
            k = int(numpy.argmax(outside))
            self.refuse_choice(k, value.reshape(-1)[k])
        out.fill(0)
        out[self.first + at] = 1

    def refuse_choice(self, k, value):
        each = "a number" if self.space.shape == () else f"number {k}"
        low = int(self.start[k])
        self.refuse(f"{each} from {low} to {low + int(self.choices[k]) - 1}", int(value))


class Observations:
    """Channels of an observation: `obs` with all parts in the space's order, or with `named` one per part, "obs/NAME".

    A Box has its shape, all other spaces are vectors as gymnasium.spaces.flatten returns them. Numbers are float32. A uint8 Box stays
    uint8 if it is a channel of its own.
    """

    def __init__(self, space, named, notice):
        check_space("observation_space", space)
        self.space = space
        self.parts = []
        self._add(space, "observation", (), notice)
        self.is_flat = parts_of(space) is not None and not named

    def _add(self, space, where, path, notice):
        parts = parts_of(space)
        if parts is None:
            self.parts.append(Part(space, where, path, notice))
            return
        keys = space.spaces if isinstance(space, spaces.Dict) else range(len(parts))
        for key, (_, part) in zip(keys, parts):
            self._add(part, f"{where}[{key!r}]", (*path, key), notice)

    def channels(self):
        if self.is_flat:
            flat = spaces.flatten_space(self.space)
            return [self._channel("obs", flat, self.named_ranges())]
        return [self._channel("/".join(["obs", *map(str, p.path)]), p.space, [[p.where, 0, list(p.shape)]]) for p in self.parts]

    def _channel(self, name, space, parts):
        is_box = isinstance(space, spaces.Box)
        box = space if is_box else spaces.flatten_space(space)
        limits = box_bounds(numpy.asarray(box.low, float), numpy.asarray(box.high, float))
        dtype = "u8" if is_box and space.dtype == numpy.uint8 and not self.is_flat else "f32"
        return {"role": "obs", "name": name, "shape": tuple(box.shape), "dtype": dtype, "space": "box", **limits, "parts": parts}

    def named_ranges(self):
        """The name, first number and shape of each part in the one channel."""
        ranges, first = [], 0
        for part in self.parts:
            ranges.append([part.where, first, list(part.shape)])
            first += int(numpy.prod(part.shape, dtype=numpy.int64))
        return ranges

    def bind(self, arrays):
        """`arrays`: by channel, [rows, ...] or [rows, agents, ...]."""
        if self.is_flat:
            sizes = [(first, first + int(numpy.prod(shape, dtype=numpy.int64))) for _, first, shape in self.named_ranges()]
            self.views = [arrays["obs"][..., begin:end] for begin, end in sizes]
        else:
            views = [arrays[channel["name"]] for channel in self.channels()]
            self.views = [view if part.shape else view[..., None] for part, view in zip(self.parts, views)]
        for part, view in zip(self.parts, self.views):
            if view.dtype == numpy.uint8:
                part.write = part.bytes

    def writers(self):
        """The target of each row's observation, for `writer[:] = obs`; if that raises, use `put`."""
        view = self.views[0]
        is_vector = isinstance(self.space, spaces.Box) and len(self.space.shape) == 1
        if is_vector and self.space.dtype == view.dtype:
            return [memoryview(row) for row in view]  # fastest, but accepts only this shape and type
        return [None] * len(view)

    def put(self, at, observation):
        """Writes the observation at an index: of a row, or of a row and its agent."""
        for part, view in zip(self.parts, self.views):
            part.write(view[at], self.value_of(part, observation) if part.path else observation)

    def value_of(self, part, observation):
        value = observation
        try:
            for key in part.path:
                value = value[key]
        except (KeyError, IndexError, TypeError):
            part.refuse("this part", f"a {type(observation).__name__} without it")
        return value

    def clear(self, at):
        for view in self.views:
            view[at] = 0


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
        rounded = numpy.rint if numpy.issubdtype(dtype, numpy.integer) else lambda numbers: numbers
        # A copy, because an env may keep it and the next step overwrites the memory.
        if space.shape == ():
            return lambda arrays: [numpy.asarray(number) for number in rounded(arrays[index]).astype(dtype)]
        return lambda arrays: list(rounded(arrays[index]).astype(dtype))
