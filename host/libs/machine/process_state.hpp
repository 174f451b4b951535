// The state of a process as the kernel lists it.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace backplane {

struct ProcessState {
  pid_t pid = 0;
  char letter = '?';  // 'R', 'S', 'D', 'T', ... as in proc(5)
  std::string name;   // at most 15 bytes, as the kernel keeps it

  bool stopped() const { return letter == 'T' || letter == 't'; }  // by a signal or a debugger
  bool waits_for_continue() const { return letter == 'T'; }  // SIGCONT wakes it; from a debugger ('t') it takes the stop away
  bool waits_for_disk() const { return letter == 'D'; }      // uninterruptible: no signal ends it
  bool ended() const { return letter == 'Z' || letter == 'X'; }
};

// The text of /proc/PID/stat. Absent if it is malformed.
std::optional<ProcessState> ParseProcessState(std::string_view text);

// Absent if there is no such process.
std::optional<ProcessState> StateOf(pid_t pid, const std::filesystem::path& proc = "/proc");

}  // namespace backplane
