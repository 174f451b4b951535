#!/usr/bin/env python3
"""Packs a results folder into a file, unpacks it, and checks both. `backplane pack`, `unpack` and `verify` start it.

  backplane-archive.py pack OUT FILE CHECKPOINTS VERSION    FILE empty: OUT.zip. CHECKPOINTS: last, none or all
  backplane-archive.py unpack FILE OUT                      OUT empty: the packed name, in this folder
  backplane-archive.py verify FILE|OUT

An archive is a ZIP file, so that other programs can read it. It contains NAME/... and archive.json, which lists every file with
its SHA-256. The archive's comment contains the SHA-256 of all bytes before it, so a flipped bit anywhere is found. The same folder
always gives the same bytes. `unpack` keeps archive.json in the folder, and `verify OUT` compares the folder with it.
"""
import contextlib
import errno
import fcntl
import hashlib
import json
import os
import re
import shutil
import stat
import sys
import tempfile
import zipfile

MANIFEST, FORMAT, SCHEMA = "archive.json", "backplane.archive", 1
END = b"backplane archive 1 sha256 "  # the comment: this, then 64 hex digits
MOST_MANIFEST = 256 << 20
PORTION = 1 << 20
NEVER = re.compile(r"(lock|archive\.json|results\.sqlite-shm|(engine|check)/.*|(.*/)?(node\.lock|[^/]*\.tmp))")
BEST = "best.bin"
LEARNER_FILE = ".data"  # needed by the last checkpoint
# Checkpoints of a trial, or of a replay in it.
CHECKPOINT = re.compile(r"trials/[^/]+/(?:replay-\d+/)?(checkpoint(?:\.before-[^/]+)?)/([^/]+)")
# Files that commands write again from the others.
DERIVED = re.compile(r"report/.*|index\.html|progress\.json|results\.sqlite.*")


class Fault(Exception):
    """A sentence for the user."""


def size_text(size):
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024:
            break
        size /= 1024
    else:
        unit = "TiB"
    return f"{size:.0f} bytes" if unit == "bytes" else f"{size:.1f} {unit}"


def portions(file, most=None):
    """The bytes of a file, of at most `most` and one more."""
    left = float("inf") if most is None else most + 1
    while left > 0 and (data := file.read(min(PORTION, left))):
        left -= len(data)
        yield data


def hash_of(file, most=None, copy=None):
    """The number of bytes and their SHA-256; `copy` gets them too."""
    digest, size = hashlib.sha256(), 0
    for data in portions(file, most):
        digest.update(data)
        size += len(data)
        if copy:
            copy.write(data)
    return {"bytes": size, "sha256": digest.hexdigest()}


def wrong_name(name):
    """The reason why no file of an archive may have this name; empty: it may."""
    if name.startswith("/"):
        return "an absolute name"
    if ".." in name.split("/"):
        return "a name with '..'"
    if not name.isprintable() or "\\" in name or any(part in ("", ".") for part in name.split("/")):
        return "an unusual name"
    return ""


@contextlib.contextmanager
def idle(out):
    """Keeps experiments from starting in the folder. An unpacked folder has no lock."""
    try:
        fd = os.open(os.path.join(out, "lock"), os.O_RDONLY)
    except FileNotFoundError:
        yield
        return
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise Fault(f"{out}: expected a folder without a running experiment\nhint: backplane stop {out}") from None
    finally:
        os.close(fd)


def is_wanted(path, names, checkpoints):
    """`names`: of the files in its folder."""
    if NEVER.fullmatch(path):
        return False
    found = CHECKPOINT.fullmatch(path)
    if not found or checkpoints == "all":
        return True
    kinds = checkpoints.split(",")
    newest = next((name for name in ("checkpoint.bin", "checkpoint.1.bin") if name in names), None)
    last = "last" in kinds or ("best" in kinds and BEST not in names)  # a trial without a best one packs its last one
    of_last = found[2] == newest or found[2].endswith(LEARNER_FILE)
    return found[1] == "checkpoint" and ((last and of_last) or ("best" in kinds and found[2] == BEST))


