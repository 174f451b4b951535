// Processes as /proc shows them: who is whose child, and how much memory they hold.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace backplane {

// Whether the kernel lists a process's children. It is an option of its build; without it every process of the machine has to
// be asked for its parent.
bool ListsChildren(pid_t pid, const std::filesystem::path& proc = "/proc");

// Of all threads of the process. Empty if it is gone.
std::vector<pid_t> ChildrenOf(pid_t pid, const std::filesystem::path& proc = "/proc");

// Everything below `root`, without it. Processes come and go meanwhile: what it says was true of each one when it was looked
// at.
std::vector<pid_t> DescendantsOf(pid_t root, const std::filesystem::path& proc = "/proc");

// Resident memory, shared pages included; 0 if it is gone. From statm: smaps walks the page tables, 156 ms for 8 GiB.
uint64_t ResidentBytes(pid_t pid);

// The state of a process as the kernel lists it.
struct ProcessState {
  pid_t pid = 0;
  char letter = '?';  // 'R', 'S', 'D', 'T', ... as in proc(5)
  std::string name;   // at most 15 bytes, as the kernel keeps it

  bool stopped() const { return letter == 'T' || letter == 't'; }  // by a signal or a debugger
  bool waits_for_continue() const { return letter == 'T'; }        // SIGCONT takes the stop of a debugger ('t') away
  bool waits_for_disk() const { return letter == 'D'; }            // uninterruptible: no signal ends it
  bool ended() const { return letter == 'Z' || letter == 'X'; }
};

// The text of /proc/PID/stat. Absent if it is malformed.
std::optional<ProcessState> ParseProcessState(std::string_view text);

// Absent if there is no such process.
std::optional<ProcessState> StateOf(pid_t pid, const std::filesystem::path& proc = "/proc");

}  // namespace backplane
