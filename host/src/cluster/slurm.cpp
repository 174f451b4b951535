#include "cluster/slurm.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <sstream>
#include <stdexcept>

#include "base/run_process.hpp"
#include "base/shell_argument.hpp"

namespace backplane {
namespace {

constexpr std::chrono::seconds kSlurmPatience{30};  // a busy controller answers late
constexpr double kMinute_s = 60, kMiB = 1 << 20;
// Of a worker and its keepers: a trial is to meet its keeper's limit before Slurm ends them all.
constexpr double kOwnMemory_mib = 128;

ProcessEnd Call(std::vector<std::string> words, const std::string& input = "") {
  ProcessCall call;
  call.words = std::move(words);
  call.input = input;
  call.limit = kSlurmPatience;
  return RunProcess(call);
}

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

std::vector<std::string> SbatchArguments(const EngineRequest& request, const WorkFolder& at, size_t tasks, size_t slots) {
  const EngineNeeds& needs = request.needs;
  std::vector<std::string> arguments{"--parsable",
                                     fmt::format("--array=0-{}", tasks - 1),
                                     "--job-name=backplane:" + request.name,
                                     "--nodes=1",
                                     "--ntasks=1",
                                     fmt::format("--cpus-per-task={}", slots * needs.cpus),
                                     "--no-requeue",  // a lost worker's trials are run again by others, and at once
                                     "--output=" + (at.logs() / "%A_%a.log").string()};
  if (needs.memory_bytes) {
    const double mib = std::ceil(static_cast<double>(slots * *needs.memory_bytes) / kMiB);
    arguments.push_back(fmt::format("--mem={}M", mib + kOwnMemory_mib));
  }
  if (needs.gpus > 0) arguments.push_back(fmt::format("--gres=gpu:{}", slots * static_cast<size_t>(std::ceil(needs.gpus))));
  if (needs.wall_time_s) {
    // Of all trials that a worker may come to run, one after the other, with a minute around each.
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

std::string Sbatch(const std::vector<std::string>& arguments, const std::string& script) {
  std::vector<std::string> words{"sbatch"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const ProcessEnd end = Call(words, script);
  if (!end.ok()) throw std::runtime_error(fmt::format("sbatch refused: {}", FirstLine(end.err)));
  // "4711" or "4711;cluster"
  return end.out.substr(0, end.out.find_first_not_of("0123456789"));
}

SlurmTasks ReadTasks(const std::string& text) {
  SlurmTasks tasks;
  std::istringstream lines(text);
  for (std::string job, task, state; lines >> job >> task >> state;) {
    const std::string name = WorkerName(job, task);
    if (state == "RUNNING" || state == "SUSPENDED" || state == "STOPPED") tasks.running.insert(name);
    if (state == "PENDING" || state == "CONFIGURING") tasks.pending.insert(name);
  }
  return tasks;
}

std::optional<SlurmTasks> AskSlurm(const std::vector<std::string>& jobs) {
  if (jobs.empty()) return SlurmTasks();
  const ProcessEnd end = Call(
      {"squeue", "--noheader", "--array", fmt::format("--jobs={}", fmt::join(jobs, ",")), "--states=all", "--format=%F %K %T"});
  if (end.ok()) return ReadTasks(end.out);
  // It has forgotten them all.
  if (end.started && end.err.find("Invalid job id") != std::string::npos) return SlurmTasks();
  return std::nullopt;
}

std::string WhyPending(const std::string& job) {
  const ProcessEnd end = Call({"squeue", "--noheader", "--jobs=" + job, "--format=%r"});
  return end.ok() ? FirstLine(end.out) : "";
}

void CancelJobs(const std::vector<std::string>& jobs, bool only_pending) {
  if (jobs.empty()) return;
  std::vector<std::string> words{"scancel", "--quiet"};
  if (only_pending) words.push_back("--state=PENDING");
  words.insert(words.end(), jobs.begin(), jobs.end());
  Call(words);
}

}  // namespace backplane
