"""Part of the env processes' program: answers the messages of the trial's process."""


KINDS = {
    "gymnasium": (gymnasium_maker, GymnasiumRows),
    "pettingzoo": (pettingzoo_maker, ParallelRows),
    "vector": (vector_maker, VectorRows),
}
TYPES = {"f32": "float32", "i32": "int32", "u8": "uint8"}


class Worker:
    kind, rows = "gymnasium", None  # until the configuration is known

    def create(self, text):
        """b"C" and the configuration: creates the envs of my rows. The first worker answers with a description."""
        global gymnasium, numpy, spaces
        config = self.config = json.loads(text)
        self.index, self.workers = config["worker"], config["workers"]
        try:
            import gymnasium.spaces
            import gymnasium.wrappers
            import numpy
        except ImportError as e:
            raise Refusal(f"python: {sys.executable}: a package is missing: {e}{cure(e)}") from e
        spaces = gymnasium.spaces
        self.kind, self.ends_episodes = config["kind"], config["on_error"] == "end_episode"
        maker, rows = KINDS[self.kind]
        self.own = range(self.index, config["rows"], self.workers)
        self.make = maker(config)
        self.rows = rows(self.make, len(self.own), config["observations"] == "named")
        self.rows.build()
        self.channels = self.rows.describe(self.rows.envs[0])
        if self.ends_episodes:
            self.channels.append(ERROR_CHANNEL)
        return json.dumps(self.describe()).encode() if self.index == 0 else b""

    def describe(self):
        """Describes the envs by probing one that is no row, unless one env has all rows."""
        sample = self.rows.sample()
        warnings = self.rows.probe(sample, self.config)
        not_kept, records = self.rows.how_kept()
        metadata = getattr(sample, "metadata", None) or {}
        modes = metadata.get("render_modes") or []
        said = {
            "agents": len(getattr(self.rows, "agents", [0])),
            "groups": [[group.name, len(group.agents)] for group in getattr(self.rows, "groups", []) if group.name],
            "agent_names": [str(agent) for agent in getattr(self.rows, "agents", [])],
            "channels": self.channels,
            "versions": versions(),
            "warnings": warnings,
            "not_kept": not_kept,
            "records": records,
            "pictures": self.rows.DRAWS and "rgb_array" in modes,
            "fps": float(metadata.get("render_fps") or 0),
            "max_episode_steps": self.rows.time_limit(sample),
        }
        if all(sample is not env for env in self.rows.envs):
            sample.close()
        return said

    def bind(self, text):
        """b"L" and the offsets of each channel's array, the seeds and the mask in the shared memory; and how rows are saved."""
        layout = json.loads(text)
        if layout["records"]:
            self.rows.record()
        self.memory = mmap.mmap(MEMORY, layout["bytes"])
        n = len(self.own)

        def array(key, shape, dtype):
            # The rows of the workers before me come first; row r is the r // workers-th of its worker.
            count = int(numpy.prod(shape, dtype=numpy.int64))
            first = layout["starts"][self.index] * count * numpy.dtype(dtype).itemsize
            flat = numpy.frombuffer(self.memory, dtype, n * count, layout["offsets"][key] + first)
            return flat.reshape((n, *shape))

        def channel(c):
            of_group = c.get("group", 0)
            owners = self.rows.groups[of_group - 1].agents if of_group else getattr(self.rows, "agents", [])
            agents = (len(owners),) if c.get("scope") == "agent" else ()
            return array(c["name"], (*agents, *c["shape"]), TYPES[c["dtype"]])

        self.rows.bind({c["name"]: channel(c) for c in self.channels})
        self.rows.next_seeds = memoryview(array("next_seeds", (), "uint64"))
        self.rows.next = memoryview(array("next", (), "uint8"))
        self.rows.starts_early = not self.ends_episodes  # an error in a reset would be one of the step
        arrays = {c["name"]: channel(c) for c in self.channels}
        self.play = EndingRows(self.rows, arrays, self.channels) if self.ends_episodes else self.rows
        self.seeds = memoryview(array("seeds", (), "uint64"))  # its items are integers of Python
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
        begin, end = self.rows.playing = (self.place(begin), self.place(end))
        self.play.reset((numpy.flatnonzero(self.mask[begin:end]) + begin).tolist(), self.seeds)

    def serve(self):
        done = struct.pack("<I", 0)
        while message := os.read(COMMANDS, RANGE.size):
            try:
                if message[0] in (STEP, RESET):
                    if len(message) < RANGE.size:
                        message += read_exactly(RANGE.size - len(message))
                    kind, begin, end = RANGE.unpack(message)
                    if kind == STEP:
                        self.play.step(self.place(begin), self.place(end))
                    else:
                        self.reset(begin, end)
                    self.reply_with_notices() if self.rows.notices else os.write(REPLIES, done)
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
                    place = self.rows.at if self.rows else -1
                    said = report(e, self.own[place] if place >= 0 else -1, self.kind)
                except MemoryError:
                    said = OUT_OF_MEMORY
                reply(said)
        if self.rows:
            self.rows.close()

    def reply_with_notices(self):
        """b"N" and [kind, row, sentence] of each notice."""
        notices = [[kind, self.own[i] if i >= 0 else -1, sentence] for kind, i, sentence in self.rows.notices]
        self.rows.notices = []
        reply(b"N" + json.dumps(notices).encode())


if __name__ == "__main__":
    prepare()
    Worker().serve()
