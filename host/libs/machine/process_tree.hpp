// Parents, memory and states of processes, read from /proc.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace backplane {

// True if the kernel lists a process's children, which is a build option. Otherwise the parent of every process must be read.
bool ListsChildren(pid_t pid, const std::filesystem::path& proc = "/proc");

// Children of all threads of the process. Empty if it is gone.
std::vector<pid_t> ChildrenOf(pid_t pid, const std::filesystem::path& proc = "/proc");

// All processes below `root`, without it. The tree may change meanwhile, so the result is no snapshot.
std::vector<pid_t> DescendantsOf(pid_t root, const std::filesystem::path& proc = "/proc");

// Resident bytes, including shared pages; 0 if it is gone. Reads statm, because smaps walks the page tables: 156 ms for 8 GiB.
uint64_t ResidentBytes(pid_t pid);

// The state of a process as the kernel lists it.
struct ProcessState {
  pid_t pid = 0;
  char letter = '?';  // 'R', 'S', 'D', 'T', ... as in proc(5)
  std::string name;   // at most 15 bytes, as the kernel stores it

  bool stopped() const { return letter == 'T' || letter == 't'; }  // by a signal or a debugger
  bool waits_for_continue() const { return letter == 'T'; }        // not 't': SIGCONT would undo a debugger's stop
  bool waits_for_disk() const { return letter == 'D'; }            // uninterruptible: no signal ends it
  bool ended() const { return letter == 'Z' || letter == 'X'; }
};

// Parses /proc/PID/stat. Absent if it is malformed.
std::optional<ProcessState> ParseProcessState(std::string_view text);

// Absent if there is no such process.
std::optional<ProcessState> StateOf(pid_t pid, const std::filesystem::path& proc = "/proc");

}  // namespace backplane
