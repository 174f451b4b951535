#include "store/batch_record.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/files.hpp"
#include "base/json_depth.hpp"
#include "base/json_fields.hpp"

namespace backplane {
namespace {

using nlohmann::json;

template <class T>
T Take(json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) {
    throw std::runtime_error(std::string("\"") + key + "\" is missing");
  }
  T value = found->get<T>();
  object.erase(found);
  return value;
}

template <class T>
T TakeOr(json& object, const char* key, T otherwise) {
  return object.contains(key) ? Take<T>(object, key) : otherwise;
}

bool IsOfTrial(const std::string& kind) { return kind == "attempt.start" || kind == "attempt.end" || kind == "trial.state"; }

// Throws nlohmann's exceptions and std::runtime_error; the caller knows the place.
Event ParseEvent(const std::string& line) {
  if (IsNestedTooDeeply(line)) throw std::runtime_error("is nested too deeply");
  json object = json::parse(line);
  if (!object.is_object()) {
    throw std::runtime_error(std::string("should be an object, is ") + object.type_name());
  }
  if (const int version = Take<int>(object, "v"); version != 1) {
    throw std::runtime_error("is of version " + std::to_string(version) + ", this program reads 1");
  }
  Event event;
  event.seq = Take<uint64_t>(object, "seq");
  event.t = Take<double>(object, "t");
  event.boot_id = Take<std::string>(object, "boot_id");
  event.kind = Take<std::string>(object, "kind");
  event.trial_id = TakeOr<std::string>(object, "trial_id", "");
  event.attempt = TakeOr(object, "attempt", 0u);
  event.body = std::move(object);
  if (IsOfTrial(event.kind) && event.trial_id.empty()) {
    throw std::runtime_error("\"trial_id\" is missing");
  }
  if (IsOfTrial(event.kind) && event.kind != "attempt.start" && !event.body.at("state").is_string()) {
    throw std::runtime_error("\"state\" should be a word");
  }
  return event;
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

void ApplyToTrial(TrialRecord& trial, Event&& event) {
  trial.last_seq = event.seq;
  if (event.kind == "attempt.start") {
    AttemptRecord& attempt = AttemptOf(trial, event);
    // One that could not even make its folder leaves its number to the next.
    attempt = {};
    attempt.number = event.attempt;
    attempt.started = event.t;
    attempt.start_body = std::move(event.body);
    trial.state = "RUNNING";
    trial.outcome = trial.why = "";
    return;
  }
  trial.state = Text(At(event.body, "state"));
  trial.outcome = Text(At(event.body, "outcome"));
  trial.why = Text(At(event.body, "why"));
  if (event.kind == "attempt.end") {
    AttemptRecord& attempt = AttemptOf(trial, event);
    attempt.ended = event.t;
    attempt.outcome = trial.outcome;
    attempt.why = trial.why;
    attempt.end_body = std::move(event.body);
  }
}

}  // namespace

void BatchRecord::Apply(Event event) {
  last_seq = std::max(last_seq, event.seq);
  if (event.kind == "session.start") {
    sessions.push_back({event.t, std::nullopt, std::move(event.body), event.boot_id, ""});
    paused.clear();
  } else if (event.kind == "session.end" && !sessions.empty()) {
    sessions.back().ended = event.t;
    sessions.back().why_ended = Text(At(event.body, "why"));
  } else if (event.kind == "sweep.paused") {
    paused = Text(At(event.body, "why"));
  } else if (IsOfTrial(event.kind)) {
    TrialRecord& trial = trials[event.trial_id];
    trial.id = event.trial_id;
    ApplyToTrial(trial, std::move(event));
  }
  // A kind of a later version is left alone: what it says of a trial can not be guessed.
}

bool IsFinishedState(std::string_view state) { return state == "COMPLETED" || state == "PRUNED"; }

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
  for (std::string line; std::getline(stream, line) && !stream.eof();) {
    try {
      record_.Apply(ParseEvent(line));
    } catch (const std::exception& error) {
      throw std::runtime_error(file_.string() + ":" + std::to_string(lines_ + 1) + ": not an event: " + error.what() +
                               "; take this line out of the file, or start anew with --fresh");
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
