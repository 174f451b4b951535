"""Part of the tokenizer process: the tokenizer in a model's folder, as transformers 5 reads it."""

NAMED = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
# Replacements of clean_up_tokenization_spaces, in this order.
CLEANED = ((" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"), (" n't", "n't"), (" 'm", "'m"), (" 's", "'s"),
           (" 've", "'ve"), (" 're", "'re"))
MBART = {"MBartTokenizer", "MBartTokenizerFast"}
MBART50 = {"MBart50Tokenizer", "MBart50TokenizerFast"}
PLAIN_BYTES = {"BartTokenizer", "BartTokenizerFast", "RobertaTokenizer", "RobertaTokenizerFast"}


def read_json(folder, name, default=None):
    path = os.path.join(folder, name)
    if default is not None and not os.path.exists(path):
        return default
    try:
        with open(path, encoding="utf-8") as file:
            read = json.load(file)
    except (OSError, ValueError) as e:
        raise Refusal(f"{path}: cannot read: {e}") from e
    if not isinstance(read, dict):
        raise Refusal(f"{path}: expected a JSON object, got {type(read).__name__}")
    return read


def content(token):
    """The text of a token, which a file stores as text or with its settings."""
    return token.get("content") if isinstance(token, dict) else token


def first_id(value):
    return value[0] if isinstance(value, list) and value else value


class Folder:
    def __init__(self, folder, source_lang, target_lang):
        self.path = folder
        self.model = read_json(folder, "config.json", {})
        self.config = read_json(folder, "tokenizer_config.json", {})
        if "added_tokens_decoder" not in self.config:
            self.config = {**self.config, **read_json(folder, "special_tokens_map.json", {})}
        self.tokenizer = self.load(read_json(folder, "tokenizer.json"))
        self.tokenizer.encode_special_tokens = bool(self.config.get("split_special_tokens", False))
        self.tokenizer.no_padding()  # settings of the file that wrote it
        self.tokenizer.no_truncation()
        self.add_special_tokens()
        self.side = self.config.get("truncation_side", "right")
        self.eos = self.id_of("eos_token_id", ("eos_token", "sep_token"))
        self.pad = self.id_of("pad_token_id", ("pad_token",))
        self.unknown = self.tokenizer.token_to_id(content(self.config.get("unk_token")) or "<unk>")
        self.size = self.model.get("vocab_size") or self.tokenizer.get_vocab_size(with_added_tokens=True)
        self.templates = self.languages(source_lang, target_lang)

    def load(self, text):
        before = text.get("pre_tokenizer") or {}
        if self.config.get("tokenizer_class") in PLAIN_BYTES and before.get("type") == "ByteLevel":
            before["add_prefix_space"] = self.config.get("add_prefix_space", before["add_prefix_space"])
        try:
            return tokenizers.Tokenizer.from_str(json.dumps(text))
        except Exception as e:
            raise Refusal(f"{self.path}/tokenizer.json: tokenizers {tokenizers.__version__} cannot read it (its version is "
                          f"{text.get('version')}): {e}") from e

    def add_special_tokens(self):
        """Adds the tokens that the configuration names and tokenizer.json lacks; their ids follow all others."""
        known = {str(token.content) for token in self.tokenizer.get_added_tokens_decoder().values()}
        by_id = self.config.get("added_tokens_decoder", {})
        listed = [by_id[number] for number in sorted(by_id, key=int)]
        listed += [self.config.get(name) for name in NAMED]
        extra = self.config.get("extra_special_tokens") or self.config.get("additional_special_tokens") or []
        listed += list(extra.values()) if isinstance(extra, dict) else extra
        for token in listed:
            text = content(token)
            if not text or text in known:
                continue
            known.add(text)
            settings = {"normalized": False, "special": True}
            if isinstance(token, dict):
                settings |= {key: token[key] for key in ("lstrip", "rstrip", "single_word", "normalized", "special") if key in token}
            self.tokenizer.add_tokens([tokenizers.AddedToken(text, **settings)])

    def id_of(self, key, names):
        if (known := first_id(self.model.get(key))) is not None:
            return known
        for name in names:
            if (text := content(self.config.get(name))) and (known := self.tokenizer.token_to_id(text)) is not None:
                return known
        raise Refusal(f"{self.path}: expected {key} in config.json, or {names[0]} in tokenizer_config.json, got neither")

    def languages(self, source, target):
        """Templates of source and target texts, for tokenizers whose templates depend on languages; else None."""
        kind = self.config.get("tokenizer_class")
        if kind not in MBART | MBART50:
            if source or target:
                raise Refusal(f"source_lang, target_lang: expected a folder of mBART, got the tokenizer {kind}; leave them out")
            return None
        source = source or self.config.get("src_lang") or "en_XX"
        target = target or self.config.get("tgt_lang") or source
        return [self.template(code, before=kind in MBART50) for code in (source, target)]

    def template(self, code, before):
        number, end = self.tokenizer.token_to_id(code), self.tokenizer.id_to_token(self.eos)
        if number is None:
            raise Refusal(f"source_lang, target_lang: expected a language of the tokenizer such as en_XX, got {code}")
        form = [code, "$A", end] if before else ["$A", end, code]
        return tokenizers.processors.TemplateProcessing(single=form, pair=form[:1] + ["$B"] + form[1:],
                                                        special_tokens=[(code, number), (end, self.eos)])

    def encode(self, texts, is_target, most):
        """For each text its ids, at most `most`, and the number of ids that are no template's."""
        if self.templates:
            self.tokenizer.post_processor = self.templates[is_target]
        self.tokenizer.enable_truncation(most, direction=self.side)
        encoded = self.tokenizer.encode_batch(texts)
        found = []
        for one in encoded:
            ids, own = one.ids, len(one.ids) - sum(one.special_tokens_mask)
            if is_target and not self.templates and ids[-1:] != [self.eos]:  # some tokenizers, as KoBART's, add no end
                ids = ids[:most - 1] + [self.eos]
            found.append((ids, own))
        return found

    def decode(self, ids):
        text = self.tokenizer.decode(ids, skip_special_tokens=True)
        if not self.config.get("clean_up_tokenization_spaces", False):
            return text
        if type(self.tokenizer.model).__name__ == "BPE" and not self.config.get(
                "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output", False):
            return text
        for wrong, right in CLEANED:
            text = text.replace(wrong, right)
        return text
