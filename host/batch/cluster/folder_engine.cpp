#include "cluster/folder_engine.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>

#include <algorithm>
#include <stdexcept>

#include "base/files.hpp"
#include "base/process.hpp"
#include "cluster/program_call.hpp"
#include "record/results_folder.hpp"

namespace backplane {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kBeatEvery{2};
constexpr std::chrono::seconds kSignsLate = 2 * kBeatEvery;  // between two looks at two files
constexpr int kLookForEnds_ms = 10;
constexpr int kRemoveTries = 100;

// Ignores errors: if the folder is gone, the workers end on their own, and the batch notices too.
void Tell(const std::filesystem::path& file, const std::string& text) {
  try {
    ReplaceFile(file, text);
  } catch (const std::exception&) {
  }
}

}  // namespace

void FolderEngine::MakeFolder() {
  const std::filesystem::path engine = std::filesystem::absolute(ResultsFolder{out_}.engine());
  unsigned number = 1;
  for (; std::filesystem::exists(engine / std::to_string(number)); ++number) {
  }
  at_.folder = engine / std::to_string(number);
  for (const auto& folder : {at_.orders(), at_.taken(), at_.stop(), at_.ended(), at_.workers(), at_.logs()})
    std::filesystem::create_directories(folder);
  const ProcessId self = ThisProcess();
  token_ = fmt::format("{}-{}-{}", self.boot_id, self.pid, self.pid_start);
  ReplaceFile(at_.session(), token_);
  BeAlive();
}

JobId FolderEngine::Start(const TrialCommand& command) {
  // From now on the node locks the trial's folder, with a file, because locks of folders do not reach across machines.
  if (command.trial_lock_fd >= 0) flock(command.trial_lock_fd, LOCK_UN);
  WorkOrder order;
  order.job = ++last_;
  order.program = command.child.program;
  order.arguments = command.child.arguments;
  order.environment = command.child.environment;
  order.stdout_file = command.child.stdout_file;
  order.stderr_file = command.child.stderr_file;
  order.status_file = command.status_file;
  order.lock_file = TrialFolder{command.status_file.parent_path().parent_path()}.node_lock();
  order.cores = command.allocation.cores.size();
  order.gpus = command.allocation.gpu_share;
  order.memory_bytes = command.allocation.memory_bytes;
  order.grace_s = command.grace_s;
  order.silence_limit_s = command.silence_limit_s;
  ReplaceFile(at_.order(order.job), ToJson(order).dump());
  jobs_[order.job] = {Clock::now(), std::make_unique<StatusReader>(command.status_file), command.grace_s, std::nullopt};
  try {
    Ordered(order);
  } catch (...) {  // it was not started, so its end must not be reported
    std::error_code error;
    std::filesystem::remove(at_.order(order.job), error);
    jobs_.erase(order.job);
    throw;
  }
  return order.job;
}

void FolderEngine::Stop(JobId job, StopHow how) {
  if (!jobs_.contains(job)) return;
  std::error_code taken;
  // No worker has taken it yet, so it ends here, as if stopped before its start.
  const std::filesystem::path back = at_.taken_by(job, "supervisor");
  std::filesystem::rename(at_.order(job), back, taken);
  if (!taken) {
    std::filesystem::remove(back, taken);
    WorkEnd end;
    end.code = 0;
    return Tell(at_.ended(job), ToJson(end).dump());
  }
  Tell(at_.stop(job, how), "");
  if (how == StopHow::kWhere) return;
  Job& stopped = jobs_.at(job);
  // After that time without an answer, the node counts as lost.
  const std::chrono::duration<double> within =
      ClusterPatience() + std::chrono::duration<double>(how == StopHow::kAsk ? stopped.grace_s : 0);
  const auto ends_by = Clock::now() + std::chrono::duration_cast<Clock::duration>(within);
  if (stopped.ends_by && *stopped.ends_by <= ends_by) return;
  stopped.ends_by = ends_by;
  stopped.answers_within = within;
}

std::optional<StatusFile> FolderEngine::Status(JobId job) {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? std::nullopt : found->second.status->Read();
}

bool FolderEngine::HasBegun(JobId job) {
  std::error_code error;
  return !std::filesystem::exists(at_.order(job), error);
}

std::string FolderEngine::Silence(JobId job) {
  const auto found = silent_.find(job);
  return found == silent_.end() ? "" : found->second;
}

// A cluster may need minutes to notice that a node is dead.
void FolderEngine::LookForSigns() {
  const auto now = Clock::now();
  std::map<std::string, Sign> signs;
  for (const std::string& worker : NamesIn(at_.workers())) {
    std::string text = ReadFile(at_.workers() / worker).value_or("");
    const auto known = signs_.find(worker);
    const bool is_new = known == signs_.end() || (known->second.text != text && !text.empty());
    signs[worker] = is_new ? Sign{std::move(text), now} : known->second;
  }
  signs_ = std::move(signs);
  silent_.clear();
  for (const std::string& name : NamesIn(at_.taken())) {
    const auto job = WorkFolder::Job(name);
    const auto sign = signs_.find(WorkFolder::Worker(name));
    const auto limit = ClusterPatience() + kSignsLate;
    if (!job || sign == signs_.end() || now - sign->second.seen <= limit) continue;
    const auto hello = nlohmann::json::parse(sign->second.text, nullptr, /*allow_exceptions=*/false);
    silent_[*job] = fmt::format("its node {} has given no sign of life for {:g} s", ReadTolerantly<WorkerHello>(hello).host,
                                std::chrono::duration<double>(limit).count());
  }
}

