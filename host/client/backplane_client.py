"""Reports numbers of a training script to the trial that runs it (docs/trial-by-command.md).

    import backplane_client
    backplane_client.log({"return": 21.5, "eval/return": 30.0}, step=1000)

A function that is the objective (docs/functions.md) calls report() and checkpoint_dir().

One file without dependencies: copy it next to a script, or install Backplane's wheel. Without a trial, calls do nothing. No call
ends a training: a failed report is skipped with one line on standard error per reason.

  step          env steps so far, for the horizontal axis, speeds and budget.env_steps; omitted: as before
  a mapping     within the mapping: its names follow a slash, {"eval": {"return": 1}} is eval/return
  NaN, inf      are reported as not finite
  others        any value that float() accepts: numbers, NumPy's and PyTorch's of one element, flags; None is skipped
  texts         are sent, so that the trial warns about them once; a list or an array is sent as the name of its type
  threads       may call it concurrently, also a signal handler or a destructor during a call
  processes     that inherit the descriptor may call it too; a line over 4096 bytes needs a single writer to stay whole
"""
import json
import math
import os
import pathlib
import sys
import tempfile
import threading

__all__ = ["active", "checkpoint_dir", "log", "report"]

_MOST_DEPTH = 16
_WHOLE_BYTES = 4096  # written to a pipe in one piece
_MOST_TEXT = 80  # that a warning shows
_said = set()
_own_folder = []  # a TemporaryDirectory, outside a trial
_long_lines = threading.RLock()


def _say(what):
    """Once each: a loop of a million steps would fill the log."""
    if what not in _said and len(_said) < 100:
        _said.add(what)
        print(f"backplane_client: {what}", file=sys.stderr, flush=True)


def _descriptor():
    """Returns the trial's descriptor, or None if there is none or its number now belongs to a different file."""
    text = os.environ.get("BACKPLANE_REPORT_FD", "")
    if not text.isdigit():
        return None
    wanted = os.environ.get("BACKPLANE_REPORT_INODE", "")
    try:
        found = os.fstat(int(text)).st_ino
    except OSError:
        found = None
    if found is None or (wanted and str(found) != wanted):
        _say(f"reports are off because descriptor {text} is closed here; start processes with close_fds=False or pass_fds")
        return None
    return int(text)


def active():
    """Returns whether a trial runs this script."""
    return _descriptor() is not None


def _text(value):
    """For the trial's warning. Only texts show their content: a repr() may be slow, fail or call log()."""
    if isinstance(value, bytes):
        value = value[:_MOST_TEXT].decode(errors="replace")
    if not isinstance(value, str):
        return f"<{type(value).__name__}>"
    return value[:_MOST_TEXT].encode(errors="replace").decode()  # JSON has no lone surrogates


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
        except Exception:  # of the value's library
            out[name] = _text(value)
            continue
        out[name] = number if math.isfinite(number) else None


def _send(message):
    """Writes one line to the trial. Returns whether it got it."""
    fd = _descriptor()
    if fd is None:
        return False
    line = (json.dumps(message) + "\n").encode()
    # With a limit, as a fork may have left it locked for ever.
    locked = len(line) > _WHOLE_BYTES and _long_lines.acquire(timeout=1)
    try:
        while line:
            line = line[os.write(fd, line):]
    except OSError as error:
        _say(f"reports stopped: {error}")
        return False
    finally:
        if locked:
            _long_lines.release()
    return True


def log(values, step=None):
    """Reports values by name, at this step. Returns whether a trial got them."""
    if not active():
        return False
    try:
        numbers = {}
        _collect(values, "", 0, numbers)
        message = {"values": numbers}
        if step is not None:
            message["step"] = int(step)
        return bool(numbers) and _send(message)
    except Exception as error:
        _say(f"report skipped: expected a mapping of names to numbers and a whole step, got {values!r:.80} at {step!r:.40} ({error})")
        return False


def report(values=None, step=None, **named):
    """As log(): report({"loss": 0.5}, step=10) or report(loss=0.5)."""
    if named and (values is None or hasattr(values, "items")):
        values = {**(values or {}), **named}
    return log(values, step)


def checkpoint_dir():
    """Returns the folder that all attempts of the trial share. Outside a trial, it is temporary and ends with this process."""
    folder = os.environ.get("BACKPLANE_CHECKPOINT_DIR")
    if not folder:
        if not _own_folder:
            _own_folder.append(tempfile.TemporaryDirectory(prefix="backplane-checkpoint-"))
        folder = _own_folder[0].name
    return pathlib.Path(folder)
