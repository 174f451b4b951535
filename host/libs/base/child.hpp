// A child process in a separate process group, which never outlives this process.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace backplane {

struct ChildCommand {
  std::filesystem::path program;
  std::vector<std::string> arguments;    // without the program's name
  std::vector<std::string> environment;  // "NAME=value", over this process's own
  std::filesystem::path stdout_file, stderr_file;
  std::vector<int> inherit_fds;       // descriptors that stay open in the child
  std::filesystem::path folder = {};  // working directory; empty: this process's
  std::string name = {};              // its argv[0]; empty: the program
};

// The settings in which a shim and the trial it starts differ.
struct ChildSetup {
  int death_signal = SIGTERM;          // sent to the child when this process dies
  int stdout_fd = -1, stderr_fd = -1;  // descriptors 1 and 2 of the child; -1: the command's files
  int report_fd = -1;                  // one more descriptor that stays open in the child; -1: none
  bool own_session = false;            // in addition to a group of its own; most of its children stay in it
  int cgroup_procs_fd = -1;            // an open cgroup.procs: the child joins that group before it executes anything; -1: none
  // RLIMIT_DATA, soft and hard: private writable memory per process. RLIMIT_AS would also count address space that CUDA and
  // allocators reserve and never touch.
  std::optional<uint64_t> data_limit_bytes;
  std::vector<int> blocked_signals;  // stay pending until the child accepts them
};

struct ChildExit {
  int code = 0;                 // exit code; -1: unknown, because this process ignores SIGCHLD
  int signal = 0;               // signal that killed it, or 0
  uint64_t peak_rss_bytes = 0;  // largest of the child and the descendants it waited for
};

// A program that cannot be executed. Other failures, such as a full process table, concern the machine.
class ProgramError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws ProgramError unless the file can be executed.
void RequireExecutable(const std::filesystem::path& program);

class Child {
 public:
  // Returns once the program is executing. Throws ProgramError or another std::runtime_error with the system's reason if it
  // cannot be executed; no code of it has run then. If this process dies, the child gets setup.death_signal. The kernel sends
  // it when the starting *thread* ends, so start children from a thread that outlives them.
  explicit Child(const ChildCommand& command, const ChildSetup& setup = {});
  ~Child();  // kills a child that is still running
  Child(const Child&) = delete;

  // Waits for at most `timeout_ms`; a signal handler ends the wait early. Absent: still running.
  std::optional<ChildExit> Wait(int timeout_ms);
  // Signals the whole process group.
  void Signal(int signal);
  pid_t pid() const { return pid_; }
  int exit_fd() const { return pidfd_; }  // pollable: readable once the child has ended; -1: the kernel lacks pidfds

 private:
  pid_t pid_ = -1;
  int pidfd_ = -1;
  std::optional<ChildExit> exit_;
};

}  // namespace backplane
