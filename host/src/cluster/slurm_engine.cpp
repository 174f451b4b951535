#include "cluster/slurm_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <thread>

#include "base/files.hpp"
#include "base/run_process.hpp"
#include "log/log.hpp"
#include "supervise/interrupt.hpp"

namespace backplane {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kAskEvery{3};
constexpr std::chrono::seconds kSayWaiting{5};
constexpr std::chrono::seconds kWorkersLeave{5};
constexpr std::chrono::milliseconds kLookForWorkers{50};
constexpr size_t kMostInVain = 3;

// "00000007@12.0" -> "12.0"
std::string WorkerOf(const std::string& taken) {
  const size_t at = taken.find('@');
  return at == std::string::npos ? "" : taken.substr(at + 1);
}

}  // namespace

SlurmEngine::SlurmEngine(const EngineRequest& request) : FolderEngine(request.out), request_(request) {
  if (const std::string why = WhyNot(request.config); !why.empty()) throw std::runtime_error(why);
  if (request_.needs.gpus != std::floor(request_.needs.gpus))
    throw std::runtime_error(fmt::format(
        "resources.gpus {}: Slurm gives whole devices; wanted a whole number, or engine.kind ray, which counts parts",
        request_.needs.gpus));
  const uint64_t wanted = request_.jobs ? *request_.jobs : request_.config.nodes;
  at_once_ = std::max<size_t>(1, std::min<size_t>(wanted, request_.needs.trials));
  tasks_ = std::min<size_t>(request_.config.nodes, at_once_);
  slots_ = (at_once_ + tasks_ - 1) / tasks_;
}

std::string SlurmEngine::WhyNot(const EngineConfig&) {
  if (RunProcess({.words = {"sbatch", "--version"}}).ok()) return "";
  return "engine.kind slurm: there is no program sbatch here that works; this command belongs on a machine from which jobs are "
         "submitted (a login node), and `apt-get install slurm-client` gives a Debian machine of the cluster the programs";
}

SlurmEngine::~SlurmEngine() {
  if (answer_.valid()) answer_.wait();
  TellEnd("ask");
  CancelJobs(jobs_, /*only_pending=*/true);
  const auto until = Clock::now() + kWorkersLeave;
  while (AnyWorker() && Clock::now() < until) std::this_thread::sleep_for(kLookForWorkers);
  if (AnyWorker()) CancelJobs(jobs_, /*only_pending=*/false);
  RemoveFolder();
}

void SlurmEngine::Submit(size_t tasks) {
  const std::string job = Sbatch(SbatchArguments(request_, at(), tasks, slots_), WorkerScript(request_, at(), token(), slots_));
  jobs_.push_back(job);
  Announce({"slurm", job});
  submitted_ = asked_ = Clock::now();
}

// Waits for the first worker: that it is there says that the nodes see the folder and can run this program.
std::string SlurmEngine::Open() {
  try {
    MakeFolder();
    Submit(tasks_);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  bool said = false;
  while (!AnyWorker() && InterruptScope::Count() == 0) {
    BeAlive();
    std::this_thread::sleep_for(kLookForWorkers);
    if (!said && Clock::now() - submitted_ > kSayWaiting) {
      said = true;
      const std::string why = WhyPending(jobs_.back());
      LogInfo("waiting for Slurm to start job {}{}", jobs_.back(), why.empty() ? "" : " (" + why + ")");
    }
    if (Clock::now() - asked_ < kAskEvery) continue;
    asked_ = Clock::now();
    const auto tasks = AskSlurm(jobs_);
    if (!tasks || !tasks->pending.empty() || !tasks->running.empty() || AnyWorker()) continue;
    return fmt::format(
        "Slurm has run job {} and no worker of it was heard of in {}: the nodes have to see this folder under this name, and "
        "the "
        "program {}; what they printed, if anything, is in {}",
        jobs_.back(), at().folder.string(), request_.program.string(), at().logs().string());
  }
  return "";
}

std::optional<SlurmTasks> SlurmEngine::Hear() {
  if (answer_.valid()) {
    if (answer_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return std::nullopt;
    asked_ = Clock::now();
    return answer_.get();
  }
  if (Clock::now() - asked_ >= kAskEvery) answer_ = std::async(std::launch::async, AskSlurm, jobs_);
  return std::nullopt;
}

// A worker is gone when Slurm says so twice: what it wrote last may come to us later than that.
std::vector<FolderEngine::Lost> SlurmEngine::LostWorkers(const SlurmTasks& tasks) {
  std::vector<Lost> lost;
  std::set<std::string> gone;
  std::error_code error;
  for (const std::string& name : NamesIn(at().taken())) {
    const auto job = WorkFolder::Job(name);
    const std::string worker = WorkerOf(name);
    if (!job || !IsRunning(*job) || tasks.running.contains(worker)) continue;
    gone.insert(worker);
    if (!suspects_.contains(worker)) continue;
    lost.push_back({*job, fmt::format("its node was lost: Slurm's job {} has ended under it", worker)});
    std::filesystem::remove(at().taken() / name, error);
  }
  for (const std::string& worker : NamesIn(at().workers())) {
    if (tasks.running.contains(worker)) continue;
    gone.insert(worker);
    if (suspects_.contains(worker)) std::filesystem::remove(at().workers() / worker, error);
  }
  suspects_ = std::move(gone);
  return lost;
}

std::vector<FolderEngine::Lost> SlurmEngine::FindLost() {
  if (jobs() == 0) return {};
  const std::optional<SlurmTasks> tasks = Hear();
  if (!tasks) return {};
  std::vector<Lost> lost = LostWorkers(*tasks);
  // Workers leave when there was nothing to do for a while, or with their node.
  const size_t there = tasks->running.size() + tasks->pending.size();
  const std::vector<std::string> waiting = NamesIn(at().orders());
  if (waiting.empty() || there >= tasks_) return lost;
  in_vain_ = AnyWorker() || there > 0 ? 0 : in_vain_ + 1;
  if (in_vain_ > kMostInVain) {
    for (const std::string& name : waiting)
      if (const auto job = WorkFolder::Job(name))
        lost.push_back({*job, fmt::format("Slurm's workers end as soon as they are started (job {}, logs in {})", jobs_.back(),
                                          at().logs().string())});
    return lost;
  }
  try {
    Submit(tasks_ - there);
  } catch (const std::runtime_error& error) {
    LogInfo("warning: {}; it is tried again", error.what());
  }
  return lost;
}

}  // namespace backplane