std::vector<JobEnd> FolderEngine::Wait(int timeout_ms) {
  const auto until = Clock::now() + std::chrono::milliseconds(timeout_ms);
  for (;;) {
    BeAlive();
    std::vector<JobEnd> ended = TakeEnded();
    std::vector<Lost> lost = FolderIsThere() ? FindLost() : AllLost();
    for (Lost& one : Unanswered()) lost.push_back(std::move(one));
    if (!lost.empty()) {
      // Reads results written before the loss.
      for (JobEnd& end : TakeEnded()) ended.push_back(std::move(end));
      for (const Lost& one : lost) {
        if (!jobs_.contains(one.job)) continue;
        WorkEnd told;
        told.code = -1;
        told.lost = one.why;
        // If the cluster is wrong and the trial still runs, this stops it before the next attempt.
        Tell(at_.stop(one.job, StopHow::kKill), "");
        std::error_code error;
        std::filesystem::remove(at_.order(one.job), error);
        ended.push_back(EndOf(one.job, told));
        jobs_.erase(one.job);
      }
    }
    if (!ended.empty() || Clock::now() >= until) return ended;
    if (poll(nullptr, 0, kLookForEnds_ms) != 0) return {};  // a signal handler ran
  }
}

bool FolderEngine::FolderIsThere() const {
  std::error_code error;
  return std::filesystem::exists(at_.session(), error) || error;
}

std::vector<FolderEngine::Lost> FolderEngine::AllLost() const {
  std::vector<Lost> lost;
  for (const auto& [id, job] : jobs_) lost.push_back({id, "the results folder was moved while its node ran"});
  return lost;
}

std::vector<FolderEngine::Lost> FolderEngine::Unanswered() const {
  std::vector<Lost> lost;
  for (const auto& [id, job] : jobs_)
    if (job.ends_by && Clock::now() > *job.ends_by)
      lost.push_back({id, fmt::format("its node was lost: it did not answer a request to stop within {:g} s",
                                      job.answers_within.count())});
  return lost;
}

std::vector<JobId> FolderEngine::Running() const {
  std::vector<JobId> ids;
  for (const auto& [id, job] : jobs_) ids.push_back(id);
  return ids;
}

std::vector<JobEnd> FolderEngine::TakeEnded() {
  std::vector<JobEnd> ended;
  for (const std::string& name : NamesIn(at_.ended())) {
    const auto job = WorkFolder::Job(name);
    if (!job) continue;
    const auto json = nlohmann::json::parse(ReadFile(at_.ended() / name).value_or(""), nullptr, /*allow_exceptions=*/false);
    std::error_code error;
    std::filesystem::remove(at_.ended() / name, error);
    const auto told = RecordOrNothing<WorkEnd>(json);
    if (!told || !jobs_.contains(*job)) continue;  // it already counts as lost
    ended.push_back(EndOf(*job, *told));
    Forget(*job);
  }
  return ended;
}

JobEnd FolderEngine::EndOf(JobId id, const WorkEnd& told) {
  Job& job = jobs_.at(id);
  JobEnd end;
  end.job = id;
  end.exit = {told.code, told.signal, told.peak_rss_bytes};
  end.not_started = told.not_started;
  end.lost = told.lost;
  end.wall_s = told.wall_s > 0 ? told.wall_s : std::chrono::duration<double>(Clock::now() - job.start).count();
  end.peak_rss_bytes = told.peak_rss_bytes;
  end.peak_memory_bytes = told.peak_memory_bytes;
  end.over_memory = told.over_memory;
  end.memory_enforced_by = told.memory_enforced_by;
  end.over_silence = told.over_silence;
  end.stuck = told.stuck;
  end.left = told.left;
  end.status = job.status->Read();
  end.host = told.host;
  return end;
}

void FolderEngine::Forget(JobId job) {
  jobs_.erase(job);
  std::error_code error;
  for (const StopHow how : {StopHow::kAsk, StopHow::kKill, StopHow::kWhere}) std::filesystem::remove(at_.stop(job, how), error);
}

void FolderEngine::BeAlive() {
  if (beats_ > 0 && Clock::now() - last_beat_ < kBeatEvery) return;
  last_beat_ = Clock::now();
  Tell(at_.alive(), std::to_string(++beats_));
  LookForSigns();
}

void FolderEngine::TellEnd(const char* how) const {
  if (!at_.folder.empty()) Tell(at_.end(), how);
}

void FolderEngine::RemoveFolder() const {
  std::error_code error;
  if (at_.folder.empty()) return;
  // A worker may still write its last file at the same time.
  for (int tries = 0; tries < kRemoveTries && std::filesystem::exists(at_.folder, error); ++tries) {
    std::filesystem::remove_all(at_.folder, error);
    if (error) poll(nullptr, 0, kLookForEnds_ms);
  }
  std::filesystem::remove(at_.folder.parent_path(), error);  // unless another session uses it
}

}  // namespace backplane
