"""Packs made results folders, damages the archives and forges hostile ones. The standard library's zipfile reads them back.

usage: archive_test.py
"""
import contextlib
import fcntl
import hashlib
import io
import json
import os
import pathlib
import random
import shutil
import stat
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock
import zipfile

PROGRAM = pathlib.Path(__file__).resolve().parents[3] / "tools/archive/backplane-archive.py"
SEED = 45
END = b"backplane archive 1 sha256 "
MODULE = types.ModuleType("archive")
exec(compile(PROGRAM.read_text(), PROGRAM, "exec"), vars(MODULE))
FILES = {
    "plan.jsonl": b'{"trial_id":"a1","files":{"env.plugin":"e0","learner.plugin":"1a"}}\n'
                  b'{"trial_id":"b2","files":{"env.plugin":"e0"}}\n',
    "events.jsonl": b"{}\n" * 40,
    "config.yaml": b"experiment: made\n",
    "report/report.html": b"<html>" + b"x" * 3000,
    "trials/a1/attempt-1/metrics.jsonl": b'{"return":1}\n' * 200,
    "trials/a1/attempt-1/stderr.log": b"",
    "trials/a1/checkpoint/checkpoint.bin": random.Random(SEED).randbytes(5000),
    "trials/a1/checkpoint/checkpoint.1.bin": b"older",
    "trials/a1/checkpoint/best.bin": b"best",
    "trials/a1/checkpoint/replay.data": random.Random(SEED + 1).randbytes(5000),
    "trials/a1/checkpoint/checkpoint.bin.damaged": b"damaged",
    "trials/a1/checkpoint.before-attempt-2/checkpoint.bin": b"before",
    "trials/b2/checkpoint/checkpoint.1.bin": b"its only one",
    "trials/b2/checkpoint/checkpoint.bin.tmp": b"draft",
    "trials/b2/Größe 한국.txt": "Größe".encode(),
    "lock": b"1",
    "engine/node-1/orders": b"orders",
    "check/trial.json": b"{}",
}
NEWEST = {"trials/a1/checkpoint/checkpoint.bin", "trials/a1/checkpoint/replay.data", "trials/b2/checkpoint/checkpoint.1.bin"}
BEST = "trials/a1/checkpoint/best.bin"
BEST_OR_NEWEST = {BEST, "trials/b2/checkpoint/checkpoint.1.bin"}  # the second trial has no best one
NEVER = {"lock", "engine/node-1/orders", "check/trial.json", "trials/b2/checkpoint/checkpoint.bin.tmp"}
OF_CHECKPOINTS = {name for name in FILES if "/checkpoint" in name} - NEVER


def without_end(data):
    return data[:-len(END) - 64]


class ArchiveTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="backplane_archive_"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.out = self.folder / "made"
        for name, data in FILES.items():
            (self.out / name).parent.mkdir(parents=True, exist_ok=True)
            (self.out / name).write_bytes(data)

        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)

    def run_program(self, *words, exit=0):
        """Its output, and the text with which it ends. In this process, because a start takes longer than most commands."""
        said, code = io.StringIO(), 0
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said), unittest.mock.patch("sys.argv", ["", *map(str, words)]):
            try:
                MODULE.main()
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else 1
                said.write("" if isinstance(end.code, int) else end.code)
        self.assertEqual(exit, code, said.getvalue())
        return said.getvalue()

    def pack(self, checkpoints="last", to="made.zip"):
        (self.folder / to).unlink(missing_ok=True)
        self.run_program("pack", self.out, self.folder / to, checkpoints, "1.2.3")
        return self.folder / to

    def packed(self, file):
        with zipfile.ZipFile(file) as archive:
            return {name: archive.read(name) for name in archive.namelist()}

    def forge(self, change, name="bad.zip", sealed=True):
        """An archive with other members; `change` gets them as (ZipInfo, bytes), and the manifest."""
        members = self.packed(self.pack(to="good.zip"))
        manifest = json.loads(members.pop("archive.json"))["manifest"]
        entries = [(zipfile.ZipInfo(name), data) for name, data in members.items()]
        change(entries, manifest)
        text = json.dumps(manifest, sort_keys=True, separators=(",", ":"))
        digest = hashlib.sha256(text.encode()).hexdigest()
        entries.append((zipfile.ZipInfo("archive.json"), f'{{"sha256":"{digest}","manifest":{text}}}\n'.encode()))
        file = self.folder / name
        with zipfile.ZipFile(file, "w") as archive:
            for info, data in entries:
                archive.writestr(info, data)
            archive.comment = END + b"0" * 64
        data = file.read_bytes()
        if sealed:
            file.write_bytes(data[:-64] + hashlib.sha256(data[:-64]).hexdigest().encode())
        return file

    def reject(self, file, expected):
        """Both commands reject it and write no file."""
        def there():
            return sorted(path for path in self.folder.rglob("*") if path.name != "new")  # the folder of the new one may remain
        before = there()
        for command in (("verify", file), ("unpack", file, "new/out")):
            self.assertIn(expected, self.run_program(*command, exit=1))
        self.assertEqual(before, there())


