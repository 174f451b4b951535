#include "cluster/slurm_engine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <thread>
#include <utility>

#include "base/files.hpp"
#include "base/interrupt.hpp"
#include "base/printable.hpp"
#include "cluster/slurm_limits.hpp"
#include "log/log.hpp"

namespace backplane {
namespace {

constexpr std::chrono::seconds kAskEvery{3}, kAskFirst{1};
constexpr std::chrono::milliseconds kWorkersLeave{5000}, kLeaveAfterStop{1500}, kForScancel{500};
// Calls of squeue that may fail in a row: before the first worker, and later, because a controller may restart.
constexpr int kSilentCalls = 2, kSilentCallsLater = 20;
constexpr std::chrono::milliseconds kLookForWorkers{50};
constexpr size_t kMostInVain = 3, kShownReason = 200;

// Tasks that are unlisted, or whose controller is silent, are unknown. After this time they count as gone.
std::chrono::milliseconds UnknownFor() { return kSilentCalls * ClusterPatience(); }

}  // namespace

SlurmEngine::SlurmEngine(const EngineRequest& request) : FolderEngine(request.out), request_(request) {
  if (const std::string why = WhyNot(request.config); !why.empty()) throw std::runtime_error(why);
  if (request_.needs.gpus != std::floor(request_.needs.gpus))
    throw std::runtime_error(fmt::format(
        "resources.gpus: expected a whole number under Slurm, got {}\nhint: engine.kind ray supports shares of a GPU",
        request_.needs.gpus));
  const uint64_t wanted = request_.jobs ? *request_.jobs : request_.config.nodes;
  at_once_ = std::max<size_t>(1, std::min<size_t>(wanted, request_.needs.trials));
  tasks_ = std::min<size_t>(request_.config.nodes, at_once_);
  slots_ = (at_once_ + tasks_ - 1) / tasks_;
}

std::string SlurmEngine::WhyNot(const EngineConfig&) {
  const CallEnd end = ProgramCall({"sbatch", "--version"}).Await();
  if (end.ok()) return "";
  return fmt::format(
      "engine.kind slurm: sbatch does not work here ({})\nhint: run this command on a login node of the cluster, or install "
      "Slurm's programs here: apt-get install slurm-client",
      end.failure);
}

// Cancels its jobs in the queue. The user waits after a stop, so all steps share one deadline. Remaining jobs end on their own,
// because a worker without its folder does not start.
SlurmEngine::~SlurmEngine() {
  ask_.reset();
  const bool stopped = InterruptScope::AnyCame();
  const auto end = Clock::now() + (stopped ? kLeaveAfterStop : kWorkersLeave);
  const auto until = stopped ? end - kForScancel : end;
  const auto patience = [&] {
    return stopped ? std::max(kLookForWorkers, std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()))
                   : kWorkersLeave;
  };
  while (submit_ && submit_->Look() == nullptr && Clock::now() < until) std::this_thread::sleep_for(kLookForWorkers);
  ReadSubmit();
  submit_.reset();
  TellEnd("ask");
  std::string failure = CancelJobs(jobs_, /*only_pending=*/true, patience());
  while (AnyWorker() && Clock::now() < until) std::this_thread::sleep_for(kLookForWorkers);
  if (failure.empty() && AnyWorker()) failure = CancelJobs(jobs_, /*only_pending=*/false, patience());
  if (!failure.empty())
    LogInfo("warning: {}\nhint: `scancel {}` ends the jobs that may be left in Slurm's queue", failure, fmt::join(jobs_, " "));
  RemoveFolder();
}

void SlurmEngine::Submit(size_t tasks) {
  submit_ = std::make_unique<ProgramCall>(SbatchWords(SbatchArguments(request_, at(), tasks, slots_)), ClusterPatience(),
                                          WorkerScript(request_, at(), token(), slots_));
}

std::string SlurmEngine::ReadSubmit() {
  const CallEnd* const end = submit_ ? submit_->Look() : nullptr;
  if (end == nullptr) return "";
  const CallEnd told = *end;
  submit_.reset();
  asked_ = Clock::now() - (kAskEvery - kAskFirst);
  if (!told.ok()) return told.err.empty() ? told.failure : told.failure + "; " + Numbers();
  const std::optional<std::string> job = ReadJobNumber(told.out);
  if (!job)
    return fmt::format("expected a job number from sbatch, got {}",
                       told.out.empty() ? "nothing" : Printable(told.out, kShownReason));
  AddArray(*job);
  return "";
}

