// Result sets made by hand, as ReadResultSet returns them.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "contract/experiment.hpp"
#include "results/result_set.hpp"

namespace backplane::test_support {

inline Number Single(double value) { return Reading(value); }

inline Number Spread(double value, double half, uint64_t n, std::string of) {
  return Number{value, n, std::move(of), half, value - half, value + half, {}, {}};
}

inline nlohmann::json ConfigWith(uint64_t runners, uint64_t envs, uint64_t seed) {
  nlohmann::json config = ToJson(Experiment{});
  config["experiment"] = "walk";
  config["seed"] = seed;
  config["env"]["plugin"] = "walker";
  config["learner"]["plugin"] = "teacher";
  config["env"]["options"] = config["learner"]["options"] = nlohmann::json::object();
  config["rollout"]["num_env_runners"] = runners;
  config["rollout"]["num_envs_per_env_runner"] = envs;
  config["budget"]["iterations"] = 3;
  return config;
}

inline TrialData Trial(uint64_t runners, uint64_t envs, double sps, uint64_t seed = 0) {
  TrialData trial;
  trial.out = "outputs/walk";
  trial.point = "runners=" + std::to_string(runners) + " envs=" + std::to_string(envs);
  trial.point_id = "point-" + trial.point;
  trial.trial_id = trial.point_id + "-" + std::to_string(seed);
  trial.seed = seed;
  trial.values = {{"rollout.num_env_runners", runners}, {"rollout.num_envs_per_env_runner", envs}};
  trial.config = ConfigWith(runners, envs, seed);
  trial.state = TrialState::kCompleted;
  trial.outcome = Outcome::kOk;
  trial.ended = 1000 + static_cast<double>(seed);
  trial.cores = {0, 1};
  trial.measures = {{"SPS", Spread(sps, 0.02 * sps, 4, "iterations")},
                    {"wall_s", Single(10)},
                    {"minutes", Single(10 / 60.0)},
                    {"return", Spread(100, 5, 20, "episodes")},
                    {"rss_peak_mb", Single(150)},
                    {"phase/env_step", Single(60)},
                    {"phase/idle", Single(40)},
                    {"resources/cpu_quota_pct", Spread(50, 2, 8, "samples")}};
  trial.curves["return"] = {{1, 100, 1, 10}, {2, 200, 2, 20}};
  return trial;
}

inline TrialData FailedTrial(uint64_t runners, uint64_t envs, const std::string& state, const std::string& outcome,
                             std::string why) {
  TrialData trial = Trial(runners, envs, 1);
  trial.state = FromWord<TrialState>(state).value();
  trial.outcome = FromWord<Outcome>(outcome);
  trial.why = std::move(why);
  trial.measures.clear();
  trial.curves.clear();
  return trial;
}

inline ResultSet Set(std::vector<TrialData> trials, const nlohmann::json& report = nullptr) {
  ResultSet set;
  set.out = "outputs/walk";
  set.experiment = "walk";
  set.config = ConfigWith(1, 1, 0);
  if (!report.is_null()) set.config["report"].update(report);
  set.config_text = "experiment: walk\nsweep: {list: [{name: fast}]}\n";
  set.run.host = {"h", "k", "c", "", 2, 8589934592};
  set.run.versions = {"0.1.0", "12", "2", {{"env.walker", "1.0.0"}}};
  set.trials = std::move(trials);
  return set;
}

// The same experiment on a different machine.
inline ResultSet SetOn(const std::string& host, std::vector<TrialData> trials) {
  ResultSet set = Set(std::move(trials));
  set.out = "outputs/walk_" + host;
  set.run.host.hostname = host;
  for (TrialData& trial : set.trials) trial.out = set.out;
  return set;
}

}  // namespace backplane::test_support
