#include "cluster/make_engine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>

#include "base/files.hpp"
#include "base/interrupt.hpp"
#include "base/process.hpp"
#include "batch/local_engine.hpp"
#include "cluster/ray_engine.hpp"
#include "cluster/slurm_engine.hpp"
#include "record/results_folder.hpp"

namespace backplane {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kTrialsSave{40};  // as long as the wait for the results folder's lock
constexpr std::chrono::milliseconds kLookForLeft{100};

MadeEngine MakeLocal(const EngineRequest& request) { return {std::make_unique<LocalEngine>(request.program)}; }
std::string LocalIsThere(const EngineConfig&) { return ""; }

template <class E>
MadeEngine MakeOf(const EngineRequest& request) {
  auto engine = std::make_unique<E>(request);
  const size_t at_once = engine->at_once();
  return {std::move(engine), at_once};
}

struct EngineKind {
  std::string_view name;
  MadeEngine (*make)(const EngineRequest& request);
  std::string (*why_not)(const EngineConfig& config);
};

// To add an engine, add its row here and its word to the range of `engine.kind` (contract/schema.cpp).
constexpr EngineKind kEngines[] = {{kLocalEngine, MakeLocal, LocalIsThere},
                                   {"slurm", MakeOf<SlurmEngine>, SlurmEngine::WhyNot},
                                   {"ray", MakeOf<RayEngine>, RayEngine::WhyNot}};

// A worker on a different machine counts as alive: its hello is removed when it ends.
bool IsWorkerAlive(const std::filesystem::path& hello) {
  const auto json = nlohmann::json::parse(ReadFile(hello).value_or(""), nullptr, /*allow_exceptions=*/false);
  const auto worker = RecordOrNothing<WorkerHello>(json);
  if (!worker) return false;
  return worker->host != ThisProcess().hostname || kill(static_cast<pid_t>(worker->pid), 0) == 0;
}

bool AnyWorkerAlive(const WorkFolder& at) {
  for (const std::string& name : NamesIn(at.workers()))
    if (IsWorkerAlive(at.workers() / name)) return true;
  return false;
}

}  // namespace

MadeEngine MakeEngine(const EngineRequest& request) {
  for (const EngineKind& kind : kEngines)
    if (kind.name == request.config.kind) return kind.make(request);
  throw std::runtime_error("there is no engine '" + request.config.kind + "'");
}

std::vector<std::string> EngineKinds() {
  std::vector<std::string> kinds;
  for (const EngineKind& kind : kEngines) kinds.emplace_back(kind.name);
  return kinds;
}

std::string WhyNoEngine(const EngineConfig& config) {
  for (const EngineKind& kind : kEngines)
    if (kind.name == config.kind) return kind.why_not(config);
  return "";
}

std::string EndClusterJobs(const std::filesystem::path& out, const BatchRecord& record) {
  const std::filesystem::path engine = ResultsFolder{out}.engine();
  std::vector<WorkFolder> left;
  for (const std::string& name : NamesIn(engine)) left.push_back({engine / name});
  std::vector<std::string> slurm;
  if (!record.sessions.empty() && !record.sessions.back().ended)
    for (const EngineJob& job : record.sessions.back().jobs)
      if (job.engine == "slurm") slurm.push_back(job.job);
  if (left.empty() && slurm.empty()) return "";
  for (const WorkFolder& at : left) ReplaceFile(at.end(), "ask");
  std::string failure = CancelJobs(slurm, /*only_pending=*/true);
  const auto until = Clock::now() + kTrialsSave;
  size_t alive = 0;
  bool any = false;
  for (;;) {
    alive = 0;
    for (const WorkFolder& at : left) alive += AnyWorkerAlive(at) ? 1 : 0;
    any = any || alive > 0;
    if (InterruptScope::Count() > 0) return "";  // the next session does this first
    if (alive == 0 || Clock::now() > until) break;
    std::this_thread::sleep_for(kLookForLeft);
  }
  if (alive > 0)
    for (const WorkFolder& at : left) ReplaceFile(at.end(), "kill");
  if (failure.empty()) failure = CancelJobs(slurm, /*only_pending=*/false);
  std::error_code error;
  std::filesystem::remove_all(engine, error);
  if (!failure.empty())
    return fmt::format("warning: {}; `scancel {}` ends the jobs that an earlier run may have left in Slurm's queue", failure,
                       fmt::join(slurm, " "));
  return any ? "ended the jobs that an earlier run left on the cluster; its finished and saved trials are kept" : "";
}

}  // namespace backplane