std::string SlurmEngine::Numbers() const {
  const std::vector<std::string> arguments = SbatchArguments(request_, at(), tasks_, slots_);
  const std::string limits = AskPartitionLimits(arguments);
  return RequestedResources(arguments) + (limits.empty() ? "" : "; " + limits);
}

std::string SlurmEngine::WhyNever(const SlurmTasks& tasks) const {
  if (!tasks.running.empty() || !IsNever(tasks.why_pending)) return "";
  return fmt::format("Slurm never starts job {} ({}): {}", jobs_.back(), Printable(tasks.why_pending, kShownReason), Numbers());
}

std::string SlurmEngine::Silence(JobId job) {
  const std::string why = FolderEngine::Silence(job);
  return why.empty() ? why : why + ", but Slurm has not reported the end of its job";
}

void SlurmEngine::AddArray(const std::string& job) {
  jobs_.push_back(job);
  Announce({"slurm", job});
}

// An sbatch may submit its array and be killed before it prints the number. The trials of its workers must not run twice.
void SlurmEngine::AdoptArrays() {
  for (const std::string& worker : NamesIn(at().workers())) {
    const std::string job = ArrayOf(worker);
    if (!job.empty() && std::find(jobs_.begin(), jobs_.end(), job) == jobs_.end()) AddArray(job);
  }
}

// Waits for the first worker. Its start proves that the nodes see the folder and can run this program.
std::string SlurmEngine::Open(const std::function<void()>& meanwhile) {
  MakeFolder();
  Submit(tasks_);
  for (; InterruptScope::Count() == 0; std::this_thread::sleep_for(kLookForWorkers)) {
    BeAlive();
    meanwhile();
    if (const std::string failure = ReadSubmit(); !failure.empty()) return failure;
    if (AnyWorker()) return "";
    if (submit_) continue;
    const std::optional<SlurmTasks> tasks = Hear();
    if (silent_since_ && Clock::now() - *silent_since_ > UnknownFor())
      return fmt::format("no node agent of Slurm's job {} reported, and the job's state is unknown: {}", jobs_.back(), warned_);
    if (!tasks) continue;
    if (const std::string why = WhyNever(*tasks); !why.empty()) return why;
    if (AnyUnlisted(*tasks) || !tasks->running.empty() || !tasks->pending.empty() || AnyWorker()) continue;
    return fmt::format(
        "Slurm ran job {}, but no node agent reported in {}\nhint: the nodes must see this folder under the same name, and "
        "the program {}; their output is in {}",
        jobs_.back(), at().folder.string(), request_.program.string(), at().logs().string());
  }
  return "";
}

std::optional<SlurmTasks> SlurmEngine::Hear() {
  if (!ask_ && Clock::now() - asked_ >= kAskEvery && !jobs_.empty()) ask_ = std::make_unique<ProgramCall>(SqueueWords(jobs_));
  const CallEnd* const end = ask_ ? ask_->Look() : nullptr;
  if (end == nullptr) return std::nullopt;
  std::string failure;
  std::optional<SlurmTasks> tasks = TasksOf(*end, &failure);
  ask_.reset();
  asked_ = Clock::now();
  if (tasks) {
    silent_since_.reset();
    warned_.clear();
    why_waiting_ = tasks->why_pending.empty() ? "" : Printable("Slurm: " + tasks->why_pending, kShownReason);
  } else {
    if (!silent_since_) silent_since_ = asked_;
    Warn(failure);
  }
  return tasks;
}

void SlurmEngine::Warn(const std::string& sentence) {
  if (std::exchange(warned_, sentence) != sentence) LogInfo("warning: {}; trying again", sentence);
}

uint64_t SlurmEngine::HeartbeatsOf(const std::string& worker) {
  uint64_t sum = 0;
  for (const std::string& name : NamesIn(at().taken())) {
    const auto job = WorkFolder::Job(name);
    if (!job || WorkFolder::Worker(name) != worker) continue;
    if (const std::optional<StatusFile> status = Status(*job)) sum += status->heartbeat;
  }
  return sum;
}

