// What a supervisor and the workers on a cluster's nodes say to each other: files in a folder that all of them see, each made
// whole under another name and then renamed. A folder for each session of a supervisor, OUT/engine/<n>:
//
//   session           written first: its token, by which a worker knows that it sees this folder and no other of that name
//   alive             a number that grows as long as the supervisor lives
//   orders/JOB        what is to be run (WorkOrder); a worker renames it to taken/JOB@WORKER, so that nobody takes it twice
//   stop/JOB.HOW      how a running job is to be stopped: ask, kill, where
//   ended/JOB         how it ended (WorkEnd); the supervisor removes it when it knows
//   workers/WORKER    made by a worker when it begins (WorkerHello), removed when it ends
//   end               the workers are to end: "ask", their trials with a checkpoint, or "kill"
//   logs/             what the workers print
//
// Whoever waits reads whole folders and never asks again for a file that was not there: a network file system keeps for a
// while that a name is missing, but looks anew at a folder that is opened.
#pragma once

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "batch/engine.hpp"
#include "record/fields.hpp"

namespace backplane {

struct WorkOrder {
  JobId job = 0;
  std::filesystem::path program;
  std::vector<std::string> arguments, environment;
  std::filesystem::path stdout_file, stderr_file, status_file, lock_file;  // lock_file: held while it runs; empty: none
  uint64_t cores = 1;
  double gpus = 0;
  std::optional<uint64_t> memory_bytes;
  double grace_s = 30, silence_limit_s = 0;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("job", self.job);
    visit("program", self.program);
    visit("arguments", self.arguments);
    visit("environment", self.environment);
    visit("stdout_file", self.stdout_file);
    visit("stderr_file", self.stderr_file);
    visit("status_file", self.status_file);
    visit("lock_file", self.lock_file);
    visit("cores", self.cores);
    visit("gpus", self.gpus);
    visit("memory_bytes", self.memory_bytes);
    visit("grace_s", self.grace_s);
    visit("silence_limit_s", DefaultIfMissing(self.silence_limit_s));
  }
};

// A JobEnd, but for the status, which the supervisor reads itself.
struct WorkEnd {
  int code = 0, signal = 0;
  std::string not_started, lost, memory_enforced_by, host;
  double wall_s = 0;
  uint64_t peak_rss_bytes = 0, peak_memory_bytes = 0;
  bool over_memory = false;
  bool over_silence = false, left = false;  // as in JobEnd
  std::string stuck;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("code", self.code);
    visit("signal", self.signal);
    visit("not_started", DefaultIfMissing(self.not_started));
    visit("lost", DefaultIfMissing(self.lost));
    visit("memory_enforced_by", DefaultIfMissing(self.memory_enforced_by));
    visit("host", DefaultIfMissing(self.host));
    visit("wall_s", DefaultIfMissing(self.wall_s));
    visit("peak_rss_bytes", DefaultIfMissing(self.peak_rss_bytes));
    visit("peak_memory_bytes", DefaultIfMissing(self.peak_memory_bytes));
    visit("over_memory", DefaultIfMissing(self.over_memory));
    visit("over_silence", DefaultIfMissing(self.over_silence));
    visit("left", DefaultIfMissing(self.left));
    visit("stuck", DefaultIfMissing(self.stuck));
  }
};

struct WorkerHello {
  std::string host;
  int64_t pid = 0;
  std::vector<int> cores;  // that it keeps its trials to; none: the machine's are taken already

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("host", self.host);
    visit("pid", self.pid);
    visit("cores", self.cores);
  }
};

struct WorkFolder {
  std::filesystem::path folder;

  std::filesystem::path session() const { return folder / "session"; }
  std::filesystem::path alive() const { return folder / "alive"; }
  std::filesystem::path end() const { return folder / "end"; }
  std::filesystem::path orders() const { return folder / "orders"; }
  std::filesystem::path taken() const { return folder / "taken"; }
  std::filesystem::path stop() const { return folder / "stop"; }
  std::filesystem::path ended() const { return folder / "ended"; }
  std::filesystem::path workers() const { return folder / "workers"; }
  std::filesystem::path logs() const { return folder / "logs"; }

  std::filesystem::path order(JobId job) const { return orders() / Name(job); }
  std::filesystem::path taken_by(JobId job, const std::string& worker) const { return taken() / (Name(job) + "@" + worker); }
  std::filesystem::path ended(JobId job) const { return ended() / Name(job); }
  std::filesystem::path stop(JobId job, StopHow how) const { return stop() / (Name(job) + "." + Word(how)); }

  static const char* Word(StopHow how) { return how == StopHow::kAsk ? "ask" : how == StopHow::kKill ? "kill" : "where"; }
  // Equal lengths: sorted as texts they are in the order in which they were given.
  static std::string Name(JobId job) {
    const std::string number = std::to_string(job);
    return std::string(std::max<size_t>(kDigits, number.size()) - number.size(), '0') + number;
  }
  // Of what is named by a job alone, or by it and a worker. Absent: another file, such as one that is being made.
  static std::optional<JobId> Job(const std::string& name) {
    const std::string number = name.substr(0, name.find('@'));
    if (number.size() < kDigits || !std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; }))
      return std::nullopt;
    return std::stoull(number);
  }
  struct StopOrder {
    JobId job;
    StopHow how;
  };
  static std::optional<StopOrder> Stop(const std::string& name) {
    const size_t dot = name.find('.');
    const std::optional<JobId> job = Job(name.substr(0, dot));
    for (const StopHow how : {StopHow::kAsk, StopHow::kKill, StopHow::kWhere})
      if (job && dot != std::string::npos && name.substr(dot + 1) == Word(how)) return StopOrder{*job, how};
    return std::nullopt;
  }

 private:
  static constexpr size_t kDigits = 8;
};

// The names in a folder, sorted; none where there is no such folder.
std::vector<std::string> NamesIn(const std::filesystem::path& folder);

}  // namespace backplane
