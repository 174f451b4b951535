// result.json, read tolerantly: a key that is missing or of another type counts as absent.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace backplane {

struct Spread {
  double mean = 0;
  std::optional<double> se;  // standard error of the mean
  uint64_t n = 0;
};

struct Measured {
  std::optional<Spread> episode_return;
  std::map<std::string, Spread> metrics;
};

struct PhaseShare {
  std::string name;
  double seconds = 0, share = 0;
};

struct TrialResult {
  std::string trial_id, state, outcome;
  std::optional<std::string> error;
  std::optional<double> iterations, env_steps, episodes, wall_s, trial_s, sps, sampling_sps;
  std::optional<double> epochs;  // of a data set: env_steps are its items
  Measured training;
  std::optional<Measured> evaluation, floor_zero, floor_uniform;
  std::vector<PhaseShare> phases;
  std::optional<double> unnamed_share;
  std::optional<std::string> checkpoint;
  std::string signal, phase, plugin;  // of a failure, as the supervisor saw it
  std::vector<std::string> log_tail;
};

TrialResult ParseResult(const nlohmann::json& json);

}  // namespace backplane
