"""The program of learner.python, after the parts that it shares with env processes: calls the methods of the user's class.

    3  commands   b"C" and a configuration (JSON): loads the file and creates the learner
                  b"A", numbers of the call (ACT) and a place per input and output: act
                  b"P" and limits (JSON): plan; b"D" and a delivery (JSON): consume
                  b"G": save; b"U" and the bytes of a save: load
                  the end: no more commands
    4  replies    no bytes for act and load, b"V" and JSON for create, plan and consume, b"V" and bytes for save
                  b"E" and an error (JSON)
    5  memory     copies of tensors that are not in the host's
    8  memory     the host's buffers, if it shares them
"""

import random

PYTHON_OPTION = "learner.options.python"
HOST_MEMORY = 8
MOST_STATE_BYTES = 2**32 - 2  # of a reply with its first byte
ACT = struct.Struct("<QQQQQQQ")  # begin, end, flags, seed, step, row_base, place of the candidates or NONE
NONE = (1 << 64) - 1
GREEDY = 1
KINDS = {"rollout": 1, "evaluate": 2, "data": 3, "tick": 4, "save": 5, "done": 6}
OF_ONE_NUMBER = {"rollout": "horizon", "tick": "phase", "save": "tag"}  # {"rollout": 128} is {"rollout": {"horizon": 128}}
NEEDED = {"rollout": ["horizon"], "evaluate": ["candidates", "seeds"], "data": ["group_rows"], "tick": ["phase"], "save": ["tag"], "done": []}
OPTIONAL = {"rollout": ["part"], "evaluate": ["episodes_each", "chunk", "max_steps"], "data": ["micro_batch", "sort", "drop_last"]}
OF_ACT, OF_CONSUME, OF_START = 1, 2, 3  # purposes of random numbers
MOST_VIEWS = 1 << 14  # kept per call of `act`


def class_of(config):
    module = module_of_file(config["file"])
    found = getattr(module, config["class"], None)
    if not isinstance(found, type):
        own = [c.__name__ for c in vars(module).values() if isinstance(c, type) and c.__module__ == module.__name__]
        raise Refusal(f"class: '{config['class']}' is not in {config['file']}; classes in it: {', '.join(own) or 'none'}")
    for method in ("act", "consume"):
        if not callable(getattr(found, method, None)):
            raise Refusal(f"class: '{config['class']}' has no method {method}(self, {'inputs' if method == 'act' else 'delivery'})")
    return found


def request_of(answer):
    """What `plan` returned, as the members of bp_request: 128, {"rollout": 128}, {"tick": "update_backward"}, or None for the end."""
    if type(answer) is int:
        answer = {"rollout": answer}
    if answer is None or answer == "done":
        answer = {"done": {}}
    wanted = "a number of steps, None, or one of " + ", ".join(f"{{{kind!r}: ...}}" for kind in KINDS)
    if not isinstance(answer, dict) or len(answer) != 1 or next(iter(answer)) not in KINDS:
        raise Refusal(f"plan: expected {wanted}, got {shortened(repr(answer))}")
    (kind, members), = answer.items()
    if not isinstance(members, dict):
        members = {OF_ONE_NUMBER.get(kind, ""): members}
    wrong = [name for name in NEEDED[kind] if name not in members]
    wrong += [name for name in members if name not in NEEDED[kind] + OPTIONAL.get(kind, [])]
    if wrong:
        raise Refusal(f"plan: {kind}: expected {', '.join(NEEDED[kind])} and perhaps {', '.join(OPTIONAL.get(kind, [])) or 'no more'}, "
                      f"got {', '.join(members) or 'none'}")
    if kind == "evaluate":
        members["seeds"] = [int(seed) for seed in as_array(members["seeds"]).reshape(-1)]
    members = {name: value if isinstance(value, (str, list)) else int(value) for name, value in members.items()}
    for name, value in members.items():
        if isinstance(value, int) and value < 0:
            raise Refusal(f"plan: {kind}: {name}: expected 0 or more, got {value}")
    return {"kind": KINDS[kind], **members}


