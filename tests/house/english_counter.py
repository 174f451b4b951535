"""Finds the constructions that STYLE.md rules out in docs, program texts, comments and tests.

A counter, not a judge: it knows regular expressions only.
"""
import bisect
import collections
import pathlib
import re
import subprocess

SENTENCE_START = r"(?:^|[.:;!?]\s+)"
RULES = {name: re.compile(pattern, flags) for name, pattern, flags in [
    ("of-start", SENTENCE_START + r"Of (?!course)\w+", 0),
    ("headless", SENTENCE_START + r"(?:What|Which|Who|Whose|Whoever|Whether|How) (?!to\b)[a-z]", 0),
    ("that-of", r"\b(?:that|those|the ones?) of\b|\bwhoever\b|\bwhat (?:is|has|was|stands|lies|comes|it|they|a|an|the)\b", re.I),
    ("go-on", r"\b(?:go|goes|went|going|gone) on\b|\banew\b|\btake[sn]? over\b", re.I),
    ("beside", r"\bbeside\b|\bin (?:the )?place of\b|\bin all\b|\bat once\b|\bof ours\b|\bcan not\b|\bbehind it\b", re.I),
    ("refuse", r"\brefus(?:e|es|ed|ing|al)\b", re.I),
    ("nobody", r"\bnobody\b|\bno one\b|\bnothing (?:is|was|has|can|of|that|tells|says)\b", re.I),
    ("tell", r"\b(?:tell|tells|told|telling)\b|\b(?:says|said)\b|\b(?:is|are) asked\b", re.I),
    ("wanted", r"\bwanted\b.{0,60}\b(?:found|got)\b|\bshould be .{0,60}, got\b", re.I),
]}
KINDS = ("docs", "program", "comments", "tests")
NOT_READ = re.compile(r"docs/(?:decisions|reference)/|(?:CHANGELOG\.md|LICENSE)$")
GENERATED = re.compile(r"<!-- options:.*?<!-- /options -->", re.S)  # counted in the sources of the options
CPP, PYTHON, JSON = (".cpp", ".hpp", ".h", ".c", ".rs"), (".py",), (".json", ".js")
HASH_COMMENTS = (".sh", ".cmake", ".yaml", ".yml", "CMakeLists.txt")
PROSE = 25  # characters; shorter literals, and literals without a blank, are names

STRING = r'"(?P<text>(?:[^"\\\n]|\\.)*)"'
CPP_TOKEN = re.compile(r"//+(?P<line>[^\n]*)|/\*+(?P<remark>.*?)\*/|R\"(?P<tag>\w*)\((?P<raw>.*?)\)(?P=tag)\"|" + STRING + r"|'(?:[^'\\\n]|\\.)'", re.S)
PYTHON_TOKEN = re.compile(r'#+(?P<line>[^\n]*)|[rfb]*"""(?P<block>.*?)"""|' + STRING + r"|'(?P<single>(?:[^'\\\n]|\\.)*)'", re.S)
TEXT_TOKEN = re.compile(STRING + r"|'(?P<single>(?:[^'\\\n]|\\.)*)'|`(?P<raw>[^`]*)`")
HASH_TOKEN = re.compile(r"(?:^|(?<=\s))#+\s(?P<line>[^\n]*)", re.M)
TEST_NAME = re.compile(r"\bTEST(?:_F|_P)?\(\s*\w+,\s*(\w+)\s*\)")

Finding = collections.namedtuple("Finding", "line rule text")


class Counts:
    """Words and findings of one kind of text in one file."""

    def __init__(self):
        self.words, self.findings = 0, []

    def add(self, line, text):
        self.words += len(text.split())
        for rule, pattern in RULES.items():
            for match in pattern.finditer(text):
                self.findings.append(Finding(line, rule, text[max(0, match.start() - 40):match.end() + 40].strip()))


def blanked(pattern, text):
    """The text with each match replaced by its line breaks, so that line numbers stay right."""
    return pattern.sub(lambda match: "\n" * match.group().count("\n"), text)


def plain(words):
    """A paragraph of a page without code spans and marks."""
    return re.sub(r"`[^`]*`", "X", words).strip(" #*|->")


