"""Conditions and preparations of the kinds of hang that scripts/check_hangs makes."""
import os
import shutil
import signal
import sqlite3

from hang_session import Session


def has_status(session, folder):
    return any(folder.glob("out/trials/*/attempt-1/status"))


def checks(session, folder):
    return bool(session.processes("--check"))


def runs(session, folder):
    return has_status(session, folder) and bool(session.processes("run-trial", "trial.json"))


def has_process(*words):
    return lambda session, folder: bool(session.processes(*words))


def sends_stop_to(*words, without="backplane-shim", after=runs, how_many=1):
    """Stops processes of the session by SIGSTOP once its trial runs. The command line of a shim contains its trial's."""
    def send(session, folder):
        found = session.processes(*words, without=without)
        if not after(session, folder) or len(found) < how_many:
            return False
        for pid in found[:how_many]:
            os.kill(pid, signal.SIGSTOP)
        return True
    return send


def fifo(name):
    def make(folder, run):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(folder / name)
    return make


def orphan_trial(folder, run):
    """A batch whose supervisor was killed and whose trial takes its time to end: its shim holds the lock of the results folder."""
    session = Session([run.program, "run", "x.yaml"], folder, run.environment)
    if session.until(lambda: any(file.stat().st_size for file in folder.glob("out/trials/*/attempt-1/stdout.log")), 60) is None:
        raise RuntimeError("the batch whose supervisor is to be killed does not start")
    session.process.kill()
    return session


def finished_batch(folder, run):
    session = Session([run.program, "run", "x.yaml"], folder, run.environment)
    ended = session.ends_within(60)
    session.close()
    if ended is None:
        raise RuntimeError("the batch before the replay does not end")


def halts_terminal(session, folder):
    """Types a Ctrl-S while the trial runs."""
    if not runs(session, folder):
        return False
    os.write(session.master, b"\x13")
    return True


def hold_database(folder, run):
    (folder / "out").mkdir()
    database = sqlite3.connect(folder / "out/results.sqlite", isolation_level=None, check_same_thread=False)
    database.execute("CREATE TABLE held (x)")
    database.execute("BEGIN EXCLUSIVE")
    return database


def own_programs(report):
    """A copy of the build in which the report program is a different one."""
    def make(folder, run):
        (folder / "own/bin").mkdir(parents=True)
        for entry in (run.place.build / "bin").iterdir():
            if entry.is_file() and entry.name != "backplane-report":
                shutil.copy2(entry, folder / "own/bin" / entry.name)
        os.symlink(run.place.build / "lib", folder / "own/lib")
        program = folder / "own/bin/backplane-report"
        program.write_text(report.replace("@REPORT@", str(run.place.build / "bin/backplane-report")))
        program.chmod(0o755)
    return make
