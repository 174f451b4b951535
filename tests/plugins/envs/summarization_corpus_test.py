"""The corpus builder on small lists: parsing, joining, filtering, splitting, and the files that it keeps."""
import contextlib
import hashlib
import importlib.machinery
import importlib.util
import io
import json
import os
import shutil
import sys
import tempfile
import unittest
import zlib

sys.dont_write_bytecode = True  # the builder is among the sources
SOURCES = os.path.join(os.path.dirname(__file__), "../../../plugins/envs/summarization")
sys.path.insert(0, SOURCES)
import package_texts as texts

loader = importlib.machinery.SourceFileLoader("build_corpus", os.path.join(SOURCES, "build_corpus"))
corpus = importlib.util.module_from_spec(importlib.util.spec_from_loader("build_corpus", loader))
loader.exec_module(corpus)

# package, source package, synopsis, body lines
ENGLISH = [
    ("kettle", "kettle", "boils water without a flame", [" Kettle heats water for tea and coffee until it", " boils.", " .", "  * keeps it warm"]),
    ("kettle-doc", "kettle (2.1-1)", "boils water without a flame (manual)", [" This is the manual of a kettle, for people who like to read."]),
    ("kettle-old", "kettle", "transitional package for kettle", [" It is safe to remove this package once the new one is there."]),
    ("ladle", "ladle", "Dummy Package of a ladle", [" It holds nothing at all and may be removed at any time now."]),
    ("spoon", "spoon", "stirs and tastes", [" Stirs, and tastes."]),
    ("fork", "fork", "fork", [" A fork holds what is to be cut, and lifts it to the mouth."]),
    ("spork", "spork", "spoon and fork in one", [" KETTLE heats water for tea and coffee until it boils. * keeps it warm"]),
    ("gone", None, "is in no archive", [" This package has left the archive, only its description is still here."]),
    ("cup", "cup", "holds coffee and tea", [" A cup with a handle, made of clay, which keeps what is in it warm."]),
]
KOREAN = {"kettle": ("불 없이 물을 끓인다", [" 차와 커피를 위해 물을 끓이고", " 따뜻하게 둔다."]), "cup": ("holds coffee", [" 손잡이가 있는 컵."])}


def md5_of(entry):
    return hashlib.md5("".join(line + "\n" for line in [entry[2]] + entry[3]).encode()).hexdigest()


def write_lists(folder):
    os.makedirs(folder)
    name = os.path.join(folder, "archive_dists_stable_")
    translation = [f"Package: {e[0]}\nDescription-md5: {md5_of(e)}\nDescription-en: {e[2]}\n" + "\n".join(e[3]) for e in ENGLISH]
    korean = [f"Package: {e[0]}\nDescription-md5: {md5_of(e)}\nDescription-ko: {KOREAN[e[0]][0]}\n" + "\n".join(KOREAN[e[0]][1])
              for e in ENGLISH if e[0] in KOREAN]
    packages = [f"Package: {e[0]}\n" + (f"Source: {e[1]}\n" if e[1] != e[0] else "") + f"Version: 1\nDescription: {e[2]}\nDescription-md5: {md5_of(e)}"
                for e in ENGLISH if e[1]]
    # A version of a package whose description is not the translated one.
    packages.append("Package: gone\nDescription-md5: 0123456789abcdef0123456789abcdef")
    for ending, stanzas in (("main_i18n_Translation-en", translation), ("main_i18n_Translation-ko", korean), ("main_binary-amd64_Packages", packages)):
        with open(name + ending, "w", encoding="utf-8") as file:
            file.write("\n\n".join(stanzas) + "\n\n")
    with open(name + "InRelease", "w", encoding="utf-8") as file:
        file.write("Origin: Nobody\nVersion: 7.3\n")


