"""Part of the env processes' program: the rows of a process, whatever their kind of env."""


class Rows:
    """The envs of a worker's rows, by index; common to all kinds of envs."""

    DRAWS = True  # films need an env per row

    def __init__(self, make, n):
        self.make = make
        self.n = n
        self.envs = []
        self.at = -1  # current row, for errors
        self.playing = (0, 0)  # range of the last reset
        self.seconds = 0.0

    def build(self):
        for self.at in range(self.n):
            self.envs.append(self.make())
        self.at = -1
        self.refresh()

    def refresh(self):
        self.steps = [env.step for env in self.envs]
        self.resets = [env.reset for env in self.envs]

    def sample(self):
        """An env to probe, so that no row is affected."""
        return self.make()

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
