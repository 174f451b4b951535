"""Part of the env processes' program: the option on_error: end_episode."""

# 1 in the step in which an error truncated the episode, so that the measure is the share of such episodes.
ERROR_CHANNEL = {"name": "ep/error", "role": "info", "shape": (), "dtype": "f32", "space": "box"}


class EndingRows:
    """Plays rows, and truncates the episode of a row whose step raises or returns numbers that are not finite."""

    def __init__(self, rows, arrays):
        self.rows, self.arrays = rows, arrays
        self.shown = [arrays[name] for name in ("obs", "state") if name in arrays]
        self.errors, self.told, self.last = 0, 0, ""

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

    def end_diverged(self, begin, end, before):
        for name in ("obs", "state", "reward"):
            if name not in self.arrays:
                continue
            finite = numpy.isfinite(self.arrays[name][begin:end]).reshape(end - begin, -1)
            for i in numpy.flatnonzero(~finite.all(axis=1)):
                self.end(begin + int(i), begin, before, f"its {name} is not finite")

    def end(self, i, begin, before, why):
        """Ends a row's episode with the observation of the step before."""
        for array, kept in zip(self.shown, before):
            array[i] = kept[i - begin]
        for name, value in (("reward", 0), ("terminated", 0), ("agent_ended", 0), ("truncated", 1), ("ep/error", 1)):
            if name in self.arrays:
                self.arrays[name][i] = value
        self.errors += 1
        self.last = (i, why)

    def take_warning(self, own):
        """The first error, then the number of errors at powers of ten; empty: none is due."""
        if self.errors <= self.told:
            return ""
        self.told = 10 ** len(str(self.errors)) - 1
        i, why = self.last
        sentence = why.partition("\n")[0]
        count = "" if self.errors == 1 else f" ({self.errors} episodes of this process so far)"
        return shortened(f"on_error: end_episode: row {own[i]}: {sentence}: the episode is truncated{count}")
