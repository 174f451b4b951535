#include "cluster/slurm.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <iterator>
#include <sstream>
#include <string_view>

#include "base/printable.hpp"
#include "base/shell_argument.hpp"
#include "cluster/slurm_limits.hpp"

namespace backplane {
namespace {

constexpr double kMinute_s = 60, kMiB = 1 << 20;
// Memory for the worker and its shims. With it, a trial reaches its shim's limit before Slurm ends the whole job.
constexpr double kOwnMemory_mib = 128;

// Values of squeue's %T. A state in no list is unknown, for example from a different version of Slurm.
constexpr std::string_view kRunning[] = {"RUNNING", "SUSPENDED", "STOPPED", "RESIZING", "SIGNALING"};
constexpr std::string_view kPending[] = {"PENDING",     "CONFIGURING",  "POWER_UP_NODE", "REQUEUED",
                                         "REQUEUE_FED", "REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT"};
constexpr std::string_view kEnded[] = {"BOOT_FAIL", "CANCELLED",     "COMPLETED", "COMPLETING",    "DEADLINE",
                                       "FAILED",    "LAUNCH_FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED",
                                       "REVOKED",   "STAGE_OUT",     "TIMEOUT"};
constexpr std::string_view kBehindOthers = "Priority";     // the other task's reason explains more
constexpr std::string_view kNoReason = "None";             // not known yet
constexpr std::string_view kForgotten = "Invalid job id";  // Slurm's message for a job that it has removed
constexpr size_t kMostDigits = 10;                         // of a job number, which has 32 bits
constexpr size_t kShownOfAnswer = 100;

template <size_t n>
bool IsOneOf(const std::string& word, const std::string_view (&words)[n]) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

bool IsJobNumber(const std::string& text) {
  return !text.empty() && text.size() <= kMostDigits && text.find_first_not_of("0123456789") == std::string::npos &&
         text.find_first_not_of('0') != std::string::npos;
}

}  // namespace

std::vector<std::string> SbatchArguments(const EngineRequest& request, const WorkFolder& at, size_t tasks, size_t slots) {
  const EngineNeeds& needs = request.needs;
  std::vector<std::string> arguments{"--parsable",
                                     fmt::format("--array=0-{}", tasks - 1),
                                     "--job-name=backplane:" + request.name,
                                     "--nodes=1",
                                     "--ntasks=1",
                                     fmt::format("--cpus-per-task={}", slots * needs.cpus),
                                     "--no-requeue",  // other workers run a lost worker's trials again immediately
                                     "--output=" + (at.logs() / "%A_%a.log").string()};
  if (needs.memory_bytes) {
    const double mib = std::ceil(static_cast<double>(slots * *needs.memory_bytes) / kMiB);
    arguments.push_back(fmt::format("--mem={}M", mib + kOwnMemory_mib));
  }
  if (needs.gpus > 0) arguments.push_back(fmt::format("--gres=gpu:{}", slots * static_cast<size_t>(std::ceil(needs.gpus))));
  if (needs.wall_time_s) {
    // A worker may run several trials in turn; allow a minute around each.
    const auto turns = static_cast<double>((needs.trials + tasks * slots - 1) / (tasks * slots));
    arguments.push_back(fmt::format("--time={}", std::ceil(turns * (*needs.wall_time_s / kMinute_s + 1))));
  }
  if (needs.exclusive) arguments.push_back("--exclusive");
  if (request.config.partition) arguments.push_back("--partition=" + *request.config.partition);
  if (request.config.account) arguments.push_back("--account=" + *request.config.account);
  arguments.insert(arguments.end(), request.config.options.begin(), request.config.options.end());
  return arguments;
}

std::string WorkerScript(const EngineRequest& request, const WorkFolder& at, const std::string& token, size_t slots) {
  return fmt::format("#!/bin/sh\nexec {} work {} {} --worker={} --slots={}\n", ShellArgument(request.program.string()),
                     ShellArgument("--folder=" + at.folder.string()), ShellArgument("--token=" + token),
                     "\"$SLURM_ARRAY_JOB_ID.$SLURM_ARRAY_TASK_ID\"", slots);
}

std::string WorkerName(const std::string& job, const std::string& task) { return job + "." + task; }

std::string ArrayOf(const std::string& worker) {
  const std::string job = worker.substr(0, worker.find('.'));
  return job.size() < worker.size() && IsJobNumber(job) ? job : "";
}

std::vector<std::string> SbatchWords(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "sbatch");
  return arguments;
}

// "4711" or "4711;cluster"
std::optional<std::string> ReadJobNumber(const std::string& text) {
  const std::string line = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  const std::string job = line.substr(0, line.find(';'));
  return IsJobNumber(job) ? std::optional(job) : std::nullopt;
}

bool SlurmTasks::HasArray(const std::string& job) const {
  const auto is_of = [&job](const std::string& worker) { return ArrayOf(worker) == job; };
  return std::ranges::any_of(running, is_of) || std::ranges::any_of(pending, is_of) || std::ranges::any_of(ended, is_of);
}

std::vector<std::string> SqueueWords(const std::vector<std::string>& jobs) {
  return {"squeue",       "--noheader",          "--array", fmt::format("--jobs={}", fmt::join(jobs, ",")),
          "--states=all", "--format=%F %K %T %r"};
}

std::optional<SlurmTasks> ReadTasks(const std::string& text) {
  SlurmTasks tasks;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    std::istringstream words(line);
    std::string job, task, state, why;
    if (!(words >> job >> task >> state) || !IsJobNumber(job)) return std::nullopt;
    std::getline(words >> std::ws, why);
    const std::string name = WorkerName(job, task);
    if (IsOneOf(state, kRunning)) {
      tasks.running.insert(name);
    } else if (IsOneOf(state, kPending)) {
      tasks.pending.insert(name);
      const bool is_better = tasks.why_pending.empty() || tasks.why_pending == kBehindOthers || IsNever(why);
      if (is_better && why != kNoReason) tasks.why_pending = why;
    } else if (IsOneOf(state, kEnded)) {
      tasks.ended.insert(name);
    } else {
      return std::nullopt;
    }
  }
  return tasks;
}

std::optional<SlurmTasks> TasksOf(const CallEnd& end, std::string* failure) {
  if (end.ok()) {
    std::optional<SlurmTasks> tasks = ReadTasks(end.out);
    if (!tasks)
      *failure = fmt::format("expected lines \"JOB TASK STATE\" from squeue, got {}",
                             Printable(end.out.substr(0, end.out.find('\n')), kShownOfAnswer));
    return tasks;
  }
  *failure = end.failure;
  if (end.err.find(kForgotten) == std::string::npos) return std::nullopt;
  SlurmTasks none;
  none.forgotten = true;
  return none;
}

std::vector<std::string> ScancelWords(const std::vector<std::string>& jobs, bool only_pending) {
  std::vector<std::string> words{"scancel", "--quiet"};
  if (only_pending) words.push_back("--state=PENDING");
  words.insert(words.end(), jobs.begin(), jobs.end());
  return words;
}

std::string CancelJobs(const std::vector<std::string>& jobs, bool only_pending, std::chrono::milliseconds limit) {
  if (jobs.empty()) return "";
  try {
    return ProgramCall(ScancelWords(jobs, only_pending), limit).Await().failure;
  } catch (const std::exception& error) {  // no descriptor is left; a destructor calls this
    return fmt::format("cannot start scancel: {}", error.what());
  }
}

}  // namespace backplane
