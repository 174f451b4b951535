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
