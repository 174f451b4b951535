"""One env process of a plugin whose envs are written in Python: it runs every n-th row of a trial.

The plugin contains this text and starts it with these descriptors (numbers are little-endian):

    3  commands   b"S" or b"R", first row, row after the last (8 bytes each): step or reset my rows among them
                  another letter, a length (8 bytes), as many bytes: see Worker.ANSWERS
                  the end: no more commands
    4  replies    a length (4 bytes), as many bytes: none, or b"V" and an answer, b"N" and notices of a step or reset (JSON),
                  or b"E" and an error (JSON); the last two have at most 64 KiB
    5  memory     one array per channel, seeds and mask; the rows of one worker are adjacent
    6  this text
    7  a pipe that closes when the trial's process ends for any reason

Row r belongs to worker r % n, so a row's numbers do not depend on n. Its output goes to descriptors 1 and 2, as always.
"""

import array
import copy
import errno
import faulthandler
import fcntl
import functools
import importlib
import importlib.metadata
import importlib.util
import inspect
import json
import math
import mmap
import operator
import os
import pickle
import re
import shlex
import signal
import struct
import sys
import traceback
import warnings
import zlib
from collections.abc import Mapping

COMMANDS, REPLIES, MEMORY, SOURCE, LIFE = range(3, 8)
RANGE = struct.Struct("<BQQ")
HEADER = struct.Struct("<BQ")
STEP, RESET = b"S"[0], b"R"[0]
MOST_TRACEBACK = 2500  # characters of a traceback or message in an error


OUT_OF_MEMORY = b'E{"oom": true, "error": "MemoryError"}'  # prepared, because an error may leave no memory for its message


class Refusal(Exception):
    """The env cannot be used as configured; the message needs no traceback."""


def leave_with_the_trial():
    """Lets the kernel end this process when the trial's process ends, even during a step that hangs."""
    for fd in range(COMMANDS, LIFE + 1):
        os.set_inheritable(fd, False)  # processes that an env starts must not inherit it
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1, all_threads=True)  # sent when a call takes too long
    for ignored in (signal.SIGINT, signal.SIGTERM):  # the trial handles Ctrl-C
        signal.signal(ignored, signal.SIG_IGN)
    # SIGIO, which ends the process by default, comes when the other end of the pipe closes. PR_SET_PDEATHSIG would come when the
    # thread that started the worker ends. The owner belongs to the open file description, which all workers share, so reopen
    # the pipe.
    life = os.open(f"/proc/self/fd/{LIFE}", os.O_RDONLY | os.O_NONBLOCK)
    os.close(LIFE)
    fcntl.fcntl(life, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(life, fcntl.F_SETFL, fcntl.fcntl(life, fcntl.F_GETFL) | os.O_ASYNC)
    try:
        gone = os.read(life, 1) == b""
    except BlockingIOError:
        gone = False
    if gone:
        os._exit(0)


def prepare():
    """What every worker program does first."""
    leave_with_the_trial()
    if not getattr(sys.flags, "safe_path", False):
        del sys.path[0]  # the folder of this text, which does not exist


def read_exactly(n):
    data, at = bytearray(n), 0  # adding to bytes would copy a large state for each piece of it
    while at < n:
        got = os.readv(COMMANDS, [memoryview(data)[at:]])
        if not got:
            sys.exit(0)
        at += got
    return bytes(data)


def write_all(data):
    view = memoryview(data)
    while view:
        view = view[os.write(REPLIES, view):]


def reply(body=b""):
    write_all(struct.pack("<I", len(body)) + body)
