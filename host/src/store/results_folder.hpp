// Where the results of a batch lie in its folder OUT.
#pragma once

#include <filesystem>
#include <string>

namespace backplane {

struct ResultsFolder {
  std::filesystem::path out;

  std::filesystem::path plan() const { return out / "plan.jsonl"; }
  std::filesystem::path events() const { return out / "events.jsonl"; }
  std::filesystem::path database() const { return out / "results.sqlite"; }
  std::filesystem::path lock() const { return out / "lock"; }
  std::filesystem::path trial(const std::string& trial_id) const { return out / "trials" / trial_id; }
  std::filesystem::path attempt(const std::string& trial_id, unsigned number) const {
    return trial(trial_id) / ("attempt-" + std::to_string(number));
  }
};

}  // namespace backplane
