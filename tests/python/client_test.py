#!/usr/bin/env python3
"""The clients of a trial by command: in Python, C and shell, against a pipe that this test reads.

  client_test.py FOLDER [CC]      FOLDER holds backplane_client.{py,h,sh}
"""
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest
from unittest import mock

FOLDER = pathlib.Path(sys.argv[1])
COMPILER = sys.argv[2] if len(sys.argv) > 2 else "cc"
sys.path.insert(0, str(FOLDER))
import backplane_client  # noqa: E402
import backplane_function  # noqa: E402


class Pipe:
    """A trial's end of the channel."""

    def __init__(self, writer=None):
        self.wanted = writer  # the number of the descriptor

    def __enter__(self):
        self.reader, self.writer = os.pipe()
        if self.wanted is not None:
            low, self.writer = self.writer, os.dup2(self.writer, self.wanted)
            os.close(low)
        os.environ["BACKPLANE_REPORT_FD"] = str(self.writer)
        os.environ["BACKPLANE_REPORT_INODE"] = str(os.fstat(self.writer).st_ino)
        return self

    def __exit__(self, *_):
        for fd in (self.reader, self.writer):
            try:
                os.close(fd)
            except OSError:
                pass
        del os.environ["BACKPLANE_REPORT_FD"], os.environ["BACKPLANE_REPORT_INODE"]

    def lines(self):
        os.close(self.writer)
        with os.fdopen(os.dup(self.reader)) as stream:
            return [json.loads(line) for line in stream]

    def run(self, *words, **options):
        return subprocess.run(words, pass_fds=[self.writer], check=True, text=True, capture_output=True, **options)


class Number:
    def __float__(self):
        backplane_client.log({"inner": 1})  # a nested call
        return 2.0


class Python(unittest.TestCase):
    def test_reports_arrive(self):
        with Pipe() as pipe:
            self.assertTrue(backplane_client.active())
            self.assertTrue(backplane_client.log({"return": 21.5, "eval": {"return": 3}, "flag": True, "none": None}, step=1000))
            self.assertTrue(backplane_client.log({"nan": math.nan, "inf": -math.inf, "n": Number()}))
            first, inner, second = pipe.lines()
        self.assertEqual(first, {"values": {"return": 21.5, "eval/return": 3, "flag": 1}, "step": 1000})
        self.assertEqual(inner, {"values": {"inner": 1}})
        self.assertEqual(second, {"values": {"nan": None, "inf": None, "n": 2}})

    def test_texts_are_sent_for_the_trials_warning(self):
        class Unprintable:
            def __repr__(self):
                raise RuntimeError

        with Pipe() as pipe:
            texts = {"text": "n/a", "number": "1.5", "nan": "nan", "info": {"b": b"\xff"}}
            self.assertTrue(backplane_client.log({"a": 1, **texts}))
            self.assertTrue(backplane_client.log({"long": "é" * 1000, "surrogate": "\udc80", "empty": ""}))
            others = {"list": [1, 2], "empty": {}, "big": 10**400, "odd": Unprintable(), "none": None}
            self.assertTrue(backplane_client.log(others))
            first, second, third = pipe.lines()
        self.assertEqual(first, {"values": {"a": 1, "text": "n/a", "number": 1.5, "nan": None, "info/b": "\ufffd"}})
        self.assertEqual(second, {"values": {"long": "é" * 80, "surrogate": "?", "empty": ""}})
        self.assertEqual(third, {"values": {"list": "<list>", "big": "<int>", "odd": "<Unprintable>"}})

    def test_scalars_of_other_libraries_are_numbers(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("without numpy")
        values = {"scalar": numpy.float32(0.5), "flag": numpy.True_, "array": numpy.array(2), "nan": numpy.array(math.nan)}
        try:
            import torch
            values |= {"tensor": torch.tensor(3.5, requires_grad=True), "one": torch.ones(1)}
        except ImportError:
            pass
        with Pipe() as pipe:
            backplane_client.log({**values, "several": numpy.zeros(3)})
            found = pipe.lines()[0]["values"]
        wanted = {"scalar": 0.5, "flag": 1, "array": 2, "nan": None, "tensor": 3.5, "one": 1, "several": "<ndarray>"}
        self.assertEqual(found, {name: wanted[name] for name in (*values, "several")})

    def test_a_bad_value_costs_only_itself(self):
        with Pipe() as pipe:
            self.assertTrue(backplane_client.log({"a": 1}))
            self.assertFalse(backplane_client.log({}))
            self.assertFalse(backplane_client.log(5))
            self.assertFalse(backplane_client.log({"a": 1}, step="x"))
            deep = {}
            deep["self"] = deep
            backplane_client.log(deep)
            self.assertEqual(pipe.lines(), [{"values": {"a": 1}}, {"values": {"self" + "/self" * 16: "<dict>"}}])

    def test_does_nothing_without_a_trial(self):
        self.assertFalse(backplane_client.active())
        self.assertFalse(backplane_client.log({"a": 1}, step=1))
        for text in ("", "x", "-1", "12345"):
            os.environ["BACKPLANE_REPORT_FD"] = text
            self.assertFalse(backplane_client.log({"a": 1}), text)
        del os.environ["BACKPLANE_REPORT_FD"]

    def test_never_writes_to_a_reused_descriptor(self):
        with Pipe() as pipe, tempfile.TemporaryFile() as other:
            os.dup2(other.fileno(), pipe.writer)
            self.assertFalse(backplane_client.log({"a": 1}))
            other.seek(0)
            self.assertEqual(other.read(), b"")

    def test_survives_a_reader_that_has_exited(self):
        with Pipe() as pipe:
            os.close(pipe.reader)
            self.assertFalse(backplane_client.log({"a": 1}))
            pipe.reader = os.open(os.devnull, os.O_RDONLY)

    def test_large_reports_of_threads_stay_whole(self):
        with Pipe() as pipe:
            read = []

            def take():
                with os.fdopen(os.dup(pipe.reader)) as stream:
                    read.extend(json.loads(line) for line in stream)

            reader = threading.Thread(target=take)
            reader.start()
            large = {f"layer_{i:04}": float(i) for i in range(5000)}
            threads = [threading.Thread(target=lambda: [backplane_client.log(large, step=i) for i in range(20)]) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            os.close(pipe.writer)
            reader.join()
            self.assertEqual(len(read), 80)
            self.assertTrue(all(line["values"] == large for line in read))

    def test_child_processes_inherit_no_descriptor(self):
        with Pipe() as pipe:
            code = "import backplane_client as c; print(c.log({'a': 1}))"
            run = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(FOLDER)}, capture_output=True, text=True)
            self.assertEqual(run.stdout, "False\n", run.stderr)
            self.assertIn("is closed here", run.stderr)
            self.assertEqual(pipe.lines(), [])


