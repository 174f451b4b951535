// progress.json: how far a batch has come, for programs that look at it from outside. Valid JSON at every instant.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace backplane {

struct TrialProgress {
  std::string id, name;
  uint64_t seed = 0;
  std::string state;                                    // PLANNED RUNNING COMPLETED PRUNED INFEASIBLE FAILED SKIPPED
  unsigned attempt = 0;                                 // the last one; 0: none yet
  std::optional<double> progress, sps, episode_return;  // progress: 0 to 1
  std::string why;

  bool operator==(const TrialProgress&) const = default;
};

struct BatchProgress {
  std::string experiment;
  double started = 0, updated = 0;  // seconds since 1970
  std::string state;                // running, done, interrupted, paused, refused
  double elapsed_s = 0;
  std::optional<double> eta_s;  // seconds still to go; absent until there is evidence
  std::vector<TrialProgress> trials;
};

// True for a state that no attempt of this batch will change any more.
bool IsFinal(const std::string& trial_state);

// The text of progress.json. Keeps the text of each trial: of thousands only a few change between two calls.
class ProgressText {
 public:
  std::string Of(const BatchProgress& batch);

 private:
  std::vector<std::pair<TrialProgress, std::string>> trials_;
};

class ProgressFile {
 public:
  explicit ProgressFile(std::filesystem::path file) : file_(std::move(file)) {}
  // By rename, without waiting for the disk. Throws std::runtime_error.
  void Write(const BatchProgress& batch);

 private:
  std::filesystem::path file_;
  ProgressText text_;
};

}  // namespace backplane