class Pack(ArchiveTest):
    def test_contains_the_files_and_their_hashes(self):
        members = self.packed(self.pack())
        manifest = json.loads(members.pop("archive.json"))["manifest"]
        expected = {name: data for name, data in FILES.items() if name not in NEVER | (OF_CHECKPOINTS - NEWEST)}
        self.assertEqual({f"made/{name}": data for name, data in expected.items()}, members)
        self.assertEqual({name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()} for name, data in expected.items()},
                         manifest["files"])
        self.assertEqual({"env.plugin": ["e0"], "learner.plugin": ["1a"]}, manifest["plugins"])
        self.assertEqual(("made", "1.2.3", "last"), (manifest["name"], manifest["backplane"], manifest["checkpoints"]))

    def test_checkpoints_are_chosen(self):
        for word, expected in (("none", set()), ("last", NEWEST), ("best", BEST_OR_NEWEST), ("best,last", NEWEST | {BEST}),
                               ("all", OF_CHECKPOINTS)):
            names = {name.removeprefix("made/") for name in self.packed(self.pack(word, f"{word}.zip"))}
            self.assertEqual(expected, names & OF_CHECKPOINTS, word)

    def test_the_same_folder_gives_the_same_bytes(self):
        first = self.pack(to="first.zip").read_bytes()
        os.utime(self.out / "config.yaml", (1, 1))
        self.assertEqual(first, self.pack(to="second.zip").read_bytes())

    def test_an_existing_file_and_a_running_experiment_are_left_alone(self):
        self.pack()
        self.assertIn("got one that exists", self.run_program("pack", self.out, "made.zip", "last", "1", exit=1))
        with open(self.out / "lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.assertIn("without a running experiment", self.run_program("pack", self.out, "new.zip", "last", "1", exit=1))
        self.assertEqual(["made", "made.zip"], sorted(os.listdir(self.folder)))

    def test_links_are_left_out_and_named(self):
        (self.out / "latest").symlink_to("trials")
        (self.out / "trials/a1/link").symlink_to("/etc/passwd")
        os.mkfifo(self.out / "pipe")
        said = self.run_program("pack", self.out, self.folder / "made.zip", "last", "1")
        self.assertEqual(["latest", "pipe", "trials/a1/link"],
                         [line.split(": ")[1] for line in said.splitlines() if line.startswith("left out")])
        self.run_program("verify", "made.zip")

    def test_names_that_unpack_would_reject_are_errors(self):
        (self.out / "a\\b").write_bytes(b"")
        self.assertIn("cannot be packed", self.run_program("pack", self.out, self.folder / "made.zip", "last", "1", exit=1))
        self.assertEqual(["made"], os.listdir(self.folder))

    def test_a_kill_leaves_no_archive(self):
        (self.out / "large").write_bytes(random.Random(SEED).randbytes(64 << 20))
        packing = subprocess.Popen([sys.executable, PROGRAM, "pack", self.out, self.folder / "made.zip", "last", "1"])
        while not list(self.folder.glob("made.zip.*.tmp")):
            self.assertIsNone(packing.poll())
        packing.kill()
        packing.wait()
        self.assertFalse((self.folder / "made.zip").exists())


class Damage(ArchiveTest):
    def test_a_flipped_bit_is_found_anywhere(self):
        file = self.pack()
        whole = file.read_bytes()
        chosen = random.Random(SEED)
        places = [chosen.randrange(8 * len(whole)) for _ in range(60)]
        places += [8 * (len(whole) - 1 - at) + at % 8 for at in range(0, 260, 7)]  # directory and comment
        for bit in places:
            damaged = bytearray(whole)
            damaged[bit // 8] ^= 1 << bit % 8
            file.write_bytes(damaged)
            self.assertRegex(self.run_program("verify", file, exit=1), "damaged", f"bit {bit}, seed {SEED}")

    def test_the_damaged_file_is_named(self):
        file = self.pack()
        data = bytearray(file.read_bytes())
        data[data.index(FILES["trials/a1/checkpoint/checkpoint.bin"][:50]) + 7] ^= 8
        file.write_bytes(data)
        said = self.run_program("verify", file, exit=1)
        self.assertIn("trials/a1/checkpoint/checkpoint.bin", said)
        self.assertNotIn("config.yaml", said)
        self.run_program("unpack", file, "new", exit=1)
        self.assertFalse((self.folder / "new").exists())

    def test_truncated_and_foreign_files_are_rejected(self):
        whole = self.pack().read_bytes()
        other = self.folder / "other"
        for data in (whole[:-1], whole[:len(whole) // 2], b"", whole + b"x", b"PK", without_end(whole)):
            other.write_bytes(data)
            self.assertIn("damaged", self.run_program("verify", other, exit=1))
        self.run_program("verify", "missing.zip", exit=2)

    def test_an_unpacked_folder_is_compared_with_its_list(self):
        self.pack()
        self.run_program("unpack", "made.zip", "copy")
        copy = self.folder / "copy"
        self.assertEqual(
            {name: data for name, data in FILES.items() if name not in NEVER | (OF_CHECKPOINTS - NEWEST)},
            {str(path.relative_to(copy)): path.read_bytes() for path in copy.rglob("*") if path.is_file() and path.name != "archive.json"})
        (copy / "report/report.html").write_bytes(b"a later report")
        (copy / "notes.txt").write_bytes(b"not in the list")
        self.assertIn("1 of them are reports", self.run_program("verify", "copy"))
        metrics = copy / "trials/a1/attempt-1/metrics.jsonl"
        metrics.write_bytes(metrics.read_bytes().replace(b"1", b"3", 1))
        (copy / "config.yaml").unlink()
        said = self.run_program("verify", "copy", exit=1)
        self.assertIn("config.yaml is missing\n  trials/a1/attempt-1/metrics.jsonl differs", said)

    def test_the_list_of_an_unpacked_folder_is_protected(self):
        self.pack()
        self.run_program("unpack", "made.zip", "copy")
        file = self.folder / "copy/archive.json"
        whole = file.read_bytes()
        for at in range(0, len(whole), 37):
            damaged = bytearray(whole)
            damaged[at] ^= 1 << at % 7
            file.write_bytes(damaged)
            self.assertIn("archive.json is damaged", self.run_program("verify", "copy", exit=1))

    def test_a_packed_copy_can_be_packed_again(self):
        first = self.pack().read_bytes()
        self.run_program("unpack", "made.zip", "elsewhere/made")
        self.run_program("pack", "elsewhere/made", "again.zip", "last", "1.2.3")
        self.assertEqual(first, (self.folder / "again.zip").read_bytes())


class Hostile(ArchiveTest):
    def test_a_forged_archive_without_a_fault_is_accepted(self):
        self.run_program("verify", self.forge(lambda entries, manifest: None))

    def test_names_that_leave_the_folder_are_rejected(self):
        recorded = {"bytes": 1, "sha256": hashlib.sha256(b"x").hexdigest()}
        for name, expected in (("made/../../evil", "'..'"), ("/tmp/evil", "an absolute name"), ("../evil", "'..'"),
                               ("made/a\\..\\b", "unusual"), ("made//evil", "unusual"), ("made/./evil", "unusual"),
                               ("made/evil\n", "unusual"), ("made/sub/", "unusual")):
            def change(entries, manifest, name=name):
                entries.append((zipfile.ZipInfo(name), b"x"))
                manifest["files"][name.removeprefix("made/")] = recorded
            self.reject(self.forge(change), expected)

    def test_links_and_devices_are_rejected(self):
        for kind in (stat.S_IFLNK, stat.S_IFCHR, stat.S_IFIFO, stat.S_IFDIR):
            def change(entries, manifest, kind=kind):
                entries[0][0].external_attr = (kind | 0o777) << 16
            self.reject(self.forge(change), "link or device")

    def test_a_name_occurs_once(self):
        with self.assertWarns(UserWarning):
            twice = self.forge(lambda entries, manifest: entries.append((zipfile.ZipInfo("made/config.yaml"), b"other")))
        self.reject(twice, "a different file")

    def test_a_name_is_a_file_or_a_folder(self):
        def change(entries, manifest):
            for name in ("config.yaml/a", "config.yaml/a/b"):
                entries.append((zipfile.ZipInfo("made/" + name), b"x"))
                manifest["files"][name] = {"bytes": 1, "sha256": hashlib.sha256(b"x").hexdigest()}
        self.reject(self.forge(change), "both a file and a folder")

    def test_the_list_and_the_members_agree(self):
        self.reject(self.forge(lambda entries, manifest: entries.append((zipfile.ZipInfo("made/extra"), b"x"))), "only in the archive")
        self.reject(self.forge(lambda entries, manifest: entries.pop(0)), "only in archive.json")

        def rename(entries, manifest):
            manifest["name"] = ".."
        self.reject(self.forge(rename), "unusual name")

    def test_contents_differ_from_the_list(self):
        def shorter(entries, manifest):
            manifest["files"]["report/report.html"]["bytes"] = 10  # as a small file that expands would be listed

        def other(entries, manifest):
            place = [info.filename for info, _ in entries].index("made/config.yaml")
            entries[place] = (zipfile.ZipInfo("made/config.yaml"), b"experiment: evil\n")
        self.reject(self.forge(shorter), "report/report.html differs")
        self.reject(self.forge(other), "config.yaml differs")

    def test_newer_formats_are_named(self):
        def change(entries, manifest):
            manifest["schema"] = 2
        self.reject(self.forge(change), "expected backplane.archive 1, got backplane.archive 2")

    def test_lists_of_another_form_are_rejected(self):
        for value in ([], {"config.yaml": 3}, None, {"config.yaml": {"bytes": "x", "sha256": None}}, {"config.yaml": {}}):
            def change(entries, manifest, value=value):
                manifest["files"] = value
            file = self.forge(change)
            self.assertRegex(self.run_program("verify", file, exit=1), "archive.json is damaged")
            (self.folder / "copy").mkdir(exist_ok=True)
            (self.folder / "copy/archive.json").write_bytes(self.packed(file)["archive.json"])
            self.assertIn("archive.json is damaged", self.run_program("verify", "copy", exit=1))

    def test_an_existing_folder_is_kept(self):
        self.pack()
        self.assertIn("got one that exists", self.run_program("unpack", "made.zip", "", exit=1))
        self.assertEqual(FILES["lock"], (self.out / "lock").read_bytes())


if __name__ == "__main__":
    unittest.main()
