#include "embed/run_follower.hpp"

#include <fstream>
#include <utility>

#include "backplane/embed.h"
#include "base/files.hpp"
#include "base/json_fields.hpp"
#include "record/event.hpp"
#include "record/results_folder.hpp"

namespace backplane {

void GrowingFile::TakeLines(const std::function<void(const std::string& line)>& take) {
  std::ifstream in = OpenStream(file_);
  if (!in.is_open() || !in.seekg(static_cast<std::streamoff>(read_))) return;
  // An incomplete last line has no end yet.
  for (std::string line; std::getline(in, line) && !in.eof();) {
    read_ += line.size() + 1;
    take(line);
  }
}

RunFollower::RunFollower(const RunTold& told) : told_(told), events_(ResultsFolder{told.out}.events(), told.old_event_bytes) {}

void RunFollower::TakeNews(const Take& take) {
  events_.TakeLines([&](const std::string& line) { TakeEvent(line, take); });
  for (auto it = running_.begin(); it != running_.end();) {
    Attempt& attempt = it->second;
    attempt.metrics.TakeLines([&](const std::string& line) { take({BP_RUN_METRICS, line, attempt.trial, attempt.number}); });
    it = attempt.ended ? running_.erase(it) : std::next(it);
  }
  TakeProgress(take);
}

// The end of an attempt is recorded after its last metrics.
void RunFollower::TakeEvent(const std::string& line, const Take& take) {
  const nlohmann::json event = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  const std::string kind = Text(At(event, "kind")), trial = Text(At(event, "trial_id"));
  const auto number = static_cast<unsigned>(CountOf(At(event, "attempt")).value_or(0));
  const std::pair key(trial, number);
  if (kind == AttemptStart::kKind)
    running_.try_emplace(key, Attempt{trial, number, GrowingFile(ResultsFolder{told_.out}.attempt(trial, number).metrics())});
  if (const auto ended = running_.find(key); kind == AttemptEnd::kKind && ended != running_.end()) {
    ended->second.ended = true;
    ended->second.metrics.TakeLines([&](const std::string& one) { take({BP_RUN_METRICS, one, trial, number}); });
  }
  take({BP_RUN_EVENT, line, trial, number});
}

// The file is rewritten each time.
void RunFollower::TakeProgress(const Take& take) {
  std::string text = ReadFile(told_.progress).value_or("");
  if (text.empty() || text == progress_) return;
  progress_ = std::move(text);
  take({BP_RUN_PROGRESS, progress_, "", 0});
}

}  // namespace backplane
