#include "record/batch_record.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/error_words.hpp"
#include "base/files.hpp"
#include "base/json_depth.hpp"
#include "record/flat_json.hpp"

namespace backplane {
namespace {

// Throws nlohmann's exceptions and std::runtime_error; the caller adds the place.
Event ParseEvent(const std::string& line, FlatJsonReader* flat) {
  // Parse misfits again with nlohmann::json, which has better error messages.
  if (flat->Read(line)) {
    if (auto event = RecordOrNothing<Event>(flat->root())) return *std::move(event);
  }
  if (IsNestedTooDeeply(line)) throw std::runtime_error("is nested too deeply");
  return RecordFromJson<Event>(nlohmann::json::parse(line));
}

AttemptRecord& AttemptOf(TrialRecord& trial, const Event& event) {
  for (auto at = trial.attempts.rbegin(); at != trial.attempts.rend(); ++at) {
    if (at->number == event.attempt) {
      return *at;
    }
  }
  AttemptRecord attempt;
  attempt.number = event.attempt;
  attempt.started = event.t;
  return trial.attempts.emplace_back(std::move(attempt));
}

// Results without codes have only the sentence.
std::optional<StateReason> ReasonOf(const StateChange& change) {
  const bool lost = change.why.starts_with("the stage before it, ") || change.why.starts_with("the phase before it, ");
  if (!change.code && change.state == TrialState::kSkipped && lost) return StateReason::kLostStart;
  return change.code;
}

// Applies an event to the record, with one overload per kind.
struct Applied {
  BatchRecord& record;
  const Event& event;

  TrialRecord& Trial() const {
    TrialRecord& trial = record.trials[event.trial_id];
    trial.id = event.trial_id;
    trial.last_seq = event.seq;
    return trial;
  }

  void operator()(const UnknownEvent&) const {}
  void operator()(const SessionStart& start) const {
    record.sessions.push_back({event.t, std::nullopt, start, event.boot_id, "", {}});
    record.paused.clear();
  }
  void operator()(const SessionEnd& end) const {
    if (record.sessions.empty()) return;
    record.sessions.back().ended = event.t;
    record.sessions.back().why_ended = end.why;
  }
  void operator()(const SweepPaused& pause) const { record.paused = pause.why; }
  void operator()(const SearchMessage& message) const { record.search.Apply(message, event.t); }
  void operator()(const SearchPoint& point) const { record.search.Apply(point); }
  void operator()(const EngineJob& job) const {
    if (!record.sessions.empty()) record.sessions.back().jobs.push_back(job);
  }
  void operator()(const EngineWait& wait) const {
    if (!record.sessions.empty()) record.sessions.back().waits_for = wait.why;
  }
  void operator()(const AttemptMove& move) const {
    AttemptRecord& attempt = AttemptOf(Trial(), event);
    attempt.place = move;
    attempt.placed = event.t;
  }
  void operator()(const AttemptStart& start) const {
    TrialRecord& trial = Trial();
    // One that could not even make its folder leaves its number to the next.
    const TrialState place = start.queued ? TrialState::kQueued : TrialState::kRunning;
    AttemptOf(trial, event) = {event.attempt, event.t, std::nullopt, start, {}, {place, ""}, event.t};
    trial.state = TrialState::kRunning;
    trial.outcome.reset();
    trial.reason.reset();
    trial.why.clear();
  }
  void operator()(const AttemptEnd& end) const {
    TrialRecord& trial = Trial();
    trial.state = end.state;
    trial.outcome = end.outcome;
    trial.why = end.why;
    AttemptRecord& attempt = AttemptOf(trial, event);
    attempt.ended = event.t;
    attempt.end = end;
  }
  void operator()(const StateChange& change) const { Trial().Change(change); }
};

}  // namespace

void TrialRecord::Change(const StateChange& change) {
  state = change.state;
  reason = ReasonOf(change);
  outcome.reset();
  why = change.why;
}

void BatchRecord::Apply(const Event& event) {
  last_seq = std::max(last_seq, event.seq);
  std::visit(Applied{*this, event}, event.body);
}

const TrialRecord* BatchRecord::Find(const std::string& trial_id) const {
  const auto found = trials.find(trial_id);
  return found == trials.end() ? nullptr : &found->second;
}

void EventReader::Read() {
  std::ifstream stream = OpenStream(file_);
  if (!stream) {
    if (std::filesystem::exists(file_)) {
      throw std::runtime_error("cannot read " + file_.string());
    }
    return;
  }
  stream.seekg(static_cast<std::streamoff>(offset_));
  FlatJsonReader flat;
  for (std::string line; std::getline(stream, line) && !stream.eof();) {
    try {
      record_.Apply(ParseEvent(line, &flat));
    } catch (const std::exception& error) {
      throw std::runtime_error(file_.string() + ":" + std::to_string(lines_ + 1) + ": not an event: " + WordsOf(error) +
                               "; remove this line from the file, or restart with --fresh");
    }
    offset_ += line.size() + 1;
    ++lines_;
  }
}

BatchRecord ReadBatchRecord(const std::filesystem::path& events_file) {
  EventReader reader(events_file);
  reader.Read();
  return reader.record();
}

}  // namespace backplane
