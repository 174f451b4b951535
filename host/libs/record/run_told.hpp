// What `backplane run` tells the process that started it and follows its records (bp_run), through a descriptor that the
// variable names: three lines, once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace backplane {

inline constexpr char kTellVariable[] = "BACKPLANE_TELL_FD";

struct RunTold {
  std::filesystem::path out, progress;  // absolute
  uint64_t old_event_bytes = 0;         // of events.jsonl: of earlier sessions
};

// Closes the descriptor. Nobody may listen any more.
void TellRun(int fd, const RunTold& told);
// Of all that came; nothing: not all of it yet.
std::optional<RunTold> ReadTold(const std::string& text);

}  // namespace backplane