class Corpus(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.lists, self.out = os.path.join(self.folder, "lists"), os.path.join(self.folder, "out")
        write_lists(self.lists)

    def path(self, ending):
        return os.path.join(self.lists, "archive_dists_stable_" + ending)

    def entries(self):
        return texts.translations(self.path("main_i18n_Translation-en"), "en")

    def sources(self):
        return texts.source_packages(self.path("main_binary-amd64_Packages"))

    def test_stanzas_hold_their_fields_and_raw_bodies(self):
        entries = self.entries()
        self.assertEqual([e.package for e in entries], [e[0] for e in ENGLISH])
        self.assertEqual(entries[0].synopsis, "boils water without a flame")
        self.assertEqual(entries[0].body, "\n".join(ENGLISH[0][3]))
        self.assertEqual(texts.document_of(entries[0].body), "Kettle heats water for tea and coffee until it boils. * keeps it warm")

    def test_md5_of_the_text_equals_the_lists(self):
        texts.check_md5(self.entries())
        changed = self.entries()[1]._replace(synopsis="boils nothing")
        with self.assertRaisesRegex(corpus.CorpusError, "package kettle-doc: the MD5 of its description differs"):
            texts.check_md5([changed])

    def test_rejects_a_malformed_list_with_its_line(self):
        for text, wrong in (("Package: a\nno field\n", ":2: expected 'Field: text', got 'no field'"), (" body\n", ":1: expected a field before the continuation line"),
                            ("Package: a\n\nVersion: 1\n", "stanza 2: expected the field Package, got none")):
            with open(self.path("InRelease"), "w", encoding="utf-8") as file:
                file.write(text)
            with self.assertRaisesRegex(corpus.CorpusError, wrong):
                list(texts.stanzas(self.path("InRelease"), "Package"))

    def test_source_package_precedes_its_version(self):
        sources = {package: source for (package, _), source in self.sources().items()}
        self.assertEqual((sources["kettle-doc"], sources["cup"]), ("kettle", "cup"))

    def test_rows_are_joined_filtered_and_distinct_with_exact_counts(self):
        rows, steps = texts.english_rows(self.entries(), self.sources())
        self.assertEqual(steps, {"entries": 9, "joined": 8, "source_packages": 6, "distinct_documents": 8, "dropped_transitional": 2,
                                 "dropped_short_document": 1, "dropped_short_summary": 1, "filtered": 4, "distinct": 3})
        self.assertEqual([row.package for row in rows], ["kettle", "kettle-doc", "cup"])

    def test_korean_rows_have_hangul_on_both_sides(self):
        rows, steps = texts.korean_rows(texts.translations(self.path("main_i18n_Translation-ko"), "ko"), self.sources())
        self.assertEqual(steps, {"entries": 2, "hangul_on_both_sides": 1})
        self.assertEqual(rows[0], ("kettle", "kettle", "차와 커피를 위해 물을 끓이고 따뜻하게 둔다.", "불 없이 물을 끓인다"))

    def test_parts_follow_the_crc_of_the_source_package(self):
        self.assertEqual((zlib.crc32(b"0ad"), zlib.crc32(b"gcc-12")), (3977495333, 1831684272))
        self.assertEqual([texts.part_of(name) for name in ("0ad", "gcc-12")], ["train", "train"])
        parts = [texts.part_of(f"package-{i}") for i in range(10000)]
        for i, part in enumerate(parts):
            place = zlib.crc32(f"package-{i}".encode()) % 100
            self.assertEqual(part, "test" if place in range(5) else "dev" if place in range(5, 10) else "train")
        self.assertAlmostEqual(parts.count("test") / 10000, 0.05, delta=0.01)

    def test_leakage_counts_rows_that_two_parts_share(self):
        row = texts.Row("p", "s", "A Document", "a summary")
        clean = row._replace(document="Another", summary="another")
        self.assertEqual(texts.leakage({"train": [row], "dev": [], "test": [clean]}), {"documents_in_two_parts": 0, "test_summaries_in_train": 0})
        both = texts.leakage({"train": [row], "dev": [row], "test": [row._replace(document="a document"), clean]})
        self.assertEqual(both, {"documents_in_two_parts": 3, "test_summaries_in_train": 1})

    def build(self, *arguments):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            corpus.main(["--out", self.out, "--lists", self.lists, *arguments])
        return said.getvalue()

    def test_offline_without_lists_fails_with_one_line(self):
        with self.assertRaisesRegex(corpus.CorpusError, "has no lists; fetch them without --offline$"):
            corpus.main(["--out", self.out, "--offline"])
        os.remove(self.path("main_i18n_Translation-ko"))
        with self.assertRaisesRegex(corpus.CorpusError, r"expected one list \*_main_i18n_Translation-ko, got 0$"):
            self.build()

    def fetch_from(self, archives):
        """Makes the builder fetch only from our lists, and train nothing. Returns the lines of sources.list that it used."""
        fetched = []

        def run(command, needs, cwd=None, env=None):
            if command[0] == "spm_train":
                name = next(word.split("=")[1] for word in command if word.startswith("--model_prefix="))
                for ending in (".model", ".vocab"):
                    corpus.write_text(os.path.join(cwd, name + ending), [name])
            if command[:2] == ["apt-get", "indextargets"]:
                return "http://own/debian/|bookworm|main\n"
            if command[:2] == ["apt-get", "update"]:
                cache = os.path.dirname(env["APT_CONFIG"])
                with open(os.path.join(cache, "sources.list"), encoding="utf-8") as file:
                    fetched.append(file.read().strip())
                if not archives:
                    raise corpus.CorpusError("no archive answers")
                shutil.copytree(self.lists, os.path.join(cache, "lists"), dirs_exist_ok=True)
            return ""

        before = corpus.run
        corpus.run = run
        self.addCleanup(setattr, corpus, "run", before)
        return fetched

    def call(self, *arguments):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            corpus.main(["--out", self.out, *arguments])
        return said.getvalue()

    def test_fetches_again_for_a_different_archive(self):
        archives = ["any"]
        fetched = self.fetch_from(archives)
        self.call()
        self.assertEqual(fetched, ["deb [arch=amd64] http://own/debian bookworm main"])
        for kept in ([], ["--suite", "bookworm"], ["--mirror", "http://own/debian/", "--suite", "bookworm"], ["--keyring", "k.gpg"]):
            self.assertIn("nothing to do", self.call(*kept))
        self.assertEqual(len(fetched), 1)
        self.assertNotIn("nothing to do", self.call("--suite", "trixie", "--keyring", "k.gpg"))
        self.assertEqual(fetched[1:], ["deb [signed-by=k.gpg arch=amd64] http://own/debian trixie main"])
        with open(os.path.join(self.out, "manifest.json"), encoding="utf-8") as file:
            inputs = json.load(file)["inputs"]
        self.assertEqual((inputs["mirror"], inputs["suite"]), ("http://own/debian", "trixie"))
        self.assertIn("nothing to do", self.call())
        with self.assertRaisesRegex(corpus.CorpusError, "has no lists of suite sid; fetch them without --offline$"):
            self.call("--offline", "--suite", "sid")
        # An interrupted fetch leaves no usable lists.
        archives.clear()
        with self.assertRaisesRegex(corpus.CorpusError, "no archive answers"):
            self.call("--suite", "sid")
        with self.assertRaisesRegex(corpus.CorpusError, "has no lists of suite trixie"):
            self.call("--offline", "--suite", "trixie", "--vocab-size", "99")
        self.assertIn("nothing to do", self.call("--suite", "trixie"))

    def test_own_lists_have_no_archive(self):
        with contextlib.redirect_stderr(io.StringIO()) as said, self.assertRaises(SystemExit):
            self.build("--suite", "bookworm")
        self.assertIn("--lists fetches no lists", said.getvalue())

    @unittest.skipUnless(shutil.which("spm_train"), "spm_train is not installed (Debian package sentencepiece)")
    def test_the_corpus_is_complete_and_kept(self):
        size = ("--vocab-size", "52")
        self.build(*size)
        with open(os.path.join(self.out, "manifest.json"), encoding="utf-8") as file:
            manifest = json.load(file)
        self.assertEqual(sum(manifest["rows"].values()), 3)
        self.assertEqual(manifest["inputs"]["suite_version"], "7.3")
        with open(os.path.join(self.out, "train.tsv"), encoding="utf-8") as file:
            lines = file.read().splitlines()
        self.assertEqual(lines[0], "id\tsource_package\tdocument\tsummary")
        self.assertEqual(len(lines), 1 + manifest["rows"]["train"])
        self.assertEqual(lines[1], "kettle\tkettle\tKettle heats water for tea and coffee until it boils. * keeps it warm\tboils water without a flame")
        with open(os.path.join(self.out, "spm.vocab"), encoding="utf-8") as file:
            self.assertEqual([line.split("\t")[0] for line in file.read().splitlines()[:4]], ["<s>", "<pad>", "</s>", "<unk>"])

        self.assertIn("nothing to do", self.build(*size))
        # A changed file is rebuilt, and so is everything after the lists changed. The bytes do not depend on the folder.
        before = {name: corpus.sha256(os.path.join(self.out, name)) for name in corpus.OUTPUTS}
        with open(os.path.join(self.out, "dev.tsv"), "a", encoding="utf-8") as file:
            file.write("x")
        self.assertNotIn("nothing to do", self.build(*size))
        self.assertEqual(before, {name: corpus.sha256(os.path.join(self.out, name)) for name in corpus.OUTPUTS})
        self.out = os.path.join(self.folder, "another")
        self.build(*size)
        self.assertEqual(before, {name: corpus.sha256(os.path.join(self.out, name)) for name in corpus.OUTPUTS})
        with open(self.path("InRelease"), "a", encoding="utf-8") as file:
            file.write("Date: later\n")
        self.assertNotIn("nothing to do", self.build(*size))
        self.assertEqual(sorted(os.listdir(self.out)), sorted([*corpus.OUTPUTS, "manifest.json"]))


if __name__ == "__main__":
    unittest.main()
