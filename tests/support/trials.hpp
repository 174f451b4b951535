// Trials and result sets in memory, with the contents that a test sets.
#pragma once

#include <string>
#include <vector>

#include "results/result_set.hpp"

namespace backplane {

// Completed on two cores with one seed; failed if it has no speed.
inline TrialData MakeTrial(uint64_t runners, uint64_t rows, std::optional<double> sps, uint64_t seed = 0) {
  TrialData trial;
  trial.point = "num_env_runners=" + std::to_string(runners) + " num_envs_per_env_runner=" + std::to_string(rows);
  trial.trial_id = trial.point + " seed=" + std::to_string(seed);
  trial.point_id = trial.point;
  trial.seed = seed;
  trial.values = {{"rollout.num_env_runners", runners}, {"rollout.num_envs_per_env_runner", rows}};
  trial.config = {{"env", {{"plugin", "walker"}}},
                  {"learner", {{"plugin", "learns"}, {"options", {{"lr", 0.1}}}}},
                  {"rollout", {{"num_env_runners", runners}, {"num_envs_per_env_runner", rows}, {"threads", "auto"}}},
                  {"seed", seed}};
  trial.files = {{"env.plugin", "aaaaaaaaaa"}, {"learner.plugin", "bbbbbbbbbb"}};
  trial.state = sps ? TrialState::kCompleted : TrialState::kFailed;
  trial.outcome = sps ? Outcome::kOk : Outcome::kOom;
  trial.why = sps ? "" : "no memory left";
  trial.ended = 1000;
  trial.cores = {0, 1};
  if (sps) trial.measures["SPS"] = MeanOf(*sps, 10, 5, "iterations");
  return trial;
}

inline TrialData With(TrialData trial, const std::string& measure, Number number) {
  trial.measures[measure] = std::move(number);
  return trial;
}

// Sets a value of a swept key.
inline TrialData Swept(TrialData trial, const std::string& path, const nlohmann::json& value) {
  nlohmann::json* place = &trial.config;
  size_t begin = 0;
  for (size_t dot = path.find('.'); dot != std::string::npos; dot = path.find('.', begin = dot + 1)) {
    place = &(*place)[path.substr(begin, dot - begin)];
  }
  (*place)[path.substr(begin)] = value;
  trial.values.emplace_back(path, value);
  trial.point += " " + path + "=" + value.dump();
  trial.trial_id += " " + path + "=" + value.dump();
  return trial;
}

inline ResultSet MakeSet(std::vector<TrialData> trials, const std::string& out = "out", const std::string& hostname = "here") {
  ResultSet set;
  set.out = out;
  set.experiment = "walk";
  set.run.host = {hostname, "", "fast", "", 2, 8589934592};
  set.run.versions = {"1", "12", "2", {}};
  set.trials = std::move(trials);
  for (TrialData& trial : set.trials) trial.out = out;
  return set;
}

}  // namespace backplane
