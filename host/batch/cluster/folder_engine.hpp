// The common part of the cluster engines: the supervisor's side of a work folder (work_folder.hpp). A derived class starts the
// workers on the nodes and checks that they are alive.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <utility>

#include "cluster/work_folder.hpp"
#include "record/status_reader.hpp"

namespace backplane {

class FolderEngine : public Engine {
 public:
  // `out`: the results folder. Open makes this session's work folder in it.
  explicit FolderEngine(std::filesystem::path out) : out_(std::move(out)) {}

  JobId Start(const TrialCommand& command) override;
  void Stop(JobId job, StopHow how) override;
  std::optional<StatusFile> Status(JobId job) override;
  std::vector<JobEnd> Wait(int timeout_ms) override;
  std::vector<EngineJob> NewJobs() override { return std::exchange(new_jobs_, {}); }
  bool IsElsewhere() const override { return true; }
  bool HasBegun(JobId job) override;
  std::string Silence(JobId job) override;

 protected:
  struct Lost {
    JobId job = 0;
    std::string why;
  };

  void MakeFolder();
  // Called after an order was written.
  virtual void Ordered(const WorkOrder& order) = 0;
  // Jobs whose worker was lost since the last call. Called regularly. Their files in `ended` count.
  virtual std::vector<Lost> FindLost() = 0;
  // Orders the workers to end, before RemoveFolder. For destructors.
  void TellEnd(const char* how) const;
  void RemoveFolder() const;

  const WorkFolder& at() const { return at_; }
  const std::filesystem::path& out() const { return out_; }
  const std::string& token() const { return token_; }
  size_t jobs() const { return jobs_.size(); }
  bool IsRunning(JobId job) const { return jobs_.contains(job); }
  std::vector<JobId> Running() const;
  void Announce(EngineJob job) { new_jobs_.push_back(std::move(job)); }
  void BeAlive();  // regular sign of life to the workers

 private:
  struct Job {
    std::chrono::steady_clock::time_point start;
    std::unique_ptr<StatusReader> status;
    double grace_s = 30;
    std::optional<std::chrono::steady_clock::time_point> ends_by;  // set by a stop
    std::chrono::duration<double> answers_within{};                // from that stop to `ends_by`
  };

  // A worker's last sign of life.
  struct Sign {
    std::string text;  // of its file, which changes every few seconds
    std::chrono::steady_clock::time_point seen;
  };

  void LookForSigns();
  bool FolderIsThere() const;
  std::vector<Lost> AllLost() const;
  std::vector<Lost> Unanswered() const;
  std::vector<JobEnd> TakeEnded();
  JobEnd EndOf(JobId id, const WorkEnd& told);
  void Forget(JobId job);

  std::filesystem::path out_;
  WorkFolder at_;
  std::string token_;
  std::map<JobId, Job> jobs_;
  std::vector<EngineJob> new_jobs_;
  JobId last_ = 0;
  std::map<std::string, Sign> signs_;    // by worker
  std::map<JobId, std::string> silent_;  // jobs of silent workers: a sentence
  uint64_t beats_ = 0;
  std::chrono::steady_clock::time_point last_beat_;
};

}  // namespace backplane
