"""Pairs of texts from apt's lists of package descriptions: the long description is the document, the one-line synopsis its summary."""
import collections
import hashlib
import re
import zlib

HANGUL = re.compile("[\uac00-\ud7a3]")
TRANSITIONAL = re.compile("transitional|dummy package", re.IGNORECASE)

Entry = collections.namedtuple("Entry", "package md5 synopsis body")  # body: the raw lines, each with its leading space
Row = collections.namedtuple("Row", "package source document summary")


class CorpusError(Exception):
    """A one-line message about a missing or invalid part."""


def stanzas(path, *needed):
    """Yields each stanza of a list as {field: text}; the lines of a text after its first are kept as they are."""
    for number, fields in enumerate(raw_stanzas(path), 1):
        missing = [name for name in needed if name not in fields]
        if missing:
            raise CorpusError(f"{path}: stanza {number}: expected the field {missing[0]}, got none")
        yield fields


def raw_stanzas(path):
    fields, name = {}, None
    with open(path, encoding="utf-8", newline="\n") as lines:
        for number, line in enumerate(lines, 1):
            line = line.rstrip("\n")
            if not line:
                if fields:
                    yield fields
                fields, name = {}, None
            elif line[0] in " \t":
                if name is None:
                    raise CorpusError(f"{path}:{number}: expected a field before the continuation line, got none")
                fields[name] += "\n" + line
            else:
                name, colon, value = line.partition(":")
                if not colon:
                    raise CorpusError(f"{path}:{number}: expected 'Field: text', got '{line[:40]}'")
                fields[name] = value.lstrip(" ")
    if fields:
        yield fields


def translations(path, language):
    """The entries of a Translation list, in its order."""
    entries = []
    for fields in stanzas(path, "Package", "Description-md5"):
        text = fields.get("Description-" + language)
        if text is not None:
            synopsis, _, body = text.partition("\n")
            entries.append(Entry(fields["Package"], fields["Description-md5"], synopsis, body))
    return entries


def check_md5(entries):
    """Description-md5 is the MD5 of the English text with a newline after each line: it shows that the parsing is right."""
    for entry in entries:
        text = entry.synopsis + "\n" + (entry.body + "\n" if entry.body else "")
        if hashlib.md5(text.encode()).hexdigest() != entry.md5:
            raise CorpusError(f"package {entry.package}: the MD5 of its description differs from its list, which is damaged")


def source_packages(path):
    """{(package, Description-md5): source package} of a Packages list."""
    sources = {}
    for fields in stanzas(path, "Package"):
        package = fields["Package"]
        source = fields.get("Source", package).split(" ")[0]
        sources.setdefault((package, fields.get("Description-md5", "")), source)
    return sources


def document_of(body):
    """The body as one line; a line of a single full stop is an empty line."""
    return " ".join(word for line in body.split("\n") if line.strip() != "." for word in line.split())


def row_of(entry, source):
    return Row(entry.package, source, document_of(entry.body), " ".join(entry.synopsis.split()))


def english_rows(entries, sources):
    """The rows to keep, and how many each step left."""
    steps = {"entries": len(entries)}
    rows = [row_of(entry, sources[key]) for entry in entries if (key := (entry.package, entry.md5)) in sources]
    steps["joined"] = len(rows)
    steps["source_packages"] = len({row.source for row in rows})
    steps["distinct_documents"] = len({row.document for row in rows})
    for name, keep in (("dropped_transitional", lambda row: not TRANSITIONAL.search(row.summary)),
                       ("dropped_short_document", lambda row: len(row.document.split()) >= 8),
                       ("dropped_short_summary", lambda row: len(row.summary.split()) >= 2)):
        kept = [row for row in rows if keep(row)]
        steps[name], rows = len(rows) - len(kept), kept
    steps["filtered"] = len(rows)
    first = {}
    for row in rows:
        first.setdefault(row.document.lower(), row)
    rows = list(first.values())
    steps["distinct"] = len(rows)
    return rows, steps


def korean_rows(entries, sources):
    """A translation may be of another version of the text than the archive's, and still be a pair: it is not left out."""
    steps = {"entries": len(entries)}
    rows = [row_of(entry, sources.get((entry.package, entry.md5), entry.package)) for entry in entries]
    rows = [row for row in rows if HANGUL.search(row.document) and HANGUL.search(row.summary)]
    steps["hangul_on_both_sides"] = len(rows)
    return rows, steps


def part_of(source):
    """All binary packages of a source package go to one part: their descriptions resemble each other."""
    place = zlib.crc32(source.encode()) % 100
    return "test" if place < 5 else "dev" if place < 10 else "train"


def leakage(parts):
    documents = {name: {row.document.lower() for row in rows} for name, rows in parts.items()}
    summaries = {row.summary.lower() for row in parts["train"]}
    return {"documents_in_two_parts": len(documents["train"] & documents["dev"]) + len(documents["train"] & documents["test"]) +
            len(documents["dev"] & documents["test"]),
            "test_summaries_in_train": sum(row.summary.lower() in summaries for row in parts["test"])}