def files_in(out, checkpoints):
    """The paths to pack, in order, and those left out because they are links or devices."""
    wanted, left_out = [], []

    def fail(error):
        raise error

    for folder, folders, names in os.walk(out, onerror=fail):
        below = os.path.relpath(folder, out)
        for name in names + [name for name in folders if os.path.islink(os.path.join(folder, name))]:
            path = name if below == "." else f"{below}/{name}"
            if not is_wanted(path, names, checkpoints):
                continue
            if not stat.S_ISREG(os.lstat(os.path.join(folder, name)).st_mode):
                left_out.append(path)
            elif reason := wrong_name(path):
                raise Fault(f"{out}: {path!r} has {reason}, and cannot be packed\nhint: rename or delete it")
            else:
                wanted.append(path)
    return sorted(wanted), sorted(left_out)


def plugins_in(out):
    """SHA-256 of each plugin and data file, by its key in plan.jsonl."""
    hashes = {}
    with open(os.path.join(out, "plan.jsonl"), encoding="utf-8") as plan:
        for line in filter(str.strip, plan):
            for key, value in json.loads(line).get("files", {}).items():
                hashes.setdefault(key, set()).add(value)
    return {key: sorted(values) for key, values in sorted(hashes.items())}


def add(archive, name, path):
    """Adds a file and returns its size and hash, of the bytes in the archive."""
    info = zipfile.ZipInfo(name)  # with a fixed date
    info.external_attr = (stat.S_IFREG | 0o644) << 16
    info.compress_type = zipfile.ZIP_STORED if CHECKPOINT.search(name) else zipfile.ZIP_DEFLATED  # weights do not shrink
    with open(path, "rb") as file, archive.open(info, "w", force_zip64=os.path.getsize(path) > 1 << 30) as member:
        return hash_of(file, copy=member)


def sealed(manifest):
    """The manifest with its own hash."""
    text = json.dumps(manifest, sort_keys=True, separators=(",", ":"))
    return f'{{"sha256":"{hashlib.sha256(text.encode()).hexdigest()}","manifest":{text}}}\n'


def pack(out, to, checkpoints, version):
    out = os.path.abspath(out)
    name = os.path.basename(out)
    to = to or out + ".zip"
    if os.path.lexists(to):
        raise Fault(f"{to}: expected a new file, got one that exists\nhint: backplane pack {out} --to FILE")
    manifest = {"format": FORMAT, "schema": SCHEMA, "backplane": version, "name": name, "checkpoints": checkpoints,
                "plugins": plugins_in(out)}
    draft = f"{to}.{os.getpid()}.tmp"
    try:
        with idle(out):
            paths, manifest["left_out"] = files_in(out, checkpoints)
            with zipfile.ZipFile(draft, "x", zipfile.ZIP_DEFLATED) as archive:
                manifest["files"] = {path: add(archive, f"{name}/{path}", os.path.join(out, path)) for path in paths}
                info = zipfile.ZipInfo(MANIFEST)
                info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, (stat.S_IFREG | 0o644) << 16
                archive.writestr(info, sealed(manifest))
                archive.comment = END + b"0" * 64
        seal(draft)
        os.rename(draft, to)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(draft)
        raise
    print(f"{to}: {len(paths):,} files, {size_text(os.path.getsize(to))}, checkpoints: {checkpoints}")
    for path in manifest["left_out"]:
        print(f"left out, because it is no regular file: {path}")


def seal(file):
    """Writes the hash of all other bytes into the comment, and brings the file to the disk."""
    with open(file, "r+b") as opened:
        digest = hash_of_archive(opened)
        opened.seek(-64, os.SEEK_END)
        opened.write(digest.encode())
        opened.flush()
        os.fsync(opened.fileno())


def hash_of_archive(file):
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    return hash_of(file, size - 65)["sha256"]


