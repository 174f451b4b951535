// Processes as /proc shows them: who is whose child, and how much memory they hold.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
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

}  // namespace backplane
