// What is known of a batch: the events of its folder, folded in order. Read by everyone, written by nobody: the events are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace backplane {

// One line of events.jsonl: {"v":1,"seq":7,"t":1732219200.25,"boot_id":"...","kind":"attempt.end","trial_id":"...","attempt":1,
// ...body}.
//
//   kind           body
//   session.start  pid, pid_start (field 22 of /proc/PID/stat), hostname, trials
//   attempt.start  cores, gpus, resumed
//   attempt.end    outcome, state (of the trial from now on), why, exit, signal, wall_s, peak_rss_bytes,
//                  peak_memory_bytes, memory_enforced_by; or adopted; files (record/attempt_files.hpp)
//   trial.state    state, why: a state that no attempt brought about (inferred INFEASIBLE, SKIPPED, put back to PLANNED)
//   sweep.paused   why
//   session.end    why ("done", "interrupted", "paused", "refused": a check failed)
struct Event {
  uint64_t seq = 0;
  double t = 0;  // seconds since 1970
  std::string boot_id, kind, trial_id;
  unsigned attempt = 0;
  nlohmann::json body;  // an object: the keys that the list above names
};

// COMPLETED or PRUNED: its results count, and stay as they are.
bool IsFinishedState(std::string_view trial_state);

struct AttemptRecord {
  unsigned number = 0;
  double started = 0;                   // seconds since 1970
  std::optional<double> ended;          // absent: it runs, or its supervisor died with it
  std::string outcome, why;             // once ended
  nlohmann::json start_body, end_body;  // as the events say
};

struct TrialRecord {
  std::string id;
  std::string state = "PLANNED";  // PLANNED RUNNING COMPLETED PRUNED INFEASIBLE FAILED SKIPPED
  std::string outcome, why;       // of the last attempt or the last trial.state
  std::vector<AttemptRecord> attempts;
  uint64_t last_seq = 0;  // of its last event
};

struct SessionRecord {
  double started = 0;
  std::optional<double> ended;
  nlohmann::json start_body;
  std::string boot_id, why_ended;
};

struct BatchRecord {
  std::map<std::string, TrialRecord> trials;  // by id; a trial without events is PLANNED and absent here
  std::vector<SessionRecord> sessions;
  std::string paused;  // why, if the last session paused the sweep
  uint64_t last_seq = 0;

  void Apply(Event event);
  const TrialRecord* Find(const std::string& trial_id) const;
};

// Reads on where it stopped: for those who look again and again at a batch that runs.
class EventReader {
 public:
  explicit EventReader(std::filesystem::path file) : file_(std::move(file)) {}

  // What was added since the last call. A torn last line is left for the next one. Throws as ReadBatchRecord.
  void Read();
  const BatchRecord& record() const { return record_; }

 private:
  std::filesystem::path file_;
  uint64_t offset_ = 0, lines_ = 0;
  BatchRecord record_;
};

// Absent file: an empty record. A torn last line is left out. Throws std::runtime_error naming file and line for any other
// line that is no event.
BatchRecord ReadBatchRecord(const std::filesystem::path& events_file);

}  // namespace backplane
