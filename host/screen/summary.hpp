// The text that `run` prints at the end of a trial.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "record/trial_result.hpp"

namespace backplane {

struct SummaryContext {
  std::string title;  // the experiment's name
  std::filesystem::path out, attempt_dir;
  std::vector<std::string> next;  // commands to type next
  size_t width = 80;              // columns
};

// The word for its state. Stopped with a checkpoint is no end of a trial.
const char* SummaryState(const TrialResult& result);
// Speed, return and every metric next to its baselines, each with its 95 % interval over the episodes; the time per phase
// (shares sum to 100 %) and the results folder.
std::string FormatSummary(const TrialResult& result, const SummaryContext& context);
// Class, signal, last phase, plugin, log tail, and what to run next.
std::string FormatFailure(const TrialResult& result, const SummaryContext& context);

}  // namespace backplane