class LearnerWorker:
    learner = None

    def create(self, config):
        self.env, self.memories, self.views, self.metrics = Env(config["env"]), Memories(), {}, []
        self.consumed = (0, 0)  # env steps of the last request for data, and deliveries since
        try:
            os.set_inheritable(HOST_MEMORY, False)  # processes that the file starts must not keep it
        except OSError:
            pass  # the host does not share its buffers
        try:
            seed_generators(self.env.seed, OF_START)
            kind = class_of(config)
            seed_generators(self.env.seed, OF_START)  # packages may have been imported only now
            if "torch" in sys.modules:
                sys.modules["torch"].set_num_threads(config["threads"])
            self.learner = kind(self.env, **config["kwargs"])
            return self.spec()
        except BaseException as error:  # the file may also call sys.exit
            if is_out_of_memory(error):
                raise
            said = json.loads(report(error, -1, "learner")[1:])
            raise Refusal("\n".join(filter(None, (said["error"], said.get("traceback"))))) from error

    def spec(self):
        learner, env = self.learner, self.env
        self.extra, self.carry = self.outputs("extra"), self.outputs("carry")
        inputs = list(getattr(learner, "act_in", env.of_role("obs", "action_mask", "alive")))
        self.known([name for name in inputs if name not in self.carry], "act_in")
        inputs = [name for name in inputs if name not in self.carry]
        usual = [c.name for c in env.channels.values() if c.role not in ("info", "final_obs", "final_state")]
        keep = list(getattr(learner, "keep", dict.fromkeys([*usual, "truncated"])))
        self.known([name for name in keep if name not in ("truncated", *self.extra, *self.carry)], "keep")
        self.inputs = {name: env[name] for name in inputs} | self.carry
        self.actions = env.of_role("action")
        self.channels = {name: env[name] for name in self.actions} | self.extra | self.carry
        saves = callable(getattr(learner, "save", None)), callable(getattr(learner, "load", None))
        if saves[0] != saves[1]:
            raise Refusal(f"class: expected save and load, or neither, got only {'save' if saves[0] else 'load'}")
        if not callable(getattr(learner, "plan", None)) and not hasattr(learner, "horizon"):
            raise Refusal("class: expected `horizon`, the steps of each rollout, or a method plan(self, limits), got neither")
        return {"act_in": inputs, "keep": [name for name in keep if name not in (*self.extra, *self.carry)],
                "extra": [[c.name, list(c.own_shape), c.scope] for c in self.extra.values()],
                "carry": [[c.name, list(c.own_shape), c.scope] for c in self.carry.values()],
                "n_params": int(getattr(learner, "n_params", 0)), "metrics": list(getattr(learner, "metrics", [])),
                "evaluation_rows": int(getattr(learner, "evaluation_rows", 0)), "obs_moments": bool(getattr(learner, "obs_moments", False)),
                "state_large": bool(getattr(learner, "state_large", False)), "saves": saves[0], "versions": versions()}

    def outputs(self, attribute):
        """`extra` or `carry`: shapes by name, float32, with a number per agent if actions have one."""
        scope = self.env.action.scope if self.env.action else "row"
        said = {"role": attribute, "space": "box", "scope": scope, "dtype": "float32", "low": [], "high": [], "nvec": []}
        found = getattr(self.learner, attribute, {})
        if not isinstance(found, dict):
            raise Refusal(f"{attribute}: expected a dict of shapes by name, got {shortened(repr(found))}")
        return {name: Channel(said | {"name": name, "shape": shape}, self.env.agents) for name, shape in found.items()}

    def known(self, names, attribute):
        for name in names:
            if name not in self.env.channels:
                raise Refusal(f"{attribute}: expected channels of the env ({', '.join(self.env.channels)}), got '{name}'")

    def act(self, message):
        begin, end, flags, seed, step, row_base, candidates = ACT.unpack_from(message)
        key = message[ACT.size:], begin, end
        if (arrays := self.views.get(key)) is None:
            if len(self.views) >= MOST_VIEWS:
                self.views.clear()
            arrays = self.views[key] = self.arrays(message, end - begin)
        inputs, outputs = Batch(arrays[0]), arrays[1]
        inputs.begin, inputs.end, inputs.greedy, inputs.row_base = begin, end, flags & GREEDY != 0, row_base
        inputs.seed, inputs.step = seed, step
        inputs.candidate = None if candidates == NONE else self.memories.view(candidates, numpy.dtype("int32"), (end - begin,))
        seed_generators(seed, OF_ACT, step, begin + row_base, flags)
        chosen = self.learner.act(inputs)
        if not isinstance(chosen, dict):
            if len(outputs) > 1:
                raise Refusal(f"act: expected a dict with {', '.join(outputs)}, got {type(chosen).__name__}")
            chosen = {name: chosen for name in outputs}
        for name, to in outputs.items():
            if name not in chosen:
                raise Refusal(f"act: expected '{name}' among the outputs, got {', '.join(chosen) or 'none'}")
            fill(name, to, chosen[name])

    def arrays(self, message, rows):
        """The inputs and outputs of a call."""
        places = iter(struct.unpack_from(f"<{len(self.inputs) + len(self.channels)}Q", message, ACT.size))
        return tuple({c.name: self.memories.view(next(places), c.dtype, (rows, *c.shape)) for c in channels.values()}
                     for channels in (self.inputs, self.channels))

    def plan(self, said):
        self.limits = Limits(said)
        if callable(plan := getattr(self.learner, "plan", None)):
            return request_of(plan(self.limits))
        return request_of(int(self.learner.horizon))

    def consume(self, said):
        delivery = Batch({t["name"]: self.tensor(t) for t in said["tensors"]})
        delivery.__dict__.update((name, value) for name, value in said.items() if name != "tensors")
        delivery.kind = next(word for word, number in KINDS.items() if number == said["kind"])
        delivery.progress = self.limits.progress
        is_data = delivery.kind in ("rollout", "evaluate", "data")
        self.consumed = (said["env_steps"], said["index"]) if is_data else (self.consumed[0], self.consumed[1] + 1)
        delivery.seed, delivery.step, delivery.begin = self.env.seed, mixed(*self.consumed), 1
        seed_generators(self.env.seed, OF_CONSUME, *self.consumed)
        recorded = self.learner.consume(delivery)
        if recorded is not None and not isinstance(recorded, dict):
            raise Refusal(f"consume: expected None or a dict of metrics, got {shortened(repr(recorded))}")
        return [[name if "/" in name else "train/" + name, repr(float(value))] for name, value in (recorded or {}).items()]

    def tensor(self, said):
        shape, strides, channel = said["shape"], said["strides"], said["name"].removeprefix("final_")
        channel = self.channels.get(channel) or self.env.channels.get(channel) or (self.env.first(channel) if channel in ("obs", "state") else None)
        if channel is not None and channel.scope == "agent":  # rows * agents is one dimension in C
            at = len(shape) - len(channel.shape)
            agents = self.env.agents
            shape = [*shape[:at], shape[at] // agents, agents, *shape[at + 1:]]
            strides = [*strides[:at], strides[at] * agents, strides[at], *strides[at + 1:]]
        return self.memories.view(said["place"], numpy.dtype(said["dtype"]), tuple(shape), strides)

    def save(self, _):
        data = state_bytes(self.learner.save())
        if len(data) > MOST_STATE_BYTES:
            raise Refusal(f"save: expected a state of at most {MOST_STATE_BYTES} bytes, got {len(data)}")
        return data

    def load(self, data):
        self.learner.load(state_of(data))

    def serve(self):
        of_json = {b"C": self.create, b"P": self.plan, b"D": self.consume}
        of_bytes = {b"A": self.act, b"G": self.save, b"U": self.load}
        done = struct.pack("<I", 0)
        while message := os.read(COMMANDS, 4096):
            try:
                if len(message) < HEADER.size:
                    message += read_exactly(HEADER.size - len(message))
                kind, length = HEADER.unpack_from(message)
                text = message[HEADER.size:] + read_exactly(HEADER.size + length - len(message))
                kind = bytes([kind])
                if kind in of_json:
                    reply(b"V" + json.dumps(of_json[kind](json.loads(text))).encode())
                else:
                    answer = of_bytes[kind](text)
                    os.write(REPLIES, done) if answer is None else reply(b"V" + answer)
            except BaseException as error:  # the code may also call sys.exit
                try:
                    said = report(error, -1, "learner")
                except MemoryError:
                    said = OUT_OF_MEMORY
                reply(said)


if __name__ == "__main__":
    prepare()
    LearnerWorker().serve()