def recorded_hash(path):
    """The hash in the comment of an archive."""
    with open(path, "rb") as file:
        if file.seek(0, os.SEEK_END) > len(END) + 64:
            file.seek(-len(END) - 64, os.SEEK_END)
            end = file.read()
            if end.startswith(END) and re.fullmatch(rb"[0-9a-f]{64}", end[len(END):]):
                return end[len(END):].decode()
    raise Fault(f"{path}: expected a file from `backplane pack`, got a different file, or one that is damaged at its end")


def manifest_from(text, path):
    """The manifest in the bytes of archive.json. Raises Fault."""
    try:
        manifest = json.loads(text)["manifest"]
        whole, kind = sealed(manifest).encode() == text, f"{manifest['format']} {manifest['schema']}"
        if whole and kind != f"{FORMAT} {SCHEMA}":
            raise Fault(f"{path}: expected {FORMAT} {SCHEMA}, got {kind}")
        if whole and (wrong_name(manifest["name"]) or "/" in manifest["name"]):
            raise Fault(f"{path}: rejected, because the folder {manifest['name']!r} has an unusual name")
        whole &= all(isinstance(file["bytes"], int) for file in manifest["files"].values())
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        whole = False
    if not whole:
        raise Fault(f"{path}: {MANIFEST} is damaged")
    return manifest


def check_members(archive, path):
    """Raises Fault unless each member is a regular file below the archive's folder."""
    names, folders = set(), set()
    for info in archive.infolist():
        name = info.orig_filename
        kind = stat.S_IFMT(info.external_attr >> 16)
        reason = wrong_name(name)
        if kind not in (0, stat.S_IFREG):
            reason = "the type of a link or device"
        elif info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            reason = "an unknown compression"
        elif name in names:
            reason = "the name of a different file"
        if reason:
            raise Fault(f"{path}: rejected, because its file {name!r} has {reason}")
        names.add(name)
        parts = name.split("/")[:-1]
        folders.update("/".join(parts[:n]) for n in range(1, len(parts) + 1))
    if both := sorted(names & folders):
        raise Fault(f"{path}: rejected, because {both[0]!r} is both a file and a folder")
    return names


def manifest_of(archive, path):
    names = check_members(archive, path)
    if MANIFEST not in names or archive.getinfo(MANIFEST).file_size > MOST_MANIFEST:
        raise Fault(f"{path}: expected a file from `backplane pack`, got one without {MANIFEST}")
    with archive.open(MANIFEST) as member:
        manifest = manifest_from(b"".join(portions(member, MOST_MANIFEST)), path)
    expected = {f"{manifest['name']}/{file}" for file in manifest["files"]} | {MANIFEST}
    if other := sorted(expected ^ names):
        raise Fault(f"{path}: rejected, because {other[0]!r} is only in {MANIFEST if other[0] in expected else 'the archive'}")
    return manifest


