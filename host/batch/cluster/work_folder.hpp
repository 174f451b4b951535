// The protocol between a supervisor and the workers on a cluster's nodes: files in a shared folder, each written under another
// name and then renamed. Each session of a supervisor has a folder OUT/engine/<n>:
//
//   session           the session's token, written first; proves to a worker that it sees this folder
//   alive             a number that grows as long as the supervisor lives
//   orders/JOB        an order to run (WorkOrder); a worker claims it by renaming it to taken/JOB@WORKER
//   stop/JOB.HOW      an order to stop a running job: ask, kill, where
//   ended/JOB         the end of a job (WorkEnd); the supervisor removes it after reading
//   workers/WORKER    made by a worker when it starts (WorkerHello), rewritten every two seconds, removed when it ends
//   end               orders the workers to end: "ask", their trials with a checkpoint, or "kill"
//   logs/             output of the workers
//
// Readers list whole folders and never poll for a missing file: a network file system caches the absence of a name, but rereads
// a folder when it is opened.
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

// A JobEnd without the status, which the supervisor reads itself.
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
  std::vector<int> cores;  // cores of its trials; none: all cores are taken
  uint64_t beats = 0;      // grows as long as the worker lives

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("host", self.host);
    visit("pid", self.pid);
    visit("cores", self.cores);
    visit("beats", DefaultIfMissing(self.beats));
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
  // All names have the same length, so their text order is the order of the jobs.
  static std::string Name(JobId job) {
    const std::string number = std::to_string(job);
    return std::string(std::max<size_t>(kDigits, number.size()) - number.size(), '0') + number;
  }
  // The job of a name, with or without a worker. Absent: a different file, such as a temporary one.
  static std::optional<JobId> Job(const std::string& name) {
    const std::string number = name.substr(0, name.find('@'));
    if (number.size() < kDigits || !std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; }))
      return std::nullopt;
    return std::stoull(number);
  }
  // "00000007@12.0" -> "12.0"
  static std::string Worker(const std::string& taken) {
    const size_t at = taken.find('@');
    return at == std::string::npos ? "" : taken.substr(at + 1);
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

// The names in a folder, sorted; empty if the folder is missing.
std::vector<std::string> NamesIn(const std::filesystem::path& folder);

}  // namespace backplane
