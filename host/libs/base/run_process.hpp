// Runs another program and waits for its end.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace backplane {

struct ProcessCall {
  std::vector<std::string> words;     // the program, a path or a name on PATH, and its arguments
  std::filesystem::path folder = {};  // working directory; empty: this process's
  std::string input = {};             // standard input of the program
  bool shows_output = false;          // inherits this process's output; `out` and `err` stay empty
  std::chrono::milliseconds limit{60'000};
  // Called whenever a signal handler has run; true kills the program.
  std::function<bool()> cancelled = {};
  std::chrono::milliseconds grace{0};  // after cancellation, time between SIGTERM and SIGKILL
};

struct ProcessEnd {
  bool started = false;
  bool timed_out = false;  // killed because its time limit expired
  bool cancelled = false;  // killed because of ProcessCall::cancelled
  int code = 0;            // exit code
  int signal = 0;          // signal that killed it, or 0
  std::string out, err;    // if it did not start, `err` is the system's reason

  bool ok() const { return started && !timed_out && !cancelled && signal == 0 && code == 0; }
};

// The program stays in this process's group, so that Ctrl-C in the terminal reaches both. Throws std::runtime_error if the
// files for its input and output cannot be created. Any thread.
ProcessEnd RunProcess(const ProcessCall& call);

}  // namespace backplane
