// The state of a batch, folded from the events of its results folder. It is never written itself.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/event.hpp"
#include "record/search_record.hpp"

namespace backplane {

struct AttemptRecord {
  unsigned number = 0;
  double started = 0;           // seconds since 1970
  std::optional<double> ended;  // absent: it runs, or its supervisor died with it
  AttemptStart start;
  AttemptEnd end;          // once ended
  AttemptMove place = {};  // on a cluster; its state is kQueued, kRunning or kLost
  double placed = 0;       // time of its last change, seconds since 1970
};

struct TrialRecord {
  std::string id;
  TrialState state = TrialState::kPlanned;
  std::optional<Outcome> outcome;     // of the last attempt; absent: none ended, or its state was changed since
  std::string why;                    // of the last attempt or the last change of its state
  std::optional<StateReason> reason;  // of the last change of its state; absent: an attempt was the last
  std::vector<AttemptRecord> attempts;
  uint64_t last_seq = 0;  // of its last event

  void Change(const StateChange& change);
};

struct SessionRecord {
  double started = 0;
  std::optional<double> ended;
  SessionStart start;
  std::string boot_id, why_ended;
  std::vector<EngineJob> jobs;  // that it had in a cluster's queue
  std::string waits_for = {};   // the scheduler's reason for attempts in that queue
};

struct BatchRecord {
  std::map<std::string, TrialRecord> trials;  // by id; a trial without events is PLANNED and absent here
  std::vector<SessionRecord> sessions;
  std::string paused;  // why, if the last session paused the sweep
  SearchRecord search;
  uint64_t last_seq = 0;

  void Apply(const Event& event);
  const TrialRecord* Find(const std::string& trial_id) const;
  // Frees memory in long-running readers; the file keeps everything.
  void Forget(const std::string& trial_id) { trials.erase(trial_id); }
};

// Reads incrementally, for callers that poll a running batch.
class EventReader {
 public:
  explicit EventReader(std::filesystem::path file) : file_(std::move(file)) {}

  // Reads the events added since the last call, without a torn last line. Throws like ReadBatchRecord.
  void Read();
  const BatchRecord& record() const { return record_; }
  void Forget(const std::string& trial_id) { record_.Forget(trial_id); }

 private:
  std::filesystem::path file_;
  uint64_t offset_ = 0, lines_ = 0;
  BatchRecord record_;
};

// Absent file: an empty record. A torn last line is left out. Throws std::runtime_error naming file and line for any other
// line that is no event.
BatchRecord ReadBatchRecord(const std::filesystem::path& events_file);

}  // namespace backplane
