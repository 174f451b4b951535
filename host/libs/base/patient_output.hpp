// Output to a terminal that may be stopped (Ctrl-S) or to a pipe whose reader may have stopped reading.
#pragma once

#include <cstdio>
#include <string_view>

namespace backplane {

// Waits up to `limit_ms` for room. Signals do not end the wait. [async-signal-safe]
bool TakesOutput(int fd, int limit_ms);

// Writes all of `text`, or returns false if the descriptor had no room within `limit_ms` or failed (errno). Drops the rest.
bool WriteWithin(int fd, std::string_view text, int limit_ms);

inline constexpr int kNotePatience_ms = 500;  // on stderr

// On stdout: 30 s for a terminal, 10 min for a pipe, because a pager reads only when its user scrolls.
int ResultPatience_ms();

// Redirects stdout and stderr to streams that use WriteWithin, so that a batch ends even if its output is not read. After a
// timeout, writes fail immediately until there is room. A repeated call changes the limit for stdout. [before threads are
// started]
void LimitOutput(int result_patience_ms = ResultPatience_ms());

// True if a write to stdout was given up after LimitOutput(). The stream itself reports no error.
bool OutputWasGivenUp();

// Returns fileno(), also for stdout and stderr after LimitOutput().
int DescriptorOf(std::FILE* stream);

}  // namespace backplane