class Functions(unittest.TestCase):
    def test_report_is_log_with_names(self):
        with Pipe() as pipe:
            self.assertTrue(backplane_client.report({"a": 1}, step=3))
            self.assertTrue(backplane_client.report(loss=2, step=4))
            self.assertTrue(backplane_client.report({"a": 1}, b=2))
            self.assertFalse(backplane_client.report(5))
            self.assertFalse(backplane_client.report(5, b=2))
            self.assertEqual(pipe.lines(), [{"values": {"a": 1}, "step": 3}, {"values": {"loss": 2}, "step": 4}, {"values": {"a": 1, "b": 2}}])

    def test_the_checkpoint_folder_is_the_trials_or_temporary(self):
        self.assertTrue(backplane_client.checkpoint_dir().is_dir())
        self.assertEqual(backplane_client.checkpoint_dir(), backplane_client.checkpoint_dir())
        with mock.patch.dict(os.environ, BACKPLANE_CHECKPOINT_DIR="/a/b"):
            self.assertEqual(backplane_client.checkpoint_dir(), pathlib.Path("/a/b"))

    def why_not(self, source, name="train"):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "file.py"
            file.write_text(source)
            return backplane_function.why_not(str(file), name)

    def test_functions_are_found_without_running_the_file(self):
        for source in ("def train(config): pass", "def train(config, extra=1, *rest, key=2): pass", "def train(*config): pass",
                       "def train(config, /): pass", "if a:\n  def train(config): pass\nelse:\n  train = None", "import train",
                       "from a import b as train", "from a import *", "train = partial(f)", "a, (train, b) = 1, (2, 3)",
                       "try:\n  from a import train\nexcept ImportError:\n  pass", "with a as train: pass", "train: object = 1",
                       "@decorated\ndef train(a, b): pass", "if __name__ == '__main__':\n  pass\nelse:\n  train = 1"):
            self.assertEqual(self.why_not(source), "", source)

    def test_others_are_named_with_the_nearest(self):
        for source, why in (("def trian(config): pass", "expected a function 'train' at the top level of file.py, got none; did you mean 'trian'?"),
                            ("def a(config): pass\ndef b(config): pass", "got none; its functions: a, b"),
                            ("x = 1", "expected a function 'train' at the top level of file.py, got none"),
                            ("class A:\n  def train(config): pass", "got none"),
                            ("def a():\n  def train(config): pass", "got none; its functions: a"),
                            ("if __name__ == '__main__':\n  def train(config): pass", "which a trial does not execute"),
                            ("\nclass train: pass", "file.py:2: expected a function of one argument, got the class 'train'"),
                            ("async def train(config): pass", "expected a plain function, got 'async def train'"),
                            ("def train(): pass", "such as `def train(config):`, got `def train():`"),
                            ("def train(config, seed): pass", "got `def train(config, seed):`"),
                            ("def train(config, *, seed): pass", "got `def train(config, *, seed):`"),
                            ("def train(*, config=1): pass", "got `def train(*, config=1):`"),
                            ("def train(config:\n", "file.py:1: SyntaxError: ")):
            self.assertIn(why, self.why_not(source), source)


