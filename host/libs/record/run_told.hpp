// The startup message of `backplane run` to a parent process that follows its records (bp_run): three lines, written once to
// the descriptor in the environment variable.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace backplane {

inline constexpr char kTellVariable[] = "BACKPLANE_TELL_FD";

struct RunTold {
  std::filesystem::path out, progress;  // absolute
  uint64_t old_event_bytes = 0;         // size of events.jsonl, written by earlier sessions
};

// Closes the descriptor. Ignores errors, because the reader may be gone.
void TellRun(int fd, const RunTold& told);
// Parses the bytes received so far; absent while the message is incomplete.
std::optional<RunTold> ReadTold(const std::string& text);

}  // namespace backplane
