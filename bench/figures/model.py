"""What a part and a goal are, and when a goal is reached."""
import dataclasses
from collections.abc import Callable

from .readers import figures

QUIET = 0.05  # of the machine's CPU time: what other programs may take beside a figure


@dataclasses.dataclass(frozen=True)
class Goal:
    figure: str  # the name that the part's reader gives it
    what: str  # of the page's table
    floor: float | None = None  # what the project promises on this kind of machine
    target: float | None = None  # what it aims at
    over: str = ""  # the peer that a ratio is over; without one the figure is our own and has a unit
    unit: str = ""
    lower: bool = False  # less is better

    def verdict(self, row):
        """`row`: {"median", "min", "max", "n", "disturbed"}. What was disturbed may have reached a bar nevertheless, and never shows that one is
        missed. A ratio shows neither then, as the peer may have suffered more: threads that spin for a core lose a multiple."""
        reached = [bar is not None and (row["median"] <= bar if self.lower else row["median"] >= bar) for bar in (self.floor, self.target)]
        if self.floor is None and self.target is None:
            return ""
        if self.over and row["disturbed"]:
            return "disturbed"
        if reached[1] or (self.target is None and reached[0]):
            return "reached"
        missed = "disturbed" if row["disturbed"] else "BELOW" if not self.lower else "ABOVE"
        return "floor reached" if reached[0] else missed


@dataclasses.dataclass(frozen=True)
class Part:
    """One command and the figures that its output holds. Words of it are filled in by run.py: {bench} and {here} are the folders of the
    built and of the written programs, {program} is `backplane`, {plugins} and {tests} where plugins lie, {corpus} a folder, and a peer's
    name is its Python."""
    name: str
    what: str
    command: tuple[str, ...] = ()  # none: nobody has written it yet, and `missing` says why
    read: Callable[[str], dict] = figures
    goals: tuple[Goal, ...] = ()
    quick: tuple[str, ...] = ()  # words at the end that make it short; no figure to quote
    targets: tuple[str, ...] = ()  # of the build
    pythons: tuple[str, ...] = ()  # of peers.py, or "oracle": .venv-oracle, which scripts/test makes
    processor: str = ""  # the flag in /proc/cpuinfo of what it needs
    corpus: bool = False  # needs what plugins/envs/summarization/build_corpus writes
    minutes: float = 0.2  # about, on 2 quiet cores
    exits: tuple[int, ...] = (0,)  # 1: a bar of the script's own was missed, which the page says
    tested: str = ""  # the test that runs it anyway, so that --quick need not
    missing: str = ""
