"""Part of the env processes' program: the option on_error: end_episode."""

# 1 in the step in which an error truncated the episode, so that the measure is the share of such episodes.
ERROR_CHANNEL = {"name": "ep/error", "role": "info", "shape": (), "dtype": "f32", "space": "box"}


class EndingRows:
    """Plays rows, and truncates the episode of a row whose step raises or returns numbers that are not finite."""

    def __init__(self, rows, arrays, channels):
        self.rows, self.arrays = rows, arrays
        self.numbers = {c["name"]: arrays[c["name"]] for c in channels if c["role"] in ("obs", "state", "reward")}
        self.shown = [array for name, array in self.numbers.items() if name != "reward"]
        self.errors, self.noticed, self.last = 0, 0, None

    def reset(self, places, seeds):
        for i in places:
            try:
                self.rows.reset([i], seeds)
            except Exception as e:
                if is_out_of_memory(e):
                    raise
                self.rows.replace(i)
                self.rows.reset([i], seeds)  # a second error ends the trial

    def step(self, begin, end):
        self.arrays["ep/error"][begin:end] = 0
        before = [array[begin:end].copy() for array in self.shown]
        at = begin
        while at < end:
            try:
                self.rows.step(at, end)
                break
            except Exception as e:
                if self.rows.at < at or is_out_of_memory(e):
                    raise
                at = self.rows.at + 1
                self.end(at - 1, begin, before, sentence_of(e))
        self.rows.at = -1
        self.end_diverged(begin, end, before)
        self.notice()

    def end_diverged(self, begin, end, before):
        for name, array in self.numbers.items():
            finite = numpy.isfinite(array[begin:end]).reshape(end - begin, -1)
            for i in numpy.flatnonzero(~finite.all(axis=1)):
                self.end(begin + int(i), begin, before, f"its {name} is not finite")

    def end(self, i, begin, before, why):
        """Ends a row's episode with the observation of the step before."""
        for array, kept in zip(self.shown, before):
            array[i] = kept[i - begin]
        for name in ("reward", "terminated", "agent_ended", "agent_truncated", "truncated", "ep/error"):
            if name in self.arrays:
                self.arrays[name][i] = name in ("truncated", "ep/error")
        self.errors += 1
        self.last = (i, why)

    def notice(self):
        """Notices of the first error, then of every tenfold number."""
        if self.errors <= self.noticed:
            return
        self.noticed = 10 ** len(str(self.errors)) - 1
        i, why = self.last
        count = "" if self.errors == 1 else f" ({self.errors} episodes of this process so far)"
        sentence = shortened(f"on_error: end_episode: {why.partition(chr(10))[0]}: the episode is truncated{count}")
        self.rows.notices.append([f"{self.noticed} errors", i, sentence])
