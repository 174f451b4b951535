"""Part of the worker programs: reads messages and writes replies."""


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
