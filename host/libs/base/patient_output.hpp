// Output to a terminal that may be halted (Ctrl-S), or to a pipe that may never be read.
#pragma once

#include <cstdio>
#include <string_view>

namespace backplane {

// Waits up to `limit_ms` for room. Signals do not end the wait. [async-signal-safe]
bool TakesOutput(int fd, int limit_ms);

// Writes all of `text`, or returns false: the descriptor had no room within `limit_ms`, or failed (errno). The rest is not
// written.
bool WriteWithin(int fd, std::string_view text, int limit_ms);

inline constexpr int kNotePatience_ms = 500;  // on stderr

// On stdout: 30 s for a terminal, 10 min for a pipe, as a pager reads on only when its user does.
int ResultPatience_ms();

// Replaces stdout and stderr by streams that write by WriteWithin, so that a batch ends even if its output is not read. After a
// write that was given up, the next ones fail at once until there is room. A repeated call changes the limit for stdout.
// [before threads are started]
void LimitOutput(int result_patience_ms = ResultPatience_ms());

// True if a write to stdout was given up after LimitOutput(). The stream itself reports no error.
bool OutputWasGivenUp();

// Returns fileno(), also for stdout and stderr after LimitOutput().
int DescriptorOf(std::FILE* stream);

}  // namespace backplane