@contextlib.contextmanager
def opened(path):
    """The archive and its manifest. A damaged archive may raise any error of zipfile."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive, manifest_of(archive, path)
    except Fault:
        raise
    except Exception as error:  # of zipfile and zlib: several types, and more in newer releases
        if isinstance(error, OSError) and error.errno != errno.EINVAL:  # a seek to a place before the file
            raise
        raise Fault(f"{path}: damaged: {error}") from error


def is_same(archive, manifest, name, copy=None):
    """True if a file in an archive is as listed."""
    try:
        with archive.open(f"{manifest['name']}/{name}") as member:
            return hash_of(member, manifest["files"][name]["bytes"], copy) == manifest["files"][name]
    except Exception as error:
        if isinstance(error, OSError) and error.errno != errno.EINVAL:
            raise
        return False  # zipfile and zlib report damage by several types


def damaged_members(path):
    """The names of damaged files in an archive whose hash differs; empty: the damage is between them."""
    try:
        with opened(path) as (archive, manifest):
            return [name for name in manifest["files"] if not is_same(archive, manifest, name)]
    except Exception:
        return []


def list_of(names):
    most = 10
    return "".join(f"\n  {name}" for name in names[:most]) + (f"\n  and {len(names) - most} more" if len(names) > most else "")


def check_whole(path):
    """Raises Fault if a byte of the archive differs."""
    recorded = recorded_hash(path)
    with open(path, "rb") as file:
        if hash_of_archive(file) == recorded:
            return
    damaged = damaged_members(path)
    raise Fault(f"{path}: damaged: the archive differs from its checksum" +
                ("; damaged files:" + list_of(damaged) if damaged else " between its files"))


def verify(path):
    if os.path.isdir(path):
        return verify_folder(path)
    check_whole(path)
    with opened(path) as (archive, manifest):
        for name in manifest["files"]:
            if not is_same(archive, manifest, name):
                raise Fault(f"{path}: rejected, because {name} differs from its checksum in {MANIFEST}")
    print(f"{path}: whole: {len(manifest['files']):,} files, checkpoints: {manifest['checkpoints']}")


def verify_folder(out):
    try:
        with open(os.path.join(out, MANIFEST), "rb") as file:
            manifest = manifest_from(b"".join(portions(file, MOST_MANIFEST)), out)
    except FileNotFoundError:
        raise Fault(f"{out}: expected a packed file or a folder from `backplane unpack`, got a folder without {MANIFEST}") from None
    damaged, written = [], 0
    for name, recorded in manifest["files"].items():
        if reason := wrong_name(name):
            raise Fault(f"{out}: rejected, because the file {name!r} in {MANIFEST} has {reason}")
        try:
            with open(os.path.join(out, name), "rb") as file:
                state = "" if hash_of(file, recorded["bytes"]) == recorded else "differs"
        except (FileNotFoundError, NotADirectoryError):
            state = "is missing"
        if state and DERIVED.fullmatch(name):
            written += 1
        elif state:
            damaged.append(f"{name} {state}")
    if damaged:
        raise Fault(f"{out}: damaged: {len(damaged):,} of {len(manifest['files']):,} files:" + list_of(damaged))
    print(f"{out}: whole: {len(manifest['files']):,} files, checkpoints: {manifest['checkpoints']}" +
          (f"; {written:,} of them are reports or tables, written again since" if written else ""))


def extract(archive, manifest, to):
    for name in manifest["files"]:
        target = os.path.join(to, name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "xb") as copy:
            if not is_same(archive, manifest, name, copy):
                raise Fault(f"rejected, because {name} differs from its checksum in {MANIFEST}; the folder was not created")
    with open(os.path.join(to, MANIFEST), "x", encoding="utf-8") as copy:
        copy.write(sealed(manifest))


def unpack(path, to):
    check_whole(path)
    with opened(path) as (archive, manifest):
        to = os.path.abspath(to or manifest["name"])
        if os.path.lexists(to):
            raise Fault(f"{to}: expected a new folder, got one that exists\nhint: backplane unpack {path} --to OUT")
        os.makedirs(os.path.dirname(to), exist_ok=True)
        needed, free = sum(file["bytes"] for file in manifest["files"].values()), shutil.disk_usage(os.path.dirname(to)).free
        if needed > free:
            raise Fault(f"{to}: needs {size_text(needed)} of disk space, but {size_text(free)} are free")
        draft = tempfile.mkdtemp(prefix=f".{os.path.basename(to)}.", dir=os.path.dirname(to))
        try:
            extract(archive, manifest, draft)
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(draft, 0o777 & ~umask)
            os.rename(draft, to)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
    print(f"{to}: {len(manifest['files']):,} files, {size_text(needed)}, checkpoints: {manifest['checkpoints']}")


def main():
    command, arguments = sys.argv[1], sys.argv[2:]
    try:
        {"pack": pack, "unpack": unpack, "verify": verify}[command](*arguments)
    except Fault as fault:
        sys.exit(f"backplane {command}: {fault}")
    except FileNotFoundError as error:
        print(f"backplane {command}: {error.filename}: {error.strerror}", file=sys.stderr)
        sys.exit(2)
    except (OSError, MemoryError) as error:
        sys.exit(f"backplane {command}: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
