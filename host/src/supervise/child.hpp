// A child process in a process group of its own, that does not outlive this one.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace backplane {

struct ChildCommand {
  std::filesystem::path program;
  std::vector<std::string> arguments;    // without the program's name
  std::vector<std::string> environment;  // "NAME=value", over this process's own
  std::filesystem::path stdout_file, stderr_file;
  int inherit_fd = -1;  // one descriptor that stays open in the child; -1: none
};

struct ChildExit {
  int code = 0;    // if it exited by itself
  int signal = 0;  // not 0: what it died of
};

class Child {
 public:
  // Throws std::runtime_error if it can not be started. If this process dies, the child gets SIGTERM (it saves and ends). That
  // signal comes when the starting *thread* ends, so start children from a thread that lives as long as they do.
  explicit Child(const ChildCommand& command);
  ~Child();  // kills what still runs
  Child(const Child&) = delete;

  // Waits for at most `timeout_ms`, less if a signal handler ran. Absent: still running.
  std::optional<ChildExit> Wait(int timeout_ms);
  // To the whole process group.
  void Signal(int signal);
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  int pidfd_ = -1;
  std::optional<ChildExit> exit_;
};

}  // namespace backplane
