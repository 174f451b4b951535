// Runs another program to its end.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace backplane {

struct ProcessCall {
  std::vector<std::string> words;     // the program, by name on PATH or by path, and its arguments
  std::filesystem::path folder = {};  // in which it runs; empty: this process's
  std::string input = {};             // what it reads on its standard input
  bool shows_output = false;          // its output goes where this process's goes, and `out` and `err` stay empty
  std::chrono::milliseconds limit{60'000};
  // Looked at whenever a signal handler has run. True: the program is killed.
  std::function<bool()> cancelled = {};
  std::chrono::milliseconds grace{0};  // if it is cancelled: time to end after SIGTERM, before it is killed
};

struct ProcessEnd {
  bool started = false;
  bool timed_out = false;  // it was killed as its time was over
  bool cancelled = false;  // it was killed because of ProcessCall::cancelled
  int code = 0;            // if it exited by itself
  int signal = 0;          // not 0: what it died of
  std::string out, err;    // where it did not start, `err` is the system's reason

  bool ok() const { return started && !timed_out && !cancelled && signal == 0 && code == 0; }
};

// It shares this process's group, so that a Ctrl-C at the terminal reaches both. Throws std::runtime_error where the system has
// no file for what is read and written. Any thread.
ProcessEnd RunProcess(const ProcessCall& call);

}  // namespace backplane