// A worker is gone after two such answers, because its last files may arrive after the first. An unlisted worker is gone if
// that state lasts and its trials show no heartbeat.
bool SlurmEngine::IsLost(const std::string& worker, const SlurmTasks& tasks, std::map<std::string, Suspect>* suspects) {
  if (tasks.running.contains(worker)) return false;
  const auto now = Clock::now();
  const bool listed = tasks.forgotten || tasks.ended.contains(worker) || tasks.pending.contains(worker);
  const uint64_t heartbeats = listed ? 0 : HeartbeatsOf(worker);
  const auto before = suspects_.find(worker);
  const bool is_new = before == suspects_.end() || before->second.heartbeats != heartbeats;
  (*suspects)[worker] = is_new ? Suspect{now, heartbeats} : before->second;
  return !is_new && (listed || now - before->second.since > UnknownFor());
}

std::vector<FolderEngine::Lost> SlurmEngine::LostWorkers(const SlurmTasks& tasks) {
  std::vector<Lost> lost;
  std::map<std::string, Suspect> suspects;
  std::error_code error;
  for (const std::string& name : NamesIn(at().taken())) {
    const auto job = WorkFolder::Job(name);
    const std::string worker = WorkFolder::Worker(name);
    if (!job || !IsRunning(*job) || !IsLost(worker, tasks, &suspects)) continue;
    lost.push_back({*job, fmt::format("its node was lost: Slurm's job {} has ended", worker)});
    std::filesystem::remove(at().taken() / name, error);
  }
  for (const std::string& worker : NamesIn(at().workers()))
    if (IsLost(worker, tasks, &suspects)) std::filesystem::remove(at().workers() / worker, error);
  suspects_ = std::move(suspects);
  return lost;
}

// True if Slurm listed no task of an array although the array may still exist.
bool SlurmEngine::AnyUnlisted(const SlurmTasks& tasks) {
  bool unknown = false;
  for (const std::string& job : jobs_) {
    if (tasks.forgotten || tasks.HasArray(job)) {
      unlisted_.erase(job);
    } else {
      unknown |= Clock::now() - unlisted_.try_emplace(job, Clock::now()).first->second < UnknownFor();
    }
  }
  return unknown;
}

std::vector<FolderEngine::Lost> SlurmEngine::AllWaiting(const std::string& why) const {
  std::vector<Lost> lost;
  for (const std::string& name : NamesIn(at().orders()))
    if (const auto job = WorkFolder::Job(name)) lost.push_back({*job, why});
  return lost;
}

// Workers that run trials need no answer of squeue. Without any, orders may wait for workers that never start.
std::vector<FolderEngine::Lost> SlurmEngine::LostToSilence() const {
  if (!silent_since_ || Clock::now() - *silent_since_ < kSilentCallsLater * ClusterPatience() || !NamesIn(at().taken()).empty())
    return {};
  return AllWaiting("no node agent starts this trial, and the state of Slurm's jobs is unknown: " + warned_);
}

std::vector<FolderEngine::Lost> SlurmEngine::FindLost() {
  if (jobs() == 0) return {};
  if (const std::string failure = ReadSubmit(); !failure.empty()) {
    Warn(failure);
    in_vain_ = AnyWorker() ? 0 : in_vain_ + 1;
    if (in_vain_ > kMostInVain) return AllWaiting(fmt::format("Slurm starts no node agents: {}", failure));
  }
  AdoptArrays();
  const std::optional<SlurmTasks> tasks = Hear();
  if (!tasks) return LostToSilence();
  std::vector<Lost> lost = LostWorkers(*tasks);
  if (const std::string why = WhyNever(*tasks); !why.empty())
    for (Lost& one : AllWaiting(why)) lost.push_back(std::move(one));
  // Workers end after some idle time, or with their node.
  const bool unknown = AnyUnlisted(*tasks);
  const size_t there = tasks->running.size() + tasks->pending.size();
  if (submit_ || unknown || NamesIn(at().orders()).empty() || there >= tasks_) return lost;
  in_vain_ = AnyWorker() || there > 0 ? 0 : in_vain_ + 1;
  if (in_vain_ > kMostInVain) {
    for (Lost& one : AllWaiting(fmt::format("Slurm's node agents end as soon as they start (job {}, logs in {})", jobs_.back(),
                                            at().logs().string())))
      lost.push_back(std::move(one));
    return lost;
  }
  Submit(tasks_ - there);
  return lost;
}

}  // namespace backplane
