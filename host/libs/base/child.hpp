// A child process in a process group of its own, that does not outlive this one.
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
  std::filesystem::path folder = {};  // in which it runs; empty: this process's
  std::string name = {};              // its argv[0]; empty: the program
};

// What differs between a shim and the trial it starts.
struct ChildSetup {
  int death_signal = SIGTERM;          // what the child gets when this process dies
  int stdout_fd = -1, stderr_fd = -1;  // what it gets as descriptors 1 and 2; -1: the command's files
  int report_fd = -1;                  // one more descriptor that stays open in the child; -1: none
  bool own_session = false;            // and not only a group of its own: what it starts mostly stays in it
  int cgroup_procs_fd = -1;            // an open cgroup.procs: the child is in that group before it executes anything; -1: none
  // RLIMIT_DATA, soft and hard: private writable memory of each process. RLIMIT_AS would also count address space that CUDA and
  // allocators reserve and never touch.
  std::optional<uint64_t> data_limit_bytes;
  std::vector<int> blocked_signals;  // that wait until the child takes them
};

struct ChildExit {
  int code = 0;                 // if it exited by itself; -1: nobody can know, as this process ignores SIGCHLD
  int signal = 0;               // not 0: what it died of
  uint64_t peak_rss_bytes = 0;  // of the largest among it and the processes it waited for
};

// A program that cannot be executed. Any other error, such as a lack of processes, is of the machine.
class ProgramError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws ProgramError unless the file can be executed.
void RequireExecutable(const std::filesystem::path& program);

class Child {
 public:
  // Returns once the program is executed. Throws ProgramError or another std::runtime_error, with the system's reason, if it
  // cannot be: then nothing of it has run. If this process dies, the child gets setup.death_signal. That signal comes when the
  // starting *thread* ends, so start children from a thread that lives as long as they do.
  explicit Child(const ChildCommand& command, const ChildSetup& setup = {});
  ~Child();  // kills what still runs
  Child(const Child&) = delete;

  // Waits for at most `timeout_ms`, less if a signal handler ran. Absent: still running.
  std::optional<ChildExit> Wait(int timeout_ms);
  // To the whole process group.
  void Signal(int signal);
  pid_t pid() const { return pid_; }
  int exit_fd() const { return pidfd_; }  // to poll: readable once it has ended; -1: this kernel has no such descriptors

 private:
  pid_t pid_ = -1;
  int pidfd_ = -1;
  std::optional<ChildExit> exit_;
};

}  // namespace backplane
