"""Parts, goals, and the verdict on a goal."""
import dataclasses
from collections.abc import Callable

from .readers import figures

QUIET = 0.05  # share of the machine's CPU time that other programs may use


@dataclasses.dataclass(frozen=True)
class Goal:
    figure: str  # name given by the part's reader
    what: str  # text in the page's table
    floor: float | None = None  # promised on this kind of machine
    target: float | None = None  # goal for this kind of machine
    over: str = ""  # the peer of a ratio; empty: our own figure with a unit
    unit: str = ""
    lower: bool = False  # less is better

    def verdict(self, row):
        """`row`: {"median", "min", "max", "n", "disturbed"}. A disturbed figure neither reaches nor misses a bar: other programs slow it
        down, and the peer of a ratio may suffer more, because threads that spin for a core lose a multiple."""
        reached = [bar is not None and (row["median"] <= bar if self.lower else row["median"] >= bar) for bar in (self.floor, self.target)]
        if self.floor is None and self.target is None:
            return ""
        if row["disturbed"]:
            return "disturbed"
        if reached[1] or (self.target is None and reached[0]):
            return "reached"
        return "floor reached" if reached[0] else "ABOVE" if self.lower else "BELOW"


@dataclasses.dataclass(frozen=True)
class Part:
    """One command and the figures that its output holds. Words of it are filled in by run.py: {bench} and {here} are the folders of the
    built and of the written programs, {program} is `backplane`, {plugins} and {tests} where plugins lie, {corpus} a folder, and a peer's
    name is its Python."""
    name: str
    what: str
    command: tuple[str, ...] = ()  # empty: not written yet, `missing` has the reason
    read: Callable[[str], dict] = figures
    goals: tuple[Goal, ...] = ()
    quick: tuple[str, ...] = ()  # final arguments of a short run, whose figures are not quoted
    targets: tuple[str, ...] = ()  # build targets
    pythons: tuple[str, ...] = ()  # from peers.py, or "oracle": .venv-oracle, made by scripts/test
    processor: str = ""  # required flag in /proc/cpuinfo
    corpus: bool = False  # needs the output of plugins/envs/summarization/build_corpus
    minutes: float = 0.2  # about, on 2 quiet cores
    exits: tuple[int, ...] = (0,)  # 1: missed a bar of the script's own, shown on the page
    tested: str = ""  # a test that already runs it, so that --quick skips it
    missing: str = ""