def paragraphs(text):
    """Yields (line, text) of paragraphs, list items, headings and table cells of a page without code blocks."""
    fenced, start, words = False, 0, []
    for number, line in enumerate([*blanked(GENERATED, text).splitlines(), ""], 1):
        fence, table = line.lstrip().startswith("```"), line.lstrip().startswith("|")
        if words and (fence or fenced or not line.strip() or re.match(r"\s*(?:[-*+] |\d+[.)] |[|#>])", line)):
            yield start, plain(" ".join(words))
            words = []
        fenced ^= fence
        if fence or fenced or not line.strip():
            continue
        if table:
            cells = re.sub(r"`[^`]*`", "X", line).replace("\\|", "/").strip(" |").split("|")
            yield from ((number, cell.strip(" *")) for cell in cells if cell.strip(" -:"))
        else:
            start = start if words else number
            words.append(line.strip())


def tokens(pattern, text):
    """Yields (is_comment, line, text); neighbouring comments and neighbouring strings are joined."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    kind, first, last, end, words = None, 0, 0, 0, []
    for match in pattern.finditer(text):
        groups = {name: value for name, value in match.groupdict().items() if value is not None and name != "tag"}
        if not groups or match.group().startswith("#!"):
            continue
        (name, value), line = groups.popitem(), bisect.bisect(starts, match.start())
        between, alone = text[end:match.start()], not text[starts[line - 1]:match.start()].strip()
        comment = name in ("line", "remark") or (name == "block" and alone)  # a block behind code is no docstring
        joined = comment == kind and not between.strip() and (not comment or (name == "line" and alone and line == last + 1))
        if words and not joined:
            yield kind, first, (" " if kind else "").join(words)
        if not joined:
            kind, first, words = comment, line, []
        words.append(re.sub(r"^[ \t*]+", "", value, flags=re.M).replace("\n", " ").strip() if comment else value)
        last, end = line + match.group().count("\n"), match.end()
    if words:
        yield kind, first, (" " if kind else "").join(words)


def pieces(name, text):
    """Yields (kind, line, text) of everything that people read in a file."""
    if name.endswith(".md"):
        yield from (("docs", *piece) for piece in paragraphs(text))
        return
    test = name.startswith("tests/") or "_test." in name
    for suffixes, pattern in [(CPP, CPP_TOKEN), (PYTHON, PYTHON_TOKEN), (JSON, TEXT_TOKEN), (HASH_COMMENTS, HASH_TOKEN)]:
        if not name.endswith(suffixes) or (name.startswith("docs/") and name.endswith(JSON)):
            continue
        for comment, line, value in tokens(pattern, text):
            sentence = re.sub(r"\{[^{}]*\}", "X", value)
            if comment:
                yield "tests" if test else "comments", line, value
            elif not test and len(sentence) >= PROSE and " " in sentence.strip() and not sentence.startswith(("<", "{", "/")):
                yield "program", line, sentence
    if test and name.endswith(CPP):
        for match in TEST_NAME.finditer(text):
            yield "tests", text[:match.start()].count("\n") + 1, re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", match.group(1))


def count(name, text):
    """The Counts of a file by kind."""
    counts = collections.defaultdict(Counts)
    for kind, line, piece in pieces(name, text):
        counts[kind].add(line, piece)
    return counts


def files(root):
    """Names of the files to read; without git, every file outside build folders."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=root, capture_output=True, text=True)
    if listed.returncode == 0:
        names = listed.stdout.splitlines()
    else:
        paths = (path.relative_to(root) for path in root.rglob("*"))
        names = [str(path) for path in paths if not path.parts[0].startswith((".", "build", "outputs", "data"))]
    suffixes = (".md", *CPP, *PYTHON, *JSON, *HASH_COMMENTS)
    return sorted(name for name in names if name.endswith(suffixes) and not NOT_READ.match(name) and (root / name).is_file())


def count_tree(root):
    """kind -> file -> Counts."""
    tree = {kind: {} for kind in KINDS}
    for name in files(root):
        for kind, counts in count(name, (root / name).read_text(encoding="utf-8", errors="replace")).items():
            tree[kind][name] = counts
    return tree
