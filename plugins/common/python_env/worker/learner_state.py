"""Part of the program of learner.python: writes the state of a learner as bytes, and reads it.

A state is None, numbers, texts, bytes, lists, tuples, dicts of these, NumPy's arrays and generators, and PyTorch's tensors. Other
arrays, such as JAX's, become NumPy's. The bytes are a length, JSON with the places of the arrays, and the arrays. Equal states give
equal bytes, and reading runs no code, which a pickle would.
"""

import base64

import numpy

LENGTH = struct.Struct("<Q")


class StateWriter:
    def __init__(self):
        self.arrays, self.size = [], 0

    def array(self, array, kind, dtype):
        at, data = self.size, numpy.ascontiguousarray(array).tobytes()
        self.arrays.append(data)
        self.size += len(data)
        return {kind: [dtype, list(array.shape), at, len(data)]}

    def encode(self, value, place):
        if value is None or isinstance(value, (bool, str)) or type(value) in (int, float):
            return value
        if isinstance(value, (bytes, bytearray)):
            return {"bytes": base64.b64encode(value).decode()}
        if isinstance(value, dict):
            items = [[self.encode(k, f"a key of {place}"), self.encode(v, f"{place}[{k!r}]")] for k, v in value.items()]
            return {"dict": items}
        if isinstance(value, (list, tuple)):
            items = [self.encode(item, f"{place}[{i}]") for i, item in enumerate(value)]
            return items if isinstance(value, list) else {"tuple": items}
        if isinstance(value, numpy.random.Generator):
            return {"generator": self.encode(value.bit_generator.state, place)}
        if is_tensor(value):
            flat = value.detach().cpu().contiguous()
            return {"tensor": self.encode(flat.reshape(-1).view(sys.modules["torch"].uint8).numpy(), place)["array"]
                    + [str(flat.dtype).removeprefix("torch."), list(flat.shape)]}
        array = numpy.asarray(value)
        if array.dtype.kind not in "biufc":
            raise Refusal(f"save: {place}: expected numbers, texts, lists, dicts, arrays or tensors, got {type(value).__name__}"
                          "\nhint: save the numbers of an object, such as net.state_dict()")
        return self.array(array, "array", array.dtype.str)


def is_tensor(value):
    return "torch" in sys.modules and isinstance(value, sys.modules["torch"].Tensor)


def state_bytes(state):
    writer = StateWriter()
    text = json.dumps(writer.encode(state, "state")).encode()
    return LENGTH.pack(len(text)) + text + b"".join(writer.arrays)


def generator_of(state):
    generator = numpy.random.Generator(getattr(numpy.random, state["bit_generator"])())
    generator.bit_generator.state = state
    return generator


class StateReader:
    def __init__(self, data):
        size, = LENGTH.unpack_from(data)
        self.tree = json.loads(bytes(data[LENGTH.size:LENGTH.size + size]))
        self.arrays = memoryview(data)[LENGTH.size + size:]

    def array(self, dtype, shape, at, size):
        return numpy.frombuffer(self.arrays[at:at + size], dtype).reshape(shape).copy()

    def tensor(self, dtype, shape, at, size, kind, sides):
        torch = importlib.import_module("torch")
        kind = getattr(torch, kind)
        if size == 0:  # `view` rejects it
            return torch.empty(sides, dtype=kind)
        return torch.from_numpy(self.array(dtype, shape, at, size)).view(kind).reshape(sides)

    def decode(self, value):
        if isinstance(value, list):
            return [self.decode(item) for item in value]
        if not isinstance(value, dict):
            return value
        (kind, content), = value.items()
        if kind == "dict":
            return {self.decode(k): self.decode(v) for k, v in content}
        if kind == "tuple":
            return tuple(self.decode(item) for item in content)
        if kind == "bytes":
            return base64.b64decode(content)
        if kind == "generator":
            return generator_of(self.decode(content))
        return self.array(*content) if kind == "array" else self.tensor(*content)


def state_of(data):
    reader = StateReader(data)
    return reader.decode(reader.tree)
