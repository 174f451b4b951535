// The processes of a plugin written in Python. A monitor has one; several share the rows of an env. They receive commands over
// a socket. The programs in worker/ are the other side; start.py and monitor.py document the messages.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/host.h"
#include "python_env/file.hpp"
#include "python_env/notices.hpp"

namespace backplane::python_env {

// As many as this process has cores, but at most one per row.
uint64_t WorkersFor(uint64_t rows);

struct WorkerProgram {
  std::string_view source;
  std::string name = "";  // of its only process, in errors; empty: "worker 1 of 2 (8 of 16 rows)"
  int host_memory = -1;   // a file with buffers of the host; -1: none
  uint64_t threads = 1;   // of each numeric library in a process
};

class Workers {
 public:
  // Starts the program in each of them. Row r belongs to worker r % n. Throws bp::Error, as everything here does; after that
  // they have all ended.
  Workers(const bp_host* host, const std::string& python, WorkerProgram program, double timeout_s, uint64_t rows, uint64_t n);
  ~Workers();
  Workers(const Workers&) = delete;

  uint64_t size() const { return workers_.size(); }

  // Sends a message with a text to every worker, or to one, and returns the answers.
  std::vector<std::string> AskAll(char kind, const std::vector<std::string>& texts);
  std::string Ask(uint64_t worker, char kind, std::string_view text);

  // Sends `kind` and the range to the workers that own rows in it (if there is a mask, masked rows), and waits for them.
  // Allocates only for errors and output.
  void Run(char kind, uint64_t begin, uint64_t end, const uint8_t* mask);

  // `bytes` of memory that they see too, zeroed. Called again with more bytes, it keeps the content at a new address.
  char* Share(uint64_t bytes);

 private:
  struct Worker {
    pid_t pid = -1;
    File process, commands, replies, output;
    bool awaited = false;
    uint64_t got = 0;  // of the reply, its length included
    uint32_t length = 0;
    char kind = 0;  // of the message that it replies to
    std::string reply;
    std::string tail;  // the last that it wrote to stdout and stderr
    std::string line;  // of its output, until it is whole
  };
  using Clock = std::chrono::steady_clock;

  void Start(Worker* worker, const std::string& python);
  Clock::time_point Deadline(double at_least_s = 0) const;
  void SendText(Worker* worker, char kind, std::string_view text, Clock::time_point end);
  void Send(Worker* worker, std::string_view bytes, Clock::time_point end);
  // A stop ends the workers, unless their rows are being `saved`, which is part of a stop.
  void Await(Clock::time_point end, bool saved = false);
  // Writes `polled_`, three files per worker: replies, process, output. False: no worker is awaited.
  bool ListAwaited();
  void Serve(size_t w, bool any_ready, Clock::time_point end);
  // False: no more data.
  bool ReadReply(Worker* worker);
  bool ReadOutput(Worker* worker);
  void Keep(Worker* worker, std::string_view text);
  void LogLine(const Worker& worker, std::string_view line);
  void CheckReplies();
  std::string Name(const Worker& worker) const;
  std::string LastWords(const Worker& worker) const;
  [[noreturn]] void RefuseLength(Worker* worker);
  [[noreturn]] void RefuseDead(Worker* worker);
  [[noreturn]] void RefuseLate(Worker* worker);
  void End(bool at_once) noexcept;

  const bp_host* host_;
  const WorkerProgram program_;
  Notices notices_;
  double timeout_s_;
  uint64_t rows_;
  std::vector<Worker> workers_;
  std::vector<pollfd> polled_;
  File memory_, source_, life_, life_of_workers_;
  char* shared_ = nullptr;
  uint64_t shared_bytes_ = 0;
  uint64_t logged_bytes_ = 0, unlogged_bytes_ = 0;
  uint64_t told_bytes_ = 1'000'000;  // unlogged bytes at which the next count is logged
};

}  // namespace backplane::python_env
