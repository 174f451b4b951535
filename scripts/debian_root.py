"""An empty Debian in a folder, with the package settings of this machine, for scripts that imitate a newcomer. Needs root, debootstrap,
and its own mounts and process ids, which `main_of` makes.
"""
import collections
import dataclasses
import fcntl
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
USER = "newcomer"
SCRIPT = pathlib.Path(sys.argv[0]).name
MARKER = "made-by-debian_root"  # we may reuse and remove a folder with this file
PART = "debian.part"
CERTIFICATES = "/etc/machine-certificates.crt"
PASSED_ON = re.compile(r"(http|https|ftp|all|no)_proxy|HTTPS?_PROXY|NO_PROXY|ALL_PROXY|PIP_(?!CERT|FIND_LINKS)\w+")


def die(sentence):
    sys.exit(f"{SCRIPT}: {sentence}")


def say(sentence):
    print(f"{SCRIPT}: {sentence}", flush=True)


def output_of(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        die(f"failed: {shlex.join(command)}\n{done.stderr}")
    return done.stdout


# Package sources of this machine.

def apt_sources(suite):
    """Lines of sources.list for the suite, its updates and its security fixes, from this machine's sources. Other sources are
    left behind: they are not part of an empty Debian."""
    kinds = output_of("apt-get", "indextargets", "--format", "$(REPO_URI)|$(RELEASE)|$(COMPONENT)|$(CREATED_BY)")
    wanted = collections.OrderedDict()
    for line in kinds.splitlines():
        uri, release, component, created_by = line.split("|")
        if created_by == "Packages" and re.fullmatch(rf"{suite}(-security|-updates)?(/updates)?", release):
            wanted.setdefault((uri, release), []).append(component)
    lines = [f"deb {uri} {release} {' '.join(dict.fromkeys(components))}" for (uri, release), components in wanted.items()]
    if not any(release == suite for _, release in wanted):
        die(f"apt on this machine has no source of {suite}; choose one with --mirror and --suite")
    return lines


def apt_settings():
    lines = output_of("apt-config", "dump").splitlines()
    return [line for line in lines if re.match(r"Acquire::((http|https|ftp|Retries|Check-)|Check-Valid-Until|Check-Date)", line)
            and not line.endswith(' "";') and "CaInfo" not in line and "CaPath" not in line]


def pip_options():
    """Options of pip on this machine. Its environment overrides its files."""
    options = {}
    for line in output_of("python3", "-m", "pip", "config", "list").splitlines():
        scope, _, value = line.partition("=")
        prefix, _, key = scope.rpartition(".")
        if key != "cert" and (prefix != ":env:" or key in ("find-links", "index-url", "extra-index-url")):
            options[key] = value.strip("'\"").replace("\\n", " ")
    return options


def folders_of(options):
    """Folders of this machine that pip's options name."""
    folders = []
    for word in " ".join(options.values()).split():
        path = urllib.parse.urlparse(word).path if word.startswith("file://") else word
        folder = pathlib.Path(path)
        if word.startswith(("/", "file://")) and folder.is_dir():
            # An index's pages link to files next to it.
            folders.append(folder.parent if folder.name == "simple" and len(folder.parts) > 2 else folder)
    return list(dict.fromkeys(folders))


def files_of(options):
    """Files of this machine that pip's options name, such as constraints."""
    return [word for word in " ".join(options.values()).split() if word.startswith("/") and os.path.isfile(word)]


def certificates():
    for name in ["PIP_CERT", "SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE"]:
        if os.path.isfile(os.environ.get(name, "")):
            return os.environ[name]
    return None


# The Debian in a folder. All of this runs with its own mounts and process ids.

@dataclasses.dataclass
class Machine:
    system: pathlib.Path
    logs: pathlib.Path

    def path(self, inside):
        return self.system / inside.lstrip("/")

    def write(self, inside, text, mode=0o644):
        path = self.path(inside)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_text(text)
        path.chmod(mode)

    def mount(self, *options, at):
        self.path(at).mkdir(parents=True, exist_ok=True)
        output_of("mount", *options, str(self.path(at)))

    def make(self, suite, mirror):
        with open(self.logs / "debian.log", "w") as log:
            code = subprocess.run(["debootstrap", "--variant=minbase", "--include=ca-certificates,sudo", suite, str(self.system), mirror],
                                  stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT).returncode
        if code != 0:
            die(f"debootstrap failed; {self.logs / 'debian.log'} ends with\n" +
                "\n".join((self.logs / "debian.log").read_text().splitlines()[-10:]))

    def set_up_packages(self, suite):
        self.path("/etc/apt/sources.list.d").mkdir(exist_ok=True)
        self.write("/etc/apt/sources.list", "\n".join(apt_sources(suite)) + "\n")
        self.write("/etc/apt/apt.conf.d/00machine", "\n".join(apt_settings()) + "\n")
        options = pip_options()
        for name in files_of(options):
            self.write(name, pathlib.Path(name).read_text())
        if certificates():
            self.write(CERTIFICATES, pathlib.Path(certificates()).read_text())
            options["cert"] = CERTIFICATES
        self.write("/etc/pip.conf", "[global]\n" + "".join(f"{key} = {value}\n" for key, value in options.items()))
        for name in ["/etc/hosts", "/etc/resolv.conf"]:
            if os.path.exists(name):
                self.write(name, pathlib.Path(name).read_text())
        self.write("/etc/hostname", os.uname().nodename + "\n")

    def set_up_mounts(self):
        self.mount("-t", "proc", "proc", at="/proc")
        self.mount("-t", "sysfs", "-o", "ro", "sysfs", at="/sys")
        self.mount("-t", "tmpfs", "-o", "mode=755", "dev", at="/dev")
        for name in ["null", "zero", "full", "random", "urandom", "tty"]:
            self.path(f"/dev/{name}").touch()
            output_of("mount", "--bind", f"/dev/{name}", str(self.path(f"/dev/{name}")))
        self.mount("-t", "devpts", "-o", "newinstance,ptmxmode=0666,mode=620", "devpts", at="/dev/pts")
        self.mount("-t", "tmpfs", "-o", "mode=1777", "shm", at="/dev/shm")
        for name, target in [("ptmx", "pts/ptmx"), ("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")]:
            self.path(f"/dev/{name}").symlink_to(target)
        for folder in folders_of(pip_options()):
            self.mount("--bind", str(folder), at=str(folder))
            output_of("mount", "-o", "remount,bind,ro", str(self.path(str(folder))))

    def set_up_user(self):
        output_of("chroot", str(self.system), "useradd", "--create-home", "--shell", "/bin/bash", USER)
        self.write(f"/etc/sudoers.d/{USER}", f"{USER} ALL=(ALL) NOPASSWD: ALL\n", 0o440)

    def run(self, name, script, folder="~"):
        """Runs a script as the user in a login shell. Returns seconds, exit code, and the file with its output."""
        passed_on = [f"{key}={value}" for key, value in os.environ.items() if PASSED_ON.fullmatch(key)]
        own = [f"HOME=/home/{USER}", f"USER={USER}", f"LOGNAME={USER}", "SHELL=/bin/bash", "TERM=dumb",
               "PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games"]
        self.write("/tmp/step.sh", script + "\n", 0o644)
        log_path = self.logs / f"{name}.log"
        began = time.monotonic()
        with open(log_path, "w") as log:
            code = subprocess.run(["chroot", f"--userspec={USER}:{USER}", str(self.system), "/usr/bin/env", "-i", *own, *passed_on,
                                   "/bin/bash", "-c", f"cd {folder} && exec bash /tmp/step.sh"],
                                  stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT).returncode
        return time.monotonic() - began, code, log_path


def make_debian(root, machine, suite, mirror=None):
    """Builds under a temporary name, so that a later call does not mistake the remains of a failure for a Debian."""
    mirror = mirror or next(line.split()[1] for line in apt_sources(suite) if line.split()[2] == suite)
    say(f"making an empty Debian ({suite}) in {machine.system}")
    part = dataclasses.replace(machine, system=root / PART)
    remove(part.system)
    part.system.mkdir()
    part.make(suite, mirror)
    part.set_up_packages(suite)
    part.set_up_user()
    part.system.rename(machine.system)


def remove(system):
    """Removes an existing Debian, unless something is still mounted there."""
    if not system.exists():
        return
    with open("/proc/self/mountinfo") as mounts:
        if any(line.split()[4].startswith(str(system)) for line in mounts):
            die(f"something is mounted in {system}, so it is not removed")
    shutil.rmtree(system)


# The two sides of a script: outside, as it was called, and inside, with its own mounts and process ids.

def add_arguments(parser):
    parser.add_argument("--root", type=pathlib.Path, help="folder to work in: new, empty, or kept by an earlier call")
    parser.add_argument("--suite", default="bookworm", help="suite of Debian")
    parser.add_argument("--mirror", help="mirror for debootstrap (default: this machine's)")
    parser.add_argument("--keep", action="store_true", help="keep the Debian")
    parser.add_argument("--inside", action="store_true", help="(internal)")


def main_of(args, inside, *programs):
    """Calls `inside(args)` in this process if it has its own mounts, else in a process that has. Exits with its code."""
    if args.inside:
        (args.root / "logs").mkdir(exist_ok=True)
        sys.exit(inside(args))
    if os.geteuid() != 0:
        die("this needs root, for chroot and mounts in a namespace")
    for program in ["unshare", "setpriv", "chroot", "apt-get", *programs]:
        if not shutil.which(program):
            die(f"{program} is not installed")
    if not args.root:
        args.root = pathlib.Path(tempfile.mkdtemp(prefix=f"backplane-{SCRIPT}-"))
        args.root.chmod(0o755)
    args.root = args.root.resolve()
    args.root.mkdir(exist_ok=True)
    if any(args.root.iterdir()) and not (args.root / MARKER).exists():
        die(f"--root: expected a new or empty folder or one of an earlier call, got {args.root}")
    marker = open(args.root / MARKER, "w")
    try:
        fcntl.flock(marker, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        die(f"a different call is using {args.root}")
    words = [*sys.argv[1:], "--root", str(args.root), "--inside"]
    # If this process dies, the namespaces and everything in them die too.
    code = subprocess.run(["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc",
                           "--propagation", "private", sys.executable, os.path.abspath(sys.argv[0]), *words]).returncode
    if not args.keep:
        for system in args.root.glob("debian*"):
            remove(system)
    say(f"outputs: {args.root / 'logs'}" + (f", the Debian: {args.root / 'debian'}" if args.keep else ""))
    sys.exit(code)
