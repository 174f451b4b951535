"""Part of the env processes' program: the rows of a process, whatever their kind of env."""


# States of a row's next episode; python_env.cpp sets the first two.
UNKNOWN, OFFERED, STARTED, STARTED_AS_IT_CHOSE = range(4)


class Rows:
    """The envs of a worker's rows, by index; common to all kinds of envs."""

    DRAWS = True  # films need an env per row

    def __init__(self, make, n, named):
        self.make = make
        self.n = n
        self.named = named  # a channel per part of an observation
        self.envs = []
        self.records = False  # rows are Recorders
        self.starts_early = True  # the next episode within the step that ends one, if its seed is known
        self.at = -1  # current row, for errors
        self.playing = (0, 0)  # range of the last reset
        self.seconds = 0.0
        self.notices = []  # [kind, index of the row, sentence], sent with the next reply
        self.noticed = set()

    def notice(self, kind, sentence):
        """Reports a kind of event once."""
        if kind not in self.noticed:
            self.noticed.add(kind)
            self.notices.append([kind, self.at, sentence])

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

    def probe(self, env, config):
        """Raises an error for an env that no trial can use; returns warnings."""
        return probe(self.make, env, config)

    def get_states(self):
        states = []
        for self.at, env in enumerate(self.envs):
            states.append(pickle.dumps(env.recorded() if isinstance(env, Recorder) else env, protocol=5))
        self.at = -1
        return states

    def set_states(self, states):
        for self.at, state in enumerate(states):
            self.envs[self.at].close()
            self.envs[self.at] = self.restored(pickle.loads(state))
        self.at = -1
        self.refresh()

    def restored(self, state):
        if not isinstance(state, tuple):
            return state
        env = Recorder(self.make())
        if not env.play_recorded(state):
            warnings.warn("an episode was played again, but its last step differs: this resume is not exact")
        return env

    def how_kept(self):
        """Why rows cannot be saved ("": they can), and whether as actions, because pickle does not keep the env."""
        sample = self.make()
        try:
            reason = self.goes_on(sample)
        except Exception as e:  # an env's objects may raise anything when pickled
            reason = f"{type(e).__name__}: {e}"
        finally:
            sample.close()
        if not reason:
            return "", False
        try:
            if not replays(self.make):
                return f"{reason}; equal seeds and actions give different steps", False
        except Exception as e:
            return f"{reason}; replay: {type(e).__name__}: {e}", False
        return "", True

    def record(self):
        """Saves rows as actions from now on."""
        self.envs, self.records = [Recorder(env) for env in self.envs], True
        self.refresh()

    def replace(self, i):
        """Creates the env of a row again, because an error may have left it unusable."""
        try:
            self.envs[i].close()
        except Exception:
            pass  # it is broken
        self.envs[i] = Recorder(self.make()) if self.records else self.make()
        self.refresh()

    def close(self):
        for env in self.envs:
            env.close()


def first_of(channels):
    """Arrays for the first observations of next episodes, until the host resets the rows. They are no channels of the trial."""
    return [{**one, "role": "first", "name": "first/" + one["name"], "of": one["name"]} for one in channels]


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
