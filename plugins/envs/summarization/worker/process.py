"""Part of the tokenizer process: encodes a corpus into the shared memory, and decodes generated texts.

After the start, every message is b"P" with a length (8 bytes), a letter, and its data:

    E  texts, each a length (4 bytes) and UTF-8: source and target in turns. Appends their ids (int32) to the memory and
       answers with two numbers (4 bytes) for each text: its ids, and those that are no template's.
    D  lists of ids, each a length (4 bytes) and int32. Answers with texts, as above.
"""


def parts(data, at=1, width=1):
    while at < len(data):
        n = struct.unpack_from("<I", data, at)[0] * width
        yield data[at + 4:at + 4 + n]
        at += 4 + n


class Process:
    written = unknown = 0

    def create(self, text):
        global tokenizers
        config = json.loads(text)
        try:
            import tokenizers
            import tokenizers.processors
        except ImportError as e:
            raise Refusal(f"python: {sys.executable}: a package is missing: {e}{cure(e)}") from e
        self.most = config["most"]
        self.folder = folder = Folder(config["folder"], config["source_lang"], config["target_lang"])
        said = {"size": folder.size, "eos": folder.eos, "pad": folder.pad, "version": tokenizers.__version__}
        return json.dumps(said).encode()

    def encode(self, data):
        texts = [part.decode() for part in parts(data)]
        both = [self.folder.encode(texts[side::2], bool(side), self.most[side]) for side in (0, 1)]
        ids, counts = array.array("i"), array.array("I")
        for pair in zip(*both):
            for tokens, own in pair:
                ids.extend(tokens)
                counts.extend((len(tokens), own))
        if ids and max(ids) >= self.folder.size:
            token = max(ids)
            raise Refusal(f"{self.folder.path}: a text has the token {token} ({self.folder.tokenizer.id_to_token(token)}), but the "
                          f"model's vocab_size is {self.folder.size}")
        self.unknown += ids.count(self.folder.unknown) if self.folder.unknown is not None else 0
        self.written += write_at(MEMORY, ids.tobytes(), self.written)
        return struct.pack("<Q", self.unknown) + counts.tobytes()

    def decode(self, data):
        texts = [self.folder.decode(array.array("i", part).tolist()).encode() for part in parts(data, width=4)]
        return b"".join(struct.pack("<I", len(text)) + text for text in texts)

    def serve(self):
        while True:
            kind, length = HEADER.unpack(read_exactly(HEADER.size))
            text = read_exactly(length)
            try:
                answer = self.create(text) if kind == b"C"[0] else self.encode(text) if text[:1] == b"E" else self.decode(text)
                reply(b"V" + answer)
            except BaseException as e:
                reply(report(e, -1, "tokenizer"))


def write_at(file, data, place):
    view = memoryview(data)
    while view:
        n = os.pwrite(file, view, place + len(data) - len(view))
        view = view[n:]
    return len(data)


if __name__ == "__main__":
    prepare()
    Process().serve()