class Shell(unittest.TestCase):
    def test_writes_to_descriptors_of_two_digits(self):
        for shell in ("sh", "bash"):
            with Pipe(writer=60) as pipe:
                pipe.run(shell, "-euc", f". '{FOLDER}/backplane_client.sh'; backplane_log step=1 return=2")
                self.assertEqual(pipe.lines(), [{"values": {"return": 2}, "step": 1}])

    def test_reports_arrive(self):
        for shell in ("sh", "bash"):
            with Pipe() as pipe:
                script = f". '{FOLDER}/backplane_client.sh'; backplane_log step=1000 return=21.5 eval/return=30 x=nan y=.5 z=007 w=abc; backplane_log a=1e-4; backplane_log step=3"
                pipe.run(shell, "-euc", script)
                self.assertEqual(pipe.lines(), [
                    {"values": {"return": 21.5, "eval/return": 30, "x": None, "y": 0.5, "z": 7, "w": "abc"}, "step": 1000},
                    {"values": {"a": 1e-4}}, {"values": {}, "step": 3}])

    def test_texts_are_sent_for_the_trials_warning(self):
        words = {"quotes": 'a "b" \\ $(c) `d` %s', "lines": "a\n1\nb", "accent": "é", "empty": "", "code": "'a",
                 "half": "12abc", "long": "x" * 200, "number": " 12", "minus": "-", "inf": "-inf"}
        wanted = {**words, "lines": "a?1?b", "accent": "??", "long": "x" * 80, "number": 12, "inf": None}
        for shell in ("sh", "bash"):
            with Pipe() as pipe:
                pipe.run(shell, "-euc", f". '{FOLDER}/backplane_client.sh'; backplane_log \"$@\"", "sh",
                         *(f"{name}={word}" for name, word in words.items()))
                self.assertEqual(pipe.lines(), [{"values": wanted}], shell)

    def test_does_nothing_without_a_trial(self):
        script = f". '{FOLDER}/backplane_client.sh'; backplane_log a=1; exec 9>&-; BACKPLANE_REPORT_FD=9; backplane_log a=1; echo on"
        for shell in ("sh", "bash"):
            self.assertEqual(subprocess.run([shell, "-euc", script], capture_output=True, text=True, check=True).stdout, "on\n")


class C(unittest.TestCase):
    PROGRAM = r"""
#include "backplane_client.h"
int main(void) {
  char long_name[5000];
  int told = backplane_log(1000, 2, "return", 21.5, "lo\"ss\n", 0.0 / zero());
  told += backplane_log_one(-1, "x", 1e300);
  memset(long_name, 'n', sizeof long_name - 1);
  long_name[sizeof long_name - 1] = 0;
  printf("%d %d\n", told, backplane_log_one(1, long_name, 1));
  return 0;
}
"""

    def test_reports_arrive(self):
        with tempfile.TemporaryDirectory() as folder:
            source, program = pathlib.Path(folder) / "t.c", pathlib.Path(folder) / "t"
            source.write_text(self.PROGRAM.replace("0.0 / zero()", "NAN"))
            flags = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-I", str(FOLDER), str(source), "-o", str(program)]
            subprocess.run([COMPILER, "-std=c99", "-D_POSIX_C_SOURCE=200809L", *flags], check=True)
            subprocess.run([COMPILER, "-x", "c++", "-std=c++17", "-fsyntax-only", *flags[:-2]], check=True)
            with Pipe() as pipe:
                self.assertEqual(pipe.run(str(program)).stdout, "2 -1\n")
                self.assertEqual(pipe.lines(), [{"values": {"return": 21.5, 'lo"ss?': None}, "step": 1000}, {"values": {"x": 1e300}}])
            self.assertEqual(subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout, "0 0\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
