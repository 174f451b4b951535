"""Reports numbers of a training script to the trial that runs it (docs/trial-by-command.md).

    import backplane_client
    backplane_client.log({"return": 21.5, "eval/return": 30.0}, step=1000)

One file that needs nothing: copy it beside a script, or install Backplane's wheel. Where no trial runs the script every call does
nothing. No call ends a training: what cannot be reported is said once on standard error and left out.

  step          env steps so far, for the horizontal axis, speeds and budget.env_steps; left out: as before
  a mapping     within the mapping: its names follow a slash, {"eval": {"return": 1}} is eval/return
  NaN, inf      are reported as not finite
  others        whatever float() takes: numbers, numpy's and PyTorch's of one element, flags; None is left out
  threads       may call it at once, and so may a signal handler or a destructor in the middle of a call
  processes     that inherit the descriptor may, too; a line of more than 4096 bytes is whole only if no other one writes
"""
import json
import math
import os
import sys
import threading

__all__ = ["active", "log"]

_MOST_DEPTH = 16
_WHOLE_BYTES = 4096  # that a pipe takes at once
_said = set()
_long_lines = threading.RLock()


def _say(what):
    """Once each: a loop of a million steps would fill the log."""
    if what not in _said and len(_said) < 100:
        _said.add(what)
        print(f"backplane_client: {what}", file=sys.stderr, flush=True)


def _descriptor():
    """The trial's, or None: there is none, or what has its number by now is another file."""
    text = os.environ.get("BACKPLANE_REPORT_FD", "")
    if not text.isdigit():
        return None
    wanted = os.environ.get("BACKPLANE_REPORT_INODE", "")
    try:
        found = os.fstat(int(text)).st_ino
    except OSError:
        found = None
    if found is None or (wanted and str(found) != wanted):
        _say(f"descriptor {text} is closed here: nothing is reported (start processes with close_fds=False or pass_fds)")
        return None
    return int(text)


def active():
    """Whether a trial listens."""
    return _descriptor() is not None


def _collect(values, prefix, depth, out):
    for name, value in values.items():
        name = f"{prefix}{name}"
        if value is None:
            continue
        if hasattr(value, "items") and depth < _MOST_DEPTH:
            _collect(value, name + "/", depth + 1, out)
            continue
        try:
            number = float(value)
        except Exception as error:  # of whichever library the value is
            _say(f"'{name}' is left out: wanted a number, found {type(value).__name__} ({error})")
            continue
        out[name] = number if math.isfinite(number) else None


def log(values, step=None):
    """Reports values by name, at this step. Returns whether a trial was told."""
    fd = _descriptor()
    if fd is None:
        return False
    try:
        numbers = {}
        _collect(values, "", 0, numbers)
        report = {"values": numbers}
        if step is not None:
            report["step"] = int(step)
        line = (json.dumps(report) + "\n").encode()
    except Exception as error:
        _say(f"a report is left out: wanted a mapping of names to numbers and a whole step, found {values!r:.80} at {step!r:.40} ({error})")
        return False
    if not numbers:
        return False
    # With a limit, as a fork may have left it locked for ever.
    locked = len(line) > _WHOLE_BYTES and _long_lines.acquire(timeout=1)
    try:
        while line:
            line = line[os.write(fd, line):]
    except OSError as error:
        _say(f"nothing is reported any more: {error}")
        return False
    finally:
        if locked:
            _long_lines.release()
    return True
